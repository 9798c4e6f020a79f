"""Option values that several commands share, and how they are written."""

from __future__ import annotations

import re
from collections.abc import Mapping
from pathlib import Path
from typing import Annotated

import typer

MAX_SIZE = 2**30
"""Elements at most: 4 GiB of int32."""

_SUFFIXES = {"": 1, "k": 2**10, "m": 2**20, "g": 2**30}


def parse_size(text: str | int) -> int:
    """A number of elements: ``1000``, ``1_000_000``, ``2^24``, ``2**24``, ``16M`` (K, M, G: powers of 1024).

    Raises ``typer.BadParameter`` for anything else, and outside of 1 to 2^30.
    """
    cleaned = str(text).strip().lower().replace("_", "").replace("**", "^")
    match = re.fullmatch(r"(-?\d+)(?:\^(\d+)|([kmg]?))", cleaned)
    if match is None:
        raise typer.BadParameter(f"{text!r} is not a size; write 1000, 1_000_000, 2^24 or 16M (M: 1024 x 1024)")
    base, exponent, suffix = match.groups()
    power = min(int(exponent or 1), 64)  # more is too big in any case, and slow to work out
    value: int = int(base) ** power * _SUFFIXES[suffix or ""]
    if value < 1:
        raise typer.BadParameter(f"{text}: at least 1 element is needed")
    if value > MAX_SIZE:
        raise typer.BadParameter(f"{text} is more than 2^30 elements")
    return value


Size = Annotated[int, typer.Option(parser=parse_size, metavar="N", help="Elements: 1000, 1_000_000, 2^24, 16M.")]
OptionalSize = Annotated[
    int | None,
    typer.Option(parser=parse_size, metavar="N", help="Elements: 1000, 2^10, 1K. Default: the kernel's own."),
]
Block = Annotated[int, typer.Option(metavar="N", help="Threads per block, 1 to 1024.")]
OptionalBlock = Annotated[int | None, typer.Option(metavar="N", help="Threads per block. Default: the kernel's own.")]
Seed = Annotated[int, typer.Option(min=0, help="Seed of the data: numpy.random.default_rng(SEED).")]
View = Annotated[str, typer.Option(help="source, or an architecture such as sm_90 for its machine code.")]
Predicate = Annotated[
    int,
    typer.Option(min=0, metavar="N", help="Predicate if/else bodies of at most N instructions; 0: branch."),
]
Order = Annotated[
    str | None,
    typer.Option(
        help="Which path runs first: then_first, else_first, interleaved, random:SEED, hardware (the default for SASS)."
    ),
]
Races = Annotated[
    bool, typer.Option("--races", help="Stop at the first data race between threads; slower, for small launches.")
]
Fold = Annotated[
    bool,
    typer.Option(help="Gather machine instructions under their source lines, where these are known."),
]
Columns = Annotated[
    list[str] | None,
    typer.Option("--column", metavar="NAME", help="Counter to show beside each line; may be repeated."),
]
Threads = Annotated[int | None, typer.Option(min=1, metavar="N", help="Host threads. Default: one per core.")]
Json = Annotated[bool, typer.Option("--json", help="Print JSON instead of tables.")]
KernelArgument = Annotated[
    str, typer.Argument(metavar="KERNEL", help="A name of [bold]simt kernels[/bold], or FILE.py:FUNCTION.")
]

LAUNCH_IN_FILE = """[bold]FILE.py:FUNCTION[/bold] is a kernel in a file of yours. The file describes its
launch in a function launch_FUNCTION(), or launch(), that returns a dict with the keys grid, block, args and,
if wanted, shared_bytes. For a kernel saxpy(a, x, y):

  def launch_saxpy(size=1000): return dict(grid=4, block=256, args=(2.0, x(size), y(size)))

--size and --block are passed on if that function has parameters of these names."""


def is_file(kernel: str) -> bool:
    """Whether a KERNEL argument names a function in a file."""
    path, colon, _ = kernel.rpartition(":")
    return bool(colon) and Path(path).suffix == ".py"


def given(**options: object) -> Mapping[str, object]:
    """The options that are not None."""
    return {name: value for name, value in options.items() if value is not None}
