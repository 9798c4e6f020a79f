"""Known truth: blocks that act on each other through global memory."""

from __future__ import annotations

from numba import cuda, int32

from tests.check.truth.known import RACE, Suite, empty, ints, pair, zeros

SUITE = Suite()
right, wrong = SUITE.right, SUITE.wrong


@wrong(RACE, grid=4, args=lambda: (ints(256),))
def shift_in_place(x):
    i = cuda.grid(1)
    if i + 64 < x.size:
        x[i] = x[i + 64]


@right(grid=4, args=pair(256))
def shift_to_another_array(x, y):
    i = cuda.grid(1)
    if i + 64 < x.size:
        y[i] = x[i + 64]


@wrong(RACE, grid=4, args=lambda: (ints(256), zeros(1)))
def sum_without_atomics(x, y):
    y[0] += x[cuda.grid(1)]


@right(grid=4, args=lambda: (ints(256), zeros(1)))
def sum_with_atomics(x, y):
    cuda.atomic.add(y, 0, x[cuda.grid(1)])


@wrong(RACE, grid=4, args=lambda: (ints(256), zeros(4)))
def sum_of_a_block_without_atomics(x, y):
    y[cuda.blockIdx.x] += x[cuda.grid(1)]


@wrong(RACE, grid=3, args=lambda: (ints(192), zeros(1)))
def every_block_writes_its_number(x, y):
    if cuda.threadIdx.x == 0:
        y[0] = cuda.blockIdx.x


@right(grid=3, args=lambda: (ints(192), zeros(1)))
def some_thread_sets_a_flag(x, y):
    if x[cuda.grid(1)] % 5 == 0:
        y[0] = 1


@wrong(RACE, grid=3, args=lambda: (ints(192), zeros(2)))
def flag_read_while_it_is_set(x, y):
    if y[0] == 0 and x[cuda.grid(1)] % 5 == 0:
        y[0] = 1


@wrong(RACE, grid=4, args=lambda: (ints(256), zeros(1), zeros(256)))
def plain_read_of_a_counter(x, n, y):
    cuda.atomic.add(n, 0, 1)
    y[cuda.grid(1)] = n[0]


@right(grid=4, args=lambda: (ints(256), zeros(1), zeros(256)))
def ticket_of_a_counter(x, n, y):
    y[cuda.atomic.add(n, 0, 1)] = x[cuda.grid(1)]


@right(grid=4, args=lambda: (ints(256), empty(4), zeros(1), empty(1)))
def last_block_done(x, parts, n, y):
    last = cuda.shared.array(1, int32)
    s = cuda.shared.array(64, int32)
    t = cuda.threadIdx.x
    s[t] = x[cuda.grid(1)]
    cuda.syncthreads()
    if t == 0:
        total = 0
        for k in range(64):
            total += s[k]
        parts[cuda.blockIdx.x] = total
        cuda.threadfence()
        last[0] = cuda.atomic.add(n, 0, 1) == 3
    cuda.syncthreads()
    if last[0] and t == 0:
        total = 0
        for k in range(4):
            total += parts[k]
        y[0] = total


@wrong(RACE, grid=4, args=lambda: (ints(256), empty(4), zeros(1), empty(1)))
def last_block_done_without_fence(x, parts, n, y):
    last = cuda.shared.array(1, int32)
    t = cuda.threadIdx.x
    if t == 0:
        parts[cuda.blockIdx.x] = x[cuda.grid(1)]
        last[0] = cuda.atomic.add(n, 0, 1) == 3
    cuda.syncthreads()
    if last[0] and t == 0:
        total = 0
        for k in range(4):
            total += parts[k]
        y[0] = total


@wrong(RACE, grid=4, args=lambda: (ints(256), empty(4), zeros(1), empty(1)))
def last_block_done_with_fence_of_the_block(x, parts, n, y):
    last = cuda.shared.array(1, int32)
    t = cuda.threadIdx.x
    if t == 0:
        parts[cuda.blockIdx.x] = x[cuda.grid(1)]
        cuda.threadfence_block()
        last[0] = cuda.atomic.add(n, 0, 1) == 3
    cuda.syncthreads()
    if last[0] and t == 0:
        total = 0
        for k in range(4):
            total += parts[k]
        y[0] = total


@wrong(RACE, grid=4, args=lambda: (ints(256), empty(4), zeros(1), empty(1)))
def last_block_done_with_late_fence(x, parts, n, y):
    last = cuda.shared.array(1, int32)
    t = cuda.threadIdx.x
    if t == 0:
        parts[cuda.blockIdx.x] = x[cuda.grid(1)]
        last[0] = cuda.atomic.add(n, 0, 1) == 3
        cuda.threadfence()
    cuda.syncthreads()
    if last[0] and t == 0:
        total = 0
        for k in range(4):
            total += parts[k]
        y[0] = total


@right(grid=4, args=lambda: (ints(256), empty(256), zeros(1), empty(64)))
def last_block_reads_what_all_threads_wrote(x, parts, n, y):
    last = cuda.shared.array(1, int32)
    t = cuda.threadIdx.x
    parts[cuda.grid(1)] = x[cuda.grid(1)] * 2
    cuda.threadfence()
    cuda.syncthreads()
    if t == 0:
        last[0] = cuda.atomic.add(n, 0, 1) == 3
    cuda.syncthreads()
    if last[0]:
        y[t] = parts[t] + parts[t + 64] + parts[t + 128] + parts[t + 192]


@wrong(RACE, grid=4, args=lambda: (ints(256), empty(256), zeros(1), empty(64)))
def last_block_without_barrier_before_the_count(x, parts, n, y):
    last = cuda.shared.array(1, int32)
    t = cuda.threadIdx.x
    parts[cuda.grid(1)] = x[cuda.grid(1)] * 2
    cuda.threadfence()
    if t == 0:
        last[0] = cuda.atomic.add(n, 0, 1) == 3
    cuda.syncthreads()
    if last[0]:
        y[t] = parts[t] + parts[t + 64] + parts[t + 128] + parts[t + 192]


@right(grid=4, args=lambda: (ints(256), empty(256), zeros(1), empty(64)))
def last_block_with_fence_of_one_thread_after_the_barrier(x, parts, n, y):
    last = cuda.shared.array(1, int32)
    t = cuda.threadIdx.x
    parts[cuda.grid(1)] = x[cuda.grid(1)] * 2
    cuda.syncthreads()
    if t == 0:
        cuda.threadfence()
        last[0] = cuda.atomic.add(n, 0, 1) == 3
    cuda.syncthreads()
    if last[0]:
        y[t] = parts[t] + parts[t + 64] + parts[t + 128] + parts[t + 192]


@wrong(RACE, grid=4, args=lambda: (ints(256), empty(256), zeros(1), empty(64)))
def last_block_with_fence_of_one_thread_before_the_barrier(x, parts, n, y):
    last = cuda.shared.array(1, int32)
    t = cuda.threadIdx.x
    parts[cuda.grid(1)] = x[cuda.grid(1)] * 2
    if t == 0:
        cuda.threadfence()
    cuda.syncthreads()
    if t == 0:
        last[0] = cuda.atomic.add(n, 0, 1) == 3
    cuda.syncthreads()
    if last[0]:
        y[t] = parts[t] + parts[t + 64] + parts[t + 128] + parts[t + 192]


@right(grid=4, args=lambda: (ints(256), empty(4), zeros(4), empty(4)))
def look_back(x, parts, flags, y):
    b = cuda.blockIdx.x
    if cuda.threadIdx.x == 0:
        before = 0
        if b > 0:
            while cuda.atomic.add(flags, b - 1, 0) == 0:
                pass
            cuda.threadfence()
            before = parts[b - 1]
        parts[b] = before + x[cuda.grid(1)]
        cuda.threadfence()
        cuda.atomic.exch(flags, b, 1)
        y[b] = before


@wrong(RACE, grid=4, args=lambda: (ints(256), empty(4), zeros(4), empty(4)))
def look_back_without_fence(x, parts, flags, y):
    b = cuda.blockIdx.x
    if cuda.threadIdx.x == 0:
        before = 0
        if b > 0:
            while cuda.atomic.add(flags, b - 1, 0) == 0:
                pass
            before = parts[b - 1]
        parts[b] = before + x[cuda.grid(1)]
        cuda.atomic.exch(flags, b, 1)
        y[b] = before


@right(grid=4, args=lambda: (ints(256), empty(256), zeros(4), empty(256)))
def look_back_of_whole_blocks(x, parts, flags, y):
    t = cuda.threadIdx.x
    b = cuda.blockIdx.x
    i = cuda.grid(1)
    if b > 0:
        if t == 0:
            while cuda.atomic.add(flags, b - 1, 0) == 0:
                pass
            cuda.threadfence()
        cuda.syncthreads()
        y[i] = parts[i - 64]
    else:
        y[i] = 0
    parts[i] = x[i]
    cuda.threadfence()
    cuda.syncthreads()
    if t == 0:
        cuda.atomic.exch(flags, b, 1)


@wrong(RACE, grid=4, args=lambda: (ints(256), empty(256), zeros(4), empty(256)))
def look_back_of_whole_blocks_without_barrier(x, parts, flags, y):
    t = cuda.threadIdx.x
    b = cuda.blockIdx.x
    i = cuda.grid(1)
    if b > 0:
        if t == 0:
            while cuda.atomic.add(flags, b - 1, 0) == 0:
                pass
            cuda.threadfence()
        y[i] = parts[i - 64]
    else:
        y[i] = 0
    parts[i] = x[i]
    cuda.threadfence()
    cuda.syncthreads()
    if t == 0:
        cuda.atomic.exch(flags, b, 1)


@right(grid=4, args=lambda: (ints(256), zeros(1), zeros(1)))
def lock(x, mutex, y):
    if cuda.threadIdx.x == 0:
        while cuda.atomic.cas(mutex, 0, 0, 1) != 0:
            pass
        cuda.threadfence()
        y[0] += x[cuda.grid(1)]
        cuda.threadfence()
        cuda.atomic.exch(mutex, 0, 0)


@wrong(RACE, grid=4, args=lambda: (ints(256), zeros(1), zeros(1)))
def lock_without_fences(x, mutex, y):
    if cuda.threadIdx.x == 0:
        while cuda.atomic.cas(mutex, 0, 0, 1) != 0:
            pass
        y[0] += x[cuda.grid(1)]
        cuda.atomic.exch(mutex, 0, 0)


@wrong(RACE, grid=4, args=lambda: (ints(256), zeros(2), zeros(1)))
def two_locks_for_one_place(x, mutex, y):
    if cuda.threadIdx.x == 0:
        k = cuda.blockIdx.x % 2
        while cuda.atomic.cas(mutex, k, 0, 1) != 0:
            pass
        cuda.threadfence()
        y[0] += x[cuda.grid(1)]
        cuda.threadfence()
        cuda.atomic.exch(mutex, k, 0)


@wrong(RACE, grid=4, args=lambda: (ints(256), zeros(1), zeros(2)))
def read_outside_of_the_lock(x, mutex, y):
    if cuda.threadIdx.x == 0:
        while cuda.atomic.cas(mutex, 0, 0, 1) != 0:
            pass
        cuda.threadfence()
        y[0] += x[cuda.grid(1)]
        cuda.threadfence()
        cuda.atomic.exch(mutex, 0, 0)
        y[1] = min(y[0], 1)


@wrong(RACE, grid=4, args=lambda: (ints(256), zeros(1), zeros(1)))
def write_after_unlock(x, mutex, y):
    if cuda.threadIdx.x == 0:
        while cuda.atomic.cas(mutex, 0, 0, 1) != 0:
            pass
        cuda.threadfence()
        value = y[0]
        cuda.threadfence()
        cuda.atomic.exch(mutex, 0, 0)
        y[0] = value + x[cuda.grid(1)]


@right(grid=2, args=lambda: (ints(128), empty(64), zeros(1), empty(64)))
def producer_and_consumer(x, box, flag, y):
    t = cuda.threadIdx.x
    if cuda.blockIdx.x == 0:
        box[t] = x[t]
        cuda.syncthreads()
        if t == 0:
            cuda.threadfence()
            cuda.atomic.exch(flag, 0, 1)
    else:
        if t == 0:
            while cuda.atomic.cas(flag, 0, 1, 1) == 0:
                pass
            cuda.threadfence()
        cuda.syncthreads()
        y[t] = box[t]


@wrong(RACE, grid=2, args=lambda: (ints(128), empty(64), zeros(1), empty(64)))
def producer_without_barrier(x, box, flag, y):
    t = cuda.threadIdx.x
    if cuda.blockIdx.x == 0:
        box[t] = x[t]
        if t == 0:
            cuda.threadfence()
            cuda.atomic.exch(flag, 0, 1)
    else:
        if t == 0:
            while cuda.atomic.cas(flag, 0, 1, 1) == 0:
                pass
            cuda.threadfence()
        cuda.syncthreads()
        y[t] = box[t]


@wrong(RACE, grid=2, args=lambda: (ints(128), zeros(64), zeros(1), empty(64)))
def plain_flag(x, box, flag, y):
    t = cuda.threadIdx.x
    if cuda.blockIdx.x == 0:
        if t == 0:
            box[0] = x[t]
            cuda.threadfence()
            flag[0] = 1
    elif t == 0:
        if flag[0] == 1:
            y[0] = box[0]
        else:
            y[0] = 0


@wrong(RACE, grid=4, args=lambda: (ints(256),))
def ring_in_place(x):
    i = cuda.grid(1)
    x[(i + 64) % x.size] = x[i]


@right(grid=4, args=lambda: (ints(256),))
def every_thread_its_own(x):
    i = cuda.grid(1)
    x[i] = x[i] * 2
    x[i] = x[i] + 1


@right(grid=4, args=pair(1024))
def grid_stride(x, y):
    i = cuda.grid(1)
    while i < x.size:
        y[i] = x[i] * 2
        i += cuda.gridsize(1)


@wrong(RACE, grid=4, args=pair(1024))
def grid_stride_too_short(x, y):
    i = cuda.grid(1)
    while i < x.size:
        y[i] = x[i] * (2 + cuda.blockIdx.x)
        i += cuda.gridsize(1) // 2


@wrong(RACE, grid=2, args=lambda: (ints(130),))
def blocks_overlap_by_two(x):
    i = cuda.blockIdx.x * 62 + cuda.threadIdx.x
    x[i] = i + cuda.blockIdx.x * 7


@right(grid=4, args=lambda: (ints(256), zeros(16)))
def histogram_of_all_blocks(x, y):
    s = cuda.shared.array(16, int32)
    t = cuda.threadIdx.x
    if t < 16:
        s[t] = 0
    cuda.syncthreads()
    cuda.atomic.add(s, x[cuda.grid(1)] % 16, 1)
    cuda.syncthreads()
    if t < 16:
        cuda.atomic.add(y, t, s[t])


@wrong(RACE, grid=4, args=lambda: (ints(256), zeros(16)))
def histogram_of_all_blocks_added_plainly(x, y):
    s = cuda.shared.array(16, int32)
    t = cuda.threadIdx.x
    if t < 16:
        s[t] = 0
    cuda.syncthreads()
    cuda.atomic.add(s, x[cuda.grid(1)] % 16, 1)
    cuda.syncthreads()
    if t < 16:
        y[t] += s[t]


@right(grid=4, args=lambda: (ints(256), zeros(256)))
def barrier_of_the_grid(x, y):
    i = cuda.grid(1)
    y[i] = x[i]
    cuda.cg.this_grid().sync()
    x[i] = y[(i + 64) % 256]


@wrong(RACE, grid=4, args=lambda: (ints(256), zeros(256)))
def no_barrier_of_the_grid(x, y):
    i = cuda.grid(1)
    y[i] = x[i]
    cuda.syncthreads()
    x[i] = y[(i + 64) % 256]
