"""Happens-before of racecheck against full vector clocks, on Programs of steps by single threads of two blocks."""

from __future__ import annotations

from collections import defaultdict
from dataclasses import dataclass

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from simt.check import RaceError
from simt.ops.encoding import ATOMIC_TYPES, ATOMICS, FENCE, SCOPES
from simt.program import pred
from simt.sanitizer.sanitizer import Sanitizer
from tests.machine.harness import Builder, launch, type_number

BLOCK, BLOCKS, WORDS = 64, 2, 3
MASKS = (0xFFFFFFFF, 0x3, 0x80000001, 0xFFFFFFFE)

Clock = dict[tuple[int, int], int]


@dataclass(frozen=True)
class Step:
    """What one thread of one block does (``ld``, ``st``, ``atom`` on a word; ``fence`` of a scope), or all of a block.

    ``syncwarp``: the lanes of a mask, in both warps.
    """

    kind: str
    block: int = 0
    thread: int = 0
    word: int = 0
    scope: str = "device"
    mask: int = 0xFFFFFFFF


def program(steps: list[Step]) -> Builder:
    """The steps one after the other, each in its block; no two stores leave the same value."""
    b = Builder()
    base = b.array(0, "uint32")
    block, thread, lane = b.special("ctaid.x"), b.special("tid.x"), b.special("laneid")
    u32 = type_number("u32")
    for number, step in enumerate(steps, 1):
        here = pred(b.value("eq.s64", block, b.const(step.block)))
        if step.kind == "syncthreads":
            b.bra(f"skip{number}", here ^ 1)
            b.emit("bar.sync")
            b.label(f"skip{number}")
            continue
        if step.kind == "syncwarp":
            named = b.value("and.b64", b.value("shr.u64", b.const(step.mask), lane), b.const(1))
            wanted = b.value("add.s64", b.value("mul.s64", block, b.const(2)), named)
            guard = pred(b.value("eq.s64", wanted, b.const(2 * step.block + 1)))
            b.emit("warpsync", a=b.const(step.mask), guard=guard)
            continue
        who = b.value("add.s64", b.value("mul.s64", block, b.const(BLOCK)), thread)
        guard = pred(b.value("eq.s64", who, b.const(step.block * BLOCK + step.thread)))
        address = b.value("add.s64", base, b.const(4 * step.word))
        if step.kind == "ld":
            b.emit("ld.global", b.reg(), address, mod=u32, guard=guard)
        elif step.kind == "st":
            b.emit("st.global", a=address, b=b.const(1000 * number), mod=u32, guard=guard)
        elif step.kind == "fence":
            b.emit("nop", mod=FENCE, imm=SCOPES.index(step.scope), guard=guard)
        else:
            mod = ATOMICS.index("add") << 4 | ATOMIC_TYPES.index("u32")
            b.emit("atom.global", b.reg(), address, b.const(1), mod=mod, guard=guard)
    return b


def join(into: Clock, other: Clock) -> None:
    """Make one clock know what the other knows."""
    for key, time in other.items():
        into[key] = max(into.get(key, 0), time)


class Model:
    """Vector clocks of all threads, entry by entry."""

    def __init__(self) -> None:
        self.clocks: dict[tuple[int, int], Clock] = defaultdict(dict)
        self.published: dict[tuple[int, int], tuple[Clock, Clock]] = defaultdict(lambda: ({}, {}))
        self.left: dict[tuple[int, int], Clock] = defaultdict(dict)  # by word and block; block -1: for all
        self.accesses: dict[int, list[tuple[tuple[int, int], int, str]]] = defaultdict(list)
        self.races = False
        self.steps = 0
        self.fenced: dict[tuple[int, int], list[int]] = defaultdict(lambda: [0, 0])  # when: for the block, for all
        self.accessed: dict[tuple[int, int], int] = defaultdict(int)  # by block and warp: when

    def meet(self, threads: list[tuple[int, int]]) -> None:
        """Threads meet: all know what each of them knows, and what was published is so for all."""
        known: Clock = {}
        published: tuple[Clock, Clock] = ({}, {})
        for thread in threads:
            join(known, self.clocks[thread])
            for k in range(2):
                join(published[k], self.published[thread][k])
        for thread in threads:
            self.clocks[thread] = dict(known)
            self.published[thread] = (dict(published[0]), dict(published[1]))

    def do(self, step: Step) -> None:
        """One step."""
        if step.kind == "syncthreads":
            return self.meet([(step.block, t) for t in range(BLOCK)])
        if step.kind == "syncwarp":
            lanes = [lane for lane in range(32) if step.mask >> lane & 1]
            for warp in range(BLOCK // 32):
                self.meet([(step.block, warp * 32 + lane) for lane in lanes])
            return None
        me = (step.block, step.thread)
        self.steps += 1
        clock = self.clocks[me]
        clock[me] = clock.get(me, 0) + 1
        if step.kind == "fence":
            for k in range(1 if step.scope == "block" else 2):
                join(self.published[me][k], clock)
                self.fenced[me][k] = self.steps
            return None
        for other, time, kind in self.accesses[step.word]:
            harmless = kind == step.kind == "ld" or kind == step.kind == "atom"
            if other != me and not harmless and clock.get(other, 0) < time:
                self.races = True
        self.accesses[step.word].append((me, clock[me], step.kind))
        if step.kind == "atom":
            for block in (step.block, -1):
                join(clock, self.left[step.word, block])
            for k, block in enumerate((step.block, -1)):
                join(self.left[step.word, block], self.published[me][k])
                if self.fenced[me][k] > self.accessed[step.block, step.thread // 32]:
                    join(self.left[step.word, block], {me: clock[me]})
        self.accessed[step.block, step.thread // 32] = self.steps
        return None


def races(steps: list[Step]) -> bool:
    """Whether two accesses race; blocks run one after the other."""
    model = Model()
    for block in range(BLOCKS):
        for step in steps:
            if step.block == block:
                model.do(step)
    return model.races


THREADS = st.sampled_from([0, 1, 31, 32, 40])
NUMBERS = st.integers(0, BLOCKS - 1)
STEPS = st.lists(
    st.one_of(
        st.builds(Step, st.sampled_from(["ld", "st", "atom", "atom"]), NUMBERS, THREADS, st.integers(0, WORDS - 1)),
        st.builds(Step, st.just("fence"), NUMBERS, THREADS, scope=st.sampled_from(["block", "device", "system"])),
        st.builds(Step, st.just("syncthreads"), NUMBERS),
        st.builds(Step, st.just("syncwarp"), NUMBERS, mask=st.sampled_from(MASKS)),
    ),
    min_size=3,
    max_size=14,
)


def found(steps: list[Step]) -> bool:
    """Whether racecheck finds a race."""
    try:
        launch(program(steps), np.zeros(WORDS, np.uint32), grid=BLOCKS, block=BLOCK, watch=Sanitizer(["racecheck"]))
    except RaceError:
        return True
    return False


@settings(max_examples=200)
@given(steps=STEPS)
def test_racecheck_orders_what_vector_clocks_order(steps: list[Step]) -> None:
    assert found(steps) == races(steps)


@pytest.mark.parametrize("scope", ["block", "device"])
@pytest.mark.parametrize("block", [0, 1])
def test_a_fence_publishes_within_its_scope(scope: str, block: int) -> None:
    reader = 40 if block == 0 else 0
    steps = [
        Step("st", 0, 0, 0),
        Step("fence", 0, 0, scope=scope),
        Step("atom", 0, 0, 1),
        Step("atom", block, reader, 1),
        Step("ld", block, reader, 0),
    ]
    expected = block == 1 and scope == "block"
    assert races(steps) == expected
    assert found(steps) == expected


@pytest.mark.parametrize("scope", ["", "block", "device"])
@pytest.mark.parametrize("block", [0, 1])
def test_who_reads_an_atomic_behind_a_fence_comes_after_it(scope: str, block: int) -> None:
    """The last block, or warp, sets the counter back with a plain store."""
    fence = [Step("fence", 0, 0, scope=scope)] if scope else []
    steps = [*fence, Step("atom", 0, 0, 1), Step("atom", block, 40, 1), Step("st", block, 40, 1)]
    assert races(steps) == found(steps) == (not scope or (block == 1 and scope == "block"))


def test_but_not_after_what_its_thread_did_then() -> None:
    steps = [
        Step("fence", 0, 0),
        Step("atom", 0, 0, 1),
        Step("st", 0, 0, 0),
        Step("atom", 1, 0, 1),
        Step("ld", 1, 0, 0),
    ]
    assert races(steps)
    assert found(steps)
