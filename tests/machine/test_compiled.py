"""Native code leaves what the interpreter leaves: memory, counters, errors, budgets, in any order of splits."""

from __future__ import annotations

import re
from dataclasses import replace
from pathlib import Path
from typing import Any

import llvmlite.binding as llvm
import numba
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numba import cuda
from numba.core import config

from simt import disk_cache, kernels
from simt.lang import argument_types, compile
from simt.machine import DeviceMemory, Launch, RunResult, dimensions
from simt.machine.compiled import code, lanes, parts
from simt.machine.compiled.accesses import ACCESSES, FUNCTIONS, TYPES
from simt.machine.compiled.emit import Emitter
from simt.machine.compiled.lanes import is_lane_wise, lane_module
from simt.machine.compiled.memory import Access
from simt.machine.compiled.plan import Plan
from simt.machine.compiled.text import LANES, Text
from simt.machine.compiled.widen import NotWide, Scalar, Widener
from simt.machine.layout import ADDRESS_BASE
from simt.machine.prepare import prepare, state_arrays
from simt.ops.arrays import Record
from simt.ops.encoding import ATOMIC_BYTES, ATOMIC_TYPES, ATOMICS
from simt.ops.memory import ACCESS_SHIFT, GLOBAL, LOAD
from simt.ops.row import Kind
from simt.ops.table import MICRO_OPS, TABLES
from simt.program import Program, pred
from simt.runtime import Context, run
from tests.machine.engines import check, left_by
from tests.machine.harness import Builder, Call, evaluate, type_number
from tests.machine.operands import DOUBLES, EXTREMES, INTEGERS, SINGLES, rows_of_pairs
from tests.machine.patterns import M32
from tests.machine.structured import Statement, lower
from tests.machine.structured import kernels as structured
from tests.machine.test_alu import immediates

pytestmark = pytest.mark.skipif(bool(config.DISABLE_JIT), reason="nothing is compiled")

ONE_BY_ONE = {
    "pow.s64": "a loop",
    "pow.s64.u64": "a loop",
    "pow.u64": "a loop",
    "powi.f32": "a loop",
    "cvt.f32.f16": "a loop",
}
"""Micro-ops that are executed natively, but one lane after the other, and what their code has that is not widened."""

LANE_WISE = [name for name, row in MICRO_OPS.items() if is_lane_wise(row)]


def not_widened(name: str) -> str:
    """Why a micro-op is not widened; empty if it is."""
    try:
        scalar = Scalar(lane_module(name, immediates(name)[0]))
        Widener(scalar, LANES, Text()).emit(["%a", "%b", "%c", "%d"])
    except NotWide as reason:
        return str(reason)
    return ""


def test_what_is_left_to_the_interpreter() -> None:
    """All else is made of its one declaration: of lane functions, functions of control, and accesses."""
    plan = Plan(counting())
    step = plan.steps[0]
    left = {row for row in MICRO_OPS.values() if not plan.is_native(replace(step, row=row, imm=0, guard=0))}
    by_library = {row for table in TABLES if table.by_library for row in table.rows}
    images = {row for row in MICRO_OPS.values() if row.kind is Kind.IMAGE}
    phases = {row for row in MICRO_OPS.values() if row.name.endswith(".shared")}
    assert {row.name for row in left - by_library - images - phases} == {
        *("floordiv.f64", "floormod.f64"),
        *("brx", "trap", "syscall", "bmov.get", "bmov.set", "bulk.generic"),
    }


@pytest.mark.parametrize("name", LANE_WISE)
def test_which_micro_ops_are_widened(name: str) -> None:
    reason = not_widened(name)
    assert (ONE_BY_ONE[name] in reason) if name in ONE_BY_ONE else not reason


@pytest.mark.parametrize("name", LANE_WISE)
def test_every_lane_function_at_its_extremes(name: str) -> None:
    row = MICRO_OPS[name]
    values = EXTREMES[row.family][::2] if row.kind == 0 else [*INTEGERS[::3], *DOUBLES[::3], *SINGLES[::3]]
    rows = rows_of_pairs(values)
    truths = np.random.default_rng(3).random((4, rows.shape[1])) < 0.5
    calls = [Call(name, imm) for imm in immediates(name)[:: max(1, len(immediates(name)) // 8)]]
    initial = np.arange(rows.shape[1], dtype=np.uint64)
    found = [
        evaluate(calls, rows, truths[:3], initial, truths[3], engine=engine) for engine in ("interpreter", "compiled")
    ]
    for call, interpreted, native in zip(calls, *found, strict=True):
        np.testing.assert_array_equal(native.value, interpreted.value, err_msg=str(call))


@given(
    kernel=structured,
    order=st.sampled_from(["then_first", "else_first", "hardware", "profiler", "interleaved", "random:3"]),
    block=st.sampled_from([1, 31, 32, 45, 96]),
)
def test_random_kernels(kernel: tuple[Statement, ...], order: str, block: int) -> None:
    out = np.zeros(2 * block, np.uint64)
    check(lower(kernel).build(), [out], grid=(2, 1, 1), block=(block, 1, 1), order=order)


@given(budget=st.integers(1, 400), block=st.sampled_from([20, 70]))
@settings(max_examples=60)
def test_budgets_end_at_the_same_micro_op(budget: int, block: int) -> None:
    check(counting(), [np.zeros(block, np.uint64)], block=(block, 1, 1), max_instructions=budget)


def counting(rounds: int = 30) -> Program:
    """Multiplies and adds in a loop, and stores what comes of it."""
    b = Builder()
    out, i = b.array(0), b.thread()
    x, k = b.reg(), b.reg()
    b.emit("mov", x, i)
    b.emit("mov", k, 0)
    b.label("loop")
    b.emit("mad.s64", x, x, b.const(3), k)
    b.emit("floormod.s64", x, x, b.const(10007))
    b.emit("add.s64", k, k, b.const(1))
    b.bra("loop", pred(b.value("lt.s64", k, b.const(rounds))))
    b.store(out, i, x)
    return b.build()


def shape(plan: Any) -> dict[str, tuple[int, int, int]]:
    """Grid and block of a plan, as a Launch has them."""
    return {"grid": dimensions(plan.grid, "grid"), "block": dimensions(plan.block, "block")}


@pytest.mark.parametrize("name", [name for name in kernels.names() if kernels.get(name).group != "published"])
def test_kernels_of_the_registry(name: str) -> None:
    plan = kernels.get(name).plan(size=3000)
    program = compile(plan.kernel, argument_types(plan.args))
    check(program, plan.args, **shape(plan), threads=1)


@given(first=st.integers(-12, 20), step=st.integers(0, 3), wraps=st.booleans(), guarded=st.booleans())
@settings(max_examples=80)
def test_an_index_that_is_wrong_changes_nothing_before_it_fails(
    first: int, step: int, wraps: bool, guarded: bool
) -> None:
    b = Builder()
    base, lane = b.array(0), b.special("laneid")
    i = b.value("mad.s64", lane, b.const(step), b.const(first))
    only = pred(b.value("lt.s64", lane, b.const(9))) if guarded else pred(0)
    b.emit("add.s64", i, i, b.const(-1))  # a row that the run reads and writes
    place = b.reg()
    b.emit("index", place, base, i, imm=0, mod=int(wraps), guard=only)
    b.emit("add.s64", i, i, b.const(1000))
    b.emit("st.global", a=place, b=i, mod=6, guard=only)
    check(b.build(), [np.zeros(16, np.uint64)])


@given(
    kind=st.sampled_from(["u8", "s8", "u16", "s16", "u32", "s32", "b64", "v2", "v4"]),
    space=st.sampled_from(["global", "shared", "const", "local", "generic"]),
    lanes=st.lists(st.integers(-3, 300), min_size=32, max_size=32)
    | st.builds(lambda start, step: [start + step * k for k in range(32)], st.integers(0, 90), st.integers(-3, 9))
    | st.builds(
        lambda starts, step: [starts[k // 8] + step * (k % 8) for k in range(32)],
        st.lists(st.integers(0, 12), min_size=4, max_size=4),
        st.integers(0, 1),
    ),
    size=st.sampled_from([1, 4, 8, 16, 32]),
    mask=st.sampled_from([0xFFFFFFFF, 0xFFFF, 0xFFFF0000, 0x55555555, 1, 0x80000000, 0x00F0F0F0]) | st.integers(1, M32),
    writes=st.booleans(),
    order=st.sampled_from(["then_first", "profiler"]),
)
@settings(max_examples=60)
def test_accesses(kind: str, space: str, lanes: list[int], size: int, mask: int, writes: bool, order: str) -> None:
    """Runs, also of eight lanes each, broadcasts, scattered and overlapping accesses, some misaligned or outside."""
    b = Builder()
    memory, where, out = b.array(0), b.array(1), b.array(2)
    lane = b.special("laneid")
    only = b.value("shr.u64", b.const(mask), lane)
    only_some = pred(b.value("ne.s64", b.value("and.b64", only, b.const(1)), 0))
    offset = b.load(where, lane)
    base = {
        "global": memory,
        "generic": memory,
        "shared": 0,
        "local": 0,
        "const": b.constant_array(np.arange(64, dtype=np.int64) * 0x0102030405),
    }
    b.shared_bytes = b.local_bytes = 512
    values = b.reg(4)
    for k in range(4):
        b.emit("mad.s64", values + k, lane, b.const(0x1F2E3D4C5B6A79 + k), b.const(k))
    address = b.value("add.s64", offset, base[space]) if base[space] else offset
    for _ in range(2):  # the second finds the allocation at once
        if writes and space != "const":
            b.emit(f"st.{space}", a=address, b=values, mod=type_number(kind), guard=only_some)
        b.emit(f"ld.{space}", values, address, mod=type_number(kind), guard=only_some)
    for k in range(4):
        b.store(out, b.value("mad.s64", lane, b.const(4), b.const(k)), values + k)
    offsets = np.array([size * one for one in lanes], np.int64).view(np.uint64)
    memory_words = np.arange(64, dtype=np.uint64) * 0x0807060504030201 % 2**63
    check(b.build(), [memory_words, offsets, np.zeros(128, np.uint64)], order=order)


@pytest.mark.parametrize("space", ["shared", "global"])
@pytest.mark.parametrize("kind", ["u8", "s16", "u32", "b64", "v2", "v4"])
def test_patterns_of_addresses(kind: str, space: str) -> None:
    """Lanes at any distance, in pairs, in eights, and anywhere, some of them idle; each block accesses otherwise."""
    random = np.random.default_rng(0)
    lane = np.arange(32)
    patterns = [100 * (step < 0) * -step + step * lane for step in range(-9, 34)]
    patterns += [random.integers(0, 1024, 32)[lane & ~apart] for apart in (0, 1, 2, 7, 15) for _ in range(6)]
    patterns += [random.integers(0, 1016, 4)[lane // 8] + lane % 8 for _ in range(6)]
    rows = np.array([pattern % 1024 for pattern in patterns for _ in range(3)])
    idle = random.integers(0, 2, rows.shape).astype(np.bool_)
    idle[::3] = False
    b = Builder()
    where, out, memory = b.array(0), b.array(1), b.array(2)
    thread = b.value("mad.s64", b.special("ctaid.x"), b.const(32), b.special("laneid"))
    index = b.load(where, thread)
    size = TYPES[type_number(kind)][1]
    b.shared_bytes = 1024 * size
    only = pred(b.value("le.s64", b.const(0), index))
    address, values = b.value("mad.s64", index, b.const(size), b.const(0)), b.reg(4)
    if space == "global":
        address = b.value("add.s64", address, memory)
    for k in range(4):
        b.emit("mad.s64", values + k, thread, b.const(k + 3), b.const(k))
    for turn, stored in enumerate((values, values, 0)):  # of several lanes to one address, and loads of what stays
        b.emit(f"st.{space}", a=address, b=stored, mod=type_number(kind), guard=only)
        b.emit(f"ld.{space}", values, address, mod=type_number(kind), guard=only)
        for k in range(4):
            b.store(out, b.value("mad.s64", thread, b.const(12), b.const(4 * turn + k)), values + k)
            b.emit("mad.s64", values + k, values + k, b.const(3), thread)
    given = np.where(idle, -1, rows).reshape(-1).astype(np.int64).view(np.uint64)
    arrays = [given, np.zeros(12 * given.size, np.uint64), np.zeros(1024 * size // 8, np.uint64)]
    check(b.build(), arrays, grid=(len(rows), 1, 1), threads=1)  # all blocks store to the same memory


@given(
    kind=st.sampled_from(ATOMICS),
    typ=st.sampled_from(ATOMIC_TYPES),
    space=st.sampled_from(["global", "shared", "generic"]),
    lanes=st.lists(st.integers(-1, 64), min_size=32, max_size=32)
    | st.builds(lambda start, step: [start + step * k for k in range(32)], st.integers(0, 40), st.integers(-1, 2)),
    mask=st.sampled_from([M32, 0x0F0F0F0F, 1, 0x80000000]) | st.integers(1, M32),
    order=st.sampled_from(["then_first", "profiler"]),
)
@settings(max_examples=60)
def test_atomics(kind: str, typ: str, space: str, lanes: list[int], mask: int, order: str) -> None:
    """With and without contention, some misaligned or outside; packed types and vectors are only added."""
    size = ATOMIC_BYTES[ATOMIC_TYPES.index(typ)]
    mod = ATOMICS.index("add" if "x" in typ else kind) << 4 | ATOMIC_TYPES.index(typ)
    b = Builder()
    memory, where, out = b.array(0), b.array(1), b.array(2)
    lane = b.special("laneid")
    only = b.value("and.b64", b.value("shr.u64", b.const(mask), lane), b.const(1))
    b.shared_bytes = 512
    values, old = b.reg(4), b.reg(4)
    for k in range(4):
        b.emit("mad.s64", values + k, lane, b.const(0x3F2E3D4C40400000 + k), b.const(k))
    offset = b.load(where, lane)
    address = b.value("add.s64", offset, memory) if space != "shared" else offset
    for _ in range(2):  # the second finds what the first left
        b.emit(f"atom.{space}", old, address, values, values + 1, mod=mod, guard=pred(b.value("ne.s64", only, 0)))
    for k in range(4):
        b.store(out, b.value("mad.s64", lane, b.const(4), b.const(k)), old + k)
    offsets = np.array([size * one for one in lanes], np.int64).view(np.uint64)
    memory_words = np.arange(64, dtype=np.uint64) * 0x4048000040400001 % 2**63
    check(b.build(), [memory_words, offsets, np.zeros(128, np.uint64)], order=order)


@pytest.mark.parametrize("name", ["neighbored", "shuffle", "even_odd"])
def test_rows_that_nobody_reads_may_as_well_be_kept(name: str, monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    plan = kernels.get(name).plan(size=700)
    live = left_by("compiled", compile(plan.kernel, argument_types(plan.args)), plan.args, **shape(plan))
    monkeypatch.setattr(Plan, "is_live", lambda *_: True)
    monkeypatch.setattr(code, "STORE", disk_cache.DiskCache("native code", tmp_path))
    program = compile(plan.kernel, argument_types(plan.args))
    program.native = None
    assert left_by("compiled", program, plan.args, **shape(plan)) == live


def test_what_each_block_was() -> None:
    plan = kernels.get("neighbored").plan(size=3000)
    program = compile(plan.kernel, argument_types(plan.args))
    works = [
        run(
            program, Launch((plan.grid, 1, 1), (plan.block, 1, 1), plan.args, engine=engine), second=lambda *_: None
        ).work
        for engine in ("interpreter", "compiled")
    ]
    assert works[0] is not None
    np.testing.assert_array_equal(works[0], works[1])


def spread(data: Any, out: Any, stride: int) -> None:
    i = cuda.grid(1)
    if i % 8 < 7:
        out[i] = data[stride * (i // 2) + i % 2]


@pytest.mark.parametrize("engine", ["interpreter", "compiled"])
@pytest.mark.parametrize("stride", [2, 5, 70])
def test_which_memory_blocks_access(engine: str, stride: int) -> None:
    """Of 64 bytes each: what lanes side by side, and lanes anywhere, load and store, but not what lies between."""
    data, out = np.zeros(64 * 70, np.int32), np.zeros(4096, np.float64)
    found: list[np.ndarray] = []

    def look(_: Launch, memory: DeviceMemory, functional: RunResult, *__: Any) -> None:
        assert functional.reached is not None
        units = np.arange(len(functional.reached)) * 64 + int(ADDRESS_BASE)
        for size in (data.nbytes, out.nbytes):
            (own,) = [each for each in memory.allocations if each.end - each.start == size]
            found.append(functional.reached[(own.start <= units) & (units < own.end)])

    run(
        compile(spread, argument_types([data, out, stride])),
        Launch((2, 1, 1), (64, 1, 1), [data, out, stride], engine=engine),
        second=look,
    )
    i = np.array([k for k in range(128) if k % 8 < 7])
    for units, bytes_of in zip(found, (4 * (stride * (i // 2) + i % 2), 8 * i), strict=True):
        assert np.flatnonzero(units).tolist() == np.unique(bytes_of // 64).tolist()


@pytest.mark.parametrize(
    ("op", "constant"),
    [("add.f64", 2**63), ("sub.f64", 0), ("mul.f64", 0x3FF << 52), ("div.f64", 0x3FF << 52), ("fma.f64", 0x3FF << 52)],
)
def test_an_operation_that_changes_nothing_else_makes_a_nan_quiet(op: str, constant: int) -> None:
    b = Builder()
    x = b.load(b.array(0), b.thread())
    added = [b.const(2**63)] if op == "fma.f64" else []
    b.store(b.array(1), b.thread(), b.value(op, x, b.const(constant), *added))
    there_and_back = b.value("cvt.f32.f64", b.value("cvt.f64.f32", x))
    b.store(b.array(2), b.thread(), there_and_back)
    patterns = np.array([(0x7FF << 52) + 1, 0x7F800001, *DOUBLES[:30]], np.uint64)
    check(b.build(), [patterns, np.zeros(32, np.uint64), np.zeros(32, np.uint64)])


def test_a_guarded_micro_op_that_does_nothing_is_counted_for_its_lanes() -> None:
    b = Builder()
    b.emit("nop", guard=pred(b.value("lt.s64", b.special("laneid"), b.const(5))))
    check(b.build(), [])


def test_uniform_results_go_to_inactive_lanes_too() -> None:
    b = Builder()
    out, lane = b.array(0), b.special("laneid")
    x = b.value("mov", b.const(5))
    b.bra("end", pred(b.value("lt.s64", b.const(20), lane)))
    b.emit("add.s64", x, lane, b.const(7))
    b.emit("add.s64", x, x, x, uniform=True)
    b.emit("add.s64", x, x, b.const(1))
    p = b.value("lt.s64", x, b.const(40), uniform=True)
    b.emit("selp", x, x, b.const(3), pred(p))
    b.label("end")
    b.store(out, lane, x)
    check(b.build(), [np.zeros(32, np.uint64)])


def test_uniform_operands_are_kept_where_their_own_path_forgets_them() -> None:
    b = Builder()
    out, lane, barrier = b.array(0), b.special("laneid"), b.barrier()
    x, z = b.value("mov", b.const(5)), b.value("mov", b.const(0))
    b.emit("bssy", imm=barrier)
    b.bra("late", pred(b.value("lt.s64", lane, b.const(20))))
    b.bra("early")
    b.label("late")
    b.emit("add.s64", z, x, x, uniform=True)
    b.bra("end")
    b.label("early")
    b.emit("add.s64", x, lane, b.const(100))
    b.label("end")
    b.emit("bsync", imm=barrier)
    b.store(out, lane, z)
    check(b.build(), [np.zeros(32, np.uint64)])


@pytest.mark.skipif("x86" not in llvm.get_process_triple(), reason="looks for names of x86 instructions")
def test_hot_loops_hold_vector_instructions() -> None:
    machine = code.machine()
    assembly = machine.emit_assembly(code.optimised(code.module_of(Emitter(Plan(counting())).emit()), machine))
    assert re.search(r"\sv?paddq\s.*%[xyz]mm", assembly)
    assert not re.search(r"\svmov\w+\s+%[xyz]mm\d+, \S*\(.*\{%k", assembly), "a masked store: loads wait for it"
    if "+avx512dq" in code.processor()[1]:
        assert re.search(r"\svpmullq\s.*%zmm", assembly)


@pytest.mark.skipif("x86" not in llvm.get_process_triple(), reason="looks for names of x86 instructions")
def test_loads_fetch_what_the_next_warps_load() -> None:
    machine = code.machine()
    for helper in FUNCTIONS.values():
        number, mod = ACCESSES[helper]
        module = code.module_of(Access(helper).emit())
        found = re.findall(r"\sprefetch", machine.emit_assembly(code.optimised(module, machine)))
        wanted = -(-32 * TYPES[mod][1] // 64) if number == LOAD << ACCESS_SHIFT | GLOBAL else 0
        assert len(found) == wanted, helper


def test_the_state_that_native_code_hands_on_has_the_type_of_the_engines() -> None:
    b = Builder()
    with Context().placed(b.build(), Launch((1, 1, 1), (32, 1, 1), [])) as placed:
        prepared = prepare(b.build(), placed.launch, 1, placed.memory)
        state = state_arrays(prepared, 0, 0, np.zeros(1, np.int64))
    assert Record(numba.typeof(state)) == parts.STATE


def test_numba_compiles_a_function_once_for_every_imm(monkeypatch: pytest.MonkeyPatch) -> None:
    lanes._specialised("prmt.b32", 1, None)
    lanes._kept_by_numba.cache_clear()  # as in another process
    monkeypatch.delattr(lanes, "_by_numba")
    assert "@lane(" in lanes._specialised("prmt.b32", 2, None)
