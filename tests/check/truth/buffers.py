"""Known truth: broadcasts, histograms, flags and buffers in shared memory."""

from __future__ import annotations

from numba import cuda, int32

from tests.check.truth.known import RACE, Suite, pair

SUITE = Suite()
right, wrong = SUITE.right, SUITE.wrong


@wrong(RACE, args=pair(64))
def broadcast_without_barrier(x, y):
    s = cuda.shared.array(1, int32)
    t = cuda.threadIdx.x
    if t == 0:
        s[0] = x[0]
    y[t] = s[0]


@right(args=pair(64))
def broadcast(x, y):
    s = cuda.shared.array(1, int32)
    t = cuda.threadIdx.x
    if t == 0:
        s[0] = x[0]
    cuda.syncthreads()
    y[t] = s[0]


@wrong(RACE, args=pair(64))
def broadcast_by_turns(x, y):
    s = cuda.shared.array(1, int32)
    t = cuda.threadIdx.x
    total = 0
    for k in range(4):
        if t == k:
            s[0] = x[t]
        cuda.syncthreads()
        total += s[0]
    y[t] = total


@right(args=pair(64))
def broadcast_by_turns_with_two_barriers(x, y):
    s = cuda.shared.array(1, int32)
    t = cuda.threadIdx.x
    total = 0
    for k in range(4):
        if t == k:
            s[0] = x[t]
        cuda.syncthreads()
        total += s[0]
        cuda.syncthreads()
    y[t] = total


@wrong(RACE, args=pair(64))
def histogram_without_atomics(x, y):
    s = cuda.shared.array(8, int32)
    t = cuda.threadIdx.x
    if t < 8:
        s[t] = 0
    cuda.syncthreads()
    s[x[t] % 8] += 1
    cuda.syncthreads()
    if t < 8:
        y[t] = s[t]


@right(args=pair(64))
def histogram(x, y):
    s = cuda.shared.array(8, int32)
    t = cuda.threadIdx.x
    if t < 8:
        s[t] = 0
    cuda.syncthreads()
    cuda.atomic.add(s, x[t] % 8, 1)
    cuda.syncthreads()
    if t < 8:
        y[t] = s[t]


@wrong(RACE, args=pair(64))
def histogram_read_too_early(x, y):
    s = cuda.shared.array(8, int32)
    t = cuda.threadIdx.x
    if t < 8:
        s[t] = 0
    cuda.syncthreads()
    cuda.atomic.add(s, x[t] % 8, 1)
    if t < 8:
        y[t] = s[t]


@wrong(RACE, args=pair(64))
def histogram_cleared_too_late(x, y):
    s = cuda.shared.array(8, int32)
    t = cuda.threadIdx.x
    if t < 8:
        s[t] = 0
    cuda.atomic.add(s, x[t] % 8, 1)
    cuda.syncthreads()
    if t < 8:
        y[t] = s[t]


@wrong(RACE, args=pair(64))
def all_write_one_place(x, y):
    s = cuda.shared.array(1, int32)
    t = cuda.threadIdx.x
    s[0] = x[t]
    cuda.syncthreads()
    y[t] = min(s[0], 1)


@right(args=pair(64))
def all_write_the_same(x, y):
    s = cuda.shared.array(1, int32)
    t = cuda.threadIdx.x
    if t == 0:
        s[0] = 0
    cuda.syncthreads()
    if x[t] > 3:
        s[0] = 1
    cuda.syncthreads()
    y[t] = s[0]


@wrong(RACE, args=pair(64))
def flag_reset_in_the_loop(x, y):
    s = cuda.shared.array(1, int32)
    t = cuda.threadIdx.x
    count = 0
    for k in range(3):
        s[0] = 0
        cuda.syncthreads()
        if x[t] == 5 + k:
            s[0] = 1
        cuda.syncthreads()
        count += s[0]
    y[t] = count


@right(args=pair(64))
def flag_reset_behind_a_barrier(x, y):
    s = cuda.shared.array(1, int32)
    t = cuda.threadIdx.x
    count = 0
    for k in range(3):
        cuda.syncthreads()
        s[0] = 0
        cuda.syncthreads()
        if x[t] == 5 + k:
            s[0] = 1
        cuda.syncthreads()
        count += s[0]
    y[t] = count


@wrong(RACE, args=pair(64))
def bubble_without_barrier(x, y):
    s = cuda.shared.array(64, int32)
    t = cuda.threadIdx.x
    s[t] = x[t]
    cuda.syncthreads()
    for k in range(4):
        i = 2 * t + k % 2
        if i + 1 < 64:
            if s[i] < s[i + 1]:
                a = s[i]
                s[i] = s[i + 1]
                s[i + 1] = a
    y[t] = min(s[t], 0)


@right(args=pair(64))
def bubble(x, y):
    s = cuda.shared.array(64, int32)
    t = cuda.threadIdx.x
    s[t] = x[t]
    cuda.syncthreads()
    for k in range(4):
        i = 2 * t + k % 2
        if i + 1 < 64:
            if s[i] < s[i + 1]:
                a = s[i]
                s[i] = s[i + 1]
                s[i + 1] = a
        cuda.syncthreads()
    y[t] = s[t]


@right(args=pair(64))
def bitonic_sort(x, y):
    s = cuda.shared.array(64, int32)
    t = cuda.threadIdx.x
    s[t] = x[63 - t]
    size = 2
    while size <= 64:
        step = size // 2
        while step > 0:
            cuda.syncthreads()
            other = t ^ step
            if other > t:
                up = (t & size) == 0
                if (s[t] > s[other]) == up:
                    a = s[t]
                    s[t] = s[other]
                    s[other] = a
            step //= 2
        size *= 2
    cuda.syncthreads()
    y[t] = s[t]


@wrong(RACE, args=pair(64))
def bitonic_sort_with_barrier_outside(x, y):
    s = cuda.shared.array(64, int32)
    t = cuda.threadIdx.x
    s[t] = x[63 - t]
    size = 2
    while size <= 64:
        step = size // 2
        cuda.syncthreads()
        while step > 0:
            other = t ^ step
            if other > t:
                up = (t & size) == 0
                if (s[t] > s[other]) == up:
                    a = s[t]
                    s[t] = s[other]
                    s[other] = a
            step //= 2
        size *= 2
    cuda.syncthreads()
    y[t] = s[t]


@right(args=pair(64))
def double_buffer(x, y):
    s = cuda.shared.array((2, 64), int32)
    t = cuda.threadIdx.x
    s[0, t] = x[t]
    total = 0
    for k in range(4):
        cuda.syncthreads()
        if k < 3:
            s[(k + 1) % 2, t] = x[t] + k
        total += s[k % 2, 63 - t]
    y[t] = total


@wrong(RACE, args=pair(64))
def double_buffer_with_one_buffer(x, y):
    s = cuda.shared.array((2, 64), int32)
    t = cuda.threadIdx.x
    s[0, t] = x[t]
    total = 0
    for k in range(4):
        cuda.syncthreads()
        if k < 3:
            s[k % 2, t] = x[t] + k
        total += s[k % 2, 63 - t]
    y[t] = total


@wrong(RACE, args=pair(64))
def double_buffer_filled_two_ahead(x, y):
    s = cuda.shared.array((2, 64), int32)
    t = cuda.threadIdx.x
    s[0, t] = x[t]
    s[1, t] = x[t] + 1
    total = 0
    for k in range(4):
        cuda.syncthreads()
        total += s[k % 2, 63 - t]
        s[k % 2, t] = x[t] + k
    y[t] = total
