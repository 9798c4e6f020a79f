"""``__device__`` and ``__constant__`` variables: read, set, kept from one launch to the next, restored after an error.

Needs machine code only: tests/data/sass/variables.cu.
"""

from __future__ import annotations

import gc
import weakref
from pathlib import Path

import numpy as np
import pytest

import simt
from simt.check import KernelError, LaunchError, OutOfBoundsError
from simt.sass import Kernels
from tests.machine_view import needs_nvdisasm

CUBIN = Path(__file__).parent.parent / "data" / "sass" / "sm_90" / "variables_O3.cubin"

pytestmark = needs_nvdisasm


@pytest.fixture
def kernels() -> Kernels:
    """A module of its own, as it is when it has just been loaded."""
    loaded = simt.load_cubin(CUBIN)
    assert isinstance(loaded, Kernels)
    return loaded


def test_what_the_file_has(kernels: Kernels) -> None:
    module = kernels["sum"].module
    assert set(module) == {"weights", "offset", "counter", "table", "place", "chosen"}
    assert module["offset"].tolist() == [5]
    assert module["table"].view(np.float64).tolist() == [0.5, 1.5, 2.5]
    assert (module["weights"].dtype, module["weights"].shape) == (np.int32, (4,))
    assert module["place"].dtype == np.int64
    assert kernels["weigh"].module is module


def test_a_constant_that_the_host_sets(kernels: Kernels) -> None:
    module = kernels["weigh"].module
    module["weights"].view(np.float32)[:] = [1, 10, 100, 1000]
    module["offset"][:] = 7
    found = np.zeros(8, np.float32)
    simt.launch(kernels["weigh"], 1, 8, np.arange(8, dtype=np.int32), found)
    assert found.tolist() == [7, 17, 207, 3007, 11, 57, 607, 7007]


def test_what_one_launch_writes_is_there_in_the_next(kernels: Kernels) -> None:
    counter = kernels["count"].module["counter"]
    for launches in range(1, 4):
        simt.launch(kernels["count"], 2, 40)
        assert counter.tolist() == [80 * launches]
    counter[:] = -1
    simt.launch(kernels["count"], 1, 1)
    assert counter.tolist() == [0]


def test_a_timed_launch_writes_once(kernels: Kernels) -> None:
    simt.launch(kernels["count"], 2, 40, timing=True)
    assert kernels["count"].module["counter"].tolist() == [80]


def test_a_pointer_that_a_launch_changed_is_not_relocated_again(kernels: Kernels) -> None:
    module = kernels["point"].module
    before = module["place"][0]
    simt.launch(kernels["count"], 1, 32)
    assert module["counter"].tolist() == [32]
    elsewhere = np.zeros(4, np.int32)
    simt.launch(kernels["point"], 1, 1, elsewhere)
    assert module["place"][0] != before
    with pytest.raises(KernelError):  # the array has left device memory
        simt.launch(kernels["count"], 1, 32)
    assert module["counter"].tolist() == [32]


def test_a_pointer_to_a_function_goes_from_kernel_to_kernel(kernels: Kernels) -> None:
    data = np.arange(8, dtype=np.int32)
    simt.launch(kernels["apply"], 1, 8, data)
    assert data.tolist() == [0, 2, 4, 6, 8, 10, 12, 14]
    simt.launch(kernels["choose"], 1, 1)
    simt.launch(kernels["apply"], 1, 8, data)
    assert data.tolist() == [(2 * k) ** 2 for k in range(8)]


def test_after_an_error_variables_are_as_they_were(kernels: Kernels) -> None:
    module = kernels["count"].module
    module["counter"][:] = 5
    data = np.arange(8, dtype=np.int32)
    with pytest.raises(OutOfBoundsError):
        simt.launch(kernels["count_and_fail"], 1, 8, data)
    assert module["counter"].tolist() == [5]
    assert data.tolist() == list(range(8))


def test_modules_of_one_file_have_variables_of_their_own(kernels: Kernels) -> None:
    other = simt.load_cubin(CUBIN)
    simt.launch(kernels["count"], 1, 32)
    assert kernels["count"].module["counter"].tolist() == [32]
    assert other["count"].module["counter"].tolist() == [0]


def test_an_unknown_name(kernels: Kernels) -> None:
    with pytest.raises(LaunchError, match="has no variable 'countr'") as caught:
        kernels["count"].module["countr"]
    assert isinstance(caught.value, KeyError)
    assert "did you mean counter?" in str(caught.value)
    assert "countr" not in kernels["count"].module


def test_a_note_about_what_nobody_set(kernels: Kernels) -> None:
    """Of a variable without initial value that a kernel loads: no counter, and not once the host has asked for it."""
    data, out = np.arange(8, dtype=np.int32), np.zeros(8, np.float32)
    (note,) = simt.launch(kernels["weigh"], 1, 8, data, out).notes
    assert note.startswith("the kernel reads `weights`, which has no initial value and was not set")
    assert f"note: {note}" in str(simt.launch(kernels["weigh"], 1, 8, data, out))
    assert not simt.launch(kernels["count"], 1, 8).notes
    assert not simt.launch(kernels["sum"], 1, 1, np.zeros(1)).notes
    kernels["weigh"].module["weights"][:] = 0
    assert not simt.launch(kernels["weigh"], 1, 8, data, out).notes


def test_a_note_about_a_variable_in_global_memory(tmp_path: Path) -> None:
    """``table`` with zeros for its initial values cannot be told from one that has none; ``sum`` reads it."""
    path = tmp_path / "zeros.cubin"
    values = np.array([0.5, 1.5, 2.5]).tobytes()
    assert CUBIN.read_bytes().count(values) == 1
    path.write_bytes(CUBIN.read_bytes().replace(values, bytes(len(values))))
    kernels = simt.load_cubin(path)
    (note,) = simt.launch(kernels["sum"], 1, 1, np.zeros(1)).notes
    assert note.startswith("the kernel reads `table`, which has no initial value and was not set")


def test_a_view_reaches_all_of_its_buffer(kernels: Kernels) -> None:
    """Machine code has pointers without ends: ``in[threadIdx.x]`` of the middle of a buffer, and before it."""
    buffer = np.arange(64, dtype=np.int32)
    out = np.zeros(64, np.float32)
    kernels["weigh"].module["weights"].view(np.float32)[:] = 1
    simt.launch(kernels["weigh"], 1, 16, buffer[40:44], out[8:9])
    assert out.tolist() == [0] * 8 + [5.0 + value for value in range(40, 56)] + [0] * 40
    with pytest.raises(OutOfBoundsError, match="nearest allocation: `parameter 0`, 256 bytes"):
        simt.launch(kernels["weigh"], 1, 32, buffer[40:44], out)


def test_device_memory_goes_with_the_last_kernel() -> None:
    """It is much, and the next garbage collection may be far: no circle of references holds it."""
    kernels = simt.load_cubin(CUBIN)
    memory = weakref.ref(kernels["count"].module.memory.context)
    gc.disable()
    try:
        simt.launch(kernels["count"], 2, 40)
        with pytest.raises(OutOfBoundsError):
            simt.launch(kernels["count_and_fail"], 1, 8, np.arange(8, dtype=np.int32))
        assert memory() is not None
        del kernels
        assert memory() is None
    finally:
        gc.enable()
