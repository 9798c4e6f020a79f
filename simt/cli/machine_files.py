"""Kernels in files of CUDA C or machine code, as KERNEL arguments: ``FILE.cu:kernel``, ``FILE.cubin:kernel``."""

from __future__ import annotations

import math
import re
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from simt.check import LaunchError, Location, check_file
from simt.cli.asked import Asked, KernelLaunch

if TYPE_CHECKING:
    from simt.sass import Kernels, SassKernel

CUDA_SUFFIXES = (".cu", ".cuh")


def split(text: str) -> tuple[Path, str] | None:
    """File and kernel of ``FILE:kernel`` for a file that is there and no Python; None for anything else.

    A kernel's name may have colons, too: ``FILE.cu:space::reduce<512>``.
    """
    at = text.find(":")
    while at > 0:
        path = Path(text[:at])
        if path.suffix in CUDA_SUFFIXES or (path.suffix != ".py" and path.is_file()):
            return path, text[at + 1 :]
        at = text.find(":", at + 1)
    return None


def is_cuda(text: str) -> bool:
    """Whether a KERNEL argument names a kernel of CUDA C."""
    found = split(text)
    return found is not None and found[0].suffix in CUDA_SUFFIXES


def load(
    path: Path,
    architecture: str | None,
    options: Sequence[str] = (),
    listing: Path | None = None,
    parameters: Mapping[str, Sequence[int]] | None = None,
) -> Kernels:
    """The kernels of a file of CUDA C (compiled with *options*) or of machine code, as :func:`simt.load_cubin` has it.

    Raises LaunchError, KernelError or UnsupportedError.
    """
    import simt

    check_file(path)
    if path.suffix not in CUDA_SUFFIXES:
        if options:
            raise LaunchError("--nvrtc is for CUDA C", help=f"{path} is already compiled")
        return simt.load_cubin(path, listing, parameters, architecture)
    if listing is not None or parameters is not None:
        raise LaunchError("--listing and --parameters are for machine code", help=f"{path} is compiled now")
    from simt.sass.from_cuda import DEFAULT_ARCHITECTURE

    return simt.load_cuda(path, architecture or DEFAULT_ARCHITECTURE, options)


def launch_of(path: Path, name: str, asked: Asked) -> KernelLaunch:
    """The launch that the command line describes in full.  Raises LaunchError where something is missing."""
    from simt.cli import arguments  # here: it needs NumPy, which `simt --help` does not load

    defines = _defines(path, asked.constants)
    kernel: SassKernel = load(path, asked.architecture, (*asked.nvrtc, *defines))[name]
    block = 256 if asked.block is None else asked.block
    threads = math.prod(block) if isinstance(block, tuple) else block
    if asked.grid is None and asked.size is None:
        raise LaunchError(
            f"how many blocks of {name}?",
            help=f"add --grid and --block, and for each argument an --arg; "
            f"bytes of its parameters: {', '.join(str(each.size) for each in kernel.parameters or ()) or 'none'}",
        )
    grid = -(-(asked.size or 1) // max(threads, 1)) if asked.grid is None else asked.grid
    args = arguments.parse(asked.args, [parameter.size for parameter in kernel.parameters or ()], kernel.name)
    return KernelLaunch(kernel, grid, block, tuple(args), {"shared_bytes": asked.shared})


def _defines(path: Path, constants: Sequence[tuple[str, str]]) -> list[str]:
    """Options of the compiler that give macros of the file these values.

    Raises LaunchError where they would change nothing: the file does not name the macro, or defines it itself.
    """
    if not constants:
        return []
    if path.suffix not in CUDA_SUFFIXES:
        raise LaunchError(f"the constants of {path} are compiled in", help="give its source, FILE.cu:KERNEL")
    check_file(path)
    text = path.read_text(errors="replace")
    for name, _ in constants:
        includes = re.search(r'#\s*include\s*"', text)
        if not includes and not re.search(rf"\b{name}\b", text):
            raise LaunchError(f"{path} does not use {name}", help=f"use {name} where the kernel needs the number")
        defined = re.search(rf"^[ \t]*#[ \t]*define[ \t]+{name}\b", text, re.MULTILINE)
        if defined and not re.search(rf"#\s*(ifndef\s+|if\s+!\s*defined\s*\(?\s*){name}\b", text[: defined.start()]):
            line = text.count("\n", 0, defined.start()) + 1
            raise LaunchError(f"{path} defines {name} itself", location=Location(str(path), line),
                              help=f"write #ifndef {name} before it and #endif behind it")  # fmt: skip
    return [f"-D{name}={value}" for name, value in constants]
