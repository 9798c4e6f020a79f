"""No GPU: the package imports, says why it cannot run, and where else the checks run."""

from __future__ import annotations

import json
import subprocess
import sys

import numpy as np
import pytest
from numba import cuda

import gpu
from gpu import driver

pytestmark = pytest.mark.skipif(gpu.available(), reason="this machine has a GPU")


def kernel(a):
    a[cuda.grid(1)] = 1


def test_available_and_devices() -> None:
    assert not gpu.available()
    assert gpu.devices() == ()
    why = gpu.why_not()
    assert why is not None
    assert why.title
    assert why.help


@pytest.mark.parametrize("call", [gpu.launch, gpu.profile, gpu.compare])
def test_every_call_says_so(call) -> None:
    values = np.zeros(32)
    with pytest.raises(gpu.NoGpuError, match=r"simt\.launch"):
        call(kernel, 1, 32, values)
    assert not values.any()


def test_reduce_says_so() -> None:
    with pytest.raises(gpu.NoGpuError):
        gpu.reduce(np.arange(10, dtype=np.int32))


def run(*arguments: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run([sys.executable, "-m", "gpu", *arguments], capture_output=True, text=True, check=False)


def test_command_line() -> None:
    done = run()
    assert done.returncode == 3
    assert done.stdout == ""
    assert len(done.stderr.strip().splitlines()) == 1
    assert "simt reduce" in done.stderr


def test_command_line_json() -> None:
    done = run("--json")
    assert done.returncode == 3
    assert json.loads(done.stdout)["device"] is None


def test_import_needs_no_numba() -> None:
    code = "import sys, gpu; assert 'numba' not in sys.modules and 'numpy' not in sys.modules"
    assert subprocess.run([sys.executable, "-c", code], check=False).returncode == 0


class DriverError(Exception):
    def __init__(self, code: int, text: str) -> None:
        super().__init__(text)
        self.code = code


def test_driver_errors_become_ours(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(driver, "_lost", [])
    assert isinstance(driver.translate(DriverError(2, "out of memory"), "k"), gpu.DeviceMemoryError)
    driver.ensure_alive()
    assert driver.translate(ValueError("something else"), "k") is None
    fault = driver.translate(DriverError(700, "illegal address"), "k")
    assert isinstance(fault, gpu.DeviceFaultError)
    assert "context is lost" in str(fault)
    with pytest.raises(gpu.DeviceFaultError, match="earlier kernel"):
        driver.ensure_alive()
