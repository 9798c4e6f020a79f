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
from simt.machine.compiled.accesses import ACCESSES, ANY, SIMPLE_TYPES, TELLING
from simt.machine.compiled.context import Helper
from simt.machine.compiled.control import V_LANES, V_REQUEST
from simt.machine.compiled.lanes import LANE, lane_module
from simt.machine.compiled.parts import FEWEST, LOW, PASSES
from simt.machine.compiled.text import Text
from simt.machine.compiled.widen import Widener, scalar_of
from simt.ops.memory import ACCESS_SHIFT, GLOBAL, SHARED, SPACE_MASK, STORE

WARP = 32
ALL = f"<{WARP} x i64>"
MASK = f"<{WARP} x i1>"
HOST_LINE = 64
"""Bytes of a line of the host's caches."""
AHEAD = 256
"""How far ahead runs of loads are fetched, in bytes: a reduction of 64 MB by eight such runs takes 16 to 20 % less time
with 128 to 512, 10 % less with 2048."""
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
        self.type, self.size = SIMPLE_TYPES[mod]
        self.shift = self.size.bit_length() - 1

    def emit(self) -> Text:
        """The function: context, micro-op, addresses of rows a, b and d (null: none), imm, exec lanes (not empty)."""
        self._addresses()
        self._range()
        if self.space == SHARED:
            self._in_shared()
        else:
            self._in_global()
        if self.stores:
            self._store()
        else:
            self._load()
        self.text.line("ret i64 1")
        self._otherwise()
        begin = f"define i64 @{LANE}({PARAMETERS}) {{"
        room = f"  %scratch = alloca {ALL}, i64 2, align 64"
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
        text.line(f"br i1 {self.near}, label %side, label %any")
        text.label("side")
        text.declare("declare i64 @llvm.ctlz.i64(i64, i1)")
        last = text.value(f"sub i64 63, {text.value('call i64 @llvm.ctlz.i64(i64 %mask, i1 true)')}")
        end = text.value(f"add i64 {self.start}, {text.value(f'mul i64 {last}, {self.size}')}")
        text.line("br label %ranged")
        text.label("any")
        low, high, odd = (self._reduced(how, self.given) for how in ("smin", "smax", "or"))
        text.line("br label %ranged")
        text.label("ranged")
        self.lo = text.value(f"phi i64 [{self.first}, %side], [{low}, %any]")
        self.hi = text.value(f"phi i64 [{end}, %side], [{high}, %any]")
        bits = text.value(f"phi i64 [{self.first}, %side], [{odd}, %any]")
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
        self._in_arena(str(-int(L.ADDRESS_BASE)))

    def _in_shared(self) -> None:
        text = self.text
        launch = self._field(L.V_LAUNCH)
        limit = text.load(launch, L.LAUNCH_SHARED_BYTES)
        self._unless(self._apply("holds", self.size, "0", limit, self.lo, self.hi))
        n_bytes = text.value(f"shl i64 {self.lanes}, {self.shift}")

        def together() -> str:
            units = self._choice(self.near, lambda: self.lanes, lambda: self._units(self.shift))
            return text.value(f"add i64 {units}, {1 << PASSES | 1 << FEWEST}")

        one_pass = text.value(f"icmp ne i64 {self._apply('one_pass', self.size, self.lo, self.hi)}, 0")
        found = self._choice(one_pass, together, lambda: self._apart("wavefronts", self.shift))
        passes = text.value(f"lshr i64 {found}, {PASSES}")
        ideal = text.value(f"and i64 {text.value(f'lshr i64 {found}, {FEWEST}')}, {LOW}")
        distinct = text.value(f"shl i64 {text.value(f'and i64 {found}, {LOW}')}, {self.shift}")
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

        return self._choice(close, together, lambda: self._apart("units", shift))

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

    def _load(self) -> None:
        text = self.text
        item = f"i{8 * self.size}"
        kind, pointers = f"<{WARP} x {item}>", f"<{WARP} x ptr>"
        start = text.value(f"getelementptr i8, ptr {self.base}, i64 {self.start}")
        near, far, full, loaded = (text.new_label(stem) for stem in ("near", "far", "full", "loaded"))
        part = text.new_label("part")
        text.line(f"br i1 {self.run}, label %{full}, label %{part}")
        text.label(full)
        if self.space == GLOBAL:
            self._fetch_ahead(start)
        whole = text.value(f"load {kind}, ptr {start}, align {self.size}")
        text.line(f"br label %{loaded}")
        text.label(part)
        text.line(f"br i1 {self.near}, label %{near}, label %{far}")
        text.label(near)
        text.declare(f"declare {kind} @llvm.masked.load.v{WARP}{item}.p0(ptr, i32, {MASK}, {kind})")
        side_by_side = text.value(
            f"call {kind} @llvm.masked.load.v{WARP}{item}.p0(ptr {start}, i32 {self.size}, {MASK} {self.mask}, "
            f"{kind} zeroinitializer)"
        )
        text.line(f"br label %{loaded}")
        text.label(far)
        places = text.value(f"getelementptr i8, ptr {self.base}, {ALL} {self.given}")
        text.declare(f"declare {kind} @llvm.masked.gather.v{WARP}{item}.v{WARP}p0({pointers}, i32, {MASK}, {kind})")
        gathered = text.value(
            f"call {kind} @llvm.masked.gather.v{WARP}{item}.v{WARP}p0({pointers} {places}, i32 {self.size}, "
            f"{MASK} {self.mask}, {kind} zeroinitializer)"
        )
        text.line(f"br label %{loaded}")
        text.label(loaded)
        value = text.value(f"phi {kind} [{whole}, %{full}], [{side_by_side}, %{near}], [{gathered}, %{far}]")
        if self.size < 8:
            value = text.value(f"{'sext' if self.type[0] == 's' else 'zext'} {kind} {value} to {ALL}")
        none, keep = text.new_label("none"), text.new_label("keep")
        text.line(f"br i1 {text.value('icmp eq ptr %d, null')}, label %{none}, label %{keep}")
        text.label(keep)
        text.blend(value, "%d", WARP, self.mask)
        text.line(f"br label %{none}")
        text.label(none)

    def _fetch_ahead(self, start: str) -> None:
        """Have the host fetch what comes behind a run of addresses: the next warps mostly load that.

        By itself it does not begin soon enough, as several loads of a warp are so many runs.
        """
        text = self.text
        text.declare("declare void @llvm.prefetch.p0(ptr, i32, i32, i32)")
        for behind in range(0, WARP * self.size, HOST_LINE):
            at = text.value(f"getelementptr i8, ptr {start}, i64 {AHEAD + behind}")
            text.line(f"call void @llvm.prefetch.p0(ptr {at}, i32 0, i32 3, i32 1)")

    def _store(self) -> None:
        text = self.text
        item = f"i{8 * self.size}"
        kind, pointers = f"<{WARP} x {item}>", f"<{WARP} x ptr>"
        value = text.value(f"load {ALL}, ptr %b, align 8")
        if self.size < 8:
            value = text.value(f"trunc {ALL} {value} to {kind}")
        near, far, done = (text.new_label(stem) for stem in ("near", "far", "done"))
        text.line(f"br i1 {self.near}, label %{near}, label %{far}")
        text.label(near)
        start = text.value(f"getelementptr i8, ptr {self.base}, i64 {self.start}")
        text.declare(f"declare void @llvm.masked.store.v{WARP}{item}.p0({kind}, ptr, i32, {MASK})")
        text.line(
            f"call void @llvm.masked.store.v{WARP}{item}.p0({kind} {value}, ptr {start}, i32 {self.size}, "
            f"{MASK} {self.mask})"
        )
        text.line(f"br label %{done}")
        text.label(far)
        # A scatter writes its lanes in ascending order: the last to write an address must be the one that stays.
        last = int(self._apply("last_of_group", self.shift))
        turn = "<" + ", ".join(f"i32 {k ^ last}" for k in range(WARP)) + ">"
        places = text.value(f"getelementptr i8, ptr {self.base}, {ALL} {self.given}")
        turned = [
            text.value(f"shufflevector {each} {one}, {each} poison, <{WARP} x i32> {turn}")
            for each, one in ((kind, value), (pointers, places), (MASK, self.mask))
        ]
        text.declare(f"declare void @llvm.masked.scatter.v{WARP}{item}.v{WARP}p0({kind}, {pointers}, i32, {MASK})")
        text.line(
            f"call void @llvm.masked.scatter.v{WARP}{item}.v{WARP}p0({kind} {turned[0]}, {pointers} {turned[1]}, "
            f"i32 {self.size}, {MASK} {turned[2]})"
        )
        text.line(f"br label %{done}")
        text.label(done)
