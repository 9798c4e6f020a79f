"""Which lanes a micro-op changes: those of the exec mask, all for uniform ones, none of RZ and PT."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from simt.ops.table import MICRO_OPS, Family
from simt.program import RZ, pred
from tests.machine.harness import Builder, Call, evaluate, launch, ops_of, type_number
from tests.machine.patterns import M32

ALU = [
    op
    for op in ops_of(*(family for family in Family if family not in (Family.MEMORY, Family.IMAGE, Family.CONTROL)))
    if op not in ("index", "within", "sreg")
]
ROWS = np.random.default_rng(3).integers(0, 40, (3, 32)).astype(np.uint64)
PREDICATES = np.random.default_rng(4).random((3, 32)) < 0.5
INITIAL = np.arange(1000, 1032, dtype=np.uint64)
CALLS = [Call(op, imm=0x96 if op in ("plop", "lop3.b32") else 0) for op in ALU]


@settings(max_examples=10)
@given(mask=st.integers(0, M32))
def test_lanes_outside_of_the_exec_mask_keep_their_values(mask: int) -> None:
    guard = np.array([mask >> lane & 1 for lane in range(32)], bool)
    free = evaluate(CALLS, ROWS, PREDICATES, INITIAL)
    guarded = evaluate(CALLS, ROWS, PREDICATES, INITIAL, guard)
    for call, before, after in zip(CALLS, free, guarded, strict=True):
        is_row = MICRO_OPS[call.op].operands[0] == "r"
        initial = INITIAL if is_row else (INITIAL & np.uint64(1)).astype(bool)
        np.testing.assert_array_equal(after.value[~guard], initial[~guard], call.op)
        if MICRO_OPS[call.op].family is not Family.WARP:
            np.testing.assert_array_equal(after.value[guard], before.value[guard], call.op)


@pytest.mark.parametrize("mask", [1, 0x80000000, 0x0F0F0F0F, M32])
def test_uniform_micro_ops_write_all_lanes(mask: int) -> None:
    guard = np.array([mask >> lane & 1 for lane in range(32)], bool)
    calls = [Call(call.op, call.imm, uniform=True) for call in CALLS]
    guarded = evaluate(CALLS, ROWS, PREDICATES, INITIAL, guard)
    uniform = evaluate(calls, ROWS, PREDICATES, INITIAL, guard)
    for call, narrow, wide in zip(calls, guarded, uniform, strict=True):
        np.testing.assert_array_equal(wide.value[guard], narrow.value[guard], call.op)
        if MICRO_OPS[call.op].family is Family.WARP and not call.op.startswith(("shfl", "match.any")):
            assert len(set(wide.value.tolist())) == 1, call.op
        elif MICRO_OPS[call.op].family is not Family.WARP:
            free = evaluate([call], ROWS, PREDICATES, INITIAL)[0]
            np.testing.assert_array_equal(wide.value, free.value, call.op)


def test_writes_to_rz_and_pt_are_discarded() -> None:
    b = Builder()
    sink, thread = b.array(0, ndim=2), b.thread()
    rows = [b.const(k) for k in (3, 5, 7)]
    truths = [b.truth(b.const(1))] * 3
    for k, op in enumerate(ALU):
        letters = MICRO_OPS[op].operands
        operands = [
            row if letter == "r" else pred(truth) if letter == "p" else 0
            for letter, row, truth in zip(letters[1:], rows, truths, strict=True)
        ]
        b.emit(op, 0, *operands, imm=0x96 if op == "lop3.b32" else 0)
        b.store(sink, thread, RZ, imm=2 * k * 256)
        b.store(sink, thread, b.number(0), imm=(2 * k + 1) * 256)
    found = np.full((2 * len(ALU), 32), 99, np.uint64)
    launch(b, found)
    assert (found[0::2] == 0).all()
    assert (found[1::2] == 1).all()


@pytest.mark.parametrize("op", ["ld.global", "atom.global"])
def test_loads_to_rz_are_discarded(op: str) -> None:
    b = Builder()
    data, sink, thread = b.array(0), b.array(1), b.thread()
    b.emit(op, 0, a=data, b=RZ, mod=type_number("b64") if op == "ld.global" else 3)
    b.store(sink, thread, RZ)
    found = np.full(32, 99, np.uint64)
    launch(b, np.full(32, 7, np.uint64), found)
    assert (found == 0).all()


def test_the_second_predicate_of_a_shuffle_is_optional() -> None:
    b = Builder()
    sink, thread = b.array(0), b.thread()
    b.emit("shfl.up", b.reg(), thread, b.const(1), RZ)
    b.store(sink, thread, b.number(0))
    found = np.zeros(32, np.uint64)
    launch(b, found)
    assert (found == 1).all()
