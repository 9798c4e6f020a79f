"""What a check is: a function of the engine that sees each access to memory, and a message for what it finds.

To add one: a file like races.py, and its place in :mod:`simt.machine.checks`.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np

from simt.check import SimtError
from simt.machine import layout as L
from simt.machine.prepared import Prepared
from simt.ops.jit import jit


class Access(NamedTuple):
    """What one memory micro-op is about to do, for the lanes that execute (not none); its addresses are valid."""

    kind: Any  # LOAD, STORE or ATOMIC of simt.ops.memory
    space: Any  # GLOBAL, SHARED, LOCAL or CONST
    dtype: Any  # the type's number: in MEMORY_TYPES, of an atomic in ATOMIC_TYPES
    operation: Any  # of an atomic its number in ATOMICS, else -1
    size: Any  # bytes of a lane
    offsets: Any  # int64[32]: where each lane's bytes begin in the arena; idle lanes repeat another lane's
    source: Any  # where lane 0 of the row stands in State.R that a store or an atomic reads
    lanes: Any  # mask of the lanes that execute
    pc: Any  # the micro-op
    warp: Any


@dataclass(frozen=True)
class Check:
    """A check that a launch can ask for by its name.

    ``shadow_words``: int64 that it remembers for each unit of the arena (the kernel's smallest access, at least a
    byte and at most four).  ``most_bytes``: bytes of arrays that it can take.  ``finding``: the error for what it
    found, from State.ERROR.  ``source_only``: why machine code is not checked; empty if it is.
    """

    name: str
    shadow_words: int
    most_bytes: int
    finding: Callable[[Prepared, L.State], SimtError]
    source_only: str = ""


@jit
def note(lane, other, access, s):
    """Put into ERROR what *lane* did wrong; *other*: whatever the check's message needs besides.  Returns True."""
    ERROR = s.ERROR
    ERROR[L.E_REASON] = L.R_CHECK
    ERROR[L.E_MASK] = np.int64(1) << lane
    ERROR[L.E_LANE] = lane
    ERROR[L.E_ADDRESS] = access.offsets[lane] + L.ADDRESS_BASE
    ERROR[L.E_EXTRA] = access.size
    ERROR[L.E_OTHER] = other
    return True
