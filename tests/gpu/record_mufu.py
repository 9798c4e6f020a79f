"""Store digests and first results of all operands of the multi-function unit; needs a GPU and nvcc.

``python -m tests.gpu.record_mufu FOLDER`` writes ``mufu.json`` and ``mufu.npz``, those of ``tests/data/hardware``.
"""

from __future__ import annotations

import json
import struct
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
from cuda.bindings import driver

from simt.ops.encoding import MUFU_FUNCTIONS
from tests.gpu.provenance import provenance

BLOCKS, RESULTS = 512, 8
WHAT = (
    "per function (rows of mufu.npz) and block of 2**23 operands (columns: one sign and exponent of a float32): "
    "digest of all results as in tests/gpu/mufu.cu, and the first eight results"
)
TURN = struct.pack("<I", 0x3E22F983)
"""1 / (2 pi), the factor of the FMUL that sin.approx and cos.approx are compiled to before MUFU."""
ONE = struct.pack("<I", 0x3F800000)


def done(answer: Any) -> Any:
    """The results of a driver call; RuntimeError if it failed."""
    if answer[0] != driver.CUresult.CUDA_SUCCESS:
        raise RuntimeError(str(answer[0]))
    return answer[1] if len(answer) == 2 else answer[1:]


def code(architecture: str) -> bytes:
    """The kernels as a cubin in which SIN and COS take turns, as MUFU does."""
    with tempfile.TemporaryDirectory() as folder:
        cubin = Path(folder) / "mufu.cubin"
        source = Path(__file__).with_name("mufu.cu")
        subprocess.run(["nvcc", "-cubin", f"-arch={architecture}", "-o", str(cubin), str(source)], check=True)
        data = cubin.read_bytes()
    if TURN not in data:
        raise RuntimeError("no FMUL by 1 / (2 pi) before MUFU.SIN: look at the machine code")
    return data.replace(TURN, ONE)


def record(module: Any, name: str) -> tuple[npt.NDArray[np.uint64], npt.NDArray[np.uint32]]:
    """Digests [512] and first results [512, 8] of one function."""
    digests, results = np.zeros(BLOCKS, np.uint64), np.zeros((BLOCKS, RESULTS), np.uint32)
    arrays: list[npt.NDArray[Any]] = [digests, results]
    addresses = [done(driver.cuMemAlloc(array.nbytes)) for array in arrays]
    for address, array in zip(addresses, arrays, strict=True):
        done(driver.cuMemcpyHtoD(address, array.ctypes.data, array.nbytes))
    kernel = done(driver.cuModuleGetFunction(module, f"mufu_{name}".encode()))
    values = [np.array([int(address)], np.uint64) for address in addresses]
    pointers = np.array([value.ctypes.data for value in values], np.uint64)
    done(driver.cuLaunchKernel(kernel, 1 << 16, 1, 1, 256, 1, 1, 0, 0, pointers.ctypes.data, 0))
    for address, array in zip(addresses, arrays, strict=True):
        done(driver.cuMemcpyDtoH(array.ctypes.data, address, array.nbytes))
        done(driver.cuMemFree(address))
    return digests, results


def main(folder: Path) -> None:
    """Record every function."""
    origin = provenance("tests.gpu.record_mufu FOLDER")  # starts the driver's context
    done(driver.cuInit(0))
    device = done(driver.cuDeviceGet(0))
    done(driver.cuCtxSetCurrent(done(driver.cuDevicePrimaryCtxRetain(device))))
    attribute = driver.CUdevice_attribute
    major = done(driver.cuDeviceGetAttribute(attribute.CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MAJOR, device))
    minor = done(driver.cuDeviceGetAttribute(attribute.CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MINOR, device))
    module = done(driver.cuModuleLoadData(code(f"sm_{major}{minor}")))
    digests, results = zip(*(record(module, name) for name in MUFU_FUNCTIONS), strict=True)
    np.savez_compressed(folder / "mufu.npz", digest=np.stack(digests), results=np.stack(results))
    (folder / "mufu.json").write_text(
        json.dumps({**origin, "functions": MUFU_FUNCTIONS, "what": WHAT}, indent=1) + "\n"
    )


if __name__ == "__main__":
    main(Path(sys.argv[1]))
