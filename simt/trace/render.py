"""A warp drawn lane by lane: one row per step, 32 characters for 32 lanes, colours where they show."""

from __future__ import annotations

import itertools
import re
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from simt.text import cut, in_lines, indentation
from simt.trace.steps import Step, Stepped
from simt.trace.values import Value, value_text

if TYPE_CHECKING:
    from rich.text import Text


LANE_MARKS: dict[str, tuple[str, str, str]] = {
    # state: (character, style, meaning)
    "active": ("#", "bold green", "active"),
    "other_path": (".", "yellow", "idle: on another path"),
    "predicated_off": ("p", "magenta", "idle: predicated off"),
    "exited": ("x", "red", "idle: exited"),
    "no_thread": ("_", "dim", "idle: no thread"),
}
"""How each lane state is drawn."""

_PER_ROW = 8
_TEXT_WIDTH = 60
_LANES = 35
"""Columns of 32 lanes with a blank after every eight."""

_PASS = len("pass ")
_COUNT = len("  active")
_DIVERGES = "  diverges"

_CODE_AT_LEAST = 16
"""Columns that lines of code are given at least beside lanes; in a narrower terminal lanes stand below their code."""


def legend(width: int | None) -> Text:
    """What the characters mean, in lines of *width* columns."""
    from rich.text import Text

    text = Text(in_lines(["lane 0 first;", *(f"{mark} {what}" for mark, _, what in LANE_MARKS.values())], "  ", width))
    for mark, style, what in LANE_MARKS.values():
        text.highlight_regex(rf"(?<!\S){re.escape(mark)}(?= {re.escape(what)})", style)
    return text.append("\n")


@dataclass(frozen=True)
class _Layout:
    """How wide the columns of a drawing are.

    ``line``: of source lines beside machine code, 0 without; ``counts``: whether lanes are counted, too;
    ``below``: lanes stand below their code.
    """

    position: int
    line: int
    code: int
    counts: bool
    below: bool = False

    @classmethod
    def of(cls, steps: Sequence[Step], codes: Sequence[str], in_source: bool, width: int | None) -> _Layout:
        """What the steps need, or what *width* has room for."""
        positions = max(4 if in_source else 6, *(len(step.position(in_source)) for step in steps))
        lines = max(len(_line_of(step)) for step in steps)
        made = cls(positions, max(4, lines) if lines else 0, min(_TEXT_WIDTH, max(map(len, codes))), True)
        if width is None or made.width <= width:
            return made
        made = replace(made, counts=False)
        code = made.code - max(made.width - width, 0)
        if code >= min(_CODE_AT_LEAST, made.code):
            return replace(made, code=code)
        return replace(made, code=max(width - made.before, 1), counts=width >= _PASS + _LANES + _COUNT, below=True)

    @property
    def before(self) -> int:
        """Columns before the code."""
        return self.position + 2 + (self.line + 2 if self.line else 0)

    @property
    def width(self) -> int:
        """Of the longest row, with lanes beside their code."""
        count = _COUNT if self.counts else 0
        return self.before + self.code + 2 + _PASS + 1 + _LANES + count + len(_DIVERGES)


def render(
    trace: Stepped, block: int, warp: int, values: bool, width: int | None = None, most: int | None = None
) -> Text:
    """The steps of one warp as rich text, at most so many of them; see :meth:`Trace.render`."""
    from rich.text import Text

    steps = tuple(itertools.islice(trace.walk(block, warp), most))
    in_source = trace.program.view == "source"
    codes = _codes(steps, in_source, width)
    form = _Layout.of(steps, codes, in_source, width)
    text = Text(no_wrap=True)
    text.append(f"{trace.program.name}, block {block}, warp {warp} ({trace.program.view} view)\n", style="bold")
    text.append_text(legend(width))
    head = f"{'line' if in_source else 'offset':>{form.position}}  {'line  ' if form.line else '':>{form.line}}"
    lanes_head = f"{'lanes':<{_LANES}}  active" if form.counts else "lanes"
    between = f"{head.rstrip()}\npass " if form.below else f"{head}{'':<{form.code}}  pass  "
    text.append(f"{between}{lanes_head}\n", style="dim")
    function = steps[0].entry.function
    for step, code in zip(steps, codes, strict=True):
        if step.entry.function != function:
            function = step.entry.function
            text.append(f"{'':>{form.position}}  in {function}:\n", style="italic dim")
        text.append(f"{step.position(in_source):>{form.position}}  ", style="dim")
        if form.line:
            text.append(f"{_line_of(step):>{form.line}}  ", style="dim")
        diverges = _DIVERGES if step.divergent else ""
        if form.below:
            text.append(cut(code, form.code - len(diverges))).append(f"{diverges}\n", style="yellow")
            text.append(f"{step.pass_number or '':>4} ")
        else:
            text.append(f"{cut(code, form.code):<{form.code}}  {step.pass_number or '':>4}  ")
        text.append_text(_lanes(step))
        if form.counts:
            text.append(f"  {step.active.bit_count():>6}")
        text.append("\n" if form.below else f"{diverges}\n", style="yellow")
        if values:
            for name, lanes in step.values.items():
                text.append_text(_values(name, lanes, step, form.position + 2, width))
    left_out = trace.step_count(block, warp) - len(steps)
    if left_out:
        text.append(f"({left_out:,} more steps)\n", style="dim")
    return text


def _codes(steps: Sequence[Step], in_source: bool, width: int | None) -> list[str]:
    """The code of each step; where columns are scarce without the indentation that all have."""
    codes = [step.code(in_source) for step in steps]
    if width is None:
        return codes
    ends = [step.is_end(in_source) for step in steps]
    common = indentation(code for code, end in zip(codes, ends, strict=True) if not end)
    return [code if end else code[common:] for code, end in zip(codes, ends, strict=True)]


def _line_of(step: Step) -> str:
    """The source line of machine code, where it is known."""
    return str(step.entry.source[1]) if step.entry.source else ""


def _lanes(step: Step) -> Text:
    from rich.text import Text

    text = Text()
    states = step.lane_states()
    for start in range(0, 32, _PER_ROW):
        text.append(" " if start else "")
        for state, run in itertools.groupby(states[start : start + _PER_ROW]):
            mark, style, _ = LANE_MARKS[state]
            text.append(mark * len(list(run)), style)
    return text


def _values(name: str, lanes: list[Value], step: Step, indent: int, columns: int | None) -> Text:
    """The lanes that executed, in rows of eight or as many as fit; one number if they all agree."""
    from rich.text import Text

    running = [lane for lane in range(32) if step.executed >> lane & 1]
    shown = [value_text(lanes[lane]) if lane in running else "." for lane in range(32)]
    text = Text(" " * indent)
    text.append(f"{name} = ", style="cyan")
    if len(running) > 1 and len({shown[lane] for lane in running}) == 1:
        return text.append(f"{shown[running[0]]} in every running lane\n")
    width = max(map(len, shown))
    pad = " " * (indent + len(name) + 3)
    room = (columns - len(pad) - 5) // (width + 1) if columns else _PER_ROW
    per_row = next((count for count in (_PER_ROW, 4, 2) if count <= room), 1)
    for start in range(0, 32, per_row):
        row = shown[start : start + per_row]
        if start and all(cell == "." for cell in row):
            continue
        text.append(pad if start else "")
        text.append(f"[{start:2d}] ", style="dim")
        text.append(" ".join(cell.rjust(width) for cell in row) + "\n")
    return text
