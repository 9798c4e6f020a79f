"""Runs NVIDIA's disassembler on a cubin, once: listings are cached."""

from __future__ import annotations

import os
import subprocess
import tempfile
import zlib
from collections.abc import Sequence
from pathlib import Path

from simt.check import UnsupportedError
from simt.disk_cache import DiskCache, cache_root, digest
from simt.toolkit.find import find_program, identity

_FLAGS = ("-c", "-hex", "-gi")
"""Code only, with encodings, source lines, and where what was inlined came from."""
OLDEST = 75
"""First architecture that the disassembler of CUDA 13 knows; older code has to come as a listing."""
LONGEST, LONGEST_BYTE = 30.0, 30e-6
"""Seconds that the disassembler may take, and more for each byte: about 50 times what a file of 2 MB took (0.8 s).
Some damaged files keep it busy for ever."""
LISTINGS = DiskCache("listings", cache_root() / "listings", most=256)
"""Compressed listings, by the cubin's bytes and the disassembler."""


def disassemble(shown: str, data: bytes, architecture: int, functions: Sequence[int] = ()) -> str:
    """Listing of a cubin (its bytes) with encodings and, where the cubin has it, line information.

    ``functions``: numbers of the symbols of those that are wanted (default: all).

    Raises UnsupportedError, which names the file *shown*, if the disassembler does not know the architecture or fails.
    """
    if architecture < OLDEST and not os.environ.get("SIMT_NVDISASM"):
        raise UnsupportedError(
            f"{shown} is for sm_{architecture}, which the disassembler of CUDA 13 no longer reads",
            help="disassemble it with nvdisasm of CUDA 12 or older and pass load_cubin(path, listing=...), "
            "or set SIMT_NVDISASM to such an nvdisasm",
        )
    program = find_program("nvdisasm")
    wanted = ("-fun", ",".join(map(str, functions))) if functions else ()
    packed = LISTINGS.get_or_make(
        digest(data, identity(program), *_FLAGS, *wanted), lambda: zlib.compress(_run(program, wanted, shown, data), 1)
    )
    return zlib.decompress(packed).decode("utf-8", "replace")


def _run(program: str, wanted: Sequence[str], shown: str, data: bytes) -> bytes:
    with tempfile.TemporaryDirectory() as folder:
        cubin = Path(folder) / "k.cubin"
        cubin.write_bytes(data)
        command = [program, *_FLAGS, *wanted, str(cubin)]
        longest = LONGEST + LONGEST_BYTE * len(data)
        try:
            done = subprocess.run(command, capture_output=True, check=False, timeout=longest)
        except subprocess.TimeoutExpired:
            raise UnsupportedError(
                f"nvdisasm cannot read {shown}",
                details=[f"it was stopped after {longest:.0f} s"],
                help="if the file is not damaged, run nvdisasm yourself and pass load_cubin(path, listing=...)",
            ) from None
        except OSError as problem:
            raise UnsupportedError(f"nvdisasm cannot read {shown}", details=[str(problem)]) from None
    if done.returncode != 0:
        said = done.stderr.decode("utf-8", "replace").replace(str(cubin), shown)
        raise UnsupportedError(
            f"nvdisasm cannot read {shown}",
            details=said.strip().splitlines()[:5] or [f"it ended with {done.returncode}"],
        )
    return done.stdout
