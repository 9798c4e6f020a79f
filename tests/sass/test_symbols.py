"""Symbols go by their numbers: linked files may have local variables, functions and kernels of the same names."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import numpy.typing as npt
import pytest

from simt.check import KernelError
from simt.sass import load_cubin
from simt.sass.elf import Relocation
from tests.sass.data import DATA, launch

NAMES = DATA / "linked" / "names.cubin"
LANE = np.arange(32, dtype=np.int32)
TABLES = {"first": 10 + np.arange(4), "second": 20 + np.arange(8)}


def run(name: str) -> npt.NDArray[np.int32]:
    out = np.zeros(64, np.int32)
    launch(load_cubin(NAMES)[name], (1, 1, 1), (32, 1, 1), [out])
    return out


def test_each_file_has_its_own_table_pointer_and_function() -> None:
    """names_a.cu and names_b.cu say what comes out; nvdisasm shows the second ``table`` as ``table__2``."""
    first = TABLES["first"][LANE & 3] + TABLES["first"][LANE & 1] + 100 + (3 * LANE + 1)
    assert run("first").tolist() == [*first, *(200 + TABLES["second"][LANE & 7])]
    second = TABLES["second"][LANE & 7] + TABLES["second"][LANE & 3] + 200 + (5 * LANE + 2)
    assert run("second").tolist() == [*second, *[3] * 32]


def test_kernels_of_one_name(tmp_path: Path) -> None:
    path = tmp_path / "twice.cubin"
    path.write_bytes(NAMES.read_bytes().replace(b"second\0", b"first\0\0"))
    kernels = load_cubin(path)
    assert list(kernels) == ["first", "_Z6hiddenPi", "first#2"]
    assert kernels["first"].section != kernels["first#2"].section
    code = {name: len(kernels[name].code.instructions) for name in ("first", "first#2")}
    original = load_cubin(NAMES)
    assert code == {
        "first": len(original["first"].code.instructions),
        "first#2": len(original["second"].code.instructions),
    }


@pytest.mark.parametrize(("shift", "size", "expected"), [(0, 8, "8877665544332211"), (3, 1, "55"), (0, 4, "88776655")])
def test_bytes_of_a_relocation(shift: int, size: int, expected: str) -> None:
    assert Relocation(0, 0, 0, size, shift).bytes_of(0x1122334455667788).hex() == expected


def test_a_file_without_kernels_says_so(tmp_path: Path) -> None:
    """The name of each kernel's constant bank 0 is what makes a function a kernel."""
    path = tmp_path / "none.cubin"
    path.write_bytes(NAMES.read_bytes().replace(b".nv.constant0.", b".nv.constantX."))
    with pytest.raises(KernelError, match=r"none.cubin has no kernels"):
        load_cubin(path)
