"""Two profiles side by side, and machine code under its source lines."""

from __future__ import annotations

import json
import os
import sys
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from simt.check import LaunchError
from simt.profile import METRICS, Profile, UnusableProfileError, compare
from simt.profile.compare import COMPARED, load
from simt.profile.fold import fold
from simt.profile.recorded import load_recorded
from simt.program import Program
from tests.profile.handmade import guarded, if_else, machine_code, profile


def with_lines(program: Program, *numbers: int | None, file: str = "/somewhere/if_else.py") -> Program:
    """The program with line information."""
    program.listing = [
        replace(line, source=None if number is None else (file, number))
        for line, number in zip(program.listing, numbers, strict=True)
    ]
    return program


def machine(view: str = "sm_90", *numbers: int | None, grid: int = 1) -> Profile:
    program = machine_code() if not numbers else with_lines(machine_code(), *numbers)
    program.view = view
    return profile(program, grid=grid)


def hardware(**changes: Any) -> dict[str, Any]:
    """A profile as the hardware's profiler gives it: no zero counters, no positions but offsets, other facts."""
    saved = machine().to_dict()
    lines = [
        {
            "offset": line["offset"],
            "text": line["text"],
            "counters": {name: value for name, value in line["counters"].items() if name in COMPARED},
        }
        for line in saved["lines"]
    ]
    metrics = {name: saved["metrics"][name] for name in ("inst_executed", "gst_transactions")}
    return {
        "kernel": "machine_code",
        "view": "sm_90",
        "device": {"name": "NVIDIA H200"},
        "profiler": "Nsight Compute 2025.3",
        "grid": [1, 1, 1],
        "block": [32, 1, 1],
        "counters": saved["counters"],
        "metrics": {**metrics, "achieved_occupancy": 12.5},
        "lines": lines,
        **changes,
    }


def test_a_profile_equals_itself_however_it_was_saved() -> None:
    found = machine()
    for other in (found, found.to_dict(), json.loads(found.to_json())):
        difference = compare(found, other)
        assert difference.equal
        assert difference.by == "listing"
        assert [row.a.text for row in difference.lines if row.a] == [line.text for line in found.lines]
        assert all(row.equal and row.comparable for row in difference.metrics)
    text = compare(found, found).render(color=False)
    assert "all 3 equal in every counter" in text
    assert "!" not in text


def test_simulator_against_hardware() -> None:
    difference = compare(machine(), hardware())
    assert difference.equal
    rows = {row.metric: row for row in difference.metrics}
    assert (rows["inst_executed"].a, rows["inst_executed"].b, rows["inst_executed"].equal) == (3, 3, True)
    assert (rows["achieved_occupancy"].a, rows["achieved_occupancy"].b) == (None, 12.5)
    assert not rows["achieved_occupancy"].equal
    assert "measured on NVIDIA H200, Nsight Compute 2025.3" in str(difference)


def test_one_count_that_differs_is_found() -> None:
    other = hardware()
    other["lines"][1]["counters"]["global_sectors_ideal"] += 1
    difference = compare(machine(), other)
    assert not difference.equal
    (row,) = difference.differing
    assert row.differing == ("global_sectors_ideal",)
    marked = [line for line in difference.render(color=False).splitlines() if line.startswith("!")]
    assert len(marked) == 1
    assert "STG" in marked[0]
    assert "1 of 3 differ" in str(difference)


def test_code_that_differs_is_aligned_by_opcode() -> None:
    other = hardware()
    other["lines"].insert(1, {"offset": 16, "text": "@!P0 IADD3 R1, R1, R2, RZ", "counters": {"inst_executed": 7}})
    other["lines"][2]["text"] = "@P1 STG.E.64 [R8], R9"
    difference = compare(machine(), other)
    pairs = [(row.a and row.a.text, row.b and row.b.text) for row in difference.lines]
    assert pairs == [
        ("S2R R4, SR_LANEID", "S2R R4, SR_LANEID"),
        (None, "@!P0 IADD3 R1, R1, R2, RZ"),
        ("STG.E.64 [R6], R4", "@P1 STG.E.64 [R8], R9"),
        ("EXIT", "EXIT"),
    ]
    assert [row.differing for row in difference.lines] == [(), ("inst_executed",), (), ()]


def test_source_against_machine_view() -> None:
    """Sums per source line; what the views count differently is marked, what the addresses decide is not."""
    difference = compare(profile(if_else()), machine("sm_90", 2, 7, 7))
    assert difference.by == "line"
    rows = {row.a.position if row.a else row.b.position: row for row in difference.lines if row.a or row.b}
    store = rows["7"]
    assert store.a is not None
    assert store.b is not None
    assert store.a.text == "    out[lane] = v"
    assert store.b.counters["inst_executed"] == 2
    assert store.a.counters["global_sectors"] == store.b.counters["global_sectors"] == 8
    assert rows["4"].b is None
    metrics = {row.metric: row for row in difference.metrics}
    assert not metrics["inst_executed"].comparable
    assert metrics["inst_executed"].ratio is None
    assert metrics["gst_transactions"].comparable
    assert metrics["gst_transactions"].ratio == 1
    text = difference.render(color=False)
    assert "~ not comparable" in text
    assert "!" not in text
    assert not difference.equal


def test_two_architectures() -> None:
    with_lines_of_both = compare(machine("sm_80", 2, 7, None), machine("sm_90", 2, 7, 7))
    assert with_lines_of_both.by == "line"
    assert [row.differing for row in with_lines_of_both.lines] == [
        (),
        COMPARED[:3],
        COMPARED[:3],
    ]
    without = compare(machine("sm_80"), machine("sm_90", 2, 7, 7, grid=2))
    assert without.by == "opcode"
    assert [row.a.text for row in without.lines if row.a] == ["EXIT", "S2R", "STG"]
    assert all(row.comparable for row in without.metrics)
    assert "the launches differ" in str(without)


def test_opcodes_are_sorted_by_their_counts() -> None:
    other = hardware(view="sm_80")
    other["lines"][1]["counters"]["inst_executed"] = 7
    assert [row.b.text for row in compare(machine(), other).lines if row.b] == ["STG", "EXIT", "S2R"]


def test_ratios_are_equal_to_the_digits_that_profilers_print() -> None:
    ours = hardware(metrics={"gst_efficiency": 33.33333333, "gld_efficiency": 25.02, "branch": 100_001})
    theirs = hardware(metrics={"gst_efficiency": 33.333333, "gld_efficiency": 25.03, "branch": 100_000})
    assert [row.equal for row in compare(ours, theirs).metrics] == [True, False, False]


def test_different_views_are_not_equal_even_if_their_numbers_are() -> None:
    source = profile(if_else()).to_dict()
    code = {**source, "view": "sm_90", "lines": [dict(line) for line in source["lines"]]}
    for line in code["lines"]:
        line |= {"offset": 16 * line["number"], "source": [line["file"], line["number"]]}
    difference = compare(source, code)
    assert not difference.differing
    assert not difference.equal


def test_two_source_listings_are_aligned_by_their_text() -> None:
    difference = compare(profile(if_else()), profile(guarded()))
    assert difference.by == "listing"
    assert len(difference.lines) == 11  # nothing in common
    assert compare(profile(if_else()), profile(if_else(), grid=2)).differing


def test_a_way_that_does_not_fit() -> None:
    with pytest.raises(UnusableProfileError, match="source lines"):
        compare(machine(), machine(), "line")
    with pytest.raises(UnusableProfileError, match="no opcodes"):
        compare(profile(if_else()), machine(), "opcode")
    with pytest.raises(UnusableProfileError, match="ways: listing"):
        compare(machine(), machine(), "luck")


@pytest.mark.parametrize(
    "wrong",
    [
        {},
        {"results": []},
        [],
        3,
        None,
        hardware(lines=3),
        hardware(lines=[{"text": "EXIT", "counters": {}}]),
        hardware(metrics={"inst_executed": "many"}),
        hardware(device="h200"),
        hardware(lines=[{"text": "EXIT", "offset": 0, "counters": {"branches": float("inf")}}]),
    ],
)
def test_what_is_no_profile(wrong: Any, tmp_path: Path) -> None:
    with pytest.raises(UnusableProfileError, match="not a profile"):
        compare(machine(), wrong)
    path = tmp_path / "saved.json"
    path.write_text(json.dumps(wrong))
    with pytest.raises(UnusableProfileError, match=r"saved\.json"):
        load(path)


@pytest.mark.skipif(sys.platform == "win32", reason="no pipes in folders")
def test_pipes_are_not_waited_for(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "pipe")
    for reader in (load, load_recorded):
        with pytest.raises(LaunchError, match="pipe is a device or a pipe, not a file"):
            reader(str(tmp_path / "pipe"))


def test_files_that_cannot_be_read(tmp_path: Path) -> None:
    with pytest.raises(UnusableProfileError, match="cannot be read"):
        load(tmp_path / "absent.json")
    for text in ("hello", "[" * 100_000):
        (tmp_path / "text.json").write_text(text)
        with pytest.raises(UnusableProfileError, match="not JSON"):
            load(tmp_path / "text.json")


def test_columns() -> None:
    text = compare(machine(), machine()).render(["thread_inst_executed"], color=False)
    assert "thread inst A" in text
    with pytest.raises(Exception, match="global_sectors"):
        compare(machine(), machine()).render(["globl_sectors"])


def test_to_dict_is_json() -> None:
    data = json.loads(json.dumps(compare(profile(if_else()), machine("sm_90", 2, 7, 7)).to_dict()))
    assert data["a"]["view"] == "source"
    assert data["equal"] is False
    assert {"metric", "unit", "a", "b", "ratio", "comparable"} == set(data["metrics"][0])


def test_what_every_view_can_agree_on() -> None:
    alike = {name for name in METRICS if METRICS[name].same_in_every_view}
    assert {"gld_efficiency", "gst_transactions", "global_sectors", "shared_efficiency", "warps_launched"} <= alike
    assert not {"inst_executed", "branch", "divergent_branch", "theoretical_occupancy", "local_load_requests"} & alike


def test_folding_sums_the_instructions_of_a_line() -> None:
    found = machine("sm_90", 7, 2, 7)
    first, second = fold(found.lines)
    assert (first.source, first.members, first.place) == (("/somewhere/if_else.py", 2), (1,), "if_else.py:2")
    assert second.members == (0, 2)
    assert second.counters["inst_executed"] == 2
    assert sum(group.counters["global_sectors"] for group in (first, second)) == found.counters["global_sectors"]


def test_instructions_without_a_line_come_last() -> None:
    groups = fold(machine("sm_90", None, 3, None).lines)
    assert [group.place for group in groups] == ["if_else.py:3", "no source line"]


def test_the_folded_listing(tmp_path: Path) -> None:
    source = tmp_path / "kernel.py"
    source.write_text("def kernel(out):\n    out[cuda.laneid] = cuda.laneid\n")
    program = with_lines(machine_code(), 2, 2, 1, file=str(source))
    lines = profile(program).annotate(color=False).splitlines()
    assert lines[2].strip() == str(source)
    assert [line.split()[-1] for line in lines[3:]] == ["kernel(out):", "EXIT", "cuda.laneid", "SR_LANEID", "R4"]
    assert lines[5].startswith("> ")
    assert lines[5].split()[1] == "2"
    assert "0x0010      STG.E.64" in lines[7]
    flat = profile(program).annotate(fold=False, color=False)
    assert "cuda.laneid" not in flat
    assert [line.split()[-1] for line in flat.splitlines()[2:]] == ["SR_LANEID", "R4", "EXIT"]
    assert "out[cuda.laneid]" in profile(program)._repr_html_()


def test_padding_is_not_listed() -> None:
    program = machine_code()
    program.listing += [replace(program.listing[-1], text="NOP", number=48 + 16 * k) for k in range(3)]
    assert "NOP" not in profile(program).annotate(color=False)
    assert len(profile(program).lines) == 6


def test_lines_of_the_machine_view() -> None:
    """One entry per instruction in address order, with the names of the hardware's tables."""
    lines = machine().lines
    assert [(line.offset, line.text) for line in lines] == [
        (0, "S2R R4, SR_LANEID"),
        (16, "STG.E.64 [R6], R4"),
        (32, "EXIT"),
    ]
    assert all(set(COMPARED) <= set(line.counters) for line in lines)
    assert [lines[1].counters[name] for name in COMPARED] == [1, 32, 32, 0, 8, 8]


def test_who_counted() -> None:
    """The toolchain of machine code, where it is known; the view, or the device and its profiler."""
    unknown = machine().to_dict() | {"toolchain": None}
    sides = (machine(), profile(if_else()), hardware(), unknown)
    assert [compare(side, side).to_dict()["a"]["origin"] for side in sides] == [
        "simulated, ptxas 13.0",
        "simulated, operations of the Python source",
        "measured on NVIDIA H200, Nsight Compute 2025.3",
        "simulated",
    ]
