"""Single instructions on random operands, against plain Python integers and fractions."""

from __future__ import annotations

import math
import struct
from collections.abc import Callable
from fractions import Fraction

import numpy as np
import pytest

from tests.sass.assembler import LANES, Words, run_lanes

MASK = 0xFFFFFFFF
EXTREMES = [
    0,
    1,
    2,
    31,
    32,
    33,
    63,
    64,
    0x7FFFFFFF,
    0x80000000,
    0x80000001,
    0xFFFFFFFF,
    0xFFFFFFFE,
    0x10000,
    0xFFFF,
]


def words(seed: int) -> Words:
    """One value per lane, half of them extremes."""
    random = np.random.RandomState(seed)
    values = random.randint(0, 2**32, LANES).astype(np.uint32)
    some = random.rand(LANES) < 0.5
    values[some] = random.choice(np.array(EXTREMES, np.uint32), some.sum())
    return values


def s32(x: int) -> int:
    return (x & MASK) - ((x & 0x80000000) << 1)


def s64(x: int) -> int:
    return (x & (1 << 64) - 1) - ((x >> 63 & 1) << 64)


def lop3(a: int, b: int, c: int, table: int) -> int:
    return sum((table >> (4 * (a >> k & 1) + 2 * (b >> k & 1) + (c >> k & 1)) & 1) << k for k in range(32))


def prmt(a: int, s: int, c: int) -> int:
    source = [(c << 32 | a) >> 8 * k & 255 for k in range(8)]
    result = 0
    for k in range(4):
        pick = s >> 4 * k & 15
        byte = source[pick & 7]
        result |= (255 * (byte >> 7) if pick & 8 else byte) << 8 * k
    return result


def flo(x: int) -> int:
    return x.bit_length() - 1 if x else MASK


# (instruction, f(a, b, c) of R4, R5, R6) -> R8
INTEGER: list[tuple[str, Callable[[int, int, int], int]]] = [
    ("MOV R8, R4", lambda a, b, c: a),
    ("IADD3 R8, R4, R5, R6", lambda a, b, c: a + b + c),
    ("IADD3 R8, -R4, R5, -R6", lambda a, b, c: -a + b - c),
    ("IADD3 R8, R4, 0xffffffe, ~R6", lambda a, b, c: a + 0xFFFFFFE + ~c),
    ("VIADD R8, R4, -R5", lambda a, b, c: a - b),
    ("IMAD R8, R4, R5, R6", lambda a, b, c: a * b + c),
    ("IMAD R8, R4, -R5, R6", lambda a, b, c: -a * b + c),
    ("IMAD.IADD R8, R4, 0x1, -R6", lambda a, b, c: a - c),
    ("IMAD.MOV.U32 R8, RZ, RZ, R6", lambda a, b, c: c),
    ("IMAD.SHL.U32 R8, R4, 0x100, RZ", lambda a, b, c: a << 8),
    ("IMAD.HI R8, R4, R5, RZ", lambda a, b, c: s32(a) * s32(b) >> 32),
    ("IMAD.HI.U32 R8, R4, R5, RZ", lambda a, b, c: a * b >> 32),
    ("IMAD.HI.U32 R8, R4, R5, R4", lambda a, b, c: a * b + (b << 32 | a) >> 32),
    ("LEA R8, R4, R5, 0x3", lambda a, b, c: (a << 3) + b),
    ("LEA.HI R8, R4, R5, R6, 0x5", lambda a, b, c: ((c << 32 | a) << 5 >> 32) + b),
    ("LEA.HI.SX32 R8, R4, R5, 0x1e", lambda a, b, c: (s32(a) << 30 >> 32) + b),
    ("SHF.L.U32 R8, R4, R5, RZ", lambda a, b, c: a << min(b, 32)),
    ("SHF.L.U32.HI R8, R4, R5, R6", lambda a, b, c: (c << 32 | a) << min(b, 32) >> 32),
    ("SHF.L.W.U32.HI R8, R4, R5, R6", lambda a, b, c: (c << 32 | a) << (b & 31) >> 32),
    ("SHF.R.W.U32 R8, R4, R5, R6", lambda a, b, c: (c << 32 | a) >> (b & 31)),
    ("SHF.R.U32.HI R8, RZ, R5, R6", lambda a, b, c: c >> min(b, 32)),
    ("SHF.R.S32.HI R8, RZ, R5, R6", lambda a, b, c: s32(c) >> min(b, 32)),
    ("SHF.L.U64.HI R8, R4, R5, R6", lambda a, b, c: (c << 32 | a) << min(b, 64) >> 32),
    ("SHF.R.U64 R8, R4, R5, R6", lambda a, b, c: (c << 32 | a) >> min(b, 64)),
    ("SHF.R.S64 R8, R4, R5, R6", lambda a, b, c: s64(c << 32 | a) >> min(b, 64)),
    ("LOP3.LUT R8, R4, R5, R6, 0x96, !PT", lambda a, b, c: a ^ b ^ c),
    ("LOP3.LUT R8, R4, R5, R6, 0xca, !PT", lambda a, b, c: lop3(a, b, c, 0xCA)),
    ("LOP3.LUT R8, R4, 0xff, RZ, 0xc0, !PT", lambda a, b, c: a & 255),
    ("LOP3.LUT R8, RZ, R5, RZ, 0x33, !PT", lambda a, b, c: ~b),
    ("PRMT R8, R4, R5, R6", prmt),
    ("PRMT R8, R4, 0x8880, RZ", lambda a, b, c: prmt(a, 0x8880, 0)),
    ("PRMT R8, R4, 0x5410, R6", lambda a, b, c: prmt(a, 0x5410, c)),
    ("IABS R8, R4", lambda a, b, c: abs(s32(a))),
    ("POPC R8, R4", lambda a, b, c: a.bit_count()),
    ("POPC R8, ~R4", lambda a, b, c: 32 - a.bit_count()),
    ("BREV R8, R4", lambda a, b, c: int(f"{a:032b}"[::-1], 2)),
    ("FLO.U32 R8, R4", lambda a, b, c: flo(a)),
    ("FLO.U32.SH R8, R4", lambda a, b, c: 31 - flo(a) if a else MASK),
    ("FLO R8, R4", lambda a, b, c: flo(~a & MASK if a >> 31 else a)),
    ("SGXT R8, R4, 0xd", lambda a, b, c: s32((a & 0x1FFF) << 19) >> 19),
    ("SGXT.U32 R8, R4, R5", lambda a, b, c: a & (1 << min(b, 32)) - 1),
    ("BMSK R8, R4, R5", lambda a, b, c: ((1 << min(b, 32)) - 1) << a if a < 32 else 0),
    ("SEL R8, R4, R5, P0", lambda a, b, c: a if c & 1 else b),
    ("VIMNMX R8, R4, R5, PT", lambda a, b, c: min(s32(a), s32(b))),
    ("VIMNMX.U32 R8, R4, R5, !PT", lambda a, b, c: max(a, b)),
    ("VIMNMX R8, R4, R5, P0", lambda a, b, c: min(s32(a), s32(b)) if c & 1 else max(s32(a), s32(b))),
    ("VIMNMX3 R8, R4, R5, R6, !PT", lambda a, b, c: max(s32(a), s32(b), s32(c))),
    ("VIADDMNMX.U32 R8, R4, R5, R6, PT", lambda a, b, c: min(a + b & MASK, c)),
    ("VIADDMNMX R8, R4, R5, R6, !PT", lambda a, b, c: max(s32(a + b), s32(c))),
    ("VIMNMX3.U32 R8, R4, R5, R6, PT", lambda a, b, c: min(a, b, c)),
    ("IDP.2A.LO.U16.U8 R8, R4, R5, R6", lambda a, b, c: c + (a & 0xFFFF) * (b & 255) + (a >> 16) * (b >> 8 & 255)),
    ("IDP.2A.HI.U16.U8 R8, R4, R5, R6", lambda a, b, c: c + (a & 0xFFFF) * (b >> 16 & 255) + (a >> 16) * (b >> 24)),
    ("VABSDIFF R8, R4, R5, R6", lambda a, b, c: abs(s32(a) - s32(b)) + c),
    ("VABSDIFF.U32 R8, R4, R5, R6", lambda a, b, c: abs(a - b) + c),
    (
        "IDP.4A.S8.U8 R8, R4, R5, R6",
        lambda a, b, c: c + sum(((a >> k & 255 ^ 128) - 128) * (b >> k & 255) for k in (0, 8, 16, 24)),
    ),
    (
        "VIMNMX.S16x2 R8, R4, R5, !PT",
        lambda a, b, c: sum(
            (max((a >> k & MASK >> 16 ^ 0x8000) - 0x8000, (b >> k & 0xFFFF ^ 0x8000) - 0x8000) & 0xFFFF) << k
            for k in (0, 16)
        ),
    ),
    ("P2R R8, PR, R4, 0x1", lambda a, b, c: a & ~1 | c & 1),
    ("@P0 MOV R8, R4", lambda a, b, c: a if c & 1 else 0),
    ("@!P0 IADD3 R8, R4, R5, RZ", lambda a, b, c: 0 if c & 1 else a + b),
]


@pytest.mark.parametrize(("text", "reference"), INTEGER, ids=[text for text, _ in INTEGER])
def test_integer(text: str, reference: Callable[[int, int, int], int]) -> None:
    inputs = {4: words(1), 5: words(2), 6: words(3)}
    before = ["LOP3.LUT R7, R6, 0x1, RZ, 0xc0, !PT", "ISETP.EQ.U32.AND P0, PT, R7, 0x1, PT", "MOV R8, RZ"]
    found, _ = run_lanes([*before, text], inputs, [8])
    expected = [reference(*(int(inputs[r][lane]) for r in (4, 5, 6))) & MASK for lane in range(LANES)]
    assert found[8].tolist() == expected


@pytest.mark.parametrize(
    ("text", "reference"),
    [
        ("IMAD.WIDE R8, R4, R5, R6", lambda a, b, c: s32(a) * s32(b) + c),
        ("IMAD.WIDE.U32 R8, R4, R5, R6", lambda a, b, c: a * b + c),
        ("IMAD.WIDE R8, R4, -0x5, R6", lambda a, b, c: s32(a) * -5 + c),
        ("CS2R R8, SRZ", lambda a, b, c: 0),
    ],
)
def test_wide_results(text: str, reference: Callable[[int, int, int], int]) -> None:
    inputs = {4: words(1), 5: words(2), 6: words(3), 7: words(4)}
    found, _ = run_lanes([text], inputs, [8, 9])
    for lane in range(LANES):
        c = int(inputs[7][lane]) << 32 | int(inputs[6][lane])
        expected = reference(int(inputs[4][lane]), int(inputs[5][lane]), c) & (1 << 64) - 1
        assert int(found[9][lane]) << 32 | int(found[8][lane]) == expected


@pytest.mark.parametrize("sign", [1, -1])
def test_carry_chains_of_volta(sign: int) -> None:
    """A 64-bit sum or difference of register pairs (R5:R4) and (R7:R6) as the compiler writes it."""
    inputs = {4: words(1), 5: words(2), 6: words(3), 7: words(4)}
    minus, invert = ("", "") if sign > 0 else ("-", "~")
    lines = [f"IADD3 R8, P0, R4, {minus}R6, RZ", f"IADD3.X R9, R5, {invert}R7, RZ, P0, !PT"]
    found, _ = run_lanes(lines, inputs, [8, 9])
    wide = [[int(inputs[r + 1][k]) << 32 | int(inputs[r][k]) for k in range(LANES)] for r in (4, 6)]
    expected = [(a + sign * b) & (1 << 64) - 1 for a, b in zip(*wide, strict=True)]
    assert [int(high) << 32 | int(low) for high, low in zip(found[9], found[8], strict=True)] == expected


def test_two_carries_and_wide_multiply_with_carry() -> None:
    inputs = {4: words(1), 5: words(2), 6: words(3), 7: words(4)}
    lines = ["IADD3 R8, P1, P2, R4, R5, R6", "IMAD.WIDE.U32 R10, P3, R4, R5, R6"]
    found, predicates = run_lanes(lines, inputs, [8, 10, 11], [1, 2, 3])
    for k in range(LANES):
        a, b, c, d = (int(inputs[r][k]) for r in (4, 5, 6, 7))
        assert (a + b + c) >> 32 == int(predicates[1][k]) + int(predicates[2][k])
        total = a * b + (d << 32 | c)
        assert int(found[11][k]) << 32 | int(found[10][k]) == total & (1 << 64) - 1
        assert bool(predicates[3][k]) == bool(total >> 64)


def test_carry_chains_of_pascal() -> None:
    inputs = {4: words(1), 5: words(2), 6: words(3), 7: words(4)}
    lines = ["IADD R8.CC, R4, R6", "IADD.X R9, R5, R7", "IADD R10.CC, R4, -R6", "IADD.X R11, R5, ~R7"]
    found, _ = run_lanes(lines, inputs, [8, 9, 10, 11], architecture=61)
    for k in range(LANES):
        a, b = (int(inputs[r + 1][k]) << 32 | int(inputs[r][k]) for r in (4, 6))
        assert int(found[9][k]) << 32 | int(found[8][k]) == (a + b) & (1 << 64) - 1
        assert int(found[11][k]) << 32 | int(found[10][k]) == (a - b) & (1 << 64) - 1


XMAD: list[tuple[str, Callable[[int, int, int], int]]] = [
    ("XMAD R8, R4, R5, R6", lambda a, b, c: (a & 0xFFFF) * (b & 0xFFFF) + c),
    ("XMAD R8, R4.H1, R5.H1, R6", lambda a, b, c: (a >> 16) * (b >> 16) + c),
    ("XMAD.PSL R8, R4.H1, R5, R6", lambda a, b, c: ((a >> 16) * (b & 0xFFFF) << 16) + c),
    ("XMAD.CHI R8, R4, R5, R6", lambda a, b, c: (a & 0xFFFF) * (b & 0xFFFF) + (c >> 16)),
    ("XMAD.MRG R8, R4, R5.H1, R6", lambda a, b, c: (a & 0xFFFF) * (b >> 16) + c & 0xFFFF | b << 16),
    ("XMAD.PSL.CBCC R8, R4.H1, R5.H1, R6", lambda a, b, c: ((a >> 16) * (b >> 16) << 16) + c + (b << 16)),
    ("IADD3.RS R8, R4, R5, R6", lambda a, b, c: (a + b >> 16) + c),
    ("ISCADD R8, R4, R5, 0x3", lambda a, b, c: (a << 3) + b),
    ("SHR R8, R4, R5", lambda a, b, c: s32(a) >> min(b, 31)),
    ("SHR.U32.W R8, R4, R5", lambda a, b, c: a >> (b & 31)),
    ("LOP.XOR R8, R4, ~R5", lambda a, b, c: a ^ ~b),
    ("LOP.PASS_B R8, RZ, ~R5", lambda a, b, c: ~b),
    ("LOP32I.AND R8, R4, 0xff00", lambda a, b, c: a & 0xFF00),
    ("BFE.U32 R8, R4, 0x508", lambda a, b, c: a >> 8 & 31),
    ("BFE R8, R4, 0x508", lambda a, b, c: s32((a >> 8 & 31) << 27) >> 27),
    ("BFI R8, R4, 0x508, R6", lambda a, b, c: c & ~0x1F00 | (a & 31) << 8),
    ("I2I.S32.S32 R8, |R4|", lambda a, b, c: abs(s32(a))),
    ("I2I.U8.U32.SAT R8, R4", lambda a, b, c: min(a, 255)),
    ("ICMP.LT R8, R4, R5, R6", lambda a, b, c: a if s32(c) < 0 else b),
    ("IMNMX.U32 R8, R4, R5, PT", lambda a, b, c: min(a, b)),
]  # fmt: skip


@pytest.mark.parametrize(("text", "reference"), XMAD, ids=[text for text, _ in XMAD])
def test_pascal(text: str, reference: Callable[[int, int, int], int]) -> None:
    inputs = {4: words(1), 5: words(2), 6: words(3)}
    found, _ = run_lanes([text], inputs, [8], architecture=61)
    assert found[8].tolist() == [reference(*(int(inputs[r][lane]) for r in (4, 5, 6))) & MASK for lane in range(LANES)]


def test_32_bit_product_from_xmads() -> None:
    """The three instructions with which Pascal multiplies, as the compiler writes them."""
    inputs = {4: words(5), 5: words(6)}
    lines = [
        "XMAD.MRG R6, R4, R5.H1, RZ",
        "XMAD R7, R4, R5, RZ",
        "XMAD.PSL.CBCC R8, R4.H1, R6.H1, R7",
    ]
    found, _ = run_lanes(lines, inputs, [8], architecture=61)
    assert found[8].tolist() == [int(a) * int(b) & MASK for a, b in zip(inputs[4], inputs[5], strict=True)]


COMPARISONS = {
    "EQ": lambda a, b: a == b,
    "NE": lambda a, b: a != b,
    "LT": lambda a, b: a < b,
    "LE": lambda a, b: a <= b,
    "GT": lambda a, b: a > b,
    "GE": lambda a, b: a >= b,
}


@pytest.mark.parametrize("compare", COMPARISONS)
@pytest.mark.parametrize("typ", ["", ".U32"])
@pytest.mark.parametrize("combine", ["AND", "OR", "XOR"])
def test_isetp(compare: str, typ: str, combine: str) -> None:
    a, b, c = words(1), words(2), words(3)
    b[:8] = a[:8]
    lines = [
        "ISETP.GE.AND P3, PT, R6, RZ, PT",
        f"ISETP.{compare}{typ}.{combine} P0, P1, R4, R5, P3",
        f"@P3 ISETP.{compare}{typ}.{combine} P3, PT, R4, R5, !P3",
    ]
    _, found = run_lanes(lines, {4: a, 5: b, 6: c}, [], [0, 1, 3])
    for k in range(LANES):
        x, y = (int(v[k]) if typ else s32(int(v[k])) for v in (a, b))
        holds, other = COMPARISONS[compare](x, y), s32(int(c[k])) >= 0
        op = {"AND": bool.__and__, "OR": bool.__or__, "XOR": bool.__xor__}[combine]
        assert bool(found[0][k]) == op(holds, other)
        assert bool(found[1][k]) == op(not holds, other)
        assert bool(found[3][k]) == (op(holds, False) if other else False)


@pytest.mark.parametrize("compare", COMPARISONS)
@pytest.mark.parametrize("typ", ["", ".U32"])
def test_64_bit_comparison(compare: str, typ: str) -> None:
    inputs = {4: words(1), 5: words(2), 6: words(3), 7: words(4)}
    inputs[7][:16] = inputs[5][:16]
    inputs[6][:8] = inputs[4][:8]
    lines = [
        f"ISETP.{compare}.U32.AND P0, PT, R4, R6, PT",
        f"ISETP.{compare}{typ}.AND.EX P1, PT, R5, R7, PT, P0",
    ]
    _, found = run_lanes(lines, inputs, [], [1])
    for k in range(LANES):
        a, b = (int(inputs[r + 1][k]) << 32 | int(inputs[r][k]) for r in (4, 6))
        expected = COMPARISONS[compare](a, b) if typ else COMPARISONS[compare](s64(a), s64(b))
        assert bool(found[1][k]) == expected


def test_predicate_logic() -> None:
    inputs = {4: words(1)}
    lines = ["R2P PR, R4, 0x7", "PLOP3.LUT P3, P4, P0, P1, !P2, 0xe8, 0x1", "P2R R8, PR, RZ, 0x7f"]
    found, predicates = run_lanes(lines, inputs, [8], [0, 1, 2, 3, 4])
    for k in range(LANES):
        a, b, c = (int(inputs[4][k]) >> bit & 1 for bit in range(3))
        index = 4 * a + 2 * b + (1 - c)
        expected = [a, b, c, 0xE8 >> index & 1, 0x01 >> index & 1]
        assert [int(predicates[p][k]) for p in range(5)] == expected
        assert int(found[8][k]) == sum(bit << p for p, bit in enumerate(expected))


# Floating point: exact references


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


# Memory, warp, control


@pytest.mark.parametrize("width", [8, 16, 32, 64, 128])
def test_shared_memory(width: int) -> None:
    """Each lane stores its own and loads its neighbour's; addresses wrap at 32 bits."""
    registers, step = max(width // 32, 1), width // 8
    inputs = {4 + k: words(k) for k in range(4)}
    store = {8: ".U8", 16: ".U16", 32: "", 64: ".64", 128: ".128"}[width]
    load = {8: ".S8", 16: ".S16"}.get(width, store)
    lines = [
        f"IMAD R9, R200, {hex(step)}, -0x10",
        f"STS{store} [R9+0x10], R4",
        "BAR.SYNC.DEFER_BLOCKING 0x0",
        "LOP3.LUT R10, R200, 0x1, RZ, 0x3c, !PT",
        f"IMAD R10, R10, {hex(step)}, RZ",
        f"LDS{load} R12, [R10]",
    ]
    outputs = list(range(12, 12 + registers))
    found, _ = run_lanes(lines, inputs, outputs, shared_bytes=LANES * step)
    for k in range(registers):
        expected = inputs[4 + k][np.arange(LANES) ^ 1]
        if width < 32:
            expected = expected.astype(f"u{step}").view(f"i{step}").astype(np.int32).view(np.uint32)
        assert found[12 + k].tolist() == expected.tolist()


@pytest.mark.parametrize("zeros", ["", ".ZFILL"])
def test_copies_to_shared_memory(zeros: str) -> None:
    """LDGSTS (cp.async): where the predicate is false, zeros are stored."""
    inputs = {4: words(8)}
    lines = [
        "LDC.64 R202, c[0x0][0x210]",
        "IMAD.WIDE.U32 R202, R200, 0x4, R202",
        "SHF.L.U32 R9, R200, 0x2, RZ",
        "LOP3.LUT R10, R200, 0x1, RZ, 0xc0, !PT",
        "ISETP.EQ.U32.AND P0, PT, R10, 0x1, PT",
        f"LDGSTS.E{zeros} [R9], [R202.64], P0",
        "LDGDEPBAR",
        "DEPBAR.LE SB0, 0x0",
        "LDS R8, [R9]",
    ]
    found, _ = run_lanes(lines, inputs, [8], shared_bytes=4 * LANES)
    assert found[8].tolist() == np.where(np.arange(LANES) & 1, inputs[4], 0).tolist()


def test_shared_atomics() -> None:
    lines = [
        "MOV R8, RZ",
        "ATOMS.ADD R9, [R8], R4",
        "ATOMS.MAX.S32 R10, [R8+0x4], R4",
        "ATOMS.CAS R11, [R8+0x8], RZ, R4",
        "ATOMS.POPC.INC.32 RZ, [R8+0xc]",
        "LDS.128 R12, [R8]",
    ]
    a = words(3) | np.uint32(1)
    found, _ = run_lanes(lines, {4: a}, [9, 10, 11, 12, 13, 14, 15], shared_bytes=16)
    sums = np.cumsum(np.concatenate([np.zeros(1, np.uint64), a.astype(np.uint64)])) & np.uint64(MASK)
    assert found[9].tolist() == sums[:-1].tolist()
    signed = a.view(np.int32).tolist()
    assert found[10].view(np.int32).tolist() == [max(0, *signed[:k]) if k else 0 for k in range(LANES)]
    assert found[11].tolist() == [0] + [int(a[0])] * (LANES - 1)
    assert [int(found[r][0]) for r in (12, 13, 14, 15)] == [
        int(sums[-1]),
        max(0, *signed),
        int(a[0]),
        LANES,
    ]


def test_generic_constants_and_indexing() -> None:
    lines = ["LDC R4, c[0x0][0x0]", "MOV R5, 0x8", "LDC.64 R6, c[0x0][R5]", "ULDC UR4, c[0x0][0xc]", "MOV R8, UR4"]
    found, _ = run_lanes(lines, {}, [4, 6, 7, 8])
    assert {r: set(v.tolist()) for r, v in found.items()} == {4: {32}, 6: {1}, 7: {1}, 8: {1}}


def test_warp_operations() -> None:
    a = words(1)
    lines = [
        "SHFL.BFLY P1, R8, R4, 0x3, 0x1f",
        "SHFL.UP P0, R9, R4, 0x4, RZ",
        "ISETP.LT.AND P2, PT, R4, RZ, PT",
        "VOTE.ANY R10, PT, P2",
        "VOTE.ALL P3, P2",
        "REDUX.MAX.S32 UR4, R4",
        "MOV R11, UR4",
        "R2UR UR5, R4",
        "IADD3 R12, RZ, UR5, RZ",
        "MATCH.ANY R13, R4",
    ]
    found, predicates = run_lanes(lines, {4: a}, [8, 9, 10, 11, 12, 13], [0, 1, 3])
    values = [int(x) for x in a]
    assert found[8].tolist() == [values[k ^ 3] for k in range(LANES)]
    assert found[9].tolist() == [values[k - 4] if k >= 4 else values[k] for k in range(LANES)]
    assert predicates[0].tolist() == [k >= 4 for k in range(LANES)]
    assert set(found[10].tolist()) == {sum(1 << k for k in range(LANES) if s32(values[k]) < 0)}
    assert predicates[3].tolist() == [all(s32(v) < 0 for v in values)] * LANES
    assert set(found[11].tolist()) == {max(map(s32, values)) & MASK}
    assert set(found[12].tolist()) == {values[0]}
    assert found[13].tolist() == [sum(1 << j for j in range(LANES) if values[j] == v) for v in values]


def test_branches_converge_and_indirect_branches_find_their_way() -> None:
    lines = [
        "MOV R9, RZ",
        "ISETP.GE.AND P0, PT, R200, 0x8, PT",
        "BSSY B0, `(.L_end)",
        "@P0 BRA `(.L_else)",
        "MOV R9, 0x1",
        "BRA `(.L_sync)",
        "MOV R9, 0x2",
        "BSYNC B0",
        "VOTE.ANY R10, PT, PT",
    ]
    # The frame is 8 instructions long without inputs (S2R, LDC, IMAD, LDC, IMAD): targets by offset.
    start = 5 * 16
    places = {"`(.L_else)": 6, "`(.L_sync)": 7, "`(.L_end)": 8}
    for label, index in places.items():
        lines = [line.replace(label, hex(start + 16 * index)) for line in lines]
    found, _ = run_lanes(lines, {}, [9, 10])
    assert found[9].tolist() == [1] * 8 + [2] * 24
    assert set(found[10].tolist()) == {MASK}


def test_calls_return_to_where_they_came_from() -> None:
    start = 5 * 16
    lines = [
        f"MOV R20, {hex(start + 16 * 3)}",
        "MOV R21, RZ",
        f"CALL.REL.NOINC {hex(start + 16 * 6)}",
        f"MOV R20, {hex(start + 16 * 8)}",
        f"CALL.REL.NOINC {hex(start + 16 * 6)}",
        "BPT.TRAP 0x1",
        "IADD3 R9, R9, 0x5, RZ",
        "RET.REL.NODEC R20 0x0",
        "NOP",
    ]
    found, _ = run_lanes(lines, {}, [9])
    assert set(found[9].tolist()) == {10}
