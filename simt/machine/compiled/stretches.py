"""The text of runs of micro-ops, a function each: for who looks at a warp in between, and knows what comes next.

``i64 @runPC(i64 context, i64 warp, i64 active)`` executes the run that begins at micro-op PC, for the current split of
a warp.  What it does not execute itself, or not just then, it leaves to the interpreter, with all behind it.  Its
result is the micro-op that follows, and how many micro-ops and instructions it has executed (EXECUTED and RETIRED).
"""

from __future__ import annotations

from simt.machine import layout as L
from simt.machine.compiled.context import FIRST_TIMES, TIMES
from simt.machine.compiled.plan import Step, Stretches, works_by_lane
from simt.machine.compiled.steps import WARP, Writer, retired
from simt.machine.compiled.text import Text
from simt.machine.native import EXECUTED, RETIRED

Pieces = list[list[Step]]


def name_of(first: int) -> str:
    """The function of the run that begins at a micro-op."""
    return f"run{first}"


def _come_to(where: int, done: Pieces) -> int:
    """What a function returns that has executed some pieces, and goes on at a micro-op."""
    return where | sum(map(retired, done)) << RETIRED | sum(map(len, done)) << EXECUTED


class StretchEmitter(Writer):
    """Writes the functions of the runs of a Program."""

    def __init__(self, plan: Stretches) -> None:
        super().__init__(plan)
        self._runs = plan.runs
        self._counted = ""
        self._ways_out: list[tuple[str, int]] = []
        self._done: Pieces = []

    def emit(self) -> Text:
        """The functions; what they need besides is in the Text."""
        lines: list[str] = []
        k = 0
        for first, pieces in self._runs.items():
            self._run(k, pieces)
            k += len(pieces)
            begin = f"define i64 @{name_of(first)}(i64 %given, i64 %warp, i64 %active) {{"
            room = f"  %scratch = alloca i64, i64 {WARP * self.scratch_rows}, align 64"
            lines += [begin, self.text.lines[0], room, *self.text.lines[1:], "}"]
        self.text.lines = [*lines, *sorted(self.text.declared)]
        return self.text

    def _run(self, k: int, pieces: Pieces) -> None:
        """A run, whose pieces count at number *k* and behind it."""
        self.text.lines = []
        self.text.label("entry")
        self.scratch_rows = 1
        self._ways_out, self._done = [], []
        self._begin()
        for piece in pieces:
            if not self._piece(k, piece):
                break
            self._count(FIRST_TIMES + TIMES * k, 1)
            self._done.append(piece)
            k += 1
        else:
            self.text.line(f"ret i64 {_come_to(pieces[-1][-1].pc + 1, pieces)}")
        for label, result in self._ways_out:
            self.text.label(label)
            self.text.line(f"ret i64 {result}")

    def _begin(self) -> None:
        """All that a run may need: LLVM leaves out what it does not."""
        text = self.text
        text.line("%context = inttoptr i64 %given to ptr")
        text.store("%warp", "%context", L.V_WARP)
        self._begin_launch()
        registers, predicates = (text.load("%launch", at) for at in (L.LAUNCH_REGISTERS, L.LAUNCH_PREDICATES))
        rows = text.value(f"mul i64 {text.value(f'mul i64 %warp, {registers}')}, {WARP}")
        text.line(f"%rows = getelementptr i64, ptr %uniform, i64 {rows}")
        every = text.pointer("%context", L.V_ALL_PREDICATES)
        text.line(f"%predicates = getelementptr i64, ptr {every}, i64 {text.value(f'mul i64 %warp, {predicates}')}")
        text.line(f"%warp_at = mul i64 %warp, {L.N_WARP}")
        for name, column in (("absent", L.W_ABSENT), ("exited", L.W_EXITED)):
            lanes = text.load(text.at("%warps", "%warp_at"), column)
            text.line(f"%{name} = call i64 @llvm.ctpop.i64(i64 {lanes})")
        self._counted = self._begin_warp()

    def _once(self) -> str:
        return self._counted

    def _bad(self, k: int, step: Step) -> str:
        label = self.text.new_label("out")
        self._ways_out.append((label, _come_to(step.pc, self._done)))
        return label

    def _piece(self, k: int, piece: list[Step]) -> bool:
        """Execute a piece; whether the run goes on behind it."""
        step = piece[0]
        if works_by_lane(step):
            self._segment(k, piece)
        elif step.row.name == "bra":
            self._branch(k, step)
            return False
        elif (passes := self._passes(step, self._executing(step))) is not None:
            through = self.text.new_label("through")
            self.text.line(f"br i1 {passes}, label %{through}, label %{self._bad(k, step)}")
            self.text.label(through)
            if step.guard:
                self._guarded(step)
        else:
            self._one(k, step)
        return True

    def _branch(self, k: int, step: Step) -> None:
        """All lanes jump, or none does; else the interpreter divides them."""
        text = self.text
        executing = self._executing(step)
        taken = text.value(f"and i64 {executing}, {self._mask(step.a)}") if step.a else executing
        every = text.value(f"icmp eq i64 {taken}, %active")
        none = text.value(f"icmp eq i64 {taken}, 0")
        uniform = text.new_label("uniform")
        same = text.value(f"or i1 {every}, {none}")
        text.line(f"br i1 {same}, label %{uniform}, label %{self._bad(k, step)}")
        text.label(uniform)
        if step.guard:
            self._guarded(step)
        self._count(FIRST_TIMES + TIMES * k, 1)
        self._done.append([step])
        there, behind = (_come_to(pc, self._done) for pc in (step.imm, step.pc + 1))
        text.line(f"ret i64 {text.value(f'select i1 {every}, i64 {there}, i64 {behind}')}")
