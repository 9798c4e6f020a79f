"""What an instruction of machine code reads from the register file, by bank.

On an H200 a scheduler's registers lie in two banks, even and odd numbers, and each delivers one register of a warp a
cycle: FFMA with three even registers issues every third cycle.  A register that was marked for reuse is at hand until
the same operand slot reads another one of its bank, or another warp issues.  IMAD.WIDE and IMAD.HI run in two passes,
and read factors that share a bank in each of them.
"""

from __future__ import annotations

import re
from enum import Enum

BANKS = 2

_PREDICATE = re.compile(r"!?U?P(?:T|\d)$")
_REGISTER = re.compile(r"R(\d+)")
_WIDE = re.compile(r"D(?:ADD|MUL|FMA|SETP|MNMX)\b")
_TWO_RESULTS = re.compile(r"IMAD\.WIDE\b|CS2R$")
WIDE_MULTIPLY = re.compile(r"IMAD\.(?:WIDE|HI)\b")


class Passes(Enum):
    """How an instruction runs: wide multiplies in two passes, with a uniform register as a factor or without."""

    ONE = 0
    TWO = 1
    TWO_UNIFORM = 2


def passes(text: str) -> Passes:
    """Those of an instruction; *text* is its disassembly without guard."""
    if not WIDE_MULTIPLY.match(text):
        return Passes.ONE
    return Passes.TWO_UNIFORM if re.search(r"\bUR\d", text) else Passes.TWO


Slots = tuple[tuple[int, ...], ...]
"""Registers of the operand slots a, b and c."""

Kept = dict[tuple[int, int], int]
"""Registers that are at hand, by bank and operand slot."""


def slots(text: str) -> Slots:
    """Registers that an instruction reads, by operand slot; RZ, constants and uniform registers take no port.

    *text* is its disassembly without guard, ``FFMA R25, R25, UR6, R2``; a pair of registers counts as both.
    """
    opcode, _, rest = text.partition(" ")
    operands = [operand.strip() for operand in rest.split(",")]
    sources = [operand for operand in operands[1:] if not _PREDICATE.match(operand)]
    if operands and _PREDICATE.match(operands[0]) and opcode.startswith("LOP3"):
        sources = sources[1:]  # RZ, the destination beside the predicate
    if len(sources) == 1:
        sources = ["", *sources]
    found: list[tuple[int, ...]] = []
    for k, operand in enumerate(sources[:3]):
        register = _REGISTER.search(operand)
        if register is None or operand.startswith(("U", "c[", "-UR")):
            found.append(())
            continue
        number = int(register[1])
        pair = ".64" in operand or _WIDE.match(opcode) or (k == 2 and WIDE_MULTIPLY.match(opcode))
        found.append((number, number + 1) if pair else (number,))
    return tuple(found)


def results(text: str) -> tuple[int, ...]:
    """Registers that an instruction writes, as far as its text tells: two by a wide multiply or a 64-bit clock."""
    opcode, _, rest = text.partition(" ")
    register = _REGISTER.match(rest.strip())
    if register is None:
        return ()
    number = int(register[1])
    return (number, number + 1) if _TWO_RESULTS.match(opcode) else (number,)


def reads(own: Slots, kept: Kept, passes: Passes = Passes.ONE) -> tuple[int, int]:
    """Cycles that the ports of the even and of the odd bank take if the registers of *kept* are at hand.

    One register in several slots is read once.  A wide multiply reads twice what shares a bank: its two factors, or,
    if one of these is a uniform register, the other and half of the addend.
    """
    wanted = {r for k, registers in enumerate(own) for r in registers if kept.get((r % BANKS, k)) != r}
    cycles = [sum(r % BANKS == bank for r in wanted) for bank in range(BANKS)]
    factors = {r for registers in own[:2] for r in registers} & wanted
    if passes is Passes.TWO_UNIFORM:
        factors |= {r for r in wanted if any(r % BANKS == factor % BANKS for factor in factors)}
    for bank in range(BANKS):
        if passes is not Passes.ONE and sum(r % BANKS == bank for r in factors) == 2:
            cycles[bank] += 2
    return cycles[0], cycles[1]


def keep(own: Slots, reuse: int, kept: Kept) -> Kept:
    """What is at hand after an instruction with these reuse bits: it replaces what its slots of that bank had."""
    after = dict(kept)
    for k, registers in enumerate(own):
        for r in registers:
            after.pop((r % BANKS, k), None)
            if reuse >> k & 1:
                after[r % BANKS, k] = r
    return after
