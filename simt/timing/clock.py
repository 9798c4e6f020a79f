"""The arrays of the timing model; their columns are in :mod:`simt.timing.layout`."""

from __future__ import annotations

from typing import Any, NamedTuple


class Clock(NamedTuple):
    """All arrays of the timing model; see the column groups above."""

    CONFIG: Any
    NUMBERS: Any  # float64[len(PARAMETERS)], in their order; bandwidths already those of the simulated SMs
    OPS: Any
    RUNS: Any  # int64[micro-ops]: where native code of the run stands that begins there, see ahead.py; 0: none
    OPERANDS: Any  # int64: scoreboard entries that instructions read and write
    WARPS: Any
    BOARDS: Any  # int64[warps * SCOREBOARDS * 2]: released at, reason
    REGISTERS: Any  # int64[warps * G_REGISTERS * 2]: ready at, reason
    RETIRED: Any  # float64[SMs * G_PLACES]: when the chip has noted the end of each SM's last blocks
    COMMITTED: Any  # int64[warps * GROUPS]: when the last groups of copies are there
    GONE: Any  # int64[warps]: when another warp may take the slot and registers of each; NEVER: it has not ended
    SLOTS: Any
    SMS: Any
    FRONTS: Any
    REQUESTED: Any  # the requests, their lines, and times of both
    REQUESTED_AT: Any
    ASKED: Any
    ASKED_AT: Any
    ORDER: Any  # int64[MAX_EPOCH]: where SORTED has the first request of each cycle of an epoch
    SORTED: Any  # int64[SMs * REQUESTS]: the requests of an epoch
    DUE: Any  # float64[SMs]: M_EVENT of each, side by side
    # int64[(1 + threads) * THREAD_ROOM]: groups that are through in this epoch; the next one of each thread's
    SYNC: Any
    STATES: Any  # int64[groups * words]: the engine's State of each group, as a record
    CLOCKS: Any  # int64[groups * words]: the same of its Clock
    SCHEDULERS: Any
    QUEUED: Any  # int64[schedulers * QUEUE_ROOM]: when the load/store unit begins with the last of its instructions
    QUEUED_GLOBAL: Any  # the same of those for memory that is not shared
    MEMBERS: Any  # int64[schedulers * G_MEMBERS]: the warps of a scheduler; -1: none
    READY: Any  # the same: cycle in which each may issue its next instruction; NEVER: waits for others, or is not there
    ASKS: Any  # the same: what that instruction asks, see gates.py
    KEYS: Any  # the same: the scheduler takes the smallest, with the warp's turn
    PASSED: Any  # the same: cycles in which another warp was chosen
    THROTTLE: Any  # the same: what else kept it from issuing when it was ready
    STANDING: Any  # int64[groups of a scheduler's warps * N_STANDING]: masks of them, see gates.py
    GATES: Any  # int64[schedulers * N_GATE]: see gates.py
    FETCHED: Any  # int64[SMs * G_LINES]: line of instructions there at
    CONSTANTS: Any  # int64[SMs * (schedulers + 1) * G_CONSTANTS * N_CONSTANT]: lines of them by scheduler, and for LDC
    VARIABLES: Any  # int64[SMs * G_VARIABLES]: line of __constant__ variables in the cache of the GPC at
    L1_TAGS: Any  # int64[SMs * sets * ways]
    L1_SECTORS: Any  # bit k: sector k is there
    L1_WORDS: Any  # bit k: word k was stored; of a sector that is not there L1 has those
    L1_LAST_WORDS: Any  # those of the last store, if it was to many lines, else all
    L1_USED: Any
    L1_READY: Any  # float64: the last sector arrives
    L1_ASKED: Any  # line of the last request for it that L2 has not answered, -1: none
    L1_WRITTEN: Any  # sectors of the last stores
    L1_WRITTEN_AT: Any  # float64: when they leave for L2
    L1_WRITTEN_LAST: Any  # float64: when the last of them came
    L1_WRITTEN_IDLE: Any  # float64: how long the load/store unit had been idle when the first of them came
    L1_WRITTEN_NUMBER: Any  # float64: M_SENT at that time
    SENT_AT: Any  # float64[SMs * SENT_ROOM]: when the last stores and atomics left,
    SENT_DONE: Any  # when L2 has taken each, as far as that is known,
    SENT_SIZE: Any  # and its sectors
    L2_TAGS: Any
    L2_SECTORS: Any
    L2_DIRTY: Any
    L2_PARTIAL: Any  # bytes in sectors of which L2 has only what stores have written, 8 bits each; 0: all or nothing
    L2_USED: Any
    L2_MASKED: Any  # 1: dirty, and stores have left out a part of a sector since it was written to DRAM
    L2_HOME: Any  # int64[ways]: the set as one of whose few dirty or incomplete lines it counts; -1: not known
    L2_GUEST: Any  # 1: other SMs have brought the line, and no simulated one has fetched or written any of it
    # int64[sets * l2_dirty_ways * LISTED_WORDS]: ways of L2 that are dirty, -1: none; sets as for this share of L2
    L2_OWED: Any
    L2_OWED_MASKED: Any  # int64[sets * l2_masked_ways * LISTED_WORDS]: the same of those that are masked
    L2_LACKING: Any  # int64[sets * l2_partial_ways * LISTED_WORDS]: the same of those that have incomplete sectors
    L2_WRITER: Any  # the block whose stores and atomics used the line; -1: none, -2: several
    L2_WRITE_FREE: Any  # float64[fours of lines]: when L2 is through with the stores and atomics on them
    L2_STORED: Any  # bits of the SMs, modulo 64, that have not loaded the line since it was last stored to
    L2_TURN: Any  # float64: cycles that the next load of the line takes its slice, by what was done last
    L2_SHARED: Any  # float64: for how many SMs each simulated one counts at the line, as of the last store
    L2_READ_FREE: Any  # float64: when all SMs have loaded the line as often as the simulated ones
    L2_WRITE_SPENT: Any  # float64: how long those of the simulated SMs on the line have taken
    L2_SLICE_FREE: Any  # float64[slices]: when a slice is through with the stores and atomics that wait for it
    L2_ADDED: Any  # int64[fours of lines]: bits of the sectors that atomics have used; above, 1 + a lone lane's word
    READERS: Any  # which blocks load at a micro-op
    OWNERS: Any  # whether blocks load parts of their own at a micro-op, and where such parts are
    OWN_PARTS: Any
    # How far first blocks are (steps.py); empty if several SMs are simulated.
    LOADED: Any  # int32[micro-ops * warps]: how often each warp has loaded there
    STEPS: Any  # int64[micro-ops * N_STEP]: which times a warp has been there, and when the first was
    ROWS_ALIKE: Any  # int64[micro-ops]: 1: rows of blocks load the same there, -1: they do not, 0: not known
    ROW_BLOCK: Any  # int64[micro-ops]: the block of which the first warp began there first, -1: none; at which word
    ROW_WORD: Any
    TRACKS: Any  # how far blocks of the SM are (mates.py); empty if that does not matter
    ALIKE: Any  # whether rows of blocks load the same at a micro-op
    USED_LAST: Any  # float64[BINS]: lines of L2 that were used last in each span of time, and when that began
    USED_FROM: Any
    WRITER: Any  # int64[micro-ops]: the last block whose first warp began to write there, -1: none; where it began; and
    WRITTEN: Any
    ROW_APART: Any  # int64[micro-ops]: words from a row of blocks to the next, 0: not known
    LAYER_APART: Any  # and from a layer of them to the next; 0: not known, or as rows say
    FULLEST: Any  # int64[micro-ops]: the most lanes of a warp that write
    LEADER: Any  # int64[micro-ops]: the first warp of a block of which so many do
    PARTS: Any  # int64[micro-ops * N_PART]: a line to which a block stores there, and which of its words
    WIDEST: Any  # int64[micro-ops]: the most bytes of a line that a block has written
    PAIRS: Any  # int64[micro-ops * 3]: of the last two blocks that began to write: columns, rows and words between them
    WRITERS: Any  # float64[micro-ops]: so many blocks write to one slice of L2
    L2_COMING: Any  # sectors that DRAM sends, and when the last of them is there
    L2_READY: Any  # float64
    SMALL: Any  # int64[small allocations * 3]: first line, one past the last, and by how many lines a GPU has it nearer
    HOSTED: Any  # int64[allocations of the host * 2]: first line and one past the last
    EXTENTS: Any  # int64[allocations * 2]: first line and one past the last
    ACCESSED: Any  # int64[allocations]: lines of each that the launch accesses
    SPANS: Any  # int64[allocations]: lines from the first of these to the last
    # What the simulated SMs fetch of each allocation; all empty if the whole chip is simulated.
    QUOTAS: Any  # float64[allocations]: sectors that they fetch themselves
    MOVED: (
        Any  # float64[blocks + 1]: share of the sectors of all simulated blocks that the first so many move; or empty
    )
    FETCHED_OF: Any  # float64[allocations]: those that they have fetched
    DENIED: Any  # float64[allocations]: those that they asked for and others have fetched
    MET: Any  # float64[allocations]: those in lines that several blocks have touched
    STORED_TO: Any  # float64[allocations]: sectors that they have stored to
    # Shares of the allocations that were fetched up to one, and two, latencies of DRAM ago, and when that was noted.
    MARKED: Any  # float64[allocations]
    MARKED_BEFORE: Any
    MARKED_AT: Any
    TOGETHER: Any  # int64[allocations]: lines that two warps touched at the same time, less those that came apart
    OWNED: Any  # uint16[lines]: sectors that they have fetched and stored to, and who answers for stores to it
    TOUCHED_BY: Any  # int32[lines]: 1 + age of the warp that loaded from it, -1 - age of the block, 0: none, SEVERAL
    TOUCHED_AT: Any  # float64[lines]: when it did
    # Who uses the lines of memory, see races.py; empty if one SM is alone.  Of a launch that is looked at again: 1 +
    # the number of a watched line, int64[those * 128]: who uses their bytes, int64[micro-ops]: 1: it races.
    WATCHED: Any
    WATCHED_BYTES: Any
    RACING: Any
    PLACED_OF: (
        Any  # float64[allocations]: lines that L2 has of them, those that it has lost, and how much room they take
    )
    LOST_OF: Any
    ROOM_OF: Any
    BEHIND: Any  # float64[ages + 1]: room of the lines used since then, by the age of their last use
    CHIP: Any
    TOTALS: Any
    STALLS: Any  # int64[micro-ops * N_REASONS]: warp-cycles before its issue, by reason
    STAYS: Any  # int64[first blocks * N_STAY]
    ACCESSES: Any  # int64[micro-ops * len(ACCESSES)]: sectors of global memory that it asked the caches for
    LINES: Any  # int64[32]: distinct 128-byte lines of a request
    MASKS: Any  # int64[32]: sectors of each
    # Of stores, lanes in each sector; of loads, words of each line: one array more took two thirds of the speed.
    # From OF_LANE on the number of each lane's line, from STORED on the words that a store writes of each line.
    LANES: Any  # int64[32 * 4 + 32 + 32]
    BLOCKS: Any  # int64[places * words]: what door.lay_out knows of each
    STAGED: Any  # int64[32]: addresses of the last load to shared memory
    STAGED_SIZE: Any  # int64[2]: its sectors and bytes
    EVENTS: Any
