"""``simt nvcc`` and ``simt env``: building and running CUDA programs with the tools that one has."""

from __future__ import annotations

import os
import shlex
import subprocess
from collections.abc import Mapping
from pathlib import Path
from typing import Annotated

import typer

from simt.cli.options import Checks, MaxHostSeconds, Sets, Sms, TimingOptions
from simt.cli.output import check_writable
from simt.cli.programs import Device

NVCC_EXAMPLES = """Examples:

  [bold]simt nvcc -o reduce reduce.cu[/bold]    ([bold]simt exec ./reduce[/bold] runs it)

  [bold]simt nvcc -arch=sm_80 -rdc=true -o nested nested.cu -lcudadevrt[/bold]

All arguments are nvcc's. It is the nvcc on PATH, else that of the extra [bold]sass[/bold]; added are, unless given,
-cudart shared and the folder of its library, -lineinfo, and -arch=sm_90."""

ENV_EXAMPLES = """Examples:

  [bold]eval "$(simt env)"; make; ctest[/bold]

  [bold]simt env --shell fish | source[/bold]

  [bold]simt env --device rtx_4090 --timing >> "$GITHUB_ENV"[/bold]    (--shell github)

Programs that are started then use the modelled GPU, each with a device of its own, and report when they end (to
standard error, or to the end of the file SIMT_LOG). nvcc, too, takes what it needs from a variable."""

SHELLS = ("sh", "fish", "csh", "github")


def register(app: typer.Typer) -> None:
    """Add both commands."""
    context = {"ignore_unknown_options": True, "allow_interspersed_args": False}
    app.command(epilog=NVCC_EXAMPLES, context_settings=context)(nvcc)
    app.command("env", epilog=ENV_EXAMPLES)(environment)


def nvcc(
    arguments: Annotated[list[str] | None, typer.Argument(metavar="[ARGS]...", help="Arguments of nvcc.")] = None,
) -> None:
    """Run nvcc so that what it makes runs on the modelled GPU."""
    from simt.driver import libraries
    from simt.sass.from_cuda import DEFAULT_ARCHITECTURE
    from simt.toolkit.programs import nvcc_command

    command = nvcc_command(libraries(), DEFAULT_ARCHITECTURE, arguments or [])
    raise typer.Exit(subprocess.run(command, check=False).returncode)


def environment(
    *,
    shell: Annotated[str, typer.Option(metavar="|".join(SHELLS), help="Whose commands to print.")] = "sh",
    device: Device = "h200",
    timing: Annotated[bool, typer.Option("--timing", help="Time every launch.")] = False,
    sms: Sms = "auto",
    max_host_seconds: MaxHostSeconds = None,
    sets: Sets = None,
    metrics: Annotated[str | None, typer.Option(metavar="A,B,...", help="Metrics of the report.")] = None,
    check: Checks = None,
    log_file: Annotated[str, typer.Option(metavar="FILE", help="Where reports go; else standard error.")] = "",
) -> None:
    """Print commands for a shell, so that make, CTest and all that it starts use the modelled GPU."""
    from simt.cli import programs

    programs.check_choice(shell, SHELLS, "--shell")
    from simt import devices
    from simt.metrics import needs_timing
    from simt.sanitizer import names_of

    if log_file:
        check_writable(Path(log_file))
    gpu = devices.get(device)
    names_of(check or ())
    counted = programs.names(None if metrics is None else [metrics])
    timing = timing or needs_timing(counted)
    model = TimingOptions(gpu.key, sms, max_host_seconds, sets, timing).keywords
    if timing:
        from simt.options import Timing
        from simt.timing import check_options

        check_options(Timing(model["sms"], overrides=model["overrides"]), gpu)
    wanted = {
        "SIMT_DEVICE": gpu.key,
        "SIMT_TIMING": "1" if timing else "",
        "SIMT_METRICS": ",".join(counted),
        "SIMT_SMS": "" if sms == "auto" else sms,
        "SIMT_MAX_HOST_SECONDS": "" if max_host_seconds is None else str(max_host_seconds),
        "SIMT_SET": ",".join(sets or ()),
        "SIMT_CHECK": ",".join(check or ()),
        "SIMT_LOG": os.path.abspath(log_file) if log_file else "",
    }
    for name, value in variables(gpu.architecture, wanted).items():
        typer.echo(assignment(shell, name, value))


def variables(architecture: str, wanted: Mapping[str, str]) -> dict[str, str]:
    """The variables to set: those of *wanted* that say something, and what the libraries and nvcc need.

    Also those that this process has: the lines may go to another shell, or to a file.  Empty are only those that are
    set here and should not be.
    """
    from simt.driver import libraries, surroundings
    from simt.toolkit.programs import needed_flags

    folder = libraries()
    given = shlex.split(os.environ.get("NVCC_APPEND_FLAGS", ""))
    added = [flag for flag in needed_flags(folder, architecture, given) if not flag.startswith("-arch")]
    flags = shlex.join([*given, *(flag for flag in added if flag not in given)])
    path = {"LD_LIBRARY_PATH": os.environ.get("LD_LIBRARY_PATH", "")}
    found = {**surroundings(folder, given=path), "NVCC_APPEND_FLAGS": flags, **wanted}
    return {name: value for name, value in found.items() if value or os.environ.get(name)}


def assignment(shell: str, name: str, value: str) -> str:
    """A command that sets a variable for what the shell starts."""
    quoted = shlex.quote(value)
    forms = {
        "sh": f"export {name}={quoted}",
        "fish": f"set -gx {name} {quoted}",
        "csh": f"setenv {name} {quoted};",
        "github": f"{name}={value}",
    }
    return forms[shell]
