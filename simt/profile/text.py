"""One rich text, two outputs: plain for pipes, with ANSI colours for terminals."""

from __future__ import annotations

import io
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


def number_text(value: int | float | None) -> str:
    """A number as tables show it: integers in full, others to two decimals, ``n/a`` if undefined."""
    if value is None:
        return "n/a"
    return f"{value:,}" if isinstance(value, int) else f"{value:,.2f}"
