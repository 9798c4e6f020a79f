"""The recorded window of a simulation: as text, and as a trace-event file that Perfetto opens."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any, NamedTuple

from simt.metrics.stalls import STATES, Reason
from simt.timing import layout
from simt.timing.result import TimingResult


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


def text(result: TimingResult, sm: int = 0, width: int = 100) -> str:
    """The recorded window of one SM: a row per warp, a column per cycle (the first *width* of them).

    A cycle in which a warp was ready but did not issue shows as ``-``, whatever kept it.
    """
    found = [span for span in spans(result) if span.sm == sm]
    if not found:
        return "nothing was recorded: simulate with window=(first cycle, one past the last)"
    first = int(result.events[result.events[:, layout.E_SM] == sm][:, layout.E_CYCLE].min())
    rows: dict[tuple[int, int], list[str]] = {}
    names: dict[tuple[int, int], str] = {}
    for span in found:
        key = (span.scheduler, span.place)
        row = rows.setdefault(key, [" "] * width)
        names[key] = f"scheduler {span.scheduler}  block {span.block:<6} warp {span.warp:<3}"
        for cycle in range(max(span.start, first), min(span.end, first + width)):
            row[cycle - first] = STATES[span.reason].letter
    legend = ", ".join(f"{state.letter} {state.name}" for state in STATES.values())
    lines = [f"SM {sm}, cycles {first} to {first + width - 1}", legend]
    lines += [f"{names[key]} |{''.join(rows[key])}|" for key in sorted(rows)]
    return "\n".join(lines)


def trace_events(result: TimingResult) -> dict[str, Any]:
    """The window in the trace-event format: one process per SM, one thread per place of a warp, 1 cycle = 1 us."""
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
    for sm, scheduler, place in sorted(threads):
        name = {"name": f"scheduler {scheduler}, warp slot {place}"}
        events.append({"name": "thread_name", "ph": "M", "pid": sm, "tid": place, "args": name})
        events.append({"name": "process_name", "ph": "M", "pid": sm, "args": {"name": f"SM {sm}"}})
    return {"traceEvents": events, "displayTimeUnit": "ns", "otherData": {"unit": "1 us is one SM cycle"}}


def write_trace(result: TimingResult, path: str | Path) -> None:
    """Write :func:`trace_events` as JSON."""
    Path(path).write_text(json.dumps(trace_events(result)), encoding="utf-8")
