"""Debug code (nvcc -G) and optimised code of one file: constants, functions and strings behind pointers, assertions."""

from __future__ import annotations

import zipfile
from collections.abc import Callable

import numpy as np
import numpy.typing as npt
import pytest

import simt
from simt.check import SimtError, TrapError
from simt.sass import Kernels, load_cubin
from tests.machine_view import needs_nvdisasm
from tests.sass.data import DATA

pytestmark = needs_nvdisasm

CODE = [f"sm_{architecture}_{options}" for architecture in (75, 90, 120) for options in ("G", "O3")]
N = 128
Ints = npt.NDArray[np.int32]


@pytest.fixture(scope="module", params=CODE)
def kernels(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Kernels:
    folder = tmp_path_factory.mktemp("debug")
    with zipfile.ZipFile(DATA / "debug.zip") as archive:
        return load_cubin(archive.extract(f"{request.param}.cubin", folder))


def numbers() -> Ints:
    return np.random.RandomState(1).randint(0, 300, N).astype(np.int32)


def run(kernels: Kernels, name: str, *more: object, order: str = "hardware") -> Ints:
    out = np.zeros(N, np.int32)
    simt.launch(kernels[name], N // 64, 64, numbers(), out, *more, order=order)
    return out


def test_constants(kernels: Kernels) -> None:
    """Generic pointers to ``__constant__`` variables, also those that such variables and global ones hold."""
    a = numbers().astype(np.float32)
    sums, picked = np.zeros(N, np.float32), np.zeros(N, np.int32)
    simt.launch(kernels["constants"], N // 64, 64, a, sums, picked, np.int32(N))
    np.testing.assert_array_equal(sums, np.convolve(a, [0.5, -1, 2, -1, 0.5], "same").astype(np.float32))
    i = np.arange(N)
    np.testing.assert_array_equal(picked, 10 ** (np.where(i & 1, 1, 2) + (i & 3)) + 7)


def test_function_pointers(kernels: Kernels) -> None:
    a, i = numbers(), np.arange(N, dtype=np.int32)
    expected = np.choose(a % 3, [a + i, a * i, a - i]) + np.where(i & 1, 3 * i, 3 - i)
    np.testing.assert_array_equal(run(kernels, "pointers"), expected)


def test_virtual_functions(kernels: Kernels) -> None:
    a, i = numbers(), np.arange(N)
    np.testing.assert_array_equal(run(kernels, "methods"), np.where(a & 1, a * a * 10 + 4, a * i * 10))


def test_a_call_to_nowhere(kernels: Kernels) -> None:
    """Optimised code calls through a table in a constant bank, whose entry 0 is no function either."""
    with pytest.raises(SimtError, match=r"null pointer|where no instruction of this kernel starts"):
        run(kernels, "nowhere", np.uint64(0))


def test_assertions(kernels: Kernels) -> None:
    np.testing.assert_array_equal(run(kernels, "checked", np.int32(N)), 2 * numbers())
    a, out = numbers(), np.zeros(N, np.int32)
    a[70] = -3
    with pytest.raises(TrapError, match=r"assertion failed: a\[i\] >= 0 \(.*debug.cu:62\)") as caught:
        simt.launch(kernels["checked"], N // 64, 64, a, out, np.int32(N))
    assert "block (1, 0, 0), warp 0, lane 6" in str(caught.value)
    simt.launch(kernels["checked"], N // 64, 64, a, out, np.int32(70))  # not executed: no error


def test_everything_together(kernels: Kernels) -> None:
    shared = numbers().reshape(-1, 64).astype(np.int64)
    sums = np.zeros_like(shared)
    fibonacci: Callable[[int], int] = [0, 1, 1, 2, 3, 5, 8, 13].__getitem__
    for block in range(len(shared)):
        for t in range(64):
            local = [int(shared[block, (3 * t + k) & 63]) // (k + 1) for k in range(8)]
            total = 0
            for k in range(8):
                value = local[(t + k) & 7]
                total += value if value % 5 else 0
                if total > 300 and value % 5:
                    break
            kind = total & 3
            sums[block, t] = [total + fibonacci(t & 7), total ^ 0x55, total.bit_count() << 3, total][kind]
    partner = sums[:, np.arange(64) ^ 1]
    for order in ("hardware", "profiler", "then_first", "else_first"):
        np.testing.assert_array_equal(run(kernels, "mixed", order=order), (shared + partner).ravel(), order)
