"""The sentences of terms.  Each says only what the counts of its line say."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction

from simt.metrics.stalls import STATES
from simt.program import WARP_SIZE
from simt.reasons import causes
from simt.reasons.causes import TRAFFIC
from simt.reasons.subject import Group, Patterns, Place
from simt.reasons.terms import Shares

MOST_CODE = 48
"""Characters of a line's code that a sentence quotes."""


def number(value: Fraction | int | float) -> str:
    """``9``, ``5.94``, ``0.06``, ``1,024``."""
    text = f"{float(value):,.2f}"
    return text.rstrip("0").rstrip(".") if "." in text else text


def code(text: str) -> str:
    """A piece of source, quoted and cut."""
    if not text:
        return ""
    return f"`{text}`" if len(text) <= MOST_CODE else f"`{text[: MOST_CODE - 3].rstrip()}...`"


def counted(count: Fraction | int, what: str) -> str:
    """``1 pass``, ``2 passes``; *what* is a word in the singular."""
    plural = what if count == 1 else f"{what}es" if what.endswith("s") else f"{what}s"
    return f"{number(count)} {plural}"


@dataclass(frozen=True)
class Voice:
    """How the lines of a profile are spoken of: of instructions or operations, a warp or in all."""

    noun: str
    per: str

    def times(self, shares: Shares, group: Group) -> str:
        """``9 times a warp``."""
        return f"{counted(shares.times(group), 'time')}{self.per}"

    def instructions(self, count: int) -> str:
        """``21 instructions``."""
        return counted(count, self.noun)


def voice_of(shares: Shares) -> Voice:
    """The words for a metric of a profile."""
    per_warp = any("warps_launched" in each for each in shares.recipe.ratio.denominators)
    noun = "operation" if shares.subject.side.is_source else "instruction"
    return Voice(noun, " a warp" if per_warp else "")


def named(place: Place, text: str) -> str:
    """The sentence after the line's code."""
    quoted = code(place.text)
    return f"{quoted}: {text}" if quoted else text


def _lanes(group: Group) -> str:
    return f"{number(group.lanes)} of {WARP_SIZE} lanes"


def _most(groups: Sequence[Group], counter: str) -> Group:
    return max(groups, key=lambda group: group.counters.get(counter, 0))


_IDLE = {
    causes.EXITED: ("idle_exited", "have left the kernel"),
    causes.PARTIAL: ("idle_no_thread", "have no thread"),
    causes.INACTIVE: ("idle_inactive", "are not active"),
    causes.PREDICATION: ("idle_predicated_off", "are predicated off"),
}


def single(shares: Shares, place: Place, cause: str, patterns: Patterns) -> str:
    """Why a line gives what it gives."""
    voice = voice_of(shares)
    if cause == causes.WORK and shares.recipe.executions:
        return named(place, _work(shares, place, voice))
    if cause == causes.DIVERGENCE:
        return named(place, _passes(shares, place, voice))
    if cause in _IDLE:
        counter, words = _IDLE[cause]
        group = _most(place.groups, counter)
        idle = Fraction(group.counters.get(counter, 0), max(group.counters.get("inst_executed", 0), 1))
        return named(place, f"{number(idle)} of {WARP_SIZE} lanes {words}")
    if cause in TRAFFIC_CAUSES:
        return named(place, _traffic(_traffic_of(shares, place, patterns), cause))
    if cause == causes.BRANCHES:
        diverged, branches = (place.counters.get(name, 0) for name in ("divergent_branches", "branches"))
        of = f" of {branches:,}" if branches else ""
        return named(place, f"{diverged:,}{of} branches diverge")
    if cause == causes.REPLAYS:
        return named(place, _replayed(place))
    if cause in _STATES:
        waited_for, _, instead = _STATES[cause].what.partition("nothing: ")
        return named(place, f"a warp waits for {waited_for}" if waited_for else f"a warp waits for nothing, {instead}")
    return named(place, shares.recipe.metric.unit)


def _work(shares: Shares, place: Place, voice: Voice) -> str:
    """How many instructions how often; the groups that execute most."""
    ranked = sorted(place.groups, key=lambda group: -group.counters.get("inst_executed", 0))
    parts = []
    for group in (group for group in ranked if group.executions):
        if group.instructions is None:
            parts.append(f"{number(shares.times(group))} {voice.noun}s{voice.per}")
        else:
            parts.append(f"{voice.instructions(group.instructions)} {voice.times(shares, group)}")
    more = len(parts) - 3
    return ", ".join(parts[:3]) + (f" and {more} more" if more > 0 else "")


def _passes(shares: Shares, place: Place, voice: Voice) -> str:
    group = _most(place.groups, "idle_other_path")
    if shares.recipe.executions and group.instructions is not None:
        return f"{counted(shares.times(group), 'pass')}{voice.per} with {_lanes(group)}; the others are on another path"
    return f"{_lanes(group)} are active; others are on another path"


def _replayed(place: Place) -> str:
    replays, threads = (place.counters.get(name, 0) for name in ("replays", "replay_threads"))
    again = f"issued {counted(replays, 'time')} more, with {number(Fraction(threads, max(replays, 1)))} lanes"
    return again if replays else "no instruction issued once more"


def replays_changed(ours: Place, theirs: Place) -> str:
    """How the replays of two lines differ."""
    return changed(ours, theirs, f"{_replayed(ours)} → {_replayed(theirs)}")


TRAFFIC_CAUSES = (causes.NEEDED, causes.PATTERN, causes.CONFLICTS, causes.UNUSED, causes.BROADCAST)


@dataclass(frozen=True)
class Traffic:
    """What an average request of a line moves: its accesses of the kind that the metric is about."""

    unit: str
    moved: Fraction
    least: Fraction
    asked: Fraction
    held: Fraction
    pattern: str


def _traffic_of(shares: Shares, place: Place, patterns: Patterns) -> Traffic:
    meant = [each for each in TRAFFIC if any(name.startswith(each[0]) for name in shares.recipe.sum_)]
    prefix, unit, width = max(meant, key=lambda each: place.counters.get(f"{each[0]}_{each[1]}", 0))
    requests = max(place.counters.get(f"{prefix}_requests", 0), 1)
    once = f"{prefix}_bytes_distinct" in place.counters and any(name.endswith("_spare") for name in shares.recipe.sum_)
    moved, least, asked = (
        Fraction(place.counters.get(f"{prefix}_{name}", 0), requests)
        for name in (unit, f"{unit}_ideal", "bytes_distinct" if once else "bytes")
    )
    return Traffic(unit[:-1], moved, least, asked, width * least, place.pattern(patterns, prefix))


def _traffic(found: Traffic, cause: str) -> str:
    """Sectors or wavefronts a request, and why so many."""
    because = f": {found.pattern}" if found.pattern else ""
    if cause == causes.UNUSED:
        return f"lanes ask for {number(found.asked)} of the {number(found.held)} bytes that a request moves at least"
    if cause == causes.BROADCAST:
        return f"lanes ask for {number(found.asked)} bytes a request, of {number(found.held)} that it moves{because}"
    if cause == causes.NEEDED:
        return f"the least {found.unit}s a request are {number(found.least)}, for {number(found.asked)} bytes"
    return f"{counted(found.moved, found.unit)} a request, at least {number(found.least)}{because}"


def traffic_changed(a: Shares, b: Shares, ours: Place, theirs: Place, cause: str, patterns: Sequence[Patterns]) -> str:
    """How the requests of two lines differ."""
    before, after = _traffic_of(a, ours, patterns[0]), _traffic_of(b, theirs, patterns[1])
    if not before.moved or not after.moved:
        said = [_traffic(each, cause) if each.moved else "none" for each in (before, after)]
        return changed(ours, theirs, " → ".join(said))
    seen = [each.pattern for each in (before, after)]
    because = f": {' → '.join(dict.fromkeys(seen))}" if all(seen) else f": {seen[1]}" if seen[1] else ""
    if cause in (causes.UNUSED, causes.BROADCAST):
        asked = f"{number(before.asked)} → {number(after.asked)} bytes asked for"
        held = " → ".join(dict.fromkeys((number(before.held), number(after.held))))
        return changed(ours, theirs, f"{asked} a request, {held} moved at least{because}")
    least = f"at least {' → '.join(dict.fromkeys((number(before.least), number(after.least))))}"
    moved = arrow(before.moved, after.moved, after.unit)
    return changed(ours, theirs, f"{moved} a request, {least}{'' if cause == causes.NEEDED else because}")


_STATES = {state.words: state for state in STATES.values()}


# Differences

_TOKEN = re.compile(r"\w+|\s+|.")


def differing_code(a: str, b: str) -> tuple[str, str]:
    """What two lines of code do not have in common at their ends, brackets kept in pairs where possible."""
    ours, theirs = _TOKEN.findall(a), _TOKEN.findall(b)
    start = 0
    while start < min(len(ours), len(theirs)) and ours[start] == theirs[start]:
        start += 1
    end = 0
    while end < min(len(ours), len(theirs)) - start and ours[-1 - end] == theirs[-1 - end]:
        end += 1
    mine, other = ("".join(_balanced(each, start, len(each) - end)).strip() for each in (ours, theirs))
    return mine, other


def _balanced(tokens: list[str], start: int, end: int) -> list[str]:
    """The tokens from *start* to *end*, and the brackets that those between open and close."""
    while tokens[start:end].count("(") > tokens[start:end].count(")") and end < len(tokens):
        end += 1
    while tokens[start:end].count(")") > tokens[start:end].count("(") and start > 0:
        start -= 1
    return tokens[start:end]


def changed(a: Place, b: Place, text: str) -> str:
    """The sentence after the code of A and of B that differs; after the whole line where the lines are the same."""
    if a.text == b.text or not (a.text and b.text):
        quoted = code(a.text or b.text)
    else:
        ours, theirs = map(code, differing_code(a.text, b.text))
        quoted = f"{ours} → {theirs}" if ours and theirs else f"without {ours}" if ours else f"with {theirs}"
    return f"{quoted}: {text}" if quoted else text


def arrow(a: Fraction | int, b: Fraction | int, what: str) -> str:
    """``21 → 3 instructions``."""
    return f"{number(a)} → {counted(b, what)}"
