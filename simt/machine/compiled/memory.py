"""Loads and stores of a warp in native code: what is common is done here, all else by the interpreter's function.

For each kind of access there is one function, for all Programs: it gives 1 if it was done, 0 if it is an error, and
then nothing has changed.  Done here are aligned accesses to shared memory, and to the allocation that the micro-op last
touched.  What the access counts as and when an allocation holds it are functions of
:mod:`simt.machine.memory` and :mod:`simt.machine.coalescing`, as in the interpreter; a micro-op whose lanes are as far
from each other as the last time finds both in its shape (shapes.py).
"""

from __future__ import annotations

from simt.machine import layout as L
from simt.machine.compiled.accesses import ACCESSES, ANY, TELLING, TYPES
from simt.machine.compiled.context import Helper
from simt.machine.compiled.control import V_LANES, V_REQUEST
from simt.machine.compiled.lanes import LANE, lane_module
from simt.machine.compiled.moves import Mover, Places
from simt.machine.compiled.shapes import (
    ALL,
    EVEN,
    MASK,
    RUNS_OF_EIGHT,
    S_FROM,
    S_KNOWN,
    S_LANES,
    S_LOWEST,
    S_NOTED,
    S_ROOM,
    S_SPAN,
    S_WAY,
    SAME_EIGHTS,
    SECTOR,
    WARP,
    Learner,
    heads,
    request_at,
)
from simt.machine.compiled.text import LANES, Text
from simt.machine.compiled.widen import Widener, scalar_of
from simt.ops.memory import ACCESS_SHIFT, GLOBAL, SHARED, SPACE_MASK, STORE

PARAMETERS = "ptr %context, i64 %pc, ptr %a, ptr %row, i64 %imm, i64 %mask, ptr %shape"

OTHER = "other"
"""The function that goes on where the shape of an access is not known."""


class Access:
    """Writes the function of one kind of access, one of ACCESSES."""

    def __init__(self, helper: Helper) -> None:
        self.kind = number, mod = ACCESSES[helper]
        self.tells = TELLING[self.kind] == helper
        self.text = Text()
        self.stores = number >> ACCESS_SHIFT == STORE
        self.space = number & SPACE_MASK
        self.mod = mod
        self.size = TYPES[mod][1]

    def emit(self) -> Text:
        """The function: context, micro-op, address of row a, that of the row of the data (loads: null for none), imm,
        exec lanes (not empty), and the shape of the micro-op.

        It keeps nothing of its own in memory: where more is to be done, it goes on as another function.
        """
        self._shape()
        if self.space == SHARED:
            base = self._in_arena(self.text.load(self._field(L.V_LAUNCH), L.LAUNCH_SHARED))
        else:
            base = self._in_arena(str(-int(L.ADDRESS_BASE)))
        self._count()
        way = self.text.load("%shape", S_WAY)
        if self.space == GLOBAL:
            self._note_reached(way)
        places = Places(base, self.raw, "%imm", self.mask, self.first, self.number, "%shape")
        mover = Mover(self.text, self.mod, places)
        if self.stores:
            mover.store(way, self._field(L.V_UNIFORM), int(self._last_of_group()))
        else:
            mover.load(way, fetches_ahead=self.space == GLOBAL)
        self.text.line("ret i64 1")
        self._otherwise()
        learner = Learner(self.kind)
        lines = [f"define i64 @{LANE}({PARAMETERS}) {{", "entry:", *self.text.lines, "}", *learner.emit()]
        declared = self.text.declared | learner.text.declared
        other = self._learning()
        self.text.lines = [*lines, *other, *sorted(declared)]
        return self.text

    def _otherwise(self) -> None:
        """What is not common."""
        text = self.text
        text.label("new")
        text.store("0", "%shape", S_KNOWN)
        text.line("br label %learn")
        text.label("learn")
        text.line(f"{(found := text.name())} = musttail call i64 @{OTHER}({PARAMETERS})")
        text.line(f"ret i64 {found}")

    def _learning(self) -> list[str]:
        """The function that finds out the shape, and does it all once more."""
        text = Text()
        text.line(f"call void @{Learner.NAME}({Learner.PARAMETERS})")
        one = text.value("call i64 @llvm.cttz.i64(i64 %mask, i1 true)")
        first = text.value(f"add i64 {text.load('%a', one)}, %imm")
        known = _is_known(text, first)
        text.fork(known, "again", "bad")
        text.label("again")
        text.line(f"{(found := text.name())} = musttail call i64 @{LANE}({PARAMETERS})")
        text.line(f"ret i64 {found}")
        text.label("bad")
        context = text.value("ptrtoint ptr %context to i64")
        text.line(f"ret i64 {text.call(ANY, '%context', context, '%pc', '%mask', '%mask')}")
        return [f"define internal i64 @{OTHER}({PARAMETERS}) noinline {{", "entry:", *text.lines, "}"]

    def _field(self, column: int) -> str:
        return self.text.pointer("%context", column)

    def _last_of_group(self) -> str:
        shift = self.size.bit_length() - 1
        return Widener(scalar_of(lane_module("last_of_group", shift)), 1, self.text).emit(["0"] * 4)

    def _shape(self) -> None:
        """Go on where the micro-op has the same shape as the last time, in an allocation that is known to hold it."""
        text = self.text
        text.declare("declare i64 @llvm.cttz.i64(i64, i1)")
        bits = text.value(f"trunc i64 %mask to i{WARP}")
        self.mask = text.value(f"bitcast i{WARP} {bits} to {MASK}")
        self.number = text.value("call i64 @llvm.cttz.i64(i64 %mask, i1 true)")
        one = text.load("%a", self.number)
        self.first = text.value(f"add i64 {one}, %imm")
        self.raw = text.value(f"load {ALL}, ptr %a, align 8")
        behind = text.value(f"sub {ALL} {self.raw}, {text.spread(one, WARP)}")
        kept = text.value(f"load {ALL}, ptr %shape, align 64")
        differ = text.value(f"and {MASK} {text.value(f'icmp ne {ALL} {behind}, {kept}')}, {self.mask}")
        none = text.value(f"icmp eq i{WARP} {text.value(f'bitcast {MASK} {differ} to i{WARP}')}, 0")
        lanes = text.value(f"icmp eq i64 {text.load('%shape', S_LANES)}, %mask")
        text.fork(text.value(f"and i1 {none}, {lanes}"), "same", "new")
        text.label("same")
        text.fork(_is_known(text, self.first), "known", "learn")
        text.label("known")
        beyond = text.value(f"sub i64 {self.first}, {text.load('%shape', S_FROM)}")
        held = text.value(f"icmp ule i64 {beyond}, {text.load('%shape', S_ROOM)}")
        text.fork(held, "held", "new")
        text.label("held")

    def _in_arena(self, start: str) -> str:
        """Where address 0 would stand, which is *start* in the arena."""
        text = self.text
        if self.tells:
            there = self._lanes(text.value(f"add i64 %imm, {start}"))
            text.line(f"store {ALL} {there}, ptr {self._field(V_LANES)}, align 8")
        return text.value(f"getelementptr i8, ptr {self._field(L.V_MEMORY)}, i64 {start}")

    def _lanes(self, added: str) -> str:
        """What the lanes have in row a, those that do not execute what the first one has, with *added* to each."""
        text = self.text
        first = text.spread(text.value(f"sub i64 {self.first}, %imm"), WARP)
        given = text.value(f"select {MASK} {self.mask}, {ALL} {self.raw}, {ALL} {first}")
        return text.value(f"add {ALL} {given}, {text.spread(added, WARP)}")

    def _count(self) -> None:
        """Add what the access counts as to the counters of the micro-op."""
        text, kind = self.text, f"<{L.N_MEMORY} x i64>"
        if self.space not in (GLOBAL, SHARED):
            if self.tells:
                text.line(f"store {kind} zeroinitializer, ptr {self._field(V_REQUEST)}, align 8")
            return
        request = text.value(f"load {kind}, ptr {request_at(text, self.first, self.size)}, align 64")
        if self.tells:
            text.line(f"store {kind} {request}, ptr {self._field(V_REQUEST)}, align 8")
        at = text.value(f"add i64 {text.value(f'mul i64 %pc, {L.N_COUNT}')}, {int(L.N_REQUESTS)}")
        place = text.at(self._field(L.V_COUNTS), at)
        old = text.value(f"load {kind}, ptr {place}, align 8")
        text.line(f"store {kind} {text.value(f'add {kind} {old}, {request}')}, ptr {place}, align 8")

    def _note_reached(self, way: str) -> None:
        """As :func:`simt.machine.memory._note_reached`, if the launch wants to know.

        What has been noted is not written again: workers would wait for each other's lines of the host's cache.
        """
        text = self.text
        reached = self._field(L.V_REACHED)
        noting, side, apart, eights, each, noted = (
            text.new_label(stem) for stem in ("noting", "side", "apart", "eights", "each", "noted")
        )
        text.fork(text.value(f"icmp ne ptr {reached}, null"), noting, noted)
        text.label(noting)
        begin = text.value(f"getelementptr i8, ptr {reached}, i64 {-int(L.ADDRESS_BASE) >> L.REACH_SHIFT}")
        span = text.load("%shape", S_SPAN)
        text.fork(text.value(f"icmp sge i64 {span}, 0"), side, apart)
        text.label(side)
        lowest = text.value(f"add i64 {self.first}, {text.load('%shape', S_LOWEST)}")
        self._note_from_to(begin, [lowest], span, WARP, noted)
        text.label(apart)
        unit = text.value(f"ashr i64 {self.first}, {L.REACH_SHIFT}")
        new = text.new_label("new")
        text.fork(text.value(f"icmp eq i64 {unit}, {text.load('%shape', S_NOTED)}"), noted, new)
        text.label(new)
        even = text.value(f"icmp eq i64 {span}, {EVEN}")
        text.store(text.value(f"select i1 {even}, i64 {unit}, i64 -1"), "%shape", S_NOTED)
        text.line(
            f"switch i64 {way}, label %{each} [i64 {SAME_EIGHTS}, label %{eights} i64 {RUNS_OF_EIGHT}, label %{eights}]"
        )
        text.label(eights)
        runs = text.value(f"icmp eq i64 {way}, {RUNS_OF_EIGHT}")
        span = text.value(f"select i1 {runs}, i64 {(LANES - 1) * self.size}, i64 0")
        self._note_from_to(begin, heads(text, self.first, "%shape"), span, LANES, noted)
        text.label(each)
        self._note_each(begin, noted)
        text.label(noted)

    def _note_from_to(self, begin: str, starts: list[str], span: str, lanes: int, noted: str) -> None:
        """Note all units from some addresses to those *span* behind them, which *lanes* side by side may have."""
        text = self.text
        text.declare("declare i64 @llvm.smin.i64(i64, i64)")
        places, every = [], "1"
        for start in starts:
            end = text.value(f"add i64 {start}, {span}")
            first, last = (text.value(f"ashr i64 {address}, {L.REACH_SHIFT}") for address in (start, end))
            for k in range(-(-lanes * self.size // L.REACH) + 1):
                unit = text.value(f"call i64 @llvm.smin.i64(i64 {text.value(f'add i64 {first}, {k}')}, i64 {last})")
                places.append(text.value(f"getelementptr i8, ptr {begin}, i64 {unit}"))
                every = text.value(f"and i8 {every}, {text.value(f'load i8, ptr {places[-1]}, align 1')}")
        self._go_on_if(every, noted)
        for place in places:
            text.line(f"store i8 1, ptr {place}, align 1")
        text.line(f"br label %{noted}")

    def _note_each(self, begin: str, noted: str) -> None:
        """Note the units of lanes anywhere, behind the one at *begin*."""
        text, kind, pointer = self.text, f"<{WARP} x i8>", f"<{WARP} x ptr>"
        units = text.value(f"ashr {ALL} {self._lanes('%imm')}, {text.spread(str(L.REACH_SHIFT), WARP)}")
        pointers = text.value(f"getelementptr i8, ptr {begin}, {ALL} {units}")
        lanes = "<" + ", ".join(["i1 true"] * WARP) + ">"
        ones = "<" + ", ".join(["i8 1"] * WARP) + ">"
        gather, scatter = (f"@llvm.masked.{what}.v{WARP}i8.v{WARP}p0" for what in ("gather", "scatter"))
        text.declare(f"declare {kind} {gather}({pointer}, i32, {MASK}, {kind})")
        text.declare(f"declare void {scatter}({kind}, {pointer}, i32, {MASK})")
        text.declare(f"declare i8 @llvm.vector.reduce.and.v{WARP}i8({kind})")
        there = text.value(f"call {kind} {gather}({pointer} {pointers}, i32 1, {MASK} {lanes}, {kind} poison)")
        self._go_on_if(text.value(f"call i8 @llvm.vector.reduce.and.v{WARP}i8({kind} {there})"), noted)
        text.line(f"call void {scatter}({kind} {ones}, {pointer} {pointers}, i32 1, {MASK} {lanes})")
        text.line(f"br label %{noted}")

    def _go_on_if(self, every: str, label: str) -> None:
        """Go on at *label* if *every* (an i8) is 1."""
        text, rest = self.text, self.text.new_label("rest")
        text.fork(text.value(f"icmp eq i8 {every}, 1"), label, rest)
        text.label(rest)


def _is_known(text: Text, first: str) -> str:
    """Whether it is known what an access counts as whose first address is *first*: then it is aligned."""
    place = text.value(f"and i64 {first}, {SECTOR - 1}")
    bit = text.value(f"lshr i64 {text.load('%shape', S_KNOWN)}, {place}")
    return text.value(f"trunc i64 {bit} to i1")
