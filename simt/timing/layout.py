"""Columns of the timing model's arrays.  Plain integers, so that Numba inlines them; times are SM cycles."""

from __future__ import annotations

from typing import Any, NamedTuple

from simt.metrics.stalls import Reason
from simt.timing.parameters import PARAMETERS

NEVER = 1 << 60

# One row per micro-op (int64[micro-ops * N_OP]).
(
    O_ISSUES,  # 1: takes an issue slot; 0: runs along with the instruction before it
    O_GROUP,  # micro-ops that run in one go from here
    O_CLASS,
    O_UNIT,
    O_PIPE,
    O_LATENCY,
    O_INTERVAL,
    O_STALL,  # cycles to the next issue at least
    O_WRITE_BARRIER,  # scoreboard released with the result, -1: none
    O_READ_BARRIER,  # scoreboard released when the operands have been read, -1: none
    O_WAIT_MASK,  # scoreboards to wait for
    O_MEMORY_PC,  # the memory micro-op of this instruction, -1: none
    O_FALL,  # issuing micro-op that follows if nothing jumps
    O_LINE,  # line of instruction memory
    O_DUAL,  # 1: issued in the cycle of the instruction before it
    O_SOURCES,  # first and one past the last entry in OPERANDS
    O_SOURCES_END,
    O_RESULTS,
    O_RESULTS_END,
    O_KIND,  # K_* of control flow and of memory
    O_SIZE,  # bytes that one lane accesses
    O_DEFERRED,  # instructions behind a barrier that issue although it is not open
    O_DEFERRED_STALL,  # cycles from the barrier's issue until they are through
    O_DEFERRED_MASK,  # scoreboards that they wait for
    O_FREEZE,  # cycles that the scheduler stands still after the issue
    O_EVEN,  # registers of the even and of the odd bank that it reads
    O_ODD,
    O_EVEN_KEPT,  # the same if those that were marked for reuse are still at hand
    O_ODD_KEPT,
    O_KEPT,  # so many instructions of the warp must have issued last for that
    O_RESULT,  # 1: writes a register
    O_WRITES_LATER,  # cycles by which that is later than for most instructions
    O_YIELDS,  # 1: other warps go first
) = range(33)
N_OP = 33
(
    K_NONE,
    K_BRANCH,
    K_RECONVERGE,
    K_LOAD,
    K_STORE,
    K_ATOMIC,
    K_REDUCTION,
    K_LOCAL,
    K_LOAD_L2,
    K_FENCE_BLOCK,
    K_LOAD_SYSTEM,  # as K_LOAD_L2, for all of the system
    K_COUNT,  # an atomic that counts lanes: those that meet at a word are added up first
) = range(12)

# One row per resident warp (int64[warps * N_WARP]).
(
    W_READY,  # cycle in which the next instruction may issue; NEVER: waits for others
    W_FIXED,  # until then it waits for a fixed number of cycles
    W_REASON,  # what it waits for after that
    W_LAST,  # cycle of the last issue (or of the start, minus 1)
    W_PC,  # next micro-op
    W_AGE,  # a smaller number started earlier
    W_START,
    W_STATE,
    W_PASSED,  # cycles in which another warp was chosen
    W_THROTTLE,  # what else kept it from issuing when it was ready
    W_SHARED_FREE,  # the wavefronts of its accesses to shared memory are through
    W_STREAK,  # micro-ops since the warp last waited for others: its splits take turns as in the engine
    W_RESOLVED,  # from W_FIXED until then it waits for a branch
    W_HOLD,  # no memory access or control flow before this cycle: the barrier is closed until then
    W_AHEAD,  # instructions that issued while the warp waited at a barrier, still to be executed
    W_NEXT_LINE,  # line of instructions that is still on its way, and when it comes
    W_NEXT_LINE_AT,
    W_EARLIEST,  # at a barrier: when the instructions that run on are through
    W_DRAINED,  # when its last store is on its way and the warp may end
    W_YIELDS,  # its last instruction lets other warps go first
    W_GONE_AT,  # if it has ended: when another warp may take its slot and registers
) = range(21)
N_WARP = 21
EMPTY, RUNNING, AT_BARRIER = range(3)
SCOREBOARDS = 6

# One row per place for a block (int64[places * N_SLOT]).
S_BLOCK, S_WARPS, S_FREE_AT = range(3)  # S_WARPS: that have not ended
N_SLOT = 3

# One row per SM (float64[SMs * N_SM]).
(
    M_LSU_FREE,
    M_LINK_FREE,  # requests on their way to L2
    M_BARRIER_FREE,
    M_START_FREE,  # the next warp starts not before
    M_RESIDENT,  # warps
    M_ACTIVE_SINCE,
    M_ACTIVE,  # cycles with a warp
    M_EVENT,  # cycle in which blocks may start
    M_STORED,  # lines that stores have sent to L2
    M_STORE_FREE,  # the way from the SM to L2
    M_TURN,  # scheduler that is the first to use the load/store unit
    M_L1_HELD,  # lines in L1
    M_MISS_FREE,  # misses of L1 on their way to L2
    M_MISSES,  # lines of loads that L1 missed
    M_STORES_LAST,  # 1: the last access to global memory was a store
    M_L1_DISPLACED,  # lines that had to go although their set had room
    M_L1_HAND,  # set from which the last of them was taken that was not of the set of the new line
) = range(17)
N_SM = 17

# One row per scheduler (int64[schedulers * N_SCHEDULER]).
(
    Q_NEXT,
    Q_LAST,
    Q_MIO_FREE,
    Q_FETCH_FREE,
    Q_OWED,  # issue slots of instructions that ran on behind a barrier
    Q_ISSUED_AT,
    Q_EVEN_FREE,  # the banks of registers have delivered what was asked of them
    Q_ODD_FREE,
    Q_STREAK,  # instructions of the last warp that issued without one of another between them
    Q_WRITTEN,  # an instruction of usual latency that issues then meets the result of a slower one
) = range(10)
N_SCHEDULER = 10

# The chip (float64[N_CHIP]).
(
    C_L2_READ_FREE,
    C_L2_WRITE_FREE,
    C_MEMORY_FREE,  # DRAM reads, and writes
    C_MEMORY_LOAD,  # share of the last cycles in which it was busy, and when it was brought up to date
    C_MEMORY_LOAD_AT,
    C_DISPATCH_FREE,
    C_NEXT_BLOCK,
    C_NOW,
    C_ATOMIC_FREE,  # lanes that meet in L2
    C_DRAINED,  # the last store of warps that have ended is in L2
    C_DRAM_FREE,  # what L2 writes back and completes
) = range(11)
N_CHIP = 11

# Totals (int64[N_TOTAL]).
(
    N_ISSUED,
    N_ELIGIBLE,  # eligible warps, summed over cycles and schedulers
    N_WARP_CYCLES,
    N_ACTIVE_CYCLES,
    N_BLOCKS,
    N_L1_SECTORS,
    N_L1_HITS,
    N_L2_SECTORS,
    N_L2_HITS,
    N_LOAD_SECTORS,
    N_STORE_SECTORS,
    N_LOAD_BYTES,
    N_STORE_BYTES,
    N_DRAM_READ,  # sectors
    N_DRAM_WRITE,
    N_SHARED_WAVEFRONTS,
    N_EVENTS,
    N_AGE,
) = range(18)
N_TOTAL = 18
N_REASONS = len(Reason)

# The configuration (int64[N_CONFIG]).
(
    G_SMS,
    G_SCHEDULERS,
    G_PLACES,  # for blocks, per SM
    G_WARPS,  # per block
    G_BLOCKS,  # blocks to run in all
    G_CHIP,  # SMs of the chip that get blocks
    G_CONTROL,  # 1: the code's own control bits; 0: a scoreboard by register
    G_REGISTERS,  # scoreboard entries per warp
    G_L1_SETS,
    G_L1_LINES,  # that it has room for beside shared memory
    G_L2_SETS,
    G_WRITTEN_SETS,  # of L2's lines that are dirty
    G_LINES,  # of instruction memory
    G_R,  # array elements per place for a block
    G_P,
    G_PARTICIPANTS,
    G_MEMBERS,  # warps of a scheduler
    G_ROOM,  # warps whose registers fit on an SM
    G_FROM,  # the recorded window, cycles
    G_TO,
) = range(20)
N_CONFIG = 20

# A recorded issue (int64[capacity * N_EVENT]): who, what, since when it waited, for what, and when it issued.
E_SM, E_SCHEDULER, E_WARP, E_BLOCK, E_PC, E_SINCE, E_FIXED, E_READY, E_REASON, E_CYCLE, E_NUMBER, E_RESOLVED = range(12)
N_EVENT = 12

# What a call of the loop came to.
FINISHED, PAUSED, FAILED, STUCK, FULL = range(5)

PLACE = {name: k for k, name in enumerate(PARAMETERS)}


class Clock(NamedTuple):
    """All arrays of the timing model; see the column groups above."""

    CONFIG: Any
    NUMBERS: Any  # float64[len(PARAMETERS)], in their order; bandwidths already those of the simulated SMs
    OPS: Any
    OPERANDS: Any  # int64: scoreboard entries that instructions read and write
    WARPS: Any
    BOARDS: Any  # int64[warps * SCOREBOARDS * 2]: released at, reason
    REGISTERS: Any  # int64[warps * G_REGISTERS * 2]: ready at, reason
    SLOTS: Any
    SMS: Any
    SCHEDULERS: Any
    MEMBERS: Any  # int64[schedulers, warps of each]: the warps of a scheduler
    PIPES: Any  # int64[schedulers * pipes]: free at
    FETCHED: Any  # int64[SMs * G_LINES]: line of instructions there at
    L1_TAGS: Any  # int64[SMs * sets * ways]
    L1_SECTORS: Any  # bit k: sector k is there
    L1_USED: Any
    L1_READY: Any  # float64: the last sector arrives
    L1_WRITTEN: Any  # sectors of the last stores
    L1_WRITTEN_AT: Any  # float64: when L2 has them
    L1_WRITTEN_NUMBER: Any  # float64: M_STORED at that time
    L2_TAGS: Any
    L2_SECTORS: Any
    L2_DIRTY: Any
    L2_PARTIAL: Any  # bytes in sectors of which L2 has only what stores have written, 8 bits each; 0: all or nothing
    L2_USED: Any
    L2_OWED: Any  # int64[sets * l2_dirty_ways]: ways of L2 that are dirty, -1: none; sets as for this share of L2
    L2_LACKING: Any  # int64[sets * l2_partial_ways]: the same of those that have incomplete sectors
    L2_ATOMIC_BLOCK: Any  # the block whose atomics used the line; -1: none, -2: several
    L2_ATOMIC_FREE: Any  # float64: when L2 is through with them
    EXTENTS: Any  # int64[allocations * 2]: first line and one past the last
    QUOTAS: Any  # float64[allocations]: sectors that the simulated SMs still fetch themselves; empty: no limit
    CHIP: Any
    TOTALS: Any
    STALLS: Any  # int64[micro-ops * N_REASONS]: warp-cycles before its issue, by reason
    LINES: Any  # int64[32]: distinct 128-byte lines of a request
    MASKS: Any  # int64[32]: sectors of each
    # Of stores, lanes in each sector; of loads, words of each line: one array more took two thirds of the speed.
    LANES: Any  # int64[32 * 4]
    EVENTS: Any
