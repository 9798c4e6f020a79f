"""Small launches that cover all families, and all that they leave, as JSON.

``python -m tests.machine.small_programs`` prints the report: the test compares that of the plain-Python engine
(``NUMBA_DISABLE_JIT=1``) with that of the compiled one.
"""

from __future__ import annotations

import json
import math
from typing import Any

import numpy as np
from numba import cuda

import simt
from simt.check import SimtError
from simt.machine import TraceRecords
from simt.ops import mathematics
from simt.ops.encoding import ATOMIC_TYPES, ATOMICS, MEMORY_TYPES
from simt.ops.table import MICRO_OPS, Family
from simt.program import pred
from tests.machine.harness import Builder, Call, evaluate, launch, ops_of, type_number
from tests.machine.operands import DOUBLES, INTEGERS, SINGLES
from tests.machine.structured import Condition, If, Leave, Loop, Statement, Step, lower

KERNEL: tuple[Statement, ...] = (
    Step(3),
    If(
        Condition(3, 1),
        (Loop(5, (Step(2), If(Condition(2, 0), (Leave(Condition(5, 1), False),), (Step(7),)))),),
        (Step(5), Leave(Condition(7, 3), True)),
    ),
    Loop(4, (Step(3), Leave(Condition(4, 2), False), Leave(Condition(11, 2), True))),
    Step(2),
)
APPROXIMATE = {*(row.name for row in mathematics.TABLE.rows), "powi.f32"} - {"fmod.f64"}
"""Results of the host's mathematical library, in which NumPy and compiled code may differ in the last bits."""


def _immediates(op: str) -> list[int]:
    if "rnd" in op or op == "cvt.int.f64":
        return [0, 5, 10, 12]
    return [0x96] if op in ("plop", "lop3.b32") else [0]


def _alu() -> dict[str, dict[str, list[int]]]:
    """Results of all ALU micro-ops, under a guard: exact ones and approximate ones."""
    rng = np.random.default_rng(7)
    pools = [np.array(pool, np.uint64) for pool in (INTEGERS, DOUBLES, SINGLES)]
    rows = np.concatenate([rng.choice(pool, (3, 32)) for pool in pools], axis=1)
    predicates = rng.random((3, rows.shape[1])) < 0.5
    guard = rng.random(rows.shape[1]) < 0.7
    families = [family for family in Family if family not in (Family.MEMORY, Family.IMAGE, Family.CONTROL)]
    calls = [
        Call(op, imm) for op in ops_of(*families) if op not in ("index", "within", "sreg") for imm in _immediates(op)
    ]
    report: dict[str, dict[str, list[int]]] = {"exact": {}, "approximate": {}}
    outcomes = evaluate(calls, rows, predicates, np.arange(rows.shape[1], dtype=np.uint64), guard)
    for call, outcome in zip(calls, outcomes, strict=True):
        values = outcome.value
        if MICRO_OPS[call.op].family is Family.F64 and call.op not in ("neg.f64", "abs.f64", "copysign.f64"):
            values = _one_nan(values)
        kind = "approximate" if call.op in APPROXIMATE else "exact"
        report[kind][f"{call.op} {call.imm}"] = [int(value) for value in values]
        if outcome.flag is not None:
            report["exact"][f"{call.op} flag"] = [int(value) for value in outcome.flag]
    return report


def _one_nan(values: np.ndarray) -> np.ndarray:
    """float64 patterns with every NaN replaced by one: its bits are not part of the contract."""
    return np.where(np.isnan(values.view(np.float64)), np.uint64(0x7FF8000000000000), values)


def _trace(trace: TraceRecords | None) -> dict[str, Any]:
    assert trace is not None
    return {name: np.asarray(getattr(trace, name)).tolist() for name in TraceRecords.__dataclass_fields__}


def _control() -> dict[str, Any]:
    """A structured kernel in every order: memory, counters, trace."""
    report = {}
    program = lower(KERNEL).build()
    for order in ("then_first", "else_first", "interleaved", "random:5"):
        found = np.zeros(80, np.uint64)
        result = launch(program, found, grid=2, block=40, order=order, trace=True)
        report[order] = {
            "memory": found.tolist(),
            "counters": result.counters.tolist(),
            "trace": _trace(result.trace),
        }
    return report


def _memory() -> dict[str, Any]:
    """Loads, stores and atomics of every type in every space, block barriers, special registers."""
    b = Builder()
    b.shared_bytes, b.local_bytes = 64 * 16, 20
    data, sink = b.array(0), b.array(1)
    thread, lane = b.special("tid.x"), b.special("laneid")
    out = b.element(sink, b.thread())
    slot = 0
    results = b.reg(4)
    stride = 64 * 2 * 8
    for name, (_, size) in MEMORY_TYPES.items():
        offset = b.value("mul.s64", thread, b.const(size))
        addresses = {"global": b.value("add.s64", offset, data), "shared": offset, "local": 0}
        for space, address in addresses.items():
            b.emit(f"ld.{space}", results, address, mod=type_number(name))
            b.emit(f"st.{space}", a=address, b=results, mod=type_number(name))
            b.emit("bar.sync")
            b.emit("st.global", a=out, b=results, mod=6, imm=slot * stride)
            slot += 1
    for kind in range(len(ATOMICS)):
        for typ in range(len(ATOMIC_TYPES)):
            if ATOMIC_TYPES[typ] in ("f32x2", "f32x4"):  # more than one row: test_memory.py
                continue
            if ATOMIC_TYPES[typ][0] == "f" and ATOMICS[kind] in ("inc", "dec", "and", "or", "xor"):
                continue
            cell = b.value("mul.s64", b.value("and.b64", lane, b.const(3)), b.const(8))
            old = b.value("atom.shared", cell, thread, lane, mod=kind << 4 | typ)
            b.emit("st.global", a=out, b=old, mod=6, imm=slot * stride)
            slot += 1
    for name in ("ctaid.x", "lanemask_lt", "warpid"):
        b.emit("st.global", a=out, b=b.special(name), mod=6, imm=slot * stride)
        slot += 1
    even = pred(b.value("lt.s64", lane, b.const(5)))
    b.emit("st.global", a=out, b=b.value("bar.red.popc", even), mod=6, imm=slot * stride)
    memory = np.arange(64 * 16, dtype=np.uint8)
    found = np.zeros((slot + 1, 128), np.uint64)
    result = launch(b, memory, found, grid=2, block=64, threads=1)
    return {"memory": memory.tolist(), "found": found.tolist(), "counters": result.counters.tolist()}


def _errors() -> list[str]:
    """Messages of launches that fail."""
    builders = []
    for offset, name in ((2**20, "u32"), (-8, "b64"), (2**63 - 8, "b64"), (2, "u32")):
        b = Builder()
        address = b.value("add.s64", b.array(0, name="data"), b.const(offset))
        b.emit("st.global", a=address, b=address, mod=type_number(name))
        builders.append(b)
    endless = Builder()
    endless.label("head")
    endless.bra("head", retires=False)
    messages = []
    for builder in (*builders, endless):
        try:
            launch(builder, np.zeros(8), block=40, max_instructions=10)
        except SimtError as error:
            messages.append(str(error))
    return messages


def _least_and_greatest(a: Any, out: Any) -> None:
    i = cuda.grid(1)
    least, greatest = a[i], a[i]
    for k in range(i % 5):
        least = min(least, a[k], round(a[i] / 3, 1))
        greatest = max(greatest, abs(a[k]), math.floor(a[i] / 2))
    out[i] = least + 1000 * greatest


def _source() -> dict[str, Any]:
    """A kernel in Python, with builtins that Numba types by compiling them: results and counts."""
    data = np.arange(-20, 44) * 1.25
    found = np.zeros(64)
    profile = simt.launch(_least_and_greatest, 2, 32, data, found)
    return {"memory": found.tolist(), "counters": profile.counters}


def report() -> dict[str, Any]:
    """Everything, as plain lists and dicts."""
    parts = {"control": _control(), "memory": _memory(), "errors": _errors(), "source": _source()}
    return {"alu": _alu(), **parts}


if __name__ == "__main__":
    print(json.dumps(report()))
