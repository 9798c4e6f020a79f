"""``simt diff``: two profiles side by side."""

from __future__ import annotations

from typing import Annotated

import typer

from simt.cli.options import Columns, Json, TimingOptions, grouped, kernel_names
from simt.cli.output import columns, print_json
from simt.cli.sides import SIDE, SIDES_HELP, SideOptions

EXAMPLES = f"""Examples:

  [bold]simt diff neighbored interleaved --size 2^16 --block 512[/bold]

  [bold]simt diff neighbored neighbored@sm_90[/bold]

  [bold]simt diff neighbored interleaved --size 2^22 --block 512 --device h200 --timing[/bold]

  [bold]simt run shuffle --view sm_90 --json > mine.json; simt diff mine.json hardware.json[/bold]

{SIDES_HELP}"""


def register(app: typer.Typer) -> None:
    """Add the command."""
    app.command(epilog=EXAMPLES)(grouped(diff))


def diff(
    *,
    a: Annotated[str, typer.Argument(metavar="A", autocompletion=kernel_names, help=SIDE)],
    b: Annotated[str, typer.Argument(metavar="B", autocompletion=kernel_names, help=SIDE)],
    by: Annotated[
        str | None,
        typer.Option(
            metavar="listing|line|opcode",
            help="What stands beside each other: rows of the listings, sums by source line, or sums by opcode. "
            "Default: what fits.",
        ),
    ] = None,
    column: Columns = None,
    sides: SideOptions,
    model: TimingOptions,
    as_json: Json = False,
) -> None:
    """Compare two profiles by metric and by line: two kernels, two views, two GPUs, simulator and hardware.

    Metrics that the two sides count differently, such as instructions of the source and of the machine, are
    marked; what depends only on the addresses is not.
    """
    from simt.profile import compare
    from simt.profile.sides import WAYS

    if by is not None and by not in WAYS:
        raise typer.BadParameter(f"{by!r} is not one of {', '.join(WAYS)}", param_hint="--by")

    ours, theirs = sides.profiles(a, b, model.keywords)
    found = compare(ours, theirs, by)
    if as_json:
        print_json(found.to_dict())
    else:
        typer.echo(found.render(column or None, width=columns()))
