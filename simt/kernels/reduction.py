"""The reduction family: each block folds its part of the input in place and writes one value.

Every function here makes a kernel ``(g_idata, g_odata, n)`` for one operation ``combine`` (``operator.add``,
``max``, ...).  The kernel folds the first *n* elements of ``g_idata`` (destroying them) and leaves one value
per block in ``g_odata``; the host folds those.  The algorithms are the ones that CUDA courses teach under
these names; the kernels differ from the published forms in one way only: they are right for every *n* and
every block size.  On a full block whose size is a power of two they access memory exactly as the published
forms do, so ``gld_efficiency`` and sectors are those of CUDA C.

Two ideas carry the general case:

* a block's part ends at ``end`` (or after ``count`` elements), and no thread reads past it;
* a round folds the upper half of what is *live* onto the lower half, rounding the half **up**: of 5 live
  elements, 3 and 4 go onto 0 and 1, and 3 stay live.  For a power of two it is the classic ``tid < stride``.

Threads that return early never reach the barriers after them; ``__syncthreads`` does not wait for those.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from numba import cuda

Combine = Callable[[Any, Any], Any]
Kernel = Callable[..., None]


def neighbored(combine: Combine) -> Kernel:
    """Neighbouring pairs, stride 1, 2, 4, ...: the working threads are spread thin; every warp diverges."""

    def neighbored(g_idata, g_odata, n):
        tid = cuda.threadIdx.x
        base = cuda.blockIdx.x * cuda.blockDim.x
        i = base + tid
        if i >= n:
            return
        end = min(base + cuda.blockDim.x, n)
        stride = 1
        while stride < cuda.blockDim.x:
            if tid % (2 * stride) == 0 and i + stride < end:
                g_idata[i] = combine(g_idata[i], g_idata[i + stride])
            cuda.syncthreads()
            stride *= 2
        if tid == 0:
            g_odata[cuda.blockIdx.x] = g_idata[i]

    return neighbored


def neighbored_less(combine: Combine) -> Kernel:
    """The same pairs, but the first threads do the work: whole warps fall idle instead of single lanes."""

    def neighbored_less(g_idata, g_odata, n):
        tid = cuda.threadIdx.x
        base = cuda.blockIdx.x * cuda.blockDim.x
        if base + tid >= n:
            return
        count = min(cuda.blockDim.x, n - base)
        stride = 1
        while stride < cuda.blockDim.x:
            index = 2 * stride * tid
            if index + stride < count:
                g_idata[base + index] = combine(g_idata[base + index], g_idata[base + index + stride])
            cuda.syncthreads()
            stride *= 2
        if tid == 0:
            g_odata[cuda.blockIdx.x] = g_idata[base]

    return neighbored_less


def interleaved(combine: Combine) -> Kernel:
    """Half the block apart, then a quarter, ...: working lanes read neighbours, so sectors are full."""

    def interleaved(g_idata, g_odata, n):
        tid = cuda.threadIdx.x
        base = cuda.blockIdx.x * cuda.blockDim.x
        i = base + tid
        if i >= n:
            return
        live = min(cuda.blockDim.x, n - base)
        while live > 1:
            stride = (live + 1) // 2
            if tid + stride < live:
                g_idata[i] = combine(g_idata[i], g_idata[i + stride])
            cuda.syncthreads()
            live = stride
        if tid == 0:
            g_odata[cuda.blockIdx.x] = g_idata[i]

    return interleaved


def _fold_rest(combine: Combine) -> Callable[..., None]:
    """For the last block: fold onto element *i* what there is of the other chunks, which is not all."""

    def fold_rest(g_idata, i, width, n):
        other = i + width
        while other < n:
            g_idata[i] = combine(g_idata[i], g_idata[other])
            other += width

    device_function: Callable[..., None] = cuda.jit(device=True)(fold_rest)
    return device_function


def _fold_chunks(combine: Combine, chunks: int) -> Callable[..., None]:
    """A device function ``(g_idata, i, width, n)`` that folds element *i* of 2, 4 or 8 chunks onto the first.

    All elements are loaded before any is combined, so that the loads are in flight together: this is what
    unrolling gains.
    """
    fold_rest = _fold_rest(combine)

    def fold_2(g_idata, i, width, n):
        if i + width < n:
            g_idata[i] = combine(g_idata[i], g_idata[i + width])

    def fold_4(g_idata, i, width, n):
        if i + 3 * width < n:
            a1 = g_idata[i]
            a2 = g_idata[i + width]
            a3 = g_idata[i + 2 * width]
            a4 = g_idata[i + 3 * width]
            g_idata[i] = combine(combine(a1, a2), combine(a3, a4))
        else:
            fold_rest(g_idata, i, width, n)

    def fold_8(g_idata, i, width, n):
        if i + 7 * width < n:
            a1 = g_idata[i]
            a2 = g_idata[i + width]
            a3 = g_idata[i + 2 * width]
            a4 = g_idata[i + 3 * width]
            b1 = g_idata[i + 4 * width]
            b2 = g_idata[i + 5 * width]
            b3 = g_idata[i + 6 * width]
            b4 = g_idata[i + 7 * width]
            a = combine(combine(a1, a2), combine(a3, a4))
            b = combine(combine(b1, b2), combine(b3, b4))
            g_idata[i] = combine(a, b)
        else:
            fold_rest(g_idata, i, width, n)

    device_function: Callable[..., None] = cuda.jit(device=True)({2: fold_2, 4: fold_4, 8: fold_8}[chunks])
    return device_function


def unrolling(combine: Combine, chunks: int) -> Kernel:
    """Each thread first folds one element of each of the block's *chunks* (2, 4, 8); then as interleaved."""
    fold_chunks = _fold_chunks(combine, chunks)

    def unrolling(g_idata, g_odata, n):
        tid = cuda.threadIdx.x
        base = cuda.blockIdx.x * cuda.blockDim.x * chunks
        i = base + tid
        fold_chunks(g_idata, i, cuda.blockDim.x, n)
        cuda.syncthreads()
        live = min(cuda.blockDim.x, n - base)
        while live > 1:
            stride = (live + 1) // 2
            if tid + stride < live:
                g_idata[i] = combine(g_idata[i], g_idata[i + stride])
            cuda.syncthreads()
            live = stride
        if tid == 0:
            g_odata[cuda.blockIdx.x] = g_idata[i]

    return unrolling


def _warp_tail(combine: Combine) -> Callable[..., None]:
    """A device function ``(g_idata, i, tid, live)`` for the first warp: fold its *live* <= 64 elements.

    With all 64 live, every lane of the warp takes every step, as in the published form with ``volatile``:
    no test, so no divergence, and 32 lanes load both operands.  Only lane 0's value matters in the end, and
    it depends in the step of +16 on lanes 0-15, in the step of +8 on lanes 0-7, and so on; the other lanes
    compute values that nobody uses, from elements below ``i + 64`` that exist.

    Since Volta the lanes of a warp need not run in step.  From the step of +16 on, lane *l* reads what lane
    *l* + 16 overwrites, so all lanes read, ``syncwarp`` (reads before writes), all write, ``syncwarp``
    (writes before the next reads).  The step of +32 reads what no lane of this warp writes, and needs the
    second barrier only.  With fewer live elements the steps are rounds of the interleaved kind, in which
    nobody reads an element that is written in the same round, so one ``syncwarp`` a round is enough.
    """

    def warp_tail(g_idata, i, tid, live):
        if tid < 32:
            if live == 64:
                g_idata[i] = combine(g_idata[i], g_idata[i + 32])
                cuda.syncwarp()
                folded = combine(g_idata[i], g_idata[i + 16])
                cuda.syncwarp()
                g_idata[i] = folded
                cuda.syncwarp()
                folded = combine(g_idata[i], g_idata[i + 8])
                cuda.syncwarp()
                g_idata[i] = folded
                cuda.syncwarp()
                folded = combine(g_idata[i], g_idata[i + 4])
                cuda.syncwarp()
                g_idata[i] = folded
                cuda.syncwarp()
                folded = combine(g_idata[i], g_idata[i + 2])
                cuda.syncwarp()
                g_idata[i] = folded
                cuda.syncwarp()
                folded = combine(g_idata[i], g_idata[i + 1])
                cuda.syncwarp()
                g_idata[i] = folded
            else:
                while live > 1:
                    stride = (live + 1) // 2
                    if tid + stride < live:
                        g_idata[i] = combine(g_idata[i], g_idata[i + stride])
                    cuda.syncwarp()
                    live = stride

    device_function: Callable[..., None] = cuda.jit(device=True)(warp_tail)
    return device_function


def unroll_warps(combine: Combine, chunks: int) -> Kernel:
    """As unrolling, but the last 64 elements are left to the first warp, without block barriers."""
    fold_chunks = _fold_chunks(combine, chunks)
    warp_tail = _warp_tail(combine)

    def unroll_warps(g_idata, g_odata, n):
        tid = cuda.threadIdx.x
        base = cuda.blockIdx.x * cuda.blockDim.x * chunks
        i = base + tid
        fold_chunks(g_idata, i, cuda.blockDim.x, n)
        cuda.syncthreads()
        live = min(cuda.blockDim.x, n - base)
        while live > 64:
            stride = (live + 1) // 2
            if tid + stride < live:
                g_idata[i] = combine(g_idata[i], g_idata[i + stride])
            cuda.syncthreads()
            live = stride
        warp_tail(g_idata, i, tid, live)
        if tid == 0:
            g_odata[cuda.blockIdx.x] = g_idata[i]

    return unroll_warps


def complete_unroll_warps(combine: Combine, chunks: int) -> Kernel:
    """As unroll_warps with the loop written out: a round for each size, its test on blockDim left in.

    The round of stride *s* folds elements *s* .. min(count, 2 *s*) - 1; in the first round of a block whose
    size is no power of two, fewer than *s* threads have a partner.
    """
    fold_chunks = _fold_chunks(combine, chunks)
    warp_tail = _warp_tail(combine)

    def complete_unroll_warps(g_idata, g_odata, n):
        tid = cuda.threadIdx.x
        base = cuda.blockIdx.x * cuda.blockDim.x * chunks
        i = base + tid
        fold_chunks(g_idata, i, cuda.blockDim.x, n)
        cuda.syncthreads()
        count = min(cuda.blockDim.x, n - base)
        if cuda.blockDim.x > 512 and tid < 512 and tid + 512 < count:
            g_idata[i] = combine(g_idata[i], g_idata[i + 512])
        cuda.syncthreads()
        if cuda.blockDim.x > 256 and tid < 256 and tid + 256 < count:
            g_idata[i] = combine(g_idata[i], g_idata[i + 256])
        cuda.syncthreads()
        if cuda.blockDim.x > 128 and tid < 128 and tid + 128 < count:
            g_idata[i] = combine(g_idata[i], g_idata[i + 128])
        cuda.syncthreads()
        if cuda.blockDim.x > 64 and tid < 64 and tid + 64 < count:
            g_idata[i] = combine(g_idata[i], g_idata[i + 64])
        cuda.syncthreads()
        warp_tail(g_idata, i, tid, min(64, count))
        if tid == 0:
            g_odata[cuda.blockIdx.x] = g_idata[i]

    return complete_unroll_warps


def complete_unroll(combine: Combine, block: int) -> Kernel:
    """As complete_unroll_warps8 with the block size a compile-time constant: dead tests vanish.

    In CUDA C this is a template; in Python the constant comes from the closure.
    """
    fold_chunks = _fold_chunks(combine, 8)
    warp_tail = _warp_tail(combine)

    def complete_unroll(g_idata, g_odata, n):
        tid = cuda.threadIdx.x
        base = cuda.blockIdx.x * block * 8
        i = base + tid
        fold_chunks(g_idata, i, block, n)
        cuda.syncthreads()
        count = min(block, n - base)
        if block > 512:
            if tid < 512 and tid + 512 < count:
                g_idata[i] = combine(g_idata[i], g_idata[i + 512])
        cuda.syncthreads()
        if block > 256:
            if tid < 256 and tid + 256 < count:
                g_idata[i] = combine(g_idata[i], g_idata[i + 256])
        cuda.syncthreads()
        if block > 128:
            if tid < 128 and tid + 128 < count:
                g_idata[i] = combine(g_idata[i], g_idata[i + 128])
        cuda.syncthreads()
        if block > 64:
            if tid < 64 and tid + 64 < count:
                g_idata[i] = combine(g_idata[i], g_idata[i + 64])
        cuda.syncthreads()
        warp_tail(g_idata, i, tid, min(64, count))
        if tid == 0:
            g_odata[cuda.blockIdx.x] = g_idata[i]

    return complete_unroll
