"""Proofs that all of a box of warps take the path that one of them takes: its registers are affine in their place.

A warp that neither touches memory nor waits for others is a function of its number and its block's.  A :class:`Look`
is what one such warp read and left, micro-op by micro-op.  A *box* is a warp and those that lie behind it along some
axes: the next warp of the block, the next block of the row, the next row.  The looks at a warp and at its neighbour
along each axis say how fast each register changes, lane by lane.  By induction over the micro-ops of the path:

* A micro-op whose operands change along no axis leaves the same in the whole box.
* Of LINEAR ones the result is affine modulo 2**w, and within one range of that size.  If the affine function of the
  looks stays within that range up to all corners of the box, the two are the same: it wraps nowhere.
* Of MONOTONE ones, shifts to the right, the result changes evenly along all axes, as long as what is shifted out, which
  does so, too, neither overflows nor becomes negative.
* Comparisons: the difference of two affine functions has one sign if it has it at all corners.
* An OR is above zero where one of its operands is, and none is negative.  More is not known of it: it may be compared
  with zero, or be an operand of another OR.  (The first block of a grid is found so.)

Any other case ends the proof.  So predicates, and with them branches and lanes, are the same in the whole box.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from simt.ops.table import MicroOp

Rows = npt.NDArray[np.int64]
Flags = npt.NDArray[np.bool_]

LINEAR = frozenset((
    "mov", "selp", "add.s64", "sub.s64", "mul.s64", "mad.s64", "neg.s64", "not.b64", "shl.b64", "pack.b64", "add.u32",
    "add3.u32", "sub.u32", "mad.u32", "shl.b32", "cvt.s8", "cvt.s16", "cvt.s32", "cvt.u8", "cvt.u16", "cvt.u32",
))  # fmt: skip
"""Linear in their operands modulo 2**w, w the bits of the result; one factor, or how far to shift, has to be fixed."""
_FIXED = {"shl.b64": 1, "shl.b32": 1, "shr.s64": 1, "shr.u64": 1, "shr.s32": 1}
"""The operand that has to be fixed."""
_FACTORS = frozenset(("mul.s64", "mad.s64", "mad.u32"))

MONOTONE = frozenset(("high.b64", "shr.s64", "shr.u64", "shr.s32"))
"""Shifts to the right, of operand 0."""

COMPARISONS = frozenset(("eq.s64", "ne.s64", "lt.s64", "le.s64", "lt.s32", "le.s32", "lt.u64", "le.u64"))

_WITH_ZERO = COMPARISONS - {"lt.s32", "le.s32"}
"""Those that see all bits of a number."""

_KNOWN = LINEAR | MONOTONE | COMPARISONS

_LOWEST, _HIGHEST = -(1 << 61), 1 << 61
"""Where proofs reckon: sums and differences of such numbers fit into 64 bits."""
_FAR = float(_HIGHEST)
_TOO_FAR = np.int64((1 << 63) - 1)
"""In the place of unsigned numbers from 2**63 on: further than a proof goes."""
_WORD = (1 << 32) - 1
_NO_LANE = np.zeros(32, np.bool_)
_WIDE = 16
"""What nearly comes back has to take so many times as long as what drifts."""
_SIGN = 62
"""A shift to the right by so much leaves the sign of a number that a proof reckons with."""


class Step(NamedTuple):
    """A micro-op of the code: its row of the table, whether it ORs its operands, and whether it always writes."""

    op: MicroOp
    ors: bool = False
    always: bool = True


@dataclass(frozen=True)
class Look:
    """What a warp did: ``path``, the micro-ops that it executed, int64 [n], the rows that each read, int64 [n, 3, 32],
    and the row that it left, int64 [n, 32], in all lanes.

    ``rows``: the numbers of the row that it left and of those that it read, int64 [n, 4], 0 for none; ``lanes``: those
    that took part, bool [n, 32].  ``ends``: it came to its end; else the path leads to a micro-op of which nothing is
    known.
    """

    path: Rows
    read: Rows
    left: Rows
    rows: Rows
    lanes: Flags
    ends: bool


class Period(NamedTuple):
    """So many warps along an axis, after which numbers that wrap have come back.

    ``drift``: 0, or they have only nearly: so many warps at most lie between what is alike in the first and the last.
    """

    warps: int
    drift: int = 0


def same_path(one: Look, other: Look) -> bool:
    """Whether two warps executed the same micro-ops."""
    return one.ends == other.ends and np.array_equal(one.path, other.path)


class Box:
    """A box of warps along axes that all take one path, as far as it has been grown: :attr:`counts`, by axis."""

    def __init__(self, code: Sequence[Step], here: Look, neighbours: Sequence[Look]) -> None:
        """*here* is at the box's corner, each of *neighbours*, on the same path, one further along its axis."""
        self.counts = [1] * len(neighbours)
        self._grows = np.ones(len(neighbours), np.bool_)
        self._together = np.ones((len(neighbours), len(neighbours)), np.bool_)
        self._base: list[Rows] = []
        self._slopes: list[Rows] = []
        self._low: list[Rows] = []
        self._high: list[Rows] = []
        self._above: dict[int, Flags] = {}  # lanes of rows that are known to be above zero, and no more than a word
        for k, pc in enumerate(here.path.tolist()):
            above = self._step(code[pc], k, here, neighbours)
            self._keep(int(here.rows[k, 0]), here.lanes[k], above, code[pc].always)
        shape = (-1, 32)
        self._lower = np.array(self._base, np.int64).reshape(shape)
        self._upper = self._lower.copy()
        self._bounds = np.array(self._low, np.int64).reshape(shape), np.array(self._high, np.int64).reshape(shape)
        self._by_axis = np.array(self._slopes, np.int64).reshape(-1, len(neighbours), 32).transpose(1, 0, 2)

    def grow(self, axis: int, most: int) -> int:
        """Grow along an axis, by which it is one warp thick, to *most* warps at most; to how many it did."""
        grown = [other for other, count in enumerate(self.counts) if count > 1]
        if most < 2 or not self._grows[axis] or not self._together[axis, [*grown, axis]].all():
            return 1
        slopes = self._by_axis[axis]
        moving = slopes != 0
        room = np.where(slopes > 0, self._bounds[1] - self._upper, self._lower - self._bounds[0])[moving]
        steps = room // np.abs(slopes[moving])
        reach = min(most - 1, max(int(steps.min()), 0)) if len(steps) else most - 1
        self._upper += np.maximum(slopes, 0) * reach
        self._lower += np.minimum(slopes, 0) * reach
        self.counts[axis] = reach + 1
        return reach + 1

    def period(self, axis: int, below: int) -> Period | None:
        """After how many warps along an axis what wraps has come back: the most of those below *below*.

        If none has in so many, after how many all has nearly.
        """
        if not self._grows[axis]:
            return None
        slopes = self._by_axis[axis]
        size = self._bounds[1] - self._bounds[0] + 1
        wraps = (slopes != 0) & (size < _HIGHEST) & (size & (size - 1) == 0)
        size, slopes = size[wraps], np.abs(slopes[wraps])
        whole = size // np.gcd(size, slopes)
        if ((whole > 1) & (whole < below)).any():
            return Period(int(whole[whole < below].max()))
        wraps = (slopes < size) & (slopes * below > size)
        size, slopes = size[wraps], np.minimum(slopes, size - slopes)[wraps]
        near = int(((2 * size + slopes) // (2 * slopes)).max(initial=0))
        if not 1 < near < below:
            return None
        over = near * slopes % size
        drift = np.minimum(over, size - over) * (below // near) // slopes
        found = Period(near, int(drift.max()) + 2)
        return found if found.drift * _WIDE < near else None

    def _keep(self, row: int, lanes: Flags, above: Flags, always: bool) -> None:
        """Note in which lanes a row that was written holds what is only known to be above zero.

        Of a micro-op with a guard it is not known in which lanes it wrote.
        """
        before = self._above.get(row, _NO_LANE)
        if row and (above.any() or before.any()):
            self._grows &= always
            self._above[row] = np.where(lanes, above, before)

    def _step(self, step: Step, k: int, here: Look, neighbours: Sequence[Look]) -> Flags:
        """Note what a micro-op asks of the box; the lanes whose result is only known to be above zero."""
        op = step.op
        if op.name == "sreg":
            self._within(here.left[k], [each.left[k] for each in neighbours], _LOWEST, _HIGHEST)
            return _NO_LANE
        above: Flags = np.array([self._above.get(row, _NO_LANE) for row in here.rows[k, 1:].tolist()], np.bool_)
        read, beside = here.read[k], [each.read[k] for each in neighbours]
        if above.any():
            read, beside = np.where(above, 1, read), [np.where(above, 1, each) for each in beside]
        moving: Flags = np.array([each != read for each in beside], np.bool_).reshape(-1, 3, 32)
        moves: Flags = np.any(moving, axis=2)
        if step.ors:
            return self._ors(read, beside, moving, above)
        if above.any() and not _beside_zero(op, read, moving, above):
            self._grows[:] = False
        if not moves.any():
            return _NO_LANE
        if op.name not in _KNOWN:
            self._grows &= ~moves.any(axis=1)
            return _NO_LANE
        if op.name in _FIXED:
            self._grows &= ~moves[:, _FIXED[op.name]]
        if op.name in _FACTORS:
            products = np.einsum("al,bl->ab", moving[:, 0].astype(np.int64), moving[:, 1].astype(np.int64)) > 0
            self._together &= ~(products | products.T)
        seen = [(_as_read(op, i, read[i]), [_as_read(op, i, each[i]) for each in beside]) for i in range(3)]
        for i in np.flatnonzero(moves.any(axis=0)).tolist():
            low, high = _seen_in(op, i)
            self._within(seen[i][0], seen[i][1], low, high)
        if op.name in COMPARISONS:
            self._keeps_sign(seen[0], seen[1], np.any(moving, axis=1))
            return _NO_LANE
        if op.name in MONOTONE:
            self._keeps_what_is_left(op, *seen[0], seen[1][0])
        self._within(here.left[k], [each.left[k] for each in neighbours], *_window(op))
        return _NO_LANE

    def _ors(self, read: Rows, beside: Sequence[Rows], moving: Flags, above: Flags) -> Flags:
        """Have one operand of an OR stay above zero; the lanes in which nothing else is known of the result.

        Best one that does not change.
        """
        moved: Flags = np.any(moving, axis=0)
        changes: Flags = np.any(moved | above, axis=0)
        rank = np.where(read > 0, np.where(moved, 1, 2), 0)
        known: Flags = (np.max(rank, axis=0) > 0) & np.all((read >= 0) & (read <= _WORD), axis=0)
        lost = changes & ~known
        self._grows &= ~moving[:, :, lost].any(axis=(1, 2)) & ~above[:, lost].any()
        for i in range(3):
            matters = changes & known & moved[i]
            stays = rank.argmax(axis=0) == i
            low = np.where(matters, np.where(stays, 1, 0), _LOWEST)
            self._within(read[i], [each[i] for each in beside], low, np.where(matters, _WORD, _HIGHEST))
        return changes & known

    def _within(self, base: Rows, beside: Sequence[Rows], low: int | Rows, high: int | Rows) -> None:
        """The affine function with the value *base* here and *beside* at the neighbours has to stay in a window."""
        near = _near(base)
        self._grows &= np.array([bool((near & _near(each) | (base == each)).all()) for each in beside], np.bool_)
        self._note(base, np.array([each - base for each in beside]), low, high)

    def _keeps_sign(self, a: tuple[Rows, Sequence[Rows]], b: tuple[Rows, Sequence[Rows]], moves: Flags) -> None:
        """The difference of two operands has to keep its sign; *moves*: whether one changes, by axis and lane."""
        near = np.all([_near(each) for each in (a[0], b[0], *a[1], *b[1])], axis=0)
        self._grows &= (near | ~moves).all(axis=1)
        value = a[0] - b[0]
        beside = [one - other for one, other in zip(a[1], b[1], strict=True)]
        low = np.where(value > 0, 1, np.where(value == 0, 0, 2 * _LOWEST))
        high = np.where(value < 0, -1, np.where(value == 0, 0, 2 * _HIGHEST))
        self._note(value, np.array([each - value for each in beside]), low, high)

    def _keeps_what_is_left(self, op: MicroOp, base: Rows, beside: Sequence[Rows], by: Rows) -> None:
        """What a shift drops may not carry: the rest then changes along each axis as it does at the neighbour there."""
        if op.name == "high.b64":
            shift = np.full(32, 32)
        elif op.name == "shr.s32":
            shift = np.where((by >= 0) & (by < 32), by, _SIGN)
        else:
            shift = np.minimum(by & 0xFFFFFFFF, _SIGN)
        unit = np.int64(1) << shift
        dropped = np.array([each - base - ((each >> shift) - (base >> shift)) * unit for each in beside])
        low = base >> shift << shift
        self._note(base, dropped, low, low + (unit - 1))

    def _note(self, base: Rows, slopes: Rows, low: int | Rows, high: int | Rows) -> None:
        self._base.append(base)
        self._slopes.append(slopes)
        self._low.append(np.broadcast_to(np.int64(low), 32))
        self._high.append(np.broadcast_to(np.int64(high), 32))


def _beside_zero(op: MicroOp, read: Rows, moving: Flags, above: Flags) -> bool:
    """Whether a micro-op compares what is known to be above zero with what stays zero."""
    zero = ~moving.any(axis=0) & ~above & (read == 0)
    return op.name in _WITH_ZERO and bool((zero[[1, 0]] | ~above[:2]).all())


def _near(values: Rows) -> Flags:
    """Which values a proof reckons with."""
    return (values > _LOWEST) & (values < _HIGHEST)


def _window(op: MicroOp) -> tuple[int, int]:
    """Where the results of a micro-op lie; of 64 bits, where this module reckons."""
    bits = int(op.name.rpartition(".")[2][1:]) if op.name.startswith("cvt.") else 32
    if op.name.startswith("cvt.s"):
        return -(1 << (bits - 1)), (1 << (bits - 1)) - 1
    narrow = op.name.startswith("cvt.u") or (op.lane is not None and op.lane.__annotations__["return"] == "U32")
    return (0, (1 << bits) - 1) if narrow else (_LOWEST, _HIGHEST)


def _type_of(op: MicroOp, number: int) -> str:
    """As what the micro-op's lane function sees an operand."""
    names = list(op.lane.__annotations__.values()) if op.lane is not None else []
    return names[number] if number < len(names) - 1 else ""


def _seen_in(op: MicroOp, number: int) -> tuple[int, int]:
    """Where an operand lies, as the lane function sees it."""
    windows = {"S32": (-(1 << 31), (1 << 31) - 1), "U32": (0, (1 << 32) - 1), "U64": (0, _HIGHEST)}
    return windows.get(_type_of(op, number), (_LOWEST, _HIGHEST))


def _as_read(op: MicroOp, number: int, row: Rows) -> Rows:
    """An operand as the lane function sees it; 64 unsigned bits as signed ones, which agree up to 2**63."""
    seen = _type_of(op, number)
    if seen == "S32":
        return row.astype(np.int32).astype(np.int64)
    if seen == "U32":
        return row & 0xFFFFFFFF
    return np.where(row < 0, _TOO_FAR, row) if seen == "U64" else row
