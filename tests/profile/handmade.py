"""Hand-made Programs whose counts can be worked out on paper; no compiler involved."""

from __future__ import annotations

import numpy as np

from simt.machine import Launch
from simt.ops.encoding import MEMORY_TYPES, SPECIAL_REGISTERS
from simt.profile import Profile
from simt.program import ArrayRef, Instruction, ListingLine, Program, Space, Uniform, pred
from simt.runtime import run

B64 = MEMORY_TYPES["b64"][0]
U32 = MEMORY_TYPES["u32"][0]
LANE = SPECIAL_REGISTERS.index("laneid")
TID = SPECIAL_REGISTERS.index("tid.x")

# Rows of the programs below: 1 to 3 are constants, 7 the base of ``out``.
ONE, TWO, LIMIT, BASE = 1, 2, 3, 7


def _program(
    name: str, view: str, lines: list[str], code: list[Instruction], limit: int = 24, **more: object
) -> Program:
    number = (lambda k: 16 * k) if view != "source" else (lambda k: k + 1)
    return Program(
        name=name,
        view=view,
        instructions=code,
        listing=[ListingLine(text, number(k), f"{name}.py", name) for k, text in enumerate(lines)],
        n_registers=8,
        n_predicates=2,
        n_barriers=1,
        uniforms=[
            Uniform(ONE, "const", 1),
            Uniform(TWO, "const", 2),
            Uniform(LIMIT, "const", limit),
            Uniform(BASE, "base", 0),
        ],
        arrays=[ArrayRef("out", "int64", 1, Space.GLOBAL, 0, argument=0)],
        parameters=["out"],
        file=f"{name}.py",
        **more,
    )


def if_else() -> Program:
    """Lanes 0-23 take one side, 24-31 the other; all store 8 bytes each.

    Executed per warp: 1 (lane) + 2 (compare, branch) + 1 + 1 (the sides) + 3 (index, store, exit) = 8.
    """
    lines = [
        "def if_else(out):",
        "    lane = cuda.laneid",
        "    if lane < 24:",
        "        v = lane + 1",
        "    else:",
        "        v = lane * 2",
        "    out[lane] = v",
    ]
    code = [
        Instruction("sreg", dst=4, imm=LANE, line=1, variable="lane", dtype="int32"),
        Instruction("lt.s64", dst=1, a=4, b=LIMIT, line=2),
        Instruction("bssy", line=2, retires=False),
        Instruction("bra", a=pred(1, True), imm=6, line=2),
        Instruction("add.s64", dst=5, a=4, b=ONE, line=3, variable="v", dtype="int64"),
        Instruction("bra", imm=7, line=3, retires=False),
        Instruction("mul.s64", dst=5, a=4, b=TWO, line=5, variable="v", dtype="int64"),
        Instruction("bsync", line=6, retires=False),
        Instruction("index", dst=6, a=BASE, b=4, line=6),
        Instruction("st.global", a=6, b=5, mod=B64, line=6),
        Instruction("exit", line=6),
    ]
    return _program("if_else", "source", lines, code)


def guarded() -> Program:
    """Threads with ``tid >= 35`` leave; the others double their index under a predicate ``tid < 35``."""
    lines = ["def guarded(out):", "    tid = threadIdx.x", "    if tid >= 35: return", "    v = tid * 2"]
    code = [
        Instruction("sreg", dst=4, imm=TID, line=1, variable="tid", dtype="int32"),
        Instruction("lt.s64", dst=1, a=4, b=LIMIT, line=2),
        Instruction("exit", guard=pred(1, True), line=2),
        Instruction("lt.s64", dst=1, a=4, b=TWO, line=3),
        Instruction("mul.s64", dst=5, a=4, b=TWO, guard=pred(1), line=3, variable="v", dtype="int64"),
        Instruction("exit", line=3),
    ]
    return _program("guarded", "source", lines, code, limit=35)


def machine_code() -> Program:
    """Three instructions of machine code, the middle one of three micro-ops of which the last retires."""
    lines = ["S2R R4, SR_LANEID", "STG.E.64 [R6], R4", "EXIT"]
    code = [
        Instruction("sreg", dst=4, imm=LANE, line=0),
        Instruction("index", dst=6, a=BASE, b=4, line=1, retires=False),
        Instruction("st.global", a=6, b=4, mod=B64, line=1, retires=False),
        Instruction("nop", line=1),
        Instruction("exit", line=2),
    ]
    return _program("machine_code", "sm_90", lines, code, toolchain="ptxas 13.0", registers=40)


def strided_shared(stride: int) -> Program:
    """Each lane stores 4 bytes to shared memory, ``stride`` words apart: ``stride``-way bank conflicts."""
    lines = ["def strided(out):", "    tile[stride * lane] = lane"]
    code = [
        Instruction("sreg", dst=4, imm=LANE, line=1),
        Instruction("mul.s64", dst=5, a=4, b=LIMIT, line=1, retires=False),
        Instruction("st.shared", a=5, b=4, mod=U32, line=1),
        Instruction("exit", line=1),
    ]
    return _program("strided", "source", lines, code, limit=4 * stride, shared_bytes=4 * 32 * 32)


def profile(program: Program, block: int = 32, grid: int = 1, trace: bool = False) -> Profile:
    """Run a program of this file."""
    out = np.zeros(1024, dtype=np.int64)
    launch = Launch(grid=(grid, 1, 1), block=(block, 1, 1), arguments=[out], trace=trace)
    return Profile(program, run(program, launch))
