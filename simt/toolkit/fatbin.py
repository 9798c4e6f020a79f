"""Fat binaries, and object files, executables and libraries that hold them: ``cuobjdump`` takes the cubins out."""

from __future__ import annotations

import re
import subprocess
from pathlib import Path

from simt.check import KernelError, LaunchError
from simt.toolkit.find import find_program

_MAGIC = b"\x50\xed\x55\xba"
_ELF = b"\x7fELF"
_MACHINE = slice(18, 20)  # e_machine of an ELF header
_EM_CUDA = (190).to_bytes(2, "little")
_NAME = re.compile(r"\.sm_(\d+)[a-z]?\.cubin$")


def is_container(data: bytes) -> bool:
    """Whether a file of these bytes is a fat binary, or an ELF file for a host that holds one."""
    if data.startswith(_MAGIC):
        return True
    return data.startswith(_ELF) and data[_MACHINE] != _EM_CUDA and _MAGIC in data


def _cuobjdump(*arguments: str, folder: Path) -> str:
    program = find_program("cuobjdump")
    done = subprocess.run([program, *arguments], capture_output=True, text=True, check=False, cwd=folder)
    return done.stdout + done.stderr


def extract(path: Path, folder: Path) -> dict[int, list[Path]]:
    """Take the cubins of a file out into *folder*; by architecture number.

    Raises KernelError if it has none, UnsupportedError if cuobjdump is missing.
    """
    said = _cuobjdump("-xelf", "all", str(path.resolve()), folder=folder)
    found: dict[int, list[Path]] = {}
    for cubin in sorted(folder.glob("*.cubin")):
        match = _NAME.search(cubin.name)
        if match:
            found.setdefault(int(match[1]), []).append(cubin)
    if not found:
        raise KernelError(
            f"{path} holds no machine code for NVIDIA GPUs",
            details=[line for line in said.strip().splitlines()[:3] if line],
            help="PTX alone is not enough: compile with nvcc -arch=sm_90, or -gencode with code=sm_90",
        )
    return found


def choose(path: Path, found: dict[int, list[Path]], architecture: str | None) -> list[Path]:
    """The cubins of one architecture such as ``"sm_90"``.  Raises LaunchError if it is not clear which, or absent."""
    present = ", ".join(f"sm_{number}" for number in sorted(found))
    if architecture is None:
        if len(found) > 1:
            raise LaunchError(
                f"{path} has machine code for {present}",
                help=f'say which: load_cubin(..., architecture="sm_{max(found)}"), or --arch sm_{max(found)}',
            )
        return next(iter(found.values()))
    cubins = found.get(number_of(architecture))
    if cubins is None:
        raise LaunchError(f"{path} has no machine code for {architecture}", help=f"it has some for {present}")
    return cubins


def number_of(architecture: str) -> int:
    """90 of ``"sm_90"``.  Raises LaunchError for anything else."""
    match = re.fullmatch(r"sm_(\d+)[a-z]?", architecture)
    if match is None:
        raise LaunchError(f"{architecture!r} is not an architecture", help='write "sm_90", for instance')
    return int(match[1])
