"""Where things stand in the engine's arrays: columns, states, statuses.  Plain integers, so Numba inlines them."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from simt.ops.columns import Columns
from simt.ops.scalar import FULL as FULL

# Columns of the code table (int64 [micro-ops * N_CODE]): one cache line per micro-op.  The operation stands in the
# low bits of its column and the flags above; register operands are offsets of lane 0 in the register file.  Column
# numbers that the engine adds to unsigned positions are unsigned themselves: mixed signs would make floats.
_code = Columns()
C_OP = np.uint64(_code())
C_DST = np.uint64(_code())
C_A = np.uint64(_code())
C_B = np.uint64(_code())
C_C = np.uint64(_code())
C_GUARD = np.uint64(_code())
C_IMM = np.uint64(_code())
C_MOD = np.uint64(_code())
N_CODE = _code.count
OP_MASK = 0xFFFF
FLAGS_SHIFT = 16
RETIRES = 1  # bits of the flags
UNIFORM = 2
ORDERS, NAMES, SHUFFLES, VARIABLE = 4, 8, 16, 32  # what a watch is told of: see events.py
TOLD = ORDERS | NAMES | SHUFFLES | VARIABLE
CHOOSES = 64  # which lanes choose its first operand is told, too
ENTERS = 128  # native code may begin here
QUIET = 256  # a watch need not be told of its accesses

# Columns of the counter table, in the order of program.COUNTERS.
_counts = Columns()
N_EXECUTED = np.uint64(_counts())
N_THREADS = np.uint64(_counts())
N_PRED_ON = np.uint64(_counts())
N_ABSENT = np.uint64(_counts())
N_EXITED = np.uint64(_counts())
N_BRANCHES = np.uint64(_counts())
N_DIVERGENT = np.uint64(_counts())
N_REQUESTS = np.uint64(_counts())
N_BYTES = np.uint64(_counts())
N_SECTORS = np.uint64(_counts())
N_SECTORS_IDEAL = np.uint64(_counts())
N_WAVEFRONTS = np.uint64(_counts())
N_WAVEFRONTS_IDEAL = np.uint64(_counts())
N_UPDATES = np.uint64(_counts())
N_DISTINCT = np.uint64(_counts())
N_REPLAYS = np.uint64(_counts())
N_REPLAY_THREADS = np.uint64(_counts())
N_COUNT = 17  # columns of the counter table, which is int64 [micro-ops * N_COUNT]

# The memory counters of one execution (int64 [N_MEMORY]), in the order of those from N_REQUESTS on.
_request = Columns()
X_REQUESTS = _request()
X_BYTES = _request()
X_SECTORS = _request()
X_SECTORS_IDEAL = _request()
X_WAVEFRONTS = _request()
X_WAVEFRONTS_IDEAL = _request()
X_UPDATES = _request()
X_DISTINCT = _request()
N_MEMORY = _request.count

# A split: lanes of a warp that share a program counter (int64 [warps * 32 * N_SPLIT]).
# S_WAY: how it was put back at a branch; S_FRESH: it is the one put back last; S_YIELDED: it gave way (YIELD).
_split = Columns()
S_PC = _split()
S_MASK = _split()
S_STATE = _split()
S_ARG = _split()
S_PASS = _split()
S_WAY = _split()
S_FRESH = _split()
S_YIELDED = _split()
N_SPLIT = _split.count
READY, WAIT_BSYNC, WAIT_BARRIER, WAIT_WARPSYNC, WAIT_PHASE = range(5)
ELSEWHERE, TAKEN, FELL, TURNED = range(4)  # ways; TURNED: gave its turn to lanes that it released

# A warp (int64 [warps * N_WARP]).
_warp = Columns()
W_SPLITS = _warp()
W_CURRENT = _warp()
W_EXITED = _warp()
W_ABSENT = _warp()
W_RANDOM = _warp()
W_PASSES = _warp()
W_QUANTUM = _warp()  # of a turn that a full trace buffer interrupted: its length and what it used of it
W_USED = _warp()
W_MOVED = _warp()  # 1 if a convergence barrier was set by a move (recursion, calls)
W_RELEASED = _warp()  # lanes that the last BREAK released, until the next branch
W_BY_MOVE = _warp()  # convergence barriers (bits) that a move wrote last, not a BSSY
W_PICKED = _warp()  # where a split that had waited longer than the one put back last goes on; -1: elsewhere
W_JUMPED = _warp()  # for the trace: lanes that a branch sent elsewhere
W_SERVED = _warp()  # 1 from when the host has served a system call until the warp goes on behind it
W_PARTED = _warp()  # for the trace: 1 if it parted lanes, or if its arrival ended a wait (WARPSYNC)
W_RETIRED = _warp()  # instructions that it has executed
N_WARP = _warp.count

# A block barrier (int64 [16 * N_BARRIER]): threads that arrived, threads expected (0: all), reduction.
_barrier = Columns()
B_ARRIVED = _barrier()
B_EXPECTED = _barrier()
B_COUNT = _barrier()
B_AND = _barrier()
B_OR = _barrier()
N_BARRIER = _barrier.count
BLOCK_BARRIERS = 16

# The launch, as seen by one block (int64 [N_LAUNCH]).
_launch = Columns()
# Three coordinates each; they follow each other as in SPECIAL_REGISTERS.
LAUNCH_NTID = _launch(3)
LAUNCH_CTAID = _launch(3)
LAUNCH_NCTAID = _launch(3)
LAUNCH_WARPS = _launch()
LAUNCH_LIVE = _launch()
LAUNCH_INDEX = _launch()
LAUNCH_EXECUTED = _launch()
LAUNCH_STEPS = _launch()
LAUNCH_BUDGET = _launch()
LAUNCH_REGISTERS = _launch()
LAUNCH_UNIFORM_END = _launch()
LAUNCH_PREDICATES = _launch()
LAUNCH_BARRIERS = _launch()
LAUNCH_THREADS = _launch()
LAUNCH_ORDER = _launch()
LAUNCH_SEED = _launch()
LAUNCH_SHARED = _launch()
LAUNCH_SHARED_BYTES = _launch()
LAUNCH_LOCAL = _launch()
LAUNCH_LOCAL_BYTES = _launch()
LAUNCH_LOCAL_STRIDE = _launch()
LAUNCH_TRACE_BLOCK = _launch()
LAUNCH_TRACE_WARP = _launch()
LAUNCH_TRACED = _launch()
LAUNCH_NEXT_WARP = _launch()
LAUNCH_STARTED = _launch()
LAUNCH_PROGRESS = _launch()
LAUNCH_CODE_START = _launch()
LAUNCH_WATCH = _launch()  # what is told of, see events.py; 0: nothing
LAUNCH_FILL = _launch()  # what shared and local memory hold at the start, and, if it is random, the seed's step
LAUNCH_RANDOM = _launch()
LAUNCH_SM = _launch()  # set by the timing model: the block's SM, its first warp there, and the cycle; 0 without it
LAUNCH_FIRST_WARP = _launch()
LAUNCH_CLOCK = _launch()
LAUNCH_TICK = _launch()  # cycles by which each read of the clock moves it on; 0 where the timing model sets it
LAUNCH_LEFT = _launch()  # micro-ops until the engine returns, INTERRUPTED
LAUNCH_ROUND = _launch()  # micro-ops of a turn, and the block pauses after each round of its warps; 0: it runs on
LAUNCH_MHZ = _launch()  # of the clock, for %globaltimer
LAUNCH_SECTORS = _launch()  # of memory that the block has moved
N_LAUNCH = _launch.count

# What the engine and the native code of a Program tell each other (int64 [N_NATIVE], then native code's counters).
_native = Columns()
V_CODE = _native()  # where the code stands; 0: there is none
V_PC = _native()  # where it begins, and where it stopped
V_ACTIVE = _native()
V_END = _native()  # of the turn of its warp: micro-ops at most, those that are left, instructions that it executed
V_LEFT = _native()
V_RETIRED = _native()
V_ABSENT = _native()  # numbers of lanes; these two apart, because a load of both at once waits for their stores
V_WARP = _native()
V_EXITED = _native()
V_UNIFORM = _native()  # addresses, of what the warp has and of what all share
V_ROWS = _native()
V_PREDICATES = _native()
V_ALL_PREDICATES = _native()
V_PARTICIPANTS = _native()
V_WARPS = _native()
V_SPLITS = _native()
V_BARRIERS = _native()
V_LAUNCH = _native()
V_STOP = _native()
V_MICRO_OPS = _native()
V_COUNTS = _native()
V_TID = _native()
V_DIMS = _native()
V_STARTS = _native()
V_ENDS = _native()
V_WRITABLE = _native()
V_HINTS = _native()
V_REACHED = _native()  # 0: nobody asks
V_MEMORY = _native()
N_NATIVE = _native.count

# Orders in which the splits of a warp (and, for the last two, the warps of a block) run.
THEN_FIRST, ELSE_FIRST, HARDWARE, PROFILER, INTERLEAVED, RANDOM = range(6)

# What a block was (int64 [blocks * N_WORK]), of launches that ask for it: warp instructions, sectors of memory, and
# warp instructions of its longest warp.
_work = Columns()
WORK_EXECUTED = _work()
WORK_SECTORS = _work()
WORK_LONGEST = _work()
N_WORK = _work.count

# What advancing a warp or running blocks came to.
DONE, BLOCKED, PAUSED, TRACE_FULL, FAILED, DEADLOCK, STOPPED, CALLED, INTERRUPTED = range(9)

# Reasons of FAILED, in ERROR[E_REASON]; the other columns say where.
_error = Columns()
E_REASON = _error()
E_PC = _error()
E_WARP = _error()
E_MASK = _error()
E_ADDRESS = _error()
E_LANE = _error()
E_BLOCK = _error()
E_EXTRA = _error()
N_ERROR = _error.count
_reason = Columns()
R_NONE = _reason()
R_OUT_OF_BOUNDS = _reason()
R_INDEX = _reason()
R_MISALIGNED = _reason()
R_READ_ONLY = _reason()
R_WARPSYNC = _reason()
R_TRAP = _reason()
R_BUDGET = _reason()
R_CODE_ADDRESS = _reason()
R_UNKNOWN = _reason()
R_HANDLE = _reason()  # no texture or surface has this handle
R_ARRIVALS = _reason()  # more threads than an mbarrier waits for
R_SURFACE = _reason()  # an access outside a surface that traps

# A trace record (int64 [capacity, N_TRACE]); the last N_MEMORY are the memory counters of this execution.
_trace = Columns()
T_BLOCK = _trace()
T_WARP = _trace()
T_PC = _trace()
T_ACTIVE = _trace()
T_EXEC = _trace()
T_EXITED = _trace()
T_ABSENT = _trace()
T_PASS = _trace()
T_TAKEN = _trace()
T_DIVERGED = _trace()
T_MEMORY = _trace(N_MEMORY)
N_TRACE = _trace.count

REACH_SHIFT = 6
REACH = 1 << REACH_SHIFT
"""Bytes of global memory of which it is noted whether a launch accesses them: as many as DRAM sends at once."""

UNLIMITED = 1 << 62
"""No limit on the number of micro-ops."""

ADDRESS_BASE = np.int64(0x200000000000)
"""Device address of the first byte of the arena: high enough to catch small integers used as pointers, and in a range
where operating systems map nothing, so that device memory could be mapped at its own addresses."""


class State(NamedTuple):
    """All arrays that one host worker runs blocks with (Numba passes a named tuple without copying).

    Arrays with the same bytes under several types: ``R``, ``F64``, ``F32`` the registers; ``O``, ``O64``, ``O32``
    the result of one micro-op (int64[128]: loads may leave four rows); ``M8`` ... ``MF64`` the memory arena.
    """

    # What each block has for itself: OWN.
    R: Any  # int64[(uniform rows + warps * other rows) * 32]
    F64: Any
    F32: Any
    P: Any  # int64[warps * predicates], lane masks
    PARTICIPANTS: Any  # int64[warps * convergence barriers * 32], each lane's own copy of the mask
    SPLITS: Any
    WARPS: Any
    BARRIERS: Any
    LAUNCH: Any
    NATIVE: Any  # int64, what the engine and native code tell each other
    SHARED: Any  # int64 view of the worker's shared memory
    # What all blocks of a worker share.
    CODE: Any  # int64[micro-ops * N_CODE]
    COUNTS: Any  # int64[micro-ops * N_COUNT]
    O: Any
    O64: Any
    O32: Any
    TID: Any  # int64[warps * 3 * 32], threadIdx
    DIMS: Any  # int64[dimension slots, 2]: size, byte stride
    TEXTURES: Any  # int64, textures and surfaces: rows of images.N_IMAGE columns
    TARGETS: Any  # int64: micro-op of each 8 bytes of machine code, -1 where none starts
    X: Any  # int64[N_MEMORY], memory counters of one execution
    ADDRESSES: Any  # int64[32]
    WORDS: Any  # int64[64], what an access notes meanwhile
    ZEROED: Any  # int64, offsets of the register rows of a warp that are zero when a block starts
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
    SHAPES: Any  # int64, what native code remembers of the last access of each micro-op; empty without
    TRACE: Any
    VALUES: Any  # int64[capacity, 32]
    ERROR: Any
    EVENTS: Any  # int64: what a watched launch tells (events.py); blocks that run together share it
    WORK: Any  # int64[blocks * N_WORK], or empty (shared by all workers, which run different blocks)
    REACHED: Any  # uint8, 1: a block has accessed these REACH bytes of global memory; or empty (shared by all workers)
    STOP: Any  # int64[1], not zero: stop soon (shared by all workers)


LINES = 128
"""Bytes of a line of the host's cache, and of the one that it fetches with it."""


def own_lines(size: int, dtype: npt.DTypeLike = np.int64) -> npt.NDArray[Any]:
    """Zeros that begin with a line of the host's cache, and share none with anything else.

    Native code reads and writes vectors of 32 slots: elsewhere some processors take twice as long.  And what a worker
    writes every other moment is to be in no line that another one looks at: they would wait for each other.
    """
    size *= np.dtype(dtype).itemsize
    room = np.zeros((-(-size // LINES) + 1) * LINES, np.uint8)
    first = -room.__array_interface__["data"][0] % LINES  # room.ctypes makes three calls of Python
    return room[first : first + size].view(dtype)


def on_lines(array: npt.NDArray[Any]) -> npt.NDArray[Any]:
    """A copy of an array on :func:`own_lines`."""
    copy = own_lines(array.size, array.dtype).reshape(array.shape)
    copy[...] = array
    return copy


OWN = State._fields[: State._fields.index("SHARED") + 1]
"""Fields of State that a block has for itself; they stand first."""
