"""Barriers in shared memory: what an H200 recorded, laws of the word, and what goes wrong (mbarriers.cu)."""

from __future__ import annotations

from functools import cache
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import simt
from simt.check import BarrierError, DeadlockError, MisalignedError, OutOfBoundsError, UnsupportedError
from simt.machine.mbarriers import BYTES, EXPECTED, PENDING, PHASE, arrived
from tests.machine_view import DATA
from tests.sass.assembler import listing

RECORDED = np.load(DATA / "h200" / "mbarriers.npz")
LIVE = {"one": (1, 1), "each": (32, 1), "together": (32, 32)}
"""Of each set of streams: lanes that execute it, and lanes that share a barrier."""
ARRIVALS, QUESTIONS = (1, 2, 3, 4, 5, 6), (9, 10)
"""Instructions of a stream that give the word before, and whether a phase has ended."""
LAUNCHES: dict[str, tuple[int, int]] = {
    # threads, elements of the input
    "simple": (128, 128), "drop": (128, 128), "copy": (128, 4096), "copy_one": (128, 128), "cgcopy": (128, 4096),
    "pipe": (64, 2048), "roles": (128, 1024),
}  # fmt: skip


@cache
def kernels() -> simt.sass.Kernels:
    return simt.load_cubin(DATA / "sm_90" / "mbarriers.cubin")


@pytest.mark.parametrize("name", LIVE)
def test_every_recorded_instruction_gives_what_an_h200_gave(name: str) -> None:
    """The upper word before an arrival, whether a phase has ended: all other state is seen by them, too."""
    live, group = LIVE[name]
    ops, args = RECORDED[f"{name}.ops"].astype(np.uint32), RECORDED[f"{name}.args"]
    states = RECORDED[f"{name}.phases"].astype(np.uint64) << np.uint64(63)
    found = np.zeros((*ops.shape, live), np.uint64)
    n, per = np.int32(ops.shape[1]), np.int32(group)
    simt.launch(kernels()["stream"], len(ops), live, ops, args, states, found, n, per)
    arrivals, questions = np.isin(ops, ARRIVALS), np.isin(ops, QUESTIONS)
    wanted = RECORDED[f"{name}.results"]
    assert (found[arrivals] >> np.uint64(32) == wanted[arrivals]).all()
    assert (found[questions] == wanted[questions]).all()
    assert arrivals.sum() > 100
    assert set(np.unique(wanted[questions])) == {0, 1}


def launch(name: str, **options: object) -> tuple[np.ndarray, simt.Profile]:
    """One of LAUNCHES as it was recorded: its output and profile."""
    threads, n = LAUNCHES[name]
    data = np.arange(n) * 7919 % 1013
    arguments = [data.astype(np.int32), np.zeros(128, np.int32)]
    if len(kernels()[name].parameters or ()) == 3:
        arguments.append(np.int32(5 if name == "simple" else n))
    return arguments[1], simt.launch(kernels()[name], 1, threads, *arguments, **options)


@pytest.mark.parametrize("name", LAUNCHES)
def test_barriers_and_pipelines_of_cuda_run_as_on_an_h200(name: str) -> None:
    """Results, totals of the hardware's counters, and rows where theirs is the same sum: under the profiler's
    instrumentation a wait may last so long that it is begun anew."""
    output, profile = launch(name, order="hardware")
    assert (output == RECORDED[f"{name}.output"]).all()
    counts = [profile.metrics["inst_executed"], profile.metrics["thread_inst_executed"]]
    assert counts == RECORDED[f"{name}.totals"].tolist()
    _, profile = launch(name)
    names = ("inst_executed", "thread_inst_executed", "pred_on_thread_inst_executed")
    rows = [[line.counters[name] for name in names] for line in profile.lines]
    recorded = RECORDED.get(f"{name}.rows")
    if recorded is not None:
        assert rows == recorded[: len(rows)].tolist()
        assert not recorded[len(rows) :].any()


@pytest.mark.parametrize("name", LAUNCHES)
def test_checks_timing_and_schedules_leave_the_results(name: str) -> None:
    wanted = RECORDED[f"{name}.output"]
    assert (launch(name, check="initcheck,racecheck,synccheck")[0] == wanted).all()
    assert (launch(name, schedule="random:3")[0] == wanted).all()
    output, profile = launch(name, timing=True)
    assert (output == wanted).all()
    assert profile.timing.cycles > 0


word = st.builds(
    lambda expected, share, bytes, phase: (
        (-expected & 0xFFFFF) << EXPECTED
        | (-max(1, expected * share // 100) & 0xFFFFF) << PENDING
        | (-bytes & 0x1FFFFF) << BYTES
        | phase << PHASE
    ),
    st.integers(1, (1 << 20) - 1),
    st.integers(0, 100),
    st.integers(0, 1000),
    st.integers(0, 1),
)


def after(before: int, threads: int, expected: int, drops: bool = False) -> int:
    """The word after an arrival, unsigned."""
    signed = np.uint64(before).astype(np.int64)
    return int(arrived(signed, np.int64(threads), np.int64(expected), drops)) & 0xFFFFFFFFFFFFFFFF


def missing(of: int) -> tuple[int, int]:
    """Threads and bytes that a word waits for."""
    return -(of >> PENDING) & 0xFFFFF, -(of >> BYTES) & 0x1FFFFF


@given(word, st.data())
def test_arrivals_add_up_until_the_phase_ends(before: int, data: st.DataObject) -> None:
    threads, expected = missing(before)
    first = data.draw(st.integers(0, threads - 1))
    rest = threads - first
    halfway = after(before, first, 7)
    assert missing(halfway) == (rest, expected + 7)
    assert after(halfway, rest, -7) == after(before, threads, 0)
    ended = after(after(before, threads, 0), 0, -expected)
    assert ended >> PHASE != before >> PHASE
    assert missing(ended) == (-(before >> EXPECTED) & 0xFFFFF, 0)
    assert (ended ^ before) & 0xFFFFF << EXPECTED == 0


@given(word)
def test_who_drops_out_is_not_waited_for_again(before: int) -> None:
    threads, expected = missing(before)
    total = -(before >> EXPECTED) & 0xFFFFF
    dropped = after(before, threads, -expected, True)
    assert missing(dropped)[0] == -(dropped >> EXPECTED) & 0xFFFFF == total - threads


def run(folder: Path, threads: int, *lines: str, shared: int = 64) -> None:
    """Launch machine code: R0 is the thread, R2 and R3 what an mbarrier for 16 threads holds at first."""
    code = ["S2R R0, SR_TID.X", "MOV R2, 0x1fffe0", "MOV R3, 0x7fff8000", *lines, "EXIT"]
    (folder / "k.sass").write_text(listing(code))
    kernel = simt.load_cubin(folder / "k.sass", parameters={"k": []})["k"]
    simt.launch(kernel, 1, threads, shared_bytes=shared)


INIT, ARRIVE = "SYNCS.EXCH.64 URZ, [RZ+URZ], R2", "SYNCS.ARRIVE.TRANS64.A1T0 RZ, [RZ+URZ], RZ"
WAIT = "SYNCS.PHASECHK.TRANS64.TRYWAIT P0, [RZ+URZ], RZ"


def test_more_threads_than_it_waits_for(tmp_path: Path) -> None:
    """An H200 ends such a kernel with an unspecified launch failure."""
    run(tmp_path, 16, INIT, ARRIVE, WAIT)
    with pytest.raises(BarrierError, match="32 threads arrive at an mbarrier that waits for fewer") as caught:
        run(tmp_path, 32, INIT, ARRIVE)
    assert "initialise it with the number of threads" in str(caught.value)


def test_threads_that_nobody_joins(tmp_path: Path) -> None:
    with pytest.raises(DeadlockError, match="waits for a phase of an mbarrier to end") as caught:
        run(tmp_path, 8, INIT, ARRIVE, WAIT)
    assert "as many threads must arrive in each phase" in str(caught.value)


def test_addresses_are_checked(tmp_path: Path) -> None:
    with pytest.raises(MisalignedError, match="multiple of 8"):
        run(tmp_path, 1, "SYNCS.EXCH.64 URZ, [RZ+URZ+0x4], R2")
    for line in (INIT, ARRIVE, WAIT, "SYNCS.PHASECHK.TRANS64 P0, [RZ+URZ], RZ"):
        with pytest.raises(OutOfBoundsError, match="of shared memory"):
            run(tmp_path, 1, line.replace("URZ]", "URZ+0x40]"))


@pytest.mark.parametrize(
    ("line", "message"),
    [
        ("SYNCS.ARRIVE.TRANS64.TMASK.ART0 R4, [RZ+URZ], R2", "modifier .TMASK of SYNCS"),
        ("SYNCS.EXCH.64 R4, [RZ+URZ], R2", "with a result"),
        ("SYNCS.TRANS64 R4, [RZ+URZ], R2", "this form of SYNCS"),
        ("ARRIVES.LDGSTSBAR.64 [UR4]", "this form of ARRIVES"),
        ("UBLKCP.G.S [UR4], [UR6], UR5", "from global to shared"),
        ("UBLKCP.S.G [R4], [UR6], UR5", "uniform addresses"),
        ("ELECT P0, UR4, PT", "without a register"),
        ("UCGABAR_ARV", "UCGABAR_ARV is not supported: clusters of blocks are not modelled"),
    ],
)
def test_what_is_refused(line: str, message: str, tmp_path: Path) -> None:
    with pytest.raises(UnsupportedError, match=message):
        run(tmp_path, 1, line)
