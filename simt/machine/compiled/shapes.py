"""What the accesses of a micro-op have in common: mostly its lanes are as far from each other as the last time.

The shape of an access is which lanes execute, and how far their addresses are from that of the first of these.  What
it counts as follows from its shape, and from where the first address is within a sector; so both are kept from one
access of a micro-op to its next one, and looked at lane by lane only where they differ.
"""

from __future__ import annotations

from collections.abc import Callable

from simt.machine import layout as L
from simt.machine.coalescing import SECTOR_SHIFT
from simt.machine.compiled.accesses import TYPES
from simt.machine.compiled.context import Helper
from simt.machine.compiled.lanes import lane_module
from simt.machine.compiled.parts import LOW, PASSES
from simt.machine.compiled.text import LANES, Text
from simt.machine.compiled.widen import Widener, scalar_of
from simt.ops.memory import ACCESS_SHIFT, GLOBAL, SHARED, SPACE_MASK, STORE

WARP = 32
ALL = f"<{WARP} x i64>"
MASK = f"<{WARP} x i1>"
SECTOR = 1 << SECTOR_SHIFT

# Columns of a shape, 64-bit words.  The first 32: how far the lanes are from the first one; lanes that do not execute
# are nowhere else.
S_LANES = WARP
"""The lanes that execute."""
S_FROM = WARP + 1
"""Where the first address is at the lowest, for an allocation to hold all of them."""
S_ROOM = WARP + 2
"""How far beyond that it may be."""
S_WAY = WARP + 3
"""How the data moves: one of the ways."""
S_KNOWN = WARP + 4
"""The places within a sector of which it is known what an access counts as there: a bit each.  0: there is no shape."""
S_SPAN = WARP + 5
"""Of global memory: how far the highest address is from the lowest, if every unit of REACH bytes there is accessed.
Else EVEN, if all lanes are a multiple of REACH from the first one, or UNEVEN."""
S_LOWEST = WARP + 6
"""How far the lowest address is beyond the first."""
S_NOTED = WARP + 7
"""Where lanes are EVEN: the unit of the first one when their units were last noted.  -1: they were not."""
S_REQUESTS = WARP + 8
"""What it counts as, N_MEMORY words for each place within a sector that an aligned access may have."""

RUN, NEAR, ONE, SAME_EIGHTS, RUNS_OF_EIGHT, APART = range(6)
"""The ways: all lanes side by side, some of them; all at one address; each eight neighbours at one address, or side by
side; any other."""

EVEN, UNEVEN = -1, -2

_COUNTED = (GLOBAL, SHARED)
"""Spaces whose accesses count as something."""


def words_of(number: int, mod: int) -> int:
    """Words of a shape of a micro-op of memory and its access type: lines of the host's cache."""
    places = SECTOR // TYPES[mod][1] if number & SPACE_MASK in _COUNTED else 0
    return S_REQUESTS + places * L.N_MEMORY


class Learner:
    """Writes the function that finds out a shape, of one kind of access.

    ``void @learn(ptr context, i64 pc, ptr a, i64 imm, i64 mask, ptr shape)``: micro-op, address of row a, imm, exec
    lanes.  It sets the bit of S_KNOWN, unless the access is misaligned, or not to the allocation that the micro-op last
    touched.
    """

    NAME = "learn"
    PARAMETERS = "ptr %context, i64 %pc, ptr %a, i64 %imm, i64 %mask, ptr %shape"

    def __init__(self, kind: tuple[int, int]) -> None:
        number, mod = kind
        self.text = Text()
        self.space = number & SPACE_MASK
        self.stores = number >> ACCESS_SHIFT == STORE
        self.size = TYPES[mod][1]
        self.shift = self.size.bit_length() - 1

    def emit(self) -> list[str]:
        """The lines of the function."""
        self._addresses()
        self._range()
        self._keep(*self._bounds())
        if self.space == GLOBAL:
            self._keep_request(self._global_request())
        elif self.space == SHARED:
            self._keep_request(self._shared_request())
        text = self.text
        place = text.value(f"and i64 {self.first}, {SECTOR - 1}")
        known = text.value(f"or i64 {text.load('%shape', S_KNOWN)}, {text.value(f'shl i64 1, {place}')}")
        text.store(known, "%shape", S_KNOWN)
        text.line("ret void")
        text.label("odd")
        text.line("ret void")
        begin = f"define internal void @{self.NAME}({self.PARAMETERS}) noinline {{"
        return [begin, "entry:", f"  %scratch = alloca {ALL}, align 64", *text.lines, "}"]

    def _field(self, column: int) -> str:
        return self.text.pointer("%context", column)

    def _apply(self, part: str, imm: int, *arguments: str, lanes: int = 1) -> str:
        given = [*arguments, *["0"] * (4 - len(arguments))]
        return Widener(scalar_of(lane_module(part, imm)), lanes, self.text).emit(given)

    def _every(self, lanes: str) -> str:
        bits = self.text.value(f"bitcast {MASK} {lanes} to i{WARP}")
        return self.text.value(f"icmp eq i{WARP} {bits}, -1")

    def _reduced(self, how: str, value: str) -> str:
        self.text.declare(f"declare i64 @llvm.vector.reduce.{how}.v{WARP}i64({ALL})")
        return self.text.value(f"call i64 @llvm.vector.reduce.{how}.v{WARP}i64({ALL} {value})")

    def _unless(self, condition: str) -> None:
        """Go on where a condition (an i1) holds; else there is no shape."""
        label = self.text.new_label("good")
        self.text.fork(condition, label, "odd")
        self.text.label(label)

    def _addresses(self) -> None:
        """Lanes, their addresses (of lanes that do not execute: that of one that does), and whether they are a run."""
        text = self.text
        text.declare("declare i64 @llvm.cttz.i64(i64, i1)")
        text.declare("declare i64 @llvm.ctpop.i64(i64)")
        self.lanes = text.value("call i64 @llvm.ctpop.i64(i64 %mask)")
        bits = text.value(f"trunc i64 %mask to i{WARP}")
        mask = text.value(f"bitcast i{WARP} {bits} to {MASK}")
        given = text.value(f"add {ALL} {text.value(f'load {ALL}, ptr %a, align 8')}, {text.spread('%imm', WARP)}")
        first = text.value("call i64 @llvm.cttz.i64(i64 %mask, i1 true)")
        self.first = text.value(f"add i64 {text.load('%a', first)}, %imm")
        self.given = text.value(f"select {MASK} {mask}, {ALL} {given}, {ALL} {text.spread(self.first, WARP)}")
        before = text.value(f"mul i64 {first}, {self.size}")
        self.start = text.value(f"sub i64 {self.first}, {before}")
        steps = "<" + ", ".join(f"i64 {k * self.size}" for k in range(WARP)) + ">"
        wanted = text.value(f"add {ALL} {text.spread(self.start, WARP)}, {steps}")
        idle = text.value(f"xor {MASK} {mask}, <{', '.join(['i1 true'] * WARP)}>")
        near = text.value(f"icmp eq {ALL} {given}, {wanted}")
        self.near = self._every(text.value(f"or {MASK} {near}, {idle}"))
        self.full = text.value(f"icmp eq i{WARP} {bits}, -1")

    def _range(self) -> None:
        """The lowest and the highest address; all are aligned."""
        text = self.text
        text.fork(self.near, "side", "any")
        text.label("side")
        text.declare("declare i64 @llvm.ctlz.i64(i64, i1)")
        last = text.value(f"sub i64 63, {text.value('call i64 @llvm.ctlz.i64(i64 %mask, i1 true)')}")
        end = text.value(f"add i64 {self.start}, {text.value(f'mul i64 {last}, {self.size}')}")
        text.line("br label %ranged")
        text.label("any")
        low, high, odd = (self._reduced(how, self.given) for how in ("smin", "smax", "or"))
        text.line("br label %ranged")
        text.label("ranged")
        self.lo, self.hi, bits = (
            text.value(f"phi i64 [{side}, %side], [{one}, %any]")
            for side, one in ((self.first, low), (end, high), (self.first, odd))
        )
        rest = text.value(f"and i64 {bits}, {self.size - 1}")
        self._unless(text.value(f"icmp eq i64 {rest}, 0"))

    def _bounds(self) -> tuple[str, str]:
        """Where the allocation begins and ends, which holds them."""
        text = self.text
        if self.space == SHARED:
            start, end = "0", text.load(self._field(L.V_LAUNCH), L.LAUNCH_SHARED_BYTES)
        else:
            hint = text.load(self._field(L.V_HINTS), "%pc")
            start, end = (text.load(self._field(column), hint) for column in (L.V_STARTS, L.V_ENDS))
        held = self._apply("holds", self.size, start, end, self.lo, self.hi)
        self._unless(text.value(f"icmp ne i64 {held}, 0"))
        if self.stores and self.space != SHARED:
            place = text.value(f"getelementptr i8, ptr {self._field(L.V_WRITABLE)}, i64 {hint}")
            self._unless(text.value(f"icmp ne i8 {text.value(f'load i8, ptr {place}')}, 0"))
        return start, end

    def _keep(self, start: str, end: str) -> None:
        """The shape, but for what it counts as."""
        text = self.text
        self.behind = text.value(f"sub {ALL} {self.given}, {text.spread(self.first, WARP)}")
        text.line(f"store {ALL} {self.behind}, ptr %shape, align 64")
        text.store("%mask", "%shape", S_LANES)
        below = text.value(f"sub i64 {self.lo}, {start}")
        last = text.value(f"sub i64 {end}, {self.size}")
        text.store(text.value(f"sub i64 {self.first}, {below}"), "%shape", S_FROM)
        text.store(text.value(f"add i64 {below}, {text.value(f'sub i64 {last}, {self.hi}')}"), "%shape", S_ROOM)
        text.store(self._way(), "%shape", S_WAY)
        if self.space == GLOBAL:
            text.store(self._span(), "%shape", S_SPAN)
            text.store(text.value(f"sub i64 {self.lo}, {self.first}"), "%shape", S_LOWEST)
            text.store("-1", "%shape", S_NOTED)

    def _span(self) -> str:
        text = self.text
        span = text.value(f"sub i64 {self.hi}, {self.lo}")
        close = self._choice(self.near, lambda: self._holds_no_gap(span), lambda: self._goes_in_steps(span))
        rest = text.value(f"and i64 {self._reduced('or', self.behind)}, {L.REACH - 1}")
        apart = text.value(f"select i1 {text.value(f'icmp eq i64 {rest}, 0')}, i64 {EVEN}, i64 {UNEVEN}")
        return text.value(f"select i1 {text.value(f'icmp ne i64 {close}, 0')}, i64 {span}, i64 {apart}")

    def _holds_no_gap(self, span: str) -> str:
        """Of lanes side by side: whether so few of them in a row are idle that none of the units is left out."""
        text = self.text
        reached = text.value(f"lshr i64 %mask, {text.value('call i64 @llvm.cttz.i64(i64 %mask, i1 true)')}")
        lanes = 1
        while lanes < min(L.REACH // self.size, WARP):
            reached = text.value(f"or i64 {reached}, {text.value(f'shl i64 {reached}, {lanes}')}")
            lanes *= 2
        end = text.value(f"call i64 @llvm.cttz.i64(i64 {text.value(f'xor i64 {reached}, -1')}, i1 false)")
        held = text.value(f"icmp ugt i64 {text.value(f'mul i64 {end}, {self.size}')}, {span}")
        return text.value(f"zext i1 {held} to i64")

    def _goes_in_steps(self, span: str) -> str:
        """Of others: whether none is far from the lane before it, nor all of them further than side by side."""
        text = self.text
        turned = ", ".join(f"i32 {max(lane - 1, 0)}" for lane in range(WARP))
        before = text.value(f"shufflevector {ALL} {self.behind}, {ALL} poison, <{WARP} x i32> <{turned}>")
        step = text.value(f"sub {ALL} {self.behind}, {before}")
        beyond = text.value(f"add {ALL} {step}, {text.spread(str(L.REACH), WARP)}")
        small = self._every(text.value(f"icmp ule {ALL} {beyond}, {text.spread(str(2 * L.REACH), WARP)}"))
        short = text.value(f"icmp ult i64 {span}, {WARP * self.size}")
        return text.value(f"zext i1 {text.value(f'and i1 {small}, {short}')} to i64")

    def _way(self) -> str:
        text = self.text

        def side() -> str:
            return text.value(f"select i1 {self.full}, i64 {RUN}, i64 {NEAR}")

        return self._choice(self.near, side, self._way_apart)

    def _way_apart(self) -> str:
        text, way = self.text, str(APART)
        for condition, found in (
            (self._in_eights(self.size), RUNS_OF_EIGHT),
            (self._in_eights(0), SAME_EIGHTS),
            (text.value(f"icmp eq i64 {self.lo}, {self.hi}"), ONE),
        ):
            way = text.value(f"select i1 {condition}, i64 {found}, i64 {way}")
        return way

    def _in_eights(self, step: int) -> str:
        """Whether each eight neighbours are *step* bytes from each other."""
        text = self.text
        lanes = "<" + ", ".join(f"i32 {lane - lane % LANES}" for lane in range(WARP)) + ">"
        heads = text.value(f"shufflevector {ALL} {self.behind}, {ALL} poison, <{WARP} x i32> {lanes}")
        wanted = "<" + ", ".join(f"i64 {lane % LANES * step}" for lane in range(WARP)) + ">"
        return self._every(text.value(f"icmp eq {ALL} {text.value(f'sub {ALL} {self.behind}, {heads}')}, {wanted}"))

    def _global_request(self) -> dict[int, str]:
        text = self.text
        n_bytes = text.value(f"shl i64 {self.lanes}, {self.shift}")
        of_near = self._apply("near_sectors", self.shift, self.start, "0", "0", "%mask")
        sectors = self._choice(self.near, lambda: of_near, lambda: self._units(SECTOR_SHIFT))
        few = text.value(f"icmp ult i64 {sectors}, {self.lanes}")
        distinct = self._distinct(text.value(f"select i1 {self.near}, i1 false, i1 {few}"), n_bytes)
        ideal = self._apply("ideal", 0, n_bytes, sectors)
        return {L.X_BYTES: n_bytes, L.X_SECTORS: sectors, L.X_SECTORS_IDEAL: ideal, L.X_DISTINCT: distinct}

    def _shared_request(self) -> dict[int, str]:
        text = self.text
        n_bytes = text.value(f"shl i64 {self.lanes}, {self.shift}")
        one_pass = text.value(f"icmp ne i64 {self._apply('one_pass', self.size, self.lo, self.hi)}, 0")
        found = self._choice(one_pass, lambda: str(1 << PASSES | 1), lambda: self._apart("wavefronts", self.shift))
        passes, ideal = text.value(f"lshr i64 {found}, {PASSES}"), text.value(f"and i64 {found}, {LOW}")
        distinct = self._distinct(text.value(f"xor i1 {self.near}, true"), n_bytes)
        return {L.X_BYTES: n_bytes, L.X_WAVEFRONTS: passes, L.X_WAVEFRONTS_IDEAL: ideal, L.X_DISTINCT: distinct}

    def _choice(self, condition: str, yes: Callable[[], str], no: Callable[[], str]) -> str:
        """What *yes* emits where a condition holds, else what *no* does."""
        text = self.text
        labels = [text.new_label(stem) for stem in ("yes", "no", "both")]
        text.fork(condition, labels[0], labels[1])
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
        helper: Helper = (name, imm)
        return text.call(helper, "%context", place, self.lo, self.hi, "%mask")

    def _keep_request(self, request: dict[int, str]) -> None:
        text, kind = self.text, f"<{L.N_MEMORY} x i64>"
        values = ["1" if column == L.X_REQUESTS else "0" for column in range(L.N_MEMORY)]
        vector = "<" + ", ".join(f"i64 {value}" for value in values) + ">"
        for column, value in request.items():
            vector = text.value(f"insertelement {kind} {vector}, i64 {value}, i64 {column}")
        text.line(f"store {kind} {vector}, ptr {request_at(text, self.first, self.size)}, align 64")


def heads(text: Text, first: str, shape: str) -> list[str]:
    """The addresses of the first of each eight neighbours, in a shape: that of the first lane is *first*.

    Lanes that do not execute have an address like others, which may be loaded.
    """
    return [text.value(f"add i64 {first}, {text.load(shape, lane)}") for lane in range(0, WARP, LANES)]


def request_at(text: Text, first: str, size: int) -> str:
    """The address in %shape of what an aligned access counts as whose first address is *first*."""
    place = text.value(f"lshr i64 {text.value(f'and i64 {first}, {SECTOR - size}')}, {size.bit_length() - 1}")
    return text.at(text.at("%shape", S_REQUESTS), text.value(f"mul i64 {place}, {L.N_MEMORY}"))
