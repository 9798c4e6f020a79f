"""What a scheduler sees of an instruction: the registers by operand slot, and what it writes."""

from __future__ import annotations

import pytest

from simt.sass.grammar import parse
from simt.sass.scheduling import machine_code

Slots = tuple[tuple[int, ...], ...]


@pytest.mark.parametrize(
    ("text", "sources", "results"),
    [
        ("FFMA R4, R5, R6, R7", ((5,), (6,), (7,)), (4,)),
        ("FFMA R4, R5, 1.5, RZ", ((5,), (), ()), (4,)),
        ("MOV R4, R5", ((), (5,)), (4,)),  # one operand alone stands in slot b
        ("IADD3 R4, P0, R5, UR6, R7", ((5,), (), (7,)), (4,)),
        ("LOP3.LUT P0, RZ, R4, R5, RZ, 0xc0, !PT", ((4,), (5,), ()), ()),
        ("DFMA R4, R6, R8, R10", ((6, 7), (8, 9), (10, 11)), (4,)),
        ("IMAD R4, R6, R8, R10", ((6,), (8,), (10,)), (4,)),
        ("IMAD.WIDE R4, R6, R8, R10", ((6,), (8,), (10, 11)), (4, 5)),
        ("IMAD.HI.U32 R4, R6, R8, R10", ((6,), (8,), (10, 11)), (4,)),
        ("CS2R R4, SR_CLOCKLO", ((), ()), (4, 5)),
        ("CS2R.32 R4, SR_CLOCKLO", ((), ()), (4,)),
        ("LDG.E R4, [R2.64]", ((), (2, 3)), (4,)),
        ("LDS R4, [R2]", ((), (2,)), (4,)),
        ("STG.E [R2.64], R5", ((), (5,)), ()),
        ("UIADD3 UR4, UR5, UR6, URZ", ((), (), ()), ()),
    ],
)
def test_registers_by_slot(text: str, sources: Slots, results: tuple[int, ...]) -> None:
    found = machine_code(parse(text))
    assert (found.sources, found.results) == (sources, results)


@pytest.mark.parametrize(
    ("text", "uniform", "data"),
    [
        ("FADD R4, R5, R6", False, False),
        ("FADD R4, R5, UR6", True, False),
        ("LDG.E R4, desc[UR4][R2.64]", True, False),
        ("LDC R4, c[0x0][R5]", False, False),
        ("UMOV UR4, URZ", True, False),
        ("MOV R4, URZ", False, False),
        ("ATOMG.E.ADD R4, [R2.64], R5", False, True),
        ("ATOMG.E.ADD R4, [R2.64], RZ", False, False),
    ],
)
def test_uniform_registers_and_data(text: str, uniform: bool, data: bool) -> None:
    found = machine_code(parse(text))
    assert (found.uniform, found.data) == (uniform, data)
