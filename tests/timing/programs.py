"""Small programs built by hand, one instruction a line, so that their time can be computed on paper."""

from __future__ import annotations

from typing import Any

import numpy as np

from simt import devices
from simt.machine import Launch
from simt.ops.encoding import SPECIAL_REGISTERS
from simt.program import ArrayRef, Instruction, ListingLine, Program, Space, Uniform, pred
from simt.timing import TimingResult
from tests.timing.simulated import simulate

ONE, STRIDE, BASE, LATE = 1, 2, 3, 4  # uniform rows
X, Y, LANE, AT, FIRST = 5, 6, 7, 8, 9  # rows; FIRST and up are free
IS_LATE = 1  # predicate


def program(instructions: list[Instruction], stride: int = 4, late: int = 0, shared_bytes: int = 0) -> Program:
    """A Program with the rows named above; every instruction has a line of its own."""
    for k, instruction in enumerate(instructions):
        instruction.line = k
    return Program(
        name="by hand",
        view="source",
        instructions=instructions,
        listing=[ListingLine(str(instruction), k + 1) for k, instruction in enumerate(instructions)],
        n_registers=FIRST + 600,
        n_predicates=2,
        n_barriers=1,
        uniforms=[
            Uniform(ONE, "const", 1),
            Uniform(STRIDE, "const", stride),
            Uniform(BASE, "base", 0),
            Uniform(LATE, "const", late),
        ],
        arrays=[ArrayRef("data", "int32", 1, Space.GLOBAL, 0, argument=0)],
        parameters=["data"],
        shared_bytes=shared_bytes,
    )


def cycles(made: Program, warps: int = 1, blocks: int = 1, **numbers: float) -> float:
    """Cycles on the H200, some numbers replaced."""
    return result(made, warps, blocks, overrides=numbers).cycles


def result(made: Program, warps: int = 1, blocks: int = 1, **options: Any) -> TimingResult:
    """A simulation of *blocks* blocks of *warps* warps."""
    launch = Launch((blocks, 1, 1), (32 * warps, 1, 1), [np.zeros(1 << 16, np.int32)], threads=1)
    return simulate(made, launch, devices.get("h200"), **options)


def number(name: str) -> float:
    """A timing number of the H200."""
    return devices.get("h200").sections["timing"][name].value


def chain(n: int, op: str = "add.s64") -> list[Instruction]:
    """*n* instructions, each waiting for the one before."""
    return [Instruction(op, X, X, ONE) for _ in range(n)]


def independent(n: int, op: str = "add.s64") -> list[Instruction]:
    """*n* instructions that wait for nothing."""
    return [Instruction(op, FIRST + k, ONE, ONE) for k in range(n)]


def end() -> list[Instruction]:
    """The exit."""
    return [Instruction("exit")]


def lane_address(base: int = 0) -> list[Instruction]:
    """AT = base + lane * stride."""
    lane = SPECIAL_REGISTERS.index("laneid")
    return [Instruction("sreg", LANE, imm=lane), Instruction("mad.s64", AT, LANE, STRIDE, base)]


def late_warp(extra: int) -> list[Instruction]:
    """Warp 0 executes *extra* dependent adds; then all meet at a barrier."""
    warp = SPECIAL_REGISTERS.index("warpid")
    start = [Instruction("sreg", Y, imm=warp), Instruction("ne.s64", IS_LATE, Y, LATE)]
    skip = [Instruction("bra", a=pred(IS_LATE), imm=len(start) + 1 + extra)]
    return [*start, *skip, *chain(extra), Instruction("bar.sync"), *end()]
