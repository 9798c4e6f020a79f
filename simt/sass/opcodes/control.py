"""Control flow and synchronisation since Volta, and what does nothing here.

Branch targets are code offsets when an instruction is lowered (see link.py); calls and returns are jumps with the
return address in a register pair.
"""

from __future__ import annotations

from simt.ops.encoding import AWAIT, COLLECTIVE, COMMIT, FENCE, NULL_CALL, SCOPES, UNCOUNTED
from simt.program import PT, RZ, pred
from simt.sass.architectures import VOLTA
from simt.sass.lowering import MASK, Before, Lowering
from simt.sass.modifiers import Combine, Flag, Hint, Width
from simt.sass.operands import Barrier, CodeRegister, Immediate, Operand, Register, Scoreboard
from simt.sass.rows import Hidden
from simt.sass.table import Source, opcode

_A_B_NOT_C = 0b01000000
"""Truth table of ``a & b & ~c``."""


def target_offset(x: Lowering, operand: Operand) -> int:
    """A branch target as a code offset."""
    if not isinstance(operand, Immediate):
        raise x.unsupported(f"operand {operand} where a code address is expected")
    return operand.value


@opcode("BRA", source=Source.H200, takes=(Flag.U, Flag.ANY, Flag.DIV, Flag.CONV))
@opcode("JMP", source=Source.H200, takes=(Flag.U,))
def branch(x: Lowering) -> None:
    """``[condition,] target``.  DIV jumps if the live lanes of a mask are not together, CONV if they are.

    A guarded BRA.U takes all active lanes along: if the guard of all is true, with ANY if that of one is (H200).

    A guarded BRA.DIV takes all active lanes along if some lanes of its mask do not fulfil the guard (H200).
    """
    condition = PT
    if Flag.DIV in x.modifiers and x.guard != PT:
        _branch_unless_all(x)
        return
    if Flag.U in x.modifiers and x.guard != PT:
        _branch_together(x)
        return
    if Flag.DIV in x.modifiers or Flag.CONV in x.modifiers:
        mask = x.source(x.take()) if len(x.operands) > 1 else x.constant(MASK)
        missing = x.compute("lop3.b32", mask, x.compute("livemask"), x.compute("activemask"), imm=_A_B_NOT_C)
        condition = x.test("eq.s64", missing, RZ) ^ (Flag.DIV in x.modifiers)
    elif len(x.operands) > 1:
        condition = x.predicate(x.take_predicate())
    target = target_offset(x, x.take())
    x.done()
    x.emit("bra", a=condition, target=target)


def _branch_together(x: Lowering) -> None:
    condition = x.guard
    if len(x.operands) > 1:
        condition = x.narrowed(x.predicate(x.take_predicate()))
    target = target_offset(x, x.take())
    x.done()
    x.emit("nop", retires=True)
    willing = x.emit("ballot", x.new(), condition, guard=PT)
    if Flag.ANY in x.modifiers:
        jumps = pred(x.emit("ne.s64", x.new_predicate(), willing, RZ, guard=PT))
    else:
        active = x.emit("activemask", x.new(), guard=PT)
        jumps = pred(x.emit("eq.s64", x.new_predicate(), willing, active, guard=PT))
    x.emit("bra", a=jumps, guard=PT, target=target)


def _branch_unless_all(x: Lowering) -> None:
    mask = x.source(x.take())
    target = target_offset(x, x.take())
    x.done()
    x.emit("nop", retires=True)
    together = x.emit("ballot", x.new(), x.guard, guard=PT)
    live = x.emit("livemask", x.new(), guard=PT)
    missing = x.emit("lop3.b32", x.new(), mask, live, together, imm=_A_B_NOT_C, guard=PT)
    complete = pred(x.emit("eq.s64", x.new_predicate(), missing, RZ, guard=PT))
    x.emit("bra", a=complete ^ 1, guard=PT, target=target)


def _jump(x: Lowering, operand: Operand) -> None:
    """Jump to a code offset, or to the address in a register pair plus a displacement."""
    if isinstance(operand, Immediate):
        x.emit("bra", target=operand.value)
    elif isinstance(operand, Register):
        x.emit("brx", a=x.pair(operand))
    elif isinstance(operand, CodeRegister):
        x.emit("brx", a=x.pair(operand.register), imm=target_offset(x, operand.displacement))
    else:
        raise x.unsupported(f"operand {operand} where a code address is expected")


@opcode("CALL", source=Source.LISTINGS, takes=(Flag.REL, Flag.ABS, Hint), since=VOLTA)
@opcode("RET", source=Source.LISTINGS, takes=(Flag.REL, Flag.ABS, Hint), since=VOLTA)
def call_or_return(x: Lowering) -> None:
    operand = x.take()
    x.done()
    if x.instruction.opcode == "CALL" and isinstance(operand, Register | CodeRegister):
        pointer = operand if isinstance(operand, Register) else operand.register
        nowhere = x.test("eq.s64", x.pair(pointer), RZ)
        x.emit("trap", guard=x.narrowed(nowhere), imm=NULL_CALL)
    _jump(x, operand)


@opcode("LEPC", source=Source.LISTINGS, since=VOLTA)
def load_code_address(x: Lowering) -> None:
    """``d [, label]``: a code address, its own without a label; return addresses are made from it."""
    d = x.take_register()
    address = target_offset(x, x.take()) if x.operands else x.instruction.offset
    x.done()
    x.write_pair(d, x.constant(address))


@opcode("BRX", source=Source.LISTINGS)
def branch_indexed(x: Lowering) -> None:
    """The displacement counts from the next instruction."""
    operand = x.take()
    x.done()
    if not isinstance(operand, CodeRegister):
        raise x.unsupported(f"operand {operand} where a register and a displacement are expected")
    following = x.instruction.offset + (16 if x.place.architecture >= VOLTA else 8)
    x.emit("brx", a=x.pair(operand.register), imm=following + target_offset(x, operand.displacement))


@opcode("EXIT", source=Source.H200)
@opcode("KILL", "KIL", source=Source.NAMES)
def leave(x: Lowering) -> None:
    """``[p]``: lanes exit where a predicate operand is true, too."""
    condition = x.predicate(x.take_predicate()) if x.operands else PT
    x.done()
    x.emit("exit", guard=x.narrowed(condition))


@opcode("BPT", source=Source.LISTINGS, takes=(Flag.TRAP,))
def trap(x: Lowering) -> None:
    if Flag.TRAP not in x.modifiers:
        raise x.unsupported("only BPT.TRAP is supported")
    x.emit("trap")


# Convergence


def _take_barrier(x: Lowering) -> int:
    operand = x.take()
    if not isinstance(operand, Barrier):
        raise x.unsupported(f"operand {operand} where a convergence barrier is expected")
    return operand.index


@opcode("BSSY", source=Source.H200, takes=(Hint.RECONVERGENT, Hint.RELIABLE), since=VOLTA)
def set_barrier(x: Lowering) -> None:
    """``b, address``: the executing lanes will meet at the BSYNC before that address."""
    x.emit("bssy", imm=_take_barrier(x))
    x.take()
    x.done()


@opcode("BSYNC", source=Source.H200, takes=(Hint.RECONVERGENT, Hint.RELIABLE), since=VOLTA)
def wait_barrier(x: Lowering) -> None:
    x.emit("bsync", imm=_take_barrier(x))
    x.done()


@opcode("BREAK", source=Source.H200, takes=(Hint.RELIABLE,), since=VOLTA)
def break_barrier(x: Lowering) -> None:
    """``[condition,] b``: the executing lanes leave the barrier."""
    conditions = x.take_predicates()
    barrier = _take_barrier(x)
    x.done()
    if not conditions:
        x.emit("break", imm=barrier)
        return
    x.emit("nop", retires=True)
    leaving = x.narrowed(x.predicate(conditions[0]))
    x.emit("break", imm=barrier, guard=leaving)


@opcode("BMOV", source=Source.LISTINGS, takes=(Width, Flag.CLEAR), since=VOLTA)
def move_barrier(x: Lowering) -> None:
    """Between a barrier register and a register; CLEAR empties the barrier after reading it."""
    first, second = x.take(), x.take()
    x.done()
    if isinstance(first, Barrier) and isinstance(second, Register):
        x.emit("bmov.set", a=x.row(second), imm=first.index)
    elif isinstance(first, Register) and isinstance(second, Barrier):
        if first.index is not None:
            x.emit("bmov.get", x.row(first), imm=second.index, mod=int(Flag.CLEAR in x.modifiers))
    else:
        raise x.unsupported("only BMOV between a barrier and a register is supported")


@opcode("WARPSYNC", source=Source.H200, takes=(Hint.ALL, Flag.EXCLUSIVE, Flag.COLLECTIVE), since=VOLTA)
def warp_sync(x: Lowering) -> None:
    """Wait for the lanes of a mask (ALL: all) at this instruction; at another they are not there (H200, H100).

    EXCLUSIVE, COLLECTIVE: lanes with different masks then go on apart, up to the next BSYNC; an H200 counts divergence
    at the former only.
    COLLECTIVE: lanes may come from several such instructions; all of them run the code after that of the last to
    come, up to ENDCOLLECTIVE, which sends each lane on to the address that its own instruction named (H200).
    """
    mask = x.constant(MASK) if Hint.ALL in x.modifiers else x.source(x.take())
    collective = Flag.COLLECTIVE in x.modifiers
    if collective:
        x.emit("mov", x.rows.after_collective(), x.constant(target_offset(x, x.take())))
    x.done()
    if not collective and Flag.EXCLUSIVE not in x.modifiers:
        x.emit("warpsync", a=mask)
        return
    x.emit("warpsync", a=mask, mod=COLLECTIVE if collective else 0, retires=True)
    first = x.compute("first", mask)
    others = x.test("eq.s64", mask, first) ^ 1
    x.emit("bra", a=others, mod=UNCOUNTED if collective else 0, target=Before(2))


@opcode("ENDCOLLECTIVE", source=Source.H200, since=VOLTA)
def end_collective(x: Lowering) -> None:
    x.done()
    x.emit("nop", retires=True)
    x.emit("brx", a=x.rows.after_collective(), mod=COLLECTIVE)


@opcode("YIELD", source=Source.H200, since=VOLTA)
def give_way(x: Lowering) -> None:
    x.done()
    x.emit("yield")


# Block barriers


BLOCK_BARRIERS = 16
"""Of a block (PTX ISA, bar)."""


@opcode("BAR", source=Source.H200, takes=(Flag.SYNC, Flag.ARV, Flag.RED, Flag.POPC, Combine, Hint))
def block_barrier(x: Lowering) -> None:
    """``SYNC number [, threads]``, ``ARV number, threads``, or ``RED number [, threads], p`` for B2R."""
    number = x.take()
    constant, register = (number.value, RZ) if isinstance(number, Immediate) else (0, x.source(number))
    if not 0 <= constant < BLOCK_BARRIERS:
        raise x.unsupported(f"there is no block barrier {number}")
    predicates = [operand for operand in x.operands if not isinstance(operand, Immediate | Register)]
    x.operands = [operand for operand in x.operands if isinstance(operand, Immediate | Register)]
    threads = x.source(x.take()) if x.operands else 0
    x.operands = [*predicates, *x.operands]
    if Flag.RED not in x.modifiers:
        x.done()
        x.emit("bar.arrive" if Flag.ARV in x.modifiers else "bar.sync", b=threads, c=register, imm=constant)
        return
    p = x.predicate(x.take_predicate())
    x.done()
    if Flag.POPC in x.modifiers:
        x.emit("bar.red.popc", x.rows.barrier_result(), p, threads, register, imm=constant)
    else:
        op = "bar.red.or" if x.modifiers.one(Combine, Combine.AND) is Combine.OR else "bar.red.and"
        x.emit(op, Hidden.BARRIER, p, threads, register, imm=constant)


@opcode("MEMBAR", source=Source.H200, takes=(Hint,))
def memory_barrier(x: Lowering) -> None:
    """Memory is sequentially consistent: only checks want to know of it, and which threads it is for."""
    block = Hint.CTA in x.modifiers or Hint.SM in x.modifiers
    scope = "block" if block else "system" if Hint.SYS in x.modifiers else "device"
    x.emit("nop", mod=FENCE, imm=SCOPES.index(scope))


@opcode("LDGDEPBAR", source=Source.PTX, since=80)
def commit_copies(x: Lowering) -> None:
    """PTX cp.async.commit_group: copies are there at once, and only checks want to know of their groups."""
    x.done()
    x.emit("nop", mod=COMMIT)


@opcode("DEPBAR", source=Source.PTX, takes=(Hint,))
def await_scoreboard(x: Lowering) -> None:
    """``LE SBn, k``: at most k of what SBn counts are under way; SB0 counts the groups of LDGDEPBAR."""
    board, *rest = x.operands
    if Hint.LE in x.modifiers and board == Scoreboard(0) and rest and isinstance(rest[0], Immediate):
        x.emit("nop", mod=AWAIT, imm=rest[0].value)
    else:
        x.emit("nop")


# Nothing to do: memory is sequentially consistent, time is not simulated


@opcode(
    "NOP", "ERRBAR", "CGAERRBAR", "CCTL", "CCTLL", "NANOSLEEP", "PREEXIT", "ACQBULK",
    source=Source.H200, takes=(Hint,),
)  # fmt: skip
@opcode("FENCE", source=Source.PTX, takes=(Flag.VIEW, Flag.ASYNC, Flag.G, Flag.S), since=90)
def nothing(x: Lowering) -> None:
    x.emit("nop")
