"""Where things stand in the engine's arrays: columns, states, statuses.  Plain integers, so Numba inlines them."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

FULL = np.int64(0xFFFFFFFF)

# Columns of the code table (int64 [micro-ops * N_CODE]): one cache line per micro-op.  The operation stands in the
# low bits of its column and the flags above; register operands are offsets of lane 0 in the register file.  Column
# numbers that the engine adds to unsigned positions are unsigned themselves: mixed signs would make floats.
C_OP, C_DST, C_A, C_B, C_C, C_GUARD, C_IMM, C_MOD = (np.uint64(k) for k in range(8))
N_CODE = 8
OP_MASK = 0xFFFF
FLAGS_SHIFT = 16
RETIRES = 1  # bits of the flags
UNIFORM = 2

# Columns of the counter table, in the order of program.COUNTERS.
(
    N_EXECUTED,
    N_THREADS,
    N_PRED_ON,
    N_ABSENT,
    N_EXITED,
    N_BRANCHES,
    N_DIVERGENT,
    N_REQUESTS,
    N_BYTES,
    N_SECTORS,
    N_SECTORS_IDEAL,
    N_WAVEFRONTS,
    N_WAVEFRONTS_IDEAL,
    N_UPDATES,
    N_REPLAYS,
) = (np.uint64(k) for k in range(15))
N_COUNT = 16  # columns of the counter table, which is int64 [micro-ops * N_COUNT]
N_MEMORY = 7  # memory's counters, from N_REQUESTS on

# A split: lanes of a warp that share a program counter (int64 [warps * 32 * N_SPLIT]).
# S_WAY: how it was put back at a branch; S_FRESH: it is the one put back last; S_YIELDED: it gave way (YIELD).
S_PC, S_MASK, S_STATE, S_ARG, S_PASS, S_WAY, S_FRESH, S_YIELDED = range(8)
N_SPLIT = 8
READY, WAIT_BSYNC, WAIT_BARRIER, WAIT_WARPSYNC = range(4)
ELSEWHERE, TAKEN, FELL, TURNED = range(4)  # ways; TURNED: gave its turn to lanes that it released

# A warp (int64 [warps * N_WARP]).
(
    W_SPLITS,
    W_CURRENT,
    W_EXITED,
    W_ABSENT,
    W_RANDOM,
    W_PASSES,
    W_BLOCK_EPOCH,  # block barriers passed
    W_WARP_EPOCH,  # warpsyncs passed
    W_QUANTUM,  # of a turn that a full trace buffer interrupted: its length and what it used of it
    W_USED,
    W_MOVED,  # 1 if a convergence barrier was set by a move (recursion, calls)
    W_RELEASED,  # lanes that the last BREAK released, until the next branch
) = range(12)
N_WARP = 12

# A block barrier (int64 [16 * N_BARRIER]): threads that arrived, threads expected (0: all), reduction.
B_ARRIVED, B_EXPECTED, B_COUNT, B_AND, B_OR = range(5)
N_BARRIER = 5
BLOCK_BARRIERS = 16

# The launch, as seen by one block (int64 [N_LAUNCH]).
LAUNCH_BLOCK = 0  # nine coordinates in the order of SPECIAL_REGISTERS: ntid, ctaid, nctaid
(
    LAUNCH_WARPS,
    LAUNCH_LIVE,
    LAUNCH_INDEX,
    LAUNCH_EXECUTED,
    LAUNCH_STEPS,
    LAUNCH_BUDGET,
    LAUNCH_REGISTERS,
    LAUNCH_UNIFORM_END,
    LAUNCH_PREDICATES,
    LAUNCH_BARRIERS,
    LAUNCH_THREADS,
    LAUNCH_ORDER,
    LAUNCH_SEED,
    LAUNCH_SHARED,
    LAUNCH_SHARED_BYTES,
    LAUNCH_LOCAL,
    LAUNCH_LOCAL_BYTES,
    LAUNCH_LOCAL_STRIDE,
    LAUNCH_TRACE_BLOCK,
    LAUNCH_TRACE_WARP,
    LAUNCH_TRACED,
    LAUNCH_NEXT_WARP,
    LAUNCH_STARTED,
    LAUNCH_PROGRESS,
    LAUNCH_CODE_START,
    LAUNCH_RACES,
    LAUNCH_GRANULE,
    LAUNCH_FENCED,
    LAUNCH_SM,  # set by the timing model: the block's SM, its first warp there, and the cycle; 0 without it
    LAUNCH_FIRST_WARP,
    LAUNCH_CLOCK,
) = range(9, 40)
N_LAUNCH = 40

# Orders in which the splits of a warp (and, for the last two, the warps of a block) run.
THEN_FIRST, ELSE_FIRST, HARDWARE, INTERLEAVED, RANDOM = range(5)

# What advancing a warp or running blocks came to.
DONE, BLOCKED, PAUSED, TRACE_FULL, FAILED, DEADLOCK, STOPPED = range(7)

# Reasons of FAILED, in ERROR[E_REASON]; the other columns say where.
E_REASON, E_PC, E_WARP, E_MASK, E_ADDRESS, E_LANE, E_BLOCK, E_EXTRA, E_OTHER = range(9)
N_ERROR = 9
(
    R_NONE,
    R_OUT_OF_BOUNDS,
    R_INDEX,
    R_MISALIGNED,
    R_READ_ONLY,
    R_WARPSYNC,
    R_TRAP,
    R_BUDGET,
    R_CODE_ADDRESS,
    R_UNKNOWN,
    R_RACE,
    R_HANDLE,  # no texture or surface has this handle
    R_SURFACE,  # an access outside a surface that traps
) = range(13)

# A trace record (int64 [capacity, N_TRACE]); the last N_MEMORY are the memory counters of this execution.
(
    T_BLOCK,
    T_WARP,
    T_PC,
    T_ACTIVE,
    T_EXEC,
    T_EXITED,
    T_ABSENT,
    T_PASS,
    T_TAKEN,
    T_DIVERGED,
    T_MEMORY,
) = range(11)
N_TRACE = T_MEMORY + N_MEMORY

ADDRESS_BASE = np.int64(0x200000000000)
"""Device address of the first byte of the arena: high enough to catch small integers, and where operating systems map
nothing of a program, so that device memory may one day stand at its own addresses there."""


class State(NamedTuple):
    """All arrays that one host worker runs blocks with (Numba passes a named tuple without copying).

    Arrays with the same bytes under several types: ``R``, ``F64``, ``F32`` the registers; ``O``, ``O64``, ``O32``
    the result of one micro-op (int64[128]: loads may leave four rows); ``M8`` ... ``MF64`` the memory arena.
    """

    CODE: Any  # int64[micro-ops * N_CODE]
    COUNTS: Any  # int64[micro-ops * N_COUNT]
    R: Any  # int64[(uniform rows + warps * other rows) * 32]
    F64: Any
    F32: Any
    O: Any
    O64: Any
    O32: Any
    P: Any  # int64[warps * predicates], lane masks
    PARTICIPANTS: Any  # int64[warps * convergence barriers * 32], each lane's own copy of the mask
    SPLITS: Any
    WARPS: Any
    BARRIERS: Any
    TID: Any  # int64[warps * 3 * 32], threadIdx
    LAUNCH: Any
    DIMS: Any  # int64[dimension slots, 2]: size, byte stride
    TEXTURES: Any  # int64, textures and surfaces: rows of images.N_IMAGE columns
    TARGETS: Any  # int64: micro-op of each 8 bytes of machine code, -1 where none starts
    X: Any  # int64[N_MEMORY], memory counters of one execution
    ADDRESSES: Any  # int64[32]
    WORDS: Any  # int64[1024], words seen per bank
    FILL: Any  # int64[32]
    M8: Any
    M16: Any
    M32: Any
    M64: Any
    MF32: Any
    MF64: Any
    STARTS: Any  # int64, first device address of each global allocation, ascending
    ENDS: Any  # int64, one past the last
    WRITABLE: Any  # bool
    HINTS: Any  # int64[micro-ops], the allocation that each micro-op last touched
    SHARED: Any  # int64 view of the worker's shared memory
    TRACE: Any
    VALUES: Any  # int64[capacity, 32]
    ERROR: Any
    SHADOW: Any  # int64[units of the arena * 6], see races.py; empty unless races are looked for
    STOP: Any  # int64[1], not zero: stop soon (shared by all workers)
