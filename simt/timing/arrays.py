"""Fresh arrays of the timing model for one simulation."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import numpy.typing as npt

from simt.devices import Occupancy
from simt.machine import door
from simt.machine.door import State
from simt.machine.layout import ADDRESS_BASE, own_lines
from simt.machine.prepare import local_stride
from simt.machine.prepared import Prepared
from simt.timing import layout
from simt.timing.clock import Clock
from simt.timing.dirty import LISTED_WORDS
from simt.timing.gates import GROUP, N_GATE, N_STANDING
from simt.timing.mates import tracks_of
from simt.timing.parameters import LINE_BYTES, PARAMETERS, Parameters
from simt.timing.quotas import accessed, quotas_of
from simt.timing.sample import Sample
from simt.timing.schedule import Schedule
from simt.timing.steps import steps_of
from simt.timing.ways import WIDE

MAX_STAYS = 1 << 16
"""Blocks of which it is noted when they started and ended: the first ones."""
MAX_EVENTS = 1 << 16
SUMS = ("TOTALS", "STALLS", "ACCESSES")
OF_ALLOCATION = (
    "FETCHED_OF",
    "DENIED",
    "MET",
    "MARKED",
    "MARKED_BEFORE",
    "MARKED_AT",
    "STORED_TO",
    "PLACED_OF",
    "LOST_OF",
    "ROOM_OF",
)
OF_GROUP = (*SUMS, "LINES", "MASKS", "LANES", "STAGED", "STAGED_SIZE", "EVENTS")
"""Arrays that each group of SMs has for itself: sums, and scratch."""
_CHIP_BANDWIDTHS = (
    "l2_read_bytes_per_cycle",
    "l2_write_bytes_per_cycle",
    "dram_read_bytes_per_cycle",
    "dram_write_bytes_per_cycle",
    "host_read_bytes_per_cycle",
    "host_write_bytes_per_cycle",
    "host_write_queue",
)
OF_WRITTEN = ("L1_WRITTEN_AT", "L1_WRITTEN_LAST", "L1_WRITTEN_IDLE", "L1_WRITTEN_NUMBER")
SMALL, PLACED = 1 << 20, 512
"""Allocations of fewer bytes follow each other, from multiples of so many bytes on."""
AGES = 256
"""Of lines of L2: so many times of their last use are told apart (keeping.py)."""
LEFT_WAYS = 4
"""Lines that what ran before has left in L2 are in so many ways of the sets, those that are taken last."""
CARVE_OUTS = tuple(1024 * size for size in (0, 8, 16, 32, 64, 100, 132, 164, 196, 228))
"""What shared memory may take of L1, as far as an SM has it.

CUDA C++ Programming Guide, Shared Memory of compute capability 8.x and 9.0: 8.0 has those up to 164 KiB, 8.9 up to 100.
"""
MOST_WARPS_TWICE = 28
"""Blocks of more warps get no room for twice as many (measured on an H200, memory.cu)."""


def carve_out(numbers: Parameters, fit: Occupancy) -> int:
    """Bytes that shared memory takes of L1: enough for as many blocks as *fit* on an SM, also if fewer were launched.

    Measured on an H200 (memory.cu): up to shared_spare there is room for twice as many, if their warps are few.
    """
    limit = numbers.device.limit
    each = fit.shared_bytes + limit("shared_reserved_per_block")
    wanted = fit.blocks_per_sm * each
    if fit.warps_per_block <= MOST_WARPS_TWICE:
        twice = min(2 * fit.blocks_per_sm, limit("blocks_per_sm")) * each
        wanted = max(wanted, min(twice, int(numbers["shared_spare"])))
    return min((size for size in CARVE_OUTS if size >= wanted), default=limit("shared_per_sm"))


def _l1_lines(numbers: Parameters, fit: Occupancy) -> int:
    """Lines whose data L1 has room for; at least a set of them."""
    taken = carve_out(numbers, fit) if numbers["l1_holds_shared"] else 0
    left = numbers["l1_bytes"] - numbers["l1_reserved"] - taken
    return int(max(left / LINE_BYTES, numbers["l1_ways"]))


def epoch(numbers: Parameters) -> int:
    """Cycles in which nothing comes of what another SM does: what L2 takes at least to answer, and a block to follow.

    So long SMs go on by themselves.  What is stored earlier than that keeps the load/store unit busy from then on.
    """
    loads = numbers["l2_latency"] - numbers["l2_spread_latency"]
    misses = numbers["dram_latency"] - numbers["dram_far_latency"] - numbers["dram_spread_latency"]
    blocks = numbers["exit_latency"] + numbers["block_latency"]
    least = min(loads, misses, blocks, numbers["atomic_latency"], numbers["fence_latency"], layout.MAX_EPOCH)
    return max(int(least), 1)


def for_group(clock: Clock, thread: int, **others: npt.NDArray[np.int64]) -> Clock:
    """The arrays for one group of SMs, which a host thread begins with: its own where what is written is of no SM."""
    config = own_lines(len(clock.CONFIG))
    config[:] = clock.CONFIG
    config[layout.G_THREAD] = thread
    own = {name: own_lines(len(getattr(clock, name))) for name in OF_GROUP}
    return clock._replace(CONFIG=config, **own, **others)


def clock_arrays(
    prepared: Prepared,
    numbers: Parameters,
    table: Schedule,
    state: State,
    sample: Sample,
    fit: Occupancy,
    places: int,
    window: tuple[int, int] | None,
    watched: npt.NDArray[np.int64] | None = None,
    moved: npt.NDArray[np.float64] | None = None,
    reached: npt.NDArray[np.uint8] | None = None,
    executed: int | None = None,
) -> Clock:
    """Arrays for the SMs of *sample* with *places* blocks each, as many whole ones as *fit* says; *state*: of one.

    *watched*: lines of memory of which each byte is watched for races; without them, all are.  *moved*: share of the
    sectors of the sample's blocks that the first 0, 1, 2, ... of them move; None: all the same.  *reached*, *executed*:
    what the launch accesses, as in :class:`simt.machine.RunResult`; None: all of its memory.
    """
    n_sms, chip = sample.n_sms, sample.chip
    warps = -(-prepared.launch.threads_per_block // 32)
    schedulers = int(numbers["schedulers"])
    share = n_sms / chip
    values = np.array([numbers[name] for name in PARAMETERS], np.float64)
    for name in _CHIP_BANDWIDTHS:
        values[layout.PLACE[name]] *= share
    _share_constants(values, numbers, chip, min(warps / schedulers, 1.0))
    l1_sets = int(numbers["l1_bytes"] / LINE_BYTES / numbers["l1_ways"])
    n_bytes, used, spans = accessed(prepared, reached, executed)
    extents, quotas = quotas_of(prepared, numbers, sample, share, n_bytes, used)
    lines = int(extents.max(initial=0))
    l2_sets = _l2_sets(prepared, numbers, share, chip * fit.blocks_per_sm, int(used.sum()))
    written_sets = max(int(numbers["l2_bytes"] * share / LINE_BYTES / numbers["l2_ways"]), 1)
    members = _members(n_sms, places * warps, schedulers)
    n_warps = n_sms * places * warps
    registers = 0 if table.control else table.registers

    config = np.zeros(layout.N_CONFIG, np.int64)
    config[[layout.G_THREADS, layout.G_GROUPS]] = 1
    config[layout.G_SMS] = n_sms
    config[[layout.G_SCHEDULERS, layout.G_PLACES]] = schedulers, places
    config[layout.G_WARPS] = warps
    config[layout.G_BLOCKS] = sample.n_blocks
    config[layout.G_LAUNCHED] = prepared.launch.blocks
    config[layout.G_CHIP] = chip
    config[layout.G_FIRST] = sample.first
    config[layout.G_GRID_X] = prepared.launch.grid[0] if prepared.launch.blocks > prepared.launch.grid[0] else 1
    config[layout.G_GRID_Y] = prepared.launch.grid[1]
    config[[layout.G_LAYER, layout.G_ROW, layout.G_ROWS]] = _rows(prepared.launch.block)
    config[layout.G_FIRST_WAVE] = chip * fit.blocks_per_sm
    config[layout.G_CONTROL] = table.control
    config[layout.G_REGISTERS] = registers
    config[layout.G_MEMBERS] = members.shape[1]
    config[layout.G_ROOM] = min(fit.max_warps_per_sm, fit.limits.get("registers", fit.max_warps_per_sm) * warps)
    config[layout.G_L1_SETS] = l1_sets
    config[layout.G_L1_LINES] = _l1_lines(numbers, fit)
    config[layout.G_L2_SETS] = l2_sets
    config[layout.G_L2_LINES] = int(numbers["l2_bytes"] / LINE_BYTES)
    config[layout.G_WRITTEN_SETS] = written_sets
    config[[layout.G_LINES, layout.G_CONSTANTS, layout.G_VARIABLES]] = table.lines, table.constants, table.variables
    config[[layout.G_LOCAL_AT, layout.G_LOCAL_EACH, layout.G_LOCAL_STRIDE]] = _local(prepared)
    config[[layout.G_R, layout.G_P]] = len(state.R), len(state.P)
    config[layout.G_PARTICIPANTS] = len(state.PARTICIPANTS)
    config[layout.G_FROM], config[layout.G_TO] = window or (0, 0)

    slots = np.zeros((n_sms * places, layout.N_SLOT), np.int64)
    slots[:, [layout.S_BLOCK, layout.S_STARTS]] = -1
    queues = np.zeros((n_sms * schedulers, layout.N_SCHEDULER), np.int64)
    queues[:, layout.Q_NEXT] = layout.NEVER
    queues[:, layout.Q_LAST] = -1
    l1 = n_sms * l1_sets * int(numbers["l1_ways"])
    l2 = l2_sets * int(numbers["l2_ways"])
    return Clock(
        CONFIG=config,
        NUMBERS=values,
        OPS=table.ops,
        RUNS=np.zeros(len(table.ops) // layout.N_OP, np.int64),
        OPERANDS=table.operands,
        WARPS=_warps(members, n_warps, warps),
        BOARDS=np.zeros(n_warps * layout.SCOREBOARDS * 2, np.int64),
        REGISTERS=np.zeros(max(n_warps * registers * 2, 1), np.int64),
        RETIRED=np.zeros(n_sms * places, np.float64),
        COMMITTED=np.zeros(n_warps * layout.GROUPS, np.int64),
        GONE=np.zeros(n_warps, np.int64),
        SLOTS=slots.reshape(-1),
        SMS=_sms(n_sms, numbers),
        FRONTS=own_lines(n_sms * layout.N_FRONT),
        REQUESTED=np.zeros(n_sms * layout.REQUESTS * layout.N_REQUEST, np.int64),
        REQUESTED_AT=np.zeros(n_sms * layout.REQUESTS * layout.N_REQUEST_AT, np.float64),
        ASKED=np.zeros(n_sms * layout.REQUEST_LINES * layout.N_LINE, np.int64),
        ASKED_AT=np.zeros(n_sms * layout.REQUEST_LINES * layout.N_LINE_AT, np.float64),
        ORDER=np.zeros(layout.MAX_EPOCH, np.int64),
        SORTED=np.zeros(n_sms * layout.REQUESTS, np.int64),
        DUE=np.zeros(n_sms, np.float64),
        SYNC=np.zeros(1, np.int64),
        STATES=np.zeros(1, np.int64),
        CLOCKS=np.zeros(1, np.int64),
        SCHEDULERS=queues.reshape(-1),
        **_writes(n_sms, l2, int(numbers["l2_slices"]), len(table.ops) // layout.N_OP),
        **steps_of(config, len(table.ops) // layout.N_OP, n_warps),
        **tracks_of(config, int(used.sum()), len(table.ops) // layout.N_OP),
        **{f"QUEUED{of}": np.zeros(n_sms * schedulers * layout.QUEUE_ROOM, np.int64) for of in ("", "_GLOBAL")},
        MEMBERS=members.reshape(-1),
        READY=_never(members.size),
        ASKS=np.zeros(members.size, np.int64),
        KEYS=np.zeros(members.size, np.int64),
        PASSED=own_lines(members.size),
        THROTTLE=np.zeros(members.size, np.int64),
        STANDING=np.zeros(members.size // GROUP * N_STANDING, np.int64),
        GATES=np.zeros(n_sms * schedulers * N_GATE + GROUP, np.int64),
        **_fetched(n_sms, schedulers, table),
        L1_TAGS=np.full(l1 + WIDE, -1, np.int64),
        L1_SECTORS=np.zeros(l1, np.int64),
        L1_WORDS=np.zeros(l1, np.int64),
        L1_LAST_WORDS=np.zeros(l1, np.int64),
        L1_USED=np.zeros(l1 + WIDE, np.int64),
        L1_READY=np.zeros(l1, np.float64),
        L1_ASKED=np.full(l1, -1, np.int64),
        L1_WRITTEN=np.zeros(l1, np.int64),
        **{name: np.zeros(l1, np.float64) for name in OF_WRITTEN},
        **_l2(l2, written_sets, numbers),
        SMALL=_small(prepared),
        HOSTED=_hosted(prepared),
        EXTENTS=extents.reshape(-1),
        ACCESSED=used[: len(quotas)],
        SPANS=spans[: len(quotas)],
        QUOTAS=quotas,
        MOVED=np.zeros(0, np.float64) if moved is None else moved,
        **{name: np.zeros(len(quotas), np.float64) for name in OF_ALLOCATION},
        TOGETHER=np.zeros(len(quotas), np.int64),
        OWNED=np.zeros(lines, np.uint16),
        TOUCHED_BY=np.zeros(lines, np.int32),
        TOUCHED_AT=np.zeros(lines, np.float64),
        WATCHED=_watched(prepared, watched) if n_sms > 1 else np.zeros(0, np.int64),
        WATCHED_BYTES=np.zeros(0 if watched is None else len(watched) * LINE_BYTES, np.int64),
        RACING=np.zeros(len(table.ops) // layout.N_OP, np.int64),
        CHIP=_chip(numbers, len(quotas) > 0 and l2_sets > written_sets),
        TOTALS=own_lines(layout.N_TOTAL),
        STALLS=np.zeros(len(table.ops) // layout.N_OP * layout.N_REASONS, np.int64),
        STAYS=np.zeros(min(sample.n_blocks, MAX_STAYS) * layout.N_STAY, np.int64),
        ACCESSES=np.zeros(len(table.ops) // layout.N_OP * len(layout.ACCESSES), np.int64),
        LINES=np.zeros(32, np.int64),
        MASKS=np.zeros(32, np.int64),
        LANES=np.zeros(32 * 4 + 32 + 32, np.int64),
        BLOCKS=np.zeros(n_sms * places * door.words(state), np.int64),
        STAGED=np.zeros(32, np.int64),
        STAGED_SIZE=np.zeros(2, np.int64),
        EVENTS=np.zeros((MAX_EVENTS if window else 1) * layout.N_EVENT, np.int64),
    )


def _l2(ways: int, written_sets: int, numbers: Parameters) -> dict[str, npt.NDArray[Any]]:
    """What is known of each of L2's *ways*, and the lists of ways of its *written_sets* that are to be written."""

    def listed(name: str) -> npt.NDArray[np.int64]:
        return np.full(written_sets * int(numbers[name]) * LISTED_WORDS, -1, np.int64)

    return {
        "L2_TAGS": np.full(ways + WIDE, -1, np.int64),
        "L2_SECTORS": np.zeros(ways, np.int64),
        "L2_DIRTY": _left_dirty(ways, numbers),
        "L2_USED": np.zeros(ways + WIDE, np.int64),
        "L2_GUEST": np.zeros(ways + WIDE, np.int64),
        "L2_OWED": listed("l2_dirty_ways"),
        "L2_OWED_MASKED": listed("l2_masked_ways"),
        "L2_LACKING": listed("l2_partial_ways"),
        "L2_COMING": np.zeros(ways, np.int64),
        "L2_READY": np.zeros(ways, np.float64),
    }


def _chip(numbers: Parameters, keeps: bool) -> npt.NDArray[np.float64]:
    """CHIP as a launch begins; *keeps*: L2 has a way for each line, of which it may lose some (keeping.py)."""
    chip = np.zeros(layout.N_CHIP, np.float64)
    chip[layout.C_EPOCH] = epoch(numbers)
    chip[layout.C_POINT] = 1
    chip[layout.C_DIRTY_WAYS] = numbers["l2_ways"]
    chip[layout.C_PLACED] = 0 if keeps else layout.NEVER
    return chip


def _never(size: int) -> npt.NDArray[np.int64]:
    """So many times of what does not happen."""
    times = own_lines(size)
    times.fill(layout.NEVER)
    return times


def _share_constants(values: npt.NDArray[np.float64], numbers: Parameters, chip: int, schedulers: float) -> None:
    """Scale what SMs cost each other at the caches of constants: *chip* SMs work, and such a share of *schedulers*."""
    values[layout.PLACE["constant_load_latency"]] *= chip / numbers.device.limit("multiprocessors") * schedulers


def _fetched(n_sms: int, schedulers: int, table: Schedule) -> dict[str, npt.NDArray[np.int64]]:
    """Lines of instructions and of constants as a launch begins: none is there."""
    return {
        "FETCHED": np.full(n_sms * table.lines, -1, np.int64),
        "CONSTANTS": _never(n_sms * (1 + schedulers) * table.constants * layout.N_CONSTANT),
        "VARIABLES": _never(n_sms * table.variables),
    }


def _sms(n_sms: int, numbers: Parameters) -> npt.NDArray[np.float64]:
    """SMS as a launch begins; the first warps are there before they issue."""
    sms = own_lines(n_sms * layout.N_SM, np.float64)
    sms[layout.M_ACTIVE_UNTIL :: layout.N_SM] = -numbers["warp_latency"]
    return sms


def _rows(block: Sequence[int]) -> tuple[int, int, int]:
    """G_LAYER, G_ROW and G_ROWS of a *block*: whether a warp is whole rows of one layer of its threads."""
    whole = 32 % block[0] == 0 and block[0] * block[1] % 32 == 0
    return (block[0] * block[1] // 32, 0, block[1]) if whole else (0, block[0], block[1])


def _left_dirty(l2: int, numbers: Parameters) -> npt.NDArray[np.int64]:
    """L2_DIRTY of so many ways as a launch begins: who empties the caches leaves lines to be written to DRAM.

    They go as L2 fills up: launches that only read write nothing if they read 21 MB, half of 2.4 MB if they read 34,
    and all of it from 50 on (kept.cu on an H100; cold.cu on both).
    """
    ways = int(numbers["l2_ways"])
    dirty = np.zeros((l2 // ways, ways), np.int64)
    taken_last = ways - 1 - np.arange(len(dirty)) % LEFT_WAYS
    for k in range(int(numbers["l2_left_lines"])):
        dirty[np.arange(len(dirty)), (taken_last - k) % ways] = 15
    return dirty.reshape(-1)


def _warps(members: npt.NDArray[np.int64], n_warps: int, warps: int) -> npt.NDArray[np.int64]:
    """WARPS of so many warps, of blocks of *warps* each: where they stand."""
    table = own_lines(n_warps * layout.N_WARP).reshape(n_warps, -1)
    there = np.flatnonzero(members.reshape(-1) >= 0)
    who = members.reshape(-1)[there]
    table[who, layout.W_MEMBER] = there
    table[who, layout.W_GROUP] = there // GROUP * N_STANDING
    table[who, layout.W_BIT] = 1 << there % GROUP
    table[:, layout.W_PLACE], table[:, layout.W_INDEX] = np.divmod(np.arange(n_warps), warps)
    return table.reshape(-1)


def _local(prepared: Prepared) -> tuple[int, int, int]:
    """Where the local memory of the first place for a block is; from one place, and one thread, to the next."""
    starts = prepared.memory.local_at
    each = starts[1] - starts[0] if len(starts) > 1 else 0
    return starts[0], each, local_stride(prepared.program.local_bytes)


def _l2_sets(prepared: Prepared, numbers: Parameters, share: float, at_once: int, lines: int) -> int:
    """Sets of L2: what fits there as a whole stays there, also if one SM touches more than its share of the lines.

    *at_once*: blocks that run at the same time, with their local memory; *lines*: that the launch accesses.
    """
    launch = prepared.launch
    together = float(lines * LINE_BYTES)
    threads = min(launch.blocks, at_once) * launch.threads_per_block
    together += local_stride(prepared.program.local_bytes) * threads
    l2_bytes = numbers["l2_bytes"] * (1 if together <= numbers["l2_bytes"] else share)
    return max(int(l2_bytes / LINE_BYTES / numbers["l2_ways"]), 1)


def _writes(n_sms: int, l2: int, slices: int, ops: int) -> dict[str, Any]:
    """What is known of stores and atomics: on their way to L2, at its *l2* ways, and of each of the *ops*."""
    sent = n_sms * layout.SENT_ROOM
    return {
        **{name: np.zeros(sent, np.float64) for name in ("SENT_AT", "SENT_DONE", "SENT_SIZE")},
        **{name: np.full(l2, -1, np.int64) for name in ("L2_WRITER", "L2_HOME")},
        **{f"L2_{name}": np.zeros(l2) for name in ("WRITE_FREE", "WRITE_SPENT", "READ_FREE", "SHARED", "TURN")},
        "L2_STORED": np.zeros(l2, np.int64),
        "L2_SLICE_FREE": np.zeros(slices, np.float64),
        **{name: np.zeros(l2, np.int64) for name in ("L2_ADDED", "L2_MASKED", "L2_PARTIAL")},
        "READERS": np.zeros(layout.N_READER * ops, np.int64),
        "OWNERS": np.zeros(layout.N_OWNER * ops, np.int64),
        "OWN_PARTS": np.zeros(layout.N_OWN_PART * layout.OWN_PARTS, np.int64),
        "WRITER": np.full(ops, -1, np.int64),
        "WRITTEN": np.zeros(ops, np.int64),
        **{name: np.zeros(ops, np.int64) for name in ("ROW_APART", "LAYER_APART", "WIDEST", "FULLEST", "LEADER")},
        **{name: np.zeros(n * ops, np.int64) for name, n in (("PAIRS", 3), ("PARTS", layout.N_PART))},
        "WRITERS": np.zeros(ops, np.float64),
        "BEHIND": np.zeros(AGES + 1, np.float64),
    }


def _small(prepared: Prepared) -> npt.NDArray[np.int64]:
    """Allocations that a driver places behind each other: lines, and by how many the arena has them farther apart."""
    memory = prepared.memory
    size = memory.ends - memory.starts
    small = np.flatnonzero((size < SMALL) & ~memory.hosts)
    starts, lines = (memory.starts[small] - int(ADDRESS_BASE)) // LINE_BYTES, -(-size[small] // LINE_BYTES)
    taken = -(-size[small] // PLACED) * PLACED // LINE_BYTES
    nearer = starts - starts[:1] - (taken.cumsum() - taken)
    return np.stack([starts, starts + lines, nearer], axis=1).astype(np.int64).reshape(-1)


def _hosted(prepared: Prepared) -> npt.NDArray[np.int64]:
    """Lines of each allocation that is memory of the host: first and one past the last."""
    memory = prepared.memory
    starts, ends = memory.starts[memory.hosts], memory.ends[memory.hosts]
    lines = np.stack([starts - int(ADDRESS_BASE), ends - int(ADDRESS_BASE) + LINE_BYTES - 1], axis=1) // LINE_BYTES
    return lines.astype(np.int64).reshape(-1)


def _watched(prepared: Prepared, watched: npt.NDArray[np.int64] | None) -> npt.NDArray[np.int64]:
    """A word for each line of global memory, for :mod:`simt.timing.races`."""
    words = np.zeros(int(prepared.memory.ends.max(initial=ADDRESS_BASE) - ADDRESS_BASE) // LINE_BYTES + 1, np.int64)
    if watched is not None:
        words[watched] = np.arange(1, len(watched) + 1)
    return words


def _members(n_sms: int, warps_per_sm: int, schedulers: int) -> npt.NDArray[np.int64]:
    """Warps of each scheduler: warp *w* of the chip's places belongs to scheduler *w* modulo their number.

    Rows are whole groups, padded with -1: as many are compared at once (ready.py).
    """
    rows = []
    for sm in range(n_sms):
        own = np.arange(sm * warps_per_sm, (sm + 1) * warps_per_sm)
        rows += [own[own % schedulers == k] for k in range(schedulers)]
    most = max(len(row) for row in rows)
    table = np.full((len(rows), -(-most // GROUP) * GROUP), -1, np.int64)
    for k, row in enumerate(rows):
        table[k, : len(row)] = row
    return table


def own_sizes(clock: Clock) -> tuple[int, ...]:
    """Of the arrays that a block has for itself, what :data:`simt.machine.door.block_at` wants to know."""
    return tuple(int(clock.CONFIG[column]) for column in (layout.G_R, layout.G_P, layout.G_PARTICIPANTS))
