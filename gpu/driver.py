"""The one module that imports Numba's CUDA target, so that a change of target is a change here.

Two packages provide ``numba.cuda``: Numba itself (deprecated there) and NVIDIA's numba-cuda, which takes the name
over when it is installed.  Nothing else in this package imports either; kernels do (``from numba import cuda``),
because that is the dialect.
"""

from __future__ import annotations

import re
import shutil
import subprocess
from functools import cache
from pathlib import Path
from typing import Any

from gpu.errors import CompilationError, DeviceFaultError, DeviceMemoryError, GpuError, NoGpuError
from simt.check import LaunchError, SimtError

INSTALL = "pip install 'simt[gpu]'; without a GPU the same kernels run with simt.launch and `simt reduce`"

OUT_OF_MEMORY = 2
NO_DEVICE = 100
INVALID_VALUE = 1
OUT_OF_RESOURCES = 701
LAUNCH_FAULTS = {
    700: "an illegal address was accessed",
    702: "the launch timed out",
    710: "an assertion failed on the device",
    714: "a stack error",
    715: "an illegal instruction",
    716: "a misaligned address was accessed",
    717: "an access to an address space that the instruction cannot reach",
    718: "an invalid program counter",
    719: "an unspecified launch failure",
}
"""CUresult codes (CUDA Driver API, "CUDA_ERROR_*") after which a context is unusable."""


@cache
def cuda() -> Any:
    """The module ``numba.cuda``.  NoGpuError if it cannot be imported."""
    try:
        from numba import cuda as module
    except Exception as error:  # whatever a broken installation raises: numba-cuda 0.30 raises AttributeError
        raise NoGpuError(
            "Numba's CUDA target cannot be imported",
            details=(f"{type(error).__name__}: {error}",),
            help="numba-cuda 0.30 needs NumPy below 2.5: " + INSTALL,
        ) from None
    return module


def simulated() -> bool:
    """Whether ``numba.cuda`` is Numba's own CUDA simulator (NUMBA_ENABLE_CUDASIM=1)."""
    from numba import config

    return bool(config.ENABLE_CUDASIM)


@cache
def unusable() -> NoGpuError | None:
    """Why there is no usable GPU; None if there is one.  Asked once per process."""
    if simulated():
        return NoGpuError("NUMBA_ENABLE_CUDASIM is set: Numba runs its own simulator instead of a GPU")
    try:
        module = cuda()
    except NoGpuError as error:
        return error
    problem = module.cuda_error()
    if problem is not None:
        no_device = "NO_DEVICE" in str(problem) or str(NO_DEVICE) in str(problem)
        title = "there is a driver, but no device" if no_device else "no CUDA driver was found"
        lines = tuple(line.strip() for line in str(problem).strip().splitlines() if line.strip(" :"))
        return NoGpuError(title, details=lines, help=INSTALL)
    if not module.is_available():
        return NoGpuError("there is a driver, but NVIDIA's compiler (NVVM) is missing", help=INSTALL)
    try:
        count = len(module.gpus)
    except Exception as error:  # the driver's own exception classes differ between the two packages
        return NoGpuError("there is a driver, but no device", details=(str(error),), help=INSTALL)
    if count == 0:
        return NoGpuError("there is a driver, but no device", help="check CUDA_VISIBLE_DEVICES")
    return None


def need() -> Any:
    """The module ``numba.cuda`` with a usable GPU behind it; NoGpuError otherwise."""
    error = unusable()
    if error is not None:
        raise error
    return cuda()


def versions() -> dict[str, str]:
    """Versions of the packages and the CUDA runtime that make and run the machine code."""
    from importlib import metadata

    found = {}
    for name in ("numba", "numba-cuda", "numpy", "llvmlite", "cuda-bindings", "nvidia-nvvm", "nvidia-nvjitlink"):
        try:
            found[name] = metadata.version(name)
        except metadata.PackageNotFoundError:
            continue
    if unusable() is None:
        found["cuda"] = ".".join(map(str, cuda().runtime.get_version()))
        found["driver"] = driver_version()
    return found


def driver_version() -> str:
    """The driver's version as NVIDIA numbers it (``580.159.04``); empty if it cannot be found out."""
    about = Path("/proc/driver/nvidia/version")
    if about.is_file():
        match = re.search(r"\b(\d{3}\.\d+(?:\.\d+)?)\b", about.read_text(encoding="utf-8", errors="replace"))
        if match:
            return match.group(1)
    tool = shutil.which("nvidia-smi")
    if tool is None:
        return ""
    asked = subprocess.run(
        [tool, "--query-gpu=driver_version", "--format=csv,noheader"], capture_output=True, text=True, check=False
    )
    return asked.stdout.splitlines()[0].strip() if asked.returncode == 0 and asked.stdout.strip() else ""


_lost: list[str] = []
"""Why the context of this process is lost, once it is."""


def ensure_alive() -> None:
    """DeviceFaultError if an earlier kernel of this process has faulted."""
    if _lost:
        raise _fault(f"an earlier kernel of this process faulted ({_lost[0]})")


def _fault(title: str) -> DeviceFaultError:
    return DeviceFaultError(
        title,
        details=("CUDA's context is lost: this process can no longer use the GPU or read its arrays back",),
        help="simt.launch finds the access, with line, lane and address; then start a new process",
    )


def translate(error: Exception, kernel: str) -> SimtError | None:
    """The error of simt's family for an exception of Numba or the driver; None if it is neither."""
    from numba.core.errors import NumbaError

    code = getattr(error, "code", None)
    code = int(code) if code is not None else None
    if code in LAUNCH_FAULTS:
        _lost.append(f"{kernel}: {LAUNCH_FAULTS[code]}")
        return _fault(f"{kernel}: {LAUNCH_FAULTS[code]} (CUDA error {code})")
    if code == OUT_OF_MEMORY:
        return DeviceMemoryError(
            f"{kernel}: not enough memory on the device", help="use less data, or free what other programs hold"
        )
    if code in (INVALID_VALUE, OUT_OF_RESOURCES):
        return LaunchError(f"{kernel}: the device refused the launch", details=(str(error),))
    names = {base.__name__ for base in type(error).__mro__}
    if isinstance(error, NumbaError) or names & {"NumbaError", "NvvmError", "LinkerError", "NvrtcError"}:
        first = tuple(line for line in str(error).splitlines() if line.strip())[:12]
        return CompilationError(kernel, details=first)
    if code is not None or "CudaDriverError" in names:
        return GpuError(f"{kernel}: the driver reports an error", details=(str(error),))
    return None
