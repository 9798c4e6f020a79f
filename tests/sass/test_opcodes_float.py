"""Floating-point instructions and conversions on random operands, against exact fractions."""

from __future__ import annotations

import math
import struct
from fractions import Fraction

import numpy as np
import pytest

from tests.sass.assembler import COMPARISONS, LANES, MASK, Words, run_lanes, s32, words
from tests.sass.data import DATA


def f32(bits: int) -> float:
    return float(struct.unpack("<f", struct.pack("<I", bits & MASK))[0])


def round_f32(exact: Fraction, mode: str) -> int:
    """Bits of the float32 next to an exact number that is normal and not zero."""
    sign, magnitude = exact < 0, abs(exact)
    exponent = magnitude.numerator.bit_length() - magnitude.denominator.bit_length()
    exponent -= magnitude < Fraction(2) ** exponent
    scaled = magnitude / Fraction(2) ** (exponent - 23)
    whole, rest = divmod(scaled, 1)
    whole = int(whole)
    up = {
        "RN": rest > Fraction(1, 2) or (rest == Fraction(1, 2) and whole & 1),
        "RZ": False,
        "RM": sign and rest > 0,
        "RP": not sign and rest > 0,
    }[mode]
    value = math.ldexp(whole + bool(up), exponent - 23)
    return int(struct.unpack("<I", struct.pack("<f", -value if sign else value))[0])


def floats(seed: int) -> Words:
    random = np.random.RandomState(seed)
    return (random.standard_normal(LANES) * np.exp(random.uniform(-5, 5, LANES))).astype(np.float32).view(np.uint32)


@pytest.mark.parametrize("mode", ["RN", "RZ", "RM", "RP"])
@pytest.mark.parametrize("name", ["FADD", "FMUL", "FFMA"])
def test_float32_rounding(name: str, mode: str) -> None:
    inputs = {4: floats(1), 5: floats(2), 6: floats(3)}
    sources = "R4, R5, R6" if name == "FFMA" else "R4, -R5"
    suffix = "" if mode == "RN" else f".{mode}"
    found, _ = run_lanes([f"{name}{suffix} R8, {sources}"], inputs, [8])
    for k in range(LANES):
        a, b, c = (Fraction(f32(int(inputs[r][k]))) for r in (4, 5, 6))
        exact = {"FADD": a - b, "FMUL": -a * b, "FFMA": a * b + c}[name]
        assert int(found[8][k]) == round_f32(exact, mode)


def test_float32_modifiers() -> None:
    tiny, big, nan = 0x00000007, 0x7F7FFFFF, 0x7FC00000
    a = np.resize(np.array([tiny, big, nan, 0xC0000000, 0x3F000000, 0x80000001], np.uint32), LANES)
    lines = [
        "FADD.FTZ R8, R4, RZ",
        "FADD.SAT R9, R4, RZ",
        "FMUL R10, |R4|, -2",
        "FMNMX R11, R4, 1, PT",
        "FSEL R12, -R4, R4, PT",
    ]
    found, _ = run_lanes(lines, {4: a}, [8, 9, 10, 11, 12])
    assert [hex(x) for x in found[8][:6]] == ["0x0", "0x7f7fffff", "0x7fffffff", "0xc0000000", "0x3f000000", "0x0"]
    assert [hex(x) for x in found[9][:6]] == ["0x7", "0x3f800000", "0x0", "0x0", "0x3f000000", "0x0"]
    assert [hex(x) for x in found[10][:6]] == [
        "0x8000000e",
        "0xff800000",
        "0x7fffffff",
        "0xc0800000",
        "0xbf800000",
        "0x80000002",
    ]
    assert [hex(x) for x in found[11][:6]] == [
        "0x7",
        "0x3f800000",
        "0x3f800000",
        "0xc0000000",
        "0x3f000000",
        "0x80000001",
    ]
    assert [hex(x) for x in found[12][:2]] == ["0x80000007", "0xff7fffff"]


ORDERED = {**COMPARISONS, "NE": lambda a, b: a < b or a > b}


@pytest.mark.parametrize("compare", [*ORDERED, *(f"{name}U" for name in ORDERED), "NUM", "NAN"])
def test_fsetp(compare: str) -> None:
    a, b = floats(1), floats(2)
    b[:6] = a[:6]
    a[3], b[4], a[5], b[5], a[7] = 0x7FC00000, 0x7FC00000, 0, 0x80000000, 0x7F800000
    _, found = run_lanes([f"FSETP.{compare}.AND P0, P1, R4, R5, PT"], {4: a, 5: b}, [], [0, 1])
    for k in range(LANES):
        x, y = f32(int(a[k])), f32(int(b[k]))
        unordered = x != x or y != y
        if compare in ("NUM", "NAN"):
            expected = unordered == (compare == "NAN")
        elif compare.endswith("U"):
            expected = unordered or ORDERED[compare[:-1]](x, y)
        else:
            expected = not unordered and ORDERED[compare](x, y)
        assert bool(found[0][k]) == expected
        assert bool(found[1][k]) == (not expected)


@pytest.mark.parametrize("rounding", ["", ".FLOOR", ".CEIL", ".TRUNC"])
@pytest.mark.parametrize("typ", ["", ".U32", ".S64", ".U64"])
def test_f2i(rounding: str, typ: str) -> None:
    values = np.array(
        [0.5, 1.5, 2.5, -0.5, -1.5, -2.5, 0.0, -0.0, 3e9, -3e9, 5e9, 1e19, 2e19, -1e19, np.inf, -np.inf, np.nan, 1e-40]
        + [123.456, -7.75, 2147483648.0, 4294967296.0, 16777217.0, 0.9999999] + [1.0] * 8,
        np.float32,
    )  # fmt: skip
    found, _ = run_lanes([f"F2I{typ}{rounding}.NTZ R8, R4"], {4: values.view(np.uint32)}, [8, 9])
    bits, signed = (64 if "64" in typ else 32), typ in ("", ".S64")
    low, high = (-(1 << bits - 1), (1 << bits - 1) - 1) if signed else (0, (1 << bits) - 1)
    convert = {"": round, ".FLOOR": math.floor, ".CEIL": math.ceil, ".TRUNC": math.trunc}[rounding]
    for k, value in enumerate(map(float, values)):
        if value != value:
            expected = 0
        elif math.isinf(value):
            expected = high if value > 0 else low
        else:
            expected = max(low, min(high, convert(value)))
        got = int(found[8][k]) | (int(found[9][k]) << 32 if bits == 64 else 0)
        assert got == expected & (1 << bits) - 1, value


@pytest.mark.parametrize("form", ["F16", "BF16"])
@pytest.mark.parametrize("function", ["EX2", "TANH"])
def test_mufu_of_16_bits(function: str, form: str) -> None:
    """As an H200 has it: every seventh operand."""
    measured = np.load(DATA.parent / "hardware" / "mufu_half.npz")
    operands, results = measured["operands"], measured[f"{function}.{form}".lower()]
    for first in range(0, len(operands) - LANES, LANES):
        lanes = slice(first, first + LANES)
        found, _ = run_lanes([f"MUFU.{function}.{form} R8, R4"], {4: operands[lanes].astype(np.uint32)}, [8])
        assert (found[8] == results[lanes]).all()


@pytest.mark.parametrize("form", ["F16", "BF16"])
def test_f2i_of_an_immediate_in_16_bits(form: str) -> None:
    found, _ = run_lanes([f"F2I.S16.{form}.TRUNC.NTZ R8, 3.140625", f"F2F.F32.{form} R9, -0.5"], {}, [8, 9])
    assert (found[8] == 3).all()
    assert (found[9].view(np.float32) == -0.5).all()


@pytest.mark.parametrize(("typ", "mode"), [("", "RN"), (".U32", "RP"), (".U32", "RZ"), ("", "RM")])
def test_i2f(typ: str, mode: str) -> None:
    inputs = {4: words(1)}
    inputs[4][inputs[4] == 0] = 3
    suffix = "" if mode == "RN" else f".{mode}"
    found, _ = run_lanes([f"I2F{typ}{suffix} R8, R4"], inputs, [8])
    for k in range(LANES):
        x = int(inputs[4][k])
        assert int(found[8][k]) == round_f32(Fraction(x if typ else s32(x)), mode)


def test_float64_and_conversions() -> None:
    a, b = floats(1), floats(2)
    lines = [
        "F2F.F64.F32 R10, R4",
        "F2F.F64.F32 R12, R5",
        "DFMA R14, R10, -R12, R10",
        "DADD.RZ R16, R14, R12",
        "F2F.F32.F64.RM R18, R16",
        "DSETP.GT.AND P0, PT, R10, R12, PT",
        "I2F.F64.S64 R20, R10",
        "FRND.FLOOR R22, R4",
    ]
    found, predicates = run_lanes(lines, {4: a, 5: b}, [14, 15, 18, 20, 21, 22], [0])
    for k in range(LANES):
        x, y = f32(int(a[k])), f32(int(b[k]))
        fused = float(Fraction(x) - Fraction(x) * Fraction(y))
        assert struct.pack("<II", int(found[14][k]), int(found[15][k])) == struct.pack("<d", fused)
        assert bool(predicates[0][k]) == (x > y)
        assert f32(int(found[22][k])) == math.floor(x)
        (bits,) = struct.unpack("<q", struct.pack("<d", x))
        assert struct.pack("<II", int(found[20][k]), int(found[21][k])) == struct.pack("<d", float(bits))


def test_packed_halves() -> None:
    random = np.random.RandomState(4)
    halves = [random.standard_normal((LANES, 2)).astype(np.float16) for _ in range(3)]
    inputs = {4 + k: h.view(np.uint32).ravel() for k, h in enumerate(halves)}
    lines = [
        "HADD2 R8, R4, -R5.H0_H0",
        "HMUL2 R9, R4.H1_H1, R5",
        "HFMA2 R10, R4, R5, R6",
        "HFMA2.MMA R11, -RZ, RZ, 1.875, 0",
        "HADD2.F32 R12, -RZ, R4.H1_H1",
        "F2FP.F16.F32.PACK_AB R13, R12, RZ",
        "HSETP2.LT.AND P0, P1, R4, R5, PT",
    ]
    found, predicates = run_lanes(lines, inputs, [8, 9, 10, 11, 12, 13], [0, 1])
    a, b, c = (h.astype(np.float64) for h in halves)

    def packed(values: np.ndarray) -> list[int]:
        return values.astype(np.float16).view(np.uint32).ravel().tolist()

    assert found[8].tolist() == packed(a - b[:, :1])
    assert found[9].tolist() == packed(a[:, 1:] * b)
    assert found[10].tolist() == packed(a * b + c)  # exact in float64, then one rounding
    assert set(found[11].tolist()) == {0x3F800000}
    assert found[12].view(np.float32).tolist() == halves[0][:, 1].astype(np.float32).tolist()
    assert (found[13] >> 16).tolist() == halves[0][:, 1].view(np.uint16).tolist()
    assert predicates[0].tolist() == (a < b)[:, 0].tolist()
    assert predicates[1].tolist() == (a < b)[:, 1].tolist()


def test_flush_of_packed_halves() -> None:
    """FTZ: denormal operands and results become zeros of their sign; without it, nothing is flushed."""
    random = np.random.RandomState(5)
    a, b = (random.randint(0, 2**16, (LANES, 2)).astype(np.uint16) for _ in range(2))
    a[::2] &= 0x83FF  # denormal
    a, b = (np.where((v & 0x7C00) == 0x7C00, v & 0x83FF, v) for v in (a, b))  # finite
    found, _ = run_lanes(
        ["HADD2.FTZ R8, R4, R5", "HADD2 R9, R4, R5"],
        {4: a.view(np.uint32).ravel(), 5: b.view(np.uint32).ravel()},
        [8, 9],
    )

    def flushed(values: np.ndarray) -> np.ndarray:
        return np.where((values.view(np.uint16) & 0x7C00) == 0, values.view(np.uint16) & 0x8000, values.view(np.uint16))

    with np.errstate(over="ignore"):
        kept = a.view(np.float16) + b.view(np.float16)
        total = flushed(a).view(np.float16) + flushed(b).view(np.float16)
    assert found[8].tolist() == flushed(total).view(np.uint32).ravel().tolist()
    assert found[9].tolist() == kept.view(np.uint32).ravel().tolist()


def test_floats_to_bytes() -> None:
    """F2IP: two float32 rounded and saturated to bytes, above them the lower half of c."""
    random = np.random.RandomState(6)
    a, b = (random.uniform(-200, 400, LANES).astype(np.float32) for _ in range(2))
    a[:2], b[:2] = (2.5, np.nan), (np.inf, -np.inf)
    inputs = {4: a.view(np.uint32), 5: b.view(np.uint32), 6: words(7)}
    found, _ = run_lanes(["F2IP.U8.F32.NTZ R8, R4, R5, R6"], inputs, [8])
    high, low = (np.nan_to_num(np.clip(np.rint(v), 0, 255), nan=0).astype(np.uint32) for v in (a, b))
    assert found[8].tolist() == (high << 8 | low | inputs[6] << 16).tolist()


def test_fchk_bounds() -> None:
    """Where a float32 division needs its slow path, as measured: the bounds from both sides."""
    pairs = [(24, 24), (25, 25), (254, 130), (255, 200), (100, 1), (60, 2), (130, 251), (130, 252)]
    pairs += [(26, 150), (26, 151), (200, 74), (200, 73)]
    a = np.resize(np.array([x << 23 for x, _ in pairs], np.uint32), LANES)
    b = np.resize(np.array([y << 23 for _, y in pairs], np.uint32), LANES)
    _, found = run_lanes(["FCHK P0, R4, R5"], {4: a, 5: b}, [], [0])
    slow = [True, False, False, True, True, False, False, True, False, True, False, True]
    assert found[0][: len(pairs)].tolist() == slow


def test_the_upper_word_of_a_float64_written_as_a_number() -> None:
    lines = ["MOV R4, 0x40080000", "MUFU.RCP64H R8, R4", "MUFU.RCP64H R9, 3"]
    found, _ = run_lanes(lines, {}, [8, 9])
    assert found[8].tolist() == found[9].tolist() == [0x3FD55555] * LANES


def test_half_constants_need_two_zero_factors() -> None:
    """``HFMA2 d, 0, 0, x, y`` loads constants; with one factor it multiplies, and infinity times zero is no number."""
    infinite = np.full(LANES, 0x7C007C00, np.uint32)
    lines = ["HFMA2 R8, -RZ, RZ, 1.5, 0.5", "HFMA2 R9, R4, RZ, 1.5, 0.5", "HFMA2 R10, RZ, R4, 1.5, 0.5"]
    found, _ = run_lanes(lines, {4: infinite}, [8, 9, 10])
    assert found[8].view(np.float16).tolist() == [0.5, 1.5] * LANES
    assert np.isnan(found[9].view(np.float16)).all()
    assert np.isnan(found[10].view(np.float16)).all()
