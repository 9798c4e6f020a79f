"""Random structured kernels, lowered with convergence barriers, and the same run by each thread alone.

A thread has an accumulator that starts as its index.  Statements: ``Step`` changes it, ``If`` and ``Loop`` nest
(a loop's trip count depends on the accumulator), ``Leave`` breaks out of the innermost loop or ends the thread.
"""

from __future__ import annotations

import contextlib
from dataclasses import dataclass

from hypothesis import strategies as st

from simt.program import RZ, pred
from tests.machine.harness import Builder

MODULUS = 1 << 20


@dataclass(frozen=True)
class Step:
    """acc = (acc * factor + 1) mod MODULUS"""

    factor: int


@dataclass(frozen=True)
class Condition:
    """acc mod divisor == rest"""

    divisor: int
    rest: int

    def holds(self, acc: int) -> bool:
        """For one thread."""
        return acc % self.divisor == self.rest


@dataclass(frozen=True)
class If:
    """if condition: then, else: otherwise"""

    condition: Condition
    then: tuple[Statement, ...]
    otherwise: tuple[Statement, ...]


@dataclass(frozen=True)
class Loop:
    """``acc mod trips`` times the body"""

    trips: int
    body: tuple[Statement, ...]


@dataclass(frozen=True)
class Leave:
    """Under a condition: break out of the innermost loop (outside of one: nothing), or exit."""

    condition: Condition
    exits: bool


Statement = Step | If | Loop | Leave

conditions = st.integers(2, 7).flatmap(
    lambda divisor: st.builds(Condition, st.just(divisor), st.integers(0, divisor - 1))
)
steps = st.builds(Step, st.integers(2, 9))
leaves = st.builds(Leave, conditions, st.booleans())


def _nested(inner: st.SearchStrategy[Statement]) -> st.SearchStrategy[Statement]:
    blocks = st.lists(inner, max_size=3).map(tuple)
    return st.one_of(st.builds(If, conditions, blocks, blocks), st.builds(Loop, st.integers(2, 5), blocks))


kernels = st.lists(st.recursive(st.one_of(steps, leaves), _nested, max_leaves=10), min_size=1, max_size=4).map(tuple)
"""Random kernels: tuples of statements."""


class _Left(Exception):
    """A thread leaves a loop, or ends."""


def scalar(kernel: tuple[Statement, ...], acc: int) -> int:
    """What one thread leaves in its accumulator."""
    cell = [acc]
    with contextlib.suppress(_Left):
        _scalar_block(kernel, cell, False)
    return cell[0]


def _scalar_block(block: tuple[Statement, ...], cell: list[int], in_loop: bool) -> bool:
    """Run a block; whether it broke out of the innermost loop.  Raises _Left when the thread ends."""
    for statement in block:
        if isinstance(statement, Step):
            cell[0] = (cell[0] * statement.factor + 1) % MODULUS
        elif isinstance(statement, Leave):
            if statement.condition.holds(cell[0]):
                if statement.exits:
                    raise _Left
                if in_loop:
                    return True
        elif isinstance(statement, If):
            chosen = statement.then if statement.condition.holds(cell[0]) else statement.otherwise
            if _scalar_block(chosen, cell, in_loop):
                return True
        else:
            for _ in range(cell[0] % statement.trips):
                if _scalar_block(statement.body, cell, True):
                    break
    return False


class _Lowering:
    def __init__(self) -> None:
        self.b = Builder()
        self.labels = 0
        self.sink = self.b.array(0)
        self.thread = self.b.thread()
        self.acc = self.b.reg()
        self.b.emit("mov", self.acc, self.thread)
        # The result is stored at every step, so that threads which exit early leave theirs, too.
        self.place = self.b.element(self.sink, self.thread)
        self.save()

    def save(self) -> None:
        self.b.emit("st.global", a=self.place, b=self.acc, mod=6)

    def label(self) -> str:
        self.labels += 1
        return f"L{self.labels}"

    def test(self, condition: Condition) -> int:
        rest = self.b.value("floormod.s64", self.acc, self.b.const(condition.divisor))
        return self.b.value("eq.s64", rest, self.b.const(condition.rest))

    def block(self, statements: tuple[Statement, ...], inner: list[int], end_of_loop: str | None) -> None:
        """``inner``: the convergence barriers inside of the innermost loop, which a break leaves."""
        for statement in statements:
            if isinstance(statement, Step):
                self.step(statement)
            elif isinstance(statement, If):
                self.choice(statement, inner, end_of_loop)
            elif isinstance(statement, Loop):
                self.loop(statement)
            else:
                self.leave(statement, inner, end_of_loop)

    def step(self, statement: Step) -> None:
        grown = self.b.value("mad.s64", self.acc, self.b.const(statement.factor), self.b.const(1))
        self.b.emit("floormod.s64", self.acc, grown, self.b.const(MODULUS))
        self.save()

    def choice(self, statement: If, inner: list[int], end_of_loop: str | None) -> None:
        otherwise, end, barrier = self.label(), self.label(), self.b.barrier()
        condition = self.test(statement.condition)
        self.b.emit("bssy", imm=barrier, retires=False)
        self.b.bra(otherwise, pred(condition, negated=True))
        self.block(statement.then, [*inner, barrier], end_of_loop)
        self.b.bra(end, retires=False)
        self.b.label(otherwise)
        self.block(statement.otherwise, [*inner, barrier], end_of_loop)
        self.b.label(end)
        self.b.emit("bsync", imm=barrier, retires=False)

    def loop(self, statement: Loop) -> None:
        head, end, barrier = self.label(), self.label(), self.b.barrier()
        left = self.b.value("floormod.s64", self.acc, self.b.const(statement.trips))
        self.b.emit("bssy", imm=barrier, retires=False)
        self.b.label(head)
        self.b.bra(end, pred(self.b.value("le.s64", left, RZ)))
        self.b.emit("sub.s64", left, left, self.b.const(1))
        self.block(statement.body, [], end)
        self.b.bra(head, retires=False)
        self.b.label(end)
        self.b.emit("bsync", imm=barrier, retires=False)

    def leave(self, statement: Leave, inner: list[int], end_of_loop: str | None) -> None:
        condition = pred(self.test(statement.condition))
        if statement.exits:
            self.b.emit("exit", guard=condition)
        elif end_of_loop is not None:
            for barrier in inner:
                self.b.emit("break", imm=barrier, guard=condition, retires=False)
            self.b.bra(end_of_loop, condition)


def lower(kernel: tuple[Statement, ...]) -> Builder:
    """The kernel as micro-ops; argument 0 receives each thread's accumulator (uint64, one per thread)."""
    lowering = _Lowering()
    lowering.block(kernel, [], None)
    return lowering.b
