"""Counters per line and in total, against counts made on paper."""

from __future__ import annotations

import numpy as np
import pytest

from simt.ops.table import MICRO_OPS
from simt.profile.compare import COMPARED
from simt.profile.counters import COUNTER_NAMES, IDLE_CAUSES, access_of, line_table
from simt.program import COUNTERS, Instruction, ListingLine, Program
from tests.profile.handmade import guarded, if_else, machine_code, profile, strided_shared


def test_if_else_by_hand() -> None:
    counters = profile(if_else()).counters
    expected = {
        "inst_executed": 8,
        "thread_inst_executed": 7 * 32 - 32 + 24 + 8,
        "pred_on_thread_inst_executed": 7 * 32 - 32 + 24 + 8,
        "branches": 1,
        "divergent_branches": 1,
        "global_store_requests": 1,
        "global_store_bytes": 256,
        "global_store_sectors": 8,
        "global_sectors": 8,
        "idle_other_path": 8 + 24,
        "warps_launched": 1,
        "blocks_launched": 1,
    }
    assert {name: counters[name] for name in expected} == expected


def test_lines_of_if_else() -> None:
    lines = profile(if_else()).lines
    assert [line.number for line in lines] == [1, 2, 3, 4, 5, 6, 7]
    assert [line.counters["inst_executed"] for line in lines] == [0, 1, 2, 1, 0, 1, 3]
    assert [line.counters["thread_inst_executed"] for line in lines] == [0, 32, 64, 24, 0, 8, 96]
    assert [line.counters["divergent_branches"] for line in lines] == [0, 0, 1, 0, 0, 0, 0]
    assert lines[3].idle == {"no_thread": 0, "exited": 0, "other_path": 8, "predicated_off": 0}
    assert lines[2].offset is None


def test_lines_add_up_to_the_totals() -> None:
    found = profile(if_else(), block=40, grid=3)
    for name in COUNTER_NAMES:
        assert sum(line.counters[name] for line in found.lines) == found.counters[name], name


def test_idle_causes_of_a_partial_warp_that_exits_and_predicates() -> None:
    # 40 threads: warp 0 is full, warp 1 has 8; threads 35 to 39 (3 to 7 of warp 1) leave at line 3.
    found = profile(guarded(), block=40)
    assert found.counters["inst_executed"] == 2 * 6
    # warp 1: 24 lanes without a thread in 6 instructions; 5 lanes gone for the last 3
    # predicated off: exit (32 in warp 0, 3 of 8 in warp 1); multiplication (30 in warp 0, 3 in warp 1)
    assert found.idle == {
        "no_thread": 24 * 6,
        "exited": 5 * 3,
        "other_path": 0,
        "predicated_off": 32 + 3 + 30 + 3,
    }


@pytest.mark.parametrize("block", [1, 31, 32, 33, 40, 64, 100])
@pytest.mark.parametrize("make", [if_else, guarded, machine_code])
def test_every_lane_slot_is_executed_or_idle(make, block: int) -> None:
    counters = profile(make(), block=block).counters
    idle = sum(counters[f"idle_{cause}"] for cause in IDLE_CAUSES)
    assert counters["pred_on_thread_inst_executed"] + idle == 32 * counters["inst_executed"]


def test_machine_view_counts_instructions_and_keeps_the_access_of_a_micro_op_that_does_not_retire() -> None:
    found = profile(machine_code())
    assert [line.counters["inst_executed"] for line in found.lines] == [1, 1, 1]
    assert [line.offset for line in found.lines] == [0, 16, 32]
    assert found.lines[1].counters["global_store_requests"] == 1
    assert found.lines[1].counters["global_sectors"] == 8
    assert found.counters["branch_instructions"] == 1


def test_lines_have_the_columns_of_the_hardware_tables() -> None:
    for made in (if_else(), machine_code()):
        assert set(COMPARED) <= set(profile(made).lines[0].counters)


@pytest.mark.parametrize("stride", [1, 2, 4, 32])
def test_shared_wavefronts(stride: int) -> None:
    counters = profile(strided_shared(stride)).counters
    assert counters["shared_store_requests"] == 1
    assert counters["shared_store_bytes"] == 128
    assert counters["shared_store_wavefronts"] == stride
    assert counters["shared_store_wavefronts_ideal"] == 1


def _single(op: str, **counts: int) -> dict[str, int]:
    program = Program("k", "source", [Instruction(op)], [ListingLine("x", 1)], 1, 1, 0)
    row = np.array([[counts.get(name, 0) for name in COUNTERS]], dtype=np.int64)
    return dict(zip(COUNTER_NAMES, line_table(program, row)[0].tolist(), strict=True))


def test_a_generic_access_counts_where_it_went() -> None:
    in_shared = _single("ld.generic", requests=1, bytes=128, wavefronts=2, wavefronts_ideal=1)
    assert in_shared["shared_load_wavefronts"] == 2
    assert in_shared["global_load_requests"] == 0
    in_global = _single("st.generic", requests=1, bytes=128, sectors=4, sectors_ideal=4)
    assert in_global["global_store_sectors"] == in_global["global_sectors"] == 4
    assert in_global["shared_store_requests"] == 0


def test_constant_memory_is_no_global_access() -> None:
    assert not any(_single("ld.const", requests=1, bytes=4, sectors=1).values())


def test_every_memory_micro_op_has_a_space_and_a_direction() -> None:
    for op in MICRO_OPS.values():
        assert (access_of(op.name) is not None) == (op.family.value == "memory"), op.name


def test_a_table_of_another_program_is_refused() -> None:
    with pytest.raises(ValueError, match="shape"):
        line_table(if_else(), np.zeros((3, len(COUNTERS)), dtype=np.int64))
