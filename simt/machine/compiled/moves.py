"""The data of a load or store in native code, between 32 lanes' registers and the places in memory that they name.

Memory holds items: integers of one register each, or 64-bit words of two registers each (accesses of two and of four
registers).  Lanes that lie side by side, or have the same address, move as vectors do, and so do eight neighbours; else
each lane's items are gathered.
"""

from __future__ import annotations

from dataclasses import dataclass

from simt.machine.compiled.accesses import TYPES
from simt.machine.compiled.shapes import ALL, APART, MASK, NEAR, ONE, RUN, RUNS_OF_EIGHT, SAME_EIGHTS, WARP, heads
from simt.machine.compiled.text import LANES, Text
from simt.machine.layout import FULL

ROW_BYTES = 8 * WARP
HOST_LINE = 64
"""Bytes of a line of the host's caches."""
AHEAD = 256
"""How far ahead runs of loads are fetched, in bytes: a reduction of 64 MB by eight such runs takes 16 to 20 % less time
with 128 to 512, 10 % less with 2048."""
_REGISTERS = {"v2": 2, "v4": 4}
_WORD = 8
"""Bytes of a 64-bit word."""


@dataclass(frozen=True)
class Places:
    """Where 32 lanes access memory, in LLVM's names."""

    base: str
    """Where address 0 is."""
    raw: str
    """What the lanes have, and what is to be added for their addresses; of lanes that do not execute, anything."""
    imm: str
    mask: str
    """The lanes that execute."""
    first: str
    """The address of the first of them."""
    number: str
    """Which lane that is."""
    shape: str
    """Address of the shape, which has how far each lane is from it (0: of lanes that do not execute)."""


class Mover:
    """Writes what moves the data of one access type."""

    def __init__(self, text: Text, mod: int, places: Places) -> None:
        self.text, self.places = text, places
        self.type, self.size = TYPES[mod]
        self.registers = _REGISTERS.get(self.type, 1)
        self.words = max(self.size // _WORD, 1)
        """Items of a lane."""
        self.item = f"i{8 * min(self.size, _WORD)}"
        self.kind = f"<{WARP} x {self.item}>"
        self.every = f"<{WARP * self.words} x {self.item}>"

    def load(self, way: str, fetches_ahead: bool) -> None:
        """Load into the rows at %row in one of the ways of a shape; nothing is kept where that is null."""
        text, here = self.text, self.places
        loaded = text.new_label("loaded")
        ways: list[tuple[list[str], str]] = []

        def got(items: list[str]) -> None:
            ways.append((items, text.block))
            text.line(f"br label %{loaded}")

        labels = self._switch(way)
        text.label(labels[RUN])
        start = self._start()
        if fetches_ahead:
            self._fetch_ahead(start)
        got(self._parted(text.value(f"load {self.every}, ptr {start}, align {self._align}")))
        text.label(labels[NEAR])
        got(self._parted(self._masked_load(self._start())))
        text.label(labels[ONE])
        got([self._spread([self._item(here.first, k)]) for k in range(self.words)])
        text.label(labels[SAME_EIGHTS])
        first = heads(text, here.first, here.shape)
        got([self._spread([self._item(address, k) for address in first]) for k in range(self.words)])
        text.label(labels[RUNS_OF_EIGHT])
        got(self._parted(self._joined([self._vector(address) for address in heads(text, here.first, here.shape)])))
        text.label(labels[APART])
        got([self._gathered(k) for k in range(self.words)])
        text.label(loaded)
        items = [
            text.value(f"phi {self.kind} " + ", ".join(f"[{found[k]}, %{block}]" for found, block in ways))
            for k in range(self.words)
        ]
        none, keep = text.new_label("none"), text.new_label("keep")
        text.fork(text.value("icmp eq ptr %row, null"), none, keep)
        text.label(keep)
        whole, part = text.new_label("whole"), text.new_label("part")
        rows = self._rows(items)
        text.fork(text.value(f"icmp eq i64 %mask, {int(FULL)}"), whole, part)
        text.label(whole)
        for k, row in enumerate(rows):
            text.line(f"store {ALL} {row}, ptr {self._row('%row', k)}, align 8")
        text.line(f"br label %{none}")
        text.label(part)
        for k, row in enumerate(rows):
            text.blend(row, self._row("%row", k), WARP, here.mask)
        text.line(f"br label %{none}")
        text.label(none)

    def store(self, way: str, zero: str, last: int) -> None:
        """Store the rows at %row in one of the ways; behind the row at *zero*, which is RZ, are no others.

        *last*: see :func:`simt.machine.memory.last_of_group`.
        """
        text, name = self.text, f"@llvm.masked.store.{self._name(self.words)}.p0"
        apart = text.value(f"select i1 {text.value(f'icmp eq ptr %row, {zero}')}, i64 0, i64 {ROW_BYTES}")
        rows = [text.value(f"load {ALL}, ptr {self._row('%row', k, apart)}, align 8") for k in range(self.registers)]
        items = self._items(rows)
        full, near, far, done = (text.new_label(stem) for stem in ("full", "near", "far", "done"))
        text.line(f"switch i64 {way}, label %{far} [i64 {RUN}, label %{full} i64 {NEAR}, label %{near}]")
        text.label(full)
        text.line(f"store {self.every} {self._interleaved(items)}, ptr {self._start()}, align {self._align}")
        text.line(f"br label %{done}")
        text.label(near)
        text.declare(f"declare void {name}({self.every}, ptr, i32, {self._masks})")
        text.line(
            f"call void {name}({self.every} {self._interleaved(items)}, "
            f"ptr {self._start()}, i32 {self._align}, {self._masks} {self._mask_of_items()})"
        )
        text.line(f"br label %{done}")
        text.label(far)
        self._scatter(items, last)
        text.line(f"br label %{done}")
        text.label(done)

    def _switch(self, way: str) -> list[str]:
        """Go on at one of so many new labels."""
        labels = [self.text.new_label("way") for _ in range(APART + 1)]
        cases = " ".join(f"i64 {k}, label %{label}" for k, label in enumerate(labels[:APART]))
        self.text.line(f"switch i64 {way}, label %{labels[APART]} [{cases}]")
        return labels

    def _start(self) -> str:
        """The place of lane 0, if they lie side by side."""
        before = self.text.value(f"mul i64 {self.places.number}, {-self.size}")
        return self._at(self.text.value(f"add i64 {self.places.first}, {before}"))

    def _scatter(self, items: list[str], last: int) -> None:
        """A scatter writes its lanes in ascending order: the last to write an address must be the one that stays."""
        text, pointers = self.text, f"<{WARP} x ptr>"
        name = f"@llvm.masked.scatter.{self._name()}.v{WARP}p0"
        turn = "<" + ", ".join(f"i32 {lane ^ last}" for lane in range(WARP)) + ">"
        text.declare(f"declare void {name}({self.kind}, {pointers}, i32, {MASK})")

        def turned(kind: str, value: str) -> str:
            return text.value(f"shufflevector {kind} {value}, {kind} poison, <{WARP} x i32> {turn}")

        mask = turned(MASK, self.places.mask)
        for k, item in enumerate(items):
            text.line(
                f"call void {name}({self.kind} {turned(self.kind, item)}, "
                f"{pointers} {turned(pointers, self._pointers(k))}, i32 {self._align}, {MASK} {mask})"
            )

    @property
    def _align(self) -> int:
        return min(self.size, _WORD)

    @property
    def _masks(self) -> str:
        return f"<{WARP * self.words} x i1>"

    def _name(self, words: int = 1) -> str:
        """LLVM's name of a vector's type."""
        return f"v{WARP * words}{self.item}"

    def _at(self, address: str, offset: int = 0) -> str:
        place = self.text.value(f"getelementptr i8, ptr {self.places.base}, i64 {address}")
        return self.text.value(f"getelementptr i8, ptr {place}, i64 {offset}") if offset else place

    def _row(self, first: str, k: int, apart: int | str = ROW_BYTES) -> str:
        """Address of row *k* of those that begin at an address."""
        if k == 0:
            return first
        return self.text.value(f"getelementptr i8, ptr {first}, i64 {self.text.value(f'mul i64 {apart}, {k}')}")

    def _item(self, address: str, k: int) -> str:
        return self.text.value(f"load {self.item}, ptr {self._at(address, k * _WORD)}, align {self._align}")

    def _vector(self, address: str) -> str:
        """The items of as many lanes as are computed at once, side by side."""
        kind = f"<{LANES * self.words} x {self.item}>"
        return self.text.value(f"load {kind}, ptr {self._at(address)}, align {self._align}")

    def _shuffled(self, one: str, other: str, kind: str, order: list[int]) -> str:
        lanes = "<" + ", ".join(f"i32 {k}" for k in order) + ">"
        return self.text.value(f"shufflevector {kind} {one}, {kind} {other}, <{len(order)} x i32> {lanes}")

    def _spread(self, items: list[str]) -> str:
        """An item for all lanes, or one for each eight neighbours."""
        kind, value = f"<{len(items)} x {self.item}>", "poison"
        for k, item in enumerate(items):
            value = self.text.value(f"insertelement {kind} {value}, {self.item} {item}, i64 {k}")
        return self._shuffled(value, "poison", kind, [lane * len(items) // WARP for lane in range(WARP)])

    def _joined(self, parts: list[str]) -> str:
        """Vectors one behind the other."""
        size = LANES * self.words
        while len(parts) > 1:
            kind = f"<{size} x {self.item}>"
            parts = [
                self._shuffled(one, other, kind, list(range(2 * size)))
                for one, other in zip(parts[::2], parts[1::2], strict=True)
            ]
            size *= 2
        return parts[0]

    def _parted(self, every: str) -> list[str]:
        """Of all items as memory has them, lane after lane, the first of each lane, the second ..."""
        if self.words == 1:
            return [every]
        return [
            self._shuffled(every, "poison", self.every, [self.words * lane + k for lane in range(WARP)])
            for k in range(self.words)
        ]

    def _interleaved(self, items: list[str]) -> str:
        """The items as memory has them."""
        if self.words == 1:
            return items[0]
        order = [k * WARP + lane for lane in range(WARP) for k in range(self.words)]
        return self._shuffled(items[0], items[1], self.kind, order)

    def _mask_of_items(self) -> str:
        if self.words == 1:
            return self.places.mask
        order = [k // self.words for k in range(WARP * self.words)]
        return self._shuffled(self.places.mask, "poison", MASK, order)

    def _masked_load(self, start: str) -> str:
        text, kind, name = self.text, self.every, self._name(self.words)
        text.declare(f"declare {kind} @llvm.masked.load.{name}.p0(ptr, i32, {self._masks}, {kind})")
        return text.value(
            f"call {kind} @llvm.masked.load.{name}.p0(ptr {start}, i32 {self._align}, "
            f"{self._masks} {self._mask_of_items()}, {kind} zeroinitializer)"
        )

    def _pointers(self, k: int) -> str:
        """The places of item *k* of each lane."""
        base = self.places.base
        if k:
            base = self.text.value(f"getelementptr i8, ptr {base}, i64 {k * _WORD}")
        given = self.text.value(f"add {ALL} {self.places.raw}, {self.text.spread(self.places.imm, WARP)}")
        return self.text.value(f"getelementptr i8, ptr {base}, {ALL} {given}")

    def _gathered(self, k: int) -> str:
        text, kind, pointers = self.text, self.kind, f"<{WARP} x ptr>"
        places = self._pointers(k)
        text.declare(f"declare {kind} @llvm.masked.gather.{self._name()}.v{WARP}p0({pointers}, i32, {MASK}, {kind})")
        return text.value(
            f"call {kind} @llvm.masked.gather.{self._name()}.v{WARP}p0({pointers} {places}, i32 {self._align}, "
            f"{MASK} {self.places.mask}, {kind} zeroinitializer)"
        )

    def _rows(self, items: list[str]) -> list[str]:
        """Slots of registers, of the items loaded."""
        text = self.text
        if self.size < _WORD:
            return [text.value(f"{'sext' if self.type[0] == 's' else 'zext'} {self.kind} {items[0]} to {ALL}")]
        if self.registers == 1:
            return items
        low, high = text.spread(str(0xFFFFFFFF), WARP), text.spread("32", WARP)
        return [text.value(f"{how} {ALL} {item}, {by}") for item in items for how, by in (("and", low), ("lshr", high))]

    def _items(self, rows: list[str]) -> list[str]:
        """What memory is to hold, of slots of registers."""
        text = self.text
        if self.size < _WORD:
            return [text.value(f"trunc {ALL} {rows[0]} to {self.kind}")]
        if self.registers == 1:
            return rows
        low, high = text.spread(str(0xFFFFFFFF), WARP), text.spread("32", WARP)
        return [
            text.value(f"or {ALL} {text.value(f'and {ALL} {one}, {low}')}, {text.value(f'shl {ALL} {other}, {high}')}")
            for one, other in zip(rows[::2], rows[1::2], strict=True)
        ]

    def _fetch_ahead(self, start: str) -> None:
        """Have the host fetch what comes behind a run of addresses: the next warps mostly load that.

        By itself it does not begin soon enough, as several loads of a warp are so many runs.
        """
        text = self.text
        text.declare("declare void @llvm.prefetch.p0(ptr, i32, i32, i32)")
        for behind in range(0, WARP * self.size, HOST_LINE):
            at = text.value(f"getelementptr i8, ptr {start}, i64 {AHEAD + behind}")
            text.line(f"call void @llvm.prefetch.p0(ptr {at}, i32 0, i32 3, i32 1)")
