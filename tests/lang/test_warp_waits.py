"""Whom lanes of Python kernels wait for: those at the same operation with the same mask, as on a GPU.

The kernels of tests/data/sass/warp_waits.cu, by their names; what they left, and which hung, was recorded.
"""

from __future__ import annotations

import json
from typing import Any

import numpy as np
import pytest
from numba import cuda

import simt
from simt.check import DeadlockError
from tests.machine_view import DATA, needs_numba_cuda

MEASURED = json.loads((DATA / "h100" / "warp_waits.json").read_text())
F = 0xFFFFFFFF
KERNELS: dict[str, Any] = {}


def kernel(function: Any) -> Any:
    KERNELS[function.__name__] = cuda.jit(function)
    return function


@kernel
def if_shfl_sync(y):
    t = cuda.threadIdx.x
    v = y[t]
    if t < 8:
        v += cuda.shfl_xor_sync(F, v, 1)
    cuda.syncwarp()
    y[t] = v


@kernel
def if_shfl_syncthreads(y):
    t = cuda.threadIdx.x
    v = y[t]
    if t < 8:
        v += cuda.shfl_xor_sync(F, v, 1)
    cuda.syncthreads()
    y[t] = v


@kernel
def if_shfl_end(y):
    t = cuda.threadIdx.x
    v = y[t]
    if t < 8:
        v += cuda.shfl_xor_sync(F, v, 1)
    y[t] = v


@kernel
def if_shfl_shfl(y):
    t = cuda.threadIdx.x
    v = y[t]
    if t < 8:
        v += cuda.shfl_xor_sync(F, v, 1)
    v += cuda.shfl_xor_sync(F, v, 2)
    y[t] = v


@kernel
def both_shfl(y):
    t = cuda.threadIdx.x
    v = y[t]
    if t < 8:
        v += cuda.shfl_xor_sync(F, v, 1)
    else:
        v += cuda.shfl_xor_sync(F, v, 2)
    y[t] = v


@kernel
def both_shfl_fewer_sync(y):
    t = cuda.threadIdx.x
    v = y[t]
    if t < 8:
        v += cuda.shfl_xor_sync(F, v, 1)
        v += cuda.shfl_xor_sync(F, v, 4)
    else:
        v += cuda.shfl_xor_sync(F, v, 2)
    cuda.syncwarp()
    y[t] = v * 3 + y[32]


@kernel
def if_any_sync(y):
    t = cuda.threadIdx.x
    v = y[t]
    if t < 8:
        v += cuda.any_sync(F, v > 3)
    cuda.syncwarp()
    y[t] = v


@kernel
def if_match_sync(y):
    t = cuda.threadIdx.x
    v = y[t]
    if t < 8:
        v += cuda.match_any_sync(F, v & 3)
    cuda.syncwarp()
    y[t] = v


@kernel
def shfl_or_ballot(y):
    t = cuda.threadIdx.x
    v = y[t]
    if t < 8:
        v += cuda.shfl_xor_sync(F, v, 1)
    else:
        v += cuda.ballot_sync(F, v & 1)
    y[t] = v


@kernel
def match_or_any(y):
    t = cuda.threadIdx.x
    v = y[t]
    if t < 8:
        v += cuda.match_any_sync(F, v & 3)
    else:
        v += cuda.any_sync(F, v > 9)
    y[t] = v


@kernel
def both_sync(y):
    t = cuda.threadIdx.x
    v = y[t]
    if t < 8:
        v = v * 3 + y[32]
        cuda.syncwarp()
    else:
        cuda.syncwarp()
        v = v * 3 + y[32]
    y[t] = v * 3 + y[32]


@kernel
def if_sync_sync(y):
    t = cuda.threadIdx.x
    v = y[t]
    if t < 8:
        v = v * 3 + y[32]
        cuda.syncwarp()
        v = v * 3 + y[32]
    cuda.syncwarp()
    y[t] = v * 3 + y[32]


@kernel
def three_shfl(y):
    t = cuda.threadIdx.x
    v = y[t]
    if t < 8:
        v += cuda.shfl_xor_sync(F, v, 1)
    elif t < 20:
        v += cuda.shfl_xor_sync(F, v, 2)
    else:
        v += cuda.shfl_xor_sync(F, v, 4)
    y[t] = v * 3 + y[32]


@kernel
def part_both_shfl(y):
    t = cuda.threadIdx.x
    v = y[t]
    if t < 8:
        v += cuda.shfl_xor_sync(0xFF, v, 1)
    else:
        v += cuda.shfl_xor_sync(0xFFFFFF00, v, 2)
    cuda.syncwarp()
    y[t] = v * 3 + y[32]


@kernel
def part_or_all(y):
    t = cuda.threadIdx.x
    v = y[t]
    if t < 8:
        v = v * 3 + y[32]
        cuda.syncwarp(0xFFFF)
    else:
        cuda.syncwarp()
        v = v * 3 + y[32]
    y[t] = v


@kernel
def exit_shfl_sync(y):
    t = cuda.threadIdx.x
    v = y[t]
    if t >= 16:
        return
    if t < 8:
        v += cuda.shfl_xor_sync(F, v, 1)
    cuda.syncwarp()
    y[t] = v * 3 + y[32]


@kernel
def loop_sync(y):
    t = cuda.threadIdx.x
    v = y[t]
    for _ in range((t & 3) + y[32] - 1):
        v += cuda.shfl_xor_sync(F, v, 1)
    cuda.syncwarp()
    y[t] = v * 3 + y[32]


@kernel
def block_both(y):
    t = cuda.threadIdx.x
    v = y[t]
    if t < 8:
        v = v * 3 + y[32]
        cuda.syncthreads()
    else:
        v = v * 3 + y[32]
        cuda.syncthreads()
        v = v * 3 + y[32]
    y[t] = v * 3 + y[32]


@kernel
def part_missing_sync(y):
    t = cuda.threadIdx.x
    v = y[t]
    if t < 8:
        v = 0 if t == 0 else cuda.shfl_up_sync(0xFF, v, 1)
    cuda.syncwarp()
    y[t] = v * 3 + y[32]


APART = {("three_shfl", "source")}
"""A lane reads what another branch has written meanwhile: on a GPU all lanes shuffle at once."""
REFUSED = {("block_both", "sm_90")}
"""Lanes whose guard is false wait at a block barrier with the others: CUDA forbids it where they part."""

VIEWS = ["source", pytest.param("sm_90", marks=needs_numba_cuda)]


def array() -> Any:
    return np.array([*range(32), *[1] * 32], np.int32)


def test_all_were_measured() -> None:
    assert KERNELS.keys() <= MEASURED["ends"].keys() | set(MEASURED["hangs"])


@pytest.mark.parametrize("view", VIEWS)
@pytest.mark.parametrize("name", [name for name in KERNELS if name in MEASURED["ends"]])
def test_what_ends(name: str, view: str) -> None:
    y = array()
    if (name, view) in REFUSED:
        with pytest.raises(DeadlockError, match="waits at the block barrier"):
            simt.launch(KERNELS[name], 1, 32, y, view=view)
        return
    simt.launch(KERNELS[name], 1, 32, y, view=view)
    assert y[:32].tolist() == MEASURED["ends"][name] or (name, view) in APART


@pytest.mark.parametrize("view", VIEWS)
@pytest.mark.parametrize("name", [name for name in KERNELS if name in MEASURED["hangs"]])
def test_what_hangs(name: str, view: str) -> None:
    with pytest.raises(DeadlockError, match="waits for the lanes named in a warp mask"):
        simt.launch(KERNELS[name], 1, 32, array(), view=view)


def test_the_error() -> None:
    with pytest.raises(DeadlockError) as caught:
        simt.launch(KERNELS["if_shfl_sync"], 1, 32, array())
    first, second = caught.value.details
    assert first.startswith("warp 0, lanes 8-31: waits for the lanes named in a warp mask")
    assert second.startswith("warp 0, lanes 0-7: waits for the lanes named in a warp mask")
    assert caught.value.help.endswith("take the mask before the branch with ballot_sync (0xffffff00 here)")
