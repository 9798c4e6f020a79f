"""How many rounds of each loop the warps make, from a second run in which a watch counts them warp by warp.

A profile has sums over all warps.  The second run executes the same program, and its watch is told of one micro-op of
every piece of code that goes back to the top of a loop.
"""

from __future__ import annotations

import copy
import io
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from simt import machine
from simt.calls.code import code_of
from simt.calls.options import Options
from simt.calls.running import gpu_for, run
from simt.check import Finding
from simt.check.short import ends_here
from simt.machine import events as V
from simt.machine.prepared import Prepared
from simt.ops.table import MICRO_OPS, Kind
from simt.program import PT, Instruction, Program
from simt.reasons.subject import LineKey, key_of

_JUMPS = ("", "BRA", "JMP")
"""Opcodes that end a round (the source view has none); some waits for other lanes go back in micro-ops, too."""


@dataclass(frozen=True)
class Loop:
    """A loop of a launch: ``line``, its source line or offset; ``rounds``: how many warps make how many, in all.

    A round is one execution of the code that goes back to the top, or leaves the loop instead, by lanes of a warp that
    go together.
    """

    line: LineKey
    text: str
    rounds: Mapping[int, int]

    @property
    def total(self) -> int:
        """Rounds of all warps."""
        return sum(rounds * warps for rounds, warps in self.rounds.items())

    def to_dict(self) -> dict[str, Any]:
        """For JSON; ``rounds`` are pairs of rounds and warps."""
        return {"file": self.line[0], "line": self.line[1], "text": self.text, "rounds": list(self.rounds.items())}


@ends_here
def rounds_of(kernel: Any, grid: Any, block: Any, *args: Any, **options: Any) -> tuple[Loop, ...]:
    """The loops of a launch in the order of the code; those that only an indirect branch reaches are left out.

    The parameters are those of :func:`simt.launch`; arrays among *args* are not changed.  Raises what a launch raises.
    """
    wanted = Options.of(**options)
    shape = machine.dimensions(grid, "grid"), machine.dimensions(block, "block")
    code = code_of(kernel, wanted.view, shape, copy.deepcopy(args), wanted.predicate)
    found = loops(code.program)
    if not found:
        return ()
    counted = _Rounds(list(found.values()))
    gpu = gpu_for(None, code.program.view, timing=False)
    run(code, shape, wanted, gpu, stdout=io.StringIO(), watch=counted)
    made = []
    for branch, rounds in zip(found, counted.rounds, strict=True):
        line = code.program.instructions[branch].line
        text = code.program.listing[line].text.strip()
        made.append(Loop(key_of(code.program, line), text, dict(sorted(Counter(rounds.tolist()).items()))))
    return tuple(made)


def loops(program: Program) -> dict[int, list[int]]:
    """The loops: the last branch of each back to its top, and for every such branch a micro-op to count.

    That is one of the straight code before the branch that all active lanes execute.  A loop that has a way back
    without one is left out.
    """
    instructions = program.instructions
    starts = _starts(program)
    tops: dict[int, list[int]] = {}
    for branch, top in _ways_back(program):
        tops.setdefault(top, []).append(branch)
    found = {}
    for _, branches in sorted(tops.items()):
        counted = []
        for branch in branches:
            first = max(start for start in starts if start <= branch)
            counted += [pc for pc in range(first, branch + 1) if instructions[pc].guard == PT][:1]
        if len(counted) == len(branches):
            found[max(branches)] = counted
    return found


def _starts(program: Program) -> set[int]:
    """Where straight code begins: at the first micro-op, behind control, and where branches go."""
    behind = {pc + 1 for pc, each in enumerate(program.instructions) if MICRO_OPS[each.op].kind is Kind.CONTROL}
    return {0} | behind | {each.imm for each in program.instructions if each.op == "bra"}


def _opcode(program: Program, instruction: Instruction) -> str:
    code = program.listing[instruction.line].code
    return code.opcode.partition(".")[0] if code is not None else ""


def _after(program: Program, pc: int) -> Iterator[int]:
    """Where lanes may go on after a micro-op: after a call, behind it; nowhere after a return or an indirect branch."""
    one = program.instructions[pc]
    opcode = _opcode(program, one)
    is_call = opcode.startswith("CAL")
    if one.op == "bra":
        yield one.imm
    ends = one.op == "exit" or (one.op == "bra" and one.a == PT) or (one.op == "brx" and opcode != "WARPSYNC")
    if (not ends or one.guard != PT or is_call) and pc + 1 < len(program.instructions):
        yield pc + 1


def _ways_back(program: Program) -> Iterator[tuple[int, int]]:
    """Branches that go back to where their lanes come from, and where that is."""
    path = [(0, _after(program, 0))]
    on_path, seen = {0}, {0}
    while path:
        pc, rest = path[-1]
        following = next(rest, None)
        if following is None:
            on_path.discard(pc)
            path.pop()
        elif following not in seen:
            seen.add(following)
            on_path.add(following)
            path.append((following, _after(program, following)))
        elif following in on_path and _opcode(program, program.instructions[pc]) in _JUMPS:
            yield pc, following


class _Rounds:
    """A watch that counts how often each warp comes to some micro-ops.

    ``loops``: the micro-ops of each loop; ``rounds``: int64 [loops, warps].
    """

    told = V.WATCH_ORDER
    in_order = False
    sees_writes = False

    def __init__(self, loops: Sequence[Sequence[int]]) -> None:
        self.loops = loops
        self.needless: npt.NDArray[np.int64] = np.zeros(0, np.int64)
        self.variables: npt.NDArray[np.int64] = np.array([pc for each in loops for pc in each], np.int64)
        self._warps = 0
        self._loop_of = np.zeros(0, np.int64)
        self.rounds: npt.NDArray[np.int64] = np.zeros((len(loops), 0), np.int64)

    def begin(self, prepared: Prepared, workers: int) -> None:
        """The launch is about to run."""
        self._warps = -(-prepared.launch.threads_per_block // 32)
        self._loop_of = np.full(len(prepared.program.instructions), -1)
        for number, members in enumerate(self.loops):
            self._loop_of[members] = number
        self.rounds = np.zeros((len(self.loops), prepared.launch.blocks * self._warps), np.int64)

    def judge(self, worker: int, events: npt.NDArray[np.int64]) -> tuple[int, Exception] | None:
        """Count; workers have blocks of their own, and so rows."""
        kinds = events[:: V.N_HEADER].tolist()  # an event with values is as long as some headers
        at, found = 0, []
        while at < len(kinds):
            if kinds[at] == V.VARIABLE:
                found.append(at)
            at += V.N_EVENT // V.N_HEADER if V.HAS_VALUES >> kinds[at] & 1 else 1
        rows = events.reshape(-1, V.N_HEADER)[found]
        warps = rows[:, V.V_BLOCK] * self._warps + rows[:, V.V_WARP]
        np.add.at(self.rounds, (self._loop_of[rows[:, V.V_PC]], warps), 1)
        return None

    def meet_grid(self) -> None:
        """Nothing is to be done where all blocks meet."""

    def finish(self) -> Sequence[Finding]:
        """It finds nothing."""
        return ()
