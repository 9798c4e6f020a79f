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
from simt.cli.programs import Arch, Device, LogFile, MaxSeconds, Program, Timing

if TYPE_CHECKING:
    from simt.profile.ncu import Record
    from simt.profile.ncu_sections import Section

EXAMPLES = """Examples:

  [bold]simt ncu ./reduce[/bold]

  [bold]simt ncu --metrics smsp__inst_executed.sum,gld_efficiency --csv --page raw reduce.cu 1048576[/bold]

  [bold]simt ncu --set full -o report ./reduce[/bold]

  [bold]simt ncu --section SpeedOfLight --section Occupancy ./reduce[/bold]

  [bold]simt ncu -k regex:unroll --launch-skip 1 --launch-count 2 --page source ./reduce[/bold]

  [bold]simt ncu -o reduce ./reduce; simt ncu -i reduce.json --page raw[/bold]

Metrics are those of [bold]simt metrics[/bold], by their name in ncu or nvprof. One that needs times switches timing on,
and so does the page [bold]details[/bold] without --metrics. That page has all sections that simt has, since one run
gathers them all; --set and --section choose some. As ncu does, it writes to standard output."""

PAGES = ("details", "raw", "source")
PROCESSES = ("all", "application-only")
CLOCKS = ("base", "none")
CACHES = ("all", "none")
REPLAYS = ("kernel", "application")


def register(app: typer.Typer) -> None:
    """Add the command."""
    app.command(epilog=EXAMPLES, context_settings=programs.CONTEXT)(ncu)


def ncu(
    program: Program = None,
    *,
    metrics: Annotated[
        list[str] | None, typer.Option("--metrics", metavar="A,B,...", help="Metrics instead of the usual sections.")
    ] = None,
    sets: Annotated[
        list[str] | None,
        typer.Option("--set", metavar="NAME", help="Sections of ncu's set basic, detailed or full; may be repeated."),
    ] = None,
    section: Annotated[
        list[str] | None,
        typer.Option("--section", metavar="NAME", help="A section, or regex:EXPR; may be repeated."),
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
    target_processes: Annotated[
        str, typer.Option(metavar="|".join(PROCESSES), help="Programs that the program starts are always profiled.")
    ] = "all",
    clock_control: Annotated[
        str, typer.Option(metavar="|".join(CLOCKS), help="No effect: the modelled clock is fixed.")
    ] = "base",
    cache_control: Annotated[
        str, typer.Option(metavar="|".join(CACHES), help="Each launch is timed with empty caches, as ncu's all has it.")
    ] = "all",
    replay_mode: Annotated[
        str, typer.Option(metavar="|".join(REPLAYS), help="No effect: all metrics come from one run.")
    ] = "kernel",
    log_file: LogFile = None,
    device: Device = "h200",
    arch: Arch = None,
    timing: Timing = None,
    max_seconds: MaxSeconds = None,
) -> None:
    """Run a program and print what Nsight Compute prints: pages of metrics for each launch of a kernel."""
    programs.check_choice(page, PAGES, "--page")
    programs.check_choice(target_processes, PROCESSES, "--target-processes")
    programs.check_choice(clock_control, CLOCKS, "--clock-control")
    programs.check_choice(cache_control, CACHES, "--cache-control")
    programs.check_choice(replay_mode, REPLAYS, "--replay-mode")
    sections = _sections(sets, section)
    if cache_control == "none":
        typer.echo("==WARNING== --cache-control none: each launch is timed with empty caches all the same.", err=True)
    wanted = programs.names(metrics) if metrics else None
    out = programs.Report(log_file, to_stdout=True)
    out.check()
    from simt.metrics import needs_timing
    from simt.profile.ncu import read_report, records_of, write_report
    from simt.profile.ncu_sections import metrics_of

    if import_file is not None:
        name, records = read_report(import_file)
        out.write(_page(records, page, wanted, sections, csv, name))
        return
    command = programs.required(program)
    target = None if export is None else _target(export, force_overwrite)
    everything = wanted is None and sections is None
    needed = page == "details" if everything else needs_timing([*(wanted or ()), *metrics_of(sections or ())])
    settings = _filter(kernel_name, launch_skip, launch_count)
    timed = needed if timing is None else timing
    finished = programs.run(command, device, arch, timed, seconds=max_seconds, **settings)
    found = programs.activities_of(finished, device)
    records = records_of(found)
    for sentence in programs.warnings(finished, found):
        typer.echo(f"==WARNING== {sentence}", err=True)
    if target_processes == "application-only" and len(finished.processes) > 1:
        typer.echo(f"==WARNING== {len(finished.processes)} processes were profiled, not the first only.", err=True)
    if not records:
        typer.echo("==WARNING== No kernels were profiled.", err=True)
    if target is None:
        out.write(_page(records, page, wanted, sections, csv, Path(command[0]).name))
    else:
        write_report(target, Path(command[0]).name, records)
        typer.echo(f"==PROF== Report: {target}", err=True)
    raise programs.exit_with(finished)


def _page(
    records: Sequence[Record],
    page: str,
    metrics: Sequence[str] | None,
    sections: Sequence[Section] | None,
    csv: bool,
    command: str,
) -> list[str]:
    from simt.profile import ncu
    from simt.profile.ncu_sections import SECTIONS, metrics_of

    process = os.getpid(), command
    if page == "source":
        return ncu.source_csv(records) if csv else ncu.source(records)
    everything = metrics is None and (sections is None or len(sections) == len(SECTIONS))
    if page == "raw" and not everything:
        metrics = list(dict.fromkeys([*(metrics or ()), *metrics_of(sections or ())]))
    if csv and page == "details":
        return ncu.details_csv(records, metrics, process, sections)
    if csv:
        return ncu.raw_csv(records, metrics, process)
    lines = ncu.details(records, metrics, sections) if page == "details" else ncu.raw(records, metrics)
    return [f"[{process[0]}] {command}@127.0.0.1", *lines] if records else []


def _sections(sets: Sequence[str] | None, names: Sequence[str] | None) -> list[Section] | None:
    """The sections of ``--set`` and ``--section``; None where neither was given.  Raises BadParameter."""
    from simt.profile.ncu_sections import ELSEWHERE, SECTIONS, SETS, named

    if not sets and not names:
        return None
    for given in sets or ():
        programs.check_choice(given, tuple(SETS), "--set")
    known = [each.name for each in SECTIONS]
    wanted = {name for given in sets or () for name in SETS[given]}
    missing = []
    for given in names or ():
        if given.startswith("regex:"):
            pattern = programs.expression(given.removeprefix("regex:"), "--section")
            matching = [name for name in known if re.fullmatch(pattern, name)]
        else:
            matching = [name for name in known if name == given]
        if not matching and given not in ELSEWHERE:
            programs.check_choice(given, known, "--section")
        missing += [] if matching else [given]
        wanted.update(matching)
    if missing and not wanted:
        what = f"{', '.join(missing)}: simt does not have it. It has {', '.join(known)}"
        raise typer.BadParameter(what, param_hint="--section")
    for name in missing:
        typer.echo(f"==WARNING== simt does not have the section {name}.", err=True)
    return named(wanted)


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
