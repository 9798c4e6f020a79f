"""Race detection: what races, what does not, and what the message says."""

from __future__ import annotations

import numpy as np
import pytest
from numba import cuda

import simt
from simt import kernels
from simt.check import RaceError


def shared_without_barrier(out):
    tile = cuda.shared.array(64, np.int32)
    t = cuda.threadIdx.x
    tile[t] = t
    out[t] = tile[63 - t]


def shared_with_barrier(out):
    tile = cuda.shared.array(64, np.int32)
    t = cuda.threadIdx.x
    tile[t] = t
    cuda.syncthreads()
    out[t] = tile[63 - t]


def warp_tail_without_syncwarp(out):
    t = cuda.threadIdx.x
    if t < 16:
        out[t] += out[t + 16]
        out[t] += out[t + 8]


def warp_tail_with_syncwarp(out):
    t = cuda.threadIdx.x
    if t < 16:
        out[t] += out[t + 16]
    cuda.syncwarp()
    if t < 8:
        out[t] += out[t + 8]


def across_blocks(out):
    i = cuda.grid(1)
    out[i] = out[(i + cuda.blockDim.x) % out.size]


def everybody_writes_one(out):
    out[0] = 1


def everybody_writes_another(out):
    out[0] = cuda.threadIdx.x


def atomic_counter(out):
    cuda.atomic.add(out, 0, 1)


def atomic_and_plain(out):
    cuda.atomic.add(out, 0, 1)
    if cuda.threadIdx.x == 5:
        out[0] = 7


def bytes_side_by_side(out):
    i = cuda.grid(1)
    if i < out.size:
        out[i] = i


def run(kernel, grid=1, block=64, dtype=np.int32):
    return simt.launch(kernel, grid, block, np.zeros(grid * block, dtype), check="racecheck")


@pytest.mark.parametrize(
    "kernel", [shared_without_barrier, warp_tail_without_syncwarp, everybody_writes_another, atomic_and_plain]
)
def test_a_race_within_a_block_is_found(kernel):
    with pytest.raises(RaceError):
        run(kernel)


def test_a_race_between_blocks_is_found():
    with pytest.raises(RaceError, match="data race") as error:
        run(across_blocks, grid=2)
    assert "block (0, 0, 0)" in str(error.value)
    assert "block (1, 0, 0)" in str(error.value)


@pytest.mark.parametrize("kernel", [shared_with_barrier, warp_tail_with_syncwarp, everybody_writes_one, atomic_counter])
def test_ordered_atomic_and_equal_writes_do_not_race(kernel):
    run(kernel)


def test_neighbouring_bytes_are_different_memory():
    run(bytes_side_by_side, dtype=np.uint8)


def test_the_message_names_both_sides():
    with pytest.raises(RaceError) as error:
        run(shared_without_barrier)
    text = str(error.value)
    assert "out[t] = tile[63 - t]" in text
    assert "tile[t] = t" in text
    assert "syncthreads" in text
    assert "this write: block (0, 0, 0), warp 1, lanes 0-31 (first: thread (32, 0, 0))" in text
    assert "the read before: block (0, 0, 0), warp 0, lanes 0-31 (first: thread (0, 0, 0))" in text


def test_the_remedy_fits_the_race():
    for kernel, remedy in (
        (shared_without_barrier, "put `cuda.syncthreads()` between the two"),
        (everybody_writes_another, "let one thread do it, or an atomic"),
    ):
        with pytest.raises(RaceError) as error:
            run(kernel)
        assert remedy in error.value.help


@pytest.mark.parametrize("order", ["then_first", "else_first", "interleaved", "random:3"])
@pytest.mark.parametrize("name", [n for n in kernels.names() if kernels.get(n).group == "reduction"])
def test_the_family_has_no_race(name, order):
    data = np.arange(3000, dtype=np.int32)
    total, _ = simt.reduce(data, kernel=name, block=128, check="racecheck", order=order)
    assert total == data.sum()


def test_what_was_looked_for_in_vain_is_said():
    assert "note: racecheck found nothing" in str(run(shared_with_barrier))
    with pytest.raises(RaceError):
        run(shared_without_barrier)
    assert "racecheck" not in str(simt.launch(shared_with_barrier, 1, 64, np.zeros(64, np.int32), check="memcheck"))


@pytest.mark.parametrize(
    ("check", "message"),
    [
        ("racechek", "there is no check 'racechek'.*\n.*did you mean racecheck"),
        (["memcheck", "leakcheck"], "there is no check 'leakcheck'"),
        ("", "there is no check ''.*\n.*choose memcheck, initcheck, racecheck, synccheck, racecheck:lanes or all"),
        (True, "check is True; it must be a name or several"),
        ([3], "there is no check 3"),
    ],
)
def test_checks_that_there_are_not(check, message):
    with pytest.raises(simt.LaunchError, match=message):
        simt.launch(everybody_writes_one, 1, 32, np.zeros(1), check=check)
