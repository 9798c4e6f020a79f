"""From a Program to the text of one native function, ``i64 @kernel(i64 context)``.

It runs the current split of a warp from micro-op ``V_PC`` on and returns how many micro-ops it executed.  Each basic
block is counted as a whole when it is entered; where it is left before its end the rest is taken back.
"""

from __future__ import annotations

from itertools import groupby

from simt.machine import layout as L
from simt.machine.compiled.context import FIRST_TIMES, TIMES
from simt.machine.compiled.control import CALLED
from simt.machine.compiled.memory import Access, function_of
from simt.machine.compiled.plan import Plan, Step
from simt.machine.compiled.segment import Segment
from simt.machine.compiled.text import Text
from simt.machine.control import FAIL
from simt.ops.memory import CONST, SPACE_MASK
from simt.ops.row import Kind

KERNEL = "kernel"

_ADDRESSES = {
    "uniform": L.V_UNIFORM,
    "rows": L.V_ROWS,
    "predicates": L.V_PREDICATES,
    "counts": L.V_COUNTS,
    "dims": L.V_DIMS,
    "launch": L.V_LAUNCH,
    "warps": L.V_WARPS,
}
_NUMBERS = {
    "pc": L.V_PC,
    "warp": L.V_WARP,
    "active": L.V_ACTIVE,
    "room": L.V_ROOM,
    "absent": L.V_ABSENT,
    "exited": L.V_EXITED,
}


def _part_of(step: Step) -> Kind:
    """How a micro-op is emitted: as those of kind ROW, MEMORY or CONTROL."""
    return step.row.kind if step.row.kind in (Kind.MEMORY, Kind.CONTROL) else Kind.ROW


class Emitter:
    """Writes the function of a Program."""

    def __init__(self, plan: Plan) -> None:
        self.plan = plan
        self.text = Text()
        self.block_at = {block[0].pc: k for k, block in enumerate(plan.blocks)}
        self.exits: dict[int, str] = {}
        self.cold: list[tuple[str, int, Step]] = []
        self.scratch_rows = 1
        self.functions: dict[str, Text] = {}

    def emit(self) -> Text:
        """The function; what it needs besides is in the Text."""
        self._begin()
        for k, block in enumerate(self.plan.blocks):
            self._block(k, block)
        self._leave_early()
        self._leave()
        lines = self.text.lines
        lines.insert(0, f"  %scratch = alloca i64, i64 {32 * self.scratch_rows}, align 64")
        for function in self.functions.values():
            lines += ["}", *function.lines[:-1]]
            self.text.declared |= function.declared
            self.text.linked |= function.linked
        self.text.lines = [f"define i64 @{KERNEL}(i64 %given) {{", "entry:", *lines, "}", *sorted(self.text.declared)]
        return self.text

    def _begin(self) -> None:
        text = self.text
        text.line("%context = inttoptr i64 %given to ptr")
        for name, column in _ADDRESSES.items():
            text.line(f"%{name} = load ptr, ptr {text.at('%context', column)}, align 8")
        for name, column in _NUMBERS.items():
            text.line(f"%{name} = load i64, ptr {text.at('%context', column)}, align 8")
        text.declare("declare i64 @llvm.ctpop.i64(i64)")
        text.line("%n_active = call i64 @llvm.ctpop.i64(i64 %active)")
        once = "<i64 1, i64 poison, i64 poison, i64 poison>"
        for k, name in enumerate(("n_active", "absent", "exited"), 1):
            once = text.value(f"insertelement <4 x i64> {once}, i64 %{name}, i64 {k}")
        self.once = once
        order = text.load("%launch", L.LAUNCH_ORDER)
        text.line(f"%warp_at = mul i64 %warp, {L.N_WARP}")
        splits = text.load(text.at("%warps", "%warp_at"), L.W_SPLITS)
        profiler, several = text.value(f"icmp eq i64 {order}, {L.PROFILER}"), text.value(f"icmp sgt i64 {splits}, 1")
        text.line(f"%joins = and i1 {profiler}, {several}")
        text.line("%left = alloca i64")
        text.line("%retired = alloca i64")
        text.line("store i64 %room, ptr %left")
        text.line("store i64 0, ptr %retired")
        cases = " ".join(f"i64 {pc}, label %block{k}" for pc, k in self.block_at.items())
        text.line(f"switch i64 %pc, label %out [{cases}]")

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
        left = text.value("load i64, ptr %left")
        enough = text.value(f"icmp uge i64 {left}, {len(block)}")
        text.line(f"br i1 {enough}, label %run{k}, label %{self._exit_at(block[0].pc)}")
        text.label(f"run{k}")
        self._count(k, block, 1)
        for kind, group in groupby(block, key=_part_of):  # accesses and control are the last of their block
            steps = list(group)
            if kind is Kind.ROW:
                self._lanes(k, steps)
            elif kind is Kind.MEMORY:
                self._access(k, steps[0])
            elif steps[0].row.name == "bra":
                self._branch(k, steps[0])
                return
            elif steps[0].row.name in CALLED:
                self._control(k, steps[0])
            elif steps[0].guard:
                self._guarded(steps[0])
        text.line(f"br label %{self._go_to(block[-1].pc + 1)}")

    def _count(self, k: int, steps: list[Step], sign: int) -> None:
        """Count a whole block once, or take that back (*sign*)."""
        text = self.text
        retired = sum(step.retires for step in steps)
        self._take(len(steps), retired, sign)
        place = text.at("%context", FIRST_TIMES + TIMES * k)
        old = text.value(f"load <4 x i64>, ptr {place}, align 8")
        new = text.value(f"{'add' if sign > 0 else 'sub'} <4 x i64> {old}, {self.once}")
        text.line(f"store <4 x i64> {new}, ptr {place}, align 8")

    def _take(self, executed: int, retired: int, sign: int) -> None:
        for place, change in (("%left", -sign * executed), ("%retired", sign * retired)):
            old = self.text.value(f"load i64, ptr {place}")
            self.text.line(f"store i64 {self.text.value(f'add i64 {old}, {change}')}, ptr {place}")

    def _executing(self, step: Step) -> str:
        """The exec lanes of a micro-op."""
        return self.text.value(f"and i64 %active, {self._mask(step.guard)}") if step.guard else "%active"

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
        segment = Segment(text, self.plan, steps)
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
        """A load or a store, if its function takes it on."""
        text = self.text
        executing = self._executing(step)
        done, bad = text.new_label("accessed"), text.new_label("bad")
        self.cold.append((bad, k, step))
        if step.guard:
            some = text.new_label("some")
            text.line(f"br i1 {text.value(f'icmp eq i64 {executing}, 0')}, label %{done}, label %{some}")
            text.label(some)
        if step.row.number & SPACE_MASK != CONST:
            alone = text.new_label("alone")
            text.line(f"br i1 %joins, label %{bad}, label %{alone}")
            text.label(alone)
        name = function_of(step)
        if name not in self.functions:
            self.functions[name] = Access(step).emit()
        d = self._row(step.dst) if step.dst else "null"
        a, b = self._row(step.a), self._row(step.b)
        given = f"ptr %context, i64 {step.pc}, ptr {a}, ptr {b}, ptr {d}, i64 {step.imm}, i64 {executing}"
        went = text.value(f"call i64 @{name}({given})")
        text.line(f"br i1 {text.value(f'icmp ne i64 {went}, 0')}, label %{done}, label %{bad}")
        text.label(done)
        if step.guard:
            self._guarded(step)

    def _branch(self, k: int, step: Step) -> None:
        """All lanes jump, or none does; else the engine divides them."""
        text = self.text
        taken = "%active"
        executing = self._guarded(step) if step.guard else taken
        if step.guard or step.a:
            taken = text.value(f"and i64 {executing}, {self._mask(step.a)}")
        if taken == "%active":
            text.line(f"br label %{self._go_to(step.imm)}")
            return
        every = text.value(f"icmp eq i64 {taken}, %active")
        none = text.value(f"icmp eq i64 {taken}, 0")
        same = text.value(f"or i1 {every}, {none}")
        uniform, divided = text.new_label("uniform"), text.new_label("divided")
        text.line(f"br i1 {same}, label %{uniform}, label %{divided}")
        text.label(divided)
        # Its function counts the branch, and so does the block.
        text.add("%counts", step.pc * L.N_COUNT + int(L.N_BRANCHES), "-1")
        self._end_with(self._called(step, executing))
        text.label(uniform)
        text.line(f"br i1 {every}, label %{self._go_to(step.imm)}, label %{self._go_to(step.pc + 1)}")

    def _called(self, step: Step, executing: str) -> str:
        """Call the function of a control micro-op; where the warp goes on."""
        return self.text.call((step.row.name, 0), "%context", "%given", str(step.pc), "%active", executing)

    def _end_with(self, where: str) -> None:
        """Leave with what a control micro-op came to."""
        self.text.store(where, "%context", L.V_PC)
        self.text.line("br label %out")

    def _control(self, k: int, step: Step) -> None:
        """A control micro-op: the same split goes on, or the engine decides what does."""
        text = self.text
        executing = self._guarded(step) if step.guard else "%active"
        where = self._called(step, executing)
        same, other, fails, ends = (text.new_label(stem) for stem in ("same", "other", "fails", "ends"))
        text.line(f"br i1 {text.value(f'icmp sge i64 {where}, 0')}, label %{same}, label %{other}")
        text.label(other)
        text.line(f"br i1 {text.value(f'icmp eq i64 {where}, {FAIL}')}, label %{fails}, label %{ends}")
        self.cold.append((fails, k, step))
        text.label(ends)
        self._end_with(where)
        text.label(same)

    def _leave_early(self) -> None:
        """Out of the middle of a block: the engine goes on at a micro-op of it."""
        for label, k, left in self.cold:
            self.text.label(label)
            block = self.plan.blocks[k]
            self._count(k, block, -1)
            done = [step for step in block if step.pc < left.pc]
            self._take(len(done), sum(step.retires for step in done), 1)
            for step in done:
                self._count_one(step)
            if left.row.kind is Kind.CONTROL and left.guard:
                self._guarded(left, -1)
            self.text.line(f"br label %{self._exit_at(left.pc)}")

    def _count_one(self, step: Step) -> None:
        at = step.pc * L.N_COUNT
        columns = {L.N_EXECUTED: "1", L.N_THREADS: "%n_active", L.N_ABSENT: "%absent", L.N_EXITED: "%exited"}
        if not step.guard:
            columns[L.N_PRED_ON] = "%n_active"
        for column, value in columns.items():
            self.text.add("%counts", at + int(column), value)

    def _leave(self) -> None:
        text = self.text
        for pc, label in self.exits.items():
            text.label(label)
            text.store(str(pc), "%context", L.V_PC)
            text.line("br label %out")
        text.label("out")
        text.store(text.value("load i64, ptr %retired"), "%context", L.V_RETIRED)
        executed = text.value(f"sub i64 %room, {text.value('load i64, ptr %left')}")
        text.line(f"ret i64 {executed}")
