"""Known truth: memory and variables that nobody has written, and accesses outside of arrays."""

from __future__ import annotations

from numba import cuda, int32

from tests.check.truth.known import INIT, MEM, Suite, empty, ints, pair, zeros

SUITE = Suite()
right, wrong = SUITE.right, SUITE.wrong


@wrong(INIT, args=pair(64))
def sum_onto_shared_memory(x, y):
    s = cuda.shared.array(64, int32)
    t = cuda.threadIdx.x
    s[t] += x[t]
    y[t] = s[t]


@wrong(INIT, args=pair(64))
def atomics_on_shared_memory(x, y):
    s = cuda.shared.array(1, int32)
    cuda.atomic.add(s, 0, x[cuda.threadIdx.x])
    cuda.syncthreads()
    y[cuda.threadIdx.x] = s[0]


@wrong(INIT, args=pair(64))
def halo_not_loaded(x, y):
    s = cuda.shared.array(66, int32)
    t = cuda.threadIdx.x
    s[t + 1] = x[t]
    cuda.syncthreads()
    y[t] = s[t] + s[t + 1] + s[t + 2]


@right(args=pair(64))
def halo_loaded(x, y):
    s = cuda.shared.array(66, int32)
    t = cuda.threadIdx.x
    s[t + 1] = x[t]
    if t < 2:
        s[t * 65] = 0
    cuda.syncthreads()
    y[t] = s[t] + s[t + 1] + s[t + 2]


@wrong(INIT, args=pair(60))
def tail_of_the_tile(x, y):
    s = cuda.shared.array(64, int32)
    t = cuda.threadIdx.x
    if t < x.size:
        s[t] = x[t]
    cuda.syncthreads()
    if t < y.size:
        y[t] = s[63 - t]


@right(args=pair(60))
def tail_of_the_tile_filled(x, y):
    s = cuda.shared.array(64, int32)
    t = cuda.threadIdx.x
    if t < x.size:
        s[t] = x[t]
    else:
        s[t] = 0
    cuda.syncthreads()
    if t < y.size:
        y[t] = s[63 - t]


@wrong(INIT, args=pair(64))
def output_read_first(x, y):
    t = cuda.threadIdx.x
    y[t] += x[t]


@wrong(INIT, args=lambda: (ints(64), empty(1)))
def atomic_onto_an_output(x, y):
    cuda.atomic.add(y, 0, x[cuda.threadIdx.x])


@right(args=lambda: (ints(64), zeros(1)))
def atomic_onto_zeros(x, y):
    cuda.atomic.add(y, 0, x[cuda.threadIdx.x])


@wrong(INIT, args=pair(64), machine=False)
def local_array_partly_written(x, y):
    a = cuda.local.array(4, int32)
    t = cuda.threadIdx.x
    a[0] = x[t]
    a[1] = 1
    y[t] = a[t % 4]


@right(args=pair(64))
def local_array(x, y):
    a = cuda.local.array(4, int32)
    t = cuda.threadIdx.x
    for k in range(4):
        a[k] = x[t] + k
    y[t] = a[t % 4]


@wrong(INIT, args=pair(64))
def every_second_element(x, y):
    s = cuda.shared.array(64, int32)
    t = cuda.threadIdx.x
    if t % 2 == 0:
        s[t] = x[t]
    cuda.syncthreads()
    y[t] = s[t]


@wrong(INIT, args=pair(64), machine=False)
def variable_of_one_path(x, y):
    t = cuda.threadIdx.x
    if x[t] > 10:
        value = x[t]
    y[t] = value + 1


@right(args=pair(64))
def variable_of_both_paths(x, y):
    t = cuda.threadIdx.x
    if x[t] > 10:
        value = x[t]
    else:
        value = 0
    y[t] = value + 1


@wrong(INIT, args=pair(64), machine=False)
def variable_of_a_loop_that_may_not_run(x, y):
    t = cuda.threadIdx.x
    for k in range(x[t] % 2):
        value = k + 1
    y[t] = value


@right(args=pair(64))
def variable_that_only_its_path_uses(x, y):
    t = cuda.threadIdx.x
    if x[t] > 10:
        value = x[t]
    if x[t] > 20:
        y[t] = value
    else:
        y[t] = 0


@wrong(INIT, grid=2, args=lambda: (ints(128), empty(64), empty(128)))
def scratch_of_half_of_the_blocks(x, scratch, y):
    i = cuda.grid(1)
    if i < 32:
        scratch[i] = x[i]
    cuda.syncthreads()
    y[i] = scratch[i % 64] if i < 64 else 0


@wrong(INIT, args=pair(64), shared=256)
def dynamic_memory_not_written(x, y):
    s = cuda.shared.array(0, int32)
    t = cuda.threadIdx.x
    if t < 32:
        s[t] = x[t]
    cuda.syncthreads()
    y[t] = s[t]


@wrong(INIT, args=pair(64))
def matrix_padding(x, y):
    s = cuda.shared.array((8, 9), int32)
    t = cuda.threadIdx.x
    s[t // 8, t % 8] = x[t]
    cuda.syncthreads()
    y[t] = s[t % 8, t // 8 + 1]


@right(args=pair(64))
def every_element_by_somebody(x, y):
    s = cuda.shared.array(64, int32)
    t = cuda.threadIdx.x
    s[(t * 5) % 64] = x[t]
    cuda.syncthreads()
    y[t] = s[t]


@wrong(MEM, args=pair(60))
def one_past_the_end(x, y):
    t = cuda.threadIdx.x
    if t <= x.size:
        y[t] = x[t]


@right(args=pair(60))
def guarded(x, y):
    t = cuda.threadIdx.x
    if t < x.size:
        y[t] = x[t]


@wrong(MEM, args=pair(64))
def neighbour_past_the_end(x, y):
    t = cuda.threadIdx.x
    y[t] = x[t + 1]


@wrong(MEM, args=pair(64))
def shared_array_too_small(x, y):
    s = cuda.shared.array(32, int32)
    t = cuda.threadIdx.x
    s[t] = x[t]
    cuda.syncthreads()
    y[t] = s[t]


@wrong(MEM, grid=3, args=pair(128))
def a_block_too_many(x, y):
    i = cuda.grid(1)
    y[i] = x[i]
