"""What the judges of a launch need not be told: accesses that cannot be wrong, and order where nothing is compared.

Initcheck asks for nothing of global memory that was written before the launch; racecheck for no load of an array that
the launch does not write.  Which array an access is of is known in the source view.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping

import numpy as np
import numpy.typing as npt

from simt.machine import layout as L
from simt.machine.prepared import Prepared
from simt.machine.rows import writes
from simt.program import Program
from simt.sanitizer import layout as Z

Place = int
"""An allocation, by its number."""


def needless(prepared: Prepared, tools: int, watches: bool, arrays: Mapping[int, int | None]) -> npt.NDArray[np.int64]:
    """The micro-ops of which checks (bits of H_TOOLS) need not be told.

    *watches*: registers are followed; *arrays*: of :func:`arrays_of` the Program.
    """
    found: list[int] = []
    program = prepared.program
    if not tools & (Z.RACES | Z.SYNC):
        orders = L.ORDERS | L.NAMES | L.SHUFFLES * (not watches)
        flags = prepared.encoded.code[:, L.C_OP] >> L.FLAGS_SHIFT
        found += [int(pc) for pc in np.flatnonzero(flags & orders) if program.instructions[pc].op != "exit"]
    if tools & (Z.INIT | Z.RACES) and not program.syscalls:
        found += _accesses(prepared, tools, arrays)
    return np.array(found, np.int64)


def _accesses(prepared: Prepared, tools: int, arrays: Mapping[int, int | None]) -> list[int]:
    """Accesses to global memory that cannot be wrong."""
    code = prepared.program.instructions
    unwritten = {_place(prepared, part.start) for part in prepared.device.unwritten if part.mask.any()}
    of = {
        argument: None if argument is None else _place(prepared, prepared.launch.array(argument).address)
        for argument in set(arrays.values())
    }
    written = {of[argument] for pc, argument in arrays.items() if not code[pc].op.startswith("ld.")}
    return [
        pc
        for pc, argument in arrays.items()
        if code[pc].op.endswith(".global")
        and (not tools & Z.INIT or not _may_be(of[argument], unwritten))
        and (not tools & Z.RACES or (code[pc].op.startswith("ld.") and not _may_be(of[argument], written)))
    ]


def _may_be(place: Place | None, among: Collection[Place | None]) -> bool:
    """Whether an access may be to one of some places; None: it is not known where something is."""
    return place in among or None in among or (place is None and bool(among))


def _place(prepared: Prepared, address: int) -> Place | None:
    """The allocation that holds a device address."""
    at = int(np.searchsorted(prepared.memory.starts, address, "right")) - 1
    return at if at >= 0 and address < prepared.memory.ends[at] else None


def arrays_of(program: Program) -> dict[int, int | None]:
    """The argument with the array that each access to global memory is of, by its micro-op; None if it is not known.

    It is known in the source view, if the address is computed just before.
    """
    code = program.instructions
    accesses = [pc for pc, each in enumerate(code) if each.op.endswith((".global", ".generic"))]
    if program.view != "source":
        return dict.fromkeys(accesses)
    joins = {each.imm for each in code if each.op == "bra"}
    bases = {each.row: program.arrays[each.value].argument for each in program.uniforms if each.kind == "base"}
    return {pc: _argument(program, pc, joins, bases) for pc in accesses}


def _argument(program: Program, pc: int, joins: Collection[int], bases: Mapping[int, int | None]) -> int | None:
    row = program.instructions[pc].a
    for before in range(pc - 1, -1, -1):
        each = program.instructions[before]
        if before + 1 in joins or each.op in ("bra", "brx"):
            return None
        if row in writes(each, program.n_registers):
            if each.op != "index":
                return None
            row = each.a
            if row in bases:
                return bases[row]
    return None
