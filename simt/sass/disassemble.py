"""Runs NVIDIA's disassembler on a cubin."""

from __future__ import annotations

import os
import shutil
import subprocess
from importlib import metadata
from pathlib import Path

from simt.check import UnsupportedError

OLDEST = 75
"""First architecture that the disassembler of CUDA 13 knows; older code has to come as a listing."""


def find_program(name: str, wheel: str) -> str:
    """Path of one of NVIDIA's tools: from the environment variable SIMT_<NAME>, its wheel, or PATH.

    Raises UnsupportedError, which names the extra to install.
    """
    given = os.environ.get(f"SIMT_{name.upper()}")
    if given:
        return given
    try:
        for file in metadata.files(wheel) or ():
            if file.name in (name, f"{name}.exe"):
                path = Path(str(file.locate()))
                if path.exists():
                    return str(path)
    except metadata.PackageNotFoundError:
        pass
    found = shutil.which(name)
    if found:
        return found
    raise UnsupportedError(f"{name} is not installed, and the machine view needs it", help="pip install 'simt[sass]'")


def disassemble(path: Path, architecture: int) -> str:
    """Listing of a cubin with encodings and, where the cubin has it, line information.

    Raises UnsupportedError if the disassembler does not know the architecture or fails.
    """
    if architecture < OLDEST and not os.environ.get("SIMT_NVDISASM"):
        raise UnsupportedError(
            f"{path} is for sm_{architecture}, which the disassembler of CUDA 13 no longer reads",
            help="disassemble it with nvdisasm of CUDA 12 or older and pass load_cubin(path, listing=...), "
            "or set SIMT_NVDISASM to such an nvdisasm",
        )
    command = [find_program("nvdisasm", "nvidia-cuda-nvdisasm"), "-c", "-hex", "-g", str(path)]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    if done.returncode != 0:
        raise UnsupportedError(
            f"nvdisasm cannot read {path}",
            details=done.stderr.strip().splitlines()[:5],
        )
    return done.stdout
