"""Copies, fills and barriers of the grid that a kernel asks the device runtime for: against an H200."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest

import simt
from simt.check import LaunchError, OutOfBoundsError
from tests.machine_view import needs_nvdisasm

DATA = Path(__file__).parent.parent / "data" / "system"
SAID = (DATA / "h200" / "copies.txt").read_text().split("== ")[1:]

pytestmark = needs_nvdisasm


@pytest.fixture
def kernels() -> Any:
    return simt.load_cubin(DATA / "copies.cubin")


def codes(name: str) -> list[int]:
    """What the functions returned on the H200."""
    lines = next(part for part in SAID if part.startswith(f"{name}\n")).splitlines()
    return [int(word) for word in lines[3].split()]


def bytes_of(name: str, first: int, rows: int) -> list[list[int]]:
    """Rows of 64 bytes that the program printed."""
    lines = next(part for part in SAID if part.startswith(f"{name}\n")).splitlines()
    return [[int(word) for word in line.split()] for line in lines[first : first + rows]]


def test_transfers_wait_for_the_launches_before_them(kernels: Any) -> None:
    a, b, c, out = np.zeros(100, np.int32), np.zeros(100, np.int32), np.zeros(100, np.uint8), np.zeros(1, np.int32)
    profile = simt.launch(kernels["in_order"], 1, 32, a, b, c, out, np.int32(100))
    assert b.tolist() == list(range(1, 101))
    assert (c == 3).all()  # zeros on the H200, against the documentation
    assert out[0] == b.sum() + 3 * 100
    assert (a == -1).all()  # the fill came last
    assert [each.kernel for each in profile.launched] == ["fill", "sum"]
    assert kernels["odd"].module["result"][:24].tolist() == codes("in_order")


def test_rows_of_rectangles(kernels: Any) -> None:
    a, b = np.ones(4096, np.uint8), np.full(4096, 2, np.uint8)
    simt.launch(kernels["rectangles"], 1, 32, a, b)
    zeros = np.where(a == 7, 0, a), np.where(b == 7, 0, b)  # the H200 fills with zeros, against the documentation
    assert zeros[0][:384].reshape(6, 64).tolist() == bytes_of("rectangles", 4, 6)
    assert zeros[1][:192].reshape(3, 64).tolist() == bytes_of("rectangles", 11, 3)
    assert zeros[1][1024:1088].reshape(1, 64).tolist() == bytes_of("rectangles", 15, 1)
    assert (a == 7).sum() == 5 * 20


def test_a_copy_behind_everything(kernels: Any) -> None:
    a, b = np.zeros(50, np.int32), np.zeros(50, np.int32)
    simt.launch(kernels["tail"], 1, 32, a, b, np.int32(50))
    assert b.tolist() == list(range(1, 51))


def test_what_odd_calls_return(kernels: Any) -> None:
    simt.launch(kernels["odd"], 1, 1, np.zeros(4096, np.uint8), np.zeros(4096, np.uint8))
    assert kernels["odd"].module["result"][:24].tolist() == codes("odd")


def test_a_copy_beyond_memory(kernels: Any) -> None:
    a, b = np.zeros(10, np.int32), np.zeros(10, np.int32)
    with pytest.raises(OutOfBoundsError, match=r"MemcpyAsync writes 200 bytes to address .*, which is not allocated"):
        simt.launch(kernels["tail"], 1, 32, np.zeros(50, np.int32), b, np.int32(50))
    with pytest.raises(OutOfBoundsError, match=r"MemcpyAsync reads 200 bytes at address .*, which is not allocated"):
        simt.launch(kernels["tail"], 1, 32, a, np.zeros(50, np.int32), np.int32(50))


def test_what_a_fill_leaves_is_written(kernels: Any) -> None:
    gpu = simt.Device(check="initcheck")
    a, b, out = gpu.array(np.zeros(100, np.int32)), gpu.empty(100, np.int32), gpu.array(np.zeros(1, np.int32))
    gpu.launch(gpu.load(DATA / "copies.cubin")["in_order"], 1, 32, a, b, gpu.empty(100, np.uint8), out, np.int32(100))
    assert not gpu.profiles[-1].findings


@pytest.mark.parametrize(("grid", "block"), [(1, 1), (4, 64), (7, 80)])
def test_the_barrier_of_the_grid(kernels: Any, grid: int, block: int) -> None:
    n = grid * block
    a, out = np.full(n, -1, np.int32), np.full(n, -1, np.int32)
    simt.launch(kernels["meet"], grid, block, a, out)
    assert out.tolist() == [(i * 7 + 5) % n for i in range(n)]


def test_more_blocks_than_fit_cannot_meet(kernels: Any) -> None:
    n = 132 * 32 + 1  # an H200 holds 32 blocks on each of 132 SMs
    with pytest.raises(LaunchError, match=r"waits for all of its blocks, and .* holds 4224 at a time"):
        simt.launch(kernels["meet"], n, 32, np.zeros(32 * n, np.int32), np.zeros(32 * n, np.int32))
