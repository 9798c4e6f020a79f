"""Micro-ops on predicates: all lanes at once, as masks."""

from __future__ import annotations

import numpy as np

from simt.ops.jit import jit_inline
from simt.ops.row import IMM, MASK, Effect, Family, Kind, Table
from simt.ops.scalar import FULL

TABLE = Table("predicate", Family.PREDICATE, Kind.MASK, 1, inline=True)
VOTES = Table("vote", Family.WARP, Kind.MASK, 2, effects=Effect.CROSSES_LANES, inline=True)

vote = VOTES.lanes("alu")


@jit_inline
def truth_table(table, x, y, z):
    """Bitwise function of three lane masks by its truth table (bit 4x + 2y + z)."""
    result = np.int64(0)
    for k in range(8):
        if (table >> k) & 1:
            term = (x if k & 4 else ~x) & (y if k & 2 else ~y) & (z if k & 1 else ~z)
            result |= term
    return result & FULL


@TABLE.lanes("alu")
def plop(a: MASK, b: MASK, c: MASK, imm: IMM) -> MASK:
    """d = truth table imm over (a, b, c): bit 4a + 2b + c of imm"""
    return truth_table(imm, a, b, c)


@vote
def vote_all(a: MASK, executing: MASK) -> MASK:
    """d = a true in all exec lanes"""
    return FULL if a & executing == executing else np.int64(0)


@vote
def vote_any(a: MASK, executing: MASK) -> MASK:
    """d = a true in any exec lane"""
    return FULL if a & executing != 0 else np.int64(0)


@vote
def vote_eq(a: MASK, executing: MASK) -> MASK:
    """d = a the same in all exec lanes"""
    return FULL if a & executing == 0 or a & executing == executing else np.int64(0)
