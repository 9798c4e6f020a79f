"""From the machine's counter table (per micro-op) to named counters per listing line and in total.

A micro-op's memory space and direction follow from its name (``ld.global``, ``st.shared``, ``atom.global``),
so the machine counts ``requests`` and a profile names them ``global_load_requests``.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from functools import cache
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from simt.ops.encoding import UNCOUNTED
from simt.program import COUNTERS, PT, WARP_SIZE

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


class _Way(NamedTuple):
    """How what the machine counts of a micro-op becomes the counters of a profile.

    ``space``: where its memory traffic is counted ("": it has none).
    """

    retires: bool
    is_branch: bool
    is_hidden_branch: bool
    space: str
    direction: str
    copies: bool


@cache
def _way(op: str, retires: bool, is_conditional: bool, mod: int, copies: bool) -> _Way:
    space, direction = access_of(op) or ("", "")
    # Whether a micro-op that does not retire is a conditional branch, and counts as one.
    hidden = op == "bra" and is_conditional and mod != UNCOUNTED
    return _Way(retires, op in _BRANCH_OPS, hidden and not retires, space, direction, copies)


@cache
def _matrix(way: _Way) -> np.ndarray:
    """What one of each of the machine's counters adds to each counter: int64 ``[COUNTERS, COUNTER_NAMES]``."""
    made = np.zeros((len(COUNTERS), len(COUNTER_NAMES)), np.int64)

    def add(name: str, counted: str, times: int = 1) -> None:
        made[_MACHINE[counted], _COLUMN[name]] += times

    if way.retires:
        for name in (*_EXECUTION, "idle_no_thread", "idle_exited"):
            add(name, name)
        add("idle_other_path", "inst_executed", WARP_SIZE)
        for name in ("thread_inst_executed", "idle_no_thread", "idle_exited"):
            add("idle_other_path", name, -1)
        add("idle_predicated_off", "thread_inst_executed")
        add("idle_predicated_off", "pred_on_thread_inst_executed", -1)
        if way.is_branch:
            add("branch_instructions", "inst_executed")
            add("branch_instructions", "replays")
    for name in (*_REPLAYS, *(_BRANCHES if way.retires or way.is_hidden_branch else ())):
        add(name, name)
    if way.space in _MEMORY:
        prefix = _COPY if way.copies else f"{way.space}_{way.direction}"
        for quantity in _MEMORY[way.space]:
            updates = prefix == "global_atomic" and quantity == "sectors"
            add(f"{prefix}_{quantity}", "updates" if updates else quantity)
    if way.space == "global":
        add("global_sectors", "sectors")
        add("global_sectors_ideal", "sectors_ideal")
    return made


def _ways(program: Program, counters: np.ndarray) -> Iterator[tuple[_Way, np.ndarray]]:
    """The micro-ops of a program, int64 ``[...]``, by the way that they count.

    A generic access counts in shared memory if it used banks only, else in global memory.
    """
    found: dict[_Way, list[int]] = {}
    for pc, each in enumerate(program.instructions):
        way = _way(each.op, each.retires, each.guard != PT or each.a != PT, each.mod, each.copies)
        found.setdefault(way, []).append(pc)
    for way, numbers in found.items():
        pcs = np.array(numbers)
        if way.space == "generic":
            banks = (counters[pcs, _MACHINE["wavefronts"]] > 0) & (counters[pcs, _MACHINE["sectors"]] == 0)
            yield way._replace(space="shared"), pcs[banks]
            yield way._replace(space="global"), pcs[~banks]
        else:
            yield way, pcs


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
    for way, pcs in _ways(program, counters):
        table[pcs] = counters[pcs] @ _matrix(way)
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
