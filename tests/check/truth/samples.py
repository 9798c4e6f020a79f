"""Known truth: graphs, and NVIDIA's samples of its checkers.

The bugs of irregular programs are those of Liu et al., "Indigo: A Program-Verification Suite for Irregular Codes",
ISPASS 2022: an update that is not atomic, a guard tested beside it, a missing bound.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from numba import cuda, int32

from tests.check.truth.known import INIT, MEM, RACE, SYNC, Suite, empty, ints, pair, zeros

SUITE = Suite()
right, wrong = SUITE.right, SUITE.wrong


def graph() -> Sequence[Any]:
    """Edges of 64 vertices: where those of each begin, and where they lead."""
    ptr = np.array([0, 3, 5, 8, 9, 12, 14, 15, 16] + [16] * 57, np.int32)
    adj = np.array([1, 2, 3, 0, 4, 0, 5, 6, 0, 1, 7, 6, 2, 4, 3, 4], np.int32)
    return ptr, adj


@right(block=64, args=lambda: (*graph(), zeros(64)))
def push_atomic(ptr, adj, out):
    v = cuda.grid(1)
    if v < ptr.size - 1:
        for e in range(ptr[v], ptr[v + 1]):
            cuda.atomic.add(out, adj[e], v + 1)


@wrong(RACE, block=64, args=lambda: (*graph(), zeros(64)))
def push_plain(ptr, adj, out):  # atomicBug
    v = cuda.grid(1)
    if v < ptr.size - 1:
        for e in range(ptr[v], ptr[v + 1]):
            out[adj[e]] += v + 1


@wrong(MEM, block=128, args=lambda: (*graph(), zeros(64)))
def push_unguarded(ptr, adj, out):  # boundsBug
    v = cuda.grid(1)
    for e in range(ptr[v], ptr[v + 1]):
        cuda.atomic.add(out, adj[e], v)


@wrong(RACE, block=64, args=lambda: (*graph(), ints(64)))
def guarded_max_plain(ptr, adj, lab):  # guardBug: test then plain store
    v = cuda.grid(1)
    if v < ptr.size - 1:
        for e in range(ptr[v], ptr[v + 1]):
            if lab[adj[e]] < lab[v]:
                lab[adj[e]] = lab[v]


@wrong(RACE, block=64, args=lambda: (*graph(), ints(64)))
def guarded_max_atomic_plain_read(ptr, adj, lab):  # plain read beside atomics
    v = cuda.grid(1)
    if v < ptr.size - 1:
        for e in range(ptr[v], ptr[v + 1]):
            if lab[adj[e]] < v:
                cuda.atomic.max(lab, adj[e], v)


@right(grid=2, block=64, args=lambda: (ints(128), zeros(128), zeros(1)))
def worklist_append(x, wl, n):
    i = cuda.grid(1)
    if x[i] % 3 == 0:
        wl[cuda.atomic.add(n, 0, 1)] = i


@wrong(RACE, grid=2, block=64, args=lambda: (ints(128), zeros(128), zeros(1)))
def worklist_append_plain(x, wl, n):
    i = cuda.grid(1)
    if x[i] % 3 == 0:
        k = n[0]
        n[0] = k + 1
        wl[k] = i


@wrong(RACE, block=128, args=lambda: (ints(128), empty(1)))
def sum_without_barrier_of_the_block(data, out):
    smem = cuda.shared.array(128, int32)
    tx = cuda.threadIdx.x
    smem[tx] = data[tx] + tx
    if tx == 0:
        out[0] = 0
        for i in range(128):
            out[0] += smem[i]


@wrong(RACE, block=64, args=lambda: (ints(64), empty(1)))
def sum_without_barrier_of_the_warp(data, out):
    smem_first = cuda.shared.array(64, int32)
    smem_second = cuda.shared.array(2, int32)
    tx = cuda.threadIdx.x
    smem_first[tx] = data[tx] + tx
    if tx % 32 == 0:
        wx = tx // 32
        smem_second[wx] = 0
        for i in range(32):
            smem_second[wx] += smem_first[wx * 32 + i]
    cuda.syncthreads()
    if tx == 0:
        out[0] = smem_second[0] + smem_second[1]


@wrong(SYNC, block=64, args=lambda: (empty(64),), machine=False)
def divergent_threads(out):
    s = cuda.shared.array(64, int32)
    tid = cuda.threadIdx.x
    s[tid] = tid
    if tid < 40:
        cuda.syncthreads()
        out[tid] = s[(tid + 1) % 40]
    else:
        out[tid] = 0


@wrong(SYNC, block=32, args=lambda: (empty(32),), machine=False)
def illegal_syncwarp(out):
    tx = cuda.threadIdx.x
    m = cuda.ballot_sync(0xFFFFFFFF, tx < 16)
    cuda.syncwarp(m)
    out[tx] = tx


@wrong(INIT, grid=2, block=64, args=pair(128))
def written_in_part(x, y):
    i = cuda.grid(1)
    if i < 100:
        y[i] = x[i]
    cuda.syncthreads()
    y[i] = y[i] + 1


@right(grid=4, args=lambda: (ints(256), zeros(1)))
def product_by_compare_and_swap(x, product):
    old = product[0]
    while True:
        assumed = old
        old = cuda.atomic.cas(product, 0, assumed, assumed * 3 + x[cuda.grid(1)])
        if old == assumed:
            break


@wrong(RACE, grid=4, args=lambda: (ints(256), zeros(1)))
def compare_and_swap_of_what_another_stores(x, product):
    old = product[0]
    cuda.atomic.cas(product, 0, old, old + 1)
    if cuda.grid(1) == 200:
        product[0] = x[0]


@right(grid=4, args=lambda: (ints(256), empty(4), zeros(1), empty(1)))
def last_block_resets_the_counter(x, parts, n, y):
    last = cuda.shared.array(1, int32)
    t = cuda.threadIdx.x
    if t == 0:
        parts[cuda.blockIdx.x] = x[cuda.grid(1)]
        cuda.threadfence()
        last[0] = cuda.atomic.add(n, 0, 1) == 3
    cuda.syncthreads()
    if last[0] and t == 0:
        total = 0
        for k in range(4):
            total += parts[k]
        y[0] = total
        n[0] = 0


@wrong(RACE, grid=4, args=lambda: (ints(256), zeros(1)))
def last_block_by_its_number_resets_the_counter(x, n):
    if cuda.threadIdx.x == 0:
        cuda.threadfence()
        cuda.atomic.add(n, 0, x[cuda.grid(1)])
        if cuda.blockIdx.x == 0:
            n[0] = 0
