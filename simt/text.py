"""One rich text, two outputs: plain for pipes, with ANSI colours for terminals."""

from __future__ import annotations

import io
import re
import textwrap
from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from rich.text import Text


def wants_color() -> bool:
    """Whether standard output is a terminal that shows colours (NO_COLOR and TERM=dumb are respected)."""
    from rich.console import Console

    console = Console()
    return console.is_terminal and not console.no_color and console.color_system is not None


def to_text(text: Text, color: bool | None = None) -> str:
    """*text* as a string without a final newline; ``color=None`` asks :func:`wants_color`."""
    if not (wants_color() if color is None else color):
        return text.plain.rstrip("\n")
    from rich.console import Console

    buffer = io.StringIO()
    console = Console(file=buffer, force_terminal=True, color_system="standard", no_color=False)
    console.print(text, soft_wrap=True, end="")
    return buffer.getvalue().rstrip("\n")


def to_svg(text: Text, title: str) -> str:
    """*text* as a picture of a terminal; it fetches nothing from elsewhere."""
    from rich.console import Console

    width = max((line.cell_len for line in text.split()), default=1)
    console = Console(record=True, file=io.StringIO(), width=width)
    console.print(text, soft_wrap=True)
    return re.sub(r"@font-face {.*?}\s*", "", console.export_svg(title=title), flags=re.DOTALL)


def to_html(text: Text) -> str:
    """*text* for a notebook: a ``<pre>`` with colours, without scripts; every character is escaped."""
    from rich.console import Console

    console = Console(record=True, file=io.StringIO(), width=1 << 16)
    console.print(text, soft_wrap=True, end="")
    body = console.export_html(inline_styles=True, code_format="{code}")
    return f'<pre style="line-height:1.25;overflow-x:auto">{body}</pre>'


def filled(text: str, width: int | None) -> str:
    """Each line of *text* in lines of *width* columns, broken between words; None: as it is."""
    if width is None:
        return text
    lines = []
    for line in text.split("\n"):
        words = line.lstrip()
        indent = line[: len(line) - len(words)]
        lines += [line] if len(line) <= width else textwrap.wrap(
            words, width, initial_indent=indent, subsequent_indent=f"{indent}    ",
            break_long_words=False, break_on_hyphens=False,
        )  # fmt: skip
    return "\n".join(lines)


def cut(text: str, width: int) -> str:
    """*text* in *width* columns, with dots where it is cut off."""
    return text if len(text) <= width else f"{text[: max(width - 3, 0)]}..."


def indentation(texts: Iterable[str]) -> int:
    """With how many blanks all of them begin; one without words may have fewer."""
    return min((len(text) - len(text.lstrip()) for text in texts if text.strip()), default=0)


def in_lines(parts: Sequence[str], between: str, width: int | None) -> str:
    """The parts in lines of *width* columns that break between parts only; None: in one line."""
    lines: list[str] = []
    end = between.rstrip()
    blanks = between[len(end) :]
    for k, part in enumerate(parts):
        ended = part + (end if k < len(parts) - 1 else "")
        if lines and (width is None or len(lines[-1] + blanks + ended) <= width):
            lines[-1] += blanks + ended
        else:
            lines.append(ended)
    return "\n".join(lines)


def number_text(value: int | float | None) -> str:
    """A number as tables show it: integers in full, others to two decimals, ``n/a`` if undefined."""
    if value is None:
        return "n/a"
    return f"{value:,}" if isinstance(value, int) else f"{value:,.2f}"


def counted(number: int, noun: str) -> str:
    """``1 byte``, ``2 bytes``, ``2 launches``, ``2 copies``."""
    if number == 1:
        return f"{number:,} {noun}"
    plural = f"{noun[:-1]}ies" if noun.endswith("y") else f"{noun}es" if noun.endswith("ch") else f"{noun}s"
    return f"{number:,} {plural}"


_SCALES = {"ns": ("ns", "us", "ms", "s"), "bytes/s": ("bytes/s", "KB/s", "MB/s", "GB/s", "TB/s")}
"""Units that are scaled by 1000 where they are shown, as nvprof and Nsight Compute do."""


def quantity_texts(values: Sequence[int | float | None], unit: str) -> list[str]:
    """Values, and last their unit, as tables show them, scaled alike: ``["8.31", "us"]`` for 8310 ns."""
    largest = max((abs(value) for value in values if value is not None), default=0)
    step = 0
    scales = _SCALES.get(unit, (unit,))
    while largest >= 1000 ** (step + 1) and step < len(scales) - 1:
        step += 1
    scaled = [value / 1000**step if step and value is not None else value for value in values]
    return [*map(number_text, scaled), scales[step]]
