"""Profile: renderings, JSON, sums of launches."""

from __future__ import annotations

import json
from dataclasses import replace

import pytest

from simt.profile import Profile, UnknownMetricError
from simt.profile.annotate import Row, cell
from simt.profile.counters import COUNTER_NAMES
from simt.program import Instruction, ListingLine
from tests.profile.handmade import guarded, if_else, machine_code, profile


def test_it_says_whose_counts_these_are() -> None:
    source, machine = profile(if_else()), profile(machine_code())
    assert "source view" in str(source)
    assert "sm_90" in str(machine)
    assert "ptxas 13.0" in str(machine)
    assert "ptxas 13.0" in machine.annotate(color=False)
    assert (source.view, machine.view, machine.view_kind) == ("source", "sm_90", "machine")


def test_summary() -> None:
    text = str(profile(if_else(), grid=2))
    assert text.splitlines()[0].startswith("if_else, grid 2, block 32, 2 warps")
    assert "other path 12.5 %" in text
    assert "gld_efficiency" not in text  # no global loads: nothing to say


def test_annotated_listing_in_a_pipe_is_plain_and_marks_the_costliest_lines() -> None:
    text = profile(if_else()).annotate(color=False)
    assert "\x1b" not in text
    marked = [line for line in text.splitlines() if line.startswith(">")]
    assert [line.split()[-1] for line in marked] == ["24:", "v"]  # the if, and the store
    assert "    out[lane] = v" in marked[1]


def test_colours_change_nothing_but_the_colours() -> None:
    import re

    found = profile(if_else())
    colored = found.annotate(color=True)
    assert "\x1b[" in colored
    assert re.sub(r"\x1b\[[0-9;]*m", "", colored) == found.annotate(color=False)


def test_annotate_takes_columns() -> None:
    text = profile(if_else()).annotate(["thread_inst_executed", "idle_other_path"], color=False)
    assert "thread inst" in text
    assert [line.split()[:2] for line in text.splitlines() if "v = lane + 1" in line] == [["24", "8"]]
    with pytest.raises(UnknownMetricError, match="global_sectors"):
        profile(if_else()).annotate(["globl_sectors"])


@pytest.mark.parametrize(
    ("column", "parts"),
    [
        ("shared_wavefronts", ("load", "store", "atomic", "copy")),
        ("local_sectors", ("load", "store")),
    ],
)
def test_columns_of_sums(column: str, parts: tuple[str, ...]) -> None:
    """Each counter is a power of two of its own, so a sum names its parts."""
    space, _, unit = column.partition("_")
    counters = {name: 1 << k for k, name in enumerate(COUNTER_NAMES)}
    wanted = sum(counters[f"{space}_{part}_{unit}"] for part in parts)
    assert cell(Row(counters, "", ""), column, 1).replace(",", "") == str(wanted)


def test_only_the_padding_at_the_end_is_left_out() -> None:
    program = machine_code()
    texts = ["S2R R4, SR_LANEID", "NOP", "STG.E.64 [R6], R4", "EXIT", "NOP", "NOP"]
    program.listing = [ListingLine(text, 16 * k, "k.py", "k") for k, text in enumerate(texts)]
    program.instructions = [Instruction("bra", imm=1, line=0), Instruction("exit", line=3)]
    shown = profile(program).annotate(color=False).splitlines()[2:]
    assert [line.split("  ")[-1].strip() for line in shown] == texts[:4]


def test_machine_listing_shows_offsets() -> None:
    assert "0x0010  STG.E.64 [R6], R4" in profile(machine_code()).annotate(color=False)


def test_json_round_trip() -> None:
    found = profile(if_else(), grid=2)
    data = json.loads(found.to_json())
    assert data["grid"] == [2, 1, 1]
    assert data["counters"] == found.counters
    assert data["metrics"] == dict(found.metrics)
    assert data["metrics"]["gld_efficiency"] is None
    assert data["idle_lane_slots"] == found.idle
    assert [line["text"] for line in data["lines"]] == [line.text for line in found.lines]
    assert data["lines"][0]["counters"] == {}
    assert "offset" not in data["lines"][0]
    assert json.loads(profile(machine_code()).to_json())["lines"][2]["offset"] == 32


def test_html_is_escaped() -> None:
    program = if_else()
    program.listing[2] = replace(program.listing[2], text="if a < b: # <script>alert('x')</script>")
    program.name = "<img>"
    html = profile(program)._repr_html_()
    assert "<script>" not in html
    assert "&lt;script&gt;" in html
    assert "<img>" not in html


def test_sum_of_launches() -> None:
    one, two = profile(if_else(), grid=1), profile(if_else(), grid=2)
    total = one.merge(two)
    assert total.counters == profile(if_else(), grid=3).counters
    assert [launch.grid for launch in total.launches] == [(1, 1, 1), (2, 1, 1)]
    assert total.metrics["inst_per_warp"] == one.metrics["inst_per_warp"]
    assert "1 more launch" in str(total)
    assert total.trace is None


def test_launches_of_different_programs_do_not_add() -> None:
    with pytest.raises(ValueError, match="not of the same program"):
        profile(if_else()).merge(profile(guarded()))
    with pytest.raises(ValueError, match="block size"):
        profile(if_else()).merge(profile(if_else(), block=64))


def test_the_device_does_not_change_the_counts() -> None:
    found = profile(if_else(), block=1024)
    other = Profile(found.program, found.result, device="rtx_4090")
    assert other.counters == found.counters
    assert found.metrics["theoretical_occupancy"] == 100.0
    assert other.metrics["theoretical_occupancy"] == pytest.approx(100 * 32 / 48)


def test_no_trace_unless_asked_for() -> None:
    assert profile(if_else()).trace is None
    trace = profile(if_else(), trace=True).trace
    assert trace is not None
    assert [(each.number, each.lanes) for each in trace.passes()] == [(0, 32), (1, 24), (2, 8), (0, 32)]
