"""Which registers an instruction of machine code reads, and which it finds at hand."""

from __future__ import annotations

import pytest

from simt.program import MachineCode
from simt.sass.grammar import parse
from simt.sass.opcodes import OPCODES
from simt.sass.scheduling import machine_code
from simt.timing.classes import CLASSES, of_opcode
from simt.timing.operands import keep, passes, reads


def code(text: str) -> MachineCode:
    return machine_code(parse(text))


def slots(text: str) -> tuple[tuple[int, ...], ...]:
    return code(text).sources


@pytest.mark.parametrize(
    ("text", "registers"),
    [
        ("FFMA R25, R24, UR6, R2", ((24,), (), (2,))),
        ("FADD R5, -RZ, |R3|", ((), (3,))),
        ("MOV R4, R15", ((), (15,))),
        ("IMAD.WIDE.U32 R2, R7, UR5, R4", ((7,), (), (4, 5))),
        ("DFMA R2, R4, R6, c[0x0][0x210]", ((4, 5), (6, 7), ())),
        ("IADD3 R6, P0, -R6, R10, RZ", ((6,), (10,), ())),
        ("ISETP.NE.AND P0, PT, R3, 0x20, PT", ((3,), ())),
        ("LOP3.LUT P0, RZ, R0, 0x1f, RZ, 0xc0, !PT", ((0,), (), ())),
    ],
)
def test_registers_by_operand_slot(text: str, registers: tuple[tuple[int, ...], ...]) -> None:
    assert slots(text) == registers


@pytest.mark.parametrize(
    ("text", "registers"),
    [
        ("IADD3 R5, R4, 0x20, RZ", (5,)),
        ("IMAD.WIDE.U32 R2, R7, UR5, R4", (2, 3)),
        ("IMAD.HI.U32 R13, R13, UR6, R2", (13,)),
        ("CS2R R6, SR_CLOCKLO", (6, 7)),
        ("ISETP.NE.AND P0, PT, R3, 0x20, PT", ()),
        ("STG.E desc[UR4][R2.64], R6", ()),
    ],
)
def test_registers_that_are_written(text: str, registers: tuple[int, ...]) -> None:
    assert code(text).results == registers


def test_each_register_is_read_once_from_its_bank() -> None:
    assert reads(slots("FFMA R9, R4, R6, R8"), {}) == (3, 0)
    assert reads(slots("FFMA R9, R4, R4, R5"), {}) == (1, 1)


@pytest.mark.parametrize(
    ("text", "cycles"),
    [
        ("FFMA R12, R4, R6, R8", (3, 0)),
        ("IMAD.HI.U32 R12, R4, R6, R8", (5, 1)),
        ("IMAD.HI.U32 R12, R4, R7, R8", (2, 2)),
        ("IMAD.HI.U32 R12, R5, UR4, R8", (1, 4)),
        ("IMAD.WIDE.U32 R12, R4, UR4, R8", (4, 1)),
        ("IMAD.HI.U32 R12, R5, UR4, RZ", (0, 1)),
        ("IMAD.HI.U32 R12, R5, RZ, R8", (1, 2)),
    ],
)
def test_wide_multiplies_read_twice_what_shares_a_bank(text: str, cycles: tuple[int, int]) -> None:
    assert reads(slots(text), {}, passes(code(text))) == cycles


def test_a_register_is_at_hand_until_its_slot_reads_another_of_its_bank() -> None:
    kept = keep(slots("HFMA2 R25, R25, R4, R5"), 0b110, {})
    assert reads(slots("HFMA2 R21, R21, R4, R5"), kept) == (0, 1)
    assert reads(slots("HFMA2 R21, R21, R5, R4"), kept) == (1, 2)
    kept = keep(slots("IMAD R23, R23, UR6, R6"), 0b100, kept)
    assert reads(slots("HFMA2 R21, R21, R4, R5"), kept) == (0, 1)
    kept = keep(slots("IMAD R23, R23, UR6, R7"), 0, kept)
    assert reads(slots("HFMA2 R21, R21, R4, R5"), kept) == (0, 2)


@pytest.mark.parametrize("opcode", sorted(OPCODES))
def test_every_opcode_has_a_timing_class(opcode: str) -> None:
    assert 0 <= of_opcode(opcode) < len(CLASSES)


def test_an_opcode_without_a_class_is_an_error() -> None:
    with pytest.raises(KeyError):
        of_opcode("NEWOP")
    assert of_opcode("IMAD", ("WIDE", "U32")) != of_opcode("IMAD", ("U32",)) == of_opcode("IMAD")
