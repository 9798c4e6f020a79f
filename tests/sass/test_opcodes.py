"""Integer and predicate instructions on random operands, against plain Python integers."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from simt.check import UnsupportedError
from tests.sass.assembler import COMPARISONS, LANES, MASK, run_lanes, s32, s64, words


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


# (instruction, f(a, b, c) of R4, R5, R6) -> R8: unsigned operands, a result masked to 32 bits; P0 is bit 0 of c
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
    difference = lines[2:]  # between the sums: its carry is another one
    lines += ["IADD3 R12.CC, R4, R6, RZ", "IADD.X R13, R5, R7", *difference]
    lines += ["ISCADD R14.CC, R4, R6, 0x0", "IADD.X R15, R5, R7"]
    found, _ = run_lanes(lines, inputs, [*range(8, 16)], architecture=61)
    for k in range(LANES):
        a, b = (int(inputs[r + 1][k]) << 32 | int(inputs[r][k]) for r in (4, 6))
        for low in (8, 12, 14):
            assert int(found[low + 1][k]) << 32 | int(found[low][k]) == (a + b) & (1 << 64) - 1
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


@pytest.mark.parametrize("most", ["!UPT", "UPT"])
def test_uniform_64_bit_minimum_of_blackwell(most: str) -> None:
    """As ptxas writes ``max(0, n)`` for sm_120."""
    lines = [
        "MOV R4, 0x7",
        "MOV R5, 0xffffffff",  # with R4 a negative number
        "R2UR UR4, R4",
        "R2UR UR5, R5",
        f"UIMNMX.S64 UPT, UPT, UR6, URZ, UR4, {most}, !UPT",
        "MOV R8, UR6",
        "MOV R9, UR7",
    ]
    found, _ = run_lanes(lines, {}, [8, 9], architecture=100)
    assert (found[8][0], found[9][0]) == ((7, 0xFFFFFFFF) if most == "UPT" else (0, 0))


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


@pytest.mark.parametrize("mask", [0x1, 0x2, 0x3])
def test_uniform_predicates_in_a_register(mask: int) -> None:
    lines = ["UISETP.NE.AND UP0, UPT, URZ, URZ, UPT", "UISETP.EQ.AND UP1, UPT, URZ, URZ, UPT"]
    found, _ = run_lanes([*lines, f"UP2UR UR6, UPR, URZ, {mask:#x}", "MOV R8, UR6"], {}, [8])
    assert found[8].tolist() == [mask & 0x2] * LANES


def test_exit_where_a_predicate_operand_is_true_too() -> None:
    lines = ["R2P PR, R4, 0x3", "MOV R8, 0x1", "@P0 EXIT P1"]
    inputs = {4: words(1)}
    found, _ = run_lanes(lines, inputs, [8])
    assert found[8].tolist() == [int(int(word) & 3 != 3) for word in inputs[4]]
    assert 0 < found[8].sum() < LANES


def test_a_mask_of_bytes_that_is_not_whole() -> None:
    assert run_lanes(["MOV R8, 0x7, 0xf"], {}, [8])[0][8].tolist() == [7] * LANES
    with pytest.raises(UnsupportedError, match="MOV of single bytes"):
        run_lanes(["MOV R8, 0x7, 0xe"], {}, [8])


UNIFORM = {
    "UMOV UR6, 0x9": 9,
    "R2UR UR6, R200": 8,
    "UIABS UR6, UR4": 5,
    "UIADD3 UR6, UR4, 0xc, URZ": 7,
    "ULOP3.LUT UR6, UR4, 0xff, URZ, 0xc0, !UPT": 0xFB,
    "USHF.R.U32.HI UR6, URZ, 0x1c, UR4": 15,
    "UIMAD UR6, UR4, UR4, URZ": 25,
    "ULEA UR6, UR4, URZ, 0x1": MASK - 9,
    "USEL UR6, UR4, 0x3, !UPT": 3,
    "UPRMT UR6, UR4, 0x7770, URZ": 0xFB,
    "UFLO.U32 UR6, UR4": 31,
    "UPOPC UR6, UR4": 31,
    "UBREV UR6, UR4": 0xDFFFFFFF,
    "ULDC UR6, c[0x0][0x0]": LANES,
    "REDUX.MAX UR6, R200": 31,
    "VOTEU.ANY UR6, UPT, PT": 0xFFFFFF00,
}
"""Instructions in a branch that lanes 8 to 31 take, and what UR6 is then; UR4 is -5 and R200 the lane."""


@pytest.mark.parametrize("text", UNIFORM)
def test_a_uniform_register_has_one_value_for_all_lanes(text: str) -> None:
    """Those that were elsewhere see it, too."""
    start = 5 * 16  # behind the frame
    lines = [
        "UMOV UR4, 0xfffffffb",
        "UMOV UR6, URZ",
        "ISETP.LT.AND P0, PT, R200, 0x8, PT",
        f"BSSY B0, {hex(start + 16 * 6)}",
        f"@P0 BRA {hex(start + 16 * 6)}",
        text,
        "BSYNC B0",
        "MOV R8, UR6",
    ]
    assert run_lanes(lines, {}, [8])[0][8].tolist() == [UNIFORM[text]] * LANES
