"""From a Program to the text of its native code: the function that entry.py writes, and one that runs a split.

The latter begins at micro-op ``V_PC``.  It ends where the split waits or parts, and returns what its control micro-op
came to; or where there is no native code to go on with, and returns that micro-op.  Each basic block is counted as a
whole when it is entered; where it is left before its end the rest is taken back.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from itertools import groupby

from simt.machine import layout as L
from simt.machine.compiled.accesses import FUNCTIONS, whole
from simt.machine.compiled.context import FIRST_TIMES, TIMES
from simt.machine.compiled.control import ACROSS, BEGUN, CALLED, JOIN, V_RESULT
from simt.machine.compiled.entry import ADDRESSES, COUNTED, NUMBERS, OF_WARP, entry
from simt.machine.compiled.lanes import lane_module
from simt.machine.compiled.parting import Parting
from simt.machine.compiled.plan import Plan, Step
from simt.machine.compiled.segment import Segment
from simt.machine.compiled.text import LANES, Text
from simt.machine.compiled.widen import Widener, scalar_of
from simt.machine.control import FAIL
from simt.ops.memory import CONST, SPACE_MASK
from simt.ops.row import Kind

WARP = 32
SHORT = 60
"""Lines of a run, at most, that is computed for all lanes at once: longer ones have more values than registers."""
ROW = f"<{WARP} x i64>"


def _part_of(step: Step) -> str:
    """How a micro-op is emitted: all that work lane by lane alike."""
    if step.row.kind in (Kind.MEMORY, Kind.CONTROL):
        return step.row.kind.name
    return "ACROSS" if step.row.name in ACROSS else "LANES"


def _retired(block: list[Step]) -> int:
    """Instructions that a block executes."""
    return sum(step.retires for step in block)


class Emitter:
    """Writes the function of a Program."""

    def __init__(self, plan: Plan) -> None:
        self.plan = plan
        self.text = Text()
        self.block_at = {block[0].pc: k for k, block in enumerate(plan.blocks)}
        self.exits: dict[int, str] = {}
        self.cold: list[tuple[str, int, Step]] = []
        self.scratch_rows = 1
        self.parting = Parting(self.text, plan, self._go_to)

    def emit(self) -> Text:
        """The function; what it needs besides is in the Text."""
        self._begin()
        for k, block in enumerate(self.plan.blocks):
            self._block(k, block)
        self._leave_early()
        self._leave()
        lines = self.text.lines
        lines.insert(0, f"  %scratch = alloca i64, i64 {32 * self.scratch_rows}, align 64")
        split = "split"
        begin = f"define internal i64 @{split}(i64 %given) noinline {{"
        self.text.lines = [begin, "entry:", *lines, "}", *entry(split), *sorted(self.text.declared)]
        return self.text

    def _begin(self) -> None:
        """What is the same for all warps, then what is for this split of this warp."""
        text = self.text
        for place in ("%left", "%retired", "%where"):
            text.line(f"{place} = alloca i64")
        text.line("%context = inttoptr i64 %given to ptr")
        self._load_addresses(ADDRESSES)
        self.order, self.n_barriers = (text.load("%launch", at) for at in (L.LAUNCH_ORDER, L.LAUNCH_BARRIERS))
        self._load_addresses(OF_WARP)
        for name, column in NUMBERS.items():
            text.line(f"%{name} = load i64, ptr {text.at('%context', column)}, align 8")
        for place, column in COUNTED.items():
            text.line(f"store i64 {text.load('%context', column)}, ptr {place}")
        text.declare("declare i64 @llvm.ctpop.i64(i64)")
        text.line("%n_active = call i64 @llvm.ctpop.i64(i64 %active)")
        once = "<i64 1, i64 poison, i64 poison, i64 poison>"
        for k, name in enumerate(("n_active", "absent", "exited"), 1):
            once = text.value(f"insertelement <4 x i64> {once}, i64 %{name}, i64 {k}")
        text.line(f"%warp_at = mul i64 %warp, {L.N_WARP}")
        splits = text.load(text.at("%warps", "%warp_at"), L.W_SPLITS)
        text.line(f"%several = icmp sgt i64 {splits}, 1")
        text.line(f"%joins = and i1 {text.value(f'icmp eq i64 {self.order}, {L.PROFILER}')}, %several")
        passes = self._part("goes_through", 0, splits, self.order)
        text.line(f"%passes = icmp ne i64 {passes}, 0")
        self.parting.begin(once, self.order)
        cases = " ".join(f"i64 {pc}, label %block{k}" for pc, k in self.block_at.items())
        text.line("store i64 %pc, ptr %where")
        text.line(f"switch i64 %pc, label %out [{cases}]")

    def _load_addresses(self, columns: dict[str, int]) -> None:
        for name, column in columns.items():
            self.text.line(f"%{name} = load ptr, ptr {self.text.at('%context', column)}, align 8")

    def _go_to(self, pc: int) -> str:
        """The label of the code of a micro-op: its block, or the way out."""
        if pc in self.block_at:
            return f"block{self.block_at[pc]}"
        return self._exit_at(pc)

    def _exit_at(self, pc: int) -> str:
        return self.exits.setdefault(pc, f"exit{pc}")

    def _block(self, k: int, block: list[Step]) -> None:
        text = self.text
        text.label(f"block{k}")
        self.parting.look()
        left = text.value("load i64, ptr %left")
        enough = text.value(f"icmp uge i64 {left}, {len(block)}")
        text.line(f"br i1 {enough}, label %run{k}, label %{self._exit_at(block[0].pc)}")
        text.label(f"run{k}")
        self._count(FIRST_TIMES + TIMES * k, 1)
        self._take(len(block), _retired(block), 1)
        for part, group in groupby(block, key=_part_of):
            steps = list(group)
            if part == "LANES":
                self._lanes(k, steps)
                continue
            for step in steps:
                if part == "ACROSS":
                    self._across(step)
                elif part == "MEMORY":
                    self._access(k, step)
                elif step.row.name == "bra":
                    self._branch(k, step)
                    return
                elif step.row.name in CALLED:
                    self._control(k, step)
                elif step.row.name == "bssy":
                    self._converge(step)
                elif step.guard:
                    self._guarded(step)
        text.line(f"br label %{self._go_to(block[-1].pc + 1)}")

    def _count(self, times: int | str, sign: int) -> None:
        """Count a whole block, whose counters are at *times*, once, or take that back (*sign*)."""
        text = self.text
        place = text.at("%context", times)
        old = text.value(f"load <4 x i64>, ptr {place}, align 8")
        new = text.value(f"{'add' if sign > 0 else 'sub'} <4 x i64> {old}, {self.parting.once}")
        text.line(f"store <4 x i64> {new}, ptr {place}, align 8")

    def _take(self, executed: int | str, retired: int | str, sign: int) -> None:
        for place, how, number in (("%left", -sign, executed), ("%retired", sign, retired)):
            old = self.text.value(f"load i64, ptr {place}")
            new = self.text.value(f"{'add' if how > 0 else 'sub'} i64 {old}, {number}")
            self.text.line(f"store i64 {new}, ptr {place}")

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

    def _lanes(self, k: int, steps: list[Step]) -> None:
        """Runs of micro-ops; a run ends before one whose guard it writes, and after one that may fail."""
        run: list[Step] = []
        written: set[int] = set()
        for step in steps:
            if step.guard and step.guard >> 1 in written:
                self._segment(k, run)
                run, written = [], set()
            run.append(step)
            if step.row.operands[0] == "p":
                written.add(step.dst)
        self._segment(k, run)

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
            good, bad = text.new_label("good"), text.new_label("bad")
            text.line(f"br i1 {text.value(f'icmp eq i64 {failed}, 0')}, label %{good}, label %{bad}")
            self.cold.append((bad, k, steps[0]))
            text.label(good)
        for step in steps:
            if step.guard:
                self._guarded(step)
        segment.commit()

    def _row(self, row: int) -> str:
        """Address of a register row."""
        return self.text.at("%uniform" if row < self.plan.uniform_end else "%rows", row)

    def _access(self, k: int, step: Step) -> None:
        """An access; it is left to the interpreter if it is an error."""
        text = self.text
        executing = self._executing(step)
        done, bad = text.new_label("accessed"), text.new_label("bad")
        self.cold.append((bad, k, step))
        if step.guard:
            some = text.new_label("some")
            text.line(f"br i1 {text.value(f'icmp eq i64 {executing}, 0')}, label %{done}, label %{some}")
            text.label(some)
        kind = step.row.number, step.mod
        if kind in FUNCTIONS:
            rows = (self._row(step.a), self._row(step.b), self._row(step.dst) if step.dst else "null")
            given = ("ptr %context", str(step.pc), *(f"ptr {row}" for row in rows), str(step.imm), executing)
            went = text.call(FUNCTIONS[kind], "%context", *given)
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
        source = text.value(f"load ptr, ptr {text.at('%context', V_RESULT)}, align 8")
        self._put(self._row(row), text.value(f"load {ROW}, ptr {source}, align 8"), lanes)

    def _put(self, place: str, value: str, lanes: str) -> None:
        """Write these lanes of 32 slots."""
        text = self.text
        bits = text.value(f"bitcast i{WARP} {text.value(f'trunc i64 {lanes} to i{WARP}')} to <{WARP} x i1>")
        text.blend(value, place, WARP, bits)

    def _branch(self, k: int, step: Step) -> None:
        """All lanes jump, or none does; else the engine divides them."""
        text = self.text
        taken = text.active
        executing = self._guarded(step) if step.guard else taken
        if step.guard or step.a:
            taken = text.value(f"and i64 {executing}, {self._mask(step.a)}")
        if taken == text.active:
            text.line(f"br label %{self._go_to(step.imm)}")
            return
        every = text.value(f"icmp eq i64 {taken}, {text.active}")
        none = text.value(f"icmp eq i64 {taken}, 0")
        same = text.value(f"or i1 {every}, {none}")
        uniform, divided = text.new_label("uniform"), text.new_label("divided")
        text.line(f"br i1 {same}, label %{uniform}, label %{divided}")
        text.label(divided)
        self.parting.part(step, taken)
        # Its function counts the branch, and so does the block.
        text.add("%counts", step.pc * L.N_COUNT + int(L.N_BRANCHES), "-1")
        self._end_with(step, self._called(step, executing))
        text.label(uniform)
        text.line(f"br i1 {every}, label %{self._go_to(step.imm)}, label %{self._go_to(step.pc + 1)}")

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

    def _end_with(self, step: Step, where: str) -> None:
        """What a control micro-op came to: another split goes on, perhaps of another warp."""
        self.text.store(str(step.pc), "%context", L.V_PC)
        self.text.line(f"store i64 {where}, ptr %where")
        self.text.line("br label %turn")

    def _control(self, k: int, step: Step) -> None:
        """A control micro-op: the same split goes on, or another one does."""
        text = self.text
        self.parting.meet(step)
        same, other, fails, ends = (text.new_label(stem) for stem in ("same", "other", "fails", "ends"))
        executing = self._guarded(step) if step.guard else text.active
        passes = self._passes(step, executing)
        if passes is not None:
            call = text.new_label("call")
            text.line(f"br i1 {passes}, label %{same}, label %{call}")
            text.label(call)
        where = self._called(step, executing)
        text.line(f"br i1 {text.value(f'icmp sge i64 {where}, 0')}, label %{same}, label %{other}")
        text.label(other)
        text.line(f"br i1 {text.value(f'icmp eq i64 {where}, {FAIL}')}, label %{fails}, label %{ends}")
        self.cold.append((fails, k, step))
        text.label(ends)
        self._end_with(step, where)
        text.label(same)

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

    def _leave_early(self) -> None:
        """Out of the middle of a block: the engine goes on at a micro-op of it."""
        if not self.cold:
            return
        text = self.text
        ways = []
        for label, k, left in self.cold:
            text.label(label)
            if left.row.kind is Kind.CONTROL and left.guard:
                self.parting.look()
                self._guarded(left, -1)
            text.line("br label %leave")
            ways.append((label, k, left.pc))
        text.label("leave")
        block, pc = (text.value(f"phi i64 {', '.join(f'[{way[at]}, %{way[0]}]' for way in ways)}") for at in (1, 2))
        self.parting.look()
        facts = text.value(f"getelementptr [3 x i64], ptr @blocks, i64 {block}")
        first, executed, retired = (text.load(facts, at) for at in range(3))
        self._count(text.value(f"add i64 {text.value(f'mul i64 {block}, {TIMES}')}, {FIRST_TIMES}"), -1)
        self._take(executed, retired, -1)
        begun = text.call((BEGUN, 0), "%context", "%given", pc, first, "0")
        self._take(text.value(f"sub i64 {pc}, {first}"), begun, 1)
        text.line(f"store i64 {pc}, ptr %where")
        text.line("br label %out")
        rows = ", ".join(
            f"[3 x i64] [i64 {steps[0].pc}, i64 {len(steps)}, i64 {_retired(steps)}]" for steps in self.plan.blocks
        )
        text.declare(f"@blocks = internal constant [{len(self.plan.blocks)} x [3 x i64]] [{rows}], align 64")

    def _leave(self) -> None:
        text = self.text
        for pc, label in self.exits.items():
            text.label(label)
            text.line(f"store i64 {pc}, ptr %where")
            text.line("br label %out")
        text.label("turn")
        self._tell_counts()
        text.line(f"ret i64 {text.value('load i64, ptr %where')}")
        text.label("out")
        self.parting.tell()
        self._tell_counts()
        end = text.value("load i64, ptr %where")
        text.store(end, "%context", L.V_PC)
        text.line(f"ret i64 {end}")

    def _tell_counts(self) -> None:
        for place, column in COUNTED.items():
            self.text.store(self.text.value(f"load i64, ptr {place}"), "%context", column)
