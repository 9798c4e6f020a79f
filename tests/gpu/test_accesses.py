"""Fewer accesses in the machine code than in the source: explained by line; the machine view takes the GPU's place."""

from __future__ import annotations

import copy
import inspect
import json
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

import simt
from gpu.accesses import Access, LineAccess, accesses, compare_accesses, explained, times
from gpu.comparison import DIFFERENT, FEWER, Row, compare_metrics, compare_profiles
from gpu.ncu import Report
from gpu.profiling import HardwareProfile
from simt.profile.ncu_pages import InstructionRow
from tests.gpu.access_kernels import launches
from tests.machine_view import needs_numba_cuda


def line_of(name: str, text: str) -> int:
    """The line of the kernel that contains *text*."""
    kernel = launches()[name].kernel
    source, start = inspect.getsourcelines(kernel)
    (found,) = (start + k for k, line in enumerate(source) if text in line)
    return found


def both(name: str) -> tuple[tuple[Row, ...], tuple[LineAccess, ...]]:
    """The source view of a kernel beside its machine code."""
    plan = launches()[name]
    again = copy.deepcopy(plan.args)
    source = simt.launch(plan.kernel, plan.grid, plan.block, *plan.args)
    return compare_profiles(source, simt.launch(plan.kernel, plan.grid, plan.block, *again, view="sm_90"))


@needs_numba_cuda
@pytest.mark.parametrize(
    ("name", "text", "kind", "here", "there"),
    [
        ("forces", "d = x[j] - x[i]", "global_load", 1024, 512),
        ("powers", "square * square % modulus[0]", "global_load", 40, 0),
        ("distances", "if row[i] + 1 < best", "global_load", 76, 0),
        ("counts", "data[i] + data[i]", "global_load", 8, 4),
    ],
)
def test_a_line_explains_the_difference(name: str, text: str, kind: str, here: int, there: int) -> None:
    rows, lines = both(name)
    verdicts = {row.metric: row.verdict for row in rows}
    assert DIFFERENT not in verdicts.values()
    assert verdicts["gld_transactions"] == verdicts["global_load_requests"] == FEWER
    (line,) = (line for line in lines if line.line == line_of(name, text) and line.kind == kind)
    assert (line.source.requests, line.machine.requests) == (here, there)
    assert f"global memory loaded {times(here)} here, {times(there)} in the machine code" in str(line)


@needs_numba_cuda
def test_without_a_difference_there_is_nothing_to_explain() -> None:
    rows, lines = both("wide_loads")
    assert not {DIFFERENT, FEWER} & {row.verdict for row in rows}
    assert lines == ()


DATA = Path(__file__).parent.parent / "data" / "hardware"
RECORDED = {
    entry["kernel"]: entry for entry in json.loads((DATA / "accesses.json").read_text(encoding="utf-8"))["launches"]
}
"""What Nsight Compute counted on an H200: metrics, and every instruction that accesses global memory."""


def recorded(name: str) -> HardwareProfile:
    """The profile of a recorded launch, as far as it is stored."""
    entry = RECORDED[name]
    instructions = [
        InstructionRow(
            16 * k,
            each["text"],
            {
                "Instructions Executed": each["inst_executed"],
                "Predicated-On Thread Instructions Executed": each["pred_on_thread_inst_executed"],
                "L2 Theoretical Sectors Global": each["global_sectors"],
            },
            ("access_kernels.py", each["line"]),
        )
        for k, each in enumerate(entry["accesses"])
    ]
    nothing: Any = None
    return HardwareProfile(name, Report(name, {}, instructions), (2, 1, 1), (64, 1, 1), nothing, {})


@pytest.mark.parametrize("name", RECORDED)
def test_an_h200_is_explained_by_line(name: str) -> None:
    plan = launches()[name]
    profile = simt.launch(plan.kernel, plan.grid, plan.block, *plan.args)
    lines = compare_accesses(accesses(profile), accesses(recorded(name)))
    rows = compare_metrics(profile.metrics, RECORDED[name]["metrics"], "source", lines)
    verdicts = {row.metric: row.verdict for row in rows}
    assert {"gld_transactions", "gst_transactions", "global_sectors"} <= verdicts.keys()
    assert DIFFERENT not in verdicts.values()
    assert (FEWER in verdicts.values()) is (name != "wide_loads")
    without = compare_metrics(profile.metrics, RECORDED[name]["metrics"], "source")
    assert (DIFFERENT in {row.verdict for row in without}) is (name != "wide_loads")


def line(source: Access, machine: Access, kind: str = "global_load") -> LineAccess:
    return LineAccess("k.py", 3, kind, source, machine)


ALIKE = Access(4, 512, 16)


@pytest.mark.parametrize(
    ("lines", "expected"),
    [
        ([], False),
        ([line(ALIKE, ALIKE)], False),
        ([line(ALIKE, Access(1, 128, 4))], True),
        ([line(ALIKE, Access(1, 512, 16))], True),  # one wide access
        ([line(ALIKE, Access(0, 0, 0)), line(Access(), Access(1, 128, 4))], True),  # moved out of a loop
        ([line(ALIKE, Access(8, 1024, 32))], False),
        ([line(ALIKE, Access(1, 128, 4)), line(Access(), Access(4, 512, 16))], False),
        ([line(ALIKE, Access(1, 128, 4)), line(ALIKE, Access(4, 512, 17))], False),
        ([line(ALIKE, Access(1, 128, 4), "global_store")], False),
        ([line(ALIKE, Access(1, 128, 4), "shared_load")], False),
    ],
)
def test_what_explains_a_difference_of_load_sectors(lines: list[LineAccess], expected: bool) -> None:
    assert explained({"global_load_sectors"}, lines) is expected
    (row,) = compare_metrics({"gld_transactions": 16}, {"gld_transactions": 4}, "source", lines)
    assert row.verdict == (FEWER if expected else DIFFERENT)
    (row,) = compare_metrics({"gld_transactions": 16}, {"gld_transactions": 4}, "sm_90", lines)
    assert row.verdict == DIFFERENT


def test_all_directions_count_in_sectors_of_global_memory() -> None:
    store = line(ALIKE, Access(1, 128, 4), "global_store")
    assert explained({"global_sectors"}, [store])
    assert not explained({"global_sectors"}, [line(ALIKE, Access(1, 128, 4), "shared_store")])


amounts = st.builds(Access, st.integers(0, 50), st.integers(0, 5000), st.integers(0, 500))


@given(st.lists(amounts, min_size=1, max_size=4))
def test_equal_accesses_explain_nothing(found: list[Access]) -> None:
    table = {("k.py", number, "global_load"): access for number, access in enumerate(found)}
    lines = compare_accesses(table, dict(table))
    assert [each.source for each in lines] == found
    assert not any(each.differs or each.contradicts for each in lines)
    assert not explained({"global_load_sectors"}, lines)


def measured(*rows: tuple[str, int, int, int]) -> HardwareProfile:
    """A profile of the hardware with (instruction, executions, lanes, sectors), all of line 7."""
    columns = ("Instructions Executed", "Predicated-On Thread Instructions Executed", "L2 Theoretical Sectors Global")
    instructions = [
        InstructionRow(16 * k, text, dict(zip(columns, values, strict=True)), ("/there/k.py", 7))
        for k, (text, *values) in enumerate(rows)
    ]
    nothing: Any = None
    return HardwareProfile("k", Report("k", {}, instructions), (1, 1, 1), (32, 1, 1), nothing, {})


@pytest.mark.parametrize(
    ("row", "kind", "expected"),
    [
        (("LDG.E.128 R4, desc[UR4][R2.64]", 2, 64, 32), "global_load", Access(2, 1024, 32)),
        (("@!P0 LDG.E.U8.CONSTANT R4, desc[UR4][R2.64]", 2, 10, 3), "global_load", Access(2, 10, 3)),
        (("STG.E desc[UR4][R2.64], R5", 1, 32, 4), "global_store", Access(1, 128, 4)),
        (("LD.E.64 R4, [R2.64]", 1, 32, 8), "global_load", Access(1, 256, 8)),
        (("LD.E.64 R4, [R2.64]", 1, 32, 0), "shared_load", Access(1, 256, None)),
        (("LDS.U16 R4, [R2]", 1, 32, 0), "shared_load", Access(1, 64, None)),
        (("REDG.E.ADD.STRONG.GPU desc[UR4][R2.64], R5", 1, 32, 1), "global_atomic", Access(1, 128, None)),
    ],
)
def test_instructions_of_the_hardware(row: tuple[str, int, int, int], kind: str, expected: Access) -> None:
    assert accesses(measured(row)) == {("k.py", 7, kind): expected}


def test_what_accesses_no_memory_or_has_no_lane_is_left_out() -> None:
    assert accesses(measured(("IADD3 R1, R2, R3, RZ", 4, 128, 0), ("@P0 LDG.E R4, [R2.64]", 4, 0, 0))) == {}
    assert accesses(measured(("LDC R1, c[0x0][0x28]", 4, 128, 0))) == {}


@pytest.mark.parametrize(("count", "text"), [(0, "never"), (1, "once"), (64, "64 times"), (24960, "24,960 times")])
def test_times(count: int, text: str) -> None:
    assert times(count) == text
