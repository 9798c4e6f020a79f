"""``simt exec``: a whole program on the modelled GPU."""

from __future__ import annotations

import json
from typing import Annotated

import typer

from simt.cli import programs
from simt.cli.options import (
    PLUS_MINUS,
    Checks,
    Fill,
    KeepGoing,
    MaxHostSeconds,
    MaxInstructions,
    Schedule,
    Sets,
    Sms,
    TimingOptions,
)
from simt.cli.programs import Arch, Device, LogFile, MaxSeconds

EXAMPLES = """Examples:

  [bold]simt exec ./vectorAdd[/bold]

  [bold]simt exec --timing --metrics gld_efficiency,duration reduce.cu 1048576[/bold]

  [bold]simt exec script.py[/bold]    (a Python program with numba.cuda, cuda.core or cuda.bindings)

The program runs unmodified in a process of its own, with the libraries of simt in the place of libcuda.so.1 and
libcudart.so. It must be linked with the shared CUDA runtime: nvcc -cudart shared."""


def register(app: typer.Typer) -> None:
    """Add the command."""
    app.command(
        "exec", epilog=EXAMPLES, context_settings={"ignore_unknown_options": True, "allow_interspersed_args": False}
    )(execute)


def execute(
    program: Annotated[
        list[str],
        typer.Argument(
            metavar="PROGRAM [ARGS]...", help="An executable, a [bold].cu[/bold] file, a Python script, or -m MODULE."
        ),
    ],
    *,
    device: Device = "h200",
    arch: Arch = None,
    timing: Annotated[
        bool,
        typer.Option("--timing", help=f"Time every launch; events then report modelled time. {PLUS_MINUS}"),
    ] = False,
    timing_count: Annotated[
        int | None,
        typer.Option(
            min=1,
            metavar="N",
            help="Time only the first N launches of each kernel and shape; later ones take as long as the last.",
        ),
    ] = None,
    sms: Sms = "auto",
    max_host_seconds: MaxHostSeconds = None,
    sets: Sets = None,
    metrics: Annotated[
        str | None, typer.Option(metavar="A,B,...", help="Columns of the report; see simt metrics.")
    ] = None,
    order: Annotated[str | None, typer.Option(metavar="ORDER", help="Which lanes go first, as for simt run.")] = None,
    view: Annotated[
        str, typer.Option(metavar="VIEW", help="machine, or source: kernels of numba.cuda line by line.")
    ] = "machine",
    kernel: Annotated[str, typer.Option(metavar="REGEX", help="Report only on kernels whose names match.")] = "",
    check: Checks = None,
    keep_going: KeepGoing = False,
    schedule: Schedule = None,
    fill: Fill = "0",
    max_instructions: MaxInstructions = 2**28,
    max_seconds: MaxSeconds = None,
    as_json: Annotated[
        bool,
        typer.Option("--json", help="Print the report as JSON; --log-file keeps it apart from the program's."),
    ] = False,
    log_file: LogFile = None,
) -> None:
    """Run a CUDA program on the modelled GPU, and report what its kernels did.

    The program's own output is untouched; the report goes to standard error.
    """
    from simt.driver.report import marked, report, to_dict
    from simt.metrics import needs_timing
    from simt.options import Timing

    wanted = programs.names(None if metrics is None else [metrics])
    kernel = programs.expression(kernel, "--kernel")
    to = programs.Report(log_file)
    to.check()
    timed = timing or needs_timing(wanted)
    model = TimingOptions(device, sms, max_host_seconds, sets, timed).keywords
    checking = programs.checking(check, keep_going, schedule, fill)
    settings = {
        "order": order,
        "view": view,
        "kernel": kernel,
        "timed": timing_count,
        "model": Timing(model.get("sms", "auto"), model.get("max_host_seconds"), model.get("overrides")),
        "max_instructions": max_instructions,
        "seconds": max_seconds,
    }
    finished = programs.run(program, device, arch, timed, checking, **settings)
    to.write([json.dumps(to_dict(finished), indent=2) if as_json else marked(report(finished, wanted))])
    raise programs.exit_with(finished)
