"""The console command ``simt``.

Only typer and the command's own module are imported before it runs; NumPy, Numba and the engine are imported by the
command that needs them, so that ``simt --help`` answers at once.
"""

from __future__ import annotations

import codecs
import errno
import io
import os
import re
import signal
import sys
import threading
from collections import UserDict
from collections.abc import Iterator, Mapping
from contextlib import ExitStack, contextmanager, redirect_stderr, redirect_stdout
from importlib import import_module
from inspect import cleandoc
from types import MappingProxyType
from typing import Annotated, Any, TextIO

import typer
from typer.core import TyperCommand, TyperGroup
from typer.main import get_group

import simt
from simt.check import SimtError, render
from simt.cli.output import EXIT_ERROR, EXIT_INTERRUPTED, columns
from simt.text import filled

MARKUP: Any = "rich"
"""Of help texts."""

_SHARED = {"env": "nvcc", **dict.fromkeys(("kernels", "metrics", "devices", "occupancy"), "inspect")}
"""Modules of commands that are not called like them."""
HOMES: Mapping[str, str] = MappingProxyType(
    {
        name: f"simt.cli.{_SHARED.get(name, name)}"
        for name in (
            *("reduce", "trace", "run", "check", "profile", "exec", "nvprof", "ncu", "nvcc", "env"),
            *("sweep", "timeline", "diff", "explain", "report", "kernels", "metrics", "devices", "occupancy"),
        )
    }
)
"""The module of each command, in the order of the help text; its function ``register`` adds the command."""


class _Lazy(UserDict[str, Any]):
    """Commands by their names; a command is made, and its module imported, when somebody asks for it.

    ``listed``: the help text lists all commands, and only needs their names and what they do.
    """

    def __init__(self, homes: Mapping[str, str]) -> None:
        super().__init__(dict.fromkeys(homes))
        self.homes = homes
        self.listed = False

    def __getitem__(self, name: str) -> Any:
        if self.data[name] is None:
            app = typer.Typer(rich_markup_mode=MARKUP)
            import_module(self.homes[name]).register(app)
            for info in app.registered_commands:
                assert info.callback is not None  # they are all functions
                info.help, info.epilog = _flowing(info.callback.__doc__), _flowing(info.epilog)
                if self.listed and name == (info.name or info.callback.__name__):
                    return TyperCommand(name, help=info.help)
            self.data |= get_group(app).commands
        return self.data[name]


class Commands(TyperGroup):
    """The commands; errors of simt become a message on standard error and an exit code, without a traceback."""

    homes = HOMES

    def __init__(self, **given: Any) -> None:
        super().__init__(**given)
        self.commands = self._lazy = _Lazy(self.homes)

    def list_commands(self, ctx: Any) -> list[str]:
        """Their names."""
        return list(self.homes)

    def format_help(self, ctx: Any, formatter: Any) -> None:
        """Write the help text."""
        self._lazy.listed = True
        super().format_help(ctx, formatter)

    def invoke(self, ctx: Any) -> Any:
        """Run the command."""
        interrupts: list[int] = []
        try:
            with _noting(interrupts):
                return super().invoke(ctx)
        except SimtError as error:
            raise _ended(_in_lines(render(error)), EXIT_ERROR) from None
        except KeyboardInterrupt:
            raise _ended("interrupted", EXIT_INTERRUPTED) from None
        except Exception as error:
            if interrupts:
                raise _ended("interrupted", EXIT_INTERRUPTED) from None
            if isinstance(error, OSError) and error.errno != errno.EPIPE:  # typer ends quietly on a closed pipe
                raise _ended(_refused(error), EXIT_ERROR) from None
            raise


def _in_lines(message: str) -> str:
    """A message for the terminal: sentences break between words; places and code stay as they are."""
    width = columns(sys.stderr)
    lines = message.split("\n")
    return "\n".join(line if " |" in line or line.startswith("  -->") else filled(line, width) for line in lines)


def _refused(error: OSError) -> str:
    """What is said of an error of the operating system that no one has expected."""
    return f"the operating system refuses: {error}"


def _ended(message: str, code: int) -> typer.Exit:
    typer.echo(message, err=True)
    return typer.Exit(code)


@contextmanager
def _noting(interrupts: list[int]) -> Iterator[None]:
    """Add every ctrl-C to *interrupts*, besides raising KeyboardInterrupt.

    KeyboardInterrupt is lost in a callback from the compiler, and the next exception is about something else.
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


_ZSH_DEFINES = "\ncompdef %(complete_func)s %(prog_name)s\n"
_ZSH_CALLS = """
if [ "$funcstack[1]" = "_%(prog_name)s" ]; then
  %(complete_func)s "$@"
else
  compdef %(complete_func)s %(prog_name)s
fi
"""
"""zsh loads the file at the first TAB and takes it for the body of ``_simt``; typer's only defines another function."""


def _complete_at_once() -> None:
    """Let the script for zsh that is installed complete at the first TAB, too."""
    shared = getattr(typer, "_completion_shared", None)  # typer has no other door to them, and may close this one
    scripts = getattr(shared, "_completion_scripts", None)
    if isinstance(scripts, dict) and "zsh" in scripts:
        scripts["zsh"] = scripts["zsh"].replace(_ZSH_DEFINES, _ZSH_CALLS)


def application(more: Mapping[str, str] = HOMES) -> typer.Typer:
    """The command with all its subcommands; *more* are others and their modules.

    What stands above this package names its commands here instead of being imported from here.
    """
    app = typer.Typer(
        cls=type("Commands", (Commands,), {"homes": {**HOMES, **more}}),
        rich_markup_mode=MARKUP,
        pretty_exceptions_enable=False,
        help="Run CUDA kernels on a modelled GPU, and see what every warp and lane did: no GPU needed.",
        epilog="Start with [bold]simt reduce --size 2^20[/bold], [bold]simt trace if_else[/bold] and "
        "[bold]simt reduce --timing[/bold].",
    )
    app.callback(no_args_is_help=True)(_common)
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
    """*text* with each paragraph in one line, so that it is wrapped only where the terminal ends."""
    return re.sub(r"(?<!\n)\n(?!\n)", " ", cleandoc(text or ""))


def main(more: Mapping[str, str] = HOMES) -> None:
    """Run the console command; *more* as for :func:`application`."""
    _complete_at_once()
    with _streams():
        try:
            application(more)(prog_name="simt")
        except KeyboardInterrupt:
            sys.exit(EXIT_INTERRUPTED)
        except OSError as error:  # of the help, which comes before a command
            typer.echo(_refused(error), err=True)
            sys.exit(EXIT_ERROR)


@contextmanager
def _streams() -> Iterator[None]:
    """Standard output and error take all text, also where they were closed (``simt ... >&-``): they go nowhere."""
    codecs.register_error(_STAND_INS_FOR, _stand_in)
    with open(os.devnull, "w", encoding="utf-8") as nowhere, ExitStack() as changed:
        for stream in (sys.stdout, sys.stderr):
            if isinstance(stream, io.TextIOWrapper):
                stream.reconfigure(errors=_STAND_INS_FOR)
        if not _writable(sys.stdout):
            changed.enter_context(redirect_stdout(nowhere))
        if not _writable(sys.stderr):
            changed.enter_context(redirect_stderr(nowhere))
        yield


_STAND_INS_FOR = "simt.cli"
"""The name by which Python's streams know :func:`_stand_in`."""
_STAND_INS = {"→": "->", "…": "...", "±": "+-"}


def _stand_in(error: UnicodeError) -> tuple[str, int]:
    """ASCII for characters that the terminal's encoding lacks, and where the text goes on."""
    if not isinstance(error, UnicodeEncodeError):
        raise error
    lacking = error.object[error.start : error.end]
    return "".join(_STAND_INS.get(each, ascii(each)[1:-1]) for each in lacking), error.end


def _writable(stream: TextIO | None) -> bool:
    """Whether a stream takes text.

    Python has None for one that was closed; in a script of a shell its number may be that of the script, for reading.
    """
    if stream is None:
        return False
    try:
        os.write(stream.fileno(), b"")
    except OSError as error:  # also of a stream of Python's own, without a number; a full disk is told when it matters
        return error.errno != errno.EBADF
    return True
