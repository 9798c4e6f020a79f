"""The difference of a metric between two profiles, as terms."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from fractions import Fraction

from simt.reasons import causes, words
from simt.reasons.pairing import GroupPair, group_pairs, pairs_of
from simt.reasons.subject import Group, Patterns, Place
from simt.reasons.terms import ON_NO_LINE, Shares, Term

INSTRUCTIONS = "instructions"
"""The same way through the kernel costs another number of instructions."""
TIMES = "times"
"""Lanes that work come by more or less often."""
ROUNDS = "rounds"
"""More instructions in fewer rounds, as where a loop is unrolled, or the reverse."""
SidePatterns = Mapping[str, Patterns]
ONLY_A, ONLY_B = "only in A", "only in B"

_ZERO = Fraction(0)
_SIDES = ("a", "b")


@dataclass(frozen=True)
class _Step:
    """A part of the difference of two lines, and the groups that it is about."""

    value: Fraction
    cause: str
    groups: GroupPair


def terms(a: Shares, b: Shares, patterns: SidePatterns) -> Iterator[Term]:
    """Terms that add up to the metric of B less that of A.

    ``patterns``: by side, how lines access memory.
    """
    rounds: dict[tuple[Fraction, Fraction], list[tuple[_Step, Place, Place]]] = {}
    for ours, theirs in pairs_of(a.subject.places, b.subject.places):
        if ours is None or theirs is None:
            yield from _alone(a, b, ours, theirs, patterns)
            continue
        steps: list[_Step] = []
        for step in _steps(a, b, ours, theirs):
            left, right = step.groups
            if step.cause == TIMES and left is not None and right is not None:
                rounds.setdefault((a.times(left), b.times(right)), []).append((step, ours, theirs))
            else:
                steps.append(step)
        yield from _pair(a, b, ours, theirs, steps, patterns)
    for (before, after), members in rounds.items():
        yield _rounds(a, before, after, members)
    left_over = dict(a.constant()), dict(b.constant())
    for cause in dict.fromkeys([*left_over[0], *left_over[1]]):
        if value := left_over[1].get(cause, _ZERO) - left_over[0].get(cause, _ZERO):
            yield Term(value, cause, ON_NO_LINE.get(cause, cause))


def _alone(a: Shares, b: Shares, ours: Place | None, theirs: Place | None, patterns: SidePatterns) -> Iterator[Term]:
    """A line that has no partner."""
    side, shares, place, sign = ("a", a, ours, -1) if ours else ("b", b, theirs, 1)
    assert place is not None
    parts = shares.of(place.counters)
    if value := sum(parts.values(), _ZERO):
        cause = max(parts, key=lambda name: abs(parts[name]))
        text = words.single(shares, place, cause, patterns.get(side, {}))
        yield Term(sign * value, ONLY_A if ours else ONLY_B, text, ((side, place),))


def _pair(
    a: Shares, b: Shares, ours: Place, theirs: Place, steps: list[_Step], patterns: SidePatterns
) -> Iterator[Term]:
    """Two lines that belong together: a term for every cause."""
    for cause in dict.fromkeys(step.cause for step in steps):
        same = sorted((step for step in steps if step.cause == cause), key=lambda step: -abs(step.value))
        if value := sum((step.value for step in same), _ZERO):
            text = _text(a, b, ours, theirs, same, patterns)
            yield Term(value, cause, text, tuple(zip(_SIDES, (ours, theirs), strict=True)))


def _rounds(a: Shares, before: Fraction, after: Fraction, members: list[tuple[_Step, Place, Place]]) -> Term:
    """Lines that lanes come by equally often on each side, the rounds of one loop for instance."""
    voice = words.voice_of(a)
    each = sum(right.instructions or 0 for step, _, _ in members if (right := step.groups[1]))
    text = f"{words.arrow(before, after, 'time')}{voice.per}, {voice.instructions(each)} each"
    places = [*dict.fromkeys((ours, theirs) for _, ours, theirs in members)]
    text = words.changed(*max(places, key=lambda pair: pair[1].counters.get("branches", 0)), text)
    sides = [[(side, pair[k]) for pair in places] for k, side in enumerate(_SIDES)]
    value = sum((step.value for step, _, _ in members), _ZERO)
    return Term(value, TIMES, text, tuple(sides[0] + sides[1]))


def _steps(a: Shares, b: Shares, ours: Place, theirs: Place) -> Iterator[_Step]:
    known = all(group.instructions is not None for place in (ours, theirs) for group in place.groups)
    if not a.recipe.executions or not known:
        mine, other = a.of(ours.counters), b.of(theirs.counters)
        for cause in dict.fromkeys([*mine, *other]):
            yield _Step(other.get(cause, _ZERO) - mine.get(cause, _ZERO), cause, (None, None))
        return
    keyed = [[(group, shares.times(group)) for group in place.groups] for shares, place in ((a, ours), (b, theirs))]
    for pair in group_pairs(*keyed):
        yield from _group_steps(a, b, pair)


def _group_steps(a: Shares, b: Shares, pair: GroupPair) -> Iterator[_Step]:
    """First the instructions change, at A's executions; then how often B's are executed, by cause."""
    ours, theirs = pair
    counts = [group.instructions or 0 if group else 0 for group in pair]
    times = [shares.times(group) if group else _ZERO for shares, group in ((a, ours), (b, theirs))]
    if ours is None or theirs is None:
        times = [max(times)] * 2
    more = (counts[1] - counts[0]) * times[0]
    parts = [_parts(shares, group) for shares, group in ((a, ours), (b, theirs))]
    replays = [each.pop(causes.REPLAYS, _ZERO) for each in parts]
    yield _Step(replays[1] - replays[0], causes.REPLAYS, pair)
    changes = {}
    for cause in dict.fromkeys([*parts[0], *parts[1]]) if times[0] != times[1] else ():
        each = [part.get(cause, _ZERO) / count for part, count in zip(parts, counts, strict=True)]
        changes[TIMES if cause == causes.WORK else cause] = counts[1] * (each[1] - each[0])
    fewer = changes.get(TIMES, _ZERO)
    if abs(more + fewer) < min(abs(more), abs(fewer)):  # what one adds the other takes away, for the most part
        yield _Step(more + changes.pop(TIMES), ROUNDS, pair)
    else:
        yield _Step(more, INSTRUCTIONS, pair)
    for cause, value in changes.items():
        yield _Step(value, cause, pair)


def _parts(shares: Shares, group: Group | None) -> dict[str, Fraction]:
    return shares.of(group.counters) if group else {}


def _is_bsync(pair: GroupPair) -> bool:
    return all(group is not None and set(group.opcodes) == {"BSYNC"} for group in pair)


def _text(a: Shares, b: Shares, ours: Place, theirs: Place, steps: list[_Step], patterns: SidePatterns) -> str:
    """Why, of steps of one cause, the largest first."""
    cause = steps[0].cause
    left, right = steps[0].groups
    voice = words.voice_of(a)
    if cause in (INSTRUCTIONS, ROUNDS):
        tell = _instructions if cause == INSTRUCTIONS else _rounds_changed
        said = [tell(a, b, step, voice) for step in steps if step.value]
        return words.changed(ours, theirs, ", ".join(said[:2]) + (" and others" if len(said) > 2 else ""))
    if cause == causes.REPLAYS:
        return words.replays_changed(ours, theirs)
    if left is not None and right is not None:
        lanes = f"{words.number(left.lanes)} → {words.number(right.lanes)} of 32 lanes active"
        text = f"{words.arrow(a.times(left), b.times(right), 'pass')}{voice.per}, {lanes}"
        again = sum((step.value for step in steps if _is_bsync(step.groups)), _ZERO)
        if again and not _is_bsync(steps[0].groups):
            text += f"; {words.number(abs(again))} of it BSYNC, which every pass executes"
        return words.changed(ours, theirs, text)
    if cause in words.TRAFFIC_CAUSES:
        known = [patterns.get(side, {}) for side in _SIDES]
        return words.traffic_changed(a, b, ours, theirs, cause, known)
    sides = zip(_SIDES, (a, b), (ours, theirs), strict=True)
    said = [words.single(shares, place, cause, patterns.get(side, {})) for side, shares, place in sides]
    return said[0] if said[0] == said[1] else f"{said[0]} → {said[1]}"


def _rounds_changed(a: Shares, b: Shares, step: _Step, voice: words.Voice) -> str:
    """``4 → 32 operations, 22 → 2 times a warp``."""
    left, right = step.groups
    assert left is not None  # times differ
    assert right is not None
    instructions = words.arrow(left.instructions or 0, right.instructions or 0, voice.noun)
    return f"{instructions}, {words.arrow(a.times(left), b.times(right), 'time')}{voice.per}"


def _instructions(a: Shares, b: Shares, step: _Step, voice: words.Voice) -> str:
    """``21 → 3 instructions, 9 times a warp``."""
    left, right = step.groups
    ours, theirs = (group.instructions or 0 if group else 0 for group in step.groups)
    shares, group = (b, right) if left is None else (a, left)
    assert group is not None
    return f"{words.arrow(ours, theirs, voice.noun)}, {voice.times(shares, group)}"
