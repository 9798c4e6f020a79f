"""SUATOM: every recorded bit of an H200, and what is refused."""

from __future__ import annotations

import json
import math
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import numpy.typing as npt
import pytest

import simt
from simt.check import UnsupportedError
from tests.machine_view import DATA
from tests.sass.assembler import listing

Words = npt.NDArray[np.uint32]
THREADS = 48
AXES = {"1d": "x", "2d": "xy", "3d": "xyz", "a1d": "xz", "a2d": "xyz"}
"""The coordinates of each shape in the order of their registers; z is also the layer."""


@dataclass(frozen=True)
class Case:
    """One launch on an H200: the instruction, and what it found and left, as 32-bit words.

    ``data``, ``after``: the surface, components last; ``at``: coordinates x (in bytes), y, z of each thread;
    ``values``: four words for each; ``old``: what it read.
    """

    instruction: str
    data: Words
    at: Words
    values: Words
    old: Words
    after: Words


def recorded() -> dict[str, Case]:
    """The cases by shape and kind: ``"a2d.MIN.S64"`` is of layers of two dimensions."""
    stored = np.load(DATA / "h200" / "surface_atomics.npz")
    place = dict.fromkeys(("data", "at", "values", "old", "changed"), 0)

    def take(name: str, *shape: int) -> Words:
        start = place[name]
        place[name] += math.prod(shape)
        return stored[name][start : place[name]].reshape(shape)

    found = {}
    for name, (instruction, shape) in json.loads(stored["index"].tobytes()).items():
        data = take("data", *shape)
        at, values, old = take("at", 3, THREADS), take("values", THREADS, 4), take("old", THREADS, shape[-1])
        found[name] = Case(instruction, data, at, values, old, data ^ take("changed", *shape))
    return found


CASES = recorded()


def kernel(instruction: str, axes: str, folder: Path) -> simt.sass.SassKernel:
    """Thread by thread: the coordinates *axes* of arrays x, y and z, operands of a fourth; old values to a fifth."""
    lines = ["S2R R0, SR_TID.X", "ULDC.64 UR6, c[0x0][0x210]", "IMAD.WIDE R8, R0, 0x10, c[0x0][0x230]"]
    lines += ["IMAD.WIDE R10, R0, 0x8, c[0x0][0x238]", "LDG.E.128 R12, [R8.64]"]
    for k, axis in enumerate(axes):
        lines += [f"IMAD.WIDE R2, R0, 0x4, c[0x0][{0x218 + 8 * 'xyz'.index(axis):#x}]", f"LDG.E R{16 + k}, [R2.64]"]
    path = folder / "k.sass"
    lines += [f"{instruction} R20, [R16], R12, UR6, 0x0", "STG.E.64 [R10.64], R20", "EXIT"]
    path.write_text(listing(lines))
    return simt.load_cubin(path, parameters={"k": (8,) * 6})["k"]


@pytest.mark.parametrize("name", CASES)
def test_every_recorded_atomic_has_the_bits_of_an_h200(name: str, tmp_path: Path) -> None:
    case, shape = CASES[name], name.partition(".")[0]
    data, words = case.data.copy(), case.data.shape[-1]
    surface = simt.surface(data if words > 1 else data[..., 0], channels=words, layered=shape.startswith("a"))
    old = np.zeros((THREADS, 2), np.uint32)
    code = kernel(case.instruction, AXES[shape], tmp_path)
    simt.launch(code, 1, THREADS, surface, *map(np.copy, case.at), case.values.copy(), old)
    assert (old[:, :words] == case.old).all()
    assert (data == case.after).all()
    assert (data != case.data).any()


@pytest.mark.parametrize("operation", ["ADD.F64", "ADD.U8", "CAST.SPIN", "MAX.F16x2"])
def test_what_surfaces_have_no_atomic_for_is_refused(operation: str, tmp_path: Path) -> None:
    with pytest.raises(UnsupportedError, match="SUATOM"):
        _ = kernel(f"SUATOM.D.BA.2D.{operation}.STRONG.SM.IGN", "xy", tmp_path).program
