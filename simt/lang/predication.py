"""Predication: short if/else bodies become guarded instructions without a branch, as compilers do."""

from __future__ import annotations

from collections.abc import Mapping

from simt.lang.ir import (
    PLOP_MOVE,
    PREDICATE,
    TRUE,
    Block,
    Branch,
    Jump,
    Op,
    PredRef,
    VReg,
    is_move,
    source_of,
)
from simt.ops.table import MICRO_OPS, Family

_SIMPLE = {Family.INT, Family.BITS, Family.F64, Family.F32, Family.CONVERT, Family.COMPARE, Family.PREDICATE}


def convert_arms(
    head: Block, then: Block, other: Block, meeting: Block, limit: int, entered: Mapping[Block, int]
) -> None:
    """Replace the branch that ends *head* by guards on the two arms, if each is short and simple.

    An arm qualifies if it is one block of at most *limit* counted operations: arithmetic, conversions,
    comparisons, special registers, loads and stores of elements.  It must have been *entered* from *head* only, or
    be empty: an operand of ``and`` or ``or`` before the last leads to an arm, too.
    """
    branch = head.end
    if not isinstance(branch, Branch) or (branch.then, branch.other) != (then, other):
        return
    arms = (then, other)
    if not all(isinstance(arm.end, Jump) and arm.end.target is meeting for arm in arms):
        return
    if not all(_is_simple(arm, limit) and (entered[arm] == 1 or not arm.ops) for arm in arms):
        return
    condition = branch.condition
    if condition.reg is not None and condition.reg.name:
        kept = VReg(PREDICATE)
        head.ops.append(Op("plop", branch.place, kept, condition, imm=PLOP_MOVE, retires=False))
        condition = PredRef(kept)
    for arm, guard in zip(arms, (condition, condition.inverted()), strict=True):
        _write_variables_directly(arm.ops)
        for op in arm.ops:
            op.guard = guard
        head.ops += arm.ops
    head.end = Jump(meeting, branch.place)


def _is_simple(arm: Block, limit: int) -> bool:
    if sum(op.retires for op in arm.ops) > limit:
        return False
    return all(
        op.guard == TRUE and (MICRO_OPS[op.op].family in _SIMPLE or op.op == "sreg" or op.op.startswith(("ld.", "st.")))
        for op in arm.ops
    )


def _write_variables_directly(ops: list[Op]) -> None:
    """Let the operation that computes a temporary write the variable that a move then copies it to."""
    for move in [op for op in ops if is_move(op)]:
        source = source_of(move)
        if source is None or source.name:
            continue
        position = ops.index(move)
        definitions = [op for op in ops if source in op.definitions()]
        readers = [op for op in ops if source in op.uses()]
        if len(definitions) != 1 or readers != [move]:
            continue
        start = ops.index(definitions[0])
        between = ops[start + 1 : position]
        if any(move.dst in (*op.uses(), *op.definitions()) for op in between):
            continue
        definitions[0].dst, definitions[0].variable, definitions[0].dtype = (
            move.dst,
            move.variable,
            move.dtype,
        )
        ops.remove(move)
