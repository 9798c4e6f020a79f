"""Which variables a kernel loads: where the addresses in its code go, followed from register to register."""

from __future__ import annotations

from typing import Protocol

from simt.ops.table import MICRO_OPS
from simt.program import PT, RZ, Instruction, Program
from simt.sass.elf import Relocation
from simt.sass.module import Module
from simt.sass.rows import SYMBOL_BANK

Symbols = frozenset[int]
_NONE: Symbols = frozenset()


class Lowered(Protocol):
    """What is read of a :class:`~simt.sass.kernel.SassKernel`."""

    module: Module
    symbols: list[tuple[int, int]]
    bank_relocations: dict[int, list[Relocation]]

    @property
    def program(self) -> Program:
        """The kernel as micro-ops."""


def variables_read(kernel: Lowered) -> Symbols:
    """Numbers of the variables that the kernel may read, by what its code says.

    Loads count, atomics do not: a counter begins at zero.  Registers are followed in the order of the code, twice for
    loops; pointers that come from memory are not followed.
    """
    held, direct = _at_first(kernel)
    found = set(direct)
    for _ in range(2):
        for micro_op in kernel.program.instructions:
            found |= _step(micro_op, held)
    return frozenset(found)


def _at_first(kernel: Lowered) -> tuple[dict[int, Symbols], Symbols]:
    """Variables whose addresses the constant rows hold, and those that constant operands read."""
    memory = kernel.module.memory
    held: dict[int, Symbols] = {}
    read: set[int] = set()
    for uniform in kernel.program.uniforms:
        if uniform.kind == "bank_base" and uniform.value == kernel.module.CONSTANTS:
            held[uniform.row] = frozenset(memory.constants_in(0, None))
        elif uniform.kind != "bank":
            continue
        elif uniform.value == SYMBOL_BANK:
            held[uniform.row] = frozenset(memory.variable_at(*kernel.symbols[uniform.axis // 8]))
        elif uniform.value == kernel.module.CONSTANTS:
            read.update(memory.constants_in(uniform.axis, uniform.axis + uniform.size))
        else:
            for entry in kernel.bank_relocations.get(uniform.value, ()):
                if entry.offset <= uniform.axis < entry.offset + 8:
                    held[uniform.row] = frozenset(memory.variable_at(entry.symbol, entry.addend))
    return held, frozenset(read)


def _step(i: Instruction, held: dict[int, Symbols]) -> Symbols:
    """Variables that a micro-op loads from; what its destination holds afterwards goes to *held*."""
    letters = MICRO_OPS[i.op].operands
    sources = [held.get(row, _NONE) for letter, row in zip(letters[1:], (i.a, i.b, i.c), strict=True) if letter == "r"]
    loads = i.op in ("ld.global", "ld.generic", "ld.const")
    if letters[0] == "r" and i.dst != RZ:
        result = _NONE if i.op.startswith(("ld.", "atom.")) else _NONE.union(*sources)
        held[i.dst] = result if i.guard == PT else result | held.get(i.dst, _NONE)
    return sources[0] if loads else _NONE
