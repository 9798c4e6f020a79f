"""From the machine's counter table (per micro-op) to named counters per listing line and in total.

A micro-op's memory space and direction follow from its name (``ld.global``, ``st.shared``, ``atom.global``),
so the machine counts ``requests`` and a profile names them ``global_load_requests``.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING

import numpy as np

from simt.ops.encoding import UNCOUNTED
from simt.program import COUNTERS, PT, WARP_SIZE, Instruction

if TYPE_CHECKING:
    from simt.program import Program

IDLE_CAUSES = ("no_thread", "exited", "other_path", "predicated_off")
"""Why a lane-slot of an executed warp instruction did nothing."""

_DIRECTIONS = {"ld": "load", "st": "store", "atom": "atomic"}
_SECTORED = ("requests", "bytes", "sectors", "sectors_ideal")
_BANKED = ("requests", "bytes", "wavefronts", "wavefronts_ideal")
_COPY = "shared_copy"
_DISTINCT = "bytes_distinct"
_MEMORY: dict[str, tuple[str, ...]] = {
    "global": (*_SECTORED, _DISTINCT),
    "local": _SECTORED,
    "shared": (*_BANKED, _DISTINCT),
}

_EXECUTION = ("inst_executed", "thread_inst_executed", "pred_on_thread_inst_executed")
_BRANCHES = ("branches", "divergent_branches")
_REPLAYS = ("replays", "replay_threads")
_BRANCH_OPS = frozenset({"bra", "brx", "bsync", "break", "yield", "warpsync", "exit"})


def _names() -> tuple[str, ...]:
    names = [
        *_EXECUTION,
        *_REPLAYS,
        *(f"idle_{cause}" for cause in IDLE_CAUSES),
        *_BRANCHES,
        "branch_instructions",
    ]
    for space, quantities in _MEMORY.items():
        for direction in _DIRECTIONS.values():
            if (space, direction) != ("local", "atomic"):
                names += [f"{space}_{direction}_{quantity}" for quantity in quantities]
    return (
        *names,
        *(f"{_COPY}_{quantity}" for quantity in _MEMORY["shared"]),
        "global_sectors",
        "global_sectors_ideal",
    )


COUNTER_NAMES = _names()
"""The counters of a profile, for a listing line and in total, in column order of :func:`line_table`.

``inst_executed`` counts per warp, ``thread_inst_executed`` active lanes, ``pred_on_thread_inst_executed``
exec lanes, ``idle_*`` lane-slots by cause.  ``branches`` are the warp executions of conditional and indirect
branches, ``branch_instructions`` those of everything that Nsight Compute calls a branch (branches,
convergence barrier and warp waits, exits: checked against an H200).  ``replays`` are further issues of one
execution, which the hardware's totals include, its per-instruction counts not: of ``WARPSYNC`` when the last lanes came
and, in the order ``hardware``, of what docs/order.md names; ``replay_threads`` are the lanes that these have together.
``{global,local,shared}_{load,store,atomic}_*``: requests (warp executions with at least one exec lane), bytes asked for
by the exec lanes, the same with each byte of a request once (``bytes_distinct``; not of local memory), 32-byte sectors
or shared-memory wavefronts, and the least possible number of those.  ``global_atomic_sectors`` has a sector as often
as lanes of the request meet at one of its addresses; ``global_sectors``, all directions together, has it once.
``shared_copy_*`` is the storing half of copies from global to shared memory (``LDGSTS``), whose loading half is a
global load.
"""

_COLUMN = {name: column for column, name in enumerate(COUNTER_NAMES)}
_MACHINE = {name: column for column, name in enumerate(COUNTERS)}


def access_of(op: str) -> tuple[str, str] | None:
    """Space ("global", "shared", "local", "const" or "generic") and direction of a micro-op.

    ``None`` if the micro-op does not access memory.
    """
    verb, _, space = op.partition(".")
    direction = _DIRECTIONS.get(verb)
    return None if direction is None else (space, direction)


def _counted_space(space: str, row: np.ndarray) -> str:
    """Where a generic access is counted: in shared memory if it used banks only, else in global memory."""
    if space != "generic":
        return space
    only_banks = row[_MACHINE["wavefronts"]] > 0 and row[_MACHINE["sectors"]] == 0
    return "shared" if only_banks else "global"


def _add_execution(line: np.ndarray, row: np.ndarray, instruction: Instruction) -> None:
    executed, threads, pred_on = (int(row[_MACHINE[name]]) for name in _EXECUTION)
    absent = int(row[_MACHINE["idle_no_thread"]])
    exited = int(row[_MACHINE["idle_exited"]])
    added = {
        "inst_executed": executed,
        "thread_inst_executed": threads,
        "pred_on_thread_inst_executed": pred_on,
        "idle_no_thread": absent,
        "idle_exited": exited,
        "idle_other_path": WARP_SIZE * executed - threads - absent - exited,
        "idle_predicated_off": threads - pred_on,
        "branches": int(row[_MACHINE["branches"]]),
        "divergent_branches": int(row[_MACHINE["divergent_branches"]]),
        "branch_instructions": executed + int(row[_MACHINE["replays"]]) if instruction.op in _BRANCH_OPS else 0,
    }
    for name, value in added.items():
        line[_COLUMN[name]] += value


def _add_memory(line: np.ndarray, row: np.ndarray, instruction: Instruction) -> None:
    access = access_of(instruction.op)
    if access is None or access[0] == "const":
        return
    space = _counted_space(access[0], row)
    prefix = _COPY if instruction.copies else f"{space}_{access[1]}"
    columns = {"sectors": "updates"} if prefix == "global_atomic" else {}
    for quantity in _MEMORY[space]:
        line[_COLUMN[f"{prefix}_{quantity}"]] += row[_MACHINE[columns.get(quantity, quantity)]]
    if space == "global":
        line[_COLUMN["global_sectors"]] += row[_MACHINE["sectors"]]
        line[_COLUMN["global_sectors_ideal"]] += row[_MACHINE["sectors_ideal"]]


def _is_hidden_branch(instruction: Instruction) -> bool:
    """Whether a micro-op that does not retire is a conditional branch, and counts as one."""
    conditional = instruction.guard != PT or instruction.a != PT
    return instruction.op == "bra" and conditional and instruction.mod != UNCOUNTED


def operation_table(program: Program, counters: np.ndarray) -> np.ndarray:
    """Counters per micro-op: int64 ``[len(program.instructions), len(COUNTER_NAMES)]``.

    ``counters`` is the machine's table, int64 ``[len(program.instructions), len(COUNTERS)]``.  Executions are
    counted where a micro-op retires a listing instruction; memory traffic wherever it happens, since a
    listing instruction may retire after its access.  Conditional branches count, too, if another micro-op of their
    instruction retires: that inside of ``WARPSYNC.EXCLUSIVE`` (H200), and Pascal's ``SYNC``, ``BRK``, ... (by nvprof's
    definition of a divergent branch; not measured).
    """
    expected = (len(program.instructions), len(COUNTERS))
    if counters.shape != expected:
        raise ValueError(f"counter table has shape {counters.shape}, this program needs {expected}")
    table = np.zeros((len(program.instructions), len(COUNTER_NAMES)), dtype=np.int64)
    for instruction, row, found in zip(program.instructions, counters, table, strict=True):
        if instruction.retires:
            _add_execution(found, row, instruction)
        elif _is_hidden_branch(instruction):
            for name in _BRANCHES:
                found[_COLUMN[name]] += row[_MACHINE[name]]
        for name in _REPLAYS:
            found[_COLUMN[name]] += row[_MACHINE[name]]
        _add_memory(found, row, instruction)
    return table


def line_table(program: Program, counters: np.ndarray) -> np.ndarray:
    """Sums of :func:`operation_table` per listing line: int64 ``[len(program.listing), len(COUNTER_NAMES)]``."""
    table = np.zeros((len(program.listing), len(COUNTER_NAMES)), dtype=np.int64)
    np.add.at(table, [instruction.line for instruction in program.instructions], operation_table(program, counters))
    return table


def as_mapping(row: np.ndarray) -> dict[str, int]:
    """One row of :func:`line_table` (or a sum of rows) by counter name."""
    return dict(zip(COUNTER_NAMES, row.tolist(), strict=True))


def idle_of(counters: Mapping[str, int]) -> dict[str, int]:
    """Idle lane-slots by cause; with the exec lanes they add up to 32 x inst_executed."""
    return {cause: counters[f"idle_{cause}"] for cause in IDLE_CAUSES}
