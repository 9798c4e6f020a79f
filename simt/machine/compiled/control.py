"""Functions of the interpreter that native code calls, compiled by Numba once more.

Control micro-ops, those that look across the lanes of a warp, and what decides who runs next.  What they are called
with are the arrays that the context names; they look at elements only, so lengths do not matter.
"""

from __future__ import annotations

import inspect
import sys
from collections.abc import Callable
from dataclasses import replace
from functools import cache
from typing import Any

import numpy as np

from simt.machine import counting, engine, splits, turns
from simt.machine import layout as L
from simt.machine.compiled.accesses import WHOLE
from simt.machine.compiled.parts import slots_at, state_at
from simt.machine.interpreter import NAMES, function_of, made_function, tree
from simt.machine.registers import predicate, row_at
from simt.ops import warp as across
from simt.ops.control import TABLE
from simt.ops.jit import jit_inline
from simt.ops.predicate import VOTES
from simt.ops.row import NUMBER_BITS, NUMBER_MASK, MicroOp, Table

EMITTED = frozenset({"nop", "bssy"})
"""Those of control that are so short that emit.py writes them; behind them a block goes on."""
ELSEWHERE = EMITTED | {"brx", "trap", "syscall", "bmov.get", "bmov.set"}
"""Those of control that are not called; all but EMITTED are rare."""

CALLED = frozenset(row.name for row in TABLE.rows if row.name not in ELSEWHERE)
"""Control micro-ops that native code calls."""

PASSED = frozenset({"bsync", "break", "warpsync"})
"""Those of CALLED that a split mostly passes, which native code sees without a call."""

_TABLES: tuple[Table, ...] = (VOTES, across.SHUFFLES, across.REDUCTIONS, across.MASKS, across.OTHERS)
ACROSS = frozenset(row.name for table in _TABLES for row in table.rows if row.name != "sreg")
"""Micro-ops across lanes that it calls."""

_PLAIN: tuple[Any, ...] = (
    turns.turn,
    turns.part_late,
    turns.is_newest,
    splits.join_fresh,
    counting.count_begun,
)
_OTHERS: dict[str, Any] = {one.__name__: one for one in _PLAIN}
TURN, LATE, NEWEST, JOIN, BEGUN = _OTHERS
_OTHERS[WHOLE] = engine.do_access
"""Other functions that it calls."""

CALLS = CALLED | ACROSS | _OTHERS.keys()
"""All functions that it calls in this way."""

V_ERROR = L.N_NATIVE
"""Column of the context with the address of ERROR; the engine need not know of it."""
V_RESULT = V_ERROR + 1
"""The same for O."""
V_REQUEST = V_RESULT + 1
"""The same for X."""
V_LANES = V_REQUEST + 1
"""The same for ADDRESSES."""
V_SHAPES = V_LANES + 1
"""The same for SHAPES."""
V_STATE = V_SHAPES + 1
"""The same for the descriptors of all arrays."""

_ARRAYS = {
    "CODE": L.V_MICRO_OPS,
    "COUNTS": L.V_COUNTS,
    "R": L.V_UNIFORM,
    "O": V_RESULT,
    "P": L.V_ALL_PREDICATES,
    "SPLITS": L.V_SPLITS,
    "WARPS": L.V_WARPS,
    "PARTICIPANTS": L.V_PARTICIPANTS,
    "BARRIERS": L.V_BARRIERS,
    "LAUNCH": L.V_LAUNCH,
    "STOP": L.V_STOP,
    "ERROR": V_ERROR,
}
_CODE = f"np.uint64(b * {L.N_CODE})"
_ROWS = f"NATIVE[{L.V_WARP}] * LAUNCH[{L.LAUNCH_REGISTERS}] * 32"
_PREDICATES = f"NATIVE[{L.V_WARP}] * LAUNCH[{L.LAUNCH_PREDICATES}]"
_UNIFORM_END = f"LAUNCH[{L.LAUNCH_UNIFORM_END}]"
_GONE = " | ".join(f"WARPS[NATIVE[{L.V_WARP}] * {L.N_WARP} + {column}]" for column in (L.W_EXITED, L.W_ABSENT))
_COLUMNS = {"a": L.C_A, "b": L.C_B, "c": L.C_C}
_VALUES = {
    "w": f"NATIVE[{L.V_WARP}]",
    "pc": "b",
    "where": "b",
    "first": "c",
    "active": "c",
    "executing": "d",
    "code": _CODE,
    "count": f"np.uint64(b * {L.N_COUNT})",
    "rows": _ROWS,
    "warp_rows": _ROWS,
    "op": f"imm & {NUMBER_MASK} if imm >= 0 else CODE[{_CODE} + np.uint64({L.C_OP})] & {NUMBER_MASK}",
    "mod": f"imm >> {NUMBER_BITS} if imm >= 0 else CODE[{_CODE} + np.uint64({L.C_MOD})]",
    "watched": "False",
    "s": f"state_at(NATIVE[{V_STATE}])",
    "uniform_end": _UNIFORM_END,
    "predicates": _PREDICATES,
    "n_barriers": f"LAUNCH[{L.LAUNCH_BARRIERS}]",
    "order": f"LAUNCH[{L.LAUNCH_ORDER}]",
    "imm": f"CODE[{_CODE} + np.uint64({L.C_IMM})]",
    "live": f"{int(L.FULL)} & ~({_GONE})",
    **{
        name: f"row_at(CODE[{_CODE} + np.uint64({column})], {_ROWS}, {_UNIFORM_END})"
        for name, column in _COLUMNS.items()
    },
    **{
        f"lanes_{name}": f"predicate(P, {_PREDICATES}, CODE[{_CODE} + np.uint64({column})])"
        for name, column in _COLUMNS.items()
    },
}
"""What a function may take, as :data:`simt.machine.interpreter.PLACES` names it, and where native code has it."""


def calling(name: str) -> Callable[..., Any]:
    """A function of one lane's shape that calls one of CALLS: of the context, its place, active and exec lanes.

    It gives what that does: for control micro-ops where the warp goes on, for others the mask that they find, if any.
    """
    function, number = _function(name)
    parameters = [
        one for one in inspect.signature(getattr(function, "py_func", function)).parameters if one != "number"
    ]
    given = [_VALUES.get(one, one) for one in parameters]
    used = {"LAUNCH", *parameters} | {array for array in _ARRAYS if any(f"{array}[" in text for text in given)}
    used |= {"P"} if any("(P," in text for text in given) else set()
    lines = [
        "def lane(a, b, c, d, imm):",
        "    NATIVE = slots_at(a)",
        *(f"    {array} = slots_at(NATIVE[{column}])" for array, column in _ARRAYS.items() if array in used),
        f"    found = function({', '.join(number + given)})",
        f"    return np.int64({'0' if name == JOIN else 'found'})",
    ]
    names = {
        "np": np,
        "slots_at": slots_at,
        "state_at": state_at,
        "function": function,
        "row_at": row_at,
        "predicate": predicate,
        "__name__": __name__,
    }
    exec("\n".join(lines), names)
    made: Callable[..., Any] = names["lane"]
    return made


@cache
def _tables() -> dict[str, tuple[Table, MicroOp]]:
    return {row.name: (table, row) for table in (TABLE, *_TABLES) for row in table.rows}


def _function(name: str) -> tuple[Any, list[str]]:
    """The function that a name of CALLS stands for, and, if it is that of a table, the number of its row."""
    if name in _OTHERS:
        return _OTHERS[name], []
    table, row = _tables()[name]
    if row.lane is None:
        return function_of(table, row), []
    names = {**vars(sys.modules[row.lane.__module__]), **NAMES}
    made = made_function(tree(replace(table, rows=[row])), names, str(sys.modules[row.lane.__module__].__file__))
    return jit_inline(made), [str(row.number)]
