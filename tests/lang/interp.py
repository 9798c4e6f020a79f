"""A small reference executor of source-view Programs: one block, plain Python, lane by lane.

It is slow and does only what the tests of the front end need.  Each warp is a list of splits; a split is a
program counter and an active mask.  ``pick`` chooses which of the ready splits runs next, so any order can
be tried. Programs that misuse barriers raise AssertionError, and so do those that never end.

``counts`` and ``lanes`` are warp instructions and active lanes per listing line (what retires),
``executed`` all executions per micro-op.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from simt.ops.encoding import ATOMICS, SPECIAL_REGISTERS
from simt.ops.table import MICRO_OPS
from simt.program import Program
from tests.lang.arithmetic import (
    COMPARE,
    FLOAT,
    FULL,
    LANES,
    M64,
    SIGNED,
    UNSIGNED,
    f32,
    f32_bits,
    f64,
    f64_bits,
    powi,
    saturate,
    signed,
    to_integer,
)


class Split:
    """Lanes that share a program counter."""

    def __init__(self, pc: int, mask: int) -> None:
        self.pc = pc
        self.mask = mask
        self.waits: tuple[str, int] | None = None


class Warp:
    """The state of one warp; ``tids`` are the linear thread indices of its lanes."""

    def __init__(self, program: Program, mask: int) -> None:
        self.registers = [[0] * 32 for _ in range(program.n_registers)]
        self.predicates = [0] * program.n_predicates
        self.splits = [Split(0, mask)]
        self.exited = FULL & ~mask
        self.barriers = [[0] * 32 for _ in range(max(1, program.n_barriers))]


class Block:
    """One thread block and its memory."""

    def __init__(
        self,
        program: Program,
        block: Sequence[int],
        args: Sequence[Any],
        pick: Callable[[list[Split]], Split] | None = None,
        budget: int = 200_000,
    ) -> None:
        self.program, self.args, self.budget = program, args, budget
        self.dim = (*block, 1, 1)[:3]
        threads = math.prod(self.dim)
        self.warps = [Warp(program, FULL >> (32 - min(32, threads - first))) for first in range(0, threads, 32)]
        self.pick = pick or (lambda ready: ready[-1])
        self.counts: Counter[int] = Counter()
        self.lanes: Counter[int] = Counter()
        self.executed: Counter[int] = Counter()
        self._lay_out()
        for warp in self.warps:
            for uniform in program.uniforms:
                warp.registers[uniform.row] = [self._uniform(uniform)] * 32

    def _lay_out(self) -> None:
        """Every array is a segment [start, start + bytes) of a flat address space."""
        self.segments: list[tuple[int, np.ndarray, np.ndarray]] = []
        self.slots: dict[int, tuple[int, int]] = {}
        self.local: list[dict[int, int]] = []
        start = 1 << 20
        for ref in self.program.arrays:
            if ref.argument is not None:
                array = self.args[ref.argument]
            elif ref.data is not None:
                array = ref.data
            else:
                copies = 32 * len(self.warps) if ref.space.value == "local" else 1
                shape = (16,) if ref.shape == (-1,) else ref.shape
                array = np.zeros((copies, *(shape or ())), ref.dtype)
            view = array[0] if ref.argument is None and ref.data is None else array
            for axis in range(view.ndim):
                self.slots[ref.slot + axis] = (view.shape[axis], view.strides[axis])
            self.segments.append((start, view, array))
            start += 1 << 20

    def _uniform(self, uniform: Any) -> int:
        kind, value = uniform.kind, uniform.value
        if kind == "const":
            return value & M64
        if kind == "base":
            return self.segments[value][0]
        if kind == "shape":
            return int(self.segments[value][1].shape[uniform.axis])
        if kind == "stride":
            return int(self.segments[value][1].strides[uniform.axis]) & M64
        if kind == "size":
            return int(self.segments[value][1].size)
        scalar = np.asarray(self.args[value])
        if scalar.dtype == np.float32:
            return f32_bits(scalar)
        return f64_bits(float(scalar)) if scalar.dtype.kind == "f" else int(scalar) & M64

    # Running

    def run(self) -> Block:
        while any(warp.splits for warp in self.warps):
            moved = False
            for number, warp in enumerate(self.warps):
                ready = [split for split in warp.splits if split.waits is None]
                if ready:
                    self._step(number, warp, self.pick(ready))
                    moved = True
            if not moved:
                self._release_block()
            self.budget -= 1
            assert self.budget > 0, "the program does not end"
        return self

    def _release_block(self) -> None:
        """All splits wait: __syncthreads lets go if every one of them waits there, at one micro-op."""
        splits = [split for warp in self.warps for split in warp.splits]
        assert all(split.waits == ("bar", 0) for split in splits), "deadlock"
        for warp in self.warps:
            assert len({split.pc for split in warp.splits}) <= 1, "__syncthreads at different places"
            _merge_all(warp)

    def _step(self, number: int, warp: Warp, split: Split) -> None:
        instruction = self.program.instructions[split.pc]
        execute = self._predicate(warp, instruction.guard) & split.mask
        self.executed[split.pc] += 1
        if instruction.retires:
            self.counts[instruction.line] += 1
            self.lanes[instruction.line] += split.mask.bit_count()
        if MICRO_OPS[instruction.op].family.value == "control":
            self._control(warp, split, instruction, execute)
            return
        split.pc += 1
        self._execute(number, warp, split, instruction, execute)

    def _predicate(self, warp: Warp, operand: int) -> int:
        mask = FULL if operand >> 1 == 0 else warp.predicates[operand >> 1]
        return mask ^ FULL if operand & 1 else mask

    # Control

    def _control(self, warp: Warp, split: Split, i: Any, execute: int) -> None:
        op = i.op
        if op == "bra":
            taken = self._predicate(warp, i.a) & execute
            stay = split.mask & ~taken
            split.pc += 1
            if taken and stay:
                split.mask = stay
                warp.splits.insert(warp.splits.index(split), Split(i.imm, taken))
            elif taken:
                split.pc = i.imm
        elif op == "exit":
            warp.exited |= execute
            split.mask &= ~execute
            split.pc += 1
            if not split.mask:
                warp.splits.remove(split)
            self._wake(warp)
        elif op == "bssy":
            for lane in LANES:
                if split.mask >> lane & 1:
                    warp.barriers[i.imm][lane] = split.mask
            split.pc += 1
        elif op == "break":
            for lane in LANES:
                warp.barriers[i.imm][lane] &= ~split.mask
            split.pc += 1
            self._wake(warp)
        elif op in ("bsync", "warpsync"):
            split.waits = (op, -i.mod or split.pc)  # those with a mode meet wherever they are
            self._try(warp, split)
        elif op == "bar.sync":
            split.waits = ("bar", 0)
        elif op in ("nop",):
            split.pc += 1
        else:
            raise AssertionError(f"{op} is not done here")

    def _wanted(self, warp: Warp, split: Split) -> int:
        """The lanes that *split* waits for."""
        i = self.program.instructions[split.pc]
        wanted = 0
        for lane in LANES:
            if split.mask >> lane & 1:
                lanes = warp.registers[i.a][lane] if i.op == "warpsync" else warp.barriers[i.imm][lane]
                assert lanes >> lane & 1, "a lane waits at a barrier that it is not part of"
                wanted |= lanes
        return wanted & ~warp.exited

    def _try(self, warp: Warp, split: Split) -> None:
        """Let the lanes that *split* waits for go on together, if all of them wait at the same micro-op."""
        wanted = self._wanted(warp, split)
        here = [other for other in warp.splits if other.waits == split.waits and other.mask & wanted]
        mask = 0
        for other in here:
            mask |= other.mask
        if wanted & ~mask:
            return
        for other in here:
            warp.splits.remove(other)
        for pc in sorted({other.pc for other in here}):
            warp.splits.append(Split(pc + 1, sum(other.mask for other in here if other.pc == pc)))

    def _wake(self, warp: Warp) -> None:
        for split in list(warp.splits):
            if split in warp.splits and split.waits is not None and split.waits[0] in ("bsync", "warpsync"):
                self._try(warp, split)

    # Data

    def _execute(self, number: int, warp: Warp, split: Split, i: Any, execute: int) -> None:
        lanes = [lane for lane in LANES if execute >> lane & 1]
        name, _, kind = i.op.partition(".")
        family = MICRO_OPS[i.op].family.value
        r = warp.registers
        if family == "warp":
            self._warp_op(number, warp, i, execute, lanes)
            return
        for lane in lanes:
            a, b, c = r[i.a][lane] if i.a < len(r) else 0, 0, 0
            b = r[i.b][lane] if i.b < len(r) else 0
            c = r[i.c][lane] if i.c < len(r) else 0
            if family == "predicate":
                p = [self._predicate(warp, operand) >> lane & 1 for operand in (i.a, i.b, i.c)]
                self._set(warp, i.dst, lane, i.imm >> (4 * p[0] + 2 * p[1] + p[2]) & 1)
            elif family == "compare":
                self._set(warp, i.dst, lane, self._compare(name, kind, a, b))
            elif i.op == "selp":
                self._write(warp, i.dst, lane, a if self._predicate(warp, i.c) >> lane & 1 else b)
            elif i.op == "index":
                size, stride = self.slots[i.imm]
                at = signed(b)
                at += size if at < 0 and i.mod else 0
                assert 0 <= at < size, f"index {at} of {size}"
                self._write(warp, i.dst, lane, a + at * stride)
            elif family == "memory":
                self._memory(number, warp, i, lane, a, b, c)
            elif i.op in SIGNED or i.op in UNSIGNED:
                arity = MICRO_OPS[i.op].operands.rstrip("-").count("r") - 1
                values = (a, b, c)[:arity]
                if i.op in SIGNED:
                    value = SIGNED[i.op](*(signed(v) for v in values))
                else:
                    value = UNSIGNED[i.op](*values)
                self._write(warp, i.dst, lane, value)
            elif i.op == "cvt.int.f64":
                self._write(warp, i.dst, lane, to_integer(f64(a), i.imm))
            elif name == "powi":
                read, bits = (f32, f32_bits) if kind == "f32" else (lambda v: np.float64(f64(v)), f64_bits)
                with np.errstate(all="ignore"):
                    self._write(warp, i.dst, lane, bits(powi(read(a), signed(b))))
            elif name == "cvt":
                self._write(warp, i.dst, lane, self._convert(kind, a))
            else:
                self._write(warp, i.dst, lane, self._float(name, kind, a, b, c, i.op))

    def _float(self, name: str, kind: str, a: int, b: int, c: int, op: str) -> int:
        read, bits = (f32, f32_bits) if kind == "f32" else (lambda v: np.float64(f64(v)), f64_bits)
        with np.errstate(all="ignore"):
            if name == "fma":
                return bits(read(a) * read(b) + read(c))
            arity = MICRO_OPS[op].operands.rstrip("-").count("r") - 1
            return bits(FLOAT[name](*(read(v) for v in (a, b)[:arity])))

    def _convert(self, kind: str, a: int) -> int:
        target, _, source = kind.partition(".")
        number: Any = {"f64": f64, "f32": f32, "s64": signed, "u64": int}[source](a)
        if target == "f64":
            return f64_bits(float(number))
        if target == "f32":
            with np.errstate(all="ignore"):
                return f32_bits(np.float32(number))
        return saturate(float(number), int(target[1:]), target[0] == "s") & M64

    def _compare(self, name: str, kind: str, a: int, b: int) -> int:
        read: Any = {"s64": signed, "u64": int, "f64": f64, "f32": f32}[kind]
        if name == "isinf":
            return int(math.isinf(read(a)))
        return int(COMPARE[name](read(a), read(b)))

    def _memory(self, number: int, warp: Warp, i: Any, lane: int, a: int, b: int, c: int) -> None:
        segment = next(s for s in self.segments if s[0] <= a < s[0] + (1 << 20))
        start, view, backing = segment
        if backing is not view and len(backing) > 1:
            view = backing[number * 32 + lane]
        base = _owner(view)
        first = view.__array_interface__["data"][0] - base.__array_interface__["data"][0]
        cell = np.ndarray((), view.dtype, buffer=base.data, offset=a - start + first)
        old = _bits(cell)
        if i.op.startswith("ld."):
            self._write(warp, i.dst, lane, old)
        elif i.op.startswith("st."):
            cell[...] = _from_bits(b, view.dtype)
        else:
            new = _atomic(ATOMICS[i.mod >> 4], _from_bits(old, view.dtype), _from_bits(b, view.dtype), c)
            cell[...] = new
            self._write(warp, i.dst, lane, old)

    def _warp_op(self, number: int, warp: Warp, i: Any, execute: int, lanes: list[int]) -> None:
        r = warp.registers
        votes = MICRO_OPS[i.op].operands[1] == "p"
        a = [] if votes else list(r[i.a])
        p = self._predicate(warp, i.a) & execute if votes else 0
        for lane in lanes:
            if i.op == "sreg":
                self._write(warp, i.dst, lane, self._special(SPECIAL_REGISTERS[i.imm], number * 32 + lane))
            elif i.op.startswith("shfl"):
                step = signed(r[i.b][lane])
                source = {
                    "shfl.idx": step & 31, "shfl.up": lane - step,
                    "shfl.down": lane + step, "shfl.bfly": lane ^ step,
                }[i.op]  # fmt: skip
                self._write(warp, i.dst, lane, a[source] if 0 <= source < 32 else a[lane])
            elif i.op == "ballot":
                self._write(warp, i.dst, lane, p)
            elif i.op == "activemask":
                self._write(warp, i.dst, lane, execute)
            elif i.op.startswith("vote"):
                result = {"all": p == execute, "any": p != 0, "eq": p in (0, execute)}[i.op[5:]]
                self._set(warp, i.dst, lane, int(result))
            elif i.op.startswith("match"):
                same = sum(1 << other for other in lanes if a[other] == a[lane])
                everywhere = same == execute
                if i.op == "match.all":
                    self._set(warp, i.mod, lane, int(everywhere))
                self._write(warp, i.dst, lane, same if everywhere or i.op == "match.any" else 0)
            else:
                raise AssertionError(f"{i.op} is not done here")

    def _special(self, name: str, thread: int) -> int:
        x, y, _ = self.dim
        tid = {"x": thread % x, "y": thread // x % y, "z": thread // x // y}
        base, _, axis = name.partition(".")
        if base == "tid":
            return tid[axis]
        if base == "ntid":
            return self.dim["xyz".index(axis)]
        lane = thread % 32
        return {"ctaid": 0, "nctaid": 1, "laneid": lane, "lanemask_lt": (1 << lane) - 1}[base]

    def _write(self, warp: Warp, row: int, lane: int, value: int) -> None:
        if row:
            warp.registers[row][lane] = value & M64

    def _set(self, warp: Warp, index: int, lane: int, value: int) -> None:
        if index:
            warp.predicates[index] = warp.predicates[index] & ~(1 << lane) | value << lane


def _merge_all(warp: Warp) -> None:
    """Everybody has arrived at one ``bar.sync``: the splits go on as one."""
    if warp.splits:
        mask = 0
        for split in warp.splits:
            mask |= split.mask
        warp.splits = [Split(warp.splits[0].pc + 1, mask)]


def _owner(view: np.ndarray) -> np.ndarray:
    """The contiguous array whose memory *view* shows, as bytes."""
    base = view
    while isinstance(base.base, np.ndarray):
        base = base.base
    return base.reshape(-1, order="A").view(np.uint8)


def _bits(cell: np.ndarray) -> int:
    value = cell[()]
    if value.dtype == np.float32:
        return f32_bits(value)
    return f64_bits(float(value)) if value.dtype.kind == "f" else int(value) & M64


def _from_bits(bits: int, dtype: np.dtype) -> Any:
    if dtype == np.float32:
        return f32(bits)
    if dtype.kind == "f":
        return np.float64(f64(bits))
    if dtype.kind == "b":
        return np.bool_(bits & 1)
    return np.array(bits & M64, np.uint64).astype(dtype)[()]


def _atomic(name: str, old: Any, value: Any, compare: int) -> Any:
    with np.errstate(all="ignore"):
        match name:
            case "add":
                return old + value
            case "sub":
                return old - value
            case "max":
                return max(old, value)
            case "min":
                return min(old, value)
            case "and":
                return old & value
            case "or":
                return old | value
            case "xor":
                return old ^ value
            case "exch":
                return value
            case "cas":
                return value if old == _from_bits(compare, old.dtype) else old
            case "inc":
                return type(old)(0) if old >= value else old + type(old)(1)
    raise AssertionError(f"atomic {name} is not done here")
