"""The console command ``simt``.

Only typer is imported before a command runs; NumPy, Numba and the engine are imported by the command that
needs them, so that ``simt --help`` answers at once.
"""

from __future__ import annotations

import re
import sys
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
        try:
            return super().invoke(ctx)
        except SimtError as error:
            typer.echo(render(error), err=True)
            raise typer.Exit(EXIT_ERROR) from None
        except KeyboardInterrupt:
            typer.echo("interrupted", err=True)
            raise typer.Exit(EXIT_INTERRUPTED) from None


def application() -> typer.Typer:
    """The command with all its subcommands, in the order of the help text."""
    from simt.cli import diff, gpu, inspect, profile, reduce, run, sweep, timeline, trace

    app = typer.Typer(
        cls=Commands,
        add_completion=False,
        rich_markup_mode="rich",
        pretty_exceptions_enable=False,
        help="Run CUDA kernels on a modelled GPU, and see what every warp and lane did: no GPU needed.",
        epilog="Start with [bold]simt reduce --size 2^20[/bold], [bold]simt trace if_else[/bold] and "
        "[bold]simt reduce --timing[/bold].",
    )
    app.callback(no_args_is_help=True)(_common)
    for module in (reduce, trace, run, profile, sweep, timeline, diff, gpu, inspect):
        module.register(app)
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


def main() -> None:
    """Entry point of the console command."""
    try:
        application()(prog_name="simt")
    except KeyboardInterrupt:
        sys.exit(EXIT_INTERRUPTED)
