"""Theoretical occupancy: what each limit of a multiprocessor takes from it."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from fractions import Fraction

from simt.devices import Occupancy
from simt.reasons.terms import WHOLE, Term

METRIC = "theoretical_occupancy"

_WARPS = "warps"


def losses(occupancy: Occupancy) -> Mapping[str, tuple[Fraction, str]]:
    """Percent that each limit takes, and why, by its name; with what is left they are 100.

    The tightest limit takes what the next one would allow more, and so on up to the limit of warps, which loses the
    warps that are no whole block.
    """
    percent = Fraction(100 * occupancy.warps_per_block, occupancy.max_warps_per_sm)
    found: dict[str, tuple[Fraction, str]] = {}
    names: dict[int, list[str]] = {}
    for name, blocks in sorted(occupancy.limits.items(), key=lambda item: item[1]):
        names.setdefault(blocks, []).append(name)
    most = occupancy.limits[_WARPS]
    steps = [blocks for blocks in names if blocks <= most]
    for blocks, after in zip(steps, [*steps[1:], None], strict=True):
        lost = 100 - percent * blocks if after is None else percent * (after - blocks)
        if lost:
            found[" and ".join(names[blocks])] = lost, _words(occupancy, names[blocks], blocks)
    return found


def _words(occupancy: Occupancy, names: list[str], blocks: int) -> str:
    used = {
        "registers": f"{occupancy.registers} registers a thread",
        "shared memory": f"{occupancy.shared_bytes:,} bytes of shared memory a block",
        _WARPS: f"{occupancy.warps_per_block} warps a block",
        "blocks": "the most blocks of an SM",
    }
    return f"{' and '.join(used[name] for name in names)} leave room for {blocks} of its blocks on an SM"


def single(occupancy: Occupancy) -> Iterator[Term]:
    """Terms that add up to the occupancy in percent."""
    for name, (lost, words) in losses(occupancy).items():
        yield Term(-lost, f"limit: {name}", words)
    yield Term(Fraction(100), WHOLE, "what it is without limits")


def between(a: Occupancy, b: Occupancy) -> Iterator[Term]:
    """Terms that add up to B's occupancy less A's."""
    ours, theirs = losses(a), losses(b)
    for name in dict.fromkeys([*ours, *theirs]):
        before, after = (found.get(name, (Fraction(0), "")) for found in (ours, theirs))
        said = list(dict.fromkeys(words for _, words in (before, after) if words))
        yield Term(before[0] - after[0], f"limit: {name}", " → ".join(said))
