"""A warp drawn lane by lane: one row per step, 32 characters for 32 lanes, colours where they show."""

from __future__ import annotations

import itertools
from typing import TYPE_CHECKING

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


def legend() -> Text:
    """What the characters mean, in one line."""
    from rich.text import Text

    text = Text("lane 0 first;  ")
    for mark, style, meaning in LANE_MARKS.values():
        text.append(mark, style).append(f" {meaning}  ")
    text.rstrip()
    return text.append("\n")


def render(trace: Stepped, block: int, warp: int, values: bool) -> Text:
    """The steps of one warp as rich text; see :meth:`Trace.render`."""
    from rich.text import Text

    steps = trace.steps(block, warp)
    in_source = trace.program.view == "source"
    code_width = min(_TEXT_WIDTH, max(len(step.entry.text.rstrip()) for step in steps))
    number_width = max(4 if in_source else 6, *(len(_position(step, trace)) for step in steps))
    # Machine code with line information has the source line in a column of its own.
    lines = [str(step.entry.source[1]) if step.entry.source else "" for step in steps]
    line_width = max(4, *map(len, lines)) if any(lines) else 0
    text = Text(no_wrap=True)
    text.append(f"{trace.program.name}, block {block}, warp {warp} ({trace.program.view} view)\n", style="bold")
    text.append_text(legend())
    head = f"{'line' if in_source else 'offset':>{number_width}}  {'line  ' if line_width else '':>{line_width}}"
    text.append(f"{head}{'':<{code_width}}  pass  {'lanes':<35}  active\n", style="dim")
    function = steps[0].entry.function
    for step, line in zip(steps, lines, strict=True):
        if step.entry.function != function:
            function = step.entry.function
            text.append(f"{'':>{number_width}}  in {function}:\n", style="italic dim")
        code = step.entry.text.rstrip()
        if step.ends_kernel and in_source:
            code = "(end of the kernel)"
        if len(code) > code_width:
            code = code[: code_width - 3] + "..."
        text.append(f"{_position(step, trace):>{number_width}}  ", style="dim")
        if line_width:
            text.append(f"{line:>{line_width}}  ", style="dim")
        text.append(f"{code:<{code_width}}  ")
        text.append(f"{step.pass_number or '':>4}  ")
        text.append_text(_lanes(step))
        text.append(f"  {step.active.bit_count():>6}")
        text.append("  diverges\n" if step.divergent else "\n", style="yellow")
        if values:
            for name, lanes in step.values.items():
                text.append_text(_values(name, lanes, step, number_width + 2))
    return text


def _position(step: Step, trace: Stepped) -> str:
    number = step.entry.number
    return str(number) if trace.program.view == "source" else f"{number:#06x}"


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


def _values(name: str, lanes: list[Value], step: Step, indent: int) -> Text:
    """The lanes that executed, in rows of eight; one number if they all agree."""
    from rich.text import Text

    running = [lane for lane in range(32) if step.executed >> lane & 1]
    shown = [value_text(lanes[lane]) if lane in running else "." for lane in range(32)]
    text = Text(" " * indent)
    text.append(f"{name} = ", style="cyan")
    if len(running) > 1 and len({shown[lane] for lane in running}) == 1:
        return text.append(f"{shown[running[0]]} in every running lane\n")
    width = max(map(len, shown))
    pad = " " * (indent + len(name) + 3)
    for start in range(0, 32, _PER_ROW):
        row = shown[start : start + _PER_ROW]
        if start and all(cell == "." for cell in row):
            continue
        text.append(pad if start else "")
        text.append(f"[{start:2d}] ", style="dim")
        text.append(" ".join(cell.rjust(width) for cell in row) + "\n")
    return text
