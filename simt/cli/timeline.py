"""``simt timeline``: what each warp of an SM does in each cycle."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from simt.check import LaunchError, write_file
from simt.cli.options import LAUNCH_IN_FILE, Json, LaunchOptions, ModelOptions, Svg, Threads, grouped
from simt.cli.output import check_writable, columns, print_json, progress, say

if TYPE_CHECKING:
    from simt.timing import TimingResult

MAX_CYCLES = 200
"""Cycles that the text shows at most; the file has all of them."""

EXAMPLES = f"""Examples:

  [bold]simt timeline if_else[/bold]

  [bold]simt timeline interleaved --size 2^16 --block 256 --cycles 300:400 --device h200[/bold]

  [bold]simt timeline neighbored --size 2^16 --block 256 --cycles 0:5000 --output trace.json[/bold]

{LAUNCH_IN_FILE}"""


def register(app: typer.Typer) -> None:
    """Add the command."""
    app.command(epilog=EXAMPLES)(grouped(timeline))


def timeline(
    *,
    launch: LaunchOptions,
    cycles: Annotated[
        str, typer.Option(metavar="FROM:TO", help="Cycles of the launch to show, the last one excluded.")
    ] = "0:10000",
    sm: Annotated[int, typer.Option(min=0, metavar="N", help="Which of the simulated multiprocessors to print.")] = 0,
    output: Annotated[
        Path | None, typer.Option(metavar="FILE.json", help="Write a trace that ui.perfetto.dev opens instead.")
    ] = None,
    svg: Svg = None,
    threads: Threads = None,
    model: ModelOptions,
    as_json: Json = False,
) -> None:
    """Show what each warp of a multiprocessor does cycle by cycle: issues, or waits and for what.

    One row per warp, one letter per cycle, from the first instruction in the range on, 200 cycles at most,
    below each other where the terminal is narrow; with --output or --json all of the range as trace events.
    """
    window = _window(cycles)
    check_writable(output, svg)
    from simt import timing

    with progress() as bar:
        advance = bar.start(launch.kernel)
        found = launch.launch(launch.block, threads=threads, progress=advance, window=window, **model.keywords).timing
    assert found is not None  # ModelOptions always ask for timing
    _check(found, cycles, sm)
    if as_json:
        print_json(timing.trace_events(found))
    elif output is not None:
        write_file(output, json.dumps(timing.trace_events(found)))
        say(f"{output}: {len(found.events)} instructions; open it at https://ui.perfetto.dev (1 us is 1 cycle)")
    else:
        shown = timing.Timeline(found, sm, MAX_CYCLES)
        shown = replace(shown, cycles=min(window[1] - shown.first, MAX_CYCLES))
        if svg is not None:
            write_file(svg, shown.to_svg(columns()))
        else:
            say(f"{launch.kernel} on {found.numbers.device.name}, {launch.view} view; {found.scope}")
            typer.echo(shown.render(columns()))


def _check(found: TimingResult, cycles: str, sm: int) -> None:
    from simt import timing

    if sm >= found.n_sms:
        raise LaunchError(
            f"SM {sm} was not simulated", details=[found.scope], help="--sms all or --sms N simulates more"
        )
    if not any(span.sm == sm for span in timing.spans(found)):
        raise LaunchError(
            f"no warp issues an instruction in the cycles {cycles}",
            details=[f"the launch takes {found.totals['cycles']:,} cycles, the start of its first block included"],
            help="choose others with --cycles FROM:TO",
        )


def _window(text: str) -> tuple[int, int]:
    first, _, last = text.partition(":")
    if not (first.isdecimal() and last.isdecimal() and int(first) < int(last)):
        raise typer.BadParameter(f"{text!r} is not FROM:TO, such as 1000:1120", param_hint="--cycles")
    return int(first), int(last)
