"""Known truth: barriers, masks, shuffles and votes."""

from __future__ import annotations

from numba import cuda, int32

from tests.check.truth.known import SYNC, Suite, empty, ints, pair

SUITE = Suite()
right, wrong = SUITE.right, SUITE.wrong


@wrong(SYNC, args=pair(64))
def barrier_in_a_branch_of_lanes(x, y):
    t = cuda.threadIdx.x
    if t % 2:
        cuda.syncthreads()
    y[t] = x[t]


@wrong(SYNC, args=pair(64))
def barrier_in_a_branch_of_warps(x, y):
    t = cuda.threadIdx.x
    if t < 32:
        cuda.syncthreads()
    y[t] = x[t]


@right(args=pair(64))
def barrier_in_a_branch_of_the_block(x, y):
    t = cuda.threadIdx.x
    if x[0] == 1:
        cuda.syncthreads()
    y[t] = x[t]


@right(args=pair(64))
def return_before_a_barrier(x, y):
    t = cuda.threadIdx.x
    if t >= 40:
        return
    y[t] = x[t]
    cuda.syncthreads()


@wrong(SYNC, args=pair(64))
def two_barriers_for_one(x, y):
    t = cuda.threadIdx.x
    if t < 32:
        y[t] = x[t]
        cuda.syncthreads()
    else:
        cuda.syncthreads()
        y[t] = x[t]


@wrong(SYNC, args=pair(64))
def barrier_in_a_loop_of_unequal_length(x, y):
    t = cuda.threadIdx.x
    for _ in range(1 + t // 32):
        cuda.syncthreads()
    y[t] = x[t]


@right(args=pair(64))
def barrier_in_a_loop(x, y):
    t = cuda.threadIdx.x
    for _ in range(x[0] + 2):
        cuda.syncthreads()
    y[t] = x[t]


@wrong(SYNC, block=32, args=pair(32), machine=False)
def mask_without_the_caller(x, y):
    t = cuda.threadIdx.x
    cuda.syncwarp(0xFFFF)
    y[t] = x[t]


@wrong(SYNC, block=32, args=pair(32), machine=False)
def mask_of_lanes_elsewhere(x, y):
    t = cuda.threadIdx.x
    if t < 16:
        cuda.syncwarp(0xFFFFFFFF)
    y[t] = x[t]


@wrong(SYNC, block=32, args=pair(32), machine=False)
def mask_of_lanes_that_returned(x, y):
    t = cuda.threadIdx.x
    if t >= 16:
        return
    y[t] = x[t]
    cuda.syncwarp()


@right(block=32, args=pair(32))
def mask_of_lanes_that_stayed(x, y):
    t = cuda.threadIdx.x
    if t >= 16:
        return
    y[t] = x[t]
    cuda.syncwarp(0xFFFF)


@wrong(SYNC, block=32, args=pair(32))
def shuffle_from_lanes_that_left(x, y):
    t = cuda.threadIdx.x
    if t >= 16:
        return
    y[t] = cuda.shfl_xor_sync(0xFFFF, x[t], 16)


@wrong(SYNC, block=32, args=pair(32))
def shuffle_in_a_branch(x, y):
    t = cuda.threadIdx.x
    value = 0
    if t % 2 == 0:
        value = cuda.shfl_down_sync(0x55555555, x[t], 1)
    y[t] = value


@right(block=32, args=pair(32))
def shuffle_before_the_branch(x, y):
    t = cuda.threadIdx.x
    other = cuda.shfl_down_sync(0xFFFFFFFF, x[t], 1)
    value = 0
    if t % 2 == 0:
        value = other
    y[t] = value


@right(block=32, args=pair(32))
def shuffle_within_half_a_warp(x, y):
    t = cuda.threadIdx.x
    value = 0
    if t < 16:
        value = cuda.shfl_xor_sync(0xFFFF, x[t], 3)
    y[t] = value


@right(block=32, args=lambda: (ints(32), empty(1)))
def tree_of_shuffles_in_half_a_warp(x, y):
    t = cuda.threadIdx.x
    if t < 16:
        value = x[t]
        step = 8
        while step > 0:
            value += cuda.shfl_down_sync(0xFFFF, value, step)
            step //= 2
        if t == 0:
            y[0] = value


@wrong(SYNC, block=32, args=lambda: (ints(32), empty(16)))
def tree_of_shuffles_stored_by_all(x, y):
    t = cuda.threadIdx.x
    if t < 16:
        value = x[t]
        step = 8
        while step > 0:
            value += cuda.shfl_down_sync(0xFFFF, value, step)
            step //= 2
        y[t] = value


@right(block=48, args=lambda: (ints(48), empty(2)))
def tree_of_shuffles_in_a_partial_warp(x, y):
    t = cuda.threadIdx.x
    lane = t % 32
    lanes = min(48 - t // 32 * 32, 32)
    mask = 0xFFFFFFFF >> (32 - lanes)
    value = x[t]
    step = 16
    while step > 0:
        other = cuda.shfl_down_sync(mask, value, step)
        if lane + step < lanes:
            value += other
        step //= 2
    if lane == 0:
        y[t // 32] = value


@wrong(SYNC, block=48, args=lambda: (ints(48), empty(2)))
def full_tree_in_a_partial_warp(x, y):
    t = cuda.threadIdx.x
    value = x[t]
    step = 16
    while step > 0:
        value += cuda.shfl_down_sync(0xFFFFFFFF, value, step)
        step //= 2
    if t % 32 == 0:
        y[t // 32] = value


@wrong(SYNC, block=32, args=pair(32), machine=False)
def vote_of_lanes_elsewhere(x, y):
    t = cuda.threadIdx.x
    y[t] = 0
    if t < 8:
        y[t] = cuda.ballot_sync(0xFFFFFFFF, x[t] > 0)


@right(block=32, args=pair(32))
def vote_of_some_lanes(x, y):
    t = cuda.threadIdx.x
    y[t] = 0
    if t < 8:
        y[t] = cuda.ballot_sync(0xFF, x[t] > 0)


@right(block=32, args=pair(32))
def vote_of_the_active_lanes(x, y):
    t = cuda.threadIdx.x
    y[t] = 0
    if x[t] > 7:
        y[t] = cuda.popc(cuda.ballot_sync(cuda.activemask(), x[t] > 0))


@wrong(SYNC, block=64, args=pair(64))
def barrier_missed_by_a_break(x, y):
    s = cuda.shared.array(64, int32)
    t = cuda.threadIdx.x
    for k in range(3):
        s[t] = x[t] + k
        if t >= 32:
            break
        cuda.syncthreads()
    y[t] = s[t]


@right(block=64, args=pair(64))
def barrier_by_vote(x, y):
    t = cuda.threadIdx.x
    if cuda.syncthreads_or(x[t] // 60):
        cuda.syncthreads()
    y[t] = x[t]
