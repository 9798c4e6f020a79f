"""Every kernel of simt.kernels as machine code of two more architectures leaves what the source view leaves.

The H200's code is in test_numba_machine_code.py; that of Ampere and Blackwell differs from it in many opcodes.
"""

from __future__ import annotations

import numpy as np
import pytest

import simt
from simt.kernels import registry
from tests.machine_view import needs_numba_cuda

SIZE = 512  # a power of two: one kernel is published without its guard

ROUNDED = ("picture_guard",)
"""Kernels whose bytes come from a sum of products: the compiler fuses it, the source view rounds each step."""


@needs_numba_cuda
@pytest.mark.parametrize("view", ["sm_80", "sm_120"])
def test_results(view: str) -> None:
    for name in registry.names():
        entry = registry.get(name)
        ours, source = entry.plan(SIZE), entry.plan(SIZE)
        simt.launch(source.kernel, source.grid, source.block, *source.args)
        simt.launch(ours.kernel, ours.grid, ours.block, *ours.args, view=view)
        for number, (given, expected) in enumerate(zip(ours.args, source.args, strict=True)):
            apart = 1 if name in ROUNDED else 0
            np.testing.assert_allclose(given, expected, rtol=0, atol=apart, err_msg=f"{name}, argument {number}")
