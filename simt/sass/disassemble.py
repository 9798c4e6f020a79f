"""Runs NVIDIA's disassembler on a cubin, once: listings are kept in the user's cache folder."""

from __future__ import annotations

import hashlib
import os
import shutil
import subprocess
import tempfile
import zlib
from importlib import metadata
from pathlib import Path

from platformdirs import user_cache_path

from simt.check import UnsupportedError

OLDEST = 75
"""First architecture that the disassembler of CUDA 13 knows; older code has to come as a listing."""
LONGEST = 600
"""Seconds that the disassembler may take."""
KEPT = 256
"""Listings that the cache keeps."""


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
    path = _cached(program, data)
    text = _read(path)
    if text is None:
        text = _run(program, shown, data)
        _write(path, text)
    return text


def _run(program: str, shown: str, data: bytes) -> str:
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
    return done.stdout.decode("utf-8", "replace")


def _cached(program: str, data: bytes) -> Path:
    """Where the listing of these bytes by this very disassembler is kept."""
    digest = hashlib.sha256(data)
    try:
        about = Path(program).stat()
        digest.update(f"{program} {about.st_size} {about.st_mtime_ns}".encode())
    except OSError:  # a name that the shell finds
        digest.update(program.encode())
    return user_cache_path("simt") / "listings" / f"{digest.hexdigest()[:32]}.z"


def _read(path: Path) -> str | None:
    """A kept listing; None if there is none, or it is broken.  The digest of the text comes first."""
    try:
        raw = path.read_bytes()
        text = zlib.decompress(raw[32:])
    except (OSError, zlib.error):
        return None
    return text.decode() if hashlib.sha256(text).digest() == raw[:32] else None


def _write(path: Path, text: str) -> None:
    """Keep a listing, whole or not at all; a folder that cannot be written is no error.  The oldest make room."""
    raw = text.encode()
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        with tempfile.NamedTemporaryFile(dir=path.parent, suffix=".new", delete=False) as file:
            file.write(hashlib.sha256(raw).digest() + zlib.compress(raw, 1))
        Path(file.name).replace(path)
        kept = sorted(path.parent.iterdir(), key=lambda each: each.stat().st_mtime)
        for each in kept[:-KEPT]:
            each.unlink()
    except OSError:
        return
