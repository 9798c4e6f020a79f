"""Columns of the timing model's arrays.  Plain integers, so that Numba inlines them; times are SM cycles."""

from __future__ import annotations

from simt.metrics.stalls import Reason
from simt.ops.columns import Columns
from simt.timing.parameters import PARAMETERS

NEVER = 1 << 60

# One row per micro-op (int64[micro-ops * N_OP]).
_op = Columns()
O_ISSUES = _op()  # 1: takes an issue slot; 0: runs along with the instruction before it
O_IN_TURN = _op()  # 1: what it does depends on when other SMs do the same: atomics, strong accesses, system calls
O_CALLS = _op()  # 1: a system call, before which the warp is looked at anew
O_SIMPLE = _op()  # 1: it needs nothing but its registers, and its pipe or that it is a branch
O_GROUP = _op()  # micro-ops that run in one go from here
O_JUMPS = _op()  # 1: they only compute but for the last, which jumps
O_STRETCH = _op()  # the same together with instructions behind it that may be executed early, see ahead.py; 0: none
O_BEHIND = _op()  # how many instructions behind it that are
O_CLASS = _op()
O_UNIT = _op()
O_PIPE = _op()
O_ASKS = _op(2)  # what it asks of the scheduler that selects it, see gates.py; behind an instruction that has yielded
O_LOADS = _op()  # 1: its kind is one of LOADS, or it loads from local memory
O_LATENCY = _op()
O_INTERVAL = _op()
O_STALL = _op()  # cycles to the next issue at least
O_WRITE_BARRIER = _op()  # scoreboard released with the result, -1: none
O_READ_BARRIER = _op()  # scoreboard released when the operands have been read, -1: none
O_WAIT_MASK = _op()  # scoreboards to wait for
O_MEMORY_PC = _op()  # first memory micro-op of this instruction, -1: none; one past its last
O_MEMORY_END = _op()
O_LOCAL_PC = _op()  # of those by a generic address, the one of local memory, -1: none
O_STAGES = _op()  # 1: what it loads goes to shared memory, and the warp does not wait; at the micro-op that stores, too
O_AWAITS = _op()  # 1 + groups of such copies that may still be under way when it issues, 0: does not ask
O_FALL = _op()  # issuing micro-op that follows if nothing jumps
O_LINE = _op()  # line of instruction memory
O_CONSTANT = _op()  # 1 + the line of constants that it reads, 0: none
O_VARIABLE = _op()  # 1 + the line of L2 in which that is, if it is a line of __constant__ variables
O_DUAL = _op()  # 1: issued in the cycle of the instruction before it
O_SPREADS = _op()  # micro-op that jumps to where a register says, -1: none
O_SOURCES, O_SOURCES_END = _op(), _op()  # first and one past the last entry in OPERANDS
O_RESULTS, O_RESULTS_END = _op(), _op()
O_KIND = _op()  # K_* of control flow and of memory
O_SIZE = _op()  # bytes that one lane accesses
O_FLOAT = _op()  # 1: an atomic on floating-point numbers
O_DEFERRED = _op()  # instructions behind a barrier that issue although it is not open
O_DEFERRED_STALL = _op()  # cycles from the barrier's issue until they are through
O_DEFERRED_MASK = _op()  # scoreboards that they wait for
O_FREEZE = _op()  # cycles that the scheduler stands still after the issue
O_KEEPS_FMA = _op()  # cycles after the issue in which the scheduler issues nothing to the FMA pipe
O_OPERANDS = _op()  # cycles in which its operands are sent to the load/store unit
O_EVEN = _op()  # registers of the even and of the odd bank that it reads
O_ODD = _op()
O_EVEN_KEPT = _op()  # the same if those that were marked for reuse are still at hand
O_ODD_KEPT = _op()
O_KEPT = _op()  # so many instructions of the warp must have issued last for that
O_RESULT = _op()  # 1: writes a register
O_WRITES_LATER = _op()  # cycles by which that is later than for most instructions
O_YIELDS = _op()  # 1: other warps go first
N_OP = _op.count
_kind = Columns()
K_NONE = _kind()
K_BRANCH = _kind()
K_RECONVERGE = _kind()
K_LOAD = _kind()
K_STORE = _kind()
K_ATOMIC = _kind()
K_REDUCTION = _kind()
K_LOCAL = _kind()
K_LOAD_L2 = _kind()
K_FENCE_BLOCK = _kind()
K_LOAD_SYSTEM = _kind()  # as K_LOAD_L2, for all of the system
K_COMMIT = _kind()  # the copies to shared memory so far are a group
K_COUNT = _kind()  # an atomic that counts lanes: those that meet at a word are added up first
K_FENCE = _kind()  # a request that is answered when the stores before it are
K_TEXTURE = _kind()
K_SURFACE = _kind()  # stores, not through the load/store unit
K_TOUCH = _kind()  # a load that found all in L1, noted for the SMs that are not simulated
LOADS = (K_LOAD, K_LOAD_L2, K_LOAD_SYSTEM)

# One row per resident warp (int64[warps * N_WARP]).  Every issue touches the first three lines of the host's cache.
_warp = Columns()
W_MEMBER = _warp()  # where MEMBERS, READY and PASSED have it
W_PC = _warp()  # next micro-op
W_PLACE = _warp()  # its place for blocks, and its number in a block there
W_INDEX = _warp()
W_GROUP = _warp()  # where STANDING has its group, and its bit there
W_BIT = _warp()
W_STREAK = _warp()  # micro-ops since the warp last waited for others: its splits take turns as in the engine
W_BEHIND = _warp()  # instructions still to issue that the engine has executed with one before them
W_AFTER = _warp()  # micro-op at which the warp goes on after the last of these
W_FIXED = _warp()  # until then it waits for a fixed number of cycles
W_RESOLVED = _warp()  # from W_FIXED until then it waits for a branch
W_REASON = _warp()  # what it waits for after that
W_LAST = _warp()  # cycle of the last issue (or of the start, minus 1)
W_HOLD = _warp()  # no memory access or control flow before this cycle: the barrier is closed until then
W_YIELDS = _warp()  # its last instruction lets other warps go first
W_KEY = _warp()  # goes before warps of larger ones, where instructions ask for that order
W_AHEAD = _warp()  # instructions that issued while the warp waited at a barrier, still to be executed
W_NEXT_LINE = _warp()  # line of instructions that is still on its way
W_SHARED_FREE = _warp()  # the wavefronts of its accesses to shared memory are through
W_AWAITED = _warp()  # results that L2 still owes it, by scoreboard: AWAITED_BITS for each
W_COMMITS = _warp()  # groups of copies to shared memory
W_HELD = _warp()  # 1 + the barrier behind which it runs on with what L2 has not answered, 0: none
W_FENCE = _warp()  # 1: it waits at a fence for an answer to its stores
W_UNSETTLED = _warp()  # 1: when it may go on depends on what L2 has not answered
W_BASE = _warp()  # as far as that is known else: its last instruction lets it, why not before, its next one is there
W_BASE_REASON = _warp()
W_THERE = _warp()
W_STATE = _warp()
W_NEXT_LINE_AT = _warp()  # when W_NEXT_LINE comes
W_AGE = _warp()  # a smaller number started earlier
W_BLOCK_AGE = _warp()  # the same for warps of one block
W_START = _warp()
W_EARLIEST = _warp()  # at a barrier: when the instructions that run on are through
W_DRAINED = _warp()  # when its last store is on its way and the warp may end
W_COPIED = _warp()  # when its copies to shared memory are there; of those that are answered, as far as they are
W_COPIES = _warp()
W_STORING = _warp()  # its stores and atomics that L2 has not answered
W_STORED = _warp()  # when L2 has the last of those that it has answered
W_EXITED = _warp()  # when it has ended
W_LOADS = _warp()  # so often has it loaded, where that is noted (mates.py)
N_WARP = -(-_warp.count // 8) * 8  # whole lines of the host's cache
EMPTY, RUNNING, AT_BARRIER = range(3)
"""States of a warp; EMPTY also if its block is to start."""
SCOREBOARDS = 6
GROUPS = 8
"""Groups of copies of which it is known when they are there; older ones are, too."""
AWAITED_BITS = 10
OLDEST, OLDEST_BLOCK, AHEAD_UNTIL_YIELD = 1, 2, 3
"""Values of scheduler_policy; 0 is loose round robin."""
KEY_TURN, KEY_AGE = 24, 25
"""Of KEYS: from bit KEY_AGE on, the age; below KEY_TURN, the warp's turn among those of the same age."""

# One row per line of constants and cache of these (int64[lines * N_CONSTANT]).
_constant = Columns()
U_THERE = _constant()  # when it is there
U_ASKED = _constant()  # when somebody wanted it first
N_CONSTANT = _constant.count

# One row per place for a block (int64[places * N_SLOT]).
_slot = Columns()
S_BLOCK = _slot()
S_WARPS = _slot()
S_NUMBER = _slot()  # so many blocks of the simulated ones started before it
S_STARTS = _slot()  # when it starts, -1: it has
S_DEALT = _slot()  # the scheduler that gets its first warp
S_AGE = _slot()  # so many warps started before it
S_STAYING = _slot()  # warps that have not gone
N_SLOT = _slot.count

# One row per simulated block, in the order of their start (int64[blocks * N_STAY]): where it was, from when to when.
_stay = Columns()
Y_BLOCK = _stay()
Y_SM = _stay()
Y_PLACE = _stay()
Y_FROM = _stay()
Y_TO = _stay()  # the end of its last warp
N_STAY = _stay.count

# One row per SM (float64[SMs * N_SM]).
_sm = Columns()
M_LSU_FREE = _sm()
M_MIO_FREE = _sm()  # when the SM takes the next MIO instruction, of any pipe
M_LSU_BUSY = _sm()  # cycles that have been asked of the load/store unit
M_CONSTANT_FREE = _sm()  # the unit that reads constants at places that a register says
M_LINK_FREE = _sm()  # requests on their way to L2
M_BARRIER_FREE = _sm()
M_START_FREE = _sm()  # the next warp starts not before
M_BLOCK_FREE = _sm()  # the next block starts not before
M_STARTED = _sm()  # blocks
M_ENDED_BLOCKS = _sm()
M_RETIRED = _sm()  # the chip has noted the end of the last of these
M_RESIDENT = _sm()  # warps
M_ACTIVE_UNTIL = _sm()  # the last of them that has ended went then
M_ACTIVE = _sm()  # cycles with a warp, until then
M_EVENT = _sm()  # cycle in which it may be given blocks
M_START = _sm()  # cycle in which one that it was given starts
M_ENDED = _sm()  # cycle in which its last warp so far has ended
# An SM that waits for its turn in the midst of a cycle: 1 + schedulers that have issued in it, 0: it does not wait.
M_HALTED = _sm()
M_HALTED_FIRST = _sm()  # which of them was the first
M_HALTED_NEXT = _sm()  # when to look again, by what these say
M_HALTED_WARP = _sm()  # 1 + the warp that issues, if there is no choice
M_SENT = _sm()  # lines that stores and atomics have sent to L2
M_ACCEPTED = _sm()  # the first of these that L2 may not have taken, and sectors from there on
M_UNDER_WAY = _sm()
M_STORE_FREE = _sm()  # the way from the SM to L2
M_TURN = _sm()  # scheduler that is the first to use the load/store unit
M_L1_HELD = _sm()  # lines in L1
M_MISS_FREE = _sm()  # misses of L1 on their way to L2
M_MISSES = _sm()  # lines of loads that L1 missed
M_L1_DISPLACED = _sm()  # lines that had to go although their set had room
M_L1_HAND = _sm()  # set from which the last of them was taken that was not of the set of the new line
M_L1_STAMP = _sm()  # sectors that L1 was asked for: an order of accesses
N_SM = -(-_sm.count // 8) * 8  # whole lines of the host's cache

# How far an SM is, and what it has asked L2 for (int64[SMs * N_FRONT]; threads write to it: a line of the host's cache)
_front = Columns()
F_NEXT = _front()  # cycle in which to look at it again
F_STATUS = _front()  # what its last look came to
F_ENDED = _front()  # blocks that have ended
F_TAKEN = _front()  # requests whose answers it has taken, those that L2 has answered, and all
F_ANSWERED = _front()
F_ASKED = _front()
F_LINES = _front()  # lines of all its requests
N_FRONT = -(-_front.count // 8) * 8

# Which blocks load at a micro-op (int64[micro-ops * N_READER])
_reader = Columns()
B_BLOCK = _reader()  # 1 + the last one that began to load there, in order; 0: none
B_WORD = _reader()  # at which word it did
B_STEP = _reader()  # words to the next block; 0: not known, -1: another order
B_BACK = _reader()  # words after which one has gone round; 0: none has
N_READER = _reader.count

# Whether each block loads a part of its own at a micro-op (int64[micro-ops * N_OWNER])
_owner = Columns()
V_BLOCK = _owner()  # 1 + the first block that loaded there; 0: none
V_WORD = _owner()  # at which word it began, and when
V_SINCE = _owner()
V_KNOWN = _owner()  # 1: that is known
N_OWNER = _owner.count

# Parts of blocks' own (int64[OWN_PARTS * N_OWN_PART])
OWN_PARTS = 8
_own_part = Columns()
X_FIRST = _own_part()  # first word of the first block's
X_STEP = _own_part()  # words of each block; 0: of no micro-op
X_SINCE = _own_part()  # when the first was loaded
N_OWN_PART = _own_part.count

N_STEP = 128
"""Of STEPS: for each of 64 steps which times a warp is there, then when the first was."""

# A line of which a block stores a part, at a micro-op (int64[micro-ops * N_PART])
_part = Columns()
P_BLOCK = _part()  # 1 + the block; 0: none yet
P_LINE = _part()
P_WORDS = _part()  # to which it has stored, and bytes of them
P_BYTES = _part()
N_PART = _part.count

# A request for global memory (int64[SMs * REQUESTS * N_REQUEST]), the lines of one (int64[SMs * REQUEST_LINES *
# N_LINE]), and times of both (float64[SMs * (REQUESTS * N_REQUEST_AT, REQUEST_LINES * N_LINE_AT)]).
REQUESTS, REQUEST_LINES = 256, 1024
_request = Columns()
R_CYCLE = _request()
R_WARP = _request()
R_PC = _request()
R_KIND = _request()  # K_*
R_FIRST = _request()  # the first of its lines, and how many they are
R_LINES = _request()
R_BLOCK = _request()
R_MANNER = _request()
R_MOST = _request()  # lanes of an atomic that meet
R_LANES = _request()  # of a store or an atomic, lanes
R_ROW = _request()  # words from a row of threads to the next, if a whole warp has several; 0: not known
R_WORD = _request()  # the word of its first lane
R_AHEAD = _request()  # when SMs that are ahead have asked for the same; NEVER: none has
R_WORDS = _request()  # of a store, the words of its first line to which it stores
R_PITCH = _request()  # of a load, bytes from one lane's element to the next
R_SPACED = _request()  # of a store, from one lane to the next, in what each stores; 1: they leave nothing out
N_REQUEST = _request.count
_request_at = Columns()
T_SOONEST = _request_at()  # not before that; of a load, so much later than that and than its first line
T_SPREAD = _request_at()
T_LATER = _request_at()  # than its last line
T_DONE = _request_at()
N_REQUEST_AT = _request_at.count
_line = Columns()
A_DO = _line()  # D_*
A_LINE = _line()
A_MASK = _line()
A_WAY = _line()  # of L1, -1: none
A_AFTER = _line()  # the line of a request before it, without whose answer it has none; -1: none
A_EXTRA = _line()  # of a store, bytes in incomplete sectors; of an atomic, sectors and masks that are sent
A_SENT = _line()  # where SENT_DONE has it, -1: it was not sent
N_LINE = _line.count
_line_at = Columns()
T_START = _line_at()  # at L1
T_SENT = _line_at()  # to L2
T_BUSY = _line_at()  # an atomic: how long L2 is busy with it, and then waits if the same sectors follow
T_AGAIN = _line_at()
T_READY = _line_at()  # in L1, or stored in L2
N_LINE_AT = _line_at.count
D_HIT, D_READ, D_WRITE, D_JOIN, D_ATOMIC = range(5)
"""What L2 is to do about a line: nothing, ..., add to the store before, ..."""
SENT_ROOM = 512
"""Stores and atomics of an SM that L2 has not taken are remembered up to this number."""
PENDING = 1 << 50
"""Times from here on are not known yet: PENDING + the request that they depend on."""

# One row per scheduler (int64[schedulers * N_SCHEDULER]).
_scheduler = Columns()
Q_NEXT = _scheduler()
Q_LAST = _scheduler()  # where MEMBERS has the warp that issued last, -1 at first
Q_MIO_FREE = _scheduler()
Q_SENT = _scheduler()  # the operands of what it issued for the load/store unit are there
Q_KEPT_FROM_FMA = _scheduler()  # until then, by a load of a 64-bit address
Q_FETCH_FREE = _scheduler()
Q_OWED = _scheduler()  # issue slots of instructions that ran on behind a barrier
Q_ISSUED_AT = _scheduler()
Q_EVEN_FREE = _scheduler()  # the banks of registers have delivered what was asked of them
Q_ODD_FREE = _scheduler()
Q_STREAK = _scheduler()  # instructions of the last warp that issued without one of another between them
Q_OTHERS = _scheduler()  # when one of its warps but the last may issue, as of the last issue
Q_FLOOR = _scheduler()  # not before that, whatever its warps wait for
Q_WRITTEN = _scheduler()  # an instruction of usual latency that issues then meets the result of a slower one
Q_QUEUED = _scheduler()  # instructions that went to the load/store unit
Q_QUEUED_GLOBAL = _scheduler()  # those for memory that is not shared
Q_STORES_LAST = _scheduler()  # 2: the last access to global memory was a store, 1: the one before
N_SCHEDULER = _scheduler.count
QUEUE_ROOM = 64
"""So many of the last of them are remembered."""

# The chip (float64[N_CHIP]).
_chip = Columns()
C_L2_READ_FREE = _chip()
C_L2_WRITE_FREE = _chip(3)  # with what servers.py has behind such a column
C_MEMORY_FREE = _chip(3)  # DRAM: reads, and writes; with what servers.py has behind such a column
C_LINK_FREE = _chip(3)  # between the halves of L2: what DRAM sends, and stores; the same
C_MEMORY_LOAD = _chip()  # share of the last cycles in which it was busy, and when it was brought up to date
C_MEMORY_LOAD_AT = _chip()
C_WRITTEN = _chip()  # the same of what L2 writes back
C_WRITTEN_AT = _chip()
C_NEXT_BLOCK = _chip()
C_NOW = _chip()
C_CALLS = _chip()  # place of the block that makes a system call
C_POINT = _chip()  # loads from one point of a block's way to the next (mates.py)
C_BIN = _chip()  # the last span of time of which it is known what was used last then
C_USED, C_ROOM = _chip(), _chip()  # when others used what is asked for, if that is known, and how much room it takes
C_DUE = _chip()  # until when L2 has the work of a request that it answers, wherever that waits; NEVER: one SM is alone
C_DIRTY_WAYS = _chip()  # lines of a set that may be dirty, beside data that all SMs read again and again
C_PLACED = _chip()  # lines that L2 has got since it was looked at what it has lost (keeping.py); NEVER: it is not
C_TAKEN = _chip()  # how much of it was taken then, in lines
C_HOME = _chip()  # lines that blocks write side by side: they are given to the sets of L2 in turn
C_LEFT = _chip()  # part of a line of those that were there before
C_FENCED = _chip()  # 1: a warp has been through a fence for the device behind its stores
C_ATOMIC_FREE = _chip()  # lanes that meet in L2
C_DRAINED = _chip()  # L2 has answered the last store, and carried out the last reduction
C_COMPLETING = _chip()  # cycles that DRAM takes for what L2 completes, and to write it
C_HOST_READ_FREE, C_HOST_WRITE_FREE = _chip(), _chip()  # the bus to the host, in each direction
C_HOST_DONE = _chip()  # the last access to memory of the host is through; 0: there was none
C_DRAM_FREE = _chip()  # what L2 writes back and completes
C_EPOCH = _chip()  # cycles that SMs go ahead of C_NOW at most
C_PHASE = _chip()  # of an epoch: BETWEEN, AHEAD, TURNS
N_CHIP = _chip.count

# Totals (int64[N_TOTAL]).
_total = Columns()
N_ISSUED = _total()
N_ELIGIBLE = _total()  # eligible warps, summed over cycles and schedulers
N_WARP_CYCLES = _total()
N_ACTIVE_CYCLES = _total()
N_L1_SECTORS = _total()
N_L1_HITS = _total()
N_L2_SECTORS = _total()
N_L2_HITS = _total()
N_LOAD_SECTORS = _total()
N_STORE_SECTORS = _total()
N_LOAD_BYTES = _total()
N_STORE_BYTES = _total()
N_DRAM_READ = _total()  # sectors
N_DRAM_WRITE = _total()
N_WAVEFRONTS = _total()  # of the load/store unit
N_SENT = _total()  # sectors and masks that SMs send to L2
N_ASKED = _total()  # lines that they ask L2 for
N_ASKED_WHOLE = _total()  # those of which all sectors
N_EVENTS = _total()
N_AGE = _total()
N_SUSPECT = _total()  # times that a line was stored to that another SM loaded from in the same epoch, or the reverse
N_TURNS = _total()  # times that an SM has waited for its turn
N_TOTAL = _total.count
N_REASONS = len(Reason)
ACCESSES = (N_L1_SECTORS, N_L1_HITS, N_L2_SECTORS, N_L2_HITS)  # totals that are noted by micro-op, too

# The configuration (int64[N_CONFIG]).
_config = Columns()
G_SMS = _config()
G_SCHEDULERS = _config()
G_PLACES = _config()  # for blocks, per SM
G_WARPS = _config()  # per block
G_BLOCKS = _config()  # blocks to run in all
G_LAUNCHED = _config()  # blocks of the launch, with those of SMs that are not simulated
G_CHIP = _config()  # SMs of the chip that get blocks
G_FIRST = _config()  # number among them of the first that is simulated
G_GRID_X = _config()  # blocks in a row of the grid; 1 if there is one row only
G_GRID_Y = _config()  # rows in a layer of the grid
G_ROW = _config()  # threads of a row of a block, if warps are no whole rows; else 0
G_ROWS = _config()  # rows of threads of a layer of a block
G_LAYER = _config()  # warps of a layer of a block, if those are whole rows of threads; else 0
G_FIRST_WAVE = _config()  # blocks that start with the launch
G_CONTROL = _config()  # 1: the code's own control bits; 0: a scoreboard by register
G_REGISTERS = _config()  # scoreboard entries per warp
G_L1_SETS = _config()
G_L1_LINES = _config()  # that it has room for beside shared memory
G_L2_SETS = _config()
G_L2_LINES = _config()  # of the whole chip
G_WRITTEN_SETS = _config()  # of L2's lines that are dirty
G_LINES = _config()  # of instruction memory
G_CONSTANTS = _config()  # lines of constants
G_VARIABLES = _config()  # lines of L2 with __constant__ variables
G_R = _config()  # array elements per place for a block
G_P = _config()
G_PARTICIPANTS = _config()
G_MEMBERS = _config()  # warps of a scheduler, and room up to a whole group (gates.py)
G_ROOM = _config()  # warps whose registers fit on an SM
G_FROM = _config()  # the recorded window, cycles
G_TO = _config()
G_THREADS = _config()  # host threads, and the one that these arrays are for
G_THREAD = _config()
G_GROUPS = _config()  # groups of SMs, each with arrays of its own for what is not of one SM
G_LOCAL_AT, G_LOCAL_EACH, G_LOCAL_STRIDE = _config(), _config(), _config()  # local memory: the first place's, from one
# place to the next, from one thread to the next; bytes
N_CONFIG = _config.count

# A recorded issue (int64[capacity * N_EVENT]): who, what, since when it waited, for what, and when it issued.
_event = Columns()
E_SM = _event()
E_SCHEDULER = _event()
E_WARP = _event()
E_BLOCK = _event()
E_PC = _event()
E_SINCE = _event()
E_FIXED = _event()
E_READY = _event()
E_REASON = _event()
E_CYCLE = _event()
E_NUMBER = _event()
E_RESOLVED = _event()
N_EVENT = _event.count

# What a call of the loop came to.
FINISHED, PAUSED, FAILED, STUCK, FULL, CALLED, WAITING = range(7)

# What a look at an SM came to besides: all that it has to do in that cycle is done, it waits for its turn, or for
# answers, because it has no room for more requests, or would pass the cycle in which they have an effect.
DONE, HALTED, CROWDED = range(7, 10)

BETWEEN, AHEAD, TURNS = range(3)
"""Phases of an epoch: no SM is ahead; they run ahead; they wait for their turns."""
MAX_EPOCH = 1024
THREAD_ROOM = 16
"""Words of SYNC for each thread, and for all: what one line of the host's cache, and what it fetches with it, hold."""

PLACE = {name: k for k, name in enumerate(PARAMETERS)}
