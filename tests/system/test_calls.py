"""``printf``, ``assert``, ``malloc``, the clocks: against what an H200 did (tests/data/system), and what goes wrong."""

from __future__ import annotations

import io
import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import simt
from simt.check import AssertError, FreeError, KernelError, MisalignedError, OutOfBoundsError, TrapError
from simt.machine.launch import CLOCK_STEP

DATA = Path(__file__).parent.parent / "data" / "system"
ROWS = json.loads((DATA / "h200" / "rows.json").read_text())


@pytest.fixture
def calls() -> Any:
    return simt.load_cubin(DATA / "calls.cubin")


def as_rows(profile: Any) -> list[list[int]]:
    """Rows of the listing that were executed: offset, executions, thread executions."""
    return [
        [line.number, line.counters["inst_executed"], line.counters["thread_inst_executed"]]
        for line in profile.lines
        if line.counters["inst_executed"]
    ]


def test_counts_are_those_of_the_callers_own_instructions(capsys: pytest.CaptureFixture[str]) -> None:
    """Nsight Compute's source page has no row of ``vprintf`` or ``malloc``; nor has ours."""
    kernels = simt.load_cubin(DATA / "counts.cubin")
    pointers, numbers = np.zeros(64, np.uint64), np.zeros(4096, np.int32)
    launches = [
        ("print_none", 1, 32, ()),
        ("print_some", 1, 32, (np.int32(5),)),
        ("print_some", 2, 64, (np.int32(40),)),
        ("print_ways", 1, 32, (numbers,)),
        ("print_loop", 1, 32, (numbers,)),
        ("allocate", 1, 32, (pointers, np.int32(64))),
        ("release", 1, 32, (pointers,)),
        ("allocate", 1, 4, (pointers, np.int32(100000))),
        ("release", 1, 4, (pointers,)),
        ("both", 1, 32, (numbers,)),
        ("holds", 1, 32, (numbers, np.int32(32))),
        ("fresh", 1, 32, (numbers,)),
    ]
    for (name, grid, block, args), (expected, rows) in zip(launches, ROWS["counts"], strict=False):
        profile = simt.launch(kernels[name], grid, block, *args)
        assert (name, as_rows(profile)) == (expected, rows)
        assert len(profile.lines) == len(kernels[name].code.instructions)
    printed = capsys.readouterr().out.splitlines()
    assert printed[31:33] == ["hello", "thread 0 of 5: 0.000000"]
    assert printed[-1] == "31 2"


def test_formats(calls: Any, capsys: pytest.CaptureFixture[str]) -> None:
    simt.launch(calls["formats"], 1, 1, np.uint64(0))
    ours = {line.partition("|")[0]: line for line in capsys.readouterr().out.splitlines()}
    h200 = {line.partition("|")[0]: line for line in (DATA / "h200" / "formats.txt").read_text().splitlines()}
    muddles = {"2": "hhu", "9": "arguments beyond 32", "12": "' and F", "15": "Lf", "18": "hhd"}
    for number in map(str, range(1, 21)):
        assert (ours[number] == h200[number]) != (number in muddles), number
    returned = [13, 6, 11, 8, 4, 6, 4, 0, 0, 32, 32, 0, 1, 2, 1, 1, 0, 3, 0, 0, 7, 3, 2]
    assert calls["formats"].module["returns"][: len(returned)].tolist() == returned


@pytest.mark.parametrize("threads", [1, 2, 5])
def test_blocks_print_in_their_order(threads: int) -> None:
    """Whatever the number of host threads."""
    gpu = simt.Device(stdout=(out := io.StringIO()))
    gpu.launch(gpu.load(DATA / "calls.cubin")["many"], 40, 1, np.int32(3), threads=threads)
    found = [line.split(",")[0] for line in out.getvalue().splitlines()]
    assert found == [f"line {i} of block {block}" for block in range(40) for i in range(3)]


@pytest.mark.parametrize("order", ["profiler", "hardware", "then_first", "else_first"])
def test_the_order_of_splits_does_not_lose_a_call(calls: Any, order: str, capsys: pytest.CaptureFixture[str]) -> None:
    kernel = simt.load_cubin(DATA / "counts.cubin")["print_loop"]
    simt.launch(kernel, 1, 32, np.zeros(32, np.int32), order=order)
    expected = sorted(f"{t} {i}" for t in range(32) for i in range(t & 3))
    assert sorted(capsys.readouterr().out.splitlines()) == expected


def test_a_failed_assertion(calls: Any, capsys: pytest.CaptureFixture[str]) -> None:
    """The lines of the first block that an H200 wrote; what was printed before stays."""
    with pytest.raises(AssertError, match=r'assertion failed: threadIdx\.x < n && "below n"') as caught:
        simt.launch(calls["failing"], 2, 64, np.int32(61))
    h200 = (DATA / "h200" / "assert.txt").read_text().splitlines()
    assert caught.value.text.splitlines() == h200[:3]
    assert capsys.readouterr().out.splitlines()[-1] == "before 63"


def test_what_a_failing_kernel_printed_does_not_hang_on_host_threads(calls: Any) -> None:
    texts = set()
    for threads in (1, 4):
        gpu = simt.Device(stdout=(out := io.StringIO()))
        with pytest.raises(AssertError):
            gpu.launch(gpu.load(DATA / "calls.cubin")["failing"], 8, 64, np.int32(61), threads=threads)
        texts.add(out.getvalue())
    assert len(texts) == 1


@pytest.mark.parametrize(
    ("kernel", "args", "kind", "message"),
    [
        ("trapping", (np.int32(3),), TrapError, "the kernel stopped itself"),
        ("wild_store", (np.uint64(0x123456),), MisalignedError, "misaligned write"),
        ("text", (np.uint64(0x123456), np.int32(3)), OutOfBoundsError, "argument 1 of printf is no string"),
        ("one", (np.uint64(0x123456), np.int64(1), np.int64(2)), OutOfBoundsError, "the format of printf is no string"),
        ("one", (b"%n\0", np.int64(1), np.int64(2)), KernelError, "printf does not take %n"),
        ("one", (b"%d %s %s %s %s\0", np.int64(1), np.int64(0)), OutOfBoundsError, "printf has no argument"),
        ("again", (np.int32(0),), FreeError, "freed before"),
        ("again", (np.int32(1),), FreeError, "16 bytes inside of the block"),
        ("again", (np.int32(2),), FreeError, "not in the device heap"),
        ("again", (np.int32(3),), FreeError, "free of 0x123456789"),
        ("again", (np.int32(4),), FreeError, "not in the device heap"),
    ],
)
def test_findings(calls: Any, kernel: str, args: tuple[Any, ...], kind: type[Exception], message: str) -> None:
    given = [np.frombuffer(each, np.uint8).copy() if isinstance(each, bytes) else each for each in args]
    with pytest.raises(kind, match=message) as caught:
        simt.launch(calls[kernel], 1, 1 if kernel != "trapping" else 32, *given)
    assert "block (0, 0, 0), warp 0" in str(caught.value)
    if kernel in ("one", "text", "again"):
        assert "CALL" in str(caught.value)


def test_null_texts(calls: Any, capsys: pytest.CaptureFixture[str]) -> None:
    simt.launch(calls["text"], 1, 1, np.uint64(0), np.int32(3))
    simt.launch(calls["one"], 1, 1, np.uint64(0), np.int64(1), np.int64(2))
    assert capsys.readouterr().out == "text=(null) n=3\n"
    assert calls["one"].module["returns"][0] == -1


def test_the_heap_ends_and_outlives_launches(calls: Any) -> None:
    module = calls["fill"].module
    for _ in range(2):
        simt.launch(calls["fill"], 1, 1, np.uint64(1 << 20), np.int32(100))
        assert module["counted"][0] == 7
        kept = module["kept"].view(np.uint64)[:8].copy()
        assert len(set(kept[:7].tolist())) == 7
        assert kept[7] == 0
        simt.launch(calls["fill"], 1, 1, np.uint64(1 << 20), np.int32(100))
        assert module["counted"][0] == 0
        module["kept"].view(np.uint64)[:8] = kept
        simt.launch(calls["empty_heap"], 1, 1, np.int32(7))


def test_a_failed_launch_takes_its_blocks_back(calls: Any) -> None:
    for _ in range(3):
        with pytest.raises(FreeError):
            simt.launch(calls["again"], 1, 1, np.int32(3))
    simt.launch(calls["fill"], 1, 1, np.uint64(8 << 20 >> 1), np.int32(1))
    assert calls["fill"].module["counted"][0] == 1


def test_clocks_go_on() -> None:
    """Without the timing model each read is so many cycles later: a loop that waits ends as on hardware."""
    out = np.zeros(10, np.int64)
    simt.launch(simt.load_cubin(DATA / "counts.cubin")["clocks"], 1, 1, out)
    assert np.diff(out[:3]).tolist() == [CLOCK_STEP, CLOCK_STEP]
    assert out[4] == 100000 // CLOCK_STEP  # 2439, as on an H200
    assert (out[[5, 6, 8, 9]] % 32 == 0).all()
    assert (np.diff(out[[5, 6, 8, 9]]) > 0).all()


def test_timing_prints_once_and_changes_nothing(calls: Any, capsys: pytest.CaptureFixture[str]) -> None:
    kernels = simt.load_cubin(DATA / "counts.cubin")
    plain = simt.launch(kernels["both"], 1, 32, np.zeros(32, np.int32))
    timed = simt.launch(kernels["both"], 1, 32, out := np.zeros(32, np.int32), timing=True)
    assert timed.counters == plain.counters
    assert out.tolist() == list(range(32))
    assert timed.timing.cycles > 0
    timed = simt.launch(kernels["print_some"], 2, 64, np.int32(40), timing=True)
    assert timed.timing.cycles > 0
    assert len(capsys.readouterr().out.splitlines()) == 80
