"""What a page says: of each profile, and of the two together."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from functools import cached_property
from itertools import groupby, islice
from typing import TYPE_CHECKING, Any

from simt.metrics.stalls import STALLS, STATES, Stall, words_of
from simt.metrics.table import METRICS
from simt.page import charts
from simt.page.film import Film, film_of, left_out
from simt.page.pictures import Picture, pictures
from simt.profile import Profile
from simt.profile.annotate import HEADINGS, Row, cell, listing_rows, shown_columns
from simt.profile.compare import UnusableProfileError, compare, side_of
from simt.profile.counters import IDLE_CAUSES
from simt.profile.difference_text import heading, same_launch
from simt.profile.sides import Side
from simt.profile.summary import SUMMARY, timing_text
from simt.profile.summary import rows as summary_rows
from simt.program import WARP_SIZE
from simt.reasons import Accesses, Explanation, explain
from simt.reasons.causes import derived
from simt.reasons.facts import LOOPS_EXPLAIN, SideLoops
from simt.reasons.render import cells, rows_of, said_of, title
from simt.reasons.terms import WHOLE
from simt.text import quantity_texts
from simt.trace import Trace
from simt.trace.render import LANE_MARKS

if TYPE_CHECKING:
    from simt.timing import Timeline

MOST_ROWS = 3000
"""Lines of a listing that the page has; of a longer one those that executed, the first so many."""
MOST_CYCLES = 240
"""Cycles of the timeline."""
MOST_TERMS = 12
"""Terms of an explanation; the others are one sum."""
MOST_PLACES = 32
"""Places for blocks of which it is shown which blocks they had when."""
STATIC_STEPS = 80
"""Steps of the trace that are in the page as a table, for print."""

EXPLAINED = (
    "inst_per_warp",
    "cycles",
    "warp_execution_efficiency",
    "branch_efficiency",
    "gld_efficiency",
    "gst_efficiency",
    "shared_load_transactions_per_request",
    "shared_store_transactions_per_request",
    "theoretical_occupancy",
)
"""The metrics that a page takes apart, where there is something to say of them."""


@dataclass(frozen=True)
class Line:
    """A row of the listing, ready to show; ``heat``: its cost as a share of the costliest row's."""

    row: Row
    cells: tuple[str, ...]
    heat: float


@dataclass(frozen=True)
class Column:
    """One of the two profiles."""

    key: str
    given: Any
    """A Profile, one of the hardware, or what one saved."""
    accesses: Accesses | None

    @cached_property
    def side(self) -> Side:
        """What every profile has.  Raises UnusableProfileError."""
        return side_of(self.given)

    @property
    def profile(self) -> Profile | None:
        """The profile itself, if it was not saved."""
        return self.given if isinstance(self.given, Profile) else None

    @property
    def heading(self) -> str:
        """Kernel, launch, view, and who counted."""
        return heading(self.side)

    @cached_property
    def notes(self) -> list[str]:
        """What a reader should know first."""
        said = list(self.profile.notes) if self.profile else []
        if self.profile is not None and self.profile.timing is not None:
            said.append(timing_text(self.profile.timing))
        if self.has_no_lines:
            said.append(
                "the machine code has no line information: compile with nvcc -lineinfo (with -G it is there), and "
                "profile with ncu --import-source yes, to see the source beside it"
            )
        return said

    @property
    def has_no_lines(self) -> bool:
        """Whether it is machine code whose source lines are unknown."""
        return not self.side.is_source and not any(line.source for line in self.side.lines)

    @cached_property
    def summary(self) -> list[tuple[str, str, str]]:
        """Name, value and unit of the metrics that say most."""
        return summary_rows(self.side, None if self.profile is None else self.profile.timing)

    @cached_property
    def metrics(self) -> list[tuple[str, str, str]]:
        """The same of all."""
        found = []
        for name, value in self.side.metrics.items():
            if value is not None:
                shown, unit = quantity_texts([value], METRICS[name].unit if name in METRICS else "")
                found.append((name, shown, unit))
        return found

    # The listing

    @cached_property
    def rows(self) -> list[Row]:
        """The listing."""
        side = self.side
        return listing_rows(side.lines, side.kernel, side.is_source, sources=side.sources)

    @cached_property
    def shown(self) -> list[Row]:
        """Those rows of it that the page has."""
        if len(self.rows) <= MOST_ROWS:
            return self.rows
        return [row for row in self.rows if row.cost][:MOST_ROWS]

    @property
    def rows_left_out(self) -> int:
        """How many it has not."""
        return len(self.rows) - len(self.shown)

    @cached_property
    def columns(self) -> list[str]:
        """Names of the columns beside it."""
        return shown_columns(self.rows)

    @property
    def headings(self) -> list[str]:
        """What they are called."""
        return [HEADINGS.get(name, name) for name in self.columns]

    @cached_property
    def lines(self) -> list[Line]:
        """The rows with their cells."""
        total = self.side.counters.get("inst_executed", 0) or 1
        most = max((row.cost for row in self.rows), default=0) or 1
        return [
            Line(row, tuple(cell(row, name, total) for name in self.columns), round(row.cost / most, 3))
            for row in self.shown
        ]

    # The trace

    @property
    def trace(self) -> Trace | None:
        """What was recorded of lanes; None if nothing was."""
        trace = self.profile.trace if self.profile else None
        return trace if trace is not None and trace.warps else None

    @cached_property
    def film(self) -> Film | None:
        """The trace for the player."""
        return film_of(self.trace) if self.trace is not None else None

    @property
    def left_out(self) -> list[str]:
        """What the trace leaves out."""
        return left_out(self.trace, self.film) if self.trace is not None and self.film is not None else []

    @property
    def steps(self) -> list[tuple[Any, list[tuple[str, str]]]]:
        """The first steps of the first warp, each with its lanes in groups of eight, as runs of (state, marks)."""
        if self.trace is None:
            return []
        found = []
        for step in islice(self.trace.walk(*self.trace.warps[0]), STATIC_STEPS):
            runs = [(state, LANE_MARKS[state][0] * len(list(run))) for state, run in groupby(step.lane_states())]
            found.append((step, runs))
        return found

    @cached_property
    def pictures(self) -> tuple[list[Picture], int]:
        """Memory accesses, and how many requests are not drawn."""
        return pictures(self.accesses) if self.accesses else ([], 0)

    # Time

    @cached_property
    def timeline(self) -> Timeline | None:
        """What the first SM's warps did, cycle by cycle: the first of those that issued in the window."""
        timing = self.profile.timing if self.profile else None
        if timing is None or not len(timing.events):
            return None
        from simt.timing import Timeline
        from simt.timing.layout import E_SM

        return Timeline(timing, int(timing.events[:, E_SM].min()), MOST_CYCLES)

    @cached_property
    def timeline_rows(self) -> list[tuple[Any, list[tuple[str, str]]]]:
        """Its rows, each with runs of (name of the state, letters)."""
        if self.timeline is None:
            return []
        names = {state.letter: state.name for state in STATES.values()} | {" ": ""}
        return [
            (row, [(names[letter], "".join(run)) for letter, run in groupby(row.letters)]) for row in self.timeline.rows
        ]

    @property
    def states(self) -> list[Stall]:
        """The states that occur in it."""
        seen = {letter for row, _ in self.timeline_rows for letter in row.letters}
        return [state for state in STATES.values() if state.letter in seen]

    @cached_property
    def stalls(self) -> dict[str, int]:
        """Warp-cycles by reason; empty without timing."""
        return {name: total for name in STALLS if (total := sum(line.stalls.get(name, 0) for line in self.side.lines))}


@dataclass(frozen=True)
class Reasoned:
    """An explanation, ready to show: rows of value, share, words and the length of a bar from -1 to 1."""

    explanation: Explanation

    @property
    def title(self) -> str:
        """The metric and its value."""
        return title(self.explanation)

    @property
    def facts(self) -> list[tuple[str, str]]:
        """What counts say beside them: of what kind, and in words."""
        return [(said_of(fact, self.explanation), fact.text) for fact in self.explanation.facts]

    @property
    def rows(self) -> list[tuple[str, str, str, float]]:
        """The terms."""
        found = list(rows_of(self.explanation, MOST_TERMS))
        most = max((abs(value) for value, share, _ in found if share), default=1)
        lengths = [float(value / most) if share else 0.0 for value, share, _ in found]
        return [(*texts, round(length, 3)) for texts, length in zip(cells(found), lengths, strict=True)]


@dataclass(frozen=True)
class Content:
    """All that the page shows."""

    columns: tuple[Column, ...]
    metrics: tuple[str, ...] = ()
    loops: SideLoops = field(default_factory=dict)

    @property
    def _given(self) -> list[Any]:
        return [column.given for column in self.columns]

    @property
    def title(self) -> str:
        """The kernels."""
        return " and ".join(dict.fromkeys(column.side.kernel for column in self.columns))

    @property
    def labels(self) -> list[str]:
        """What charts call the profiles."""
        names = [f"{column.side.kernel} ({column.side.view})" for column in self.columns]
        return names if len(names) == 1 else [f"{label}  {name}" for label, name in zip("AB", names, strict=True)]

    @property
    def launches_differ(self) -> bool:
        """Whether totals are those of different amounts of work."""
        return len(self.columns) == 2 and not same_launch(*(column.side for column in self.columns))

    @cached_property
    def compared(self) -> list[tuple[str, str, str, str, str, bool]]:
        """Name, A, B, B / A, unit, and whether it is one of the metrics that say most; of a metric that the two count
        differently "~" stands for the ratio."""
        found = []
        for row in compare(*self._given).metrics if len(self.columns) == 2 else ():
            if row.a or row.b:
                ratio = "" if row.ratio is None else f"{row.ratio:.3g}"
                a, b, unit = quantity_texts([row.a, row.b], row.unit)
                found.append((row.metric, a, b, ratio if row.comparable else "~", unit, row.metric in SUMMARY))
        return found

    @property
    def reasons(self) -> list[Reasoned]:
        """The explanations; what two profiles do not allow to explain is in :attr:`refusals`."""
        return [found for found in self._reasons if isinstance(found, Reasoned)]

    @property
    def refusals(self) -> list[str]:
        """Why the two could not be compared in a metric."""
        return [found for found in self._reasons if isinstance(found, str)]

    @cached_property
    def _reasons(self) -> list[Reasoned | str]:
        found: list[Reasoned | str] = []
        first, other = [*self._given, None][:2]
        patterns = {column.key: column.accesses.patterns for column in self.columns if column.accesses}
        for metric in dict.fromkeys((*self.metrics, *EXPLAINED)):
            if metric not in self.metrics and any(column.side.metrics.get(metric) is None for column in self.columns):
                continue
            try:
                explained = explain(first, other, metric, patterns=patterns, loops=self._loops(metric))
            except UnusableProfileError as error:
                found.append(error.title)
                continue
            if metric in self.metrics or any(term.cause != WHOLE for term in explained.terms):
                found.append(Reasoned(explained))
        return found

    def _loops(self, metric: str) -> SideLoops:
        return self.loops if METRICS[metric].group == LOOPS_EXPLAIN else {}

    # Charts

    @cached_property
    def charts(self) -> list[tuple[str, str]]:
        """Title and SVG of each."""
        return [*self._lane_slots(), *self._stalls(), *self._occupancy(), *self._blocks()]

    def _lane_slots(self) -> Iterator[tuple[str, str]]:
        counters = [{**column.side.counters, **derived(column.side.counters)} for column in self.columns]
        slots = [WARP_SIZE * each.get("inst_executed", 0) for each in counters]
        if not all(slots):
            return
        names = {cause.replace("_", " "): f"idle_{cause}" for cause in (*IDLE_CAUSES, "inactive")}
        parts = {"active": "pred_on_thread_inst_executed", **names}
        shares = {
            part: [100 * each.get(name, 0) / whole for each, whole in zip(counters, slots, strict=True)]
            for part, name in parts.items()
        }
        shown = {part: values for part, values in shares.items() if any(values)}
        title = "What the 32 lanes of executed instructions did"
        yield title, charts.shares("lanes", title, shown, self.labels)

    def _stalls(self) -> Iterator[tuple[str, str]]:
        waited = [column.stalls for column in self.columns]
        if not all(waited):
            return
        wholes = [sum(each.values()) for each in waited]
        shares = {
            words_of(name): [100 * each.get(name, 0) / whole for each, whole in zip(waited, wholes, strict=True)]
            for name in STALLS
            if any(name in each for each in waited)
        }
        title = "What warps that did not issue waited for"
        yield title, charts.bars("stalls", title, shares, self.labels, "% of their cycles")

    def _occupancy(self) -> Iterator[tuple[str, str]]:
        found = [column.profile.occupancy for column in self.columns if column.profile]
        if len(found) < len(self.columns):
            return
        names = dict.fromkeys(name for each in found for name in each.limits)
        most = max(each.max_warps_per_sm for each in found)
        allowed = {
            name: [min(each.limits.get(name, most) * each.warps_per_block, most) for each in found] for name in names
        }
        resident = {"resident": [each.warps_per_sm for each in found]}
        title = f"Warps on a multiprocessor, and what each limit allows (it holds {most})"
        yield title, charts.bars("occupancy", title, {**resident, **allowed}, self.labels, "warps", most)

    def _blocks(self) -> Iterator[tuple[str, str]]:
        for column, label in zip(self.columns, self.labels, strict=True):
            timing = column.profile.timing if column.profile else None
            if timing is None:
                continue
            places: dict[tuple[int, int], list[tuple[int, int]]] = {}
            for _, sm, place, start, end in sorted(timing.stays.tolist(), key=lambda stay: stay[1:3]):
                places.setdefault((sm, place), []).append((start, end))
            if len(places) <= MOST_PLACES:
                title = f"When each block ran, and where: {label}"
                rows = {f"SM {sm}, place {place}": spans for (sm, place), spans in places.items()}
                yield title, charts.spans(f"blocks-{column.key}", title, rows, "cycles")
                continue
            sms: dict[str, list[tuple[int, int]]] = {}
            for (sm, _), spans in places.items():
                sms.setdefault(f"SM {sm}", []).extend(spans)
            most = max(place for _, place in places) + 1
            title = f"How many blocks each of {len(sms)} SMs had, up to {most}: {label}"
            yield title, charts.residents(f"blocks-{column.key}", title, sms, "cycles")
