"""``simt nvprof``: a whole program, with the options and tables of nvprof."""

from __future__ import annotations

import os
import re
import shlex
from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, Annotated

import typer

from simt.cli import programs
from simt.cli.options import Checks, Fill, KeepGoing, Schedule
from simt.cli.programs import Arch, Device, LogFile, MaxSeconds, Program, Timing

if TYPE_CHECKING:
    from simt.profile.activity import Activities

EXAMPLES = """Examples:

  [bold]simt nvprof ./reduce[/bold]    (the summary: time by kernel)

  [bold]simt nvprof --metrics inst_per_warp,gld_efficiency reduce.cu 1048576[/bold]

  [bold]simt nvprof --events branch,divergent_branch ./simpleDivergence[/bold]

  [bold]simt nvprof --kernels interleaved --metrics stall_sync --csv --log-file stalls.csv ./reduce[/bold]

  [bold]simt nvprof --print-gpu-trace python script.py[/bold]

Metrics are those of [bold]simt metrics[/bold]; one that needs times switches timing on, and so do the summary and the
trace. As nvprof does, it writes to standard error."""


def register(app: typer.Typer) -> None:
    """Add the command."""
    app.command(epilog=EXAMPLES, context_settings=programs.CONTEXT)(nvprof)


def nvprof(
    program: Program = None,
    *,
    metrics: Annotated[
        list[str] | None, typer.Option("--metrics", "-m", metavar="A,B,...", help="Metrics, or all.")
    ] = None,
    events: Annotated[
        list[str] | None, typer.Option("--events", "-e", metavar="A,B,...", help="Events: metrics that are counts.")
    ] = None,
    kernels: Annotated[
        str | None,
        typer.Option(metavar="FILTER", help="Kernels to profile: a regular expression, or CONTEXT:STREAM:NAME:LAUNCH."),
    ] = None,
    print_gpu_trace: Annotated[
        bool,
        typer.Option("--print-gpu-trace", help="One line per launch or copy; with metrics or events, theirs."),
    ] = False,
    time_unit: Annotated[
        str,
        typer.Option(
            "--normalized-time-unit",
            "-u",
            metavar="s|ms|us|ns|auto|col",
            help="Unit of times: one for all, one for each time, or one for each column. CSV: auto is us.",
        ),
    ] = "auto",
    export_profile: Annotated[str | None, typer.Option("--export-profile", "-o", hidden=True)] = None,
    query_metrics: Annotated[bool, typer.Option("--query-metrics", help="List the metrics, and exit.")] = False,
    csv: Annotated[bool, typer.Option("--csv", help="Comma-separated values instead of tables.")] = False,
    check: Checks = None,
    keep_going: KeepGoing = False,
    schedule: Schedule = None,
    fill: Fill = "0",
    log_file: LogFile = None,
    device: Device = "h200",
    arch: Arch = None,
    timing: Timing = None,
    max_seconds: MaxSeconds = None,
) -> None:
    """Run a program and print what nvprof prints: a summary, a trace, metrics or events of its kernels."""
    if query_metrics:
        typer.echo("\n".join(_listed()))
        return
    if export_profile is not None:
        what = "the file of nvvp is not written; for one that others read: --csv --log-file FILE.csv"
        raise typer.BadParameter(what, param_hint="--export-profile")
    from simt.metrics import needs_timing
    from simt.profile.nvprof_quantities import AUTO, COLUMN, UNITS

    programs.check_choice(time_unit, (*UNITS, AUTO, COLUMN), "--normalized-time-unit")
    command = programs.required(program)
    asked, counted = _metrics(metrics), programs.names(events, "--events")
    _check_events(counted)
    report = programs.Report(log_file)
    report.check()
    has_times = not asked and not counted
    timed = timing if timing is not None else has_times or needs_timing([*asked, *counted])
    checking = programs.checking(check, keep_going, schedule, fill)
    finished = programs.run(command, device, arch, timed, checking, seconds=max_seconds, **_filter(kernels))
    found = programs.activities_of(finished, device)
    shown = [name for name in asked if timed or not needs_timing([name])]
    warnings = programs.warnings(finished, found)
    report.write(list(_pages(found, command, warnings, shown, counted, print_gpu_trace, csv, time_unit)))
    raise programs.exit_with(finished)


def _pages(
    found: Activities,
    command: Sequence[str],
    warnings: Sequence[str],
    metrics: Sequence[str],
    events: Sequence[str],
    trace: bool,
    csv: bool,
    unit: str,
) -> Iterator[str]:
    """The lines of the report."""
    from simt.profile import nvprof

    mark = f"=={os.getpid()}=="
    yield f"{mark} NVPROF is profiling process {os.getpid()}, command: {shlex.join(command)}"
    for sentence in warnings:
        yield f"{mark} Warning: {sentence}"
    yield f"{mark} Profiling application: {shlex.join(command)}"
    yield f"{mark} Profiling result:"
    if not found.launched and not found.copied:
        yield "No kernels were profiled."
        return
    if not metrics and not events:
        yield from nvprof.gpu_trace(found, csv, unit) if trace else nvprof.summary(found, csv, unit)
        return
    if not found.launched:
        yield "No events/metrics were profiled."
        return
    if trace:
        yield from nvprof.metric_trace(found, [*events, *metrics], csv)
        return
    if events:
        yield from (f"{mark} Event result:", *nvprof.event_result(found, events, csv))
    if metrics:
        yield from ("", f"{mark} Metric result:") if events else (f"{mark} Metric result:",)
        yield from nvprof.metric_result(found, metrics, csv)


def _metrics(texts: Sequence[str] | None) -> list[str]:
    """The metrics that were asked for; ``all``: those that nvprof has."""
    from simt.metrics import METRICS

    if "all" in (texts or ()):
        return [name for name, metric in METRICS.items() if metric.nvprof]
    return programs.names(texts)


def _check_events(events: Sequence[str]) -> None:
    """Raises BadParameter for a metric that is not a count."""
    from simt.metrics import METRICS, UnknownMetricError

    counts = [name for name, metric in METRICS.items() if not re.search(r"[%/]", metric.unit)]
    for name in events:
        if METRICS[name].name not in counts:
            raise UnknownMetricError(name, counts, "event", f"{name} is a metric: --metrics {name}")


def _listed() -> Iterator[str]:
    from simt.metrics import METRICS

    yield "Available Metrics:"
    for name, metric in METRICS.items():
        if metric.nvprof:
            yield f"{name:>40}:  {metric.explanation}"


def _filter(text: str | None) -> dict[str, object]:
    """The settings of ``--kernels``."""
    if not text:
        return {}
    parts = text.split(":")
    if len(parts) < 4:
        return {"kernel": programs.expression(text, "--kernels")}
    name, number = ":".join(parts[2:-1]), parts[-1]
    found: dict[str, object] = {"kernel": programs.expression(name, "--kernels")}
    if number.isdigit():  # invocations count from 1
        found |= {"skip": max(int(number) - 1, 0), "count": 1}
    return found
