"""Control micro-ops in native code: calls of their functions in :mod:`simt.machine.control`, compiled by Numba as well.

What they are called with are the arrays that the context names; they look at elements only, so lengths do not matter.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable
from typing import Any

import numpy as np

from simt.machine import control
from simt.machine import layout as L
from simt.machine.compiled.parts import slots_at
from simt.ops.control import TABLE
from simt.ops.row import MicroOp

ELSEWHERE = frozenset({"nop", "brx", "trap", "syscall", "bmov.get", "bmov.set"})
"""Those that are not called: one does nothing, the others are rare."""

CALLED = frozenset(row.name for row in TABLE.rows if row.name not in ELSEWHERE)
"""Those that native code calls."""

V_ERROR = L.N_NATIVE
"""Column of the context with the address of ERROR; the engine need not know of it."""

_ARRAYS = {
    "CODE": L.V_MICRO_OPS,
    "COUNTS": L.V_COUNTS,
    "R": L.V_UNIFORM,
    "P": L.V_ALL_PREDICATES,
    "SPLITS": L.V_SPLITS,
    "WARPS": L.V_WARPS,
    "PARTICIPANTS": L.V_PARTICIPANTS,
    "BARRIERS": L.V_BARRIERS,
    "LAUNCH": L.V_LAUNCH,
    "ERROR": V_ERROR,
}
_VALUES = {
    "w": f"NATIVE[{L.V_WARP}]",
    "pc": "b",
    "active": "c",
    "executing": "d",
    "code": f"np.uint64(b * {L.N_CODE})",
    "count": f"np.uint64(b * {L.N_COUNT})",
    "rows": f"NATIVE[{L.V_WARP}] * LAUNCH[{L.LAUNCH_REGISTERS}] * 32",
    "uniform_end": f"LAUNCH[{L.LAUNCH_UNIFORM_END}]",
    "predicates": f"NATIVE[{L.V_WARP}] * LAUNCH[{L.LAUNCH_PREDICATES}]",
    "n_barriers": f"LAUNCH[{L.LAUNCH_BARRIERS}]",
    "order": f"LAUNCH[{L.LAUNCH_ORDER}]",
}
"""What a function may take, as :data:`simt.machine.interpreter.PLACES` names it, and where native code has it."""


def calling(row: MicroOp) -> Callable[..., Any]:
    """A function of one lane's shape that calls a control micro-op: of the context, its place, active and exec lanes.

    It gives what that does: where the warp goes on.
    """
    function = getattr(control, row.function)
    parameters = inspect.signature(getattr(function, "py_func", function)).parameters
    arrays = {"LAUNCH": L.V_LAUNCH} | {name: _ARRAYS[name] for name in parameters if name in _ARRAYS}
    lines = [
        "def lane(a, b, c, d, imm):",
        "    NATIVE = slots_at(a)",
        *(f"    {name} = slots_at(NATIVE[{column}])" for name, column in arrays.items()),
        f"    return np.int64(function({', '.join(_VALUES.get(name, name) for name in parameters)}))",
    ]
    names = {"np": np, "slots_at": slots_at, "function": function, "__name__": __name__}
    exec("\n".join(lines), names)
    made: Callable[..., Any] = names["lane"]
    return made
