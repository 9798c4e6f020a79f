"""Blocks that do the same: boxes of a large grid in which one block stands for all, by proof.

A block that neither touches memory nor waits for other warps is a function of its number alone.  :class:`_Looks` runs
single warps of such blocks micro-op by micro-op and keeps what each reads and leaves.  From the warps of a block and
their neighbours :mod:`simt.machine.affine` proves how far all warps take the same path: along the block, the row of the
grid, its rows and planes.  So all blocks of such a box count the same.  Other blocks are run.

Numbers of 32 bits wrap in a large grid: an axis is then cut into periods, and the box lies on all of them alike.  What
comes near to a period will do: from one to the next the places where paths change then drift by less than a block, and
the few blocks about them are run.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from itertools import product
from math import prod
from typing import NamedTuple

import numpy as np

from simt.machine import layout as L
from simt.machine.affine import Box, Look, Period, Rows, Step, same_path
from simt.machine.early import ENGINE
from simt.machine.launch import Launch, parse_order
from simt.machine.prepare import state_arrays
from simt.machine.prepared import Prepared
from simt.ops.encoding import CLOCKS, SPECIAL_REGISTERS
from simt.ops.table import MICRO_OPS, Effect, Kind, MicroOp
from simt.program import FULL_MASK, PT, Instruction

MANY_BLOCKS = 1 << 18
"""A launch of at least so many is looked at: fewer run in less time than the look may take."""

MOST_STEPS = 2048
"""How many micro-ops of a warp are looked at."""

FEW, SHORT = 16, 1 << 12
"""The search ends where FEW groups or more have so far been shorter than SHORT blocks on average."""

MOST_AXES = 8
"""Most axes of a group: those of the grid, and periods."""

MOST_SPANS = 1 << 18
"""Most runs of blocks left over: with more of them nothing is gained."""

_OR_OF_THREE = 0xFE
"""The table of LOP3 that is an OR."""

_WITHIN_A_WARP = frozenset(("nop", "bra", "bssy", "bsync", "break", "exit"))


@dataclass(frozen=True)
class Axis:
    """So many blocks, each *stride* before the one in front of it."""

    stride: int
    count: int


class Work(NamedTuple):
    """What a block did: its counters, and its row of :attr:`simt.machine.RunResult.work`."""

    counts: Rows
    work: tuple[int, int, int]


class Drift(NamedTuple):
    """Along the axis of stride *periods* places where paths change drift by *blocks* on that of stride *within*."""

    within: int
    periods: int
    blocks: int


class Group(NamedTuple):
    """The block *last* and those before it along *axes*; *like*: what each of them does, None where they are to be run.

    Along each axis of the grid, and the periods of one, the blocks' coordinates change evenly.
    """

    last: int
    axes: tuple[Axis, ...]
    like: Work | None = None
    drift: Drift | None = None

    @property
    def blocks(self) -> int:
        """How many blocks."""
        return prod(axis.count for axis in self.axes)

    @property
    def row(self) -> int:
        """How many of them follow each other in a run."""
        return next((axis.count for axis in self.axes if axis.stride == 1), 1)

    def spans(self) -> Iterator[tuple[int, int]]:
        """The blocks as runs of neighbours: the first and one past the last."""
        steps = [axis for axis in self.axes if axis.stride != 1]
        for places in product(*(range(axis.count) for axis in steps)):
            end = self.last + 1 - sum(place * axis.stride for place, axis in zip(places, steps, strict=True))
            yield end - self.row, end

    def without(self, counts: list[int]) -> Iterator[Group]:
        """The groups that are left behind the first *counts* blocks by axis."""
        axes = list(self.axes)
        for k, (axis, count) in enumerate(zip(self.axes, counts, strict=True)):
            if count < axis.count:
                rest = axes.copy()
                rest[k] = Axis(axis.stride, axis.count - count)
                yield Group(self.last - count * axis.stride, tuple(rest), drift=self.drift)
            axes[k] = Axis(axis.stride, count)

    def cut(self, number: int, period: Period) -> Iterator[Group]:
        """The group with an axis cut into periods, and what is left of it."""
        axis = self.axes[number]
        whole = axis.count // period.warps
        before, behind = self.axes[:number], self.axes[number + 1 :]
        yield from self.without([a.count if a is not axis else whole * period.warps for a in self.axes])
        cut = Axis(axis.stride, period.warps), Axis(axis.stride * period.warps, whole)
        drift = Drift(cut[0].stride, cut[1].stride, period.drift) if period.drift else self.drift
        yield Group(self.last, (*before, *cut, *behind), drift=drift)


def groups(prepared: Prepared) -> list[Group]:
    """The blocks of a launch in groups: those that do the same, and those to be run.

    The launch is one that :func:`is_worth_a_look`.  Shared and local memory of its first worker are used.
    """
    first, end = prepared.launch.span
    looks = _Looks(prepared)
    waiting = list(_rows(first, end, prepared.launch.grid))
    found: list[Group] = []
    seen = 0
    while waiting and (len(found) < FEW or seen >= len(found) * SHORT):
        group = waiting.pop()
        reached = _reach(looks, group)
        if reached.period is not None:
            waiting += group.cut(reached.axis, reached.period)
            continue
        about = _drifting(looks, group, reached.counts)
        if about:
            reached = _Reached(about)
        axes = (Axis(axis.stride, count) for axis, count in zip(group.axes, reached.counts, strict=True))
        found.append(Group(group.last, tuple(axis for axis in axes if axis.count > 1), reached.like))
        waiting += group.without(reached.counts)
        seen += found[-1].blocks
    found += waiting
    left = sum(group.blocks // group.row for group in found if group.like is None)
    return found if left <= MOST_SPANS else [Group(end - 1, (Axis(1, end - first),))]


def is_worth_a_look(launch: Launch) -> bool:
    """Whether a launch is large enough, and its blocks depend on nothing but their numbers and memory."""
    first, end = launch.span
    free = launch.watch is None and launch.trace is False and parse_order(launch.order)[0] < L.INTERLEAVED
    return free and launch.chosen is None and end - first >= MANY_BLOCKS


def _rows(first: int, end: int, grid: tuple[int, int, int], level: int = 2) -> Iterator[Group]:
    """Blocks of a grid as groups along its axes: whole planes, whole rows, and what is left at both ends."""
    strides = (1, grid[0], grid[0] * grid[1])
    low, high = -(-first // strides[level]), end // strides[level]
    if low > high:
        yield from _rows(first, end, grid, level - 1)
    else:
        if level:
            yield from _rows(first, low * strides[level], grid, level - 1)
            yield from _rows(high * strides[level], end, grid, level - 1)
        if low < high:
            axes = *(Axis(strides[k], grid[k]) for k in range(level)), Axis(strides[level], high - low)
            yield Group(high * strides[level] - 1, tuple(axis for axis in axes if axis.count > 1))


class _Reached(NamedTuple):
    """How far the last block of a group stands for others, by axis, and what it does (None: they are to be run).

    ``period``: into what the axis is to be cut first.
    """

    counts: list[int]
    like: Work | None = None
    axis: int = 0
    period: Period | None = None


def _reach(looks: _Looks, group: Group) -> _Reached:
    """How far the blocks of a group do, or seem to do, the same as the last one."""
    counts = [axis.count for axis in group.axes]
    waiting = looks.bundles.copy()
    while waiting:
        bundle = waiting.pop()
        here = looks.at(group.last, bundle.first)
        box, numbers = _box(looks, group, bundle, here, counts)
        warps = box.counts[0]
        if warps < bundle.count:
            waiting.append(_Bundle(bundle.first + warps, bundle.count - warps))
        for j, k in enumerate(numbers, 1):
            period = box.period(j, group.axes[k].count)
            if period is not None and box.counts[j] < min(counts[k], period.warps) and len(group.axes) < MOST_AXES:
                return _Reached(counts, None, k, period)
        counts = [box.counts[1 + numbers.index(k)] if k in numbers else 1 for k in range(len(counts))]
        if not here.ends:
            return _Reached(counts)
    return _Reached(counts, looks.whole(group.last))


def _drifting(looks: _Looks, group: Group, counts: list[int]) -> list[int]:
    """How many blocks by axis lie about a place where paths change and that drifts; none if it is not for that reason
    that the last block stands for no more than *counts* others.
    """
    found = {axis.stride: k for k, axis in enumerate(group.axes)}
    if group.drift is None or group.drift.within not in found or group.drift.periods not in found:
        return []
    within, periods = found[group.drift.within], found[group.drift.periods]
    most = [axis.count for axis in group.axes]
    if counts[periods] == most[periods]:
        return []
    about = [*most[:within], min(group.drift.blocks, most[within]), *most[within + 1 :]]
    behind = list(group.without(about))
    beyond = _reach(looks, behind[0]) if behind else None
    return about if beyond is None or beyond.period or beyond.counts[periods] > counts[periods] else []


def _box(looks: _Looks, group: Group, bundle: _Bundle, here: Look, counts: list[int]) -> tuple[Box, list[int]]:
    """The warps that do as *here*, the first of a bundle of the group's last block: along the bundle, and along axes.

    Returns the axes of the box behind that of the bundle by their numbers; *counts*: how far it may go.
    """
    beside = {k: looks.at(group.last - group.axes[k].stride, bundle.first) for k, most in enumerate(counts) if most > 1}
    numbers = [k for k, look in beside.items() if same_path(here, look)]
    for most in (bundle.count, 1):
        next_warp = looks.at(group.last, bundle.first + 1) if most > 1 else here
        if not same_path(here, next_warp):
            continue
        box = Box(looks.steps, here, [next_warp, *(beside[k] for k in numbers)])
        box.grow(0, most)
        drifts = group.drift.periods if group.drift else 0  # first along these: the others leave no room to drift
        for k in sorted(numbers, key=lambda k: group.axes[k].stride != drifts):
            box.grow(1 + numbers.index(k), counts[k])
        if max(box.counts[1:], default=0) > 1:
            break  # else what changes from warp to warp stands in the way
    return box, numbers


@dataclass(frozen=True)
class _Bundle:
    """Warps of a block, all of whose threads exist, and whose indices change evenly; or a single warp."""

    first: int
    count: int


class _Looks:
    """Runs single warps of a launch, as far as they only compute, in the compiled engine."""

    def __init__(self, prepared: Prepared) -> None:
        self._state = state_arrays(prepared, 0, 0, np.zeros(1, np.int64))
        instructions = prepared.program.instructions
        self.ops = [MICRO_OPS[each.op] for each in instructions]
        self.steps = [Step(op, _ors(each), each.guard == PT) for op, each in zip(self.ops, instructions, strict=True)]
        self._everywhere = [each.uniform for each in instructions]
        self._code = prepared.encoded.code
        self._letters = [[letter == "r" for letter in op.operands] for op in self.ops]
        self._places: dict[tuple[int, int], Rows] = {}
        self._known = [_only_computes(op, int(row[L.C_IMM])) for op, row in zip(self.ops, self._code, strict=False)]
        self.bundles = list(_bundles(self._state.TID.reshape(-1, 3, 32), prepared.launch.threads_per_block))

    def at(self, block: int, w: int) -> Look:
        """What a warp of a block does, up to its end or to the first micro-op that does more than compute."""
        s = self._state
        s.LAUNCH[L.LAUNCH_STARTED] = 0
        registers = s.R.reshape(-1, 32)
        path: list[int] = []
        read: list[Rows] = []
        left: list[Rows] = []
        places: list[Rows] = []
        masks: list[int] = []
        status = self._go(block, 0)
        s.LAUNCH[L.LAUNCH_NEXT_WARP] = w
        while status == L.INTERRUPTED and s.LAUNCH[L.LAUNCH_NEXT_WARP] == w and len(path) < MOST_STEPS:
            split = w * 32 + int(s.WARPS[w * L.N_WARP + L.W_CURRENT])
            pc = int(s.SPLITS[split * L.N_SPLIT + L.S_PC])
            if not self._known[pc]:
                break
            rows = self._rows(w, pc)
            path.append(pc)
            places.append(rows)
            masks.append(FULL_MASK if self._everywhere[pc] else int(s.SPLITS[split * L.N_SPLIT + L.S_MASK]))
            read.append(registers[rows[1:]])
            status = self._go(block, 1)
            left.append(registers[rows[0]])
            if s.WARPS[w * L.N_WARP + L.W_SPLITS] == 0:
                return _look(path, read, left, places, masks, ends=True)
        return _look(path, read, left, places, masks, ends=False)

    def whole(self, block: int) -> Work | None:
        """What a block does that only computes; None if it does not end well."""
        s = self._state
        s.COUNTS[:] = 0
        s.LAUNCH[L.LAUNCH_STARTED] = 0
        if self._go(block, L.UNLIMITED) != L.DONE:
            return None
        longest = int(s.WARPS[L.W_RETIRED :: L.N_WARP].max())
        return Work(s.COUNTS.copy(), (int(s.LAUNCH[L.LAUNCH_EXECUTED]), 0, longest))

    def _go(self, block: int, steps: int) -> int:
        """Execute so many micro-ops of a block; see :func:`simt.machine.engine.run_blocks`."""
        self._state.LAUNCH[L.LAUNCH_LEFT] = steps
        return int(ENGINE.function(block, block + 1, self._state)[0])

    def _rows(self, w: int, pc: int) -> Rows:
        """The registers d, a, b and c of a micro-op, by their places in R; RZ for what is none."""
        if (w, pc) not in self._places:
            self._places[w, pc] = self._rows_of(w, pc)
        return self._places[w, pc]

    def _rows_of(self, w: int, pc: int) -> Rows:
        info = self._state.LAUNCH
        own, uniform_end = w * int(info[L.LAUNCH_REGISTERS]) * 32, int(info[L.LAUNCH_UNIFORM_END])
        found = []
        for column, is_row in zip((L.C_DST, L.C_A, L.C_B, L.C_C), self._letters[pc], strict=True):
            offset = int(self._code[pc, column]) if is_row else 0
            found.append(offset + own if offset >= uniform_end else offset)
        return np.array(found) // 32


def _look(
    path: list[int], read: list[Rows], left: list[Rows], places: list[Rows], masks: list[int], ends: bool
) -> Look:
    rows = np.array(read, np.int64).reshape(-1, 3, 32), np.array(left, np.int64).reshape(-1, 32)
    lanes = (np.array(masks, np.int64).reshape(-1, 1) >> np.arange(32) & 1).astype(np.bool_)
    return Look(np.array(path, np.int64), *rows, np.array(places, np.int64).reshape(-1, 4), lanes, ends)


def _ors(instruction: Instruction) -> bool:
    """Whether a micro-op ORs its operands."""
    return instruction.op == "or.b64" or (instruction.op == "lop3.b32" and instruction.imm == _OR_OF_THREE)


def _bundles(threads: Rows, count: int) -> Iterator[_Bundle]:
    """The warps of a block of *count* threads, whose indices are *threads*, by warp, axis and lane."""
    first = 0
    while first < len(threads):
        end = first + 1
        whole = count // 32
        while end < whole and (threads[end] - threads[end - 1] == threads[first + 1] - threads[first]).all():
            end += 1
        yield _Bundle(first, end - first)
        first = end


def _only_computes(op: MicroOp, imm: int) -> bool:
    """Whether a micro-op computes, jumps or ends, without a look at memory or at other warps or the time."""
    if op.name == "sreg":
        return SPECIAL_REGISTERS[imm] not in (*CLOCKS, "smid")
    if op.kind is Kind.CONTROL:
        return op.name in _WITHIN_A_WARP
    return op.kind in (Kind.ROW, Kind.MASK) and not op.effects & (Effect.CROSSES_LANES | Effect.FAILS)
