"""What cannot be simulated is said before anything runs: opcode, kernel, offset, architecture."""

from __future__ import annotations

from pathlib import Path

import pytest

import simt
from simt.check import KernelError, LaunchError, UnsupportedError
from simt.sass import load_cubin
from simt.sass.opcodes import OPCODES
from tests.sass.assembler import listing


def program(tmp_path: Path, *lines: str, architecture: int = 90) -> object:
    path = tmp_path / "k.sass"
    path.write_text(listing([*lines, "EXIT"], architecture))
    return load_cubin(path, parameters={"k": [8]})["k"].program


@pytest.mark.parametrize(
    ("line", "message"),
    [
        (
            "HGMMA.64x8x16.F32 R24, R4, R8",
            r"opcode HGMMA is not supported: tensor cores are not modelled \(HGMMA.64x8x16.F32 at 0x10 of k, sm_90\)",
        ),
        ("IADD3.FOO R0, R1, R2, R3", r"modifier \.FOO of IADD3 is not supported"),
        ("XMAD R0, R1, R2, R3", "opcode XMAD is not supported on this architecture"),
        ("MOV R0", "too few operands"),
        ("MOV R0, R1, R2, R3", "MOV of single bytes"),
        ("S2R R0, SR_SMEMSZ", "special register SR_SMEMSZ"),
        ("LDG.E R0, R1", "where an address is expected"),
        ("FADD R0, R1, +QNAN", "needs the encodings"),
        ("LDC R0, c[0x3][0x0]", "reads constant bank 3"),
        ("CALL.ABS.NOINC `(elsewhere)", "calls elsewhere, which is not in the file"),
        ("TMML R0, R1, R2, 0x0", "opcode TMML is not supported"),
        ("TEX.LL R6, R4, R4, R15, UR4, 0x0, TEX_HEADER_DIMENSION", "operand TEX_HEADER_DIMENSION is not"),
        ("TEX.LL R6, R4, R4, UR4, 0x0, 2D", "1 source registers for x, y, level"),
        ("TLD4 R6, R4, R4, UR4, 0x0, 2D", "TLD4 without one component"),
        ("F2F.F32 R0, R1", "among its modifiers, found F32"),
        ("I2I R0, R1", "among its modifiers, found none"),
        ("ISETP.LTU.AND P0, PT, R0, R1, PT", "the comparison LTU of integers"),
        ("ISETP.LT.EX.AND P0, PT, R0, R1, PT", "too few operands"),
        ("LDS.U64 R0, [R2]", "accesses of type U64"),
        ("SULD.D.BA.2D.U64 R0, [R2], UR4", "accesses of type U64"),
        ("ATOMS.ADD.128 R0, [R2], R4", "atomics of type u128"),
        ("ATOMG", "too few operands"),
        ("PLOP3.LUT P0, PT", "too few operands"),
        ("FMNMX R0, !P0", "operand !P0 where a value is expected"),
        ("IADD3.FOO R0 R1", r"modifier \.FOO of IADD3 is not supported"),
        ("TXQ RZ, R5, R5, TEX_HEADER_SAMPLER_POS, UR4, 0x0, 0x1", "only the dimensions of a texture"),
    ],
)
def test_message(tmp_path: Path, line: str, message: str) -> None:
    with pytest.raises(UnsupportedError, match=message):
        program(tmp_path, "NOP", line)


@pytest.mark.parametrize("line", ["BRA 0x8000", "BRA `(.L_x_77)", "BSSY B0, `(.L_x_77)"])
def test_branch_to_nowhere(tmp_path: Path, line: str) -> None:
    with pytest.raises(KernelError, match="branch to nowhere"):
        program(tmp_path, line)


def test_unreadable_operand(tmp_path: Path) -> None:
    with pytest.raises(UnsupportedError) as caught:
        program(tmp_path, "@P0 MOV R0 R1")
    assert "cannot read the operand 'R0 R1' (MOV at 0x0 of k, sm_90)" in str(caught.value)
    assert "instruction: @P0 MOV R0 R1" in str(caught.value)


def test_an_unreadable_operand_spoils_only_its_kernel(tmp_path: Path) -> None:
    """Those of tensor cores have syntax of their own."""
    path = tmp_path / "k.sass"
    unknown = listing(["HGMMA.64x8x16.F32 R24, gdesc[UR4], !UPT", "EXIT"], 90)
    path.write_text(unknown + listing(["EXIT"], 90).replace(".text.k", ".text.other"))
    kernels = load_cubin(path, parameters={"other": []})
    simt.launch(kernels["other"], 1, 32)
    with pytest.raises(
        UnsupportedError, match=r"opcode HGMMA is not supported: .* \(HGMMA.64x8x16.F32 at 0x0 of k, sm_90\)"
    ):
        _ = kernels["k"].program
    with pytest.raises(LaunchError, match="has no kernel 'absent'"):
        _ = kernels["absent"]


def test_every_row_names_its_source_and_covers_an_architecture() -> None:
    for name, rows in OPCODES.items():
        for row in rows:
            assert row.name == name
            assert row.since <= row.until
            assert row.source.value
