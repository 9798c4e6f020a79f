"""Sessions: what every launch of a stretch of code is to have, and what its launches came to."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from numba import cuda

import simt
from simt.calls.session import KernelCounts, Session, session
from simt.check import LaunchError, RaceError


def collide(x: Any) -> None:
    x[0] = cuda.threadIdx.x


def test_a_launch_with_a_finding_is_counted_and_one_that_is_refused_is_not() -> None:
    x = np.zeros(1, np.int32)
    with session(Session(check=("racecheck",))) as running:
        with pytest.raises(RaceError):
            simt.launch(collide, 1, 64, x)
        with pytest.raises(LaunchError, match="shared"):
            simt.launch(collide, 1, 64, x, shared_bytes=2**20)
    assert running.kernels == {"collide": KernelCounts(launches=1, findings=1)}
