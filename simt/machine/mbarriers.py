"""Barriers in shared memory (PTX mbarrier), by the functions of the micro-ops' names; copies that arrive at them.

An mbarrier is a word of 64 bits, as on an H200 (tests/data/sass/h200/mbarriers.npz): from bit 1 the threads of a phase,
from bit 43 those that have yet to arrive in this one, both as 2**20 less their number; from bit 21 the bytes that are
to come, as 2**21 less their number; bit 63 says whether the number of the phase is odd.  A phase ends when nobody and
nothing is missing.  Lanes of one instruction arrive together.

Nsight Compute counts executions of these instructions, and no accesses to shared memory.
"""

from __future__ import annotations

import numpy as np

from simt.machine import layout as L
from simt.machine.control import FAIL, LEAVE, current
from simt.machine.events import tell_access, tell_phase_end
from simt.machine.memory import find
from simt.machine.registers import predicate, row_at
from simt.ops.encoding import MEMORY_TYPES, SHARED_WINDOW
from simt.ops.jit import jit
from simt.ops.mbarrier import BULK, DROPS
from simt.ops.memory import ATOMIC, GLOBAL, LOAD, SHARED, STORE
from simt.ops.scalar import lowest

SIZE = 8
EXPECTED, BYTES, PENDING, PHASE = 1, 21, 43, 63
_THREADS = (1 << 20) - 1
_BYTES = (1 << 21) - 1
_B64 = MEMORY_TYPES["b64"][0]


@jit
def arrived(word, threads, expected_bytes, drops):
    """The word after *threads* have arrived and *expected_bytes* more are to come (or fewer)."""
    pending = ((word >> PENDING) + threads) & _THREADS
    expected = (word >> EXPECTED) & _THREADS
    if drops:
        expected = (expected + threads) & _THREADS
    missing = ((word >> BYTES) - expected_bytes) & _BYTES
    phase = (word >> PHASE) & 1
    if pending == 0 and missing == 0:
        phase ^= 1
        pending = expected
    return pending << PENDING | missing << BYTES | expected << EXPECTED | phase << PHASE


@jit
def _fail(reason, lanes, lane, address, size, ERROR):
    ERROR[L.E_REASON] = reason
    ERROR[L.E_MASK] = lanes
    ERROR[L.E_LANE] = lane
    ERROR[L.E_ADDRESS] = address
    ERROR[L.E_EXTRA] = size
    return np.int64(FAIL)


@jit
def _locate(s, addresses, size, executing):
    """Positions in the arena of shared *addresses* (a row), to s.ADDRESSES; FAIL if one is outside or misaligned."""
    neutral = np.uint64(lowest(executing))
    limit = s.LAUNCH[L.LAUNCH_SHARED_BYTES] - size
    for k in range(32):
        lane = np.uint64(k) if (executing >> k) & 1 else neutral
        address = s.R[addresses + lane]
        if address >= SHARED_WINDOW:
            address -= SHARED_WINDOW
        if address & (size - 1):
            return _fail(L.R_MISALIGNED, executing, np.int64(lane), address, size, s.ERROR)
        if address < 0 or address > limit:
            return _fail(L.R_OUT_OF_BOUNDS, executing, np.int64(lane), address, size, s.ERROR)
        s.ADDRESSES[k] = address + s.LAUNCH[L.LAUNCH_SHARED]
    return np.int64(0)


@jit
def _tell(kind, space, pc, w, lanes, values, s):
    """Tell the launch's watch of accesses to s.ADDRESSES; *values*: what a store leaves, by lane."""
    if s.LAUNCH[L.LAUNCH_WATCH]:
        tell_access(
            kind, space, _B64, SIZE, pc, w, lanes, np.uint64(0), s.ADDRESSES, s.LAUNCH, s.WARPS, s.EVENTS, values,
            s.M8, s.M16, s.M32,
        )  # fmt: skip


@jit
def init_shared(s, w, pc, code, rows, uniform_end, executing):
    if executing == 0:
        return pc + 1
    if _locate(s, row_at(s.CODE[code + L.C_A], rows, uniform_end), SIZE, executing) == FAIL:
        return np.int64(FAIL)
    b = row_at(s.CODE[code + L.C_B], rows, uniform_end)
    for k in range(32):
        s.O[k] = s.R[b + np.uint64(k)]
    _tell(STORE, SHARED, pc, w, executing, s.O, s)
    for k in range(32):
        if (executing >> k) & 1:
            s.M64[s.ADDRESSES[k] >> 3] = s.O[k]
    return pc + 1


@jit
def arrive_shared(s, w, pc, code, rows, uniform_end, executing):
    if executing == 0:
        return pc + 1
    if _locate(s, row_at(s.CODE[code + L.C_A], rows, uniform_end), SIZE, executing) == FAIL:
        return np.int64(FAIL)
    threads = row_at(s.CODE[code + L.C_B], rows, uniform_end)
    expected = row_at(s.CODE[code + L.C_C], rows, uniform_end)
    told = s.EVENTS[0]
    _tell(ATOMIC, SHARED, pc, w, executing, s.O, s)
    ended = False
    rest = executing
    while rest != 0:
        position = s.ADDRESSES[lowest(rest)]
        together = np.int64(0)
        n_threads = np.int64(0)
        n_bytes = np.int64(0)
        for k in range(32):
            if (rest >> k) & 1 and s.ADDRESSES[k] == position:
                together |= np.int64(1) << k
                n_threads += s.R[threads + np.uint64(k)]
                n_bytes += s.R[expected + np.uint64(k)]
        rest &= ~together
        word = s.M64[position >> 3]
        if n_threads > -(word >> PENDING) & _THREADS:
            return _fail(L.R_ARRIVALS, together, lowest(together), position, n_threads, s.ERROR)
        after = arrived(word, n_threads, n_bytes, s.CODE[code + L.C_MOD] == DROPS)
        s.M64[position >> 3] = after
        if (word ^ after) < 0:
            tell_phase_end(told, together, s.EVENTS)
            ended = True
        for k in range(32):
            if (together >> k) & 1 and s.CODE[code + L.C_DST] > 0:
                s.R[np.uint64(rows + s.CODE[code + L.C_DST]) + np.uint64(k)] = word
    if ended:
        _release(s, uniform_end)
    return pc + 1


@jit
def state_shared(s, w, pc, code, rows, uniform_end, executing):
    if executing == 0:
        return pc + 1
    if _locate(s, row_at(s.CODE[code + L.C_A], rows, uniform_end), SIZE, executing) == FAIL:
        return np.int64(FAIL)
    _tell(ATOMIC, SHARED, pc, w, executing, s.O, s)  # a waiting thread sees what those that arrived have done
    for k in range(32):
        if (executing >> k) & 1 and s.CODE[code + L.C_DST] > 0:
            s.R[np.uint64(rows + s.CODE[code + L.C_DST]) + np.uint64(k)] = s.M64[s.ADDRESSES[k] >> 3]
    return pc + 1


@jit
def _has_ended(s, code, rows, uniform_end, executing):
    """Whether the phases for which the micro-op at *code* waits have ended.  Its addresses are those of mbarriers."""
    a = row_at(s.CODE[code + L.C_A], rows, uniform_end)
    b = row_at(s.CODE[code + L.C_B], rows, uniform_end)
    for k in range(32):
        if (executing >> k) & 1:
            address = s.R[a + np.uint64(k)]
            if address >= SHARED_WINDOW:
                address -= SHARED_WINDOW
            word = s.M64[(address + s.LAUNCH[L.LAUNCH_SHARED]) >> 3]
            if (word >> PHASE) & 1 == (s.R[b + np.uint64(k)] >> 31) & 1:
                return False
    return True


@jit
def wait_shared(s, w, pc, code, rows, uniform_end, executing):
    if executing == 0:
        return pc + 1
    if _locate(s, row_at(s.CODE[code + L.C_A], rows, uniform_end), SIZE, executing) == FAIL:
        return np.int64(FAIL)
    if _has_ended(s, code, rows, uniform_end, executing):
        return pc + 1
    at = current(s.WARPS, w)
    s.SPLITS[at + L.S_PC] = pc
    s.SPLITS[at + L.S_STATE] = L.WAIT_PHASE
    return np.int64(LEAVE)


@jit
def _release(s, uniform_end):
    """Let the splits of the block go on whose phases have ended."""
    for w in range(s.LAUNCH[L.LAUNCH_WARPS]):
        rows = w * s.LAUNCH[L.LAUNCH_REGISTERS] * 32
        for i in range(s.WARPS[w * L.N_WARP + L.W_SPLITS]):
            at = (w * 32 + i) * L.N_SPLIT
            if s.SPLITS[at + L.S_STATE] != L.WAIT_PHASE:
                continue
            code = np.uint64(s.SPLITS[at + L.S_PC] * L.N_CODE)
            lanes = s.SPLITS[at + L.S_MASK]
            if s.CODE[code + L.C_GUARD] != 0:
                lanes &= predicate(s.P, w * s.LAUNCH[L.LAUNCH_PREDICATES], s.CODE[code + L.C_GUARD])
            if _has_ended(s, code, rows, uniform_end, lanes):
                s.SPLITS[at + L.S_PC] += 1
                s.SPLITS[at + L.S_STATE] = L.READY


@jit
def bulk_generic(s, w, pc, code, rows, uniform_end, executing):
    """One step of a copy: what the lowest lane says, since operands are uniform.  It is there at once."""
    if executing == 0:
        return pc + 1
    lanes = executing & -executing
    lane = np.uint64(lowest(executing))
    source = s.R[row_at(s.CODE[code + L.C_B], rows, uniform_end) + lane]
    if _locate(s, row_at(s.CODE[code + L.C_A], rows, uniform_end), BULK, lanes) == FAIL:
        return np.int64(FAIL)
    if source & (BULK - 1):
        return _fail(L.R_MISALIGNED, lanes, np.int64(lane), source, BULK, s.ERROR)
    if find(source, BULK, s.STARTS, s.ENDS) < 0:
        return _fail(L.R_OUT_OF_BOUNDS, lanes, np.int64(lane), source, BULK, s.ERROR)
    to = s.ADDRESSES[0]
    for part in range(0, BULK, SIZE):
        _everywhere(source - L.ADDRESS_BASE + part, s)
        _tell(LOAD, GLOBAL, pc, w, lanes, s.O, s)
        s.O[lane] = s.M64[s.ADDRESSES[0] >> 3]
        _everywhere(to + part, s)
        _tell(STORE, SHARED, pc, w, lanes, s.O, s)
        s.M64[s.ADDRESSES[0] >> 3] = s.O[lane]
    return pc + 1


@jit
def _everywhere(position, s):
    for k in range(32):
        s.ADDRESSES[k] = position
