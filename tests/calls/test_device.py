"""``simt.Device``: what stays between launches, and what a launch there counts."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numba import cuda

import simt
from simt.calls import LostDeviceError
from simt.check import KernelError, LaunchError, OutOfBoundsError
from simt.devices import DeviceError
from tests.machine_view import needs_nvdisasm

SASS = Path(__file__).parent.parent / "data" / "sass" / "sm_90"


@cuda.jit
def scale(x, factor):
    i = cuda.grid(1)
    if i < x.size:
        x[i] *= factor


@cuda.jit
def shift(x, by):
    i = cuda.grid(1)
    x[i + by] = x[i]


def data(n: int = 64) -> npt.NDArray[np.float32]:
    return np.arange(n, dtype=np.float32)


def test_what_a_kernel_writes_stays_for_the_next() -> None:
    gpu = simt.Device()
    x = gpu.array(data())
    address = x.address
    for _ in range(3):
        gpu.launch(scale, 2, 32, x, np.float32(2))
    assert x.address == address
    assert x.numpy().tolist() == (8 * data()).tolist()
    assert len(gpu.profiles) == 3


def test_counts_are_those_of_a_launch_from_numpy() -> None:
    gpu = simt.Device()
    gpu.array(np.zeros(1000))  # other addresses than alone
    on_device = gpu.launch(scale, 3, 32, gpu.array(data()), np.float32(2))
    alone = simt.launch(scale, 3, 32, data(), np.float32(2))
    assert on_device.to_dict()["metrics"] == alone.to_dict()["metrics"]


def test_numpy_arrays_are_copied_for_the_launch() -> None:
    gpu = simt.Device()
    x, before = data(), gpu.memory.allocated
    gpu.launch(scale, 2, 32, x, np.float32(3))
    assert x.tolist() == (3 * data()).tolist()
    assert gpu.memory.allocated == before


def test_after_an_error_memory_is_as_the_kernel_left_it_and_the_device_is_lost() -> None:
    gpu = simt.Device()
    x, other = gpu.array(data()), gpu.array(data())
    gpu.launch(scale, 2, 32, other, np.float32(2))
    with pytest.raises(OutOfBoundsError):
        gpu.launch(shift, 1, 64, x, 32)
    assert x.numpy()[32:64].tolist() == data()[:32].tolist()  # the first warp had stored
    with pytest.raises(LostDeviceError, match="an earlier kernel went wrong") as caught:
        gpu.launch(scale, 2, 32, other, np.float32(2))
    assert isinstance(caught.value.cause, OutOfBoundsError)
    with pytest.raises(LostDeviceError):
        gpu.synchronize()
    assert other.numpy().tolist() == (2 * data()).tolist()
    assert len(gpu.profiles) == 1


def test_options_of_a_device_are_those_of_its_launches() -> None:
    gpu = simt.Device(check="initcheck", keep_going=True, schedule="adversarial")
    (finding,) = gpu.launch(scale, 1, 32, gpu.empty(32, np.float32), 2).findings
    assert finding.schedule == "adversarial"
    assert gpu.launch(scale, 1, 32, gpu.empty(32, np.float32), 2, check=()).findings == ()
    with pytest.raises(LaunchError, match="no check 'leakcheck'"):
        simt.Device(check="leakcheck")
    with pytest.raises(LaunchError, match="no option 'chek'"):
        simt.Device(chek="all")


def test_a_wrong_launch_does_not_lose_the_device() -> None:
    gpu = simt.Device()
    x = gpu.array(data())
    with pytest.raises(LaunchError):
        gpu.launch(scale, 0, 32, x, np.float32(2))
    with pytest.raises(LaunchError, match="no option 'tread'") as caught:
        gpu.launch(scale, 1, 32, x, np.float32(2), tread=2)
    assert "did you mean threads" in str(caught.value)
    gpu.launch(scale, 2, 32, x, np.float32(2))


def test_a_freed_array_is_refused_and_its_memory_used_again() -> None:
    gpu = simt.Device()
    x = gpu.array(data())
    address = x.address
    x.free()
    with pytest.raises(LaunchError, match="was freed"):
        gpu.launch(scale, 2, 32, x, np.float32(2))
    with pytest.raises(LaunchError, match="was freed"):
        x.free()
    assert gpu.array(data()).address == address


def test_arrays_belong_to_one_device() -> None:
    x = simt.Device().array(data())
    for launch in (simt.Device().launch, simt.launch):
        with pytest.raises(LaunchError, match="in the memory of a device that this launch is not for"):
            launch(scale, 2, 32, x, np.float32(2))


def test_a_closed_device_refuses_launches() -> None:
    with simt.Device() as gpu:
        x = gpu.array(data())
    with pytest.raises(LaunchError, match="the device is closed"):
        gpu.launch(scale, 2, 32, x, np.float32(2))
    assert x.numpy().tolist() == data().tolist()


def test_a_timed_launch_writes_once_and_takes_time() -> None:
    gpu = simt.Device(timing=True)
    x = gpu.array(data())
    first = gpu.launch(scale, 2, 32, x, np.float32(2))
    gpu.launch(scale, 2, 32, x, np.float32(2))
    assert x.numpy().tolist() == (4 * data()).tolist()
    assert first.timing is not None
    starts = [each.start for each in gpu.activities.launched]
    assert starts[1] - starts[0] == pytest.approx(first.timing.seconds)


def test_python_objects_are_refused() -> None:
    with pytest.raises(LaunchError, match="Python objects"):
        simt.Device().array(np.array([None]))


@given(
    values=st.lists(
        st.tuples(st.sampled_from(["i1", "u2", "i4", "f8", "c8"]), st.lists(st.integers(0, 3), max_size=3))
    ),
    freed=st.lists(st.booleans(), min_size=10, max_size=10),
)
def test_what_goes_up_comes_down(values: list[tuple[str, list[int]]], freed: list[bool]) -> None:
    gpu = simt.Device()
    held: list[tuple[Any, npt.NDArray[Any]]] = []
    for k, (dtype, shape) in enumerate(values):
        host = (np.arange(np.prod(shape, dtype=int)) + k).reshape(shape).astype(dtype)
        held.append((gpu.array(host[..., ::-1] if shape else host), host[..., ::-1] if shape else host))
        if freed[k % 10]:
            held.pop(0)[0].free()
    for made, host in held:
        assert (made.shape, made.dtype) == (host.shape, host.dtype)
        np.testing.assert_array_equal(np.asarray(made), host)
    assert gpu.memory.allocated == sum(host.nbytes for _, host in held)


@needs_nvdisasm
def test_machine_code_and_its_variables_live_on_the_device() -> None:
    gpu = simt.Device()
    kernels = gpu.load(SASS / "variables_O3.cubin")
    out = gpu.array(np.zeros(8, np.float32))
    kernels["weigh"].module["weights"].view(np.float32)[:] = [1, 10, 100, 1000]
    gpu.launch(kernels["weigh"], 1, 8, gpu.array(np.arange(8, dtype=np.int32)), out)
    assert out.numpy().tolist() == [5, 15, 205, 3005, 9, 55, 605, 7005]
    gpu.launch(kernels["count"], 2, 40)
    gpu.launch(kernels["count"], 2, 40)
    assert kernels["count"].module["counter"].tolist() == [160]


@needs_nvdisasm
def test_a_module_of_elsewhere_is_refused_if_it_has_variables() -> None:
    with pytest.raises(LaunchError, match="variables in the memory of another device"):
        simt.Device().launch(simt.load_cubin(SASS / "variables_O3.cubin")["count"], 1, 32)


@needs_nvdisasm
def test_machine_code_for_another_device() -> None:
    with pytest.raises(DeviceError, match="does not run sm_90 code"):
        simt.Device("a100").load(SASS / "variables_O3.cubin")


@needs_nvdisasm
def test_an_error_keeps_what_a_kernel_wrote_to_variables() -> None:
    gpu = simt.Device()
    kernels = gpu.load(SASS / "variables_O3.cubin")
    counter = kernels["count"].module["counter"]
    counter[:] = 5
    with pytest.raises(KernelError):
        gpu.launch(kernels["count_and_fail"], 1, 8, gpu.array(np.arange(8, dtype=np.int32)))
    assert counter.tolist() != [5]
