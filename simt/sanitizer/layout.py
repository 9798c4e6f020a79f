"""Where things stand in the judges' arrays.  Plain integers, so Numba inlines them."""

from __future__ import annotations

from typing import Any, NamedTuple

from simt.ops.columns import Columns

# The header (int64 [N_HEAD]): what a launch is, what is asked for, how full the pools are.
_head = Columns()
H_TIME = _head()  # ticks at everything that orders threads
H_GRID = _head()  # what was done before this time is before all that follows: the last barrier of the grid
H_FOUND = _head()  # places in FOUND
H_EVENT = _head()  # events judged so far
H_STOPS = _head()  # 1: the first finding ends the launch
H_TOOLS = _head()  # bits of RACES, INIT, SYNC
H_LANES = _head()  # 1: lanes of one warp may race with each other
H_WIDE = _head()  # 1: code of compilers: loads may read more than is wanted, of local memory what nobody uses
H_FENCED = _head()  # 1: threads may order themselves with fences and atomics
H_BARRIERS_ONLY = _head()  # 1: nothing orders threads but barriers of warps, of whole blocks and of the grid
H_THREADS = _head()
H_WARPS = _head()
H_GRANULE = _head()  # log2 of the bytes that share a cell
H_FINE = _head()  # 1: there are smaller accesses, too: parts.py
H_COPIES = _head()  # 1: the program copies to shared memory asynchronously: copies.py
H_PATTERNS = _head()  # rows of PATTERNS, and of SETS
H_SETS = _head()
H_UNFILED = _head()  # 1: rows of both were numbered anew, or have more room: their slots are to be filled
H_SHARED = _head()  # bytes of shared memory of a block, and how many of them are the system's
H_SYSTEM = _head()
H_LOCAL = _head()  # bytes of local memory of a block
H_REGISTERS = _head()  # registers that are watched
H_FREE_SLOT = _head()  # first of a list of free places for blocks
H_VECTORS = _head()  # vectors, and entries of all together
H_ENTRIES = _head()
H_LONGEST = _head()  # entries of the longest one
H_ADDRESSES = _head()  # addresses in HASH
N_HEAD = _head.count

RACES, INIT, SYNC = 1, 2, 4

# A block that runs (int64 [places * N_BLOCK]).
_block = Columns()
B_BASE = _block()  # all threads of the block know what they did before this time
B_VECTOR = _block()  # what all its threads know of other blocks, and of each other by other ways than barriers
B_PUBLISHED = _block()  # what its fences have published, and its barriers since have told to all its threads
B_LIVE = _block()
B_FENCED = _block()  # 1: a thread executed a fence since the last barrier
B_LEARNED = _block()  # 1: a thread knows more than the block since the last barrier
B_EXITS = _block()  # exits at which threads have left
B_NEXT = _block()  # of a free place: the next one
N_BLOCK = _block.count

PENDING = 8
"""Warp barriers of one warp that can wait at a time."""

# A warp (int64 [places * warps * N_WARP]).
_warp = Columns()
W_BASE = _warp()  # all lanes know what lanes of the warp did before this time
W_PARTIAL = _warp()  # 1: some lanes know more of others: KNOWN
W_LAST = _warp()  # time of its last access
W_COPIES = _warp()  # the cell of its last copy that is under way, plus one
N_PENDING = 3
W_PENDING = _warp(N_PENDING * PENDING)  # of warp barriers that wait: lanes named, lanes that came, the micro-op
N_WARP = _warp.count

# A thread (int64 [places * threads * N_THREAD]).
_thread = Columns()
T_VECTOR = _thread()  # what it knows beyond its block and warp
T_LAST = _thread()  # the vector that it learned last
T_PUBLISHED = _thread()  # what its last fence published beside its own accesses, and the time of these; for all blocks
T_PUBLISHED_TIME = _thread()
T_PUBLISHED_BLOCK = _thread()  # the same for its block alone
T_PUBLISHED_BLOCK_TIME = _thread()
T_GROUPS = _thread()  # groups of copies that it has committed
N_THREAD = _thread.count

# A block barrier (int64 [places * 16 * N_BARRIER]); who came: ARRIVED int64 [places * 16 * warps * 2], masks of lanes.
_barrier = Columns()
R_ARRIVED = _barrier()
R_EXPECTED = _barrier()
R_PC = _barrier()  # of the first to come: micro-op, warp and lanes
R_WARP = _barrier()
R_LANES = _barrier()
N_BARRIER = _barrier.count

# A unit of memory (int64 [units * N_CELL]): the last write, the last read or a set, their micro-ops and kinds.
_cell = Columns()
C_WRITE = _cell()  # who << TIME_BITS | time; 0: nobody
C_READ = _cell()  # the same of a read or atomic, or what the records of a set or of a pattern count from
C_MORE = _cell()
N_CELL = _cell.count
TIME_BITS = 29
THREAD_BITS = 10
PC_BITS = 20
STRONG, WRITES, NARROW = 1, 2, 4
"""Kinds of access: atomic or volatile; a write; atomic for the threads of its block only."""
KINDS = STRONG | WRITES | NARROW
ONE, LIST = 8, 16
"""What C_READ is: one reader, a set of them; neither: nobody."""
WRITE_SHIFT = PC_BITS  # in C_MORE: the micro-op of the write, its kind,
READ_SHIFT = WRITE_SHIFT + 3  # the kind of the read, and what it is,
NUMBER_SHIFT = READ_SHIFT + 5  # and its micro-op, or the number of a set or pattern, or which copy it is
NUMBER_BITS = 32
SPLIT = 1 << (NUMBER_SHIFT + NUMBER_BITS)  # the bytes have not all in common: their records are in a row of PATTERNS
UNDER_WAY = SPLIT << 1  # an asynchronous copy writes it, and its thread has not waited yet; C_READ: the next such cell
WRITTEN = UNDER_WAY << 1  # in a pattern: the byte has a write

# What bytes of a word hold (int64 [patterns * 4 * N_CELL]): cells whose records count from those of the word.
N_PATTERN = 4 * N_CELL

# A reader of a set (int64 [sets * N_READER]): record of its first thread, which counts from C_READ; the threads that
# follow in its warp, kind and micro-op; the rest of the set.
_reader = Columns()
Q_RECORD = _reader()
Q_LANES = _reader()  # lanes from the first one on | kind << 32 | micro-op << KIND_BITS + 32
Q_NEXT = _reader()
N_READER = _reader.count
READER_KIND = 32
READER_PC = READER_KIND + 3
MOST_READERS = 64
"""Warps, reading or with atomics at different times, that are remembered of one unit of memory."""

# A copy under way, in the number of its cell: the group of its thread, or OF_BULK; and from MBARRIER on the mbarrier at
# which it is to arrive (its shared address / 8, plus one), 0 for none, NOT_TOLD for a bulk copy at first.
OF_BULK = 1 << 15
MBARRIER = 16
NOT_TOLD = (1 << 16) - 1

# What is known of a micro-op (int64 [micro-ops * N_META]).
_meta = Columns()
M_KIND = _meta()
M_LINE = _meta()  # micro-ops of one line of the listing, at one depth of inlining, have one number
M_EXITS = _meta()  # of an exit: its bit; of a barrier: those of the exits that its threads can come to
N_META = _meta.count
(
    NOTHING, BARRIER, ARRIVES, WARP_BARRIER, FENCE, EXIT, SHUFFLE_IDX, SHUFFLE_UP, SHUFFLE_DOWN, SHUFFLE_BFLY, TOGETHER,
    LEFT_OUT, REJOINS, COMMITS, AWAITS,
) = range(15)  # fmt: skip
"""What a micro-op does for the order of threads.  LEFT_OUT: it stands where ptxas has left out a warp barrier; REJOINS:
where it has put in one, which names all lanes, those that have exited, too.  COMMITS: the copies of a thread since the
last one are a group; AWAITS: waits until all groups but the last few have come."""
_KIND_BITS = 8
IS_STRONG, IS_GUESS, IS_NARROW, IS_COPY, IS_BULK, IS_ARRIVAL, TAKES_COPIES, TAKES_BULK, ASKS_PHASE = (
    1 << bit for bit in range(_KIND_BITS, _KIND_BITS + 9)
)
"""A load or store that is volatile or atomic; a load that a compare-and-swap checks, and so no race with atomics; an
atomic for the threads of its block; the store of an asynchronous copy, of a bulk copy; an arrival at an mbarrier, one
when the copies of the thread have come, one when its bulk copy has; a look at an mbarrier's phase."""
LEFT_SHIFT = _KIND_BITS + 9  # of AWAITS: groups that need not have come

# What a micro-op does with registers that are watched (int64 [micro-ops * N_USE]); their numbers, -1: none.
_use = Columns()
U_HOW = _use()
U_FIRST = _use()  # its operand a
U_READS = _use(14)
U_SETS = _use(6)
N_USE = _use.count
PASSES, DEFINES, CHOOSES, TO_ALL, ENDS, SHUFFLES = range(6)
"""What it does with what is not defined: its result is not, either; its result is; it depends on which operand lanes
choose; all lanes get it; it is wrong here; the lanes of a shuffle get it from others."""
HOW = 7
IS_UNSET, IS_USE, IS_UNIFORM = 8, 16, 32
"""It gives a zero to a variable that is not set; it uses the variables that it reads; it writes all lanes."""

# A watched register of a warp (int64 [places * warps * registers * N_REGISTER]): masks of lanes, and where from.
_register = Columns()
G_UNSET = _register()
G_UNSET_BY = _register()  # the micro-op
G_UNDEFINED = _register()
G_UNDEFINED_BY = _register()  # the shuffle | lane that it read from << 32; or LOADED | micro-op | offset << PC_BITS
N_REGISTER = _register.count
LOADED = 1 << 62
"""What is undefined came from local memory that nobody has written."""

# A place where something is wrong (int64 [places * N_FOUND]).
_found = Columns()
F_KIND = _found()
F_PC = _found()
F_OTHER_PC = _found()
F_BLOCK = _found()
F_WARP = _found()
F_LANES = _found()
F_OTHER_BLOCK = _found()
F_OTHER_WARP = _found()
F_OTHER_LANES = _found()
F_OFFSET = _found()  # in the arena
F_SIZE = _found()
F_SPACE = _found()
F_MORE = _found()
F_COUNT = _found()
F_EVENT = _found()  # the last event that it came with
N_FOUND = _found.count
MOST_FOUND = 256
"""Places that are told apart; what comes after them is not counted."""

(
    RACE, UNWRITTEN, UNSET, SOURCE_LANE, NAMED_GONE, OTHER_BARRIER, MISSED_BARRIER, WRONG_COUNT, LEFT_WAITING,
    NOT_AWAITED,
) = range(1, 11)  # fmt: skip
"""Kinds of findings."""


class Judge(NamedTuple):
    """All arrays of the judges of one host worker."""

    HEAD: Any
    SLOT: Any  # int32 [blocks]: place of a block that runs, plus one
    SEEN: Any  # uint8 [blocks]: bits of spaces whose memory was marked as not written
    BLOCKS: Any
    WARPS: Any
    KNOWN: Any  # int64 [places * warps * 32 * 32]: time up to which a lane knows what another one did
    THREADS: Any
    BARRIERS: Any
    ARRIVED: Any
    CELLS: Any
    SETS: Any  # interned rows (interning.py)
    PATTERNS: Any
    BYTES: Any  # int64 [N_PATTERN]: cells of the bytes of one word
    SCRATCH: Any  # int64: a row that is interned, and readers of one set
    KEYS: Any  # entries of vectors: who, and the time up to which that is known
    TIMES: Any
    VECTORS: Any  # int64 [vectors * 2]: first entry, entries
    HASH: Any  # int64 [2 * slots]: an address that atomics use, and the vector that it publishes
    POISON: Any  # uint8 [bytes of the arena]: 1 where nobody has written; the same as uint32 and uint64
    POISON32: Any
    POISON64: Any
    REGISTERS: Any
    META: Any
    USES: Any
    FOUND: Any
