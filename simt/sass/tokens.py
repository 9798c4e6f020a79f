"""Control flow of Maxwell and Pascal: the stack of tokens becomes convergence barriers.

SSY, PBK and PCNT push a token with a target; SYNC, BRK and CONT park the executing lanes on the innermost token
of their kind, dropping those above; when no lane is left running, the innermost token that holds lanes is
popped, and its lanes go on at its target.  CAL pushes a token for the instruction after it, which RET uses
likewise.

Which tokens are on the stack is known at each instruction, so the stack is followed from the entry of the kernel
along all paths, and each (instruction, stack) becomes micro-ops of its own: usually one per instruction, several
for functions called from several places.  A token at depth *d* is convergence barrier *d*: pushing is ``bssy``,
parking is ``break`` for the tokens above and a jump to the token's one ``bsync``, after which comes a jump to
the target.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from enum import Enum
from itertools import pairwise

from simt.check import KernelError, Location, UnsupportedError
from simt.program import PT, Instruction
from simt.sass.grammar import SassInstruction
from simt.sass.link import Code
from simt.sass.operands import Immediate

MAX_DEPTH = 32


class Token(Enum):
    """Kinds of tokens, by the instruction that parks lanes on them."""

    SYNC = "SYNC"
    BREAK = "BRK"
    CONTINUE = "CONT"
    RETURN = "RET"


PUSHES = {"SSY": Token.SYNC, "PBK": Token.BREAK, "PCNT": Token.CONTINUE, "PRET": Token.RETURN}
PARKS = {"SYNC": Token.SYNC, "BRK": Token.BREAK, "CONT": Token.CONTINUE, "RET": Token.RETURN}
CALLS = frozenset({"CAL", "JCAL"})
JUMPS = frozenset({"BRA", "JMP"})
ENDS = frozenset({"EXIT", "KIL"})
OPCODES = frozenset({*PUSHES, *PARKS, *CALLS})
"""Opcodes whose meaning is here and not in the table."""

Stack = tuple[tuple[Token, int], ...]
Node = tuple[int, Stack]
"""An instruction (its offset) with the tokens on the stack, outermost first."""


@dataclass
class Flow:
    """What the emitter of a Pascal kernel needs: nodes in order of emission, and where each goes.

    ``calls``: functions of the system by offset; of each only a return stands there.
    """

    code: Code
    kernel: str
    by_offset: dict[int, SassInstruction] = field(init=False)
    next_offset: dict[int, int] = field(init=False)
    calls: dict[int, str] = field(init=False)

    def __post_init__(self) -> None:
        offsets = [instruction.offset for instruction in self.code.instructions]
        self.by_offset = {instruction.offset: instruction for instruction in self.code.instructions}
        self.next_offset = dict(pairwise(offsets))
        self.calls = {_aligned(address): name for name, address in self.code.calls.items()}
        for offset in self.calls:
            self.by_offset[offset] = SassInstruction("RET", offset=offset)

    def nodes(self) -> list[Node]:
        """All nodes that can be reached from the entry, by offset."""
        entry: Node = (self.code.instructions[0].offset, ())
        found = {entry}
        work = [entry]
        while work:
            for node in self.successors(work.pop()):
                if node not in found:
                    found.add(node)
                    work.append(node)
        return sorted(found, key=lambda node: (node[0], len(node[1]), [t for _, t in node[1]]))

    def successors(self, node: Node) -> list[Node]:
        """Where the lanes of a node can go next."""
        offset, stack = node
        instruction = self.by_offset.get(offset)
        if instruction is None:
            raise KernelError(
                f"branch to nowhere: {offset:#x} is not in the code of {self.kernel}",
                location=Location("", function=self.kernel),
            )
        name = instruction.opcode
        found = []
        if name in PUSHES:
            found.append(self.after(offset, self.push(stack, PUSHES[name], self.target(instruction))))
            return found
        if name in CALLS:
            inner = self.push(stack, Token.RETURN, self.next_offset[offset])
            found.append((self.target(instruction), inner))
        elif name in PARKS:
            depth = self.depth(instruction, stack)
            found.append((stack[depth][1], stack[:depth]))
        elif name in JUMPS:
            found.append((self.target(instruction), stack))
        elif name == "BRX":
            found += [(int(target, 16), stack) for target in instruction.targets]
            return found
        elif name not in ENDS:
            found.append(self.after(offset, stack))
            return found
        if instruction.guard is not None or len(instruction.operands) > 1:
            found.append(self.after(offset, stack))
        return found

    def after(self, offset: int, stack: Stack) -> Node:
        """The node that follows in address order."""
        return self.next_offset.get(offset, -1), stack

    def push(self, stack: Stack, kind: Token, target: int) -> Stack:
        """The stack with one more token.  Raises UnsupportedError if it grows without end (recursion)."""
        if len(stack) >= MAX_DEPTH:
            raise UnsupportedError(f"{self.kernel}: recursion is not supported on this architecture")
        return (*stack, (kind, target))

    @staticmethod
    def target(instruction: SassInstruction) -> int:
        """The code offset that an instruction names."""
        operand = instruction.operands[-1] if instruction.operands else None
        if not isinstance(operand, Immediate):
            raise UnsupportedError(f"{instruction.mnemonic} {operand} is not supported")
        return _aligned(operand.value)

    def depth(self, instruction: SassInstruction, stack: Stack) -> int:
        """Depth of the token that an instruction parks lanes on."""
        kind = PARKS[instruction.opcode]
        for depth in range(len(stack) - 1, -1, -1):
            if stack[depth][0] is kind:
                return depth
            if kind is Token.SYNC:
                break
        raise KernelError(
            f"{instruction.opcode} at {instruction.offset:#x} of {self.kernel} finds no token to use",
            location=Location("", function=self.kernel, text=str(instruction)),
        )


def _aligned(offset: int) -> int:
    """A target at a scheduling word means the instruction after it."""
    return offset + 8 if offset % 32 == 0 else offset


Emit = Callable[[Instruction, object], None]
"""Adds a micro-op; the second argument is the node or stub that its ``imm`` will be the place of."""


def lower(flow: Flow, node: Node, guard: int, emit: Emit) -> None:
    """Micro-ops of one of OPCODES."""
    offset, stack = node
    instruction = flow.by_offset[offset]
    name = instruction.opcode
    if name in PUSHES:
        emit(Instruction("bssy", imm=len(stack)), None)
        return
    if name in CALLS:
        emit(Instruction("bssy", imm=len(stack), guard=guard, retires=False), None)
        emit(Instruction("bra", guard=guard), flow.successors(node)[0])
        return
    depth = flow.depth(instruction, stack)
    emit(Instruction("nop", guard=guard, retires=offset not in flow.calls), None)
    for above in range(len(stack) - 1, depth, -1):
        emit(Instruction("break", imm=above, guard=guard, retires=False), None)
    emit(Instruction("bra", guard=guard, retires=False), Stub(stack[: depth + 1]))


@dataclass(frozen=True)
class Stub:
    """The one place where the lanes parked on a token wait: ``bsync``, then a jump to its target."""

    stack: Stack

    def emit(self, emit: Emit) -> None:
        """Add the stub's micro-ops."""
        barrier = len(self.stack) - 1
        emit(Instruction("bsync", imm=barrier, guard=PT, retires=False), None)
        emit(Instruction("bra", retires=False), (self.stack[-1][1], self.stack[:-1]))
