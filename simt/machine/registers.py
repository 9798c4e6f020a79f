"""Where the rows of the register file and the predicates of a warp stand."""

from __future__ import annotations

import numpy as np

from simt.ops.jit import jit
from simt.ops.scalar import FULL


@jit
def row_at(offset, warp_rows, uniform_end):
    """Position in the register file of a row: uniform rows stand once, the others once per warp."""
    return np.uint64(offset + warp_rows if offset >= uniform_end else offset)


@jit
def predicate(P, base, operand):
    """The lane mask of a predicate operand (``2 * index + negated``)."""
    value = P[base + (operand >> 1)]
    return value ^ FULL if operand & 1 else value
