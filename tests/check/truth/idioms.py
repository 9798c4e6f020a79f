"""Known truth: idioms of Numba's users: tiles, device functions, dynamic shared memory, records, locks."""

from __future__ import annotations

from typing import Any

import numpy as np
from numba import cuda, float32, int32

from tests.check.truth.known import INIT, MEM, RACE, SYNC, Suite, empty, ints, pair, zeros

SUITE = Suite()
right, wrong = SUITE.right, SUITE.wrong


TPB = 16


def squares() -> tuple[Any, Any, Any]:
    """Two matrices, and room for their product."""
    numbers = np.arange(1024, dtype=np.float32).reshape(32, 32)
    return numbers, numbers.copy(), np.zeros((32, 32), np.float32)


@right(grid=2, block=256, args=squares)
def fast_matmul_flat(A, B, C):
    sA = cuda.shared.array((TPB, TPB), float32)
    sB = cuda.shared.array((TPB, TPB), float32)
    tx = cuda.threadIdx.x % TPB
    ty = cuda.threadIdx.x // TPB
    for half in range(2):
        x = cuda.blockIdx.x * TPB + tx
        y = half * TPB + ty
        acc = float32(0.0)
        for j in range(2):
            sA[ty, tx] = A[y, tx + j * TPB]
            sB[ty, tx] = B[ty + j * TPB, x]
            cuda.syncthreads()
            for k in range(TPB):
                acc += sA[ty, k] * sB[k, tx]
            cuda.syncthreads()
        C[y, x] = acc


@wrong(RACE, grid=2, block=256, args=squares)
def fast_matmul_one_barrier(A, B, C):
    sA = cuda.shared.array((TPB, TPB), float32)
    sB = cuda.shared.array((TPB, TPB), float32)
    tx = cuda.threadIdx.x % TPB
    ty = cuda.threadIdx.x // TPB
    x = cuda.blockIdx.x * TPB + tx
    acc = float32(0.0)
    for j in range(2):
        sA[ty, tx] = A[ty, tx + j * TPB]
        sB[ty, tx] = B[ty + j * TPB, x]
        cuda.syncthreads()
        for k in range(TPB):
            acc += sA[ty, k] * sB[k, tx]
    C[ty, x] = acc


@cuda.jit(device=True)
def dev_sum(s, t):
    w = 32
    while w > 0:
        if t < w:
            s[t] += s[t + w]
        cuda.syncthreads()
        w //= 2
    return s[0]


@right(block=64, args=pair(64))
def sum_in_device_function(x, y):
    s = cuda.shared.array(64, int32)
    t = cuda.threadIdx.x
    s[t] = x[t]
    cuda.syncthreads()
    y[t] = dev_sum(s, t)


@wrong(RACE, block=64, args=pair(64))
def sum_twice_in_device_function(x, y):  # the second use overwrites s while others read s[0]
    s = cuda.shared.array(64, int32)
    t = cuda.threadIdx.x
    s[t] = x[t]
    cuda.syncthreads()
    a = dev_sum(s, t)
    s[t] = x[t] * 2
    cuda.syncthreads()
    y[t] = a + dev_sum(s, t)


@right(block=64, shared=64 * 4 + 64 * 4, args=pair(64))
def dynamic_parts(x, y):
    dyn = cuda.shared.array(0, int32)
    a = dyn[:64]
    b = dyn[64:]
    t = cuda.threadIdx.x
    a[t] = x[t]
    b[t] = x[t] * 2
    cuda.syncthreads()
    y[t] = a[63 - t] + b[63 - t]


@wrong(RACE, block=64, shared=64 * 4 * 2, args=pair(64))
def dynamic_parts_overlap(x, y):
    dyn = cuda.shared.array(0, int32)
    a = dyn[:64]
    b = dyn[60:]
    t = cuda.threadIdx.x
    a[t] = x[t]
    b[t] = x[t] * 2
    cuda.syncthreads()
    y[t] = a[63 - t] + b[63 - t]


@wrong(RACE, block=64, shared=64 * 4, args=pair(64))
def dynamic_two_names(x, y):  # two dynamic arrays are the same memory
    a = cuda.shared.array(0, int32)
    b = cuda.shared.array(0, float32)
    t = cuda.threadIdx.x
    a[t] = x[t]
    b[63 - t] = x[t] * 2.5
    cuda.syncthreads()
    y[t] = a[t] + int(b[t])


@wrong(RACE, grid=4, block=32, args=lambda: (np.arange(128, dtype=np.uint8), np.zeros(16, np.uint8)))
def bytes_histogram(x, h):
    i = cuda.grid(1)
    h[x[i] % 16] += 1


@right(grid=4, block=32, args=lambda: (np.arange(128, dtype=np.uint8), np.zeros(128, np.uint8)))
def bytes_of_one_word(x, y):  # neighbouring bytes of one word by different threads: no race
    i = cuda.grid(1)
    y[i] = x[i] + 1


@right(grid=2, block=64, args=lambda: (ints(128), zeros(8)))
def privatised_histogram(x, h):
    s = cuda.shared.array(8, int32)
    t = cuda.threadIdx.x
    if t < 8:
        s[t] = 0
    cuda.syncthreads()
    cuda.atomic.add(s, x[cuda.grid(1)] % 8, 1)
    cuda.syncthreads()
    if t < 8:
        cuda.atomic.add(h, t, s[t])


@wrong(INIT, grid=2, block=64, args=lambda: (ints(128), zeros(8)))
def histogram_not_cleared(x, h):
    s = cuda.shared.array(8, int32)
    t = cuda.threadIdx.x
    cuda.atomic.add(s, x[cuda.grid(1)] % 8, 1)
    cuda.syncthreads()
    if t < 8:
        cuda.atomic.add(h, t, s[t])


@wrong(RACE, grid=2, block=64, args=lambda: (ints(128), zeros(8)))
def histogram_cleared_late(x, h):  # no barrier after clearing
    s = cuda.shared.array(8, int32)
    t = cuda.threadIdx.x
    if t < 8:
        s[t] = 0
    cuda.atomic.add(s, x[cuda.grid(1)] % 8, 1)
    cuda.syncthreads()
    if t < 8:
        cuda.atomic.add(h, t, s[t])


@right(block=64, args=lambda: (np.zeros(64, np.dtype([("a", np.int32), ("b", np.float32)])), empty(64)))
def fields_of_records(r, y):  # different fields of one record by different threads
    t = cuda.threadIdx.x
    r[t]["a"] = t
    r[(t + 1) % 64]["b"] = t * 2.0
    cuda.syncthreads()
    y[t] = r[(t + 5) % 64]["a"]


@wrong(RACE, block=64, args=lambda: (np.zeros(64, np.dtype([("a", np.int32), ("b", np.float32)])), empty(64)))
def fields_of_records_racing(r, y):
    t = cuda.threadIdx.x
    r[t]["a"] = t
    y[t] = r[(t + 33) % 64]["a"]


@wrong(INIT, block=32, args=pair(32), machine=False)
def local_not_set(x, y):
    buf = cuda.local.array(4, int32)
    t = cuda.threadIdx.x
    for k in range(t % 4):
        buf[k] = x[t] + k
    y[t] = buf[t % 4]


@right(block=32, args=pair(32))
def local_set(x, y):
    buf = cuda.local.array(4, int32)
    t = cuda.threadIdx.x
    for k in range(4):
        buf[k] = x[t] + k
    y[t] = buf[t % 4]


@wrong(INIT, block=32, args=pair(32), machine=False)
def factor_of_one_path(x, y):
    t = cuda.threadIdx.x
    if x[t] > 16:
        scale = 2
    y[t] = x[t] * scale


@right(grid=4, block=32, args=lambda: (ints(128), empty(4), zeros(4), empty(4)))
def domino(x, part, flag, out):
    b = cuda.blockIdx.x
    t = cuda.threadIdx.x
    v = x[cuda.grid(1)]
    for k in (16, 8, 4, 2, 1):
        v += cuda.shfl_down_sync(0xFFFFFFFF, v, k)
    if t == 0:
        prev = 0
        if b > 0:
            while cuda.atomic.cas(flag, b - 1, 1, 1) != 1:
                pass
            cuda.threadfence()
            prev = part[b - 1]
        part[b] = prev + v
        cuda.threadfence()
        cuda.atomic.exch(flag, b, 1)
        out[b] = prev + v


@wrong(RACE, grid=4, block=32, args=lambda: (ints(128), empty(4), zeros(4), empty(4)))
def domino_flag_first(x, part, flag, out):
    b = cuda.blockIdx.x
    t = cuda.threadIdx.x
    if t == 0:
        prev = 0
        if b > 0:
            while cuda.atomic.cas(flag, b - 1, 1, 1) != 1:
                pass
            cuda.threadfence()
            prev = part[b - 1]
        cuda.atomic.exch(flag, b, 1)
        cuda.threadfence()
        part[b] = prev + x[cuda.grid(1)]
        out[b] = prev


@wrong(RACE, grid=3, block=32, args=lambda: (ints(96), zeros(3), zeros(1)))
def lock_with_plain_release(x, total, mutex):
    if cuda.threadIdx.x == 0:
        while cuda.atomic.cas(mutex, 0, 0, 1) != 0:
            pass
        cuda.threadfence()
        total[0] += x[cuda.grid(1)]
        cuda.threadfence()
        mutex[0] = 0


@right(grid=3, block=32, args=lambda: (ints(96), zeros(3), zeros(1)))
def lock_by_every_thread(x, total, mutex):
    done = False
    while not done:
        if cuda.atomic.cas(mutex, 0, 0, 1) == 0:
            cuda.threadfence()
            total[0] += x[cuda.grid(1)]
            cuda.threadfence()
            cuda.atomic.exch(mutex, 0, 0)
            done = True


@wrong(RACE, grid=2, block=64, args=pair(128))
def halo_of_the_neighbour_block(x, y):
    i = cuda.grid(1)
    y[i] = x[i] * 2
    cuda.syncthreads()
    if i > 0:
        y[i] = y[i] + y[i - 1]


@wrong(RACE, grid=2, block=64, args=lambda: (ints(128),))
def jacobi_in_place(x):
    i = cuda.grid(1)
    left = x[i - 1] if i > 0 else 0
    cuda.syncthreads()
    x[i] = left + 1


@right(block=64, args=lambda: (ints(64), empty(2)))
def warp_reduce_shared(x, y):
    s = cuda.shared.array(64, int32)
    t = cuda.threadIdx.x
    lane = cuda.laneid
    s[t] = x[t]
    cuda.syncwarp()
    k = 16
    while k > 0:
        v = 0
        if lane < k:
            v = s[t + k]
        cuda.syncwarp()
        if lane < k:
            s[t] += v
        cuda.syncwarp()
        k //= 2
    if lane == 0:
        y[t // 32] = s[t]


@wrong(RACE, block=64, args=lambda: (ints(64), empty(2)))
def warp_reduce_old_style(x, y):
    s = cuda.shared.array(64, int32)
    t = cuda.threadIdx.x
    lane = cuda.laneid
    s[t] = x[t]
    k = 16
    while k > 0:
        if lane < k:
            s[t] += s[t + k]
        k //= 2
    if lane == 0:
        y[t // 32] = s[t]


@right(block=32, args=pair(32))
def aggregate_in_branch(x, y):
    t = cuda.threadIdx.x
    m = cuda.ballot_sync(0xFFFFFFFF, x[t] % 3 == 0)
    v = -1
    if x[t] % 3 == 0:
        leader = cuda.ffs(m) - 1
        v = cuda.shfl_sync(m, x[t], leader)
    y[t] = v


@wrong(SYNC, block=32, args=pair(32))
def shuffle_full_mask_in_branch(x, y):
    t = cuda.threadIdx.x
    v = x[t]
    if t < 20:
        v += cuda.shfl_down_sync(0xFFFFFFFF, v, 4)
    y[t] = v


@wrong(SYNC, block=64, args=pair(64))
def early_return_some_then_barriers_differ(x, y):
    t = cuda.threadIdx.x
    s = cuda.shared.array(64, int32)
    s[t] = x[t]
    if x[t] % 2:
        cuda.syncthreads()
        y[t] = s[63 - t]
    else:
        cuda.syncthreads()
        y[t] = s[t]


@right(grid=2, block=32, args=lambda: (ints(64), np.zeros(2, np.float64)))
def grid_stride_sum(x, out):
    acc = 0.0
    for i in range(cuda.grid(1), x.size, cuda.gridsize(1)):
        acc += x[i]
    cuda.atomic.add(out, 0, acc)


@wrong(MEM, grid=1, block=64, args=pair(64))
def stencil_past_the_end(x, y):
    i = cuda.grid(1)
    y[i] = x[i] + x[i + 1]
