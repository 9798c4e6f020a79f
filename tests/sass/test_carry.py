"""The carry out of 64-bit sums (Blackwell's IADD.64)."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest

import simt
from simt.sass import load_cubin
from tests.sass.assembler import listing

VALUES = [0, 1, 2, 2**32 - 1, 2**32, 2**63, 2**64 - 1]


@pytest.mark.parametrize(("operand", "carry"), [("R6", lambda a, b: a + b >= 2**64), ("-R6", lambda a, b: a >= b)])
def test_iadd_64(tmp_path: Path, operand: str, carry: Callable[[int, int], bool]) -> None:
    """Of a difference it says that nothing was borrowed."""
    lines = [
        "LDC.64 R2, c[0x0][0x380]",
        "LDC.64 R4, c[0x0][0x388]",
        "LDC.64 R6, c[0x0][0x390]",
        f"IADD.64 RZ, P0, R4, {operand}",
        "SEL R8, RZ, 0x1, !P0",
        "STG.E desc[UR4][R2.64], R8",
        "EXIT",
    ]
    path = tmp_path / "k.sass"
    path.write_text(listing(lines, 120))
    kernel = load_cubin(path, parameters={"k": [8, 8, 8]})["k"]
    for a in VALUES:
        for b in VALUES:
            out = np.zeros(1, np.int32)
            simt.launch(kernel, 1, 1, out, np.uint64(a), np.uint64(b))
            assert out[0] == carry(a, b), (a, b)
