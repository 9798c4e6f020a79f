"""What tests of NVIDIA's tools need: visible reasons to skip where it is not installed."""

from __future__ import annotations

import pytest

from simt.check import UnsupportedError
from simt.toolkit.find import nvrtc_library


def _has_nvrtc() -> bool:
    try:
        return nvrtc_library().is_file()
    except UnsupportedError:
        return False


needs_nvrtc = pytest.mark.skipif(not _has_nvrtc(), reason="CUDA C: needs NVRTC (pip install 'simt[sass]')")
