"""Every ALU micro-op against its reference, at the edges of its operands and at random."""

from __future__ import annotations

import itertools

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from simt.ops.encoding import INTEGER_TYPES, PRMT_MODES, ROUNDED_FORMATS, ROUNDINGS
from simt.ops.table import MICRO_OPS, Family
from tests.machine.harness import Bools, Call, Outcome, Words, evaluate, mask_of, ops_of
from tests.machine.operands import DOUBLES, EXTREMES, rows_of, rows_of_pairs, words
from tests.machine.patterns import M32, M64, f32, f64
from tests.machine.references import LANEWISE, TRANSCENDENTAL
from tests.machine.warp_references import WARP, WARP_FLAGS

LANEWISE_FAMILIES = [
    Family.INT,
    Family.BITS,
    Family.F64,
    Family.F32,
    Family.CONVERT,
    Family.COMPARE,
    Family.PREDICATE,
]
ELSEWHERE = {
    "index": "test_addressing.py",
    "within": "test_addressing.py",
    "mufu.b32": "test_mufu.py",
    "sreg": "test_addressing.py",
    "activemask": "test_control.py",
    "livemask": "test_control.py",
}
"""Micro-ops that need more than operand rows."""

BITWISE = {"neg.f64", "abs.f64", "copysign.f64", "neg.f32", "abs.f32", "ftz.f32"}
"""Floating-point micro-ops that keep the bits of a NaN."""

ULPS = 4
"""How far the host's transcendental functions may be apart, in units in the last place."""


def immediates(op: str) -> list[int]:
    """The values of ``imm`` to try a micro-op with."""
    if op == "plop":
        return list(range(256))
    if op == "lop3.b32":
        return [*(1 << k for k in range(8)), 0, 0x96, 0xE8, 0xCA, 0xFF]
    if op == "prmt.b32":
        return list(range(len(PRMT_MODES)))
    if op == "dp4a.b32":
        return list(range(4))
    if op == "cvt.int.f64":
        return [t + 8 * r + 32 * z for t in range(len(INTEGER_TYPES)) for r in range(4) for z in (0, 1)]
    if ".rnd" in op:
        flags = (0, 16) if op == "cvt.rnd.f64" else (0,)
        return [f + 4 * r + k for f in range(len(ROUNDED_FORMATS)) for r in range(len(ROUNDINGS)) for k in flags]
    return [0]


def calls_of(family: Family) -> list[Call]:
    """Every micro-op of a family that has a per-lane reference, with each of its immediates."""
    return [Call(op, imm) for op in ops_of(family) if op in LANEWISE for imm in immediates(op)]


def operand_mask(call: Call) -> int:
    """The bits that an operand may have: float32 and float16 operands have zeros above."""
    parts = call.op.split(".")
    if call.op in ("add.rnd", "mul.rnd", "fma.rnd"):
        form = ROUNDED_FORMATS[call.imm & 3]
    else:
        form = parts[-1] if call.op != "powi.f32" else ""  # operand b is an integer there
    return {"f32": M32, "f16": 0xFFFF, "bf16": 0xFFFF}.get(form, M64)


def result_format(call: Call) -> str:
    """``f16``, ``f32`` or ``f64`` where the result is a float whose NaN may have any bits, else empty."""
    if call.op in BITWISE or MICRO_OPS[call.op].operands[0] == "p":
        return ""
    if call.op.endswith(".rnd") or call.op.startswith("cvt.rnd"):
        return "f64" if call.imm & 19 == 2 else ""
    if call.op.startswith("cvt."):
        return call.op.split(".")[1] if call.op.split(".")[1] in ROUNDED_FORMATS else ""
    return call.op.split(".")[-1] if MICRO_OPS[call.op].family in (Family.F64, Family.F32) else ""


def ordered(pattern: int) -> int:
    """float64 patterns as integers in the order of their values; neighbours differ by 1."""
    return -(pattern & 2**63 - 1) if pattern >> 63 else pattern


def same(call: Call, found: int, expected: int) -> bool:
    """Equal bits, or two NaN."""
    if found == expected:
        return True
    form = result_format(call)
    if call.op == "powi.f64" and abs(ordered(found) - ordered(expected)) <= ULPS:
        return True
    if form == "f64":
        return bool(np.isnan(f64(found)) and np.isnan(f64(expected)))
    return form == "f32" and found <= M32 and bool(np.isnan(f32(found)) and np.isnan(f32(expected)))


def check_calls(calls: list[Call], rows: Words) -> None:
    """Execute micro-ops on these operands, cut to the bits that they may have, and compare."""
    predicates = np.array([np.arange(rows.shape[1]) >> shift & 1 for shift in (2, 1, 0)], bool)
    for mask in (M64, M32, 0xFFFF):
        chosen = [call for call in calls if operand_mask(call) == mask]
        if chosen:
            narrow = rows & np.uint64(mask)
            check_lanes(chosen, narrow, predicates, evaluate(chosen, narrow, predicates))


def check_lanes(calls: list[Call], rows: Words, predicates: Bools, outcomes: list[Outcome]) -> None:
    """Each lane of each outcome equals the reference."""
    lanes = list(zip(*(row.tolist() for row in rows), strict=True))
    truths = list(zip(*(row.tolist() for row in predicates), strict=True))
    with np.errstate(all="ignore"):
        for call, outcome in zip(calls, outcomes, strict=True):
            reference = LANEWISE[call.op]
            letters = MICRO_OPS[call.op].operands[1:]
            for k, (registers, flags) in enumerate(zip(lanes, truths, strict=True)):
                operands = [f if x == "p" else r for x, r, f in zip(letters, registers, flags, strict=True)]
                expected = reference(*operands, call.imm)
                if MICRO_OPS[call.op].operands[0] == "r":
                    expected &= M64
                found = outcome.value[k].item()
                assert same(call, found, expected), (
                    f"{call}: a={registers[0]:#x} b={registers[1]:#x} c={registers[2]:#x} {flags}: "
                    f"{found:#x}, expected {expected:#x}"
                )


def test_every_micro_op_has_a_reference() -> None:
    strict = [*LANEWISE_FAMILIES, Family.WARP]
    known = {*LANEWISE, *TRANSCENDENTAL, *WARP, *ELSEWHERE}
    assert [op for op in ops_of(*strict) if op not in known] == []


@pytest.mark.parametrize("family", LANEWISE_FAMILIES, ids=lambda family: family.value)
def test_extremes(family: Family) -> None:
    """All pairs of extremes (all values for micro-ops of one operand; a sample for exact rational references)."""
    pairs = rows_of_pairs(EXTREMES[family])
    unary: list[Call] = []
    binary: list[Call] = []
    slow: list[Call] = []
    for call in calls_of(family):
        is_unary = MICRO_OPS[call.op].operands[2:] == "--"
        (unary if is_unary else slow if "fma" in call.op or "rnd" in call.op else binary).append(call)
    check_calls(unary, rows_of(EXTREMES[family]))
    check_calls(binary, pairs)
    check_calls(slow, pairs[:, : pairs.shape[1] // 32 * 32].reshape(3, 32, -1)[:, :, ::7][:, :, :20].reshape(3, -1))


@pytest.mark.parametrize("family", LANEWISE_FAMILIES, ids=lambda family: family.value)
@settings(max_examples=15)
@given(operands=st.lists(st.tuples(words, words, words), min_size=1, max_size=32))
def test_random_operands(family: Family, operands: list[tuple[int, int, int]]) -> None:
    rows = np.array((operands * 32)[:32], np.uint64).T.copy()
    check_calls(calls_of(family)[:: 16 if family is Family.PREDICATE else 1], rows)


@pytest.mark.parametrize("op", TRANSCENDENTAL)
def test_transcendental_functions_are_close(op: str) -> None:
    steps = np.linspace(-6, 6, 101)
    values = [*DOUBLES, *steps.view(np.uint64).tolist(), *(10.0**steps).view(np.uint64).tolist()]
    if MICRO_OPS[op].operands[2] == "r":
        rows = rows_of_pairs(DOUBLES)
        arguments = [(f64(a), f64(b)) for a, b in zip(rows[0], rows[1], strict=True)]
    else:
        rows = rows_of(values)
        arguments = [(f64(a),) for a in rows[0]]
    found = evaluate([Call(op)], rows)[0].value
    for given_arguments, pattern in zip(arguments, found.tolist(), strict=True):
        with np.errstate(all="ignore"):
            expected = np.float64(TRANSCENDENTAL[op](*given_arguments))
        if np.isnan(expected):
            assert np.isnan(f64(pattern)), (op, given_arguments)
        else:
            distance = abs(ordered(pattern) - ordered(int(expected.view(np.uint64))))
            # The hosts' gamma functions differ more, log gamma most where it crosses zero.
            close = "gamma" in op and np.isclose(f64(pattern), expected, rtol=1e-13, atol=1e-14)
            assert close or distance <= ULPS, (op, given_arguments, f64(pattern), expected)
            assert np.signbit(f64(pattern)) == np.signbit(expected), (op, given_arguments)


def warp_rows(seed: int, distinct: int) -> tuple[Words, Bools]:
    """Rows with few distinct values, so that lanes match, shuffle operands of every kind, and predicates."""
    rng = np.random.default_rng(seed)
    values = rng.choice(np.array(EXTREMES[Family.WARP], np.uint64), distinct)
    lanes = rng.integers(0, 40, 32).astype(np.uint64)
    segments = rng.choice(np.array([0, 16, 24, 28, 30, 31]), 32) << 8 | rng.choice(np.array([0, 7, 31]), 32)
    rows = np.array([rng.choice(values, 32), lanes, segments.astype(np.uint64)])
    density = rng.choice([0.0, 0.5, 1.0])
    return rows, rng.random((3, 32)) < density


@settings(max_examples=40)
@given(seed=st.integers(0, 2**32), distinct=st.integers(1, 6), mask=st.integers(1, M32))
def test_warp_micro_ops(seed: int, distinct: int, mask: int) -> None:
    check_warp(seed, distinct, mask)


@pytest.mark.parametrize("mask", [1, 1 << 31, 0x80000001, M32, 0xAAAAAAAA])
def test_warp_micro_ops_with_telling_masks(mask: int) -> None:
    for seed, distinct in itertools.product(range(3), (1, 2, 6)):
        check_warp(seed, distinct, mask)


def check_warp(seed: int, distinct: int, mask: int) -> None:
    """All micro-ops of the family under an exec mask: executing lanes get the result, the others keep theirs."""
    rows, predicates = warp_rows(seed, distinct)
    guard = np.array([mask >> lane & 1 for lane in range(32)], bool)
    initial = np.arange(100, 132, dtype=np.uint64)
    calls = [Call(op) for op in WARP]
    outcomes = evaluate(calls, rows, predicates, initial, guard)
    lanes = [lane for lane in range(32) if guard[lane]]
    a, b, c = (row.tolist() for row in rows)
    for call, outcome in zip(calls, outcomes, strict=True):
        first = predicates[0].tolist() if MICRO_OPS[call.op].operands[1] == "p" else a
        expected = WARP[call.op](first, b, c, lanes)
        before = initial if MICRO_OPS[call.op].operands[0] == "r" else initial & np.uint64(1)
        for lane in range(32):
            wanted = expected[lane] if guard[lane] else before[lane]
            assert outcome.value[lane] == wanted, (call, lane, hex(mask), hex(mask_of(predicates[0])))
        if outcome.flag is not None:
            flags = WARP_FLAGS[call.op](first, b, c, lanes)
            wanted_flags = [flags[lane] if guard[lane] else bool(initial[lane] & np.uint64(1)) for lane in range(32)]
            assert outcome.flag.tolist() == wanted_flags, (call, hex(mask))
