"""What a scheduler needs to know of an instruction: opcode, modifiers and registers as typed values."""

from __future__ import annotations

from simt.program import MachineCode
from simt.sass.grammar import SassInstruction
from simt.sass.operands import Address, CodeRegister, Constant, Operand, Predicate, Register, Suffix

_DOUBLE = frozenset(("DADD", "DMUL", "DFMA", "DSETP", "DMNMX"))
SLOTS = 3


def machine_code(instruction: SassInstruction) -> MachineCode:
    """The registers of an instruction by what they are for; see :class:`simt.program.MachineCode`."""
    operands = instruction.operands
    return MachineCode(
        instruction.opcode,
        instruction.words,
        sources=_sources(instruction),
        results=_results(instruction),
        uniform=any(register.uniform and register.index is not None for register in _registers(operands)),
        data=any(isinstance(one, Register) and one.index is not None for one in _behind_address(operands)),
        constant=_constant(operands),
    )


def _constant(operands: tuple[Operand, ...]) -> tuple[int, int] | None:
    """Bank and offset of the constant among the operands: an instruction reads one at most."""
    for one in operands:
        indexed = isinstance(one, Constant) and one.base is not None and one.base.index is not None
        if isinstance(one, Constant) and isinstance(one.bank, int) and not indexed:
            return one.bank, one.offset
    return None


def _sources(instruction: SassInstruction) -> tuple[tuple[int, ...], ...]:
    """Registers of the operand slots a, b and c: predicates have none, and one operand alone stands in slot b."""
    operands = instruction.operands
    sources: list[Operand | None] = [one for one in operands[1:] if not isinstance(one, Predicate)]
    if operands and isinstance(operands[0], Predicate) and instruction.opcode == "LOP3":
        sources = sources[1:]  # RZ, the destination beside the predicate
    if len(sources) == 1:
        sources = [None, *sources]
    wide_addend = is_wide_multiply(instruction)
    found: list[tuple[int, ...]] = []
    for slot, operand in enumerate(sources[:SLOTS]):
        register = operand.base if isinstance(operand, Address) else operand
        if isinstance(register, CodeRegister):
            register = register.register
        if not isinstance(register, Register) or register.uniform or register.index is None:
            found.append(())
            continue
        pair = Suffix.WIDE in register.suffixes or instruction.opcode in _DOUBLE or (slot == 2 and wide_addend)
        found.append((register.index, register.index + 1) if pair else (register.index,))
    return tuple(found)


def _results(instruction: SassInstruction) -> tuple[int, ...]:
    """Registers that it writes, as far as is known: two by a wide multiply or a 64-bit clock."""
    first = instruction.operands[0] if instruction.operands else None
    if not isinstance(first, Register) or first.uniform or first.index is None:
        return ()
    words = instruction.words
    two = (instruction.opcode, words) == ("CS2R", ()) or (instruction.opcode == "IMAD" and words[:1] == ("WIDE",))
    return (first.index, first.index + 1) if two else (first.index,)


def is_wide_multiply(instruction: SassInstruction) -> bool:
    """IMAD.WIDE and IMAD.HI: products of 64 bits."""
    return instruction.opcode == "IMAD" and instruction.words[:1] in (("WIDE",), ("HI",))


def _registers(operands: tuple[Operand, ...]) -> list[Register]:
    """All registers of operands, those of addresses and constants included."""
    found: list[Register] = []
    for one in operands:
        parts = [getattr(one, name, None) for name in ("base", "uniform", "descriptor", "bank", "register")]
        found += [part for part in (one, *parts) if isinstance(part, Register)]
    return found


def _behind_address(operands: tuple[Operand, ...]) -> tuple[Operand, ...]:
    for place, one in enumerate(operands):
        if isinstance(one, Address):
            return operands[place + 1 :]
    return ()
