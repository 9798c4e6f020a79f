"""The console command ``simt``.

Only typer is imported before a command runs; NumPy, Numba and the engine are imported by the command that
needs them, so that ``simt --help`` answers at once.
"""

from __future__ import annotations

import sys
from typing import Any

import typer
from typer.core import TyperGroup

from simt.check import SimtError, render

EXIT_WRONG = 1
"""A result differs from NumPy's."""
EXIT_ERROR = 2
"""The command line, the kernel or the launch is wrong, or the simulator does not support it."""
EXIT_INTERRUPTED = 130
"""Stopped by ctrl-C (128 + SIGINT)."""


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
        no_args_is_help=True,
        add_completion=False,
        rich_markup_mode="rich",
        pretty_exceptions_enable=False,
        help="Run CUDA kernels on a modelled GPU, and see what every warp and lane did: no GPU needed.",
        epilog="Start with [bold]simt reduce --size 2^20[/bold], [bold]simt trace if_else[/bold] and "
        "[bold]simt reduce --timing[/bold].",
    )
    for module in (reduce, trace, run, profile, sweep, timeline, diff, gpu, inspect):
        module.register(app)
    return app


def main() -> None:
    """Entry point of the console command."""
    try:
        application()(prog_name="simt")
    except KeyboardInterrupt:
        sys.exit(EXIT_INTERRUPTED)
