"""Parsing: every instruction of every listing comes back as it was written."""

from __future__ import annotations

import re
from itertools import pairwise

import pytest

from simt.sass.grammar import Control, SyntaxProblem, parse
from simt.sass.listing import parse_listing
from simt.sass.operands import (
    Address,
    CodeRegister,
    Constant,
    FloatImmediate,
    Immediate,
    Label,
    Predicate,
    Register,
    Suffix,
)
from tests.sass.data import DATA, cubin

LISTINGS = sorted(DATA.glob("sm_*/*.sass"))
INSTRUCTION = re.compile(r"\s+/\*[0-9a-f]{4,}\*/\s+\{?\s*(?P<text>[@A-Z].*?)\s*[;}]\s*$")


def normal(text: str) -> str:
    """The text without annotations and superfluous spaces."""
    text = re.sub(r"\s*\(\*.*\*\)", "", text)
    return re.sub(r"\s+,", ",", re.sub(r"  +", " ", text)).strip()


@pytest.mark.parametrize("path", LISTINGS, ids=lambda path: f"{path.parent.name}-{path.stem}")
def test_round_trip_of_listings(path) -> None:
    texts = [match["text"] for match in map(INSTRUCTION.match, path.read_text().splitlines()) if match]
    assert len(texts) > 1000
    assert [str(parse(text)) for text in texts] == [normal(text) for text in texts]


@pytest.mark.parametrize("architecture", [75, 80, 90, 100, 120])
def test_round_trip_of_disassembled_opcodes(architecture: int) -> None:
    kernels = cubin(f"sm_{architecture}/opcodes_O3")
    for section in kernels["i32ops"].module.listing.sections.values():
        for instruction in section.instructions:
            again = parse(str(instruction))
            assert (again.opcode, again.words, again.operands, again.guard) == (
                instruction.opcode,
                instruction.words,
                instruction.operands,
                instruction.guard,
            )


def test_operands_are_typed() -> None:
    instruction = parse("@!P0 IADD3 R2, P1, -R4.reuse, c[0x0][0x210], ~RZ")
    assert instruction.guard == Predicate(0, negated=True)
    assert instruction.operands == (
        Register(2),
        Predicate(1),
        Register(4, negated=True, suffixes=(Suffix.REUSE,)),
        Constant(0, 0x210),
        Register(None, inverted=True),
    )
    assert instruction.profiler_text() == "@!P0 IADD3 R2, P1, -R4, c[0x0][0x210], ~RZ"


@pytest.mark.parametrize(
    ("text", "operand"),
    [
        (
            "LDG.E R0, desc[UR6][R4.64+-0x8]",
            Address(Register(4, suffixes=(Suffix.WIDE,)), None, -8, Register(6, True)),
        ),
        ("LDS R0, [R3+UR4]", Address(Register(3), Register(4, True), 0)),
        ("FADD R0, R1, +INF ", FloatImmediate("+INF")),
        ("FADD R0, R1, -1.5e-39", FloatImmediate("-1.5e-39")),
        ("MOV R0, -0x10", Immediate(-16)),
        ("BRA `(.L_x_3)", Label(".L_x_3")),
        ("MOV R0, 32@lo((f + .L_x_1@srel))", Label("f", "lo", ".L_x_1")),
        ("BRX R4 -0x150", CodeRegister(Register(4), Immediate(-0x150))),
        ("HADD2 R0, R1, |R2|.reuse.H0_H0", Register(2, absolute=True, suffixes=(Suffix.REUSE, Suffix.H0_H0))),
        ("HADD2 R0, R1, |UR4|.H0_H0", Register(4, True, absolute=True, suffixes=(Suffix.H0_H0,))),
        ("XMAD R0, R1, c[0x0] [0x8].H1", Constant(0, 8, suffixes=(Suffix.H1,), spaced=True)),
    ],
)
def test_last_operand(text: str, operand: object) -> None:
    parsed = parse(text)
    assert parsed.operands[-1] == operand
    assert str(parsed) == text.strip()


def test_a_suffix_within_the_bars() -> None:
    """As nvdisasm has it for uniform registers."""
    assert parse("HADD2 R0, R1, |UR4.H0_H0|") == parse("HADD2 R0, R1, |UR4|.H0_H0")


@pytest.mark.parametrize(
    "text",
    ["", "mov r0, r1", "MOV R0, R1.Q", "MOV R0, %tid", "LDG R0, [R1", "IADD3 R0, R1 R2, R3", "@P9x MOV R0, R1"],
)
def test_what_is_not_an_instruction(text: str) -> None:
    with pytest.raises(SyntaxProblem):
        parse(text)


def test_control_bits() -> None:
    # S2R of a cubin: its result is announced on scoreboard 0.
    assert Control.from_bits(0x000E2E0000002100 >> 41 & (1 << 21) - 1) == Control(7, False, 0, None, 0, 0)
    bits = 0b0001_000011_111_010_1_0101
    control = Control.from_bits(bits)
    assert control == Control(5, False, 2, None, 0b000011, 1)


def test_control_bits_of_pascal_are_read_from_the_cubin() -> None:
    """nvdisasm's listing has none: a stall of 0 is the only other sign of the pairs that the listing marks."""
    kernels = cubin("sm_61/kernels")
    code = [kernels[name].code.instructions for name in kernels]
    pairs = [(a.control, b.dual) for section in code for a, b in pairwise(section) if a.opcode != "NOP"]
    assert len(pairs) == 1133
    assert [control is not None and control.stall == 0 for control, _ in pairs] == [dual for _, dual in pairs]
    interleaved = {i.offset: i.control for i in kernels["reduceInterleaved"].code.instructions}
    assert interleaved[0x148] == Control(5, False, 5, None, 0, 0)  # LDG.E R5, [R4]
    assert interleaved[0x150] == Control(2, True, None, None, 1 << 5, 0)  # IADD R0, R0, R5
    assert interleaved[0x158] == Control(1, False, None, 0, 0, 0)  # STG.E [R2], R0


def test_encodings_of_a_cubin_are_kept() -> None:
    first = cubin("sm_90/opcodes_O3")["i32ops"].code.instructions[0]
    assert first.encoding is not None
    assert first.encoding & 0xFFF == 0xB82  # LDC
    assert first.control is not None


def test_dual_issue_and_annotations_of_pascal() -> None:
    listing = parse_listing((DATA / "sm_61" / "kernels.sass").read_text())
    section = listing.sections["_Z20reduceCompleteUnrollILj512EEvPiS0_j"]
    assert listing.architecture == 61
    assert section.registers == 23
    by_offset = {instruction.offset: instruction for instruction in section.instructions}
    assert by_offset[0x18].dual
    assert not by_offset[0x10].dual
    assert by_offset[0x108].targets == (".L_x_0",)
