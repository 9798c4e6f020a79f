"""The recorded window of a simulation: as text, and as a trace-event file that Perfetto opens."""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import dataclass, field
from functools import cached_property
from itertools import groupby
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

from simt.metrics.stalls import STATES, Reason
from simt.text import in_lines, to_html, to_svg, to_text
from simt.timing import layout
from simt.timing.result import TimingResult

if TYPE_CHECKING:
    import numpy as np
    import numpy.typing as npt
    from rich.text import Text


class Span(NamedTuple):
    """Cycles ``start`` to ``end`` - 1 that a warp spent in one state, before or at the issue of micro-op ``pc``."""

    sm: int
    scheduler: int
    place: int
    block: int
    warp: int
    pc: int
    reason: Reason
    start: int
    end: int


def spans(result: TimingResult) -> Iterator[Span]:
    """The recorded issues, and what each warp did between them."""
    for row in result.events:
        sm, scheduler, place = int(row[layout.E_SM]), int(row[layout.E_SCHEDULER]), int(row[layout.E_NUMBER])
        block, warp = int(row[layout.E_BLOCK]), int(row[layout.E_WARP])
        pc, at, cycle = int(row[layout.E_PC]), int(row[layout.E_SINCE]), int(row[layout.E_CYCLE])
        for end, reason in (
            (row[layout.E_FIXED], Reason.WAIT),
            (row[layout.E_RESOLVED], Reason.BRANCH_RESOLVING),
            (row[layout.E_READY], Reason(int(row[layout.E_REASON]))),
            (cycle, Reason.NOT_SELECTED),
        ):
            to = min(int(end), cycle)
            if to > at:
                yield Span(sm, scheduler, place, block, warp, pc, reason, at, to)
                at = to
        yield Span(sm, scheduler, place, block, warp, pc, Reason.SELECTED, cycle, cycle + 1)


class Row(NamedTuple):
    """One warp of a timeline: a letter of :data:`~simt.metrics.stalls.STATES` per cycle, or a blank."""

    scheduler: int
    block: int
    warp: int
    letters: str


@dataclass(frozen=True)
class Timeline:
    """The recorded window of one SM from its first issue on: a row per warp, a column per cycle, *cycles* of them.

    A cycle in which a warp was ready but did not issue shows as ``-``, whatever the reason.
    """

    result: TimingResult = field(repr=False)
    sm: int = 0
    cycles: int = 100

    @cached_property
    def _issued(self) -> npt.NDArray[np.int64]:
        """The cycles in which the SM issued."""
        events = self.result.events
        cycles: npt.NDArray[np.int64] = events[events[:, layout.E_SM] == self.sm, layout.E_CYCLE]
        return cycles

    @cached_property
    def first(self) -> int:
        """The cycle of the first column: that of the first issue.  Raises LookupError where nothing was recorded."""
        if not len(self._issued):
            raise LookupError(NOTHING)
        return int(self._issued.min())

    @cached_property
    def rows(self) -> tuple[Row, ...]:
        """The warps, by scheduler and by place in it.  Raises LookupError where nothing was recorded."""
        first = self.first
        letters: dict[tuple[int, int], list[str]] = {}
        warps: dict[tuple[int, int], tuple[int, int, int]] = {}
        for span in spans(self.result):
            if span.sm == self.sm:
                key = span.scheduler, span.place
                row = letters.setdefault(key, [" "] * self.cycles)
                warps[key] = span.scheduler, span.block, span.warp
                start, end = (min(max(cycle - first, 0), self.cycles) for cycle in (span.start, span.end))
                row[start:end] = STATES[span.reason].letter * (end - start)
        return tuple(Row(*warps[key], "".join(letters[key])) for key in sorted(letters))

    def render(self, width: int | None = None, *, color: bool | None = None) -> str:
        """The rows as text, in as many panels as *width* columns need; None: in one, however wide."""
        return to_text(self._text(width), color)

    def to_svg(self, width: int | None = None) -> str:
        """The same as a picture."""
        return to_svg(self._text(width), f"SM {self.sm}")

    def __str__(self) -> str:
        return self.render()

    def _repr_html_(self) -> str:
        return to_html(self._text(None))

    def _text(self, width: int | None) -> Text:
        from rich.text import Text

        if not len(self._issued):
            return Text(NOTHING)
        rows = self.rows
        cells = [[str(value) for value in row[:3]] for row in rows]
        labels = [max(map(len, column)) for column in zip(_HEADINGS, *cells, strict=True)]
        left = sum(labels) + 2 * len(labels)
        shown = self.cycles if width is None else min(max(width - left - 2, _NARROWEST), self.cycles)
        text = Text(no_wrap=True)
        seen = {letter for row in rows for letter in row.letters}
        legend = [f"{state.letter} {state.words}" for state in STATES.values() if state.letter in seen]
        text.append(in_lines(legend, ", ", width or left + shown + 2) + "\n")
        for start in range(0, self.cycles, shown):
            end = min(start + shown, self.cycles)
            if start and not any(row.letters[start:end].strip() for row in rows):
                continue
            text.append(f"SM {self.sm}, cycles {self.first + start} to {self.first + end - 1}\n", style="bold")
            text.append("  ".join(name.rjust(n) for name, n in zip(_HEADINGS, labels, strict=True)) + "\n", style="dim")
            for row, label in zip(rows, cells, strict=True):
                text.append("  ".join(value.rjust(n) for value, n in zip(label, labels, strict=True)) + "  |")
                for letter, run in groupby(row.letters[start:end]):
                    text.append("".join(run), _STYLES.get(letter, ""))
                text.append("|\n")
        text.rstrip()
        return text


NOTHING = "nothing was recorded: launch with window=(first cycle, one past the last)"

_HEADINGS = ("scheduler", "block", "warp")
_NARROWEST = 20
"""Cycles that a panel has at least."""

_STYLES = {
    STATES[reason].letter: style
    for reason, style in {
        Reason.SELECTED: "bold white on green",
        Reason.NOT_SELECTED: "green",
        Reason.LONG_SCOREBOARD: "white on red",
        Reason.LG_THROTTLE: "red",
        Reason.SHORT_SCOREBOARD: "white on magenta",
        Reason.MIO_THROTTLE: "magenta",
        Reason.BARRIER: "white on blue",
        Reason.MEMBAR: "blue",
        Reason.WAIT: "dim",
        Reason.MATH_PIPE_THROTTLE: "yellow",
        Reason.BRANCH_RESOLVING: "cyan",
        Reason.NO_INSTRUCTION: "white on cyan",
        Reason.IMC_MISS: "black on cyan",
        Reason.DRAIN: "black on yellow",
    }.items()
}


BLOCKS_FROM = 1 << 20
"""Number of the first thread of a trace that shows blocks, not warps."""


def trace_events(result: TimingResult) -> dict[str, Any]:
    """The window in the trace-event format: one process per SM, one thread per place of a warp, 1 cycle = 1 us.

    And the blocks of the whole launch, a thread per place for one.
    """
    listing, instructions = result.program.listing, result.program.instructions
    events: list[dict[str, Any]] = []
    threads = set()
    for span in spans(result):
        line = listing[instructions[span.pc].line]
        issued = span.reason is Reason.SELECTED
        events.append(
            {
                "name": line.text.strip() if issued else STATES[span.reason].name,
                "cat": "issue" if issued else "stall",
                "ph": "X",
                "ts": span.start,
                "dur": span.end - span.start,
                "pid": span.sm,
                "tid": span.place,
                "args": {"block": span.block, "warp": span.warp, "line": line.number, "text": line.text.strip()},
            }
        )
        threads.add((span.sm, span.scheduler, span.place))
    for block, sm, place, start, end in result.stays.tolist():
        stay = {"ph": "X", "ts": start, "dur": end - start, "pid": sm, "tid": BLOCKS_FROM + place}
        events.append({"name": f"block {block}", "cat": "block", **stay})
    for sm, place in sorted({(sm, place) for _, sm, place, _, _ in result.stays.tolist()}):
        name = {"name": f"blocks, place {place}"}
        events.append({"name": "thread_name", "ph": "M", "pid": sm, "tid": BLOCKS_FROM + place, "args": name})
    for sm in range(result.n_sms):
        events.append({"name": "process_name", "ph": "M", "pid": sm, "args": {"name": f"SM {sm}"}})
    for sm, scheduler, place in sorted(threads):
        name = {"name": f"scheduler {scheduler}, warp slot {place}"}
        events.append({"name": "thread_name", "ph": "M", "pid": sm, "tid": place, "args": name})
    return {"traceEvents": events, "displayTimeUnit": "ns", "otherData": {"unit": "1 us is one SM cycle"}}


def write_trace(result: TimingResult, path: str | Path) -> None:
    """Write :func:`trace_events` as JSON."""
    Path(path).write_text(json.dumps(trace_events(result)), encoding="utf-8")
