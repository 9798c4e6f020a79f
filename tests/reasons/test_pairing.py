"""Which line stands for which: near the diagonal alone, what a look at all pairs of lines finds."""

from __future__ import annotations

from collections.abc import Sequence

from hypothesis import given, settings
from hypothesis import strategies as st

from simt.reasons import pairing
from simt.reasons.subject import Place

words = st.lists(st.sampled_from("abcdefg"), min_size=1, max_size=4).map(" ".join)
places = st.one_of(st.integers(0, 12), st.integers(30, 60)).flatmap(
    lambda n: st.lists(words.map(lambda text: Place(text, "k.py", 1, text, ())), min_size=n, max_size=n)
)


def table(a: Sequence[Place], b: Sequence[Place]) -> list[list[float]]:
    """What lines have in common from each pair of places on, by definition."""
    best = [[0.0] * (len(b) + 1) for _ in range(len(a) + 1)]
    for i in reversed(range(len(a))):
        for j in reversed(range(len(b))):
            near = abs(i * len(b) - j * len(a)) <= pairing.NEAR * max(len(a), len(b))
            both = pairing._alike(pairing._features(a[i]), pairing._features(b[j])) if near else 0.0
            paired = both + best[i + 1][j + 1] if both >= pairing.ALIKE else 0.0
            best[i][j] = max(best[i + 1][j], best[i][j + 1], paired)
    return best


@settings(max_examples=60, deadline=None)
@given(a=places, b=places)
def test_the_pairs_have_most_in_common(a: list[Place], b: list[Place]) -> None:
    best = pairing._Best([pairing._features(each) for each in a], [pairing._features(each) for each in b])
    wanted = table(a, b)
    assert [[best.of(i, j) for j in range(len(b) + 1)] for i in range(len(a) + 1)] == wanted
    pairs = list(pairing._by_structure(a, b))
    assert [left for left, _ in pairs if left is not None] == a
    assert [right for _, right in pairs if right is not None] == b
    common = [
        pairing._alike(pairing._features(left), pairing._features(right))
        for left, right in pairs
        if left is not None and right is not None
    ]
    assert abs(sum(common) - wanted[0][0]) < 1e-9
