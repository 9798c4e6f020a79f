"""Code of a run of micro-ops that compute each lane by itself: LANES lanes at a time, or all, with values in registers.

Rules about which NaN stays cost more than the arithmetic: lanes that get no NaN are computed without them.

All results go to the register file when the run is done, under the mask of active lanes.  Where a micro-op may fail (an
index), all lanes are computed first, into scratch memory: if one fails nothing has been written, and the engine
executes the run once more, micro-op by micro-op.
"""

from __future__ import annotations

import re
from itertools import zip_longest

from simt.machine.compiled.lanes import lane_module, of_numbers, variants
from simt.machine.compiled.plan import Plan, Step, is_place
from simt.machine.compiled.text import Text, splat
from simt.machine.compiled.widen import NotWide, Widener, of_bits, scalar_of
from simt.machine.warp import AXES, COORDINATES
from simt.ops.integer import INDEX
from simt.ops.row import Kind

WARP = 32
FAILED = -1
"""Stands among the predicates for the lanes that failed."""


class Segment:
    """Emits one run, for the active lanes: *lanes* at a time."""

    def __init__(self, text: Text, plan: Plan, steps: list[Step], lanes: int) -> None:
        self.text = text
        self.plan = plan
        self.steps = steps
        self.lanes = lanes
        self.slots, self.bits, self.bit_type = f"<{self.lanes} x i64>", f"<{self.lanes} x i1>", f"i{self.lanes}"
        self.lane = "0"
        """The first of them."""
        self.base = "%rows"
        """Address of the first of them in row 0."""
        self.all_true = splat("true", self.lanes, "i1")
        self.checks = [step for step in steps if step.row.kind is Kind.ELEMENT]
        self.rows: dict[int, str] = {}
        """Values of register rows in these lanes, as the micro-ops up to now leave them."""
        self.dirty: list[int] = []
        """Those that have been written, in order."""
        self.whole: set[int] = set()
        """Those whose value is that of all lanes, not of the active ones only."""
        self.predicates: dict[int, str] = {}
        self.failed = splat("false", self.lanes, "i1")
        self.uniform: dict[int, str] = {}
        self.dims: dict[int, tuple[str, str]] = {}
        self.special: dict[int, str] = {}
        self.masks: dict[int, str] = {}
        predicates = {step.dst for step in steps if step.row.operands[0] == "p" and step.dst}
        self.written = sorted(one for one in predicates if plan.is_predicate_live(one, steps[-1].pc))
        """Predicates that are written, and read later."""
        self.has_rules = lanes < WARP and sum(of_numbers(step.row) is not None for step in steps) > 1
        """Whether to compute without rules about NaNs first."""
        self.numbers: list[str] | None = None
        """While it does so, the results in which each NaN shows: a NaN among a result's operands shows in it."""

    def emit(self) -> str | None:
        """Emit it; the mask of lanes in which a micro-op failed (then nothing is written), None if none can."""
        self._before()
        if self.lanes == WARP:
            self._emit_lanes()
            self.after = {one: self._bits_of(lanes) for one, lanes in self._carried().items()}
        else:
            self._loop()
        return self.after[FAILED] if self.checks else None

    def _loop(self) -> None:
        """All lanes, some at a time."""
        text = self.text
        entered, loop = text.block, text.new_label("lanes")
        text.line(f"br label %{loop}")
        text.label(loop)
        start = len(text.lines)
        self.lane = text.name()
        next_lane = text.name()
        text.line(f"{self.lane} = phi i64 [0, %{entered}], [{next_lane}, %<latch>]")
        carried = [*self.written, *([FAILED] if self.checks else [])]
        before = {one: text.name() for one in carried}
        self.after = {one: text.name() for one in carried}
        for one in carried:
            text.line(f"{before[one]} = phi i64 [0, %{entered}], [{self.after[one]}, %<latch>]")
        self.base = text.at("%rows", self.lane)
        self._emit_lanes()
        for one, lanes in self._carried().items():
            shifted = text.value(f"shl i64 {self._bits_of(lanes)}, {self.lane}")
            text.line(f"{self.after[one]} = or i64 {before[one]}, {shifted}")
        text.line(f"{next_lane} = add i64 {self.lane}, {self.lanes}")
        end = text.new_label("done")
        more = text.value(f"icmp ult i64 {next_lane}, {WARP}")
        latch = text.block
        text.line(f"br i1 {more}, label %{loop}, label %{end}")
        phis = slice(start, start + 1 + len(carried))
        text.lines[phis] = [line.replace("<latch>", latch) for line in text.lines[phis]]
        text.label(end)

    def _emit_lanes(self) -> None:
        """The micro-ops for these lanes, and, unless they may still fail in others, their results."""
        self.active = self._lanes_of(self.text.active)
        if self.has_rules:
            self._emit_ways()
        else:
            self._compute()
            self._keep()

    def _emit_ways(self) -> None:
        """Without rules about NaNs, and, where these lanes have got one so, once more with them."""
        text = self.text
        before = dict(self.rows), set(self.whole), dict(self.predicates), self.failed
        plain, ruled, both = (text.new_label(stem) for stem in ("numbers", "nans", "both"))
        self.numbers = []
        self._compute()
        some = self._bits_of(self._nans(self.numbers))
        self.numbers = None
        text.line(f"br i1 {text.value(f'icmp eq i64 {some}, 0')}, label %{plain}, label %{ruled}")
        text.label(plain)
        self._keep()
        ways = [(self._carried(), text.block)]
        text.line(f"br label %{both}")
        text.label(ruled)
        self.rows, self.whole, self.predicates, self.failed = before
        self.dirty.clear()
        self._compute()
        self._keep()
        ways.append((self._carried(), text.block))
        text.line(f"br label %{both}")
        text.label(both)
        for one in ways[0][0]:
            found = ", ".join(f"[{values[one]}, %{block}]" for values, block in ways)
            lanes = text.value(f"phi {self.bits} {found}")
            if one == FAILED:
                self.failed = lanes
            else:
                self.predicates[one] = lanes

    def _nans(self, values: list[str]) -> str:
        """Active lanes in which one of several floats is a NaN."""
        text, kind = self.text, f"<{self.lanes} x double>"
        floats = [text.value(f"bitcast {self.slots} {value} to {kind}") for value in values]
        found = splat("false", self.lanes, "i1")
        for one, other in zip_longest(floats[::2], floats[1::2], fillvalue=floats[0]):
            found = text.value(f"or {self.bits} {found}, {text.value(f'fcmp uno {kind} {one}, {other}')}")
        return text.value(f"and {self.bits} {found}, {self.active}")

    def _compute(self) -> None:
        for step in self.steps:
            self._step(step)

    def _keep(self) -> None:
        """Store the rows that are read later."""
        self.dirty[:] = [row for row in self.dirty if self.plan.is_live(row, self.steps[-1].pc)]
        for k, row in enumerate(self.dirty):
            if not self.checks:
                self._put(row, self.rows[row])
            elif self.lanes < WARP:
                self.text.line(f"store {self.slots} {self.rows[row]}, ptr {self._scratch(k)}, align 8")

    def _carried(self) -> dict[int, str]:
        """What is known of these lanes when they are done: the predicates written, and which failed."""
        found = {one: self.predicates[one] for one in self.written}
        return found | ({FAILED: self.failed} if self.checks else {})

    def commit(self) -> None:
        """Write what has been computed, if it is not written yet."""
        if self.checks and self.lanes == WARP:
            for row in self.dirty:
                self._put(row, self.rows[row])
        elif self.checks and self.dirty:
            self._copy()
        for one in self.written:
            self.text.store(self.after[one], "%predicates", one)

    def _before(self) -> None:
        """Load what is the same in all lanes."""
        text, plan = self.text, self.plan
        for step in self.steps:
            numbers = [step.guard, *(value for _, letter, value in step.sources if letter == "p")]
            if step.row.operands[0] == "p" and (step.guard or step.dst in self.written):
                numbers.append(2 * step.dst)
            for number in (number >> 1 for number in numbers):
                if number and number not in self.masks:
                    self.masks[number] = text.load("%predicates", number)
            for _, letter, row in step.sources:
                if letter == "r" and row < plan.uniform_end and row not in plan.constants and row not in self.uniform:
                    self.uniform[row] = text.spread(text.load("%uniform", row), self.lanes)
            if step.row.kind is Kind.ELEMENT and step.row.number == INDEX and step.imm not in self.dims:
                sizes = (text.spread(text.load("%dims", 2 * step.imm + k), self.lanes) for k in range(2))
                self.dims[step.imm] = (next(sizes), next(sizes))
            if is_place(step) and step.imm not in self.special:
                self.special[step.imm] = self._begun(step.imm)

    def _begun(self, imm: int) -> str:
        """Of a special register what is the same in all lanes: its value, or where their values stand."""
        text = self.text
        if imm < AXES:
            return text.at("%tid", self._apply("thread_index_at", imm, ["%warp"], 1))
        if imm < COORDINATES:
            place = self._apply("coordinate_at", imm, [], 1)
            return text.spread(text.load("%launch", place), self.lanes)
        return "<" + ", ".join(f"i64 {k}" for k in range(self.lanes)) + ">"

    def _special(self, imm: int) -> str:
        """A special register in these lanes."""
        text, begun = self.text, self.special[imm]
        if imm < AXES:
            return text.value(f"load {self.slots}, ptr {text.at(begun, self.lane)}, align 8")
        if imm < COORDINATES:
            return begun
        lanes = text.value(f"add {self.slots} {text.spread(self.lane, self.lanes)}, {begun}")
        return self._apply("of_lane", imm, [lanes], self.lanes)

    def _lanes_of(self, mask: str) -> str:
        shifted = self.text.value(f"lshr i64 {mask}, {self.lane}")
        return self.text.value(
            f"bitcast {self.bit_type} {self.text.value(f'trunc i64 {shifted} to {self.bit_type}')} to {self.bits}"
        )

    def _bits_of(self, lanes: str) -> str:
        byte = self.text.value(f"bitcast {self.bits} {lanes} to {self.bit_type}")
        return self.text.value(f"zext {self.bit_type} {byte} to i64")

    def _place(self, row: int) -> str:
        """Address of these lanes of a register row."""
        return self.text.at(self.base, row)

    def _scratch(self, k: int) -> str:
        """Address of these lanes of the row that is written as number *k*, in scratch memory."""
        return self.text.at("%scratch", self.text.value(f"add i64 {self.lane}, {32 * k}"))

    def _put(self, row: int, value: str) -> None:
        """Write these lanes of a register row."""
        place = self._place(row)
        if row in self.whole or self.plan.is_passing(row):
            self.text.line(f"store {self.slots} {value}, ptr {place}, align 8")
        else:
            self.text.blend(value, place, self.lanes, self.active)

    def _row(self, row: int) -> str:
        """Values of a register row."""
        if row in self.plan.constants:
            return splat(self.plan.constants[row], self.lanes)
        if row < self.plan.uniform_end:
            return self.uniform[row]
        if row not in self.rows:
            self.rows[row] = self.text.value(f"load {self.slots}, ptr {self._place(row)}, align 8")
            self.whole.add(row)
        return self.rows[row]

    def _whole_row(self, row: int) -> str:
        """The same for all lanes, inactive ones, too."""
        value = self._row(row)
        if row < self.plan.uniform_end or row in self.whole:
            return value
        old = self.text.value(f"load {self.slots}, ptr {self._place(row)}, align 8")
        return self._select(self.active, value, old)

    def _select(self, lanes: str, value: str, other: str, kind: str | None = None) -> str:
        kind = kind or self.slots
        return self.text.value(f"select {self.bits} {lanes}, {kind} {value}, {kind} {other}")

    def _predicate(self, operand: int) -> str:
        number = operand >> 1
        lanes = self.all_true
        if number:
            if number not in self.predicates:
                self.predicates[number] = self._lanes_of(self.masks[number])
            lanes = self.predicates[number]
        return self.text.value(f"xor {self.bits} {lanes}, {self.all_true}") if operand & 1 else lanes

    def _step(self, step: Step) -> None:
        guard = self._predicate(step.guard) if step.guard else None
        if step.row.kind is Kind.ELEMENT:
            self._write(step, self._element(step, guard), guard)
        elif step.row.operands[0] == "p":
            self._write_predicate(step, guard)
        elif step.dst:
            self._write(step, self._computed(step), guard)

    def _write(self, step: Step, value: str, guard: str | None) -> None:
        row = step.dst
        if not row:
            return
        if guard is not None:
            value = self._select(guard, value, self._row(row))
        if step.uniform:
            self.whole.add(row)
        elif row in self.whole and row in self.dirty:
            value = self._select(self.active, value, self.rows[row])
        else:
            self.whole.discard(row)
        self.rows[row] = value
        if row not in self.dirty:
            self.dirty.append(row)

    def _write_predicate(self, step: Step, guard: str | None) -> None:
        if not step.dst:
            return
        value = self._computed(step)
        if not self._takes_masks(step):
            value = self.text.value(f"trunc {self.slots} {value} to {self.bits}")
        if guard is not None:
            value = self._select(guard, value, self._predicate(2 * step.dst), self.bits)
        if not step.uniform and step.dst in self.written:
            value = self._select(self.active, value, self._predicate(2 * step.dst), self.bits)
        self.predicates[step.dst] = value

    @staticmethod
    def _takes_masks(step: Step) -> bool:
        return step.row.lane is not None and step.row.lane.__annotations__["return"] == "MASK"

    def _computed(self, step: Step) -> str:
        """What a lane function gives: slots, or lanes for a function of masks."""
        if is_place(step):
            return self._special(step.imm)
        name, imm = step.row.name, step.imm if self._has_imm(step) else 0
        if self._takes_masks(step):
            masks = [self._predicate(value) for _, _, value in step.sources]
            return of_bits(scalar_of(lane_module(name, imm)), self.lanes, self.text, masks)
        arguments = [self._source(step, letter, value) for _, letter, value in step.sources]
        if self.numbers is not None and (plain := of_numbers(step.row)):
            value = self._apply(plain, imm, arguments, self.lanes)
            self.numbers = [one for one in self.numbers if one not in arguments] + [value]
            return value
        choice = variants(step.row)
        divisor = self.plan.constants.get(step.b, 0)
        if choice is None or divisor & (divisor - 1) == 0 < divisor:
            return self._apply(name, imm, arguments, self.lanes, None if choice is None else divisor)
        return self._chosen(name, choice, arguments)

    @staticmethod
    def _has_imm(step: Step) -> bool:
        return step.row.lane is not None and "imm" in step.row.lane.__annotations__

    def _source(self, step: Step, letter: str, value: int) -> str:
        if letter == "p":
            return self.text.value(f"zext {self.bits} {self._predicate(value)} to {self.slots}")
        return self._whole_row(value) if step.uniform else self._row(value)

    def _chosen(self, name: str, choice: tuple[str, str], arguments: list[str]) -> str:
        """The faster function where all lanes allow it."""
        text = self.text
        alike = text.value(f"trunc {self.slots} {self._apply(choice[0], 0, arguments, self.lanes)} to {self.bits}")
        idle = text.value(f"xor {self.bits} {self.active}, {self.all_true}")
        byte = text.value(f"bitcast {self.bits} {text.value(f'or {self.bits} {alike}, {idle}')} to {self.bit_type}")
        fast, slow, end = (text.new_label(stem) for stem in ("fast", "slow", "chosen"))
        text.line(f"br i1 {text.value(f'icmp eq {self.bit_type} {byte}, -1')}, label %{fast}, label %{slow}")
        ways = []
        for label, function in ((fast, choice[1]), (slow, name)):
            text.label(label)
            ways.append(f"[{self._apply(function, 0, arguments, self.lanes)}, %{text.block}]")
            text.line(f"br label %{end}")
        text.label(end)
        return text.value(f"phi {self.slots} {', '.join(ways)}")

    def _apply(self, name: str, imm: int, arguments: list[str], lanes: int, b: int | None = None) -> str:
        module = lane_module(name, imm, b)
        count, block = len(self.text.lines), self.text.block
        given = [*arguments, *[splat(0, lanes) if lanes > 1 else "0"] * (4 - len(arguments))]
        try:
            return Widener(scalar_of(module), lanes, self.text).emit(given)
        except NotWide:
            self.text.take_back(count, block)
        return self._lane_by_lane(f"{name}.{imm}", module, given)

    def _lane_by_lane(self, name: str, module: str, arguments: list[str]) -> str:
        """The same, one lane after the other."""
        text = self.text
        function = "lane." + re.sub(r"\W", "_", name)
        text.linked[function] = module
        text.declare(f"declare i64 @{function}(i64, i64, i64, i64)")
        result = "poison"
        for k in range(self.lanes):
            given = ", ".join("i64 " + text.value(f"extractelement {self.slots} {one}, i64 {k}") for one in arguments)
            value = text.value(f"call i64 @{function}({given})")
            result = text.value(f"insertelement {self.slots} {result}, i64 {value}, i64 {k}")
        return result

    def _element(self, step: Step, guard: str | None) -> str:
        """The address of an array element, or an index; lanes whose index is outside have failed."""
        text, wraps = self.text, int(step.mod != 0)
        if step.row.number == INDEX:
            size, stride = self.dims[step.imm]
            index = self._row(step.b)
        else:
            index, size = self._row(step.a), self._row(step.b)
        bad = text.value(
            f"trunc {self.slots} {self._apply('outside', wraps, [index, size], self.lanes)} to {self.bits}"
        )
        bad = text.value(f"and {self.bits} {bad}, {self.active}")
        if guard is not None:
            bad = text.value(f"and {self.bits} {bad}, {guard}")
        self.failed = text.value(f"or {self.bits} {self.failed}, {bad}")
        counted = self._apply("counted", wraps, [index, size], self.lanes)
        if step.row.number != INDEX:
            return counted
        return self._apply("element", 0, [self._row(step.a), counted, stride], self.lanes)

    def _copy(self) -> None:
        """From scratch memory to the register file."""
        text = self.text
        entered, loop, end = text.block, text.new_label("copy"), text.new_label("copied")
        text.line(f"br label %{loop}")
        text.label(loop)
        self.lane, next_lane = text.name(), text.name()
        text.line(f"{self.lane} = phi i64 [0, %{entered}], [{next_lane}, %{loop}]")
        self.base = text.at("%rows", self.lane)
        self.active = self._lanes_of(self.text.active)
        for k, row in enumerate(self.dirty):
            self._put(row, text.value(f"load {self.slots}, ptr {self._scratch(k)}, align 8"))
        text.line(f"{next_lane} = add i64 {self.lane}, {self.lanes}")
        text.line(f"br i1 {text.value(f'icmp ult i64 {next_lane}, 32')}, label %{loop}, label %{end}")
        text.label(end)
