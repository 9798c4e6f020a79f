"""Blocks that do the same: ranges of a large grid in which one block stands for all, by proof.

A block that neither touches memory nor waits for other warps is a function of its number alone.  :class:`_Looks` runs
single blocks micro-op by micro-op and keeps what each reads and leaves.  From a block, its neighbour and a far one
:class:`_Steps` proves that all blocks between take the same path, so that each counts the same, by induction over the
micro-ops of that path.  Each register is a linear function of the block's number, lane by lane:

* A micro-op whose operands do not change from block to block leaves the same in all of them.
* Of LINEAR ones the result is linear modulo 2**w, and within one range of that size.  If its three values lie on a line
  in that range, all between lie on it, too: it wraps nowhere.
* Of MONOTONE ones the result never falls, or never rises: what is equal at both ends is equal in between.
* Comparisons: the difference of two lines has one sign in between if it has it at both ends.

Any other case ends the proof, and the blocks are run.  So predicates, and with them branches and lanes, are the same in
all of them.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from simt.machine import layout as L
from simt.machine.early import ENGINE
from simt.machine.launch import Launch, parse_order
from simt.machine.prepare import state_arrays
from simt.machine.prepared import Prepared
from simt.ops.encoding import SPECIAL_REGISTERS
from simt.ops.table import MICRO_OPS, Effect, Kind, MicroOp

Rows = npt.NDArray[np.int64]

MANY_BLOCKS = 1 << 18
"""A launch of at least so many is looked at: fewer run in less time than the look may take."""

MOST_STEPS = 2048
"""How many micro-ops of a block are looked at."""

FEW, SHORT = 16, 1 << 12
"""The search ends where FEW ranges or more have so far been shorter than SHORT blocks on average."""

LINEAR = frozenset((
    "mov", "selp", "add.s64", "sub.s64", "mul.s64", "mad.s64", "neg.s64", "not.b64", "shl.b64", "pack.b64", "add.u32",
    "add3.u32", "sub.u32", "mad.u32", "shl.b32", "cvt.s8", "cvt.s16", "cvt.s32", "cvt.u8", "cvt.u16", "cvt.u32",
))  # fmt: skip
"""Linear in their operands modulo 2**w, w the bits of the result; one factor, or how far to shift, has to be fixed."""
_FIXED = {"shl.b64": (1,), "shl.b32": (1,), "shr.s64": (1,), "shr.u64": (1,), "shr.s32": (1,)}
"""Operands that have to be fixed."""
_FACTORS = frozenset(("mul.s64", "mad.s64", "mad.u32"))

MONOTONE = frozenset(("high.b64", "shr.s64", "shr.u64", "shr.s32"))
"""Those of one operand.  If the results at both ends are equal, it stays on one side of where its sign changes."""

COMPARISONS = frozenset(("eq.s64", "ne.s64", "lt.s64", "le.s64", "lt.s32", "le.s32", "lt.u64", "le.u64"))

_WITHIN_A_WARP = frozenset(("nop", "bra", "bssy", "bsync", "break", "exit"))

_LOWEST, _HIGHEST = -(1 << 61), 1 << 61
"""Where proofs reckon: sums and differences of such numbers fit into 64 bits."""
_FAR = float(_HIGHEST)
_TOO_FAR = np.int64((1 << 63) - 1)
"""In the place of unsigned numbers from 2**63 on: further than a proof goes."""


@dataclass(frozen=True)
class Look:
    """What a block did: for each micro-op *k* that it executed, ``path[k]`` (warp and micro-op), the rows that it read,
    int64 [k, 3, 32], and the row that it left, int64 [k, 32], in all lanes.

    ``ends``: it came to its end; else the path leads to a micro-op of which nothing is known.  ``counts``: its
    counters.
    """

    path: Rows
    read: Rows
    left: Rows
    ends: bool
    counts: Rows
    work: tuple[int, int, int]
    """Its row of :attr:`simt.machine.RunResult.work`."""


class Range(NamedTuple):
    """Blocks *first* to *end* - 1; *like*: what each of them does, None where they have to be run."""

    first: int
    end: int
    like: Look | None


def ranges(prepared: Prepared) -> Iterator[Range]:
    """The blocks of a launch, from the last one down, in ranges: those that do the same, and those to be run.

    The launch is one that :func:`is_worth_a_look`.  Shared and local memory of its first worker are used.
    """
    launch = prepared.launch
    lowest, highest = launch.span
    end, found = highest, 0
    looks = _Looks(prepared)
    row = launch.grid[0]
    while end > lowest and (found < FEW or highest - end >= found * SHORT):
        start = max(lowest, (end - 1) // row * row)  # blockIdx.y and z are the same from here on
        first, look = _reach(looks, start, end - 1)
        yield Range(first, end, look)
        end = first
        found += 1
    if end > lowest:
        yield Range(lowest, end, None)


def is_worth_a_look(launch: Launch) -> bool:
    """Whether a launch is large enough, and its blocks depend on nothing but their numbers and memory."""
    first, end = launch.span
    free = launch.watch is None and launch.trace is False and parse_order(launch.order)[0] < L.INTERLEAVED
    return free and end - first >= MANY_BLOCKS


def _reach(looks: _Looks, start: int, last: int) -> tuple[int, Look | None]:
    """The first block, not before *start*, of those up to *last* that seem to do the same; what they do if they do."""
    if last == start:
        return start, None
    here, before = looks.at(last), looks.at(last - 1)
    if not _same_path(here, before):
        return last, None
    steps = _Steps(looks.ops, here, before)
    reach = steps.reach(last - start)
    first = last - reach
    if not here.ends:
        return first, None
    if reach == 0:
        return last, None
    far = looks.at(first)
    return (first, here) if _same_path(here, far) and steps.hold(far, reach) else (last - 1, None)


def _same_path(one: Look, other: Look) -> bool:
    return np.array_equal(one.path, other.path) and one.ends == other.ends


class _Steps:
    """The micro-ops of a path that two neighbours take, of which *here* has the higher number."""

    def __init__(self, ops: Sequence[MicroOp], here: Look, before: Look) -> None:
        self._steps = [(ops[pc], k) for k, (_, pc) in enumerate(here.path.tolist())]
        self._here, self._before = here, before
        self._moving = here.read != before.read
        self._moves: list[list[bool]] = self._moving.any(axis=2).tolist()
        """By step: whether each operand changes from block to block in any lane."""

    def hold(self, far: Look, distance: int) -> bool:
        """Whether all blocks between take this path, as the neighbours and *far*, *distance* before *here*, do."""
        for op, k in self._steps:
            looks = (self._here, self._before, far)
            if op.name == "sreg":
                if not _on_a_line([look.left[k] for look in looks], distance):
                    return False
                continue
            moving = [i for i in range(3) if self._moves[k][i]]
            if not moving:
                continue
            seen = [[_as_read(op, i, look.read[k, i]) for look in looks] for i in range(3)]
            if not self._known(op, k) or not all(_on_a_line(seen[i], distance) for i in moving):
                return False
            if op.name in LINEAR:
                good = _on_a_line([look.left[k] for look in looks], distance)
            elif op.name in MONOTONE:
                good = bool((self._here.left[k] == far.left[k])[self._moving[k, 0]].all())
            else:
                a, b = seen[0], seen[1]
                near = max(np.abs(each.astype(np.float64)).max() for each in (a[0], a[2], b[0], b[2])) < _FAR
                good = near and bool((np.sign(a[0] - b[0]) == np.sign(a[2] - b[2])).all())
            if not good:
                return False
        return True

    def _known(self, op: MicroOp, k: int) -> bool:
        """Whether a micro-op with operands that change is one of those that proofs know."""
        if op.name not in LINEAR and op.name not in MONOTONE and op.name not in COMPARISONS:
            return False
        if any(self._moves[k][i] for i in _FIXED.get(op.name, ())):
            return False
        return not (op.name in _FACTORS and (self._moving[k, 0] & self._moving[k, 1]).any())

    def reach(self, most: int) -> int:
        """For how many blocks further down the path seems to be the same, *most* at most; :meth:`hold` proves it."""
        found = most
        for op, k in self._steps:
            if op.name != "sreg" and not any(self._moves[k]):
                continue
            if op.name != "sreg" and not self._known(op, k):
                return 0
            a, b = (_as_read(op, i, self._here.read[k, i]) for i in (0, 1))
            left = self._here.left[k]
            if op.name in COMPARISONS:
                value = a - b
                step = value - (_as_read(op, 0, self._before.read[k, 0]) - _as_read(op, 1, self._before.read[k, 1]))
                low, high = np.where(value > 0, 1, _LOWEST), np.where(value < 0, -1, _HIGHEST)
                low, high = np.where(value == 0, 0, low), np.where(value == 0, 0, high)
            elif op.name in MONOTONE:
                value, step = a, a - _as_read(op, 0, self._before.read[k, 0])
                shift = 32 if op.name == "high.b64" else np.clip(b, 0, 62)
                low = value >> shift << shift
                high = low + (np.int64(1) << shift) - 1
            else:
                value, step = left, left - self._before.left[k]
                low, high = (np.full(32, bound) for bound in _window(op))
            room = np.where(step > 0, value - low, high - value)
            blocks = room[step != 0] // np.abs(step[step != 0])
            if len(blocks):
                found = min(found, max(int(blocks.min()), 0))
        return found


def _window(op: MicroOp) -> tuple[int, int]:
    """Where the results of a micro-op lie; of 64 bits, where this module reckons."""
    bits = int(op.name.rpartition(".")[2][1:]) if op.name.startswith("cvt.") else 32
    if op.name.startswith("cvt.s"):
        return -(1 << (bits - 1)), (1 << (bits - 1)) - 1
    narrow = op.name.startswith("cvt.u") or (op.lane is not None and op.lane.__annotations__["return"] == "U32")
    return (0, (1 << bits) - 1) if narrow else (_LOWEST, _HIGHEST)


def _as_read(op: MicroOp, number: int, row: Rows) -> Rows:
    """An operand as the micro-op's lane function sees it; 64 unsigned bits as signed ones, which agree up to 2**63."""
    names = list(op.lane.__annotations__.values()) if op.lane is not None else []
    seen = names[number] if number < len(names) - 1 else ""
    if seen == "S32":
        return row.astype(np.int32).astype(np.int64)
    if seen == "U32":
        return row & 0xFFFFFFFF
    return np.where(row < 0, _TOO_FAR, row) if seen == "U64" else row


def _on_a_line(values_of: Sequence[Rows], distance: int) -> bool:
    """Whether values of a block, of its neighbour, and of one *distance* before it, go on as the first two do."""
    here, before, far = values_of
    step = here - before
    for values in (here, before, far, step):
        if np.abs(values.astype(np.float64)).max() >= _FAR:
            return False
    if np.abs(step.astype(np.float64)).max() * distance >= _FAR:
        return False
    return bool((here - step * distance == far).all())


class _Looks:
    """Runs single blocks of a launch, as far as they only compute, in the compiled engine."""

    def __init__(self, prepared: Prepared) -> None:
        self._state = state_arrays(prepared, 0, 0, np.zeros(1, np.int64))
        self.ops = [MICRO_OPS[instruction.op] for instruction in prepared.program.instructions]
        self._code = prepared.encoded.code
        self._letters = [[letter == "r" for letter in op.operands] for op in self.ops]
        self._places: dict[tuple[int, int], Rows] = {}
        self._known = [_only_computes(op, int(row[L.C_IMM])) for op, row in zip(self.ops, self._code, strict=False)]

    def at(self, block: int) -> Look:
        """What a block does, up to its end or to the first micro-op that does more than compute."""
        s = self._state
        s.COUNTS[:] = 0
        s.LAUNCH[L.LAUNCH_STARTED] = 0
        registers = s.R.reshape(-1, 32)
        path: list[tuple[int, int]] = []
        read: list[Rows] = []
        left: list[Rows] = []
        ends = self._go(block, 0)
        while ends is False and len(path) < MOST_STEPS:
            w, pc = self._next()
            if not self._known[pc]:
                break
            rows = self._rows(w, pc)
            path.append((w, pc))
            read.append(registers[rows[1:]])
            ends = self._go(block, 1)
            left.append(registers[rows[0]].copy())
        return Look(
            np.array(path, np.int64).reshape(-1, 2),
            np.array(read, np.int64).reshape(-1, 3, 32),
            np.array(left, np.int64).reshape(-1, 32),
            ends is True,
            s.COUNTS.copy(),
            (int(s.LAUNCH[L.LAUNCH_EXECUTED]), 0, int(s.WARPS[L.W_RETIRED :: L.N_WARP].max())),
        )

    def _go(self, block: int, steps: int) -> bool | None:
        """Execute so many micro-ops of a block; whether that was its end, None where it went wrong."""
        s = self._state
        s.LAUNCH[L.LAUNCH_LEFT] = steps
        status, _ = ENGINE.function(block, block + 1, s)
        return {L.DONE: True, L.INTERRUPTED: False}.get(status)

    def _next(self) -> tuple[int, int]:
        """The warp that runs next, and its micro-op."""
        s = self._state
        w = int(s.LAUNCH[L.LAUNCH_NEXT_WARP])
        split = w * 32 + int(s.WARPS[w * L.N_WARP + L.W_CURRENT])
        return w, int(s.SPLITS[split * L.N_SPLIT + L.S_PC])

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


def _only_computes(op: MicroOp, imm: int) -> bool:
    """Whether a micro-op computes, jumps or ends, without a look at memory or at other warps or the time."""
    if op.name == "sreg":
        return SPECIAL_REGISTERS[imm] not in ("clock", "globaltimer", "smid")
    if op.kind is Kind.CONTROL:
        return op.name in _WITHIN_A_WARP
    return op.kind in (Kind.ROW, Kind.MASK) and not op.effects & (Effect.CROSSES_LANES | Effect.FAILS)
