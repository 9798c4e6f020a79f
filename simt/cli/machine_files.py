"""Kernels in files of CUDA C or machine code, as KERNEL arguments: ``FILE.cu:kernel``, ``FILE.cubin:kernel``."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from simt.check import LaunchError, check_file
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

    kernel: SassKernel = load(path, asked.architecture, asked.nvrtc)[name]
    block = 256 if asked.block is None else asked.block
    threads = math.prod(block) if isinstance(block, tuple) else block
    if asked.grid is None and asked.size is None:
        raise LaunchError(
            f"how many blocks of {name}?",
            help=f"add --grid and --block, and for each argument an --arg; "
            f"bytes of its parameters: {', '.join(str(each.size) for each in kernel.parameters or ()) or 'none'}",
        )
    grid = -(-(asked.size or 1) // max(threads, 1)) if asked.grid is None else asked.grid
    args = arguments.parse(asked.args, [parameter.size for parameter in kernel.parameters or ()])
    return KernelLaunch(kernel, grid, block, tuple(args), {"shared_bytes": asked.shared})
