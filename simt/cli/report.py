"""``simt report``: a profile, or two, as one page for a browser."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from simt.cli.options import TimingOptions, grouped, kernel_names, metric_names
from simt.cli.output import check_writable, say
from simt.cli.sides import SIDE, SIDES_HELP, SideOptions
from simt.cli.trace import traced

EXAMPLES = f"""Examples:

  [bold]simt report if_else -o page.html[/bold]

  [bold]simt report neighbored interleaved --size 2^16 --block 512 --timing -o page.html[/bold]

  [bold]simt report neighbored@sm_90 --warp 3 -o page.html[/bold]

{SIDES_HELP}"""

CYCLES = (0, 10_000)
"""The cycles that are recorded for the timeline; the page has those from the first issue on."""


def register(app: typer.Typer) -> None:
    """Add the command."""
    app.command(epilog=EXAMPLES)(grouped(report))


def report(
    *,
    a: Annotated[str, typer.Argument(metavar="A", autocompletion=kernel_names, help=SIDE)],
    b: Annotated[
        str | None, typer.Argument(metavar="B", autocompletion=kernel_names, help="The same, to stand beside it.")
    ] = None,
    output: Annotated[Path, typer.Option("--output", "-o", metavar="FILE.html", help="The page to write.")],
    metric: Annotated[
        list[str] | None,
        typer.Option(metavar="NAME", autocompletion=metric_names, help="Take this metric apart, too; may be repeated."),
    ] = None,
    block_index: Annotated[int, typer.Option(min=0, help="Which block's lanes to show: its linear index.")] = 0,
    warp: Annotated[int, typer.Option(min=0, help="Which warp of the block.")] = 0,
    sides: SideOptions,
    model: TimingOptions,
) -> None:
    """Write one page, for any browser and without a network: code beside counts and stalls, the lanes of a warp to step
    through, memory accesses, charts, the timeline, and why the metrics are what they are.

    Needs the extra [bold]report[/bold]: pip install 'simt\\[report]'.
    """
    from simt.metrics import METRICS
    from simt.page import check_installed, write_page
    from simt.profile import Profile

    check_installed()  # and the rest, before anything runs
    check_writable(output)
    for name in metric or ():
        METRICS[name]
    wanted = {"trace": (block_index, warp), **({"window": CYCLES} if model.timing else {})}
    profiles = sides.profiles(a, b, {**model.keywords, **wanted})
    for profile in profiles:
        if isinstance(profile, Profile):
            traced(profile, block_index, warp)
    accesses = sides.accesses(a, b, warp=(block_index, warp))
    write_page(output, *profiles, metrics=metric or (), accesses=accesses, loops=sides.loops(a, b))
    say(f"{output}: {output.stat().st_size / 1000:,.0f} kB; open it in a browser")
