"""What an instruction of machine code reads from the register file, by bank.

On an H200 a scheduler's registers lie in two banks, even and odd numbers, and each delivers one register of a warp a
cycle: FFMA with three even registers issues every third cycle.  A register that was marked for reuse is at hand until
the same operand slot reads another one of its bank, or another warp issues.  IMAD.WIDE and IMAD.HI run in two passes,
and read factors that share a bank in each of them.
"""

from __future__ import annotations

from enum import Enum

from simt.program import MachineCode

BANKS = 2


class Passes(Enum):
    """How an instruction runs: wide multiplies in two passes, with a uniform register as a factor or without."""

    ONE = 0
    TWO = 1
    TWO_UNIFORM = 2


def passes(code: MachineCode) -> Passes:
    """Those of an instruction."""
    if code.opcode != "IMAD" or code.modifiers[:1] not in (("WIDE",), ("HI",)):
        return Passes.ONE
    return Passes.TWO_UNIFORM if code.uniform else Passes.TWO


Slots = tuple[tuple[int, ...], ...]
"""Registers of the operand slots a, b and c, as :class:`simt.program.MachineCode` has them."""

Kept = dict[tuple[int, int], int]
"""Registers that are at hand, by bank and operand slot."""


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
