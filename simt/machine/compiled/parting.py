"""Lanes that part at a branch and meet again right behind it, without the engine's splits.

Where a convergence barrier is set just before a branch, and both sides only compute and access memory until they wait
at it, nothing can come between: native code runs one side for its lanes, then the other for the rest, and goes on with
all.  The engine would find the splits as they were before, so it is told of the parting only where lanes part further,
or native code leaves, in the middle of it (:func:`simt.machine.turns.part_late`).
"""

from __future__ import annotations

from collections.abc import Callable

from simt.machine import layout as L
from simt.machine.compiled.control import ACROSS, LATE, NEWEST
from simt.machine.compiled.plan import Plan, Step
from simt.machine.compiled.text import Text
from simt.ops.row import Kind

NOWHERE = "-1"


def meeting_points(plan: Plan) -> dict[int, int]:
    """Of each branch whose lanes meet again so: the BSYNC where they do."""
    native = {step.pc for block in plan.blocks for step in block}
    found = {}
    for block in plan.blocks:
        branch = block[-1]
        barriers = [step for step in block if step.row.name == "bssy"]
        if branch.row.name == "bra" and branch.a and not branch.guard and barriers and not barriers[-1].guard:
            end = _end(plan, branch, barriers[-1].imm)
            if end is not None and native.issuperset(range(branch.pc, end + 1)):
                found[branch.pc] = end
    return found


def _end(plan: Plan, branch: Step, barrier: int) -> int | None:
    """Where lanes meet that part at a branch, if both its sides lead nowhere else."""
    farthest = branch.imm
    others = ("bssy", "bsync")  # those of other convergence barriers
    for step in plan.steps[branch.pc + 1 :]:
        name = step.row.name
        if name == "bsync" and step.imm == barrier:
            return step.pc if branch.pc < branch.imm and farthest <= step.pc and not step.guard else None
        if name == "bra" and step.imm > step.pc:
            farthest = max(farthest, step.imm)
        elif name in others and step.imm != barrier:
            continue
        elif name in ACROSS or (step.row.kind is Kind.CONTROL and name != "nop"):
            return None
    return None


class Parting:
    """Emits it.  Which lanes are active changes then: ``text.active`` is the value of those of a block."""

    def __init__(self, text: Text, plan: Plan, go_to: Callable[[int], str]) -> None:
        self.text = text
        self.meeting_points = meeting_points(plan)
        self.branches = {end: plan.steps[pc] for pc, end in self.meeting_points.items()}
        """The branches, by where their lanes meet."""
        self.go_to = go_to
        """The label of the code of a micro-op."""

    def begin(self, once: str, order: str) -> None:
        """At the start of a split: all its lanes are active; *once*: what a block counts then."""
        text = self.text
        self.once, text.active = once, "%active"
        if not self.branches:
            return
        for place in ("%parted", "%waiting", "%others", "%active_now"):
            text.line(f"{place} = alloca i64")
        text.line("%once_now = alloca <4 x i64>")
        text.line(f"store i64 {NOWHERE}, ptr %parted")
        text.line("store i64 %active, ptr %active_now")
        text.line(f"store <4 x i64> {once}, ptr %once_now")
        # The turn cannot use up the block's budget, which is looked at where a split waits.
        used = text.value(f"add i64 {text.load('%launch', L.LAUNCH_STEPS)}, {text.load('%context', L.V_END)}")
        room = text.value(f"icmp sle i64 {used}, {text.load('%launch', L.LAUNCH_BUDGET)}")
        first = text.value(f"icmp eq i64 {order}, {L.THEN_FIRST}")
        text.line(f"%may_part = and i1 {room}, {first}")

    def look(self) -> None:
        """At the start of a block: which lanes are active, and what it counts."""
        if self.branches:
            self.text.active = self.text.value("load i64, ptr %active_now")
            self.once = self.text.value("load <4 x i64>, ptr %once_now")

    def _go_on(self, lanes: str, pc: int) -> None:
        """At a micro-op, with these lanes."""
        text = self.text
        text.line(f"store i64 {lanes}, ptr %active_now")
        text.store(lanes, "%context", L.V_ACTIVE)
        count = text.value(f"call i64 @llvm.ctpop.i64(i64 {lanes})")
        once = text.value(f"insertelement <4 x i64> {self.once}, i64 {count}, i64 1")
        text.line(f"store <4 x i64> {once}, ptr %once_now")
        text.line(f"br label %{self.go_to(pc)}")

    def part(self, branch: Step, taken: str) -> None:
        """Lanes *taken* jump, and others do not; behind this is what is done where the engine is to part them.

        So it is where they have parted already.
        """
        inside = any(pc < branch.pc < end for pc, end in self.meeting_points.items())
        if branch.pc in self.meeting_points:
            self._part(branch, taken, inside)
        if inside:
            self.tell()

    def _part(self, branch: Step, taken: str, inside: bool) -> None:
        text = self.text
        ask, several, here, splits = (text.new_label(stem) for stem in ("ask", "several", "here", "splits"))
        may = text.value(f"and i1 %may_part, {self._is('%parted', NOWHERE)}") if inside else "%may_part"
        text.line(f"br i1 {may}, label %{ask}, label %{splits}")
        text.label(ask)
        text.line(f"br i1 %several, label %{several}, label %{here}")
        text.label(several)
        newest = text.call((NEWEST, 0), "%context", "%given", "0", "0", "0")
        text.line(f"br i1 {text.value(f'icmp ne i64 {newest}, 0')}, label %{here}, label %{splits}")
        text.label(here)
        text.add("%counts", branch.pc * L.N_COUNT + int(L.N_DIVERGENT), "1")
        text.line(f"store i64 {branch.pc}, ptr %parted")
        text.line(f"store i64 {NOWHERE}, ptr %waiting")
        text.line(f"store i64 {taken}, ptr %others")
        self._go_on(text.value(f"xor i64 {text.active}, {taken}"), branch.pc + 1)
        text.label(splits)

    def meet(self, step: Step) -> None:
        """At a BSYNC: the others follow, or all go on; behind this is what is done where no lanes have parted so."""
        if step.pc not in self.branches:
            return
        text = self.text
        apart, first, second, together = (text.new_label(stem) for stem in ("apart", "first", "second", "together"))
        text.line(f"br i1 {self._is('%parted', str(self.branches[step.pc].pc))}, label %{apart}, label %{together}")
        text.label(apart)
        text.line(f"br i1 {self._is('%waiting', NOWHERE)}, label %{first}, label %{second}")
        text.label(first)
        text.line(f"store i64 {step.pc}, ptr %waiting")
        self._go_on(text.value("load i64, ptr %others"), self.branches[step.pc].imm)
        text.label(second)
        text.line(f"store i64 {NOWHERE}, ptr %parted")
        self._go_on("%active", step.pc + 1)
        text.label(together)

    def tell(self) -> None:
        """Before native code ends: tell the engine of lanes that are apart."""
        if not self.branches:
            return
        text = self.text
        late, told = (text.new_label(stem) for stem in ("late", "told"))
        text.line(f"br i1 {self._is('%parted', NOWHERE)}, label %{told}, label %{late}")
        text.label(late)
        parted, waiting, others = (text.value(f"load i64, ptr {at}") for at in ("%parted", "%waiting", "%others"))
        text.call((LATE, 0), "%context", "%given", parted, waiting, others)
        text.line(f"br label %{told}")
        text.label(told)

    def _is(self, place: str, what: str) -> str:
        return self.text.value(f"icmp eq i64 {self.text.value(f'load i64, ptr {place}')}, {what}")
