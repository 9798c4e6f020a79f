"""Shadow memory of racecheck: what bytes and words have in common is remembered once, and nothing is lost by that."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numba import cuda

import simt
from simt.calls import running
from simt.check import LaunchError
from simt.sanitizer import layout, live_rows, pools
from simt.sanitizer import sanitizer as module
from simt.sanitizer.sanitizer import Sanitizer

Array = Any
STEPS = 6


def as_told(ops: Array, places: Array, x8: Array, x16: Array, x32: Array, out: Array) -> None:
    """Each thread loads or stores a byte, half a word or a word; all meet after every second step."""
    t = cuda.threadIdx.x
    total = 0
    for step in range(ops.shape[1]):
        op = ops[t, step]
        at = places[t, step]
        if op == 1:
            total += x8[at]
        elif op == 2:
            x8[at] = total + t
        elif op == 3:
            total += x16[at >> 1]
        elif op == 4:
            x16[at >> 1] = total + t
        elif op == 5:
            total += x32[at >> 2]
        elif op == 6:
            x32[at >> 2] = total + t
        elif op == 7:
            cuda.atomic.add(x32, at >> 2, 1)
        if step % 2:
            cuda.syncthreads()
    out[t] = total


def judged(kernel: Any, block: int, args: Any, word: int = module.WORD, grid: int = 1) -> tuple[set[Any], Sanitizer]:
    """What racecheck finds, and what it remembered; *word*: log2 of the bytes that share a cell at least."""
    made: list[Sanitizer] = []

    def watch(self: Any, names: Any) -> Sanitizer:
        made.append(Sanitizer(names, keep_going=True))
        return made[-1]

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(module, "WORD", word)
        patch.setattr(running._HostLaunch, "_watch", watch)
        profile = simt.launch(kernel, grid, block, *args, check="racecheck", keep_going=True)
    sides = [tuple((side.place, side.warp, side.lanes) for side in each.sides) for each in profile.findings]
    found = {(each.text, each.count, side) for each, side in zip(profile.findings, sides, strict=True)}
    return found, made[0]


@settings(max_examples=150)
@given(st.data(), st.sampled_from([3, 33, 40]), st.integers(4, 16))
def test_a_cell_for_each_byte_finds_the_same(data: Any, block: int, size: int) -> None:
    def draw(most: int) -> list[int]:
        return data.draw(st.lists(st.integers(0, most), min_size=STEPS, max_size=STEPS))

    kinds, starts, strides = draw(7), draw(size - 1), draw(4)
    t = np.arange(block)[:, None]
    ops = np.where(data.draw(st.lists(st.booleans(), min_size=block, max_size=block)), 1, 0)[:, None] * np.array(kinds)
    places = (np.array(starts) + t * np.array(strides)) % (4 * size)

    def run(word: int) -> set[Any]:
        words = np.zeros(size, np.int32)
        args = ops, places, words.view(np.uint8), words.view(np.int16), words, np.zeros(block, np.int64)
        return judged(as_told, block, args, word)[0]

    assert run(module.WORD) == run(0)


def copy_bytes(x: Array, y: Array) -> None:
    i = cuda.grid(1)
    if i < x.size:
        y[i] = x[i]
        x[i] = 1


def own_words(x: Array, y: Array) -> None:
    i = cuda.grid(1)
    for k in range(4):
        if 4 * i + k < x.size:
            y[4 * i + k] = x[4 * i + k]


def reversed_in_shared(x: Array, y: Array) -> None:
    s = cuda.shared.array(256, np.uint8)
    i = cuda.grid(1)
    t = cuda.threadIdx.x
    s[t] = x[i]
    cuda.syncthreads()
    y[i] = s[cuda.blockDim.x - 1 - t]
    cuda.syncthreads()
    s[t] = 0


def every_fourth(x: Array, y: Array) -> None:
    i = cuda.grid(1)
    if 4 * i < x.size:
        y[4 * i] = x[4 * i]


@pytest.mark.parametrize("dtype", [np.uint8, np.int16, np.float32])
@pytest.mark.parametrize("kernel", [copy_bytes, own_words, reversed_in_shared, every_fourth])
def test_six_bytes_a_byte(kernel: Any, dtype: Any) -> None:
    n = 4096
    found, sanitizer = judged(kernel, 256, (np.zeros(n, dtype), np.zeros(n, dtype)), grid=16)
    assert not found
    touched = 2 * n * np.dtype(dtype).itemsize + 256 * np.dtype(dtype).itemsize
    assert n <= sanitizer.shadow_bytes() <= 6 * touched + 128 * 16


def swap_red_and_blue(x: Array, y: Array) -> None:
    i = 3 * cuda.grid(1)
    if i + 2 < x.size:
        y[i] = x[i + 2]
        y[i + 1] = x[i + 1]
        y[i + 2] = x[i]
        x[i] = 0


def all_read_all(x: Array, y: Array) -> None:
    total = 0
    for k in range(cuda.blockDim.x):
        total += x[k]
    y[cuda.grid(1)] = total
    if total < 0:
        x[0] = 0


def stencil(x: Array, y: Array) -> None:
    i = cuda.grid(1)
    if 0 < i < x.size - 1:
        y[i] = x[i - 1] + x[i] + x[i + 1]
        if y[i] < 0:
            x[i] = 0


def transpose(x: Array, y: Array) -> None:
    s = cuda.shared.array((16, 16), np.int32)
    t = cuda.threadIdx.x
    s[t // 16, t % 16] = x[cuda.grid(1)]
    cuda.syncthreads()
    y[cuda.grid(1)] = s[t % 16, t // 16]
    x[cuda.grid(1)] = 0


def gather(x: Array, y: Array) -> None:
    i = cuda.grid(1)
    total = 0
    for k in range(16):
        j = (16 * i + k) * 1103515245 % 2147483648
        total += x[(j ^ j >> 13) % x.size]
    y[i] = total
    if total < 0:
        x[0] = 0


SHARED = [
    (swap_red_and_blue, np.uint8, 6.2),
    (stencil, np.uint8, 6.2),
    (stencil, np.int16, 6.1),
    (stencil, np.int32, 6.1),
    (all_read_all, np.int32, 6.1),
    (transpose, np.int32, 6.1),
]


def shadow(kernel: Any, dtype: Any, n: int = 3 << 14) -> float:
    """Bytes of shadow memory for each byte of the cells that a launch of *n* elements touches."""
    found, sanitizer = judged(kernel, 256, (np.zeros(n, dtype), np.zeros(n, dtype)), grid=n // 256)
    assert not found
    return sanitizer.shadow_bytes() / (4 * sanitizer.touched_words())


@pytest.mark.parametrize(("kernel", "dtype", "most"), SHARED)
def test_words_and_bytes_share_what_is_remembered(kernel: Any, dtype: Any, most: float) -> None:
    assert 6 <= shadow(kernel, dtype) < most


def test_two_readers_stand_for_many() -> None:
    assert 6 <= shadow(gather, np.int32) < 10


def published_products(x: Array, y: Array, total: Array) -> None:
    """Fences: every reader has to be remembered.  Rows and columns of one array: few have them in common."""
    i = cuda.grid(1)
    product = 0
    for k in range(64):
        product += x[i // 64 * 64 + k] * x[k * 64 + i % 64]
    y[i] = product
    cuda.threadfence()
    cuda.atomic.add(total, 0, 1)
    if product == 1:
        x[i // 2] = 2


def test_rows_that_nothing_refers_to_go(monkeypatch: pytest.MonkeyPatch) -> None:
    collected: list[int] = []

    def with_rows(state: Any) -> Any:
        before = int(state.HEAD[layout.H_SETS])
        state = live_rows.with_rows(state)
        collected.append(before - int(state.HEAD[layout.H_SETS]))
        return state

    monkeypatch.setattr(pools, "with_rows", with_rows)
    x = np.zeros(4096, np.int32)
    args = x, np.zeros(4096, np.int32), np.zeros(1, np.int32)
    assert judged(published_products, 256, args, grid=16)[0] == set()
    assert max(collected) > 10000
    x[5 * 64] = x[5] = 1  # the product of thread 5 * 64 + 5 is 1, that of all others 0
    found, _ = judged(published_products, 256, args, grid=16)
    assert {text.split(":")[0] for text, *_ in found} == {"data race"}


def neighbours(x: Array, y: Array) -> None:
    s = cuda.shared.array(256, np.uint8)
    t = cuda.threadIdx.x
    s[t] = x[cuda.grid(1)]
    if t > 0:
        y[cuda.grid(1)] = s[t - 1]


def test_a_race_of_bytes_names_both() -> None:
    found, _ = judged(neighbours, 64, (np.zeros(64, np.uint8), np.zeros(64, np.uint8)))
    ((text, _, sides),) = found
    assert "data race" in text
    assert len(sides) == 2


@pytest.mark.parametrize(("check", "each"), [("racecheck", 6), ("initcheck", 1), ("all", 7)])
def test_a_launch_that_is_too_large_says_what_it_needs(monkeypatch: pytest.MonkeyPatch, check: str, each: int) -> None:
    monkeypatch.setattr("os.sysconf", lambda name: 100)  # bytes of a page, and pages
    x, y = np.zeros(4096, np.uint8), np.zeros(8192, np.uint8)
    with pytest.raises(
        LaunchError, match=rf"12288 bytes of arrays need {12288 * each} bytes of shadow memory.* 10000\n"
    ):
        simt.launch(copy_bytes, 16, 256, x, y, check=check)
