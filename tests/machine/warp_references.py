"""What every micro-op that reads other lanes must compute: shuffles, votes, matches, reductions."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from tests.machine.patterns import (
    M32,
    signed,
)

Row = list[Any]
WarpReference = Callable[[Row, Row, Row, list[int]], Row]
"""Rows a, b, c of 32 lanes and the executing lanes, ascending and not empty; the result of all 32 lanes."""


def _shuffle(source: Callable[[int, int, int, int], tuple[int, bool]], flags: bool) -> WarpReference:
    def reference(a: Row, b: Row, c: Row, lanes: list[int]) -> Row:
        result: Row = []
        for lane in range(32):
            clamp, segment = c[lane] & 31, c[lane] >> 8 & 31
            lowest = lane & segment
            greatest = lowest | clamp & ~segment & 31
            other, inside = source(lane, b[lane] & 31, lowest | (b[lane] & 31 & ~segment), greatest)
            result.append(inside if flags else a[other if inside else lane])
        return result

    return reference


# As in the pseudocode of shfl.sync in the PTX ISA: (source lane, in range).
_SHUFFLES: dict[str, Callable[[int, int, int, int], tuple[int, bool]]] = {
    "shfl.up": lambda lane, b, index, limit: (lane - b, lane - b >= limit),
    "shfl.down": lambda lane, b, index, limit: (lane + b, lane + b <= limit),
    "shfl.bfly": lambda lane, b, index, limit: (lane ^ b, lane ^ b <= limit),
    "shfl.idx": lambda lane, b, index, limit: (index, index <= limit),
}


def _everywhere(function: Callable[[Row], Any]) -> WarpReference:
    return lambda a, b, c, lanes: [function([a[lane] for lane in lanes])] * 32


def _mask(lanes: list[int]) -> int:
    return sum(1 << lane for lane in lanes)


def _reduce(function: Callable[[int, int], int]) -> WarpReference:
    def reference(a: Row, b: Row, c: Row, lanes: list[int]) -> Row:
        result = a[lanes[0]] & M32
        for lane in lanes[1:]:
            result = function(result, a[lane] & M32) & M32
        return [result] * 32

    return reference


WARP: dict[str, WarpReference] = {
    **{name: _shuffle(source, False) for name, source in _SHUFFLES.items()},
    "vote.all": _everywhere(all),
    "vote.any": _everywhere(any),
    "vote.eq": _everywhere(lambda values: all(values) or not any(values)),
    "ballot": lambda a, b, c, lanes: [_mask([lane for lane in lanes if a[lane]])] * 32,
    "first": _everywhere(lambda values: values[0]),
    "match.any": lambda a, b, c, lanes: [_mask([k for k in lanes if a[k] == a[lane]]) for lane in range(32)],
    "match.all": lambda a, b, c, lanes: [_mask(lanes) if len({a[k] for k in lanes}) == 1 else 0] * 32,
    "redux.add": _reduce(lambda x, y: x + y),
    "redux.min.s32": _reduce(lambda x, y: min(x, y, key=lambda v: signed(v, 32))),
    "redux.max.s32": _reduce(lambda x, y: max(x, y, key=lambda v: signed(v, 32))),
    "redux.min.u32": _reduce(min),
    "redux.max.u32": _reduce(max),
    "redux.and": _reduce(lambda x, y: x & y),
    "redux.or": _reduce(lambda x, y: x | y),
    "redux.xor": _reduce(lambda x, y: x ^ y),
}

WARP_FLAGS: dict[str, WarpReference] = {
    **{name: _shuffle(source, True) for name, source in _SHUFFLES.items()},
    "match.all": lambda a, b, c, lanes: [len({a[k] for k in lanes}) == 1] * 32,
}
"""The second, predicate result of the micro-ops that have one."""
