"""Fixtures of the tests of the timing model."""

from __future__ import annotations

from collections.abc import Iterator
from importlib import import_module

import pytest


@pytest.fixture(scope="module")
def compiled_at_once() -> Iterator[None]:
    """Simulations wait for the compiled timing model: threads and native code begin with it, not with plain Python."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(import_module("simt.timing.simulate"), "PLAIN_INSTRUCTIONS", 0)
        yield
