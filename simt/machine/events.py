"""Events of a watched launch: the engine writes them into a buffer in the order of execution, and a watch reads them.

The engine only records.  What the events mean (which accesses are ordered, which race) is worked out by the launch's
:class:`~simt.machine.launch.Watch`, so a launch that nobody watches neither runs nor compiles any of it.
An event is a header and, for accesses and some others, 32 values, one per lane.
"""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from simt.machine import layout as L
from simt.ops.columns import Columns
from simt.ops.encoding import MEMORY_TYPES
from simt.ops.jit import jit, jit_rare
from simt.ops.memory import LOCAL, STORE
from simt.ops.scalar import MIXER, lowest

_event = Columns()
V_KIND = _event()
V_PC = _event()
V_BLOCK = _event()
V_WARP = _event()
V_LANES = _event()  # mask of the lanes that execute
V_WHAT = _event()  # access: kind | space << 4 | bytes of a lane << 8; block barrier: its number
V_MORE = _event()  # access: where its space begins in the arena; block barrier: threads expected
V_EXITED = _event()  # lanes of the warp that have exited or never were
V_VALUES = _event(32)
N_HEADER, N_EVENT = V_VALUES, _event.count

ACCESS, ORDER, LANES, VARIABLE, SERVED = range(1, 6)
"""Kinds: an access (values: offset in the arena | MATCHES | digest of what is stored); a micro-op that may order
threads (no values), or whose lanes name others (values: its mask, or source lane | clamp << 8); a micro-op with
registers that are watched; what a system call did to memory (V_WHAT: FRESH, FILLED; V_MORE: where; V_EXITED: bytes)."""
FRESH, FILLED = range(2)
"""What a system call did: it gave its caller memory that nobody has touched; it wrote."""
HAS_VALUES = 1 << ACCESS | 1 << LANES

OFFSET_BITS = 36
MATCHES = 1 << OFFSET_BITS
"""In the value of a store: the memory holds these bytes already.  Of an arrival at an mbarrier: it ended a phase."""
DIGEST_SHIFT = OFFSET_BITS + 1
_DIGEST_BITS = 26

EVENT_WORDS = 1 << 16
"""int64 of the buffer; its first one is where the next event goes."""
_ROOM = 4 * N_EVENT + 3 * 32 * N_HEADER
"""At least what one micro-op writes, and a system call that does three things for each lane."""

WATCH_GLOBAL, WATCH_LOCAL, WATCH_STORED, WATCH_ORDER = 1, 2, 4, 8
"""What is told (bits of LAUNCH_WATCH): accesses to shared and global memory; to local memory; digests of what is
stored; and always what orders threads, and what is done with registers that are watched."""

B64 = MEMORY_TYPES["b64"][0]


@jit
def is_full(EVENTS):
    """Whether the buffer may be too full for the events of one more micro-op."""
    return EVENTS[0] > len(EVENTS) - _ROOM


@jit
def _header(EVENTS, at, LAUNCH, WARPS, kind, pc, w, lanes, what, more):
    EVENTS[at + V_KIND] = kind
    EVENTS[at + V_PC] = pc
    EVENTS[at + V_BLOCK] = LAUNCH[L.LAUNCH_INDEX]
    EVENTS[at + V_WARP] = w
    EVENTS[at + V_LANES] = lanes
    EVENTS[at + V_WHAT] = what
    EVENTS[at + V_MORE] = more
    EVENTS[at + V_EXITED] = WARPS[w * L.N_WARP + L.W_EXITED] | WARPS[w * L.N_WARP + L.W_ABSENT]
    EVENTS[0] = at + (N_EVENT if (HAS_VALUES >> kind) & 1 else N_HEADER)


@jit
def _word(dtype, size, R, b, part, lane):
    """The 32-bit word *part* (or the one shorter value) that a lane stores."""
    if dtype == B64:
        return (R[b + np.uint64(lane)] >> (32 * part)) & 0xFFFFFFFF
    if size < 4:
        return R[b + np.uint64(lane)] & ((1 << (8 * size)) - 1)
    row = 32 * part if b != 0 else 0  # every word of RZ is zero
    return R[b + np.uint64(row + lane)] & 0xFFFFFFFF


@jit
def _stored(dtype, size, offset, lane, b, R, M8, M16, M32):
    """MATCHES if a store leaves its bytes as they are; and a digest of what it stores."""
    digest = np.int64(0)
    matches = True
    for part in range(max(size >> 2, 1)):
        word = _word(dtype, size, R, b, part, lane)
        digest = (digest ^ word) * MIXER
        if size == 1:
            matches = word == np.int64(M8[np.uint64(offset)])
        elif size == 2:
            matches = word == np.int64(M16[np.uint64(offset >> 1)])
        else:
            matches &= word == np.int64(M32[np.uint64((offset >> 2) + part)])
    top = (digest >> (64 - _DIGEST_BITS)) & ((1 << _DIGEST_BITS) - 1)
    return (top << DIGEST_SHIFT) | (MATCHES if matches else 0)


@jit
def tell_access(kind, space, dtype, size, pc, w, lanes, b, ADDRESSES, LAUNCH, WARPS, EVENTS, R, M8, M16, M32):
    """Record an access before it is made; *dtype* of a store, *b*: the row that it stores."""
    watch = LAUNCH[L.LAUNCH_WATCH]
    if not watch & (WATCH_LOCAL if space == LOCAL else WATCH_GLOBAL):
        return
    at = EVENTS[0]
    begin = LAUNCH[L.LAUNCH_LOCAL] if space == LOCAL else LAUNCH[L.LAUNCH_SHARED]
    _header(EVENTS, at, LAUNCH, WARPS, ACCESS, pc, w, lanes, kind | space << 4 | size << 8, begin)
    for l in range(32):
        EVENTS[at + V_VALUES + l] = ADDRESSES[l]
    if kind == STORE and watch & WATCH_STORED:
        for l in range(32):
            if (lanes >> l) & 1:
                EVENTS[at + V_VALUES + l] |= _stored(dtype, size, ADDRESSES[l], l, b, R, M8, M16, M32)


@jit
def tell_phase_end(at, lanes, EVENTS):
    """Record that an arrival at an mbarrier, whose event stands at *at* (unless nobody watches), ended a phase."""
    if EVENTS[0] == at:
        return
    for l in range(32):
        if (lanes >> l) & 1:
            EVENTS[at + V_VALUES + l] |= MATCHES


@jit_rare
def tell_variable(pc, w, lanes, chosen, LAUNCH, WARPS, EVENTS):
    """Record a micro-op that reads or writes a watched register; *chosen*: lanes that select its operand a."""
    _header(EVENTS, EVENTS[0], LAUNCH, WARPS, VARIABLE, pc, w, lanes, chosen, 0)


@jit_rare
def tell_order(flags, pc, w, lanes, a, b, c, imm, LAUNCH, WARPS, EVENTS, R):
    """Record a micro-op that orders threads, before it is executed; *a*, *b*, *c*: its rows."""
    at = EVENTS[0]
    if flags & L.ORDERS:
        lane = np.uint64(lowest(lanes))
        _header(EVENTS, at, LAUNCH, WARPS, ORDER, pc, w, lanes, (imm + R[c + lane]) % L.BLOCK_BARRIERS, R[b + lane])
        return
    _header(EVENTS, at, LAUNCH, WARPS, LANES, pc, w, lanes, 0, 0)
    for l in range(np.uint64(32)):
        value = R[a + l] & L.FULL
        if flags & L.SHUFFLES:
            value = (R[b + l] & 31) | (R[c + l] & 0x1F1F) << 8
        EVENTS[np.uint64(at + V_VALUES) + l] = value


def tell_served(EVENTS: npt.NDArray[np.int64], what: int, block: int, offset: int, size: int) -> None:
    """Record what a system call of a block did to *size* bytes of the arena."""
    at = int(EVENTS[0])
    header = {V_KIND: SERVED, V_BLOCK: block, V_WHAT: what, V_MORE: offset, V_EXITED: size}
    EVENTS[at : at + N_HEADER] = [header.get(column, 0) for column in range(N_HEADER)]
    EVENTS[0] = at + N_HEADER
