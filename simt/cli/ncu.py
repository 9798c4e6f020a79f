"""``simt ncu``: a whole program, with the options and pages of Nsight Compute."""

from __future__ import annotations

import os
import re
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from simt.check import LaunchError
from simt.cli import programs
from simt.cli.output import check_writable
from simt.cli.programs import Arch, Device, LogFile, Program, Timing

if TYPE_CHECKING:
    from simt.profile.ncu import Record

EXAMPLES = """Examples:

  [bold]simt ncu ./reduce[/bold]

  [bold]simt ncu --metrics smsp__inst_executed.sum,gld_efficiency --csv --page raw reduce.cu 1048576[/bold]

  [bold]simt ncu -k regex:unroll --launch-skip 1 --launch-count 2 --page source ./reduce[/bold]

  [bold]simt ncu -o reduce ./reduce; simt ncu -i reduce.json --page raw[/bold]

Metrics are those of [bold]simt metrics[/bold], by their name in ncu or nvprof. One that needs times switches timing on,
and so does the page [bold]details[/bold] without --metrics. As ncu does, it writes to standard output."""

PAGES = ("details", "raw", "source")


def register(app: typer.Typer) -> None:
    """Add the command."""
    app.command(epilog=EXAMPLES, context_settings=programs.CONTEXT)(ncu)


def ncu(
    program: Program = None,
    *,
    metrics: Annotated[
        list[str] | None, typer.Option("--metrics", metavar="A,B,...", help="Metrics instead of the usual sections.")
    ] = None,
    kernel_name: Annotated[
        str | None, typer.Option("--kernel-name", "-k", metavar="NAME", help="Kernels to profile: NAME or regex:EXPR.")
    ] = None,
    launch_skip: Annotated[
        int, typer.Option("--launch-skip", "-s", min=0, metavar="N", help="Launches to skip at the start.")
    ] = 0,
    launch_count: Annotated[
        int | None, typer.Option("--launch-count", "-c", min=1, metavar="N", help="Launches to profile.")
    ] = None,
    page: Annotated[str, typer.Option(metavar="|".join(PAGES), help="What to print.")] = "details",
    csv: Annotated[bool, typer.Option("--csv", help="Comma-separated values instead of tables.")] = False,
    export: Annotated[
        str | None, typer.Option("--export", "-o", metavar="FILE", help="Write a report that simt ncu -i reads.")
    ] = None,
    force_overwrite: Annotated[
        bool, typer.Option("--force-overwrite", "-f", help="Overwrite an existing report.")
    ] = False,
    import_file: Annotated[
        Path | None, typer.Option("--import", "-i", metavar="FILE", help="Print a report instead of running a program.")
    ] = None,
    log_file: LogFile = None,
    device: Device = "h200",
    arch: Arch = None,
    timing: Timing = None,
) -> None:
    """Run a program and print what Nsight Compute prints: pages of metrics for each launch of a kernel."""
    if page not in PAGES:
        raise typer.BadParameter(f"{page!r} is none of {', '.join(PAGES)}", param_hint="--page")
    wanted = programs.names(metrics) if metrics else None
    out = programs.Report(log_file, to_stdout=True)
    out.check()
    from simt.metrics import needs_timing
    from simt.profile.ncu import read_report, records_of, write_report

    if import_file is not None:
        name, records = read_report(import_file)
        out.write(_page(records, page, wanted, csv, name))
        return
    command = programs.required(program)
    target = None if export is None else _target(export, force_overwrite)
    needed = page == "details" if wanted is None else needs_timing(wanted)
    settings = _filter(kernel_name, launch_skip, launch_count)
    finished = programs.run(command, device, arch, needed if timing is None else timing, **settings)
    found = programs.activities_of(finished, device)
    records = records_of(found)
    for sentence in programs.unsupported(found):
        typer.echo(f"==WARNING== {sentence}", err=True)
    if not records:
        typer.echo("==WARNING== No kernels were profiled.", err=True)
    if target is None:
        out.write(_page(records, page, wanted, csv, Path(command[0]).name))
    else:
        write_report(target, Path(command[0]).name, records)
        typer.echo(f"==PROF== Report: {target}", err=True)
    raise programs.exit_with(finished)


def _page(records: Sequence[Record], page: str, metrics: Sequence[str] | None, csv: bool, command: str) -> list[str]:
    from simt.profile import ncu

    process = os.getpid(), command
    if page == "source":
        return ncu.source_csv(records) if csv else ncu.source(records)
    if csv:
        made = ncu.details_csv if page == "details" else ncu.raw_csv
        return made(records, metrics, process)
    lines = ncu.details(records, metrics) if page == "details" else ncu.raw(records, metrics)
    return [f"[{process[0]}] {command}@127.0.0.1", *lines] if records else []


def _target(text: str, force: bool) -> Path:
    """The file of ``-o``; LaunchError if it is there already, as ncu has it."""
    path = Path(text if Path(text).suffix else f"{text}.json")
    if path.exists() and not force:
        raise LaunchError(f"{path} already exists", help="overwrite it with -f")
    check_writable(path)
    return path


def _filter(name: str | None, skip: int, count: int | None) -> dict[str, Any]:
    """The settings of ``--kernel-name``, ``--launch-skip`` and ``--launch-count``."""
    if name is None:
        expression = ""
    elif name.startswith("regex:"):
        expression = programs.expression(name.removeprefix("regex:"), "--kernel-name")
    else:
        expression = rf"^(.*::)?{re.escape(name)}(<.*)?$"
    return {"kernel": expression, "skip": skip, "count": count}
