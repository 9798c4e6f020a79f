"""Arrays of a device among the values that names lead to: a kernel reads and writes them where they are."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

View = Callable[[Any], "np.ndarray | None"]
"""An array of a device as this process can read it; None for what is none."""


def _none(value: Any) -> np.ndarray | None:
    return None


_view: View = _none


def read_device_arrays(view: View | None) -> None:
    """From now on *view* tells where arrays of a device are; with None there are no such arrays.

    It is for programs whose device memory this process has mapped.
    """
    global _view
    _view = view or _none


def view_of(value: Any) -> np.ndarray | None:
    """The memory of *value*, if it is an array of a device that this process can read."""
    return _view(value)
