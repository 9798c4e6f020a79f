"""Findings as values: each place once, with a count, both sides, and what is not judged."""

from __future__ import annotations

import json

import numpy as np
import pytest
from numba import cuda, int32

import simt
from simt.check import Location, SimtError, gathered
from simt.check.findings import ERRORS, Finding, Side
from simt.sanitizer import names_of
from simt.sanitizer.tools import MEMCHECK, TABLE
from tests.check.truth import barriers, blocks, memory, tiles
from tests.machine_view import needs_numba_cuda
from tests.sass.data import cubin


def two_places(x, y):
    s = cuda.shared.array(64, int32)
    t = cuda.threadIdx.x
    for k in range(3):
        s[t] = x[t] + k
        y[t] = s[63 - t]


def launch(**options):
    return simt.launch(two_places, 2, 64, np.arange(64, dtype=np.int32), simt.uninitialized(64, np.int32), **options)


def test_each_place_is_told_once_with_a_count():
    profile = launch(check="racecheck", keep_going=True)
    places = {(f.sides[0].location.line, f.sides[1].location.line) for f in profile.findings}
    assert len(places) == len(profile.findings)
    in_block = [f for f in profile.findings if f.variable == "s"]
    assert {f.sides[0].what for f in in_block} == {"read", "write"}
    assert max(f.count for f in in_block) > 1
    assert all(f.element.startswith("s[") and f.space == "shared" for f in in_block)
    assert in_block == list(profile.findings)  # both blocks store the same values to y


def test_findings_are_in_the_profile_and_in_json():
    profile = launch(check="racecheck", keep_going=True)
    told = json.loads(profile.to_json())["findings"]
    assert [entry["count"] for entry in told] == [f.count for f in profile.findings]
    assert "found: racecheck: the kernel is wrong: data race" in str(profile)


def test_the_first_finding_raises_and_is_a_value_too():
    with pytest.raises(simt.KernelError) as error:
        launch(check="racecheck")
    (finding,) = error.value.findings
    assert error.value.finding == finding
    assert finding.tool == "racecheck"
    assert finding.kind == "data race"
    assert len(finding.sides) == 2


def test_the_same_findings_every_time():
    assert launch(check="all", keep_going=True).findings == launch(check="all", keep_going=True).findings


def test_machine_code_without_lines_is_named_by_kernel_and_offset():
    place = Location("a.cubin", function="f(int*)", text="STG.E [R2], R5", offset=0x650)
    side = Side("write", place, (0, 0, 0), 0, 1, (0, 0, 0), "0x0650  STG.E [R2], R5")
    assert (side.to_dict()["line"], side.to_dict()["function"]) == (None, "f(int*)")
    text = str(Finding("racecheck", "data race", "two writes", (side,)))
    assert "--> f(int*)+0x650 in a.cubin\n       |\n0x0650 | STG.E [R2], R5\n" in text


def _race(line: int, offset: int, other_warp: int, other_block: int = 0, count: int = 1) -> Finding:
    place = Location("a.cu", line) if line else Location("a.cubin", function="f(int*)", text="LDS", offset=offset)
    sides = [
        Side("read", place, (0, 0, 0), 0, 1, (0, 0, 0), f"{offset:#06x}  LDS"),
        Side("write before", Location("a.cu", 5), (other_block, 0, 0), other_warp, 2, (1, 0, 0), "0x0010  STS"),
    ]
    help = ("`__syncwarp()`", "`__syncthreads()`", "atomics")[2 if other_block else int(other_warp > 0)]
    return Finding("racecheck", "data race", "two accesses", sides, help=help, count=count)


def test_instructions_of_one_line_are_one_place():
    found = [_race(8, 0x80, 0, count=3), _race(9, 0x90, 0), _race(8, 0xA0, 1, count=4), _race(8, 0xB0, 0, count=5)]
    one, other = gathered(found)
    assert (one.count, one.help, one.sides[0].instruction) == (12, "`__syncthreads()`", "0x00a0  LDS")
    assert other == found[1]
    assert gathered([*found, _race(8, 0xC0, 0, 1)])[0].help == "atomics"  # between blocks no barrier helps
    assert len(gathered([_race(0, 0x80, 0), _race(0, 0x90, 0)])) == 2  # of no known line


def test_the_other_side_in_machine_code_has_its_line_too():
    sides = [
        Side(what, Location("a.cu", line, text=f"line{line};"), (0, 0, 0), 0, 1, (0, 0, 0), f"{line:#06x}  {opcode}")
        for what, line, opcode in (("read", 8, "LDS"), ("write before", 5, "STS"))
    ]
    told = str(Finding("racecheck", "data race", "two accesses", sides))
    assert "--> a.cu:8" in told
    assert told.splitlines()[-1].endswith("(thread (0, 0, 0)), at line 5: line5; (0x0005  STS)")


@pytest.mark.parametrize(
    ("column", "shown", "mark"),
    [
        (0, "a" * 160 + "...", None),
        (20, "a" * 160 + "...", 20),
        (5000, "..." + "a" * 80 + "X" + "a" * 79 + "...", 83),
        (9999, "..." + "a" * 160, 162),
    ],
)
def test_of_a_long_line_a_message_shows_the_place(column: int, shown: str, mark: int | None) -> None:
    line = "a" * 5000 + "X" + "a" * 4999
    told = str(SimtError("wrong", location=Location("a.py", 7, column, text=line))).splitlines()
    assert told[3] == f"7 | {shown}"
    assert told[4:] == ([] if mark is None else [f"  | {' ' * mark}^"])


@needs_numba_cuda
def test_what_is_not_judged_in_machine_code_is_said():
    profile = launch(check="racecheck", keep_going=True, view="sm_90")
    assert not any("did not compare" in note for note in profile.notes)
    assert all(side.instruction for finding in profile.findings for side in finding.sides)
    kernel = cubin("sm_61/kernels")["reduceNeighbored"]
    values = np.arange(64, dtype=np.int32)
    for check, said in (("racecheck", True), ("racecheck:lanes", False)):
        notes = simt.launch(kernel, 1, 64, values.copy(), np.zeros(1, np.int32), np.uint32(64), check=check).notes
        assert any("did not compare lanes of one warp" in note for note in notes) == said


def test_every_tool_has_a_bit_an_error_and_kernels_that_show_it():
    shown = {case.bug for file in (barriers, blocks, memory, tiles) for case in file.SUITE.cases}
    for tool in TABLE:
        assert tool.bit or tool is MEMCHECK
        assert tool is MEMCHECK or tool.name.partition(":")[0] in ERRORS
        assert tool.name.partition(":")[0] in shown
    assert names_of("all") == tuple(tool.name for tool in TABLE if tool.in_all and tool is not MEMCHECK)


def test_how_often_is_written_like_all_large_numbers() -> None:
    side = Side("read", Location("kernel.py", 1), (0, 0, 0), 0, 1, (0, 0, 0))
    assert str(Finding("racecheck", "data race", "two accesses", [side], count=31_999)).endswith("\n  31,999 times")
