"""``simt run``: the profile of one launch."""

from __future__ import annotations

from typing import Annotated

import typer

from simt.cli.options import (
    LAUNCH_IN_FILE,
    Columns,
    Fold,
    Json,
    LaunchOptions,
    Schedule,
    Threads,
    TimingOptions,
    grouped,
)
from simt.cli.output import columns, progress, say
from simt.cli.programs import preview

EXAMPLES = f"""Examples:

  [bold]simt run vector_add[/bold]

  [bold]simt run interleaved --size 2^22 --block 512 --device h200 --timing[/bold]

  [bold]simt run neighbored --view sm_90 --no-fold[/bold]

  [bold]simt run kernels.cu:saxpy --grid 4 --block 256 --arg 2.0 --arg arange:float32:1000 --arg zeros:float32:1000
--arg 1000[/bold]

  [bold]simt run my_kernels.py:saxpy --column inst_executed --column global_sectors[/bold]

{LAUNCH_IN_FILE}"""


def register(app: typer.Typer) -> None:
    """Add the command."""
    app.command(epilog=EXAMPLES)(grouped(run))


def run(
    *,
    launch: LaunchOptions,
    schedule: Schedule = None,
    annotate: Annotated[bool, typer.Option(help="Show the listing beside its counts.")] = True,
    column: Columns = None,
    fold: Fold = True,
    threads: Threads = None,
    model: TimingOptions,
    as_json: Json = False,
) -> None:
    """Run a kernel once: its metrics, and its source or machine code beside the counts.

    With --timing also how long it takes on a GPU, and which lines its warps wait for.
    """
    from simt.profile.annotate import check_columns

    check_columns(column or (), timed=model.timing)
    keywords = {"schedule": schedule, "threads": threads, "preview": preview, **model.keywords}
    with progress() as bar:
        profile = launch.launch(launch.block, progress=bar.start(launch.kernel), **keywords)
    if as_json:
        typer.echo(profile.to_json(indent=2))
        return
    say(profile)
    if annotate:
        typer.echo(f"\n{profile.annotate(column or None, fold=fold, width=columns())}")
