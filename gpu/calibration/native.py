"""Cubins on a GPU through the driver's C interface, which needs nothing but the driver."""

from __future__ import annotations

import csv
import ctypes
import subprocess
import sys
import tempfile
from collections.abc import Sequence
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from gpu import ncu
from gpu.errors import GpuError, NoGpuError, ProfilerError

ATTRIBUTES = {
    "multiprocessors": 16,
    "clock_khz": 13,
    "memory_clock_khz": 36,
    "memory_bus_bits": 37,
    "l2_cache_bytes": 38,
    "major": 75,
    "minor": 76,
}
"""CUdevice_attribute, CUDA Driver API."""


@cache
def _library() -> Any:
    name = "nvcuda.dll" if sys.platform == "win32" else "libcuda.so.1"
    try:
        library = ctypes.CDLL(name)
    except OSError as error:
        raise NoGpuError("no CUDA driver was found", details=(str(error),)) from None
    library.cuGetErrorString.argtypes = [ctypes.c_int, ctypes.POINTER(ctypes.c_char_p)]
    return library


def _check(code: int, what: str) -> None:
    if code == 0:
        return
    said = ctypes.c_char_p()
    _library().cuGetErrorString(code, ctypes.byref(said))
    raise GpuError(f"{what} fails: {(said.value or str(code).encode()).decode()}")


class Native:
    """One GPU, and what is loaded on it; of this process for as long as it lives."""

    def __init__(self, index: int) -> None:
        library = _library()
        if library.cuInit(0) != 0:
            raise NoGpuError("there is a driver, but no device")
        count = ctypes.c_int()
        _check(library.cuDeviceGetCount(ctypes.byref(count)), "counting devices")
        if not 0 <= index < count.value:
            raise NoGpuError(f"there is no device {index}", help=f"this process has {count.value}, from 0 on")
        self._device = ctypes.c_int()
        _check(library.cuDeviceGet(ctypes.byref(self._device), index), "cuDeviceGet")
        context = ctypes.c_void_p()
        _check(library.cuDevicePrimaryCtxRetain(ctypes.byref(context), self._device), "a context")
        _check(library.cuCtxSetCurrent(context), "a context")
        self._index = index
        self._cubin = b""
        self._kernels: dict[str, ctypes.c_void_p] = {}
        self._module = ctypes.c_void_p()

    @property
    def name(self) -> str:
        """The GPU's name."""
        text = ctypes.create_string_buffer(256)
        _check(_library().cuDeviceGetName(text, 256, self._device), "cuDeviceGetName")
        return text.value.decode("utf-8", "replace")

    @property
    def place(self) -> str:
        """Where it is on the PCI bus, which names it for nvidia-smi."""
        text = ctypes.create_string_buffer(32)
        _check(_library().cuDeviceGetPCIBusId(text, 32, self._device), "cuDeviceGetPCIBusId")
        return text.value.decode()

    @property
    def driver(self) -> str:
        """The newest CUDA version that the driver knows: ``"13.0"``."""
        version = ctypes.c_int()
        _check(_library().cuDriverGetVersion(ctypes.byref(version)), "cuDriverGetVersion")
        return f"{version.value // 1000}.{version.value % 1000 // 10}"

    @property
    def memory_bytes(self) -> int:
        """Of the device."""
        size = ctypes.c_size_t()
        _check(_library().cuDeviceTotalMem_v2(ctypes.byref(size), self._device), "cuDeviceTotalMem")
        return size.value

    def attribute(self, name: str) -> int:
        """A number of :data:`ATTRIBUTES`."""
        value = ctypes.c_int()
        _check(_library().cuDeviceGetAttribute(ctypes.byref(value), ATTRIBUTES[name], self._device), name)
        return value.value

    def load(self, cubin: bytes) -> None:
        """Load the kernels of a cubin."""
        self._cubin = cubin
        _check(_library().cuModuleLoadData(ctypes.byref(self._module), cubin), "loading a cubin")

    def array(self, values: npt.NDArray[Any]) -> Array:
        """An array on the device with these values."""
        return Array(values)

    def launch(self, kernel: str, blocks: int, threads: int, args: Sequence[Array | np.generic]) -> None:
        """Launch a kernel of the loaded cubin, and wait for its end."""
        if kernel not in self._kernels:
            function = ctypes.c_void_p()
            found = _library().cuModuleGetFunction(ctypes.byref(function), self._module, kernel.encode())
            _check(found, f"kernel {kernel}")
            self._kernels[kernel] = function
        values = [arg.address if isinstance(arg, Array) else np.array(arg) for arg in args]
        pointers = (ctypes.c_void_p * len(values))(*(value.ctypes.data for value in values))
        shape = [ctypes.c_uint(size) for size in (blocks, 1, 1, threads, 1, 1, 0)]
        _check(_library().cuLaunchKernel(self._kernels[kernel], *shape, None, pointers, None), f"kernel {kernel}")
        _check(_library().cuCtxSynchronize(), f"kernel {kernel}")

    def profiled(self, kernel: str, blocks: int, threads: int, times: int) -> list[float]:
        """Cycles in which no SM works, of so many launches of a kernel of a word a thread, by Nsight Compute.

        They run in a process of their own.  Raises ProfilerError if it is not there, or may not profile.
        """
        program = ncu.find()
        with tempfile.TemporaryDirectory(prefix="simt-calibrate-") as folder:
            cubin = Path(folder) / "kernels.cubin"
            cubin.write_bytes(self._cubin)
            child = [sys.executable, "-m", "gpu.calibration.launches", str(self._index), str(cubin), kernel]
            command = [program, *_PAGE, "--metrics", _METRICS, *child, str(blocks), str(threads), str(times)]
            try:
                said = subprocess.run(
                    command, capture_output=True, text=True, errors="replace", timeout=WAIT, check=False
                )
            except subprocess.TimeoutExpired:
                help = "does another profiler use the GPU? It lets one at a time"
                raise ProfilerError(f"Nsight Compute took more than {WAIT:g} s", help=help) from None
        rows = list(csv.DictReader(line for line in said.stdout.splitlines() if line.startswith('"')))[1:]  # units
        if said.returncode != 0 or len(rows) < times:
            raise ncu.explain(said.stdout + said.stderr)
        launched, at_work = ([float(row[name].replace(",", "")) for row in rows] for name in _CYCLES)
        return [whole - part for whole, part in zip(launched, at_work, strict=True)]


WAIT = 120.0
"""Seconds for Nsight Compute, which takes about ten, but waits for another one."""

_CYCLES = "sm__cycles_elapsed.max", "sm__cycles_active.max"
"""Of a launch, and of the SM that works longest in it."""

_BESIDE = (
    "l1tex__t_sector_hit_rate.pct", "lts__t_sector_hit_rate.pct", "dram__bytes_read.sum", "smsp__inst_executed.sum",
    "sm__inst_executed.avg.per_cycle_active",
)  # fmt: skip
"""Counted so that launches are replayed, as in most profiles.

Else all but the first seven take 200 to 350 cycles longer (an H100, Nsight Compute 2025.3.1, 28 November 2026).
"""

_METRICS = ",".join((*_CYCLES, *_BESIDE))
_PAGE = ("--csv", "--page", "raw", "--print-units", "base", "--clock-control", "none")


class Array:
    """An array in device memory."""

    def __init__(self, values: npt.NDArray[Any]) -> None:
        self._like = values
        pointer = ctypes.c_uint64()
        code = _library().cuMemAlloc_v2(ctypes.byref(pointer), ctypes.c_size_t(values.nbytes))
        _check(code, f"allocating {values.nbytes:,} bytes")
        self.address = np.array(pointer.value, np.uint64)
        source = ctypes.c_void_p(values.ctypes.data)
        _check(_library().cuMemcpyHtoD_v2(pointer, source, ctypes.c_size_t(values.nbytes)), "copying to the device")

    def read(self) -> npt.NDArray[Any]:
        """Its values now."""
        values = np.empty_like(self._like)
        there = ctypes.c_uint64(int(self.address))
        target = ctypes.c_void_p(values.ctypes.data)
        _check(_library().cuMemcpyDtoH_v2(target, there, ctypes.c_size_t(values.nbytes)), "copying from the device")
        return values
