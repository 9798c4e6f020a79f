"""Of what native code remembers of a micro-op nothing shows: memory, counters and errors are the interpreter's.

Nor does what it leaves in rows of lanes that do not run.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numba.core import config

from simt.machine.compiled.accesses import TYPES
from simt.machine.compiled.plan import Plan
from simt.program import pred
from tests.machine.engines import check
from tests.machine.harness import Builder, type_number
from tests.machine.patterns import M32

pytestmark = pytest.mark.skipif(bool(config.DISABLE_JIT), reason="nothing is compiled")

LANES = np.arange(32)
ROOM = 128
"""Elements of each array that is accessed."""
FORMS = (
    LANES,
    LANES * 0,
    LANES // 8 * 11,
    LANES // 8 * 9 + LANES % 8,
    31 - LANES,
    LANES * 5 % 32,
    LANES * LANES % 61,
)
"""How far lanes are from each other: side by side, all alike, by eights, and otherwise."""
WIDE = (*FORMS, LANES // 16 * 64, LANES * 16, LANES // 16 * 70 + LANES % 16, LANES * 3, LANES % 2 * 20)
"""In rows, too, and some with more room between them."""


class Round(NamedTuple):
    """One access: form, elements from the start of the array, lanes that execute, which array, bytes too many."""

    form: int
    first: int
    lanes: int
    second: bool
    odd: int = 0


ROUNDS = st.builds(
    Round,
    st.sampled_from([0, 0, 1, 2, 3, 4, 5, 6]),
    st.integers(0, 40),
    st.sampled_from([0xFFFFFFFF, 0xFFFFFFFF, 0x0FFFFFF0, 1 << 31]),
    st.sampled_from([False, False, False, True]),
    st.sampled_from([0] * 30 + [1]),
)


def _accessing(kind: str, space: str) -> Builder:
    """A loop with one load and one store: argument 0 says where lanes access memory in each round (-1: they do not),
    argument 1 which of arrays 3 and 4 it is; array 2 gets what they have loaded.
    """
    b = Builder()
    where, which, out, *memory = (b.array(k) for k in range(5))
    b.shared_bytes = ROOM * TYPES[type_number(kind)][1]
    lane, k, values = b.special("laneid"), b.reg(), b.reg(4)
    b.emit("mov", k, 0)
    b.label("round")
    at = b.value("mad.s64", k, b.const(32), lane)
    offset = b.load(where, at)
    only = pred(b.value("le.s64", b.const(0), offset))
    base = b.value("selp", memory[1], memory[0], pred(b.truth(b.load(which, k))))
    address = offset if space == "shared" else b.value("add.s64", offset, base)
    b.emit(f"ld.{space}", values, address, mod=type_number(kind), guard=only)
    for n in range(4):
        b.store(out, b.value("mad.s64", at, b.const(4), b.const(n)), values + n)
        b.emit("mad.s64", values + n, values + n, b.const(3), at)
    b.emit(f"st.{space}", a=address, b=values, mod=type_number(kind), guard=only)
    b.emit("add.s64", k, k, b.const(1))
    b.bra("round", pred(b.value("lt.s64", k, b.load(which, b.const(0)))))
    return b


def _compare(kind: str, space: str, rounds: list[Round], room: int = ROOM) -> None:
    size = TYPES[type_number(kind)][1]
    words = room * size // 8
    places = [(WIDE[one.form] + one.first) * size + one.odd for one in rounds]
    given = [np.where(one.lanes >> LANES & 1, place, -1) for one, place in zip(rounds, places, strict=True)]
    which = np.array([len(rounds), *(int(one.second) for one in rounds[1:])], np.uint64)
    memory = [np.arange(words, dtype=np.uint64) * factor % 2**63 for factor in (0x0807060504030201, 0x1122334455667788)]
    arrays = [np.concatenate(given).view(np.uint64), which, np.zeros(128 * len(rounds), np.uint64), *memory]
    check(_accessing(kind, space).build(), arrays)


@pytest.mark.parametrize("space", ["global", "shared"])
@given(kind=st.sampled_from(["u8", "s16", "u32", "b64", "v2", "v4"]), rounds=st.lists(ROUNDS, min_size=1, max_size=12))
@settings(max_examples=60)
def test_accesses_one_after_the_other(space: str, kind: str, rounds: list[Round]) -> None:
    """Of the same form or another one, elsewhere in a sector, by other lanes, in another allocation, some outside."""
    _compare(kind, space, rounds)


@pytest.mark.parametrize("space", ["global", "shared"])
@pytest.mark.parametrize("kind", ["u8", "s16", "u32", "b64", "v2", "v4"])
@pytest.mark.parametrize("form", range(len(FORMS)))
def test_a_form_at_every_place_of_a_sector(form: int, kind: str, space: str) -> None:
    _compare(kind, space, [Round(form, first, 0xFFFFFFFF, False) for first in (*range(34), 7, 0)])


@pytest.mark.parametrize("kind", ["u8", "s16", "u32", "b64", "v2", "v4"])
@pytest.mark.parametrize("lanes", [M32, 0x0FFFFFF0, 0x00010004, 0x01010101, 0xFF0000FF, 0x55555555])
def test_what_a_form_accesses(lanes: int, kind: str) -> None:
    """Each in a part of memory of its own, but for the last ones, which begin where another does."""
    firsts = [(560 * k + k % 17, form) for k, form in enumerate(list(range(len(WIDE))) * 3)]
    rounds = [Round(form, first, lanes, False) for first, form in firsts]
    rounds += [Round(form, 560 * len(rounds), lanes, False) for form in (7, 7, 8, 0, 7)]
    _compare(kind, "global", rounds, 560 * len(rounds))


@pytest.mark.parametrize("space", ["global", "shared"])
@pytest.mark.parametrize("last", [Round(0, ROOM - 31, M32, False), Round(0, 3, M32, False, odd=1)])
def test_an_access_that_fails_after_others_of_its_form(last: Round, space: str) -> None:
    """Outside of its allocation, or misaligned."""
    _compare("u32", space, [Round(0, first, M32, False) for first in (3, 4, 3)] + [last])


def _is_passing(guard: str, reader: str) -> bool:
    """Whether a row is passing that is written under one guard, read under another, then overwritten."""
    b = Builder()
    out, lane, temporary, guards = b.array(0), b.special("laneid"), b.reg(), {"none": 0}
    for k, name in enumerate(("one", "other")):
        guards[name] = pred(b.value("lt.s64", lane, b.const(9 + k)))
    x = b.value("mov", b.const(5))
    b.label("loop")
    b.emit("add.s64", temporary, lane, x, guard=guards[guard])
    b.emit("add.s64", x, x, temporary, guard=guards[reader])
    b.emit("mov", temporary, b.const(1))
    b.bra("loop", pred(b.value("lt.s64", x, b.const(100))))
    b.store(out, lane, x)
    program = b.build()
    check(program, [np.zeros(32, np.uint64)])
    plan = Plan(program)
    first = next(step for step in plan.steps if step.guard or step.row.name == "add.s64")
    return plan.is_passing(first.dst)


@pytest.mark.parametrize(
    ("guard", "reader", "expected"),
    [
        ("none", "none", True),
        ("one", "one", True),
        ("none", "one", True),
        ("one", "other", False),
        ("one", "none", False),
    ],
)
def test_a_row_that_no_lane_keeps_where_it_waits(guard: str, reader: str, expected: bool) -> None:
    """Under one guard only lanes write it that read it; else what it was before may be read."""
    assert _is_passing(guard, reader) is expected
