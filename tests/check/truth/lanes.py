"""Known truth: lanes of a warp, masks, flags, atomics, small types."""

from __future__ import annotations

import numpy as np
from numba import cuda, int32

from tests.check.truth.known import RACE, Suite, empty, ints, pair, zeros

SUITE = Suite()
right, wrong = SUITE.right, SUITE.wrong


@wrong(RACE, args=pair(64))
def two_warps_read_each_other(x, y):
    s = cuda.shared.array(64, int32)
    t = cuda.threadIdx.x
    s[t] = x[t]
    cuda.syncwarp()
    y[t] = s[t ^ 32]


@right(args=pair(64))
def warps_keep_to_themselves(x, y):
    s = cuda.shared.array(64, int32)
    t = cuda.threadIdx.x
    s[t] = x[t]
    cuda.syncwarp()
    y[t] = s[t ^ 1]


@wrong(RACE, args=pair(64))
def neighbours_of_a_warp_without_barrier(x, y):
    s = cuda.shared.array(64, int32)
    t = cuda.threadIdx.x
    s[t] = x[t]
    y[t] = s[t ^ 1]


@wrong(RACE, block=32, args=pair(32))
def warp_tail_without_barriers(x, y):
    s = cuda.shared.array(64, int32)
    t = cuda.threadIdx.x
    s[t] = x[t]
    s[t + 32] = 0
    s[t] += s[t + 16]
    s[t] += s[t + 8]
    y[t] = s[t]


@right(block=32, args=pair(32))
def warp_tail(x, y):
    s = cuda.shared.array(64, int32)
    t = cuda.threadIdx.x
    s[t] = x[t]
    s[t + 32] = 0
    step = 16
    while step > 0:
        cuda.syncwarp()
        value = s[t + step]
        cuda.syncwarp()
        s[t] += value
        step //= 2
    y[t] = s[t]


@wrong(RACE, block=32, args=pair(32))
def warp_tail_with_one_barrier(x, y):
    s = cuda.shared.array(64, int32)
    t = cuda.threadIdx.x
    s[t] = x[t]
    s[t + 32] = 0
    step = 16
    while step > 0:
        cuda.syncwarp()
        s[t] += s[t + step]
        step //= 2
    y[t] = s[t]


@wrong(RACE, block=32, args=pair(32), machine=False)  # ptxas leaves no mask
def mask_of_the_lower_half_only(x, y):
    s = cuda.shared.array(32, int32)
    t = cuda.threadIdx.x
    s[t] = x[t]
    if t < 16:
        cuda.syncwarp(0xFFFF)
        y[t] = s[t + 16]
    else:
        y[t] = 0


@right(block=32, args=pair(32))
def halves_with_masks_of_their_own(x, y):
    s = cuda.shared.array(32, int32)
    t = cuda.threadIdx.x
    s[t] = x[t]
    if t < 16:
        cuda.syncwarp(0x0000FFFF)
        y[t] = s[15 - t]
    else:
        cuda.syncwarp(0xFFFF0000)
        y[t] = s[47 - t]


@wrong(RACE, block=32, args=pair(32))
def halves_that_read_across(x, y):
    s = cuda.shared.array(32, int32)
    t = cuda.threadIdx.x
    s[t] = x[t]
    if t < 16:
        cuda.syncwarp(0x0000FFFF)
        y[t] = s[t + 16]
    else:
        cuda.syncwarp(0xFFFF0000)
        y[t] = s[t - 16]


@right(block=32, args=pair(32))
def quarters_with_computed_masks(x, y):
    s = cuda.shared.array(32, int32)
    t = cuda.threadIdx.x
    first = t // 8 * 8
    s[t] = x[t]
    cuda.syncwarp(0xFF << first)
    y[t] = s[first + (t + 3) % 8]


@wrong(RACE, block=32, args=pair(32))
def quarters_that_read_the_next_one(x, y):
    s = cuda.shared.array(32, int32)
    t = cuda.threadIdx.x
    first = t // 8 * 8
    s[t] = x[t]
    cuda.syncwarp(0xFF << first)
    y[t] = s[(t + 8) % 32]


@right(block=64, args=pair(64), machine=False)  # a race there: ptxas moves the store behind the shuffle
def shuffles_order_lanes(x, y):
    s = cuda.shared.array(64, int32)
    t = cuda.threadIdx.x
    s[t] = x[t]
    value = cuda.shfl_xor_sync(0xFFFFFFFF, x[t], 1)
    y[t] = s[t ^ 1] + value


@right(block=64, args=pair(64))
def votes_order_lanes(x, y):
    s = cuda.shared.array(64, int32)
    t = cuda.threadIdx.x
    s[t] = x[t]
    if cuda.any_sync(0xFFFFFFFF, x[t] > 0):
        y[t] = s[t ^ 3]
    else:
        y[t] = 0


@right(block=96, args=lambda: (ints(96), empty(3)))
def leader_of_each_warp(x, y):
    s = cuda.shared.array(96, int32)
    t = cuda.threadIdx.x
    s[t] = x[t]
    cuda.syncwarp()
    if t % 32 == 0:
        total = 0
        for k in range(32):
            total += s[t + k]
        y[t // 32] = total


@wrong(RACE, block=96, args=lambda: (ints(96), empty(1)))
def leader_of_the_block_without_barrier(x, y):
    s = cuda.shared.array(96, int32)
    t = cuda.threadIdx.x
    s[t] = x[t]
    cuda.syncwarp()
    if t == 0:
        total = 0
        for k in range(96):
            total += s[k]
        y[0] = total


@right(block=128, args=lambda: (ints(128), empty(1)))
def sums_of_warps(x, y):
    s = cuda.shared.array(4, int32)
    t = cuda.threadIdx.x
    value = x[t]
    step = 16
    while step > 0:
        value += cuda.shfl_down_sync(0xFFFFFFFF, value, step)
        step //= 2
    if t % 32 == 0:
        s[t // 32] = value
    cuda.syncthreads()
    if t == 0:
        y[0] = s[0] + s[1] + s[2] + s[3]


@wrong(RACE, block=128, args=lambda: (ints(128), empty(1)))
def sums_of_warps_without_barrier(x, y):
    s = cuda.shared.array(4, int32)
    t = cuda.threadIdx.x
    value = x[t]
    step = 16
    while step > 0:
        value += cuda.shfl_down_sync(0xFFFFFFFF, value, step)
        step //= 2
    if t % 32 == 0:
        s[t // 32] = value
    if t == 0:
        y[0] = s[0] + s[1] + s[2] + s[3]


@right(block=64, args=pair(64))
def flag_in_shared_memory(x, y):
    s = cuda.shared.array(2, int32)
    t = cuda.threadIdx.x
    if t == 0:
        s[1] = 0
    cuda.syncthreads()
    if t == 0:
        s[0] = x[5]
        cuda.threadfence_block()
        cuda.atomic.exch(s, 1, 1)
    elif t == 32:
        while cuda.atomic.add(s, 1, 0) == 0:
            pass
        y[0] = s[0]


@wrong(RACE, block=64, args=pair(64))
def flag_in_shared_memory_without_fence(x, y):
    s = cuda.shared.array(2, int32)
    t = cuda.threadIdx.x
    if t == 0:
        s[1] = 0
    cuda.syncthreads()
    if t == 0:
        s[0] = x[5]
        cuda.atomic.exch(s, 1, 1)
    elif t == 32:
        while cuda.atomic.add(s, 1, 0) == 0:
            pass
        y[0] = s[0]


@wrong(RACE, block=64, args=pair(64))
def flag_set_before_the_data(x, y):
    s = cuda.shared.array(2, int32)
    t = cuda.threadIdx.x
    if t == 0:
        s[1] = 0
        s[0] = 0
    cuda.syncthreads()
    if t == 0:
        cuda.threadfence_block()
        cuda.atomic.exch(s, 1, 1)
        s[0] = x[5]
    elif t == 32:
        while cuda.atomic.add(s, 1, 0) == 0:
            pass
        y[0] = s[0]


@right(block=64, args=pair(64), shared=256)
def dynamic_shared_memory(x, y):
    s = cuda.shared.array(0, int32)
    t = cuda.threadIdx.x
    s[t] = x[t]
    cuda.syncthreads()
    y[t] = s[63 - t]


@right(block=64, args=lambda: (np.arange(64, dtype=np.uint8), np.zeros(64, np.uint8)))
def bytes_side_by_side(x, y):
    s = cuda.shared.array(64, np.uint8)
    t = cuda.threadIdx.x
    s[t] = x[t]
    s[t] = s[t] + 1
    y[t] = s[t]


@wrong(RACE, block=64, args=lambda: (np.arange(64, dtype=np.uint8), np.zeros(64, np.uint8)))
def bytes_of_another_warp(x, y):
    s = cuda.shared.array(64, np.uint8)
    t = cuda.threadIdx.x
    s[t] = x[t]
    y[t] = s[(t + 33) % 64]


@right(block=64, args=lambda: (np.arange(64.0), np.zeros(64)))
def doubles_through_two_barriers(x, y):
    s = cuda.shared.array(64, np.float64)
    t = cuda.threadIdx.x
    s[t] = x[t]
    cuda.syncthreads()
    value = s[63 - t]
    cuda.syncthreads()
    s[t] = value * 2
    y[t] = s[t]


@right(block=64, args=lambda: (ints(64), empty(1)))
def count_by_barrier(x, y):
    t = cuda.threadIdx.x
    found = cuda.syncthreads_count(x[t] % 3)
    if t == 0:
        y[0] = found


@right(block=64, args=lambda: (ints(64), zeros(1)))
def everybody_adds_atomically(x, y):
    s = cuda.shared.array(1, int32)
    t = cuda.threadIdx.x
    if t == 0:
        s[0] = 0
    cuda.syncthreads()
    cuda.atomic.add(s, 0, x[t])
    cuda.syncthreads()
    if t == 0:
        cuda.atomic.add(y, 0, s[0])


@wrong(RACE, block=64, args=lambda: (ints(64), zeros(1)))
def plain_read_among_atomics(x, y):
    s = cuda.shared.array(1, int32)
    t = cuda.threadIdx.x
    if t == 0:
        s[0] = 0
    cuda.syncthreads()
    cuda.atomic.add(s, 0, x[t])
    if s[0] > 60:
        y[0] = 1
