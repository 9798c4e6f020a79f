"""``simt check``: what a kernel or a program does wrong."""

from __future__ import annotations

import json
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer
from typer.core import TyperCommand

from simt.cli import programs
from simt.cli.options import (
    LAUNCH_IN_FILE,
    Arguments,
    Fill,
    Grid,
    LaunchOptions,
    MaxInstructions,
    Nvrtc,
    OptionalBlock,
    OptionalSize,
    Schedule,
    Seed,
    Shared,
    View,
)
from simt.cli.output import EXIT_WRONG, print_json, say
from simt.cli.programs import Arch, Device, LogFile

if TYPE_CHECKING:
    from collections.abc import Sequence

    from simt.check import KernelError, Reported
    from simt.driver import Finished

EXAMPLES = f"""Examples:

  [bold]simt check shared[/bold]

  [bold]simt check --tool racecheck,initcheck my_kernels.py:saxpy[/bold]

  [bold]simt check --tool racecheck ./vectorAdd 1000[/bold]    (a program, with its arguments)

{LAUNCH_IN_FILE}"""

MOST = 2**24
"""Warp instructions of a block: less than elsewhere, since a checked launch takes three times as long."""

CONTEXT = {"ignore_unknown_options": True, "allow_interspersed_args": False}


class _Command(TyperCommand):
    """What follows a program is the program's; options of ours may follow a kernel, too."""

    def parse_args(self, ctx: Any, args: list[str]) -> list[str]:  # a Context of click's, or of typer's own copy
        if not _is_program(self._target(args)):
            ctx.allow_interspersed_args, ctx.ignore_unknown_options = True, False
        return super().parse_args(ctx, args)

    def _target(self, args: list[str]) -> str:
        """The first word that is neither an option nor the value of one; empty if there is none."""
        valued = {name for each in self.params if not getattr(each, "is_flag", True) for name in each.opts}
        words = iter(args)
        for word in words:
            if not word.startswith("-"):
                return word
            if word in valued:
                next(words, None)
        return ""


def register(app: typer.Typer) -> None:
    """Add the command."""
    app.command(cls=_Command, epilog=EXAMPLES, context_settings=CONTEXT)(check)


def check(
    target: Annotated[
        list[str],
        typer.Argument(
            metavar="KERNEL|PROGRAM [ARGS]...",
            help="A name of [bold]simt kernels[/bold] or FILE.py:FUNCTION; or an executable, a .cu file, a script.",
        ),
    ],
    *,
    tool: Annotated[
        list[str] | None,
        typer.Option(metavar="A,B,...", help="memcheck, initcheck, racecheck, synccheck, or all (the default)."),
    ] = None,
    size: OptionalSize = None,
    grid: Grid = None,
    block: OptionalBlock = None,
    arg: Arguments = None,
    shared: Shared = 0,
    nvrtc: Nvrtc = None,
    view: View = "source",
    seed: Seed = 0,
    schedule: Schedule = None,
    fill: Fill = "0",
    max_instructions: MaxInstructions = MOST,
    device: Device = "h200",
    arch: Arch = None,
    as_json: Annotated[bool, typer.Option("--json", help="Print the findings as JSON.")] = False,
    log_file: LogFile = None,
) -> None:
    """Look for what compute-sanitizer looks for, and more: each place once, with a count.

    The exit code is 1 if something was found.  What is found in a program goes to standard error, each place as it
    comes, and all with their counts at the end.
    """
    tools = tool or ["all"]
    from simt.check import LaunchError
    from simt.sanitizer import names_of

    names_of(tools)
    kernel, *arguments = target
    file = kernel.partition(":")[0]
    if Path(file).suffix in _PROFILES:
        raise LaunchError(
            f"{file} is a profile of a GPU, and checks look at a run", help="name the program that was profiled"
        )
    if _is_program(kernel):
        report = programs.Report(log_file)
        report.check()
        checking = programs.checking(tools, True, schedule, fill, told=not as_json)
        finished = programs.run(target, device, arch, False, checking, max_instructions=max_instructions)
        report.write(_of_program(finished, as_json))
        raise typer.Exit(EXIT_WRONG if finished.findings else programs.exit_with(finished).exit_code)
    if arguments:
        raise typer.BadParameter(f"{kernel} is a kernel, which takes no arguments", param_hint=arguments[0])
    launch = LaunchOptions(
        kernel, size=size, view=view, check=tools, keep_going=True, fill=fill, max_instructions=max_instructions,
        seed=seed, grid=grid, arg=arg, shared=shared, nvrtc=nvrtc, block=block,
    )  # fmt: skip
    findings, notes, ended = _checked(launch, schedule)
    if as_json:
        found = [finding.to_dict() for finding in findings]
        print_json({"findings": found, "notes": list(notes), "ended_by": str(ended) if ended else None})
    else:
        ends = [str(ended)] if ended else []
        typer.echo("\n\n".join([*map(str, findings), *ends, _in_all(len(findings) + len(ends))]))
        for note in notes:
            say(f"note: {note}")
    if findings or ended:
        raise typer.Exit(EXIT_WRONG)


def _checked(
    launch: LaunchOptions, schedule: str | None
) -> tuple[Sequence[Reported], Sequence[str], KernelError | None]:
    """What a launch's checks found, its notes, and the error that ended it."""
    from simt.check import KernelError, LaunchError, ListingError

    try:
        profile = launch.launch(launch.block, schedule=schedule)
    except (LaunchError, ListingError):  # nothing has run
        raise
    except KernelError as error:
        return error.findings, (), error
    return profile.findings, profile.notes, None


def _of_program(finished: Finished, as_json: bool) -> list[str]:
    """The lines that say what was found in a program."""
    from simt.driver.report import checks, marked

    if as_json:
        found = [finding.to_dict() for finding in finished.findings]
        return [json.dumps({"findings": found, "returncode": finished.returncode}, indent=2)]
    return [marked(checks(finished))]


_PROFILES = (".csv", ".ncu-rep", ".nvvp", ".nsys-rep", ".qdrep")


def _is_program(target: str) -> bool:
    """Whether a target is a program, not a kernel: a file, or the name of one that the shell would find."""
    path = Path(target)
    return path.is_file() or (":" not in target and ("/" in target or path.suffix in (".cu", ".py")))


def _in_all(places: int) -> str:
    from simt.text import counted

    return counted(places, "finding") if places else "nothing found"
