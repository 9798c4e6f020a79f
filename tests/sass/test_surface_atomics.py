"""SUATOM: every recorded bit of an H200, and what is refused."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest

import simt
from simt.check import UnsupportedError
from tests.machine_view import DATA
from tests.sass.assembler import listing

RECORDED = np.load(DATA / "h200" / "surface_atomics.npz")
CASES: dict[str, str] = json.loads(RECORDED["index"].tobytes())
"""The instruction of each case: coordinates in R14 and R15, operands in R12 and R13, the handle in UR6."""


def kernel(instruction: str, folder: Path) -> simt.sass.SassKernel:
    """Thread by thread: coordinates of two arrays, operands of a third; old values go to a fourth."""
    pointers = {"R2": "0x218", "R4": "0x220", "R6": "0x228", "R8": "0x230"}
    lines = ["S2R R0, SR_TID.X", "ULDC.64 UR6, c[0x0][0x210]"]
    lines += [f"IMAD.WIDE {name}, R0, 0x{4 if name < 'R6' else 8}, c[0x0][{at}]" for name, at in pointers.items()]
    lines += ["LDG.E R14, [R2.64]", "LDG.E R15, [R4.64]", "LDG.E.64 R12, [R6.64]", instruction, "STG.E.64 [R8.64], R14"]
    path = folder / "k.sass"
    path.write_text(listing([*lines, "EXIT"]))
    return simt.load_cubin(path, parameters={"k": (8, 8, 8, 8, 8)})["k"]


@pytest.mark.parametrize("name", CASES)
def test_every_recorded_atomic_has_the_bits_of_an_h200(name: str, tmp_path: Path) -> None:
    data, (x, y), values = RECORDED[f"{name}.data"].copy(), RECORDED[f"{name}.at"], RECORDED[f"{name}.values"]
    words = data.shape[-1]
    surface = simt.surface(data if words > 1 else data[..., 0], channels=words)
    old = np.zeros((len(x), 2), np.uint32)
    simt.launch(kernel(CASES[name], tmp_path), 1, len(x), surface, x.copy(), y.copy(), values, old)
    assert (old[:, :words] == RECORDED[f"{name}.old"]).all()
    assert (data == RECORDED[f"{name}.after"]).all()
    assert (data != RECORDED[f"{name}.data"]).any()


@pytest.mark.parametrize("operation", ["ADD.F64", "ADD.U8", "CAST.SPIN", "MAX.F16x2"])
def test_what_surfaces_have_no_atomic_for_is_refused(operation: str, tmp_path: Path) -> None:
    with pytest.raises(UnsupportedError, match="SUATOM"):
        _ = kernel(f"SUATOM.D.BA.2D.{operation}.STRONG.SM.IGN R14, [R14], R12, UR6, 0x0", tmp_path).program
