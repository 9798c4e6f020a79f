"""``simt run``: the profile of one launch."""

from __future__ import annotations

from typing import Annotated

import typer

from simt.cli.launches import find
from simt.cli.options import (
    LAUNCH_IN_FILE,
    Columns,
    Fold,
    Json,
    KernelArgument,
    OptionalBlock,
    OptionalSize,
    Order,
    Predicate,
    Races,
    Seed,
    Threads,
    View,
)

EXAMPLES = f"""Examples:

  [bold]simt run vector_add[/bold]

  [bold]simt run neighbored --view sm_90 --no-fold[/bold]

  [bold]simt run my_kernels.py:saxpy --column inst_executed --column global_sectors[/bold]

{LAUNCH_IN_FILE}"""


def register(app: typer.Typer) -> None:
    """Add the command."""
    app.command(epilog=EXAMPLES)(run)


def run(
    kernel: KernelArgument,
    size: OptionalSize = None,
    block: OptionalBlock = None,
    annotate: Annotated[bool, typer.Option(help="Show the listing beside its counts.")] = True,
    column: Columns = None,
    fold: Fold = True,
    view: View = "source",
    order: Order = None,
    predicate: Predicate = 0,
    races: Races = False,
    threads: Threads = None,
    seed: Seed = 0,
    as_json: Json = False,
) -> None:
    """Run a kernel once: its metrics, and its source or machine code beside the counts."""
    import simt

    launch = find(kernel, size, block, seed)
    profile = simt.launch(
        launch.kernel, launch.grid, launch.block, *launch.args,
        view=view, order=order, predicate=predicate, races=races, threads=threads, **launch.options,
    )  # fmt: skip
    if as_json:
        typer.echo(profile.to_json(indent=2))
        return
    typer.echo(profile)
    if annotate:
        typer.echo(f"\n{profile.annotate(column or None, fold=fold)}")
