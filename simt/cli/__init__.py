"""The console command ``simt``.

Only typer is imported before a command runs; NumPy, Numba and the engine are imported by the command that
needs them, so that ``simt --help`` answers at once.
"""

from __future__ import annotations

import errno
import re
import signal
import sys
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from inspect import cleandoc
from typing import Annotated, Any

import typer
from typer.core import TyperGroup

import simt
from simt.check import SimtError, render
from simt.cli.output import EXIT_ERROR, EXIT_INTERRUPTED


class Commands(TyperGroup):
    """Turns the errors of simt into a message on standard error and an exit code, without a traceback."""

    def invoke(self, ctx: Any) -> Any:
        """Run the command."""
        interrupts: list[int] = []
        try:
            with _noting(interrupts):
                return super().invoke(ctx)
        except SimtError as error:
            raise _ended(render(error), EXIT_ERROR) from None
        except KeyboardInterrupt:
            raise _ended("interrupted", EXIT_INTERRUPTED) from None
        except Exception as error:
            if interrupts:
                raise _ended("interrupted", EXIT_INTERRUPTED) from None
            if isinstance(error, OSError) and error.errno != errno.EPIPE:  # typer ends quietly on a closed pipe
                raise _ended(f"the operating system refuses: {error}", EXIT_ERROR) from None
            raise


def _ended(message: str, code: int) -> typer.Exit:
    typer.echo(message, err=True)
    return typer.Exit(code)


@contextmanager
def _noting(interrupts: list[int]) -> Iterator[None]:
    """Add every ctrl-C to *interrupts*, besides raising KeyboardInterrupt.

    The exception is lost where it meets a callback from the compiler, and the next one is about something else.
    """
    if threading.current_thread() is not threading.main_thread():
        yield
        return

    def note(number: int, frame: Any) -> None:
        interrupts.append(number)
        raise KeyboardInterrupt

    def report(unraisable: Any) -> None:
        if unraisable.exc_type is not KeyboardInterrupt:
            hook(unraisable)

    hook, sys.unraisablehook = sys.unraisablehook, report
    handler = signal.signal(signal.SIGINT, note)
    try:
        yield
    finally:
        signal.signal(signal.SIGINT, handler or signal.SIG_DFL)
        sys.unraisablehook = hook


def application(*more: Callable[[typer.Typer], None]) -> typer.Typer:
    """The command with all its subcommands, in the order of the help text; *more* add others to it.

    What stands above this package adds its commands here instead of being imported from here.
    """
    from simt.cli import (
        check,
        diff,
        exec,
        explain,
        inspect,
        ncu,
        nvcc,
        nvprof,
        profile,
        reduce,
        report,
        run,
        sweep,
        timeline,
        trace,
    )

    app = typer.Typer(
        cls=Commands,
        rich_markup_mode="rich",
        pretty_exceptions_enable=False,
        help="Run CUDA kernels on a modelled GPU, and see what every warp and lane did: no GPU needed.",
        epilog="Start with [bold]simt reduce --size 2^20[/bold], [bold]simt trace if_else[/bold] and "
        "[bold]simt reduce --timing[/bold].",
    )
    app.callback(no_args_is_help=True)(_common)
    for module in (
        reduce,
        trace,
        run,
        check,
        profile,
        exec,
        nvprof,
        ncu,
        nvcc,
        sweep,
        timeline,
        diff,
        explain,
        report,
        inspect,
    ):
        module.register(app)
    for register in more:
        register(app)
    for command in app.registered_commands:
        assert command.callback is not None  # they are all functions
        command.help, command.epilog = _flowing(command.callback.__doc__), _flowing(command.epilog)
    return app


def _version(asked: bool) -> None:
    if asked:
        typer.echo(f"simt {simt.__version__}")
        raise typer.Exit


def _common(
    version: Annotated[
        bool, typer.Option("--version", callback=_version, is_eager=True, help="Print the version and exit.")
    ] = False,
) -> None:
    """Options of the command itself."""


def _flowing(text: str | None) -> str:
    """Each paragraph in one line, so that it is wrapped where the terminal ends and nowhere else."""
    return re.sub(r"(?<!\n)\n(?!\n)", " ", cleandoc(text or ""))


def main(*more: Callable[[typer.Typer], None]) -> None:
    """Run the console command; *more* as for :func:`application`."""
    try:
        application(*more)(prog_name="simt")
    except KeyboardInterrupt:
        sys.exit(EXIT_INTERRUPTED)
