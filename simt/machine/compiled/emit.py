"""From a Program to the text of its native code: the function that entry.py writes, and one that runs a split.

The latter begins at micro-op ``V_PC``.  It ends where the split waits or parts, and returns what its control micro-op
came to; or where there is no native code to go on with, and returns that micro-op.  Each basic block is counted as a
whole when it is entered; where it is left before its end the rest is taken back.
"""

from __future__ import annotations

from itertools import groupby

from simt.machine import layout as L
from simt.machine.compiled.context import FIRST_TIMES, TIMES
from simt.machine.compiled.control import BEGUN, CALLED
from simt.machine.compiled.entry import COUNTED, NUMBERS, OF_WARP, entry
from simt.machine.compiled.parting import Parting
from simt.machine.compiled.plan import Plan, Step, works_by_lane
from simt.machine.compiled.steps import Writer, retired
from simt.machine.compiled.text import Text
from simt.machine.control import FAIL
from simt.ops.row import Kind


class Emitter(Writer):
    """Writes the function of a Program."""

    def __init__(self, plan: Plan) -> None:
        super().__init__(plan)
        self.block_at = {block[0].pc: k for k, block in enumerate(plan.blocks)}
        self.exits: dict[int, str] = {}
        self.cold: list[tuple[str, int, Step]] = []
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
        self._begin_launch()
        self._load_addresses(OF_WARP)
        for name, column in NUMBERS.items():
            text.line(f"%{name} = load i64, ptr {text.at('%context', column)}, align 8")
        for place, column in COUNTED.items():
            text.line(f"store i64 {text.load('%context', column)}, ptr {place}")
        text.line(f"%warp_at = mul i64 %warp, {L.N_WARP}")
        once = self._begin_warp()
        self.parting.begin(once, self.order)
        cases = " ".join(f"i64 {pc}, label %block{k}" for pc, k in self.block_at.items())
        text.line("store i64 %pc, ptr %where")
        text.line(f"switch i64 %pc, label %out [{cases}]")

    def _once(self) -> str:
        return self.parting.once

    def _bad(self, k: int, step: Step) -> str:
        label = self.text.new_label("bad")
        self.cold.append((label, k, step))
        return label

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
        self._take(len(block), retired(block), 1)
        for together, group in groupby(block, key=works_by_lane):
            steps = list(group)
            if together:
                self._lanes(k, steps)
                continue
            for step in steps:
                if step.row.name == "bra":
                    self._branch(k, step)
                    return
                if step.row.name in CALLED:
                    self._control(k, step)
                else:
                    self._one(k, step)
        text.line(f"br label %{self._go_to(block[-1].pc + 1)}")

    def _take(self, executed: int | str, retired: int | str, sign: int) -> None:
        for place, how, number in (("%left", -sign, executed), ("%retired", sign, retired)):
            old = self.text.value(f"load i64, ptr {place}")
            new = self.text.value(f"{'add' if how > 0 else 'sub'} i64 {old}, {number}")
            self.text.line(f"store i64 {new}, ptr {place}")

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

    def _end_with(self, step: Step, where: str) -> None:
        """What a control micro-op came to: another split goes on, perhaps of another warp."""
        self.text.store(str(step.pc), "%context", L.V_PC)
        self.text.line(f"store i64 {where}, ptr %where")
        self.text.line("br label %turn")

    def _control(self, k: int, step: Step) -> None:
        """A control micro-op: the same split goes on, or another one does."""
        text = self.text
        self.parting.meet(step)
        same, other, ends = (text.new_label(stem) for stem in ("same", "other", "ends"))
        fails = self._bad(k, step)
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
        text.label(ends)
        self._end_with(step, where)
        text.label(same)

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
        first, executed, instructions = (text.load(facts, at) for at in range(3))
        self._count(text.value(f"add i64 {text.value(f'mul i64 {block}, {TIMES}')}, {FIRST_TIMES}"), -1)
        self._take(executed, instructions, -1)
        begun = text.call((BEGUN, 0), "%context", "%given", pc, first, "0")
        self._take(text.value(f"sub i64 {pc}, {first}"), begun, 1)
        text.line(f"store i64 {pc}, ptr %where")
        text.line("br label %out")
        rows = ", ".join(
            f"[3 x i64] [i64 {steps[0].pc}, i64 {len(steps)}, i64 {retired(steps)}]" for steps in self.plan.blocks
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
