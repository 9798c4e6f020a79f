"""Lanes that part and meet again in native code, without splits: what comes of it, and where it ends half-way."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numba.core import config

from simt.machine.compiled.parting import meeting_points
from simt.machine.compiled.plan import Plan
from simt.program import Program, pred
from tests.machine.engines import check
from tests.machine.harness import Builder

pytestmark = pytest.mark.skipif(bool(config.DISABLE_JIT), reason="nothing is compiled")

ROUNDS = 40
SIZE = 1000


def parting(
    rounds: int, then: bool, inner: str, fails: str, lane: int, at: int, early: bool, before: int = 0
) -> Program:
    """Lanes go two ways in each round.

    *then*: on both ways something is done; *inner*: what parts them further on the first; *fails*: the side on which
    *lane* has a wrong index in round *at*; *early*: lanes leave the loop one after the other; *before*: micro-ops
    that do nothing.
    """
    b = Builder()
    for _ in range(before):
        b.emit("nop")
    out, i, own = b.array(0), b.thread(), b.special("laneid")
    x, k, place = b.reg(), b.reg(), b.reg()
    outer, near, deep = b.barrier(), b.barrier(), b.barrier()
    b.emit("mov", x, i)
    b.emit("mov", k, 0)
    last = b.value("mad.s64", own, b.const(int(early)), b.const(rounds))
    b.emit("bssy", imm=outer)
    b.label("loop")
    there, now = (pred(b.value("eq.s64", *two)) for two in ((own, b.const(lane)), (k, b.const(at))))
    wrong = b.value("and.b64", b.number(there), b.number(now))
    index = b.value("mad.s64", wrong, b.const(SIZE), i)
    odd = b.value("and.b64", b.value("shr.u64", x, b.value("and.b64", k, b.const(7))), b.const(1))
    b.emit("bssy", imm=near)
    b.bra("else", pred(b.truth(odd)))
    b.emit("mad.s64", x, x, b.const(3), k)
    if inner:
        if inner == "meets":
            b.emit("bssy", imm=deep)
        b.bra("deep" if inner == "meets" else "near", pred(b.value("lt.s64", b.value("and.b64", x, b.const(31)), own)))
        b.emit("add.s64", x, x, own)
        if inner == "meets":
            b.label("deep")
            b.emit("bsync", imm=deep)
    if fails == "then":
        b.emit("index", place, out, index, imm=0)
        b.emit("st.global", a=place, b=x, mod=6)
    if then:
        b.bra("near")
    b.label("else")
    if then:
        for n in range(20):
            b.emit("add.s64", x, x, b.const(0x1234567 + n))
        if fails == "else":
            b.emit("index", place, out, index, imm=0)
            b.emit("st.global", a=place, b=x, mod=6)
    b.label("near")
    b.emit("bsync", imm=near)
    b.emit("add.s64", k, k, b.const(1))
    b.bra("loop", pred(b.value("lt.s64", k, last)))
    b.emit("bsync", imm=outer)
    b.store(out, i, x)
    return b.build()


@given(
    then=st.booleans(),
    inner=st.sampled_from(["", "meets", "leaves"]),
    fails=st.sampled_from(["", "then", "else"]),
    lane=st.integers(0, 31),
    at=st.integers(0, 2 * ROUNDS),
    early=st.booleans(),
    order=st.sampled_from(["then_first", "then_first", "else_first", "profiler"]),
    block=st.sampled_from([32, 45]),
)
@settings(max_examples=80, deadline=None)
def test_what_it_leaves(
    then: bool, inner: str, fails: str, lane: int, at: int, early: bool, order: str, block: int
) -> None:
    program = parting(ROUNDS, then, inner, fails, lane, at, early)
    assert meeting_points(Plan(program))
    check(program, [np.zeros(SIZE, np.uint64)], block=(block, 1, 1), order=order)


@pytest.mark.parametrize("before", range(30))
def test_a_turn_that_ends_meanwhile(before: int) -> None:
    program = parting(6000, True, ("", "meets", "leaves")[before % 3], "else", 0, -1, False, before)
    check(program, [np.zeros(SIZE, np.uint64)], block=(64, 1, 1))
