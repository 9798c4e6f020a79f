"""What commands share of their output: tables on standard output, progress on standard error, exit codes."""

from __future__ import annotations

import errno
import json
import os
import shutil
import sys
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any, TextIO

import typer

from simt.check import LaunchError

if TYPE_CHECKING:
    from rich.console import Console
    from rich.progress import Progress as Bar
    from rich.progress import TaskID
    from rich.table import Column, Table

EXIT_WRONG = 1
"""A result differs from NumPy's, or the GPU from the simulator."""
EXIT_ERROR = 2
"""The command line, the kernel or the launch is wrong, or the simulator does not support it."""
EXIT_INTERRUPTED = 130
"""Stopped by ctrl-C (128 + SIGINT)."""

PIPE_WIDTH = 200
"""Columns that a table may take if it does not go to a terminal: enough to cut nothing off."""

WRAPPED_WIDTH = 14
"""Columns that wrapped text is given at least."""


def console() -> Console:
    """Standard output: colours and the real width in a terminal, plain and as wide as needed in a pipe."""
    from rich.console import Console

    return Console(highlight=False, markup=False, width=columns() or PIPE_WIDTH)


def columns(stream: TextIO | None = None) -> int | None:
    """Columns of the terminal; None if *stream* (default: standard output) is none, whatever COLUMNS says."""
    return shutil.get_terminal_size().columns if (stream or sys.stdout).isatty() else None


def say(what: object) -> None:
    """Print text; in a terminal its lines break between words."""
    from simt.text import filled

    typer.echo(filled(str(what), columns()))


def check_writable(*paths: Path | None) -> None:
    """Raises LaunchError, before anything runs, if an output file cannot be written where it should be."""
    for path in paths:
        if path is None:
            continue
        if not path.parent.is_dir():
            raise LaunchError(f"there is no folder {path.parent}")
        if path.is_dir():
            raise LaunchError(f"{path} cannot be written: {os.strerror(errno.EISDIR)}")
        if not os.access(path if path.exists() else path.parent, os.W_OK):
            raise LaunchError(f"{path} cannot be written: {os.strerror(errno.EACCES)}")


def table(title: str, *columns: str, left: Sequence[str] = (), wrap: Sequence[str] = ()) -> Table:
    """A table without rules; columns are right-aligned but those in ``left``, and in one line but those in ``wrap``."""
    from rich.table import Column

    made = [
        Column(
            column,
            justify="left" if column in left else "right",
            no_wrap=column not in wrap,
            overflow="fold",
            min_width=WRAPPED_WIDTH if column in wrap else None,
        )
        for column in columns
    ]
    rows = _frame(made)
    rows.title = title
    return rows


def _frame(columns: Sequence[Column]) -> Table:
    from rich import box
    from rich.table import Table

    return Table(
        *columns,
        box=box.SIMPLE_HEAD,
        pad_edge=False,
        collapse_padding=True,
    )


def show(rows: Table, optional: Sequence[str] = ()) -> None:
    """Print a table; where a terminal is too narrow for it, without *optional* columns, from the first one on.

    If that does not help, either, each row becomes a few lines: no number is cut.
    """
    from simt.text import filled

    out = console()
    if rows.title:
        out.print(filled(str(rows.title), columns()), style="bold", soft_wrap=True)
        rows.title = None
    left_out = []
    for heading in optional:
        if _least_width(rows) <= out.width:
            break
        kept = _frame([column for column in rows.columns if column.header != heading])
        kept.rows = rows.rows
        rows = kept
        left_out.append(heading.replace("\n", " "))
    if _least_width(rows) > out.width:
        _show_stacked(rows, out)
    else:
        out.print(rows)
    if left_out:
        out.print(filled(f"too narrow for: {', '.join(left_out)} (--json has all)", out.width), style="dim")


def _show_stacked(rows: Table, out: Console) -> None:
    """Print each row as its first cell and, below it, the other cells with their headings."""
    from rich.text import Text

    from simt.text import filled, indentation

    headings = [str(column.header).replace("-\n", "").replace("\n", " ") for column in rows.columns]
    for row in zip(*(column.cells for column in rows.columns), strict=True):
        first, *others = row
        out.print(first, soft_wrap=True)
        indent = " " * (2 + indentation([str(first)]))
        for heading, cell in zip(headings[1:], others, strict=True):
            text = cell.plain if isinstance(cell, Text) else str(cell)
            if text:
                line = filled(f"{indent}{heading}  {text}", out.width)
                out.print(Text(line, style=cell.style if isinstance(cell, Text) else ""), soft_wrap=True)


def _least_width(rows: Table) -> int:
    """The width of a table whose wrapped columns are as narrow as they may be."""
    from rich.console import Console
    from rich.measure import Measurement

    wrapped = [column for column in rows.columns if not column.no_wrap]
    for column in wrapped:
        column.max_width = WRAPPED_WIDTH
    wide = Console(width=1 << 16)
    width = Measurement.get(wide, wide.options, rows).maximum
    for column in wrapped:
        column.max_width = None
    return width


def print_json(value: Any) -> None:
    """One JSON document."""
    typer.echo(json.dumps(value, indent=2))


class Progress:
    """A bar for several kernels, one after the other."""

    def __init__(self, bar: Bar, task: TaskID) -> None:
        self._bar = bar
        self._task = task

    def start(self, name: str) -> Callable[[int, int], None]:
        """Begin with the kernel *name*; call the result with (blocks done, blocks in all)."""
        self._bar.update(self._task, description=name, completed=0, total=None)

        def advance(done: int, total: int) -> None:
            self._bar.update(self._task, completed=done, total=total)

        return advance


@contextmanager
def progress() -> Iterator[Progress]:
    """A progress bar on standard error; nothing at all if that is not a terminal."""
    from rich.console import Console
    from rich.progress import BarColumn, MofNCompleteColumn, TextColumn, TimeElapsedColumn
    from rich.progress import Progress as Bar

    errors = Console(stderr=True)
    columns = (TextColumn("{task.description}"), BarColumn(), MofNCompleteColumn(), TextColumn("blocks"))
    with Bar(*columns, TimeElapsedColumn(), console=errors, transient=True, disable=not errors.is_terminal) as bar:
        yield Progress(bar, bar.add_task("starting", total=None))
