"""The libraries that stand in the place of NVIDIA's: those of the wheel, or else compiled once and kept."""

from __future__ import annotations

import errno
import os
import platform
import shutil
import sys
from functools import cache
from importlib import resources
from pathlib import Path

from simt.check import MissingError, UnsupportedError
from simt.disk_cache import DiskCache, cache_root, digest
from simt.driver import protocol
from simt.driver.sources import STAMP, NotCompiledError, compile_libraries, sources, stamp

PREBUILT = Path(__file__).parent / "libraries"
"""Where a wheel for Linux has them."""


def libraries() -> Path:
    """The folder with ``libcuda.so.1`` and ``libcudart.so.*``; compiled if it does not exist yet.

    Raises MissingError where there is no C compiler, UnsupportedError on other systems than Linux.
    """
    if sys.platform != "linux":
        raise UnsupportedError(
            f"programs run on Linux, not on {platform.system()}",
            help="launch their kernels one by one with simt run, or use a container or WSL",
        )
    if _is_prebuilt():
        return PREBUILT
    compiler = _compiler()
    cache = DiskCache("libraries", cache_root() / "libraries", most=8)
    return cache.folder_of(
        digest(compiler, stamp(_sources())), lambda folder: _build(compiler, folder), "compiling the CUDA libraries"
    )


def _is_prebuilt() -> bool:
    """Whether the wheel has libraries, for this processor, and the user did not ask for a compiler of their own."""
    file = PREBUILT / STAMP
    return "CC" not in os.environ and file.is_file() and file.read_text(encoding="utf-8") == stamp(_sources())


def _compiler() -> str:
    """The user's C compiler."""
    wanted = os.environ.get("CC", "cc").split()
    found = shutil.which(wanted[0]) or shutil.which("gcc") or shutil.which("clang")
    if found is None:
        raise MissingError(
            "programs need a C compiler once, and there is none",
            help="install one (apt install gcc), or name it in the environment variable CC",
        )
    return found


@cache
def _sources() -> dict[str, str]:
    return sources(resources.files(__package__).joinpath("native"), protocol.header())


def _build(compiler: str, folder: Path) -> None:
    try:
        compile_libraries(compiler, _sources(), folder)
    except NotCompiledError as error:
        name, lines = error.args
        full = any(os.strerror(errno.ENOSPC) in line for line in lines)
        raise UnsupportedError(
            f"{compiler} cannot compile {name}",
            details=[line for line in lines if "error" in line or "failed" in line][:5] or lines[:5],
            help=f"make room where {folder} is" if full else "name another C compiler in the environment variable CC",
        ) from None
