"""Which Programs may wait for another block: they load, again and again, what decides how long."""

from __future__ import annotations

from collections.abc import Iterator

from simt.machine.rows import reads, writes
from simt.program import Instruction, Program

_ELSEWHERE = ("ld.global", "ld.generic", "atom.global", "atom.generic", "suld", "suatom")
_OWN = ("shared", "local")
_LEAVES = ("bra", "brx", "exit")


def may_wait(program: Program) -> bool:
    """Whether a loop loads from global memory what a branch or exit in it depends on.

    Through registers, predicates, shared and local memory.  A loop is all from where a branch goes back to up to the
    branch; of one that calls a function, which stands elsewhere, the whole Program.
    """
    if program.waits is None:
        program.waits = any(_waits(loop, program.n_registers) for loop in _loops(program))
    return bool(program.waits)


def _loops(program: Program) -> Iterator[list[Instruction]]:
    code = program.instructions
    for pc, instruction in enumerate(code):
        if instruction.op == "bra" and instruction.imm <= pc:
            loop = code[instruction.imm : pc + 1]
            yield code if any(each.op == "brx" for each in loop) else loop


def _waits(loop: list[Instruction], predicates: int) -> bool:
    rows: set[int] = set()
    spaces: set[str] = set()
    before = (-1, -1)
    while before != (len(rows), len(spaces)):
        before = len(rows), len(spaces)
        for each in loop:
            depends = not rows.isdisjoint(reads(each, predicates))
            if depends and each.op in _LEAVES:
                return True
            if each.op.startswith(_ELSEWHERE) or _loads(each, spaces) or depends:
                rows.update(writes(each, predicates))
            if depends and each.op.startswith(("st.", "atom.")):
                spaces.update(_own_spaces(each))
    return False


def _own_spaces(each: Instruction) -> set[str]:
    """Shared and local memory, as far as an access may be to them."""
    return {space for space in _OWN if each.op.endswith((space, "generic"))}


def _loads(each: Instruction, spaces: set[str]) -> bool:
    """Whether a micro-op reads shared or local memory that is among *spaces*."""
    return each.op.startswith(("ld.", "atom.")) and not spaces.isdisjoint(_own_spaces(each))
