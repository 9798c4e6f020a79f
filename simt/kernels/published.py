"""Two reductions as they were published, each wrong for some sizes: material for the out-of-bounds check.

Both are right when *n* is a multiple of the block size, which is how such mistakes survive.
"""

from __future__ import annotations

from numba import cuda


def published_unguarded(g_idata, g_odata, n):
    """Neighbored without a guard on the partner: a partial last block reads past element n - 1."""
    tid = cuda.threadIdx.x
    i = cuda.blockIdx.x * cuda.blockDim.x + tid
    if i >= n:
        return
    stride = 1
    while stride < cuda.blockDim.x:
        if tid % (2 * stride) == 0:
            g_idata[i] += g_idata[i + stride]
        cuda.syncthreads()
        stride *= 2
    if tid == 0:
        g_odata[cuda.blockIdx.x] = g_idata[i]


def published_off_by_one(g_idata, g_odata, n):
    """Interleaved with the guard ``i > n``, which lets thread n in; and no guard on the partner either."""
    tid = cuda.threadIdx.x
    i = cuda.blockIdx.x * cuda.blockDim.x + tid
    if i > n:
        return
    stride = cuda.blockDim.x // 2
    while stride > 0:
        if tid < stride:
            g_idata[i] += g_idata[i + stride]
        cuda.syncthreads()
        stride //= 2
    if tid == 0:
        g_odata[cuda.blockIdx.x] = g_idata[i]
