"""``simt diff``: two profiles side by side."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from simt.cli.options import (
    LAUNCH_IN_FILE,
    Arguments,
    Columns,
    Grid,
    Json,
    KernelOptions,
    Nvrtc,
    OptionalBlock,
    OptionalSize,
    Order,
    Seed,
    Shared,
    Threads,
    TimingOptions,
    grouped,
)
from simt.cli.output import print_json

if TYPE_CHECKING:
    from simt.profile.sides import By

EXAMPLES = f"""Examples:

  [bold]simt diff neighbored interleaved --size 2^16 --block 512[/bold]

  [bold]simt diff neighbored neighbored@sm_90[/bold]

  [bold]simt diff neighbored interleaved --size 2^22 --block 512 --device h200 --timing[/bold]

  [bold]simt run shuffle --view sm_90 --json > mine.json; simt diff mine.json hardware.json[/bold]

A and B are each a profile saved as .json (by [bold]simt run --json[/bold], [bold]simt profile --json[/bold],
Profile.to_json() or a profile of the hardware), or KERNEL or KERNEL@VIEW, which is run now; KERNEL as in
[bold]simt run[/bold].

{LAUNCH_IN_FILE}"""

SIDE = "A profile saved as .json, or KERNEL or KERNEL@VIEW to run."
WAYS: dict[str, By] = {"listing": "listing", "line": "source line", "opcode": "opcode"}


def register(app: typer.Typer) -> None:
    """Add the command."""
    app.command(epilog=EXAMPLES)(grouped(diff))


def diff(
    *,
    a: Annotated[str, typer.Argument(metavar="A", help=SIDE)],
    b: Annotated[str, typer.Argument(metavar="B", help=SIDE)],
    by: Annotated[
        str | None, typer.Option(help="What stands beside what: listing, line, opcode. Default: what fits.")
    ] = None,
    column: Columns = None,
    size: OptionalSize = None,
    block: OptionalBlock = None,
    grid: Grid = None,
    arg: Arguments = None,
    shared: Shared = 0,
    nvrtc: Nvrtc = None,
    order: Order = None,
    threads: Threads = None,
    seed: Seed = 0,
    model: TimingOptions,
    as_json: Json = False,
) -> None:
    """Compare two profiles by metric and by line: two kernels, two views, two GPUs, simulator and hardware.

    Metrics that the two sides count differently, such as instructions of the source and of the machine, are
    marked; what depends only on the addresses is not.
    """
    if by is not None and by not in WAYS:
        raise typer.BadParameter(f"{by!r} is none of {', '.join(WAYS)}", param_hint="--by")
    from simt.profile import compare

    keywords = model.keywords

    def side(text: str) -> Any:
        if Path(text).suffix == ".json":
            return _saved(text)
        kernel, _, view = text.partition("@")
        launch = KernelOptions(
            kernel, size, view or "source", order, seed=seed, grid=grid, arg=arg, shared=shared, nvrtc=nvrtc
        )
        return launch.launch(block, threads=threads, **keywords)

    found = compare(side(a), side(b), WAYS[by] if by else None)
    if as_json:
        print_json(found.to_dict())
    else:
        typer.echo(found.render(column or None))


def _saved(text: str) -> Any:
    from simt.profile.compare import load

    return load(text)
