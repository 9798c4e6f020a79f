"""The text of micro-ops: what emit.py (a whole Program) and stretches.py (runs of it) have in common."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

from simt.machine import layout as L
from simt.machine.compiled.accesses import whole
from simt.machine.compiled.control import ACROSS, JOIN, V_RESULT
from simt.machine.compiled.entry import ADDRESSES
from simt.machine.compiled.lanes import lane_module
from simt.machine.compiled.plan import Plan, Step
from simt.machine.compiled.segment import Segment
from simt.machine.compiled.text import LANES, Text
from simt.machine.compiled.widen import Widener, scalar_of
from simt.ops.memory import ACCESS_SHIFT, CONST, SPACE_MASK, STORE
from simt.ops.row import Kind

WARP = 32
SHORT = 60
"""Lines of a run, at most, that is computed for all lanes at once: longer ones have more values than registers."""
ROW = f"<{WARP} x i64>"


def retired(block: list[Step]) -> int:
    """Instructions that a block executes."""
    return sum(step.retires for step in block)


class Writer:
    """Writes functions of micro-ops.

    A function has the context in ``%context`` (an address) and ``%given`` (the same as a number), what ADDRESSES and
    OF_WARP of entry.py name, and ``%warp``, ``%active``, ``%absent``, ``%exited``.
    """

    def __init__(self, plan: Plan) -> None:
        self.plan = plan
        self.text = Text()
        self.scratch_rows = 1
        self.order = self.n_barriers = ""

    def _once(self) -> str:
        """What a block counts where it is executed: a vector of TIMES slots."""
        raise NotImplementedError

    def _bad(self, k: int, step: Step) -> str:
        """The label of a new way out: the engine goes on at a micro-op of block *k*."""
        raise NotImplementedError

    def _begin_launch(self) -> None:
        """Load what is the same for all warps."""
        self._load_addresses(ADDRESSES)
        self.order, self.n_barriers = (self.text.load("%launch", at) for at in (L.LAUNCH_ORDER, L.LAUNCH_BARRIERS))

    def _begin_warp(self) -> str:
        """What is known of the warp whose lanes %active run: the counters' vector of a block is given."""
        text = self.text
        text.declare("declare i64 @llvm.ctpop.i64(i64)")
        text.line("%n_active = call i64 @llvm.ctpop.i64(i64 %active)")
        once = "<i64 1, i64 poison, i64 poison, i64 poison>"
        for k, name in enumerate(("n_active", "absent", "exited"), 1):
            once = text.value(f"insertelement <4 x i64> {once}, i64 %{name}, i64 {k}")
        splits = text.load(text.at("%warps", "%warp_at"), L.W_SPLITS)
        text.line(f"%several = icmp sgt i64 {splits}, 1")
        text.line(f"%joins = and i1 {text.value(f'icmp eq i64 {self.order}, {L.PROFILER}')}, %several")
        passes = self._part("goes_through", 0, splits, self.order)
        text.line(f"%passes = icmp ne i64 {passes}, 0")
        return once

    def _load_addresses(self, columns: dict[str, int]) -> None:
        for name, column in columns.items():
            self.text.line(f"%{name} = load ptr, ptr {self.text.at('%context', column)}, align 8")

    def _count(self, times: int | str, sign: int) -> None:
        """Count a whole block, whose counters are at *times*, once, or take that back (*sign*)."""
        text = self.text
        place = text.at("%context", times)
        old = text.value(f"load <4 x i64>, ptr {place}, align 8")
        new = text.value(f"{'add' if sign > 0 else 'sub'} <4 x i64> {old}, {self._once()}")
        text.line(f"store <4 x i64> {new}, ptr {place}, align 8")

    def _executing(self, step: Step) -> str:
        """The exec lanes of a micro-op."""
        return (
            self.text.value(f"and i64 {self.text.active}, {self._mask(step.guard)}") if step.guard else self.text.active
        )

    def _guarded(self, step: Step, sign: int = 1) -> str:
        """The exec lanes of a guarded micro-op, counted here (or taken back): a block's counters do not tell them."""
        text = self.text
        executing = self._executing(step)
        count = text.value(f"call i64 @llvm.ctpop.i64(i64 {executing})")
        change = count if sign > 0 else text.value(f"sub i64 0, {count}")
        text.add("%counts", step.pc * L.N_COUNT + int(L.N_PRED_ON), change)
        return executing

    def _mask(self, operand: int) -> str:
        """The lanes of a predicate operand."""
        full = str(int(L.FULL))
        value = full if operand >> 1 == 0 else self.text.load("%predicates", operand >> 1)
        return self.text.value(f"xor i64 {value}, {full}") if operand & 1 else value

    def _segment(self, k: int, steps: list[Step]) -> None:
        text = self.text
        before, block = len(text.lines), text.block
        segment = Segment(text, self.plan, steps, LANES)
        failed = segment.emit()
        if len(text.lines) - before <= SHORT and not segment.has_rules:
            text.take_back(before, block)
            segment = Segment(text, self.plan, steps, WARP)
            failed = segment.emit()
        if failed is not None:
            self.scratch_rows = max(self.scratch_rows, len(segment.dirty))
            good, bad = text.new_label("good"), self._bad(k, steps[0])
            text.line(f"br i1 {text.value(f'icmp eq i64 {failed}, 0')}, label %{good}, label %{bad}")
            text.label(good)
        for step in steps:
            if step.guard:
                self._guarded(step)
        segment.commit()

    def _one(self, k: int, step: Step) -> None:
        """A micro-op of block *k* that goes on to the next one, but for those that work lane by lane."""
        if step.row.kind is Kind.MEMORY:
            self._access(k, step)
        elif step.row.name in ACROSS:
            self._across(step)
        elif step.row.name == "bssy":
            self._converge(step)
        elif step.guard:
            self._guarded(step)

    def _row(self, row: int) -> str:
        """Address of a register row."""
        return self.text.at("%uniform" if row < self.plan.uniform_end else "%rows", row)

    def _access(self, k: int, step: Step) -> None:
        """An access; it is left to the interpreter if it is an error."""
        text = self.text
        executing = self._executing(step)
        done, bad = text.new_label("accessed"), self._bad(k, step)
        if step.guard:
            some = text.new_label("some")
            text.line(f"br i1 {text.value(f'icmp eq i64 {executing}, 0')}, label %{done}, label %{some}")
            text.label(some)
        kind = step.row.number, step.mod
        if kind in self.plan.functions:
            stores = step.row.number >> ACCESS_SHIFT == STORE
            data = self._row(step.b) if stores else self._row(step.dst) if step.dst else "null"
            shape = text.at("%shapes", self.plan.shapes[step.pc])
            rows = (f"ptr {self._row(step.a)}", f"ptr {data}")
            given = ("ptr %context", str(step.pc), *rows, str(step.imm), executing, f"ptr {shape}")
            went = text.call(self.plan.functions[kind], "%context", *given)
        else:
            went = text.call(whole(*kind), "%context", "%given", str(step.pc), text.active, executing)
        text.line(f"br i1 {text.value(f'icmp ne i64 {went}, 0')}, label %{done}, label %{bad}")
        text.label(done)
        if step.guard:
            self._guarded(step)
        if step.row.number & SPACE_MASK != CONST:
            joins, alone = text.new_label("joins"), text.new_label("alone")
            text.line(f"br i1 %joins, label %{joins}, label %{alone}")
            text.label(joins)
            text.call((JOIN, 0), "%context", "%given", "0", "0", "0")
            text.line(f"br label %{alone}")
            text.label(alone)

    def _across(self, step: Step) -> None:
        """A micro-op that looks across lanes: its function, whose result stands in the engine's O or is a mask."""
        with self._where_some_execute(step) as executing:
            found = self._called(step, executing)
            written = str(int(L.FULL)) if step.uniform else executing
            if step.row.kind is Kind.MASK:
                self._put_predicate(step.dst, found, written)
            else:
                self._put_predicate(step.mod, found, executing)
                if step.dst:
                    self._put_row(step.dst, written)

    @contextmanager
    def _where_some_execute(self, step: Step) -> Iterator[str]:
        """Around code that is skipped where a micro-op has no exec lanes; gives these."""
        text = self.text
        executing = self._guarded(step) if step.guard else text.active
        some, done = text.new_label("some"), text.new_label("done")
        text.line(f"br i1 {text.value(f'icmp eq i64 {executing}, 0')}, label %{done}, label %{some}")
        text.label(some)
        yield executing
        text.line(f"br label %{done}")
        text.label(done)

    def _put_predicate(self, number: int, mask: str, lanes: str) -> None:
        """Write a mask to these lanes of a predicate."""
        if number:
            text = self.text
            kept = text.value(f"and i64 {text.load('%predicates', number)}, {text.value(f'xor i64 {lanes}, -1')}")
            new = text.value(f"or i64 {kept}, {text.value(f'and i64 {mask}, {lanes}')}")
            text.store(new, "%predicates", number)

    def _put_row(self, row: int, lanes: str) -> None:
        """Write what stands in O to these lanes of a register row."""
        text = self.text
        source = text.pointer("%context", V_RESULT)
        self._put(self._row(row), text.value(f"load {ROW}, ptr {source}, align 8"), lanes)

    def _put(self, place: str, value: str, lanes: str) -> None:
        """Write these lanes of 32 slots."""
        text = self.text
        bits = text.value(f"bitcast i{WARP} {text.value(f'trunc i64 {lanes} to i{WARP}')} to <{WARP} x i1>")
        text.blend(value, place, WARP, bits)

    def _part(self, name: str, imm: int, *arguments: str) -> str:
        """A part of a micro-op (parts.py), of slots."""
        given = [*arguments, *["0"] * (4 - len(arguments))]
        return Widener(scalar_of(lane_module(name, imm)), 1, self.text).emit(given)

    def _converge(self, step: Step) -> None:
        """BSSY: note which lanes take part in a convergence barrier."""
        text = self.text
        with self._where_some_execute(step) as executing:
            barriers = text.at(text.at("%warps", "%warp_at"), L.W_BY_MOVE)
            text.store(self._part("without", step.imm, text.load(barriers, 0)), barriers, 0)
            self._put(
                self._participants(step),
                text.spread(executing, WARP),
                self._part("lanes_told", 0, self.order, executing),
            )

    def _called(self, step: Step, executing: str) -> str:
        """Call the function of a micro-op: where the warp goes on, or a mask."""
        return self.text.call((step.row.name, 0), "%context", "%given", str(step.pc), self.text.active, executing)

    def _passes(self, step: Step, executing: str) -> str | None:
        """Whether the same split goes on, and its function need not be called to find that out."""
        text = self.text
        if step.row.name == "bsync":
            return "%passes"
        if step.row.name == "break":
            place = self._participants(step)
            old = text.value(f"load {ROW}, ptr {place}, align 8")
            lanes = "<" + ", ".join(f"i64 {lane}" for lane in range(WARP)) + ">"
            given = [old, lanes, text.spread(executing, WARP), text.spread(self.order, WARP)]
            left = Widener(scalar_of(lane_module("left_of")), WARP, text).emit(given)
            # The function, if it is called, does so once more, and nothing more comes of that.
            text.line(f"store {ROW} {left}, ptr {place}, align 8")
            return text.value("xor i1 %several, true")
        if step.row.name == "warpsync" and step.a < self.plan.uniform_end:  # all lanes name the same ones
            mask = text.value(f"and i64 {text.load('%uniform', step.a)}, {int(L.FULL)}")
            warp = text.at("%warps", "%warp_at")
            gone = text.value(f"or i64 {text.load(warp, L.W_EXITED)}, {text.load(warp, L.W_ABSENT)}")
            there = self._part("are_there", 0, mask, gone, text.active)
            unnamed = text.value(f"and i64 {executing}, {text.value(f'xor i64 {mask}, -1')}")
            named = text.value(f"icmp eq i64 {unnamed}, 0")
            return text.value(f"and i1 {named}, {text.value(f'icmp ne i64 {there}, 0')}")
        return None

    def _participants(self, step: Step) -> str:
        """Address of the lanes' copies of a convergence barrier's mask."""
        return self.text.at("%participants", self._part("participants_at", step.imm, "%warp", self.n_barriers))
