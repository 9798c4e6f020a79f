"""Loads and stores of a warp in native code: what is common is done here, all else by the interpreter's function.

For each kind of access there is one function, for all Programs: it gives 1 if it was done, 0 if it is an error, and
then nothing has changed.  Done here are aligned accesses to shared memory, and to the allocation that the micro-op last
touched.  What the access counts as and when an allocation holds it are functions of
:mod:`simt.machine.memory` and :mod:`simt.machine.coalescing`, as in the interpreter.
"""

from __future__ import annotations

from collections.abc import Callable

from simt.machine import layout as L
from simt.machine.coalescing import SECTOR_SHIFT
from simt.machine.compiled.accesses import ACCESSES, ANY, TELLING, TYPES
from simt.machine.compiled.context import Helper
from simt.machine.compiled.control import V_LANES, V_REQUEST
from simt.machine.compiled.lanes import LANE, lane_module
from simt.machine.compiled.moves import ALL, MASK, WARP, Mover, Places
from simt.machine.compiled.parts import LOW, PASSES
from simt.machine.compiled.text import Text
from simt.machine.compiled.widen import Widener, scalar_of
from simt.ops.memory import ACCESS_SHIFT, GLOBAL, SHARED, SPACE_MASK, STORE

PARAMETERS = "ptr %context, i64 %pc, ptr %a, ptr %b, ptr %d, i64 %imm, i64 %mask"


class Access:
    """Writes the function of one kind of access, one of ACCESSES."""

    def __init__(self, helper: Helper) -> None:
        number, mod = kind = ACCESSES[helper]
        self.tells = TELLING[kind] == helper
        self.request = "zeroinitializer"
        """What it counts as, as X has it; nothing for constants."""
        self.text = Text()
        self.stores = number >> ACCESS_SHIFT == STORE
        self.space = number & SPACE_MASK
        self.mod = mod
        self.size = TYPES[mod][1]
        self.shift = self.size.bit_length() - 1

    def emit(self) -> Text:
        """The function: context, micro-op, addresses of rows a, b and d (null: none), imm, exec lanes (not empty)."""
        self._addresses()
        self._range()
        if self.space == SHARED:
            self._in_shared()
        else:
            self._in_global()
        places = Places(self.base, self.given, self.mask, self.start, self.lo, self.near, self.run, self.alike)
        mover = Mover(self.text, self.mod, places)
        if self.stores:
            mover.store(self._field(L.V_UNIFORM), int(self._apply("last_of_group", self.shift)))
        else:
            mover.load(fetches_ahead=self.space == GLOBAL)
        self.text.line("ret i64 1")
        self._otherwise()
        begin = f"define i64 @{LANE}({PARAMETERS}) {{"
        room = f"  %scratch = alloca {ALL}, align 64"
        self.text.lines = [begin, "entry:", room, *self.text.lines, "}", *sorted(self.text.declared)]
        return self.text

    def _otherwise(self) -> None:
        """What is not common."""
        text = self.text
        text.label("bad")
        context = text.value("ptrtoint ptr %context to i64")
        text.line(f"ret i64 {text.call(ANY, '%context', context, '%pc', '%mask', '%mask')}")

    def _field(self, column: int) -> str:
        return self.text.value(f"load ptr, ptr {self.text.at('%context', column)}, align 8")

    def _apply(self, part: str, imm: int, *arguments: str, lanes: int = 1) -> str:
        given = [*arguments, *["0"] * (4 - len(arguments))]
        return Widener(scalar_of(lane_module(part, imm)), lanes, self.text).emit(given)

    def _unless(self, condition: str) -> None:
        """Go on where a condition (an i64) holds; else this is not for native code."""
        label = self.text.new_label("good")
        flag = self.text.value(f"icmp ne i64 {condition}, 0")
        self.text.line(f"br i1 {flag}, label %{label}, label %bad")
        self.text.label(label)

    def _every(self, lanes: str) -> str:
        bits = self.text.value(f"bitcast {MASK} {lanes} to i{WARP}")
        return self.text.value(f"icmp eq i{WARP} {bits}, -1")

    def _reduced(self, how: str, value: str) -> str:
        self.text.declare(f"declare i64 @llvm.vector.reduce.{how}.v{WARP}i64({ALL})")
        return self.text.value(f"call i64 @llvm.vector.reduce.{how}.v{WARP}i64({ALL} {value})")

    def _addresses(self) -> None:
        """Lanes, their addresses (of lanes that do not execute: that of one that does), and whether they are a run."""
        text = self.text
        text.declare("declare i64 @llvm.cttz.i64(i64, i1)")
        text.declare("declare i64 @llvm.ctpop.i64(i64)")
        self.lanes = text.value("call i64 @llvm.ctpop.i64(i64 %mask)")
        bits = text.value(f"trunc i64 %mask to i{WARP}")
        self.mask = text.value(f"bitcast i{WARP} {bits} to {MASK}")
        given = text.value(f"add {ALL} {text.value(f'load {ALL}, ptr %a, align 8')}, {text.spread('%imm', WARP)}")
        first = text.value("call i64 @llvm.cttz.i64(i64 %mask, i1 true)")
        self.first = neutral = text.value(f"add i64 {text.load('%a', first)}, %imm")
        self.given = text.value(f"select {MASK} {self.mask}, {ALL} {given}, {ALL} {text.spread(neutral, WARP)}")
        before = text.value(f"mul i64 {first}, {self.size}")
        self.start = text.value(f"sub i64 {neutral}, {before}")
        steps = "<" + ", ".join(f"i64 {k * self.size}" for k in range(WARP)) + ">"
        wanted = text.value(f"add {ALL} {text.spread(self.start, WARP)}, {steps}")
        idle = text.value(f"xor {MASK} {self.mask}, <{', '.join(['i1 true'] * WARP)}>")
        near = text.value(f"icmp eq {ALL} {given}, {wanted}")
        self.near = self._every(text.value(f"or {MASK} {near}, {idle}"))
        full = text.value(f"icmp eq i{WARP} {bits}, -1")
        self.run = text.value(f"and i1 {self.near}, {full}")

    def _range(self) -> None:
        """The lowest and the highest address, and that all are aligned."""
        text = self.text
        text.line(f"br i1 {self.near}, label %side, label %apart")
        text.label("side")
        text.declare("declare i64 @llvm.ctlz.i64(i64, i1)")
        last = text.value(f"sub i64 63, {text.value('call i64 @llvm.ctlz.i64(i64 %mask, i1 true)')}")
        end = text.value(f"add i64 {self.start}, {text.value(f'mul i64 {last}, {self.size}')}")
        text.line("br label %ranged")
        text.label("apart")
        one = self._every(text.value(f"icmp eq {ALL} {self.given}, {text.spread(self.first, WARP)}"))
        text.line(f"br i1 {one}, label %ranged, label %any")
        text.label("any")
        low, high, odd = (self._reduced(how, self.given) for how in ("smin", "smax", "or"))
        text.line("br label %ranged")
        text.label("ranged")
        self.lo = text.value(f"phi i64 [{self.first}, %side], [{self.first}, %apart], [{low}, %any]")
        self.hi = text.value(f"phi i64 [{end}, %side], [{self.first}, %apart], [{high}, %any]")
        bits = text.value(f"phi i64 [{self.first}, %side], [{self.first}, %apart], [{odd}, %any]")
        self.alike = text.value(f"icmp eq i64 {self.lo}, {self.hi}")
        rest = text.value(f"and i64 {bits}, {self.size - 1}")
        self._unless(text.value(f"zext i1 {text.value(f'icmp eq i64 {rest}, 0')} to i64"))

    def _in_global(self) -> None:
        text = self.text
        hint = text.load(self._field(L.V_HINTS), "%pc")
        start, end = (text.load(self._field(column), hint) for column in (L.V_STARTS, L.V_ENDS))
        self._unless(self._apply("holds", self.size, start, end, self.lo, self.hi))
        if self.stores:
            place = text.value(f"getelementptr i8, ptr {self._field(L.V_WRITABLE)}, i64 {hint}")
            self._unless(text.value(f"zext i8 {text.value(f'load i8, ptr {place}')} to i64"))
        if self.space == GLOBAL:
            n_bytes = text.value(f"shl i64 {self.lanes}, {self.shift}")
            of_near = self._apply("near_sectors", self.shift, self.start, "0", "0", "%mask")
            sectors = self._choice(self.near, lambda: of_near, lambda: self._units(SECTOR_SHIFT))
            few = text.value(f"icmp ult i64 {sectors}, {self.lanes}")
            distinct = self._distinct(text.value(f"select i1 {self.near}, i1 false, i1 {few}"), n_bytes)
            ideal = self._apply("ideal", 0, n_bytes, sectors)
            self._count({L.X_BYTES: n_bytes, L.X_SECTORS: sectors, L.X_SECTORS_IDEAL: ideal, L.X_DISTINCT: distinct})
            self._note_reached()
        self._in_arena(str(-int(L.ADDRESS_BASE)))

    def _note_reached(self) -> None:
        """As :func:`simt.machine.memory._note_reached`, if the launch wants to know."""
        text, kind, ones = self.text, f"<{WARP} x i8>", "<" + ", ".join(["i8 1"] * WARP) + ">"
        noting, side, apart, noted = (text.new_label(stem) for stem in ("noting", "side", "apart", "noted"))
        reached = self._field(L.V_REACHED)
        asked = text.value(f"icmp ne ptr {reached}, null")
        text.line(f"br i1 {asked}, label %{noting}, label %{noted}")
        text.label(noting)
        begin = text.value(f"getelementptr i8, ptr {reached}, i64 {-int(L.ADDRESS_BASE) >> L.REACH_SHIFT}")
        text.line(f"br i1 {self.near}, label %{side}, label %{apart}")
        text.label(side)
        first, last = (text.value(f"ashr i64 {address}, {L.REACH_SHIFT}") for address in (self.lo, self.hi))
        text.declare("declare i64 @llvm.smin.i64(i64, i64)")
        for k in range(-(-WARP * self.size // L.REACH) + 1):
            unit = text.value(f"call i64 @llvm.smin.i64(i64 {text.value(f'add i64 {first}, {k}')}, i64 {last})")
            text.line(f"store i8 1, ptr {text.value(f'getelementptr i8, ptr {begin}, i64 {unit}')}, align 1")
        text.line(f"br label %{noted}")
        text.label(apart)
        units = text.value(f"ashr {ALL} {self.given}, {text.spread(str(L.REACH_SHIFT), WARP)}")
        pointers = text.value(f"getelementptr i8, ptr {begin}, {ALL} {units}")
        name, every = f"@llvm.masked.scatter.v{WARP}i8.v{WARP}p0", "<" + ", ".join(["i1 true"] * WARP) + ">"
        text.declare(f"declare void {name}({kind}, <{WARP} x ptr>, i32, {MASK})")
        text.line(f"call void {name}({kind} {ones}, <{WARP} x ptr> {pointers}, i32 1, {MASK} {every})")
        text.line(f"br label %{noted}")
        text.label(noted)

    def _in_shared(self) -> None:
        text = self.text
        launch = self._field(L.V_LAUNCH)
        limit = text.load(launch, L.LAUNCH_SHARED_BYTES)
        self._unless(self._apply("holds", self.size, "0", limit, self.lo, self.hi))
        n_bytes = text.value(f"shl i64 {self.lanes}, {self.shift}")
        one_pass = text.value(f"icmp ne i64 {self._apply('one_pass', self.size, self.lo, self.hi)}, 0")
        found = self._choice(one_pass, lambda: str(1 << PASSES | 1), lambda: self._apart("wavefronts", self.shift))
        passes, ideal = text.value(f"lshr i64 {found}, {PASSES}"), text.value(f"and i64 {found}, {LOW}")
        distinct = self._distinct(text.value(f"xor i1 {self.near}, true"), n_bytes)
        self._count({L.X_BYTES: n_bytes, L.X_WAVEFRONTS: passes, L.X_WAVEFRONTS_IDEAL: ideal, L.X_DISTINCT: distinct})
        self._in_arena(text.load(launch, L.LAUNCH_SHARED))

    def _in_arena(self, start: str) -> None:
        """Where address 0 would stand, which is *start* in the arena; and what the request asked for there."""
        text = self.text
        self.base = text.value(f"getelementptr i8, ptr {self._field(L.V_MEMORY)}, i64 {start}")
        if self.tells:
            there = text.value(f"add {ALL} {self.given}, {text.spread(start, WARP)}")
            text.line(f"store {ALL} {there}, ptr {self._field(V_LANES)}, align 8")
            text.line(f"store <{L.N_MEMORY} x i64> {self.request}, ptr {self._field(V_REQUEST)}, align 8")

    def _choice(self, condition: str, yes: Callable[[], str], no: Callable[[], str]) -> str:
        """What *yes* emits where a condition holds, else what *no* does."""
        text = self.text
        labels = [text.new_label(stem) for stem in ("yes", "no", "both")]
        text.line(f"br i1 {condition}, label %{labels[0]}, label %{labels[1]}")
        ways = []
        for label, emit in zip(labels, (yes, no), strict=False):
            text.label(label)
            ways.append(f"[{emit()}, %{text.block}]")
            text.line(f"br label %{labels[2]}")
        text.label(labels[2])
        return text.value(f"phi i64 {', '.join(ways)}")

    def _distinct(self, meet: str, n_bytes: str) -> str:
        """Bytes asked for, each once: all of them unless lanes may *meet* at an address."""

        def units() -> str:
            return self.text.value(f"shl i64 {self._units(self.shift)}, {self.shift}")

        return self._choice(meet, units, lambda: n_bytes)

    def _units(self, shift: int) -> str:
        """Units of 2**shift bytes that the lanes touch."""
        text = self.text
        first, last = (text.value(f"ashr i64 {address}, {shift}") for address in (self.lo, self.hi))
        close = text.value(f"icmp ult i64 {text.value(f'sub i64 {last}, {first}')}, 64")

        def together() -> str:
            bits = self._apply("unit_bit", shift, self.given, text.spread(first, WARP), lanes=WARP)
            return text.value(f"call i64 @llvm.ctpop.i64(i64 {self._reduced('or', bits)})")

        def several() -> str:
            return self._choice(close, together, lambda: self._apart("units", shift))

        return self._choice(text.value(f"icmp eq i64 {first}, {last}"), lambda: "1", several)

    def _apart(self, name: str, imm: int) -> str:
        """What a function that looks at the addresses one by one finds."""
        text = self.text
        text.line(f"store {ALL} {self.given}, ptr %scratch, align 64")
        place = text.value("ptrtoint ptr %scratch to i64")
        return text.call((name, imm), "%context", place, self.lo, self.hi, "%mask")

    def _count(self, request: dict[int, str]) -> None:
        """Add a request to the counters of the micro-op."""
        text, kind = self.text, f"<{L.N_MEMORY} x i64>"
        values = ["1" if column == L.X_REQUESTS else "0" for column in range(L.N_MEMORY)]
        vector = "<" + ", ".join(f"i64 {value}" for value in values) + ">"
        for column, value in request.items():
            vector = text.value(f"insertelement {kind} {vector}, i64 {value}, i64 {column}")
        self.request = vector
        at = text.value(f"add i64 {text.value(f'mul i64 %pc, {L.N_COUNT}')}, {int(L.N_REQUESTS)}")
        place = text.at(self._field(L.V_COUNTS), at)
        old = text.value(f"load {kind}, ptr {place}, align 8")
        text.line(f"store {kind} {text.value(f'add {kind} {old}, {vector}')}, ptr {place}, align 8")
