"""Known truth: tiles, trees and scans in shared memory."""

from __future__ import annotations

from numba import cuda, int32

from tests.check.truth.known import RACE, Suite, empty, ints, pair

SUITE = Suite()
right, wrong = SUITE.right, SUITE.wrong


@wrong(RACE, args=pair(64))
def reverse_without_barrier(x, y):
    s = cuda.shared.array(64, int32)
    t = cuda.threadIdx.x
    s[t] = x[t]
    y[t] = s[63 - t]


@right(args=pair(64))
def reverse(x, y):
    s = cuda.shared.array(64, int32)
    t = cuda.threadIdx.x
    s[t] = x[t]
    cuda.syncthreads()
    y[t] = s[63 - t]


@wrong(RACE, args=pair(128), block=128)
def stencil_without_barrier(x, y):
    s = cuda.shared.array(130, int32)
    t = cuda.threadIdx.x
    s[t + 1] = x[t]
    if t == 0:
        s[0] = x[127]
        s[129] = x[0]
    y[t] = s[t] + s[t + 1] + s[t + 2]


@right(args=pair(128), block=128)
def stencil(x, y):
    s = cuda.shared.array(130, int32)
    t = cuda.threadIdx.x
    s[t + 1] = x[t]
    if t == 0:
        s[0] = x[127]
        s[129] = x[0]
    cuda.syncthreads()
    y[t] = s[t] + s[t + 1] + s[t + 2]


@wrong(RACE, args=pair(128), block=128)
def tree_without_barrier_in_the_loop(x, y):
    s = cuda.shared.array(128, int32)
    t = cuda.threadIdx.x
    s[t] = x[t]
    cuda.syncthreads()
    step = 64
    while step > 0:
        if t < step:
            s[t] += s[t + step]
        step //= 2
    if t == 0:
        y[0] = s[0]


@right(args=pair(128), block=128)
def tree(x, y):
    s = cuda.shared.array(128, int32)
    t = cuda.threadIdx.x
    s[t] = x[t]
    cuda.syncthreads()
    step = 64
    while step > 0:
        if t < step:
            s[t] += s[t + step]
        cuda.syncthreads()
        step //= 2
    if t == 0:
        y[0] = s[0]


@wrong(RACE, args=pair(128), block=128)
def tree_without_first_barrier(x, y):
    s = cuda.shared.array(128, int32)
    t = cuda.threadIdx.x
    s[t] = x[t]
    step = 64
    while step > 0:
        if t < step:
            s[t] += s[t + step]
        cuda.syncthreads()
        step //= 2
    if t == 0:
        y[0] = s[0]


@wrong(RACE, args=pair(128), block=128)
def interleaved_tree_without_barrier(x, y):
    s = cuda.shared.array(128, int32)
    t = cuda.threadIdx.x
    s[t] = x[t]
    cuda.syncthreads()
    step = 1
    while step < 128:
        if t % (2 * step) == 0:
            s[t] += s[t + step]
        step *= 2
    if t == 0:
        y[0] = s[0]


@wrong(RACE, args=lambda: (ints(32, 32), ints(32, 32), empty(32, 32)), block=64)
def tiles_without_second_barrier(a, b, c):
    s = cuda.shared.array(64, int32)
    t = cuda.threadIdx.x
    total = 0
    for k in range(4):
        s[t] = a[k, t % 32]
        cuda.syncthreads()
        for j in range(64):
            total += s[j] * b[k, j % 32]
    c[0, t % 32] = min(total, 1)


@right(args=lambda: (ints(32, 32), ints(32, 32), empty(64)), block=64)
def tiles(a, b, c):
    s = cuda.shared.array(64, int32)
    t = cuda.threadIdx.x
    total = 0
    for k in range(4):
        s[t] = a[k, t % 32]
        cuda.syncthreads()
        for j in range(64):
            total += s[j] * b[k, j % 32]
        cuda.syncthreads()
    c[t] = total


@right(args=pair(64))
def scan_with_two_buffers(x, y):
    s = cuda.shared.array((2, 64), int32)
    t = cuda.threadIdx.x
    s[0, t] = x[t]
    now = 0
    step = 1
    while step < 64:
        cuda.syncthreads()
        other = 1 - now
        if t >= step:
            s[other, t] = s[now, t] + s[now, t - step]
        else:
            s[other, t] = s[now, t]
        now = other
        step *= 2
    y[t] = s[now, t]


@wrong(RACE, args=pair(64))
def scan_in_place(x, y):
    s = cuda.shared.array(64, int32)
    t = cuda.threadIdx.x
    s[t] = x[t]
    step = 1
    while step < 64:
        cuda.syncthreads()
        if t >= step:
            s[t] += s[t - step]
        step *= 2
    y[t] = s[t]


@right(args=pair(64))
def scan_read_then_write(x, y):
    s = cuda.shared.array(64, int32)
    t = cuda.threadIdx.x
    s[t] = x[t]
    step = 1
    while step < 64:
        cuda.syncthreads()
        value = 0
        if t >= step:
            value = s[t - step]
        cuda.syncthreads()
        s[t] += value
        step *= 2
    y[t] = s[t]


@wrong(RACE, args=pair(64))
def scan_with_one_barrier(x, y):
    s = cuda.shared.array(64, int32)
    t = cuda.threadIdx.x
    s[t] = x[t]
    step = 1
    while step < 64:
        cuda.syncthreads()
        value = 0
        if t >= step:
            value = s[t - step]
        s[t] += value
        step *= 2
    y[t] = s[t]


@wrong(RACE, block=256, args=lambda: (ints(16, 16), empty(16, 16)))
def transpose_without_barrier(x, y):
    s = cuda.shared.array((16, 17), int32)
    i = cuda.threadIdx.x % 16
    j = cuda.threadIdx.x // 16
    s[j, i] = x[j, i]
    y[j, i] = s[i, j]


@right(block=256, args=lambda: (ints(16, 16), empty(16, 16)))
def transpose(x, y):
    s = cuda.shared.array((16, 17), int32)
    i = cuda.threadIdx.x % 16
    j = cuda.threadIdx.x // 16
    s[j, i] = x[j, i]
    cuda.syncthreads()
    y[j, i] = s[i, j]
