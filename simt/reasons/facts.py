"""What counts say beside the terms of an explanation: rounds of loops, the limit of a timed launch, what-ifs."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from fractions import Fraction
from typing import Any

from simt.metrics.linear import total
from simt.metrics.stalls import STALLS, WAITS
from simt.reasons.causes import TRAFFIC
from simt.reasons.rounds import Loop
from simt.reasons.subject import Place, Subject
from simt.reasons.terms import Shares
from simt.reasons.words import code, counted, number

SideLoops = Mapping[str, Sequence[Loop]]
"""The loops of a launch, by side: ``"a"``, ``"b"``."""

LOOPS_EXPLAIN = "instructions"
"""The group of metrics that rounds of loops help to explain."""
FEW = 3
"""Up to so many different numbers of rounds are told one by one."""
MOST_RESOURCES = 4
"""Of the resources of a timed launch so many are told, the busiest first."""
MOST_STALLS = 5
"""So many reasons to wait are told, the longest first."""
MOST_WHAT_IFS = 2
"""Accesses for which it is worked out what the metric would be without their excess: the costliest."""


@dataclass(frozen=True)
class Fact:
    """What counts say in one sentence: ``text``, and the numbers in it, ``figures``.

    ``kind`` is ``loop``, ``limit``, ``stalls`` or ``what if``; ``side`` is ``"a"`` or ``"b"``.
    """

    kind: str
    side: str
    text: str
    figures: Mapping[str, Any] = field(default_factory=dict)

    def to_dict(self) -> dict[str, Any]:
        """For JSON."""
        return {"kind": self.kind, "side": self.side, "text": self.text, "figures": dict(self.figures)}


def _place(subject: Subject, line: tuple[str, int]) -> Place | None:
    return next((place for place in subject.places if (place.file, place.number) == line), None)


def loop_facts(side: str, subject: Subject, loops: Sequence[Loop]) -> Iterator[Fact]:
    """How many warps make how many rounds of each loop that one enters."""
    for loop in loops:
        if not loop.total:
            continue
        place = _place(subject, loop.line)
        label = f"{loop.line[1]:#06x}" if place is None else place.label
        quoted = code(loop.text if place is None else place.text)
        yield Fact("loop", side, f"{label} {quoted}: {_rounds(loop.rounds)}", loop.to_dict())


def _rounds(rounds: Mapping[int, int]) -> str:
    """``9 rounds in each of 16 warps``, ``0 rounds in 15 warps, 5 in 1``, ``111 to 178 rounds``."""
    warps = sum(rounds.values())
    if len(rounds) == 1:
        (only,) = rounds
        return f"{counted(only, 'round')} in " + (f"each of {number(warps)} warps" if warps > 1 else "the one warp")
    if len(rounds) <= FEW:
        first, *others = rounds.items()
        told = [f"{counted(first[0], 'round')} in {counted(first[1], 'warp')}"]
        return ", ".join(told + [f"{number(each)} in {number(of)}" for each, of in others])
    mean = Fraction(sum(each * of for each, of in rounds.items()), warps)
    most = max(rounds)
    spread = f"{number(min(rounds))} to {counted(most, 'round')} a warp, {number(mean)} on average"
    return f"{spread}; {number(most)} in {counted(rounds[most], 'warp')}"


def limit_fact(side: str, subject: Subject) -> Iterator[Fact]:
    """What limits a timed launch: the busiest resources; where none is busy, what warps wait for."""
    timing = None if subject.profile is None else subject.profile.timing
    if timing is None:
        return
    from simt.timing.kinds import IMBALANCE, LATENCY, LIMITS

    inputs = timing.inputs
    percent = {name: timing.metrics[LIMITS[name]] or 0.0 for name in ("l1", "l2", "dram")}
    available = inputs["schedulers"] * inputs["sm_cycles"]
    percent |= {name: 100.0 * cycles / available for name, cycles in timing.ports.items()}
    ranked = sorted(percent.items(), key=lambda item: -item[1])
    figures = {"kind": timing.kind, "percent": dict(ranked)}
    if timing.kind not in (IMBALANCE, LATENCY):
        text = ", ".join(f"{_resource(name)} {each:.0f} %" for name, each in ranked[:MOST_RESOURCES])
        yield Fact("limit", side, f"{text} of the most that each can do", figures)
        return
    stalls = {name: inputs[f"stalled_{name}"] for name in WAITS}
    most = timing.dominant_stall
    share = 100.0 * stalls[most] / max(sum(stalls.values()), 1)
    busiest, its = ranked[0]
    why = "blocks differ, so SMs end at different times" if timing.kind == IMBALANCE else "latency"
    could = number(timing.metrics["eligible_warps_per_scheduler"] or 0.0)
    text = (
        f"{why}; the busiest is {_resource(busiest)} with {its:.0f} % of the most that it can do; {could} warps of a "
        f"scheduler can issue in an average cycle; {share:.0f} % of the waiting is for {STALLS[most].what}"
    )
    yield Fact("limit", side, text, figures | {"stall": most, "stall_percent": share})


def _resource(name: str) -> str:
    return _RESOURCES.get(name, f"{name.upper()} pipe")


_RESOURCES = {"issue": "issue slots", "l1": "L1 and shared memory", "l2": "L2", "dram": "DRAM"}


def stall_fact(side: str, shares: Shares) -> Iterator[Fact]:
    """How a metric of time divides by what warps wait for, over all lines."""
    found: dict[str, Fraction] = {}
    for place in shares.subject.places:
        for cause, value in shares.of(place.counters).items():
            found[cause] = found.get(cause, Fraction(0)) + value
    ranked = sorted(found.items(), key=lambda item: -item[1])
    told = [f"{cause} {number(round(value))} ({float(100 * value / shares.value):.0f} %)" for cause, value in ranked]
    more = [f"{len(told) - MOST_STALLS} others"] if len(told) > MOST_STALLS else []
    figures = {cause: float(value) for cause, value in ranked}
    yield Fact("stalls", side, ", ".join(told[:MOST_STALLS] + more), figures)


def what_if_facts(side: str, shares: Shares) -> Iterator[Fact]:
    """The metric if the loads or stores of a line took the least sectors or wavefronts possible, counted anew."""
    excess = []
    ratio = shares.recipe.ratio
    counted_in = {name for sum_ in (ratio.numerator, *ratio.denominators) for name in sum_}
    meant = [(prefix, unit) for prefix, unit, _ in TRAFFIC if f"{prefix}_{unit}" in counted_in]
    for place in shares.subject.places:
        for prefix, unit in meant:
            moved, least = (place.counters.get(f"{prefix}_{name}", 0) for name in (unit, f"{unit}_ideal"))
            if least and moved > least:
                excess.append((moved - least, place, prefix, unit))
    for count, place, prefix, unit in sorted(excess, key=lambda each: -each[0])[:MOST_WHAT_IFS]:
        counters = {**shares.subject.totals, f"{prefix}_{unit}": shares.subject.totals[f"{prefix}_{unit}"] - count}
        value = total(ratio.numerator, counters) / ratio.denominator(counters)
        what = "coalesced" if unit == "sectors" else "without bank conflicts"
        text = (
            f"{place.label} {code(place.text)}: with {_DIRECTIONS[prefix.rpartition('_')[2]]} {what}, {number(value)}"
        )
        figures = {"value": float(value), "line": place.to_dict(), unit: -count}
        yield Fact("what if", side, f"{text} {shares.recipe.metric.unit}", figures)


_DIRECTIONS = {"load": "its loads", "store": "its stores", "atomic": "its atomics", "copy": "its copies"}
