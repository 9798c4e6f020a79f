"""``simt explain``: why a metric is what it is, or why two profiles differ in it."""

from __future__ import annotations

from typing import Annotated, Any

import typer

from simt.check import write_file
from simt.cli.options import Json, Svg, TimingOptions, grouped, kernel_names, metric_names
from simt.cli.output import check_writable, columns, print_json
from simt.cli.sides import SIDE, SIDES_HELP, SideOptions

EXAMPLES = f"""Examples:

  [bold]simt explain neighbored --size 2^16 --block 512[/bold]

  [bold]simt explain neighbored interleaved --size 2^16 --block 512[/bold]

  [bold]simt explain neighbored@sm_90 interleaved@sm_90 --lines 3[/bold]

  [bold]simt explain neighbored interleaved --metric gld_efficiency --json[/bold]

  [bold]simt explain neighbored --metric cycles --timing --device h200[/bold]

{SIDES_HELP}"""

WIDTHS = (40, 120)
"""Columns of the text at least, and at most."""


def register(app: typer.Typer) -> None:
    """Add the command."""
    app.command(epilog=EXAMPLES)(grouped(explain))


def explain(
    *,
    a: Annotated[str, typer.Argument(metavar="A", autocompletion=kernel_names, help=SIDE)],
    b: Annotated[
        str | None,
        typer.Argument(metavar="B", autocompletion=kernel_names, help="The same, to explain how it differs."),
    ] = None,
    metric: Annotated[
        str,
        typer.Option(
            metavar="NAME", autocompletion=metric_names, help="What to take apart, a name of [bold]simt metrics[/bold]."
        ),
    ] = "inst_per_warp",
    lines: Annotated[
        int | None, typer.Option(min=1, metavar="N", help="Number of terms to show; the rest is one sum. Default: 8.")
    ] = None,
    sides: SideOptions,
    model: TimingOptions,
    svg: Svg = None,
    as_json: Json = False,
    facts: Annotated[
        bool, typer.Option("--facts", help="With --json: also the sentences beside the terms, under the key facts.")
    ] = False,
) -> None:
    """Take a metric apart, or the difference of two profiles: terms by line and cause that add up exactly to it.

    The largest term is first. What the counts do not say is not said; what no line accounts for is shown as residual.
    """
    from simt.metrics import METRICS

    METRICS[metric]  # before anything runs
    check_writable(svg)
    import simt
    from simt.reasons.facts import LOOPS_EXPLAIN

    ours, theirs = [*sides.profiles(a, b, model.keywords), None][:2]
    group = METRICS[metric].group
    more: dict[str, Any] = {}
    if group in ("global memory", "local memory", "shared memory"):
        more = {"patterns": {side: found.patterns for side, found in sides.accesses(a, b).items()}}
    elif group == LOOPS_EXPLAIN:
        more = {"loops": sides.loops(a, b)}
    found = simt.explain(ours, theirs, metric, **more)
    if as_json:
        print_json(found.to_dict(facts=facts))
    else:
        least, most = WIDTHS
        width = min(max(columns() or 80, least), most)
        if svg is not None:
            write_file(svg, found.to_svg(lines, width=width))
        else:
            typer.echo(found.render(lines, width=width))
