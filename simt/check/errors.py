"""Every error of simt, as typed payloads with one renderer.

Two families, and every message says which it is:

* :class:`KernelError`: *the kernel (or its launch) is wrong*, on real hardware too;
* :class:`UnsupportedError`: *the simulator does not support this*; the kernel may be fine.  Of these a
  :class:`MissingError` ends with an installation.
"""

from __future__ import annotations

import difflib
import linecache
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Protocol

Index = tuple[int, int, int]
"""blockIdx or threadIdx."""


@dataclass(frozen=True, slots=True)
class Location:
    """Where in the user's code: file, 1-based line, 0-based column, and the kernel or device function.

    ``offset``: that of a machine instruction in the kernel's code, in bytes, if no line of it is known.
    """

    file: str = ""
    line: int = 0
    column: int = 0
    function: str = ""
    text: str = ""
    offset: int | None = None

    def __str__(self) -> str:
        if self.offset is not None:
            return f"{self.function}+{self.offset:#x}{f' in {self.file}' if self.file else ''}"
        column = f":{self.column + 1}" if self.column else ""
        return f"{self.file}:{self.line}{column}{f' in {self.function}' if self.function else ''}"

    @property
    def number(self) -> str:
        """What stands before the line's text."""
        return f"{self.offset:#06x}" if self.offset is not None else str(self.line)

    def source(self) -> str:
        """The text of the line, from the listing if it was given, else from the file."""
        return (self.text or linecache.getline(self.file, self.line)).rstrip("\n")


class Reported(Protocol):
    """A finding of a check (:class:`simt.check.Finding`), as an error carries it."""

    def to_dict(self) -> dict[str, Any]:
        """For JSON."""


class SimtError(Exception):
    """Base of all errors of simt.

    Attributes: ``title`` (one sentence), ``location``, ``details`` (facts, one a line), ``help`` (what to do),
    ``finding`` (of a check: the same as a value), ``findings`` (all that the checks of the launch had found).
    """

    kind = "error"

    def __init__(
        self,
        title: str,
        *,
        location: Location | None = None,
        details: Sequence[str] = (),
        help: str = "",
    ) -> None:
        self.title = title
        self.location = location
        self.details = tuple(details)
        self.help = help
        self.finding: Reported | None = None
        self.findings: Sequence[Reported] = ()
        super().__init__(title)

    def __str__(self) -> str:
        return render(self)

    def _render_traceback_(self) -> list[str]:
        """What IPython shows: the message, without pages of traceback."""
        return [f"{type(self).__name__}: {self}"]


class KernelError(SimtError):
    """The kernel is wrong: it would misbehave on hardware too."""

    kind = "the kernel is wrong"


class LaunchError(KernelError):
    """The launch is wrong: grid, block, arguments or shared memory do not fit the kernel or the device."""

    kind = "the launch is wrong"


class CompileError(KernelError):
    """The source of a kernel or of a program is wrong: a compiler refuses it."""

    kind = "the source is wrong"


class CopyError(SimtError):
    """A program copies what is not its own."""

    kind = "the program is wrong"

    @classmethod
    def beyond(cls, does: str, at: int, size: int) -> CopyError:
        """Of a copy that *does* ("reads", "writes") host memory which is not there."""
        return cls(
            f"a copy {does} {size:,} bytes of host memory from {at:#x} on, and not all of them are mapped",
            help="the host's buffer is shorter than the copy, or already freed",
        )


class ListingError(KernelError):
    """A SASS listing is wrong: it is no listing, lost lines, or names what no GPU has."""

    kind = "the listing is wrong"


def suggestion(name: str, known: Iterable[str], otherwise: str) -> str:
    """Help for an unknown name: those of *known* that it may stand for, or *otherwise* if none is close."""
    by_lower = {each.lower(): each for each in known}
    close = [by_lower[each] for each in difflib.get_close_matches(name.lower(), list(by_lower), n=3)]
    return f"did you mean {either(close)}?" if close else otherwise


def either(names: Sequence[str]) -> str:
    """``a, b or c``."""
    return " or ".join(filter(None, [", ".join(names[:-1]), *names[-1:]]))


def check_file(path: Path) -> None:
    """:class:`LaunchError` if *path* is no file."""
    if path.is_dir():
        raise LaunchError(f"{path} is a folder, not a file")
    check_no_pipe(path)
    if not path.is_file():
        raise LaunchError(f"there is no file {path}", help=f"the search was in {path.parent.resolve()}")


def check_source(path: Path) -> None:
    """:class:`LaunchError` if *path* is no file, or its name none that a compiler takes: they want UTF-8."""
    check_file(path)
    name = str(path.resolve())
    shown = name.encode(errors="backslashreplace").decode()
    if shown != name:
        raise LaunchError(
            f"the name {shown} is not UTF-8", help="rename the file, or the folder that it is in: mv OLD NEW"
        )


def check_no_pipe(path: Path) -> None:
    """:class:`LaunchError` for a device or a pipe, whose end might never come."""
    if path.exists() and not path.is_file() and not path.is_dir():
        raise LaunchError(f"{path} is a device or a pipe, not a file")


def write_file(path: Path, text: str) -> None:
    """Write a file.  :class:`LaunchError` where the operating system refuses."""
    try:
        path.write_text(text, encoding="utf-8")
    except OSError as error:
        raise LaunchError(f"{path} cannot be written: {error.strerror}") from None


class OutOfBoundsError(KernelError):
    """A lane accessed memory outside of every array, or an index outside of its axis."""


class MisalignedError(KernelError):
    """A lane accessed an address that is not a multiple of the access size."""


class DeadlockError(KernelError):
    """No warp of a block can move: some wait at a barrier that others never reach."""


class BarrierError(KernelError):
    """A warp-level operation names lanes that cannot take part in it."""


class RaceError(KernelError):
    """Two threads touch one location with nothing between that orders them, and one of them writes."""


class UninitializedError(KernelError):
    """A lane reads memory that has not been written, or uses a variable that its path has not set."""


class TrapError(KernelError):
    """The kernel stopped itself: a failed assertion or a breakpoint."""


class AssertError(TrapError):
    """An ``assert`` of the kernel failed.  ``text``: what CUDA writes to stderr, a line for each thread."""

    text = ""

    @classmethod
    def of(cls, finding: TrapError, text: str) -> AssertError:
        """The same finding with what CUDA writes."""
        made = cls(finding.title, location=finding.location, details=finding.details, help=finding.help)
        made.text = text
        return made


class FreeError(KernelError):
    """The kernel frees what its ``malloc`` did not give, or frees it twice."""


class DivisionError(TrapError, ZeroDivisionError):
    """A division by zero in a kernel that Numba compiles with ``debug=True``, which checks for it."""


class BudgetError(KernelError):
    """The launch executed more warp instructions than ``max_instructions``; it may never end."""


class UnsupportedError(SimtError):
    """The simulator does not support this construct, type or instruction."""

    kind = "the simulator does not support this"


class MissingError(UnsupportedError):
    """A program or a package is not installed; ``help`` says how to install it."""

    kind = "something is missing"


def render(error: SimtError) -> str:
    """The message a user sees, in plain text; also ``str(error)``."""
    lines = [f"{error.kind}: {error.title}"]
    where = error.location
    if where is not None and (where.file or where.text):
        lines.append(f"  --> {where}")
        source, column = _shortened(where.source(), where.column)
        if source:
            bar = " " * len(where.number) + " |"
            lines += [bar, f"{where.number} | {source}"]
            if column:
                lines.append(f"{bar} {' ' * column}^")
    lines += [f"  {detail}" for detail in error.details]
    if error.help:
        lines.append(f"  help: {error.help}")
    return "\n".join(lines)


LONGEST = 160
"""Characters that a message shows of a line at most."""


def _shortened(source: str, column: int) -> tuple[str, int]:
    """A line with its place, or the stretch of a long one around the place."""
    if len(source) <= LONGEST:
        return source, column
    start = max(0, min(column - LONGEST // 2, len(source) - LONGEST))
    end = start + LONGEST
    before, behind = "..." * (start > 0), "..." * (end < len(source))
    return before + source[start:end] + behind, column - start + len(before) if column else 0


def lanes_text(mask: int) -> str:
    """The lanes of a mask as ranges: ``0-3, 7, 9-31``."""
    ranges: list[str] = []
    lane = 0
    while lane < 32:
        if mask >> lane & 1:
            end = lane
            while end + 1 < 32 and mask >> (end + 1) & 1:
                end += 1
            ranges.append(str(lane) if lane == end else f"{lane}-{end}")
            lane = end
        lane += 1
    return ", ".join(ranges) if ranges else "none"


def who_text(block: Index, warp: int, mask: int, thread: Index) -> str:
    """``block (3, 0, 0), warp 2, lanes 5-7 (first: thread (69, 0, 0))``; *thread* is the lowest lane's."""
    many = mask.bit_count() != 1
    text = f"block {block}, warp {warp}, lane{'s' * many} {lanes_text(mask)}"
    return f"{text} ({'first: ' * many}thread {thread})" if mask else text
