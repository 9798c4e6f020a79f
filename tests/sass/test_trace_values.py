"""Traces of machine code name the registers and predicates that instructions write, and show them lane by lane."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

import simt
from simt.sass import load_cubin
from tests.sass.assembler import listing

CODE = (
    "S2R R0, SR_TID.X",
    "LDC.64 R2, c[0x0][0x210]",
    "IMAD.WIDE.U32 R2, R0, 0x4, R2",
    "ISETP.GT.AND P0, PT, R0, 0x1e, PT",
    "I2F R4, R0",
    "FMUL R5, R4, 0.5",
    "DADD R6, RZ, 1.5",
    "@P0 IADD3 R8, R0, 0x1, RZ",
    "UMOV UR4, 0x7",
    "LDG.E.S8 R9, [R2.64]",
    "STG.E [R2.64], R5",
    "EXIT",
)


@pytest.fixture(scope="module")
def steps(tmp_path_factory: pytest.TempPathFactory) -> dict[str, dict[str, list[object]]]:
    path: Path = tmp_path_factory.mktemp("trace") / "k.sass"
    path.write_text(listing(CODE))
    kernel = load_cubin(path, parameters={"k": [8]})["k"]
    profile = simt.launch(kernel, 1, 32, np.zeros(32, np.float32), trace=(0, 0))
    assert profile.trace is not None
    return {step.entry.text.split(" ")[0]: step.values for step in profile.trace.steps(0, 0)}


def test_registers_by_name_and_type(steps: dict[str, dict[str, list[object]]]) -> None:
    assert steps["S2R"] == {"R0": list(range(32))}
    assert steps["ISETP.GT.AND"] == {"P0": [False] * 31 + [True]}
    assert steps["I2F"] == {"R4": [float(k) for k in range(32)]}
    assert steps["FMUL"] == {"R5": [k / 2 for k in range(32)]}
    assert steps["UMOV"] == {"UR4": [7] * 32}
    assert steps["@P0"]["R8"][31] == 32
    assert steps["LDG.E.S8"] == {"R9": [0] * 32}
    assert steps["STG.E"] == {}


def test_pairs_as_one_value(steps: dict[str, dict[str, list[object]]]) -> None:
    assert steps["DADD"] == {"R6:R7": [1.5] * 32}
    addresses = np.array(steps["IMAD.WIDE.U32"]["R2:R3"], np.int64)
    assert np.diff(addresses).tolist() == [4] * 31
    assert steps["LDC.64"] == {"R2:R3": [addresses[0]] * 32}
