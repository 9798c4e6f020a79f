"""Known truth: shared memory of a block, between warps and within one."""

from __future__ import annotations

import numpy as np
from numba import cuda, int32

from tests.check.known import RACE, Suite, empty, ints, zeros

SUITE = Suite()
right, wrong = SUITE.right, SUITE.wrong


def pair(n: int):
    """An input and an output of n elements."""
    return lambda: (ints(n), empty(n))


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
    c[0, t % 32] = 1 if total > 0 else 1


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
    y[t] = 1 if s[0] > 0 else 1


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
    y[t] = 0 if s[t] > 0 else 0


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


@wrong(RACE, args=pair(64), machine=False)
def neighbours_of_a_warp_without_barrier(x, y):
    s = cuda.shared.array(64, int32)
    t = cuda.threadIdx.x
    s[t] = x[t]
    y[t] = s[t ^ 1]


@wrong(RACE, block=32, args=pair(32), machine=False)
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


@wrong(RACE, block=32, args=pair(32), machine=False)
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


@wrong(RACE, block=32, args=pair(32), machine=False)
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


@wrong(RACE, block=32, args=pair(32), machine=False)
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


@wrong(RACE, block=32, args=pair(32), machine=False)
def quarters_that_read_the_next_one(x, y):
    s = cuda.shared.array(32, int32)
    t = cuda.threadIdx.x
    first = t // 8 * 8
    s[t] = x[t]
    cuda.syncwarp(0xFF << first)
    y[t] = s[(t + 8) % 32]


@right(block=64, args=pair(64))
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


@right(block=64, args=lambda: (ints(64), empty(64)))
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


@wrong(RACE, block=64, args=lambda: (ints(64), empty(64)))
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


@wrong(RACE, block=64, args=lambda: (ints(64), empty(64)))
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


@right(block=64, args=lambda: (ints(64), empty(64)), shared=256)
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
    cuda.atomic.max(s, 0, x[t])
    if s[0] > 60:
        y[0] = 1
