"""The sentences of terms.  Each says only what the counts of its line say."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction

from simt.metrics.stalls import STALLS
from simt.program import WARP_SIZE
from simt.reasons import causes
from simt.reasons.causes import STALLED, TRAFFIC
from simt.reasons.subject import Group, Place
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
    """``1 pass``, ``2 passes``."""
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
    "partial warps": ("idle_no_thread", "have no thread"),
    "inactive lanes": ("idle_inactive", "are not active"),
    "predication": ("idle_predicated_off", "are predicated off"),
}


def single(shares: Shares, place: Place, cause: str, patterns: Mapping[str, str]) -> str:
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
    if cause in (causes.NEEDED, causes.PATTERN, causes.CONFLICTS, causes.UNUSED, causes.REPEATED):
        return named(place, _traffic(place, cause, patterns.get(place.label, "")))
    if cause == causes.BRANCHES:
        diverged, branches = (place.counters.get(name, 0) for name in ("divergent_branches", "branches"))
        of = f" of {branches:,}" if branches else ""
        return named(place, f"{diverged:,}{of} branches diverge")
    if cause.startswith("stall: "):
        return named(place, _stall(place))
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


def _traffic(place: Place, cause: str, pattern: str) -> str:
    """Sectors or wavefronts a request, of the accesses that cost most."""
    prefix, unit, width = max(TRAFFIC, key=lambda each: place.counters.get(f"{each[0]}_{each[1]}", 0))
    names = ("requests", unit, f"{unit}_ideal", "bytes", "bytes_distinct")
    count = {name: place.counters.get(f"{prefix}_{name}", 0) for name in names}
    requests = max(count["requests"], 1)
    a_request = {name: Fraction(value, requests) for name, value in count.items()}
    moved, least = counted(a_request[unit], unit[:-1]), number(a_request[f"{unit}_ideal"])
    if cause == causes.UNUSED:
        asked = number(a_request["bytes"])
        return f"{asked} bytes a request of the {number(width * a_request[f'{unit}_ideal'])} that the least {unit} hold"
    if cause == causes.REPEATED:
        asked, once = number(a_request["bytes"]), number(a_request["bytes_distinct"])
        return f"{asked} bytes a request, {once} of them at addresses of their own" + (
            f": {pattern}" if pattern else ""
        )
    if cause == causes.CONFLICTS:
        return f"{moved} a request where {least} would do" + (f": {pattern}" if pattern else "")
    if cause == causes.PATTERN and a_request[unit] < a_request[f"{unit}_ideal"]:
        return f"{moved} a request for {number(a_request['bytes'])} bytes: {pattern or 'lanes read the same addresses'}"
    if cause == causes.PATTERN:
        return f"{moved} a request where {least} would hold the bytes" + (f": {pattern}" if pattern else "")
    return f"{least} {unit} a request hold its {number(a_request['bytes'])} bytes"


def _stall(place: Place) -> str:
    reasons = {name: place.counters.get(STALLED + name, 0) for name in STALLS}
    name = max(reasons, key=lambda each: reasons[each])
    return f"mostly waits for {STALLS[name].what}"


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
