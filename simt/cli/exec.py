"""``simt exec``: a whole program on the modelled GPU."""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import Annotated

import typer

from simt.cli.options import Json

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
    device: Annotated[str, typer.Option(metavar="NAME", help="The modelled GPU, a name of simt devices.")] = "h200",
    arch: Annotated[
        str | None, typer.Option(metavar="sm_NN", help="What a .cu file is compiled for. Default: the device's own.")
    ] = None,
    timing: Annotated[
        bool, typer.Option("--timing", help="Time every launch; events then tell modelled time.")
    ] = False,
    metrics: Annotated[str, typer.Option(metavar="A,B,...", help="Columns of the report; see simt metrics.")] = "",
    order: Annotated[str | None, typer.Option(metavar="ORDER", help="Which lanes go first, as for simt run.")] = None,
    view: Annotated[
        str, typer.Option(metavar="VIEW", help="machine, or source: kernels of numba.cuda line by line.")
    ] = "machine",
    kernel: Annotated[str, typer.Option(metavar="REGEX", help="Report on kernels whose names match only.")] = "",
    as_json: Json = False,
    log_file: Annotated[Path | None, typer.Option(metavar="FILE", help="Where the report goes; else stderr.")] = None,
) -> None:
    """Run a CUDA program on the modelled GPU, and report what its kernels did.

    The program's own output is untouched; the report goes to standard error.
    """
    from simt.driver import Settings, run_program
    from simt.driver.report import marked, needs_timing, report, to_dict

    wanted = [name.strip() for name in metrics.split(",") if name.strip()]
    timing = timing or needs_timing(wanted)
    settings = Settings(
        device=device,
        architecture=arch,
        timing=timing,
        order=order,
        view=view,
        kernel=kernel,
        on_finding=lambda finding: print(marked(str(finding)), file=sys.stderr, flush=True),
    )
    finished = run_program(program, settings)
    text = json.dumps(to_dict(finished), indent=2) if as_json else marked(report(finished, wanted))
    if log_file is not None:
        log_file.write_text(text + "\n", encoding="utf-8")
    else:
        print(text, file=sys.stderr)
    code = finished.returncode
    raise typer.Exit(code if code >= 0 else 128 - code)
