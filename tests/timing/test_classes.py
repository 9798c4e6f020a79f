"""Timing classes: what of them was measured."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

import simt
from simt.sass import load_cubin
from simt.sass.opcodes import OPCODES
from simt.timing.classes import CLASSES, is_measured, of_opcode
from tests.machine_view import needs_nvdisasm

DATA = Path(__file__).parents[1] / "data"
CUBINS = sorted((DATA / "timing" / "cubins").glob("*.cubin"))


def opcodes_of(path: Path) -> set[tuple[str, tuple[str, ...]]]:
    """Opcodes, with their modifiers, of the kernels of a cubin."""
    kernels = load_cubin(path)
    return {(each.opcode, tuple(map(str, each.words))) for name in kernels for each in kernels[name].code.instructions}


@needs_nvdisasm
@pytest.mark.slow  # nvdisasm takes a second to start
def test_what_counts_as_measured_stands_in_code_that_was_measured() -> None:
    found = set().union(*map(opcodes_of, CUBINS))
    plain = {opcode for opcode, _ in found}
    full = {".".join((opcode, *words[:1])) for opcode, words in found}
    for row in CLASSES:
        assert set(row.opcodes.split()) <= plain | full, row.name
        assert not set(row.relatives.split()) & plain, row.name


def test_an_opcode_has_one_class() -> None:
    listed = [opcode for row in CLASSES for opcode in f"{row.opcodes} {row.relatives}".split()]
    assert len(listed) == len(set(listed))
    assert {name for name in OPCODES if is_measured(name)} == {
        name for row in CLASSES for name in row.opcodes.split() if "." not in name
    }


@pytest.mark.parametrize(
    ("opcode", "modifiers", "measured"),
    [
        ("IADD3", (), True),
        ("IMAD", ("WIDE", "U32"), True),
        ("IMNMX", (), False),
        ("HADD2", ("F32",), False),
        ("HFMA2", ("MMA",), True),
    ],
)
def test_relatives_have_a_class_and_are_not_measured(opcode: str, modifiers: tuple[str, ...], measured: bool) -> None:
    assert of_opcode(opcode, modifiers) >= 0
    assert is_measured(opcode, modifiers) is measured


@needs_nvdisasm
def test_a_timed_launch_names_what_was_never_measured() -> None:
    kernel = simt.load_cubin(DATA / "sass" / "sm_90" / "opcodes_O3.cubin")["i32ops"]
    arrays = [np.ones(1 << 16, np.int32) for _ in range(3)]
    profile = simt.launch(kernel, 1, 128, *arrays, np.int32(128), device="h200", timing=True)
    assert profile.timing is not None
    unmeasured = profile.timing.unmeasured_opcodes
    assert unmeasured == tuple(
        sorted({each.opcode for each in kernel.code.instructions if not is_measured(each.opcode)})
    )
    assert {"FLO", "IABS"} <= set(unmeasured)
    assert f"timed like their nearest relatives: {', '.join(unmeasured)}" in str(profile)
    assert profile.timing.to_dict()["unmeasured_opcodes"] == list(unmeasured)
