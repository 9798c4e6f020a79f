"""What people use today: reductions in shared memory, through warp shuffles, and with an atomic per block.

The input stays as it is.  ``identity`` is the element that changes nothing under ``combine``, of the array's
dtype (a NumPy scalar): what a thread without an element contributes.
"""

from __future__ import annotations

import operator
from collections.abc import Callable
from typing import Any

import numpy as np
from numba import cuda

from simt.kernels.reduction import Combine, Kernel

FULL_MASK = 0xFFFFFFFF


def shared(combine: Combine, block: int, dtype: Any) -> Kernel:
    """One element per thread goes to shared memory; interleaved rounds there; one value per block out.

    *block* and *dtype* (a NumPy scalar type) size the static shared array: compile-time constants.
    """

    def shared(g_idata, g_odata, n):
        tile = cuda.shared.array(block, dtype)
        tid = cuda.threadIdx.x
        base = cuda.blockIdx.x * block
        i = base + tid
        if i < n:
            tile[tid] = g_idata[i]
        cuda.syncthreads()
        live = min(block, n - base)
        while live > 1:
            stride = (live + 1) // 2
            if tid + stride < live:
                tile[tid] = combine(tile[tid], tile[tid + stride])
            cuda.syncthreads()
            live = stride
        if tid == 0:
            g_odata[cuda.blockIdx.x] = tile[0]

    return shared


def _warp_reduce(combine: Combine) -> Callable[..., Any]:
    """A device function ``(value, lane, lanes)``: lane 0 gets the fold of *value* over the warp's *lanes*.

    *lanes* is 32, or fewer in the block's last warp.  In a full warp every lane combines: the upper lanes get
    their own value back and compute what nobody uses.  In a partial warp a lane without a thread must not be
    named in the mask, and what a shuffle reads from it is undefined, so there the test is needed.
    """

    def warp_reduce(value, lane, lanes):
        offset = 16
        if lanes == 32:
            while offset > 0:
                value = combine(value, cuda.shfl_down_sync(FULL_MASK, value, offset))
                offset //= 2
        else:
            mask = FULL_MASK >> (32 - lanes)
            while offset > 0:
                other = cuda.shfl_down_sync(mask, value, offset)
                if lane + offset < lanes:
                    value = combine(value, other)
                offset //= 2
        return value

    device_function: Callable[..., Any] = cuda.jit(device=True)(warp_reduce)
    return device_function


def _block_reduce(combine: Combine, dtype: Any) -> Callable[..., Any]:
    """A device function ``(value)``: thread 0 gets the fold of *value* over the block.

    Each warp folds its own through shuffles and leaves one value in shared memory (at most 32 of them);
    the first warp folds those, as many as its own lanes can take at once.
    """
    warp_reduce = _warp_reduce(combine)

    def block_reduce(value):
        partial = cuda.shared.array(32, dtype)
        tid = cuda.threadIdx.x
        lane = tid % 32
        warp = tid // 32
        lanes = min(32, cuda.blockDim.x - warp * 32)
        value = warp_reduce(value, lane, lanes)
        if lane == 0:
            partial[warp] = value
        cuda.syncthreads()
        warps = (cuda.blockDim.x + 31) // 32
        if tid < warps:
            value = warp_reduce(partial[tid], tid, warps)
        return value

    device_function: Callable[..., Any] = cuda.jit(device=True)(block_reduce)
    return device_function


def shuffle(combine: Combine, identity: np.generic) -> Kernel:
    """A grid-stride loop folds many elements per thread into a register; then shuffles, no global memory."""
    block_reduce = _block_reduce(combine, type(identity))

    def shuffle(g_idata, g_odata, n):
        value = identity
        i = cuda.grid(1)
        while i < n:
            value = combine(value, g_idata[i])
            i += cuda.gridsize(1)
        value = block_reduce(value)
        if cuda.threadIdx.x == 0:
            g_odata[cuda.blockIdx.x] = value

    return shuffle


@cuda.jit(device=True)
def _atomic_add(g_odata, value):
    cuda.atomic.add(g_odata, 0, value)


@cuda.jit(device=True)
def _atomic_max(g_odata, value):
    cuda.atomic.max(g_odata, 0, value)


@cuda.jit(device=True)
def _atomic_min(g_odata, value):
    cuda.atomic.min(g_odata, 0, value)


_ATOMIC: dict[Combine, Callable[..., None]] = {
    operator.add: _atomic_add,
    max: _atomic_max,
    min: _atomic_min,
}


def atomic(combine: Combine, identity: np.generic) -> Kernel:
    """As shuffle, but each block folds its value into ``g_odata[0]`` with one atomic: no work for the host.

    ``g_odata[0]`` starts as *identity*.  The atomic is the one of *combine*: add, max or min.
    """
    block_reduce = _block_reduce(combine, type(identity))
    fold_atomically = _ATOMIC[combine]

    def atomic(g_idata, g_odata, n):
        value = identity
        i = cuda.grid(1)
        while i < n:
            value = combine(value, g_idata[i])
            i += cuda.gridsize(1)
        value = block_reduce(value)
        if cuda.threadIdx.x == 0:
            fold_atomically(g_odata, value)

    return atomic
