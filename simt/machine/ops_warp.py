"""Micro-ops that look across the lanes of a warp: special registers, shuffles, votes, matches, reductions."""

from __future__ import annotations

import numpy as np

from simt.machine.jit import jit, jit_inline
from simt.machine.layout import FULL, LAUNCH_BLOCK, LAUNCH_CLOCK, LAUNCH_FIRST_WARP, LAUNCH_SM, LAUNCH_WARPS
from simt.machine.scalar import lowest
from simt.program import MICRO_OPS, SPECIAL_REGISTERS

SREG = MICRO_OPS["sreg"].code
SHFL_IDX = MICRO_OPS["shfl.idx"].code
SHFL_UP = MICRO_OPS["shfl.up"].code
SHFL_DOWN = MICRO_OPS["shfl.down"].code
SHFL_BFLY = MICRO_OPS["shfl.bfly"].code
VOTE_ALL = MICRO_OPS["vote.all"].code
VOTE_ANY = MICRO_OPS["vote.any"].code
VOTE_EQ = MICRO_OPS["vote.eq"].code
BALLOT = MICRO_OPS["ballot"].code
ACTIVEMASK = MICRO_OPS["activemask"].code
FIRST = MICRO_OPS["first"].code
MATCH_ANY = MICRO_OPS["match.any"].code
MATCH_ALL = MICRO_OPS["match.all"].code
REDUX_ADD = MICRO_OPS["redux.add"].code
REDUX_MIN_S32 = MICRO_OPS["redux.min.s32"].code
REDUX_MAX_S32 = MICRO_OPS["redux.max.s32"].code
REDUX_MIN_U32 = MICRO_OPS["redux.min.u32"].code
REDUX_MAX_U32 = MICRO_OPS["redux.max.u32"].code
REDUX_AND = MICRO_OPS["redux.and"].code
REDUX_OR = MICRO_OPS["redux.or"].code
REDUX_XOR = MICRO_OPS["redux.xor"].code

_UNIFORM_REGISTERS = SPECIAL_REGISTERS.index("laneid")
_LANEID = SPECIAL_REGISTERS.index("laneid")
_WARPID = SPECIAL_REGISTERS.index("warpid")
_NWARPID = SPECIAL_REGISTERS.index("nwarpid")
_SMID = SPECIAL_REGISTERS.index("smid")
_LANEMASK_EQ = SPECIAL_REGISTERS.index("lanemask_eq")
_LANEMASK_LT = SPECIAL_REGISTERS.index("lanemask_lt")
_LANEMASK_LE = SPECIAL_REGISTERS.index("lanemask_le")
_LANEMASK_GT = SPECIAL_REGISTERS.index("lanemask_gt")
_LANEMASK_GE = SPECIAL_REGISTERS.index("lanemask_ge")


@jit_inline
def special(which, w, O, TID, LAUNCH):
    """``sreg``: TID is int64[warps * 3 * 32], LAUNCH holds the block's and grid's coordinates."""
    if which < 3:
        start = (w * 3 + which) * 32
        for l in range(32):
            O[l] = TID[start + l]
    elif which < _UNIFORM_REGISTERS:
        value = LAUNCH[LAUNCH_BLOCK + which - 3]
        for l in range(32):
            O[l] = value
    else:
        for l in range(32):
            bit = np.int64(1) << l
            if which == _LANEID:
                O[l] = l
            elif which == _WARPID:
                O[l] = LAUNCH[LAUNCH_FIRST_WARP] + w
            elif which == _NWARPID:
                O[l] = LAUNCH[LAUNCH_WARPS]
            elif which == _LANEMASK_EQ:
                O[l] = bit
            elif which == _LANEMASK_LT:
                O[l] = bit - 1
            elif which == _LANEMASK_LE:
                O[l] = 2 * bit - 1
            elif which == _LANEMASK_GT:
                O[l] = FULL & ~(2 * bit - 1)
            elif which == _LANEMASK_GE:
                O[l] = FULL & ~(bit - 1)
            elif which == _SMID:
                O[l] = LAUNCH[LAUNCH_SM]
            else:  # clock: 32 bits
                O[l] = LAUNCH[LAUNCH_CLOCK] & 0xFFFFFFFF


@jit
def shuffle(op, R, O, a, b, c):
    """The four shuffles as PTX defines them; returns the mask of lanes whose source lane is in range."""
    inside = np.int64(0)
    for l in range(32):
        u = np.uint64(l)
        lane = R[b + u] & 31
        clamp = R[c + u] & 31
        segment = (R[c + u] >> 8) & 31
        limit = (l & segment) | (clamp & ~segment)
        if op == SHFL_UP:
            source = l - lane
            valid = source >= limit
        elif op == SHFL_DOWN:
            source = l + lane
            valid = source <= limit
        elif op == SHFL_BFLY:
            source = l ^ lane
            valid = source <= limit
        else:
            source = (l & segment) | (lane & ~segment)
            valid = source <= limit
        if not valid:
            source = l
        O[l] = R[a + np.uint64(source)]
        inside |= np.int64(valid) << l
    return inside


@jit
def across(op, R, O, a, exec_mask):
    """Matches, reductions and broadcasts of row *a* over the exec lanes (not empty); returns a mask."""
    if op == FIRST:
        value = R[a + np.uint64(lowest(exec_mask))]
        for l in range(32):
            O[l] = value
        return exec_mask
    if op == MATCH_ANY:
        for l in range(32):
            equal = np.int64(0)
            for k in range(32):
                if (exec_mask >> k) & 1 and R[a + np.uint64(k)] == R[a + np.uint64(l)]:
                    equal |= np.int64(1) << k
            O[l] = equal
        return exec_mask
    first = R[a + np.uint64(lowest(exec_mask))]
    result = first & FULL
    signed = (first << 32) >> 32
    same = True
    begun = False
    for k in range(32):
        if (exec_mask >> k) & 1:
            x = R[a + np.uint64(k)]
            same &= x == first
            y = (x << 32) >> 32
            x &= FULL
            if begun:
                if op == REDUX_ADD:
                    result = (result + x) & FULL
                elif op == REDUX_MIN_S32:
                    signed = min(signed, y)
                elif op == REDUX_MAX_S32:
                    signed = max(signed, y)
                elif op == REDUX_MIN_U32:
                    result = min(result, x)
                elif op == REDUX_MAX_U32:
                    result = max(result, x)
                elif op == REDUX_AND:
                    result &= x
                elif op == REDUX_OR:
                    result |= x
                elif op == REDUX_XOR:
                    result ^= x
            begun = True
    if op == MATCH_ALL:
        result = exec_mask if same else np.int64(0)
    elif op == REDUX_MIN_S32 or op == REDUX_MAX_S32:
        result = signed & FULL
    for l in range(32):
        O[l] = result
    return exec_mask if same else np.int64(0)


@jit_inline
def vote(op, operand, exec_mask):
    """Whether the vote holds for predicate mask *operand* over the exec lanes."""
    mine = operand & exec_mask
    if op == VOTE_ALL:
        return mine == exec_mask
    if op == VOTE_ANY:
        return mine != 0
    return mine == 0 or mine == exec_mask


@jit_inline
def truth_table(table, x, y, z):
    """Bitwise function of three lane masks by its truth table (bit 4x + 2y + z)."""
    result = np.int64(0)
    for k in range(8):
        if (table >> k) & 1:
            term = (x if k & 4 else ~x) & (y if k & 2 else ~y) & (z if k & 1 else ~z)
            result |= term
    return result & FULL
