"""Runs NVIDIA's disassembler on a cubin, once: listings are cached."""

from __future__ import annotations

import os
import shutil
import subprocess
import tempfile
import zlib
from importlib import metadata
from pathlib import Path

from simt.check import UnsupportedError
from simt.disk_cache import DiskCache, cache_root, digest

OLDEST = 75
"""First architecture that the disassembler of CUDA 13 knows; older code has to come as a listing."""
LONGEST = 600
"""Seconds that the disassembler may take."""
LISTINGS = DiskCache("listings", cache_root() / "listings", most=256)
"""Compressed listings, by the cubin's bytes and the disassembler."""


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


def disassemble(shown: str, data: bytes, architecture: int) -> str:
    """Listing of a cubin (its bytes) with encodings and, where the cubin has it, line information.

    Raises UnsupportedError, which names the file *shown*, if the disassembler does not know the architecture or fails.
    """
    if architecture < OLDEST and not os.environ.get("SIMT_NVDISASM"):
        raise UnsupportedError(
            f"{shown} is for sm_{architecture}, which the disassembler of CUDA 13 no longer reads",
            help="disassemble it with nvdisasm of CUDA 12 or older and pass load_cubin(path, listing=...), "
            "or set SIMT_NVDISASM to such an nvdisasm",
        )
    program = find_program("nvdisasm", "nvidia-cuda-nvdisasm")
    packed = LISTINGS.get_or_make(
        digest(data, _identity(program)), lambda: zlib.compress(_run(program, shown, data), 1)
    )
    return zlib.decompress(packed).decode("utf-8", "replace")


def _run(program: str, shown: str, data: bytes) -> bytes:
    with tempfile.TemporaryDirectory() as folder:
        cubin = Path(folder) / "k.cubin"
        cubin.write_bytes(data)
        try:
            done = subprocess.run(
                [program, "-c", "-hex", "-g", str(cubin)], capture_output=True, check=False, timeout=LONGEST
            )
        except (OSError, subprocess.TimeoutExpired) as problem:
            raise UnsupportedError(f"nvdisasm cannot read {shown}", details=[str(problem)]) from None
    if done.returncode != 0:
        said = done.stderr.decode("utf-8", "replace").replace(str(cubin), shown)
        raise UnsupportedError(
            f"nvdisasm cannot read {shown}",
            details=said.strip().splitlines()[:5] or [f"it ended with {done.returncode}"],
        )
    return done.stdout


def _identity(program: str) -> str:
    """What tells one disassembler from another."""
    try:
        about = Path(program).stat()
    except OSError:  # a name that the shell finds
        return program
    return f"{program} {about.st_size} {about.st_mtime_ns}"
