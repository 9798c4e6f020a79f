"""Racecheck against its rules, on Programs of single accesses by single threads."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from simt.check import RaceError
from simt.ops.encoding import ATOMIC_TYPES, ATOMICS, MEMORY_TYPES
from simt.program import pred
from simt.sanitizer.sanitizer import Sanitizer
from tests.machine.harness import Builder, launch, type_number

BLOCK = 64
WORDS = 3


def racecheck() -> Sanitizer:
    """A watch for one launch."""
    return Sanitizer(["racecheck"])


@dataclass(frozen=True)
class Step:
    """What one thread does to one word, and what all threads do then."""

    thread: int
    kind: str
    word: int
    then: str

    @property
    def writes(self) -> bool:
        return self.kind != "ld"


def program(steps: list[Step], space: str) -> Builder:
    """One thread after another accesses a word of 4 bytes; no two leave the same value."""
    b = Builder()
    base = b.array(0, "uint32") if space == "global" else b.const(0)
    b.shared_bytes = 4 * WORDS
    thread = b.special("tid.x")
    u32 = type_number("u32")
    for number, step in enumerate(steps, 1):
        guard = pred(b.value("eq.s64", thread, b.const(step.thread)))
        address = b.value("add.s64", base, b.const(4 * step.word))
        if step.kind == "ld":
            b.emit(f"ld.{space}", b.reg(), address, mod=u32, guard=guard)
        elif step.kind == "st":
            b.emit(f"st.{space}", a=address, b=b.const(1000 * number), mod=u32, guard=guard)
        else:
            mod = ATOMICS.index("add") << 4 | ATOMIC_TYPES.index("u32")
            b.emit(f"atom.{space}", b.reg(), address, b.const(1), mod=mod, guard=guard)
        if step.then == "syncthreads":
            b.emit("bar.sync")
        elif step.then == "syncwarp":
            b.emit("warpsync", a=b.const(0xFFFFFFFF))
    return b


def races(steps: list[Step]) -> bool:
    """By the rules: two threads, one word, at least one writes, and no barrier between for both."""
    for i, first in enumerate(steps):
        for k in range(i + 1, len(steps)):
            second = steps[k]
            if first.thread == second.thread or first.word != second.word or not (first.writes or second.writes):
                continue
            if first.kind == second.kind == "atom":
                continue
            between = {step.then for step in steps[i:k]}
            same_warp = first.thread // 32 == second.thread // 32
            if "syncthreads" not in between and not ("syncwarp" in between and same_warp):
                return True
    return False


STEPS = st.lists(
    st.builds(
        Step,
        st.sampled_from([0, 1, 31, 32, 40]),
        st.sampled_from(["ld", "st", "atom"]),
        st.integers(0, WORDS - 1),
        st.sampled_from(["", "", "syncwarp", "syncthreads"]),
    ),
    min_size=2,
    max_size=7,
)


@pytest.mark.parametrize("space", ["global", "shared"])
@settings(max_examples=100)
@given(steps=STEPS)
def test_racecheck_finds_what_races_by_the_rules(space: str, steps: list[Step]) -> None:
    def run() -> None:
        launch(program(steps, space), np.zeros(WORDS, np.uint32), block=BLOCK, watch=racecheck())

    if races(steps):
        with pytest.raises(RaceError):
            run()
    else:
        run()


@pytest.mark.parametrize("name", MEMORY_TYPES)
@pytest.mark.parametrize("same", [True, False])
def test_lanes_that_store_other_values_of_any_type_to_one_address_race(name: str, same: bool) -> None:
    """The difference is in the highest byte that the type has."""
    b = Builder()
    out = b.array(0)
    size = MEMORY_TYPES[name][1]
    words = [b.const(7) for _ in range(max(size // 4, 1))]
    high = 1 << (8 * min(size, 8 if name == "b64" else 4) - 8)
    rows = b.reg(len(words))
    for k, word in enumerate(words):
        b.emit("mov", rows + k, word)
    if not same:
        last = rows if name == "b64" else rows + len(words) - 1
        first_lane = pred(b.value("eq.s64", b.special("laneid"), b.const(0)))
        b.emit("mov", last, b.const(7 + high), guard=first_lane)
    b.emit("st.global", a=out, b=rows, mod=type_number(name))
    if same:
        launch(b, np.zeros(4, np.uint64), watch=racecheck())
    else:
        with pytest.raises(RaceError, match="with nothing between that orders them"):
            launch(b, np.zeros(4, np.uint64), watch=racecheck())


@pytest.mark.parametrize(("offset", "race"), [(0, True), (3, True), (4, False)])
def test_accesses_of_other_sizes_race_where_they_overlap(offset: int, race: bool) -> None:
    b = Builder()
    out = b.array(0)
    thread = b.special("tid.x")
    b.emit("st.global", a=out, b=b.const(1), mod=type_number("u32"), guard=pred(b.value("eq.s64", thread, b.const(0))))
    byte = b.value("add.s64", out, b.const(offset))
    guard = pred(b.value("eq.s64", thread, b.const(32)))
    b.emit("st.global", a=byte, b=b.const(255), mod=type_number("u8"), guard=guard)
    if race:
        with pytest.raises(RaceError):
            launch(b, np.zeros(2, np.uint64), block=BLOCK, watch=racecheck())
    else:
        launch(b, np.zeros(2, np.uint64), block=BLOCK, watch=racecheck())


def test_memory_of_a_thread_and_constants_do_not_race() -> None:
    b = Builder()
    b.local_bytes = 8
    constants = b.constant_array(np.arange(4, dtype=np.uint64))
    b.emit("st.local", a=b.const(0), b=b.special("tid.x"), mod=type_number("b64"))
    b.emit("ld.const", b.reg(), constants, mod=type_number("b64"))
    launch(b, block=BLOCK, watch=racecheck())


def test_atomics_do_not_race_with_each_other() -> None:
    for space in ("global", "shared"):
        steps = [Step(0, "atom", 0, ""), Step(1, "atom", 0, ""), Step(40, "atom", 0, "")]
        launch(program(steps, space), np.zeros(WORDS, np.uint32), block=BLOCK, watch=racecheck())
        with pytest.raises(RaceError):
            launch(program([*steps, Step(2, "ld", 0, "")], space), np.zeros(3, "u4"), block=BLOCK, watch=racecheck())


def test_a_race_is_not_looked_for_unasked() -> None:
    steps = [Step(0, "st", 0, ""), Step(1, "st", 0, "")]
    launch(program(steps, "shared"), np.zeros(WORDS, np.uint32), block=BLOCK)
