"""Where NVIDIA's tools, libraries and headers are: named by the environment, in wheels, or in a toolkit on PATH."""

from __future__ import annotations

import os
import shutil
from collections.abc import Iterator
from functools import cache
from importlib import metadata
from pathlib import Path

from simt.check import MissingError

INSTALL = "pip install 'simt[sass]'"
"""The command that installs every tool."""

_WHEELS = {
    "cuobjdump": ("nvidia-cuda-cuobjdump",),
    "nvcc": ("nvidia-cuda-nvcc",),
    "nvlink": ("nvidia-cuda-nvcc",),
    "nvdisasm": ("nvidia-cuda-nvdisasm",),
    "ptxas": ("nvidia-cuda-nvcc",),
    "nvrtc": ("nvidia-cuda-nvrtc", "nvidia-cuda-nvrtc-cu12"),
    "cuda_runtime.h": ("nvidia-cuda-runtime", "nvidia-cuda-runtime-cu12"),
}
"""The wheels that hold each program, library or header."""

_PATH_FIRST = {"nvcc"}
"""Programs of which the user's own goes before that of a wheel: it built what the program is linked with."""


def find_program(name: str) -> str:
    """Path of one of NVIDIA's programs: from the environment variable SIMT_<NAME>, its wheel, or PATH.

    Raises MissingError, which names the extra to install.
    """
    given = os.environ.get(f"SIMT_{name.upper()}")
    if given:
        return given
    on_path = shutil.which(name)
    if on_path and name in _PATH_FIRST:
        return on_path
    found = next(_in_wheels(name, (name, f"{name}.exe")), None)
    if found is not None:
        return str(found)
    if on_path:
        return on_path
    raise MissingError(f"{name} is not installed, and the machine view needs it", help=INSTALL)


def identity(program: str) -> str:
    """What tells one program or library from another, for the names of cache entries."""
    try:
        about = Path(program).stat()
    except OSError:  # a name that the shell finds
        return program
    return f"{program} {about.st_size} {about.st_mtime_ns}"


@cache
def nvrtc_library() -> Path:
    """NVIDIA's run-time compiler: from the environment variable SIMT_NVRTC, its wheel, or the toolkit of nvcc.

    Raises MissingError if there is none.
    """
    given = os.environ.get("SIMT_NVRTC")
    if given:
        return Path(given)
    for path in (*_in_wheels("nvrtc"), *_in_toolkit("lib64/libnvrtc.so*", "bin/nvrtc64_*.dll")):
        if path.name.startswith(("libnvrtc.so", "nvrtc64_")) and ".alt." not in path.name:
            return path
    raise MissingError(
        "compiling CUDA C needs NVIDIA's run-time compiler NVRTC, which is not installed",
        help=f"{INSTALL}; or make a cubin elsewhere: nvcc -cubin -arch=sm_90 -lineinfo FILE.cu",
    )


@cache
def include_folder() -> Path | None:
    """The folder with CUDA's headers (``cuda_runtime.h``), of the wheel or of the toolkit of nvcc; None without."""
    for path in (*_in_wheels("cuda_runtime.h", ("cuda_runtime.h",)), *_in_toolkit("include/cuda_runtime.h")):
        return path.parent
    return None


def _in_wheels(name: str, files: tuple[str, ...] | None = None) -> Iterator[Path]:
    """The files with these names (None: all) of the wheels for a program, library or header."""
    for wheel in _WHEELS[name]:
        try:
            listed = metadata.files(wheel)
        except metadata.PackageNotFoundError:
            continue
        for file in listed or ():
            if files is None or file.name in files:
                path = Path(str(file.locate()))
                if path.exists():
                    yield path


def _in_toolkit(*patterns: str) -> Iterator[Path]:
    """Files of the CUDA toolkit: that of CUDA_HOME, or that which the nvcc on PATH belongs to."""
    roots = [os.environ[name] for name in ("CUDA_HOME", "CUDA_PATH") if os.environ.get(name)]
    nvcc = shutil.which("nvcc")
    if nvcc:
        roots.append(str(Path(nvcc).resolve().parents[1]))
    for root in roots:
        for pattern in patterns:
            yield from sorted(Path(root).glob(pattern))
