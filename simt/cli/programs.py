"""What the commands share that run whole programs: the program's arguments, its end, where a report goes."""

from __future__ import annotations

import os
import re
import sys
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from simt.check import write_file
from simt.cli.output import check_writable
from simt.text import counted

if TYPE_CHECKING:
    from simt.driver import Finding, Finished
    from simt.profile import Profile
    from simt.profile.activity import Activities

CONTEXT = {"allow_interspersed_args": False}
"""Options after the program are the program's."""

Program = Annotated[
    list[str] | None,
    typer.Argument(
        metavar="PROGRAM [ARGS]...",
        help="An executable, a [bold].cu[/bold] file, or a Python script.",
        show_default=False,
    ),
]
Device = Annotated[str, typer.Option(metavar="NAME", help="The modelled GPU, a name of [bold]simt devices[/bold].")]
Arch = Annotated[
    str | None, typer.Option(metavar="sm_NN", help="What a .cu file is compiled for. Default: the device's own.")
]
LogFile = Annotated[
    str | None, typer.Option(metavar="FILE", help="Where the report goes; %p in it is the process, %1 standard output.")
]
Timing = Annotated[
    bool | None,
    typer.Option("--timing/--no-timing", help="Time launches. Default: only if the output needs times."),
]
MaxSeconds = Annotated[
    float | None,
    typer.Option(
        min=0,
        metavar="SECONDS",
        help="End the program after so long on this computer, as ctrl-C does, and report what it did until then.",
    ),
]


def names(texts: Sequence[str] | None, option: str = "--metrics") -> list[str]:
    """The names in options that take several, separated by commas; none where the option was not given.

    Raises UnknownMetricError for one that is none, BadParameter for an option without names.
    """
    from simt.metrics import METRICS

    found = [name.strip() for text in texts or () for name in text.split(",") if name.strip()]
    if texts and not found:
        raise typer.BadParameter("which ones? Names of simt metrics, such as ipc,gld_efficiency", param_hint=option)
    for name in found:
        METRICS[name]  # refuses those that it does not have
    return found


@dataclass(frozen=True)
class Report:
    """Where a report goes: a file, or a stream (None: standard error)."""

    path: str | None
    to_stdout: bool = False

    def check(self) -> None:
        """Raises LaunchError, before the program runs, for a missing folder."""
        if self.path and self.path != "%1":
            check_writable(Path(self.path))

    def write(self, lines: Sequence[str]) -> None:
        """Write the lines."""
        text = "".join(f"{line}\n" for line in lines)
        if self.path and self.path != "%1":
            write_file(Path(self.path.replace("%p", str(os.getpid()))), text)
        else:
            stream = sys.stdout if self.to_stdout or self.path == "%1" else sys.stderr
            stream.write(text)
            stream.flush()


def checking(
    check: Sequence[str] | None = None,
    keep_going: bool = False,
    schedule: str | None = None,
    fill: str = "0",
    told: bool = True,
) -> dict[str, Any]:
    """The checks of a program's launches, as settings of the driver.

    *told*: what is found is told at once, on standard error.
    """
    from simt.driver.report import marked

    def tell(finding: Finding) -> None:
        print(marked(str(finding)), file=sys.stderr, flush=True)

    found = {"check": tuple(check or ()), "keep_going": keep_going, "schedule": schedule, "fill": fill}
    return {**found, "on_finding": tell if told else None}


def preview(profile: Profile) -> None:
    """Tell, on standard error, what is known of a launch that takes long."""
    from simt.driver.report import marked, previewed

    print(marked(previewed(profile)), file=sys.stderr, flush=True)


def run(
    program: Sequence[str],
    device: str,
    arch: str | None,
    timing: bool,
    checks: Mapping[str, Any] | None = None,
    **more: Any,
) -> Finished:
    """Run a program; *checks* are those of :func:`checking` (default: only errors are reported)."""
    from simt.driver import Settings, run_program

    wanted = checking() if checks is None else checks
    settings = Settings(device=device, architecture=arch, timing=timing, on_preview=preview, **wanted, **more)
    return run_program(program, settings)


def activities_of(finished: Finished, device: str) -> Activities:
    """What a program did; nothing for one that did not use the device."""
    from simt import devices
    from simt.profile.activity import Activities

    return finished.activities or Activities(devices.get(device))


def warnings(finished: Finished, activities: Activities) -> list[str]:
    """A sentence for each unsupported entry point that the program called, for each launch that is known in part, and
    one if it was ended before its end.
    """
    from simt.driver.report import late, unsupported

    sentences = [
        f"{name} is not supported: {counted(count, 'call')} answered with cudaErrorNotSupported"
        for name, count in unsupported(activities).items()
    ]
    launched = [each.profile for each in activities.launched]
    sentences += [f"{each.kernel} is {each.in_part}" for each in launched if each.in_part]
    return sentences if finished.ended_after is None else [*sentences, late(finished.ended_after)]


def required(program: list[str] | None) -> list[str]:
    """The program, which must be given."""
    if not program:
        raise typer.BadParameter("which program? Write its name last, with its arguments", param_hint="PROGRAM")
    return program


def check_choice(given: str, known: Sequence[str], option: str) -> None:
    """Raises BadParameter for a word that an option does not have."""
    if given not in known:
        raise typer.BadParameter(f"{given!r} is none of {', '.join(known)}", param_hint=option)


def expression(text: str, option: str) -> str:
    """The regular expression given with an option.  Raises BadParameter for what is none."""
    try:
        re.compile(text)
    except re.error as error:
        raise typer.BadParameter(f"{text!r} is no regular expression: {error}", param_hint=option) from None
    return text


def exit_with(finished: Finished) -> typer.Exit:
    """End as the program did."""
    code = finished.returncode
    return typer.Exit(code if code >= 0 else 128 - code)
