"""Which line of one kernel stands for which of another: by text, then by structure."""

from __future__ import annotations

import difflib
import re
from collections import Counter
from collections.abc import Hashable, Iterator, Sequence
from dataclasses import dataclass

from simt.reasons.subject import Group, Place

Pair = tuple[Place | None, Place | None]
GroupPair = tuple[Group | None, Group | None]

ALIKE = 0.5
"""Lines pair by structure if they have so much in common: 1 for all words and 1 for all opcodes."""

NEAR = 8
"""Of many lines without a partner only those pair that stand so near to each other, in lines: it would take long."""

_WORD = re.compile(r"\w+|[^\w\s]+")


def pairs_of(a: Sequence[Place], b: Sequence[Place]) -> Iterator[Pair]:
    """Every place of both, once; None where the other kernel has nothing like it.

    Lines of the same text pair first, in their order; between them, lines that have words and opcodes in common.
    """
    keys = [[place.text or place.opcodes for place in places] for places in (a, b)]
    done = [0, 0]
    for i, j, length in matches(*keys):
        yield from _by_structure(a[done[0] : i], b[done[1] : j])
        yield from zip(a[i : i + length], b[j : j + length], strict=True)
        done = [i + length, j + length]


def matches(ours: Sequence[Hashable], theirs: Sequence[Hashable]) -> Sequence[difflib.Match]:
    """The stretches that two sequences have in common, in order."""
    return difflib.SequenceMatcher(None, ours, theirs, autojunk=False).get_matching_blocks()


def _by_structure(a: Sequence[Place], b: Sequence[Place]) -> Iterator[Pair]:
    """The pairs, in order, that have most in common together."""
    best = _Best([_features(place) for place in a], [_features(place) for place in b])
    i = j = 0
    while i < len(a) and j < len(b):
        most = best.of(i, j)
        if most == best.of(i + 1, j):
            yield a[i], None
            i += 1
        elif most == best.of(i, j + 1):
            yield None, b[j]
            j += 1
        else:
            yield a[i], b[j]
            i, j = i + 1, j + 1
    yield from ((place, None) for place in a[i:])
    yield from ((None, place) for place in b[j:])


class _Best:
    """How much the pairs of two sequences can have in common together, from any place of one and of the other on.

    Kept is only what stands near the diagonal, because no others pair: so it takes time for the longer of them, not for
    their product.
    """

    def __init__(self, a: Sequence[_Features], b: Sequence[_Features]) -> None:
        self._ends = n, m = len(a), len(b)
        reach = NEAR * max(n, m)
        self._low = [max(0, -((reach - i * m) // n)) for i in range(n)]
        self._high = [min(m, (i * m + reach) // n) for i in range(n)]
        self._rows: list[list[float]] = [[]] * n
        for i in reversed(range(n)):
            row = [0.0] * (self._high[i] - self._low[i] + 1)
            self._rows[i] = row
            for j in reversed(range(self._low[i], min(m, self._high[i] + 1))):
                both = _alike(a[i], b[j])
                paired = both + self.of(i + 1, j + 1) if both >= ALIKE else 0.0
                row[j - self._low[i]] = max(self.of(i + 1, j), self.of(i, j + 1), paired)

    def of(self, i: int, j: int) -> float:
        """From place *i* of one and *j* of the other on; away from the diagonal it is what it is back at it."""
        n, m = self._ends
        while i < n and j > self._high[i]:
            i += 1
        return 0.0 if i == n or j >= m else self._rows[i][max(j - self._low[i], 0)]


@dataclass(frozen=True)
class _Features:
    words: Counter[str]
    opcodes: Counter[str]
    branches: bool


def _features(place: Place) -> _Features:
    opcodes = Counter(opcode.partition(".")[0] for opcode in place.opcodes)
    return _Features(Counter(_WORD.findall(place.text)), opcodes, bool(place.counters.get("branches")))


def _alike(a: _Features, b: _Features) -> float:
    """What they have in common, from 0 to 2; half of it if only one of them decides where lanes go."""
    common = _common(a.words, b.words) + _common(a.opcodes, b.opcodes)
    return common if a.branches == b.branches else common / 2


def _common(a: Counter[str], b: Counter[str]) -> float:
    """The share of their members that two bags have in common."""
    whole = a.total() + b.total()
    return 2 * (a & b).total() / whole if whole else 0.0


def group_pairs(a: Sequence[tuple[Group, Hashable]], b: Sequence[tuple[Group, Hashable]]) -> Iterator[GroupPair]:
    """Groups of two lines that belong together; each comes with what it should have in common with its partner.

    Those that have it pair first, then the others in their order, as long as one opcode at least is in both.
    """
    rest = list(b)
    left: list[Group] = []
    for group, key in a:
        partner = next((each for each in rest if each[1] == key), None)
        if partner is None:
            left.append(group)
        else:
            rest.remove(partner)
            yield group, partner[0]
    others = [group for group, _ in rest]
    for group in left:
        partner_ = next((each for each in others if set(each.opcodes) & set(group.opcodes)), None)
        if partner_ is not None:
            others.remove(partner_)
        yield group, partner_
    yield from ((None, group) for group in others)
