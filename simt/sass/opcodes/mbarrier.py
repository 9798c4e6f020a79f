"""Barriers in shared memory (PTX mbarrier: cuda::barrier, cuda::pipeline) and bulk copies that arrive at them.

Copies are there at once, so what waits for bytes or for copies waits for nothing.  Clusters of blocks do not exist.
"""

from __future__ import annotations

from enum import Enum

from simt.ops.encoding import FENCE, SCOPES, SPECIAL_REGISTERS, UNCOUNTED
from simt.ops.mbarrier import BULK, DROPS
from simt.program import PT, RZ
from simt.sass.lowering import Before, Lowering
from simt.sass.modifiers import Space, Width
from simt.sass.opcodes.memory import narrow_address, take_address
from simt.sass.operands import Predicate
from simt.sass.table import Source, opcode


class Sync(Enum):
    """What a SYNCS does."""

    EXCH = "EXCH"  # writes the word
    ARRIVE = "ARRIVE"
    PHASECHK = "PHASECHK"  # asks whether a phase has ended
    CCTL = "CCTL"


class Arrival(Enum):
    """How many threads arrive, and how many bytes are expected more: one, none, or as many as a register says.

    Without any of these one thread arrives and the register has the bytes.
    """

    A1T0 = "A1T0"
    A0T1 = "A0T1"
    A0TR = "A0TR"
    A0TX = "A0TX"  # so many bytes have come
    ART0 = "ART0"


class Part(Enum):
    """Other modifiers of mbarriers."""

    TRANS64 = "TRANS64"
    RED = "RED"
    OPTOUT = "OPTOUT"  # the threads do not take part in later phases
    TRYWAIT = "TRYWAIT"  # waits
    IV = "IV"
    LDGSTSBAR = "LDGSTSBAR"  # when the thread's copies to shared memory are there
    TRANSCNT = "TRANSCNT"
    ARVCNT = "ARVCNT"


def _arrive(x: Lowering, address: int, threads: int, expected: int, old: int = RZ, guard: int | None = None) -> None:
    """What the arriving thread has written before is there for those that wait."""
    x.emit("nop", mod=FENCE, imm=SCOPES.index("block"))
    x.emit("arrive.shared", old, address, threads, expected, mod=DROPS * (Part.OPTOUT in x.modifiers), guard=guard)


def _is_lowest(x: Lowering) -> int:
    """Whether a lane is the lowest of those that execute, as a predicate operand."""
    before = x.compute("sreg", imm=SPECIAL_REGISTERS.index("lanemask_lt"))
    return x.test("eq.s64", x.compute("and.b64", x.compute("ballot", PT), before), RZ)


def _sync_arrive(x: Lowering) -> None:
    """``d, [address], r``: the register behind d = the upper word before (H200)."""
    d = x.take_register()
    address = narrow_address(x, take_address(x))
    given = x.row(x.take_register())
    x.done()
    one = x.constant(1)
    kind = x.modifiers.maybe(Arrival)
    threads = {Arrival.ART0: given, Arrival.A1T0: one, None: one}.get(kind, RZ)
    expected = {Arrival.A0T1: one, Arrival.A0TR: given, None: given}.get(kind, RZ)
    if kind is Arrival.A0TX:
        expected = x.compute("sub.s64", RZ, given)
    old = RZ if d.index is None else x.new()
    _arrive(x, address, threads, expected, old)
    if d.index is not None:
        x.emit("high.b64", x.destination(d.next()), old)


def _sync_check(x: Lowering) -> None:
    """``p, [address], r``: p = the phase is another one than bit 31 of r says; TRYWAIT waits until it is.

    Hardware ends that wait after some time; here it ends with the phase, or the block cannot go on.
    """
    p = x.take_predicate()
    address = narrow_address(x, take_address(x))
    phase = x.row(x.take_register())
    x.done()
    if Part.TRYWAIT in x.modifiers:
        x.emit("wait.shared", a=address, b=phase)
    word = x.emit("state.shared", x.new(), address)
    now = x.compute("shr.u64", word, x.constant(63))
    then = x.compute("shr.u64", phase, x.constant(31))
    x.set_predicate(p, x.test("eq.s64", now, then) ^ 1)


def _sync_write(x: Lowering) -> None:
    """``d, [address], r``: the word is a register pair's."""
    d = x.take_register()
    address = narrow_address(x, take_address(x))
    word = x.pair(x.take_register())
    x.done()
    if d.index is not None:
        raise x.unsupported("SYNCS.EXCH with a result is not supported")
    x.emit("init.shared", a=address, b=word)


@opcode("SYNCS", source=Source.H200_VALUES, takes=(Sync, Arrival, Part, Width.W64), since=90)
def synchronise(x: Lowering) -> None:
    kind = x.modifiers.maybe(Sync)
    if kind is Sync.CCTL:  # the word ends to be an mbarrier, which it does not show
        x.take()
        x.done()
        x.emit("nop")
        return
    if kind is None or (kind is not Sync.EXCH and Part.TRANS64 not in x.modifiers):
        raise x.unsupported("this form of SYNCS is not supported")
    {Sync.EXCH: _sync_write, Sync.ARRIVE: _sync_arrive, Sync.PHASECHK: _sync_check}[kind](x)


@opcode("ARRIVES", source=Source.H200_VALUES, takes=(Part, Width.W64), since=80)
def arrive_after_copies(x: Lowering) -> None:
    """``[address]``: one of the expected bytes has come (TRANSCNT), or one thread arrives (ARVCNT)."""
    address = narrow_address(x, take_address(x))
    x.done()
    one = x.constant(1)
    if Part.TRANSCNT in x.modifiers:
        _arrive(x, address, RZ, x.compute("sub.s64", RZ, one))
    elif Part.ARVCNT in x.modifiers:
        _arrive(x, address, one, RZ)
    else:
        raise x.unsupported("this form of ARRIVES is not supported")


@opcode("ELECT", source=Source.PTX, since=90)
def elect(x: Lowering) -> None:
    """``p, d, q``: p = it is the lowest of the executing lanes (PTX elect.sync)."""
    p = x.take_predicate()
    d = x.take_register()
    q = x.take_predicate()
    x.done()
    if d.index is not None or q != Predicate(None):
        raise x.unsupported("only ELECT of all executing lanes, without a register, is supported")
    x.set_predicate(p, _is_lowest(x))


@opcode("UBLKCP", source=Source.H200_VALUES, takes=(Space,), since=90)
def copy_in_bulk(x: Lowering) -> None:
    """``[d], [a], n``: n times 16 bytes from global address a (a pair) to shared address d; then they have come at the
    mbarrier whose address is behind d.
    """
    to, source, count = take_address(x), take_address(x), x.take_register()
    x.done()
    if x.modifiers.values != (Space.S, Space.G):
        raise x.unsupported("only bulk copies from global to shared memory are supported")
    if to.uniform is None or source.uniform is None or to.offset or source.offset or to.base or source.base:
        raise x.unsupported("bulk copies between other than uniform addresses are not supported")
    barrier = x.row(to.uniform, 2) + 1
    size = x.compute("shl.b64", x.row(count), x.constant(4))
    there, here, left = range(first := x.rows.consecutive(3), first + 3)
    for row, value in ((here, x.row(to.uniform)), (there, x.pair(source.uniform)), (left, size)):
        x.emit("mov", row, value)
    x.emit("nop", retires=True)
    step = x.constant(BULK)
    begin = x.emitted
    some = x.test("lt.s64", RZ, left)
    x.emit("bulk.generic", 0, here, there, guard=x.narrowed(some))
    x.emit("add.s64", here, here, step)
    x.emit("add.s64", there, there, step)
    x.emit("sub.s64", left, left, step)
    x.emit("bra", a=some, mod=UNCOUNTED, target=Before(x.emitted - begin))
    _arrive(x, barrier, RZ, x.compute("sub.s64", RZ, size), guard=x.narrowed(_is_lowest(x)))
