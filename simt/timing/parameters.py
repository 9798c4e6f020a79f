"""The numbers that the timing model takes from a device file, and their overrides."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from types import MappingProxyType

from simt.check import suggestion
from simt.devices import DeviceError, Gpu
from simt.devices.device import TIMING
from simt.timing.classes import TIMED
from simt.timing.kinds import ANY, ERRORS, KINDS

SECTION = TIMING

_PER_CLASS = {
    **{f"latency_{name}": "cycles" for name in TIMED},
    **{f"interval_{name}": "cycles per warp instruction and scheduler" for name in TIMED},
    "interval_texture": "cycles per warp instruction and SM",
}

PARAMETERS: Mapping[str, str] = MappingProxyType(
    {
        "schedulers": "warp schedulers per SM",
        "scheduler_policy": (
            "0 loose round robin, 1 greedy then oldest, 2 oldest block and round robin in it,"
            " 3 as 2 behind those that have not yielded"
        ),
        "issue_width": "instructions per scheduler and cycle of one warp",
        **_PER_CLASS,
        "wide_stall": "cycles that a wide multiply keeps its scheduler from issuing",
        "high_stall": "cycles that the upper half of a product does in the source view, whose registers have no banks",
        "wide_operand_latency": "cycles from an instruction of fixed latency to a wide multiply of its result",
        "register_window": "cycles in which an instruction's registers are read, one a bank and cycle; 0: no limit",
        # Control flow.
        "branch_latency": "cycles from a taken branch until its target is known",
        "branch_not_taken_latency": "cycles from a branch that is not taken to the next issue",
        "reconvergence_latency": "cycles from a BSYNC or WARPSYNC to the next issue",
        "reconvergence_interval": "cycles between two BSYNC of a scheduler",
        "branch_register_latency": "cycles from a branch to where a register says until its target is known",
        "branch_register_interval": "cycles between two such branches of a scheduler, for each target of their lanes",
        "fetch_latency": "cycles to fetch the target of a branch",
        "fetch_interval": "cycles between two such fetches of a scheduler",
        "fetch_next_latency": "cycles from there until the next line is there, too",
        "instruction_bytes": "bytes per instruction",
        "instruction_line_bytes": "bytes",
        "instruction_miss_latency": "cycles",
        "instruction_prefetch_lines": "lines",
        "constant_line_bytes": "bytes of a line of constants",
        "constant_fetch_bytes": "bytes that come from L2 at once if they are not parameters",
        "constant_latency": "cycles that a scheduler's first instruction that reads a line of constants waits for it",
        "constant_load_latency": "cycles that it waits longer if all schedulers of the chip want lines",
        "constant_word_interval": "cycles of the SM for each word that the lanes of an LDC ask for",
        "constant_word_latency": "cycles by which each further one comes later for a warp that waits alone",
        # Barriers.
        "barrier_interval": "cycles per arriving warp and SM",
        "barrier_latency": "cycles from the last arrival to the next issue",
        "barrier_queue": "cycles of arrivals that wait before further warps may not issue theirs",
        "fence_block_latency": "cycles of a fence for the threads of the block (MEMBAR.CTA)",
        "fence_latency": "cycles of a fence for the device or the system, if no store is on its way",
        # Load/store unit and shared memory.
        "mio_interval": "cycles between two MIO instructions of a scheduler",
        "operand_interval": "cycles in which a scheduler sends a word of each lane to the load/store unit",
        "address_stall": "cycles that an access by a 64-bit address keeps its scheduler from the FMA pipe",
        "mio_dispatch_interval": "cycles between two MIO instructions of an SM, whatever their pipes",
        "mio_send_interval": "cycles in which a scheduler sends one for another pipe",
        "mio_queue": "cycles of work that the load/store unit keeps",
        "lsu_kept": "instructions of a scheduler that it keeps, if that is more",
        "xu_queue": "cycles of work that the pipes behind the MIO queue keep",
        "store_lines": "lines stored in turn that are joined on their way to L2",
        "lsu_store_bytes_per_cycle": "bytes of a store that the load/store unit takes a cycle",
        "store_to_load_interval": "cycles more of the second load behind a store in the load/store unit",
        "store_join_latency": "cycles in which the load/store unit is idle until none joins a store",
        "store_settle_latency": "cycles behind a store in which another that does not join it makes L1 lose the line",
        "store_close_latency": "cycles behind a store in which a load of its line makes L1 lose the rest of it",
        "store_queue": "sectors of stores that an SM has sent and L2 has not taken",
        "miss_queue": "cycles of misses that wait for L2 before the load/store unit stops",
        "store_drain_latency": "cycles from when a store is on its way until its warp may end",
        "operand_latency": "cycles until a store's or load's operands have been read",
        "shared_latency": "cycles from a load to its use",
        "shared_wavefront_interval": "cycles per wavefront and SM",
        "shared_wavefront_latency": "cycles between two wavefronts of one warp",
        "shared_atomic_latency": "cycles from an atomic with an operand, beside the address, to its use",
        "shared_cas_latency": "cycles from a compare-and-swap to its use",
        # Global memory.
        "l1_bytes": "bytes of L1 and shared memory together per SM",
        "l1_ways": "lines per set",
        "l1_holds_shared": "1 if shared memory takes its room from l1_bytes",
        "l1_reserved": "bytes of it that hold neither",
        "shared_spare": "bytes up to which shared memory has room for twice the blocks that fit",
        "l1_caches_loads": "1 if global loads are cached in L1",
        "l1_latency": "cycles from a load that hits to its use",
        "l1_line_interval": "cycles per 128-byte line that is missing and SM",
        "l1_line_share": "cycles of the load/store unit per line that is missing",
        "l1_line_latency": "cycles that each look-up of tags after the first adds",
        "sm_bytes_per_cycle": "bytes per cycle between an SM and L2",
        "sm_store_bytes_per_cycle": "bytes per cycle that an SM sends to L2",
        "l2_bytes": "bytes",
        "l2_ways": "lines per set",
        "l2_dirty_ways": "lines per set that wait to be written to DRAM",
        "l2_masked_ways": "lines per set that wait for that and of whose sectors stores have left a part out before",
        "l2_partial_ways": "lines per set of whose sectors stores have left a part out",
        "l2_left_lines": "lines per set that what ran before has left to be written to DRAM",
        "l2_slices": "slices of L2",
        "l2_fetch_bytes": "bytes that L2 reads from DRAM at once",
        "l2_read_least_bytes": "bytes as which the shortest read counts",
        "l2_write_least_bytes": "bytes as which the shortest write counts",
        "l2_turn_interval": (
            "cycles that a load takes its slice of L2 if its line is stored to by several blocks, too"
        ),
        "l2_latency": "cycles from a load that hits in L2 to its use",
        "l2_spread_latency": "cycles by which the nearest line comes sooner, the farthest later",
        "l2_queue_latency": "cycles that full load of DRAM adds to a load that hits in L2",
        "system_latency": "cycles that a volatile or system-wide load takes longer",
        "l2_read_bytes_per_cycle": "bytes per cycle of the chip",
        "l2_write_bytes_per_cycle": "bytes per cycle of the chip",
        "dram_latency": "cycles from a load that misses all caches to its use",
        "dram_far_latency": "cycles by which lines of the far half of DRAM come later, of the near one sooner",
        "dram_spread_latency": "cycles, the mean of what banks and refreshes add at random; part of dram_latency",
        "dram_queue_latency": "cycles that full load adds; in proportion to the fourth power of the load",
        "dram_reordering": "share of its wait by which a read may come sooner or later than in order",
        "dram_reordering_window": "cycles of waiting reads that DRAM chooses among",
        "dram_read_bytes_per_cycle": "bytes per cycle of the chip",
        "dram_write_bytes_per_cycle": "bytes per cycle of the chip, beside reads",
        "dram_write_alone_share": "of that with no reads beside them",
        "dram_write_latency": "cycles that a read takes longer beside writes at full rate; in proportion to the rate",
        "dram_background_bytes_per_cycle": "bytes per cycle of the chip that others write to DRAM during a launch",
        "dram_scattered_bytes": "bytes as which the shortest read counts if lanes ask for lines anywhere",
        "host_latency": "cycles from a load of the host's memory to its use",
        "host_read_bytes_per_cycle": "bytes per cycle that the chip reads from the host",
        "host_write_bytes_per_cycle": "bytes per cycle that it writes there",
        "host_write_share": "of the time of such a write in which nothing is read from the host",
        "host_write_queue": "bytes of such writes that may wait for the bus",
        "host_end_latency": "cycles by which a launch that used the host's memory ends later",
        "atomic_latency": "cycles from a global atomic to the use of its result",
        "atomic_lane_interval": "cycles per lane after the first that meets the same address",
        "atomic_sector_interval": "cycles that L2 takes for a sector that has a lane for each of its words",
        "atomic_part_interval": "cycles that it takes for a sector of which some words change",
        "atomic_float_interval": "cycles from one to the next of the same sector, of floating-point numbers",
        "atomic_meeting_interval": "cycles of the chip per lane after the first at one address of a request",
        # Calls of the system.
        "malloc_latency": "cycles of a malloc by one thread, while no other is under way",
        "malloc_cold_latency": "cycles that the first one of an SM takes longer",
        "malloc_lane_latency": "cycles that it takes longer by each further thread of the warp",
        "malloc_level_latency": "cycles more for each level of larger chunks that its chunk is in",
        "malloc_chunk_latency": "cycles more for each further chunk that the warp needs",
        "malloc_interval": "cycles that each one of several at a time takes all of them longer",
        "malloc_level_interval": "cycles more of that for each level",
        "malloc_chunk_interval": "cycles more of both, in proportion to the square of the chunks",
        "free_latency": "cycles of a free by one thread, while no other is under way",
        "free_cold_latency": "cycles that the first one of an SM takes longer",
        "free_lane_latency": "cycles that it takes longer by each further thread of the warp",
        "free_level_latency": "cycles more for each level of larger chunks that the block's chunk is in",
        "free_chunk_latency": "cycles more for each further chunk that the warp gives back to",
        "free_interval": "cycles that each one of several at a time takes all of them longer",
        "free_level_interval": "cycles more of that for each level",
        "free_chunk_interval": "cycles more of that for each further chunk",
        "print_latency": "cycles of a printf by one thread, while no other is under way",
        "print_cold_latency": "cycles that the first one of an SM takes longer",
        "print_lane_latency": "cycles that it takes longer by each further thread of the warp",
        "print_interval": "cycles that each one of several at a time takes all of them longer",
        "print_lane_interval": "cycles more of that by each further thread of the warp",
        # Blocks.
        "launch_overhead": "cycles of a launch in which no SM works",
        "last_sm_share": (
            "of the time of a wave of blocks by which the last SM ends after the average,"
            " as far as warps wait for memory"
        ),
        "block_interval": "cycles between two blocks whose end the chip notes",
        "block_start_interval": "cycles between two blocks that an SM starts",
        "exit_latency": "cycles that a warp stays after its EXIT has issued",
        "block_latency": "cycles from the end of a block to the start of the next in its place",
        "blocks_start_early": "1 if a block starts in the room of warps that have ended before the rest of theirs",
        "warp_interval": "cycles between two warps that an SM starts",
        "warp_latency": "cycles that a warp is on an SM before its first instruction may issue",
        "pair_stay": "ends of blocks of an SM that the chip notes while a block of two warps is there, at most",
        "pair_ramp": "blocks of an SM of which the last is the first that is there for so long",
    }
)
"""Name and unit of every number; all must be in the section ``timing`` of a device file."""

_POSITIVE = frozenset(
    name
    for name in PARAMETERS
    if name.endswith(("_bytes", "_ways", "_bytes_per_cycle"))
    or name in ("schedulers", "issue_width", "mio_queue", "l2_slices", "pair_ramp")
)

_WHOLE = (
    "schedulers",
    "issue_width",
    "scheduler_policy",
    "l1_ways",
    "l2_ways",
    "l2_dirty_ways",
    "l2_masked_ways",
    "l2_partial_ways",
    "l2_left_lines",
    "l2_slices",
    "l1_caches_loads",
    "instruction_bytes",
    "instruction_line_bytes",
    "constant_line_bytes",
    "constant_fetch_bytes",
)

LARGEST = 2**31
"""No timing number is larger; cycles of many of them still fit in 64 bits."""

LINE_BYTES = 128
"""Of a cache line."""


@dataclass(frozen=True)
class Parameters:
    """The timing numbers of a device, overrides applied.  Latencies in cycles of the SM's clock."""

    device: Gpu
    values: Mapping[str, float]
    overridden: tuple[str, ...] = ()

    def __getitem__(self, name: str) -> float:
        return self.values[name]

    @property
    def estimated(self) -> tuple[str, ...]:
        """Names of the numbers that are neither documented nor measured."""
        section = self.device.sections[SECTION]
        return tuple(name for name in PARAMETERS if name not in self.overridden and section[name].estimated)


def parameters(device: Gpu, overrides: Mapping[str, float] | None = None) -> Parameters:
    """The timing numbers of *device*, some replaced.

    Raises DeviceError if the device file has no timing section, lacks or contradicts something, or if an override has
    an unknown name or an impossible value.
    """
    if SECTION not in device.sections:
        raise DeviceError(f"the device file {device.key}.toml has no section [{SECTION}]")
    section = device.sections[SECTION]
    problems = [f"{SECTION}.{name} is missing" for name in PARAMETERS if name not in section]
    for name, number in section.items():
        if name not in PARAMETERS:
            problems.append(f"{SECTION}.{name} is not a number that simt knows{_close(name)}")
        elif _dimension(number.unit) != _dimension(PARAMETERS[name]):
            problems.append(f"{SECTION}.{name} is in {number.unit!r}, not in {PARAMETERS[name]!r}")
    problems += [
        f"{ERRORS}.{name} is not a kind of launch: {', '.join((*KINDS, ANY))}"
        for name in device.sections.get(ERRORS, {})
        if name not in (*KINDS, ANY)
    ]
    problems += [
        f"{ERRORS}.{name} is in {number.unit!r}, not in '%'"
        for name, number in device.sections.get(ERRORS, {}).items()
        if _dimension(number.unit) != "%"
    ]
    values = {name: float(quantity.value) for name, quantity in section.items()}
    given = dict(overrides or {})
    for name, value in given.items():
        if name not in PARAMETERS:
            hint = suggestion(name, PARAMETERS, f"`simt devices {device.key}` lists them")
            raise DeviceError(f"{device.name} has no timing number {name!r}", help=hint)
        try:
            values[name] = float(value)
        except (TypeError, ValueError):
            raise DeviceError(f"{name} is {value!r}; it must be a number") from None
    problems = problems or _contradictions(values, device)
    if problems:
        what = "overridden so" if given else "as in its file"
        raise DeviceError(f"the timing numbers of {device.key}, {what}, are rejected", details=problems)
    return Parameters(device, values, tuple(given))


def _close(name: str) -> str:
    found = suggestion(name, PARAMETERS, "")
    return f"; {found}" if found else ""


@cache
def _dimension(unit: str) -> str:
    """What a unit begins with, which is what it counts: ``cycles``, ``bytes per cycle``; the rest explains it."""
    found = re.match(r"\s*([\w%]+(?: per cycle)?)", unit)
    return found[1] if found else ""


def _contradictions(values: Mapping[str, float], device: Gpu) -> list[str]:
    found = [
        f"{name} = {value:g} is not between 0 and {LARGEST:,}"
        for name, value in values.items()
        if not 0 <= value <= LARGEST  # NaN, too
    ]
    if found:
        return found
    found = [f"{name} = {values[name]:g} must be positive" for name in sorted(_POSITIVE) if values[name] <= 0]
    for low, high in (
        ("l1_latency", "l2_latency"),
        ("l2_latency", "dram_latency"),
        ("l1_bytes", "l2_bytes"),
        ("l2_dirty_ways", "l2_ways"),
        ("l2_masked_ways", "l2_dirty_ways"),
        ("l2_partial_ways", "l2_ways"),
        ("l2_left_lines", "l2_ways"),
        ("l2_spread_latency", "l2_latency"),
        ("interval_fma", "interval_imad"),
        ("dram_read_bytes_per_cycle", "l2_read_bytes_per_cycle"),
        ("instruction_bytes", "instruction_line_bytes"),
        ("constant_line_bytes", "constant_fetch_bytes"),
    ):
        if values[low] > values[high]:
            found.append(f"{low} = {values[low]:g} exceeds {high} = {values[high]:g}")
    for name in _WHOLE:
        if values[name] != int(values[name]):
            found.append(f"{name} = {values[name]:g} is not a whole number")
    if values["schedulers"] > device.limit("warps_per_sm"):
        found.append(f"there are more schedulers ({values['schedulers']:g}) than warps on an SM")
    for level in ("l1", "l2"):
        if values[f"{level}_ways"] * LINE_BYTES > values[f"{level}_bytes"]:
            found.append(
                f"{level}_bytes has no room for {level}_ways = {values[f'{level}_ways']:g} lines of {LINE_BYTES} bytes"
            )
    if values["l2_fetch_bytes"] not in (32, 64, 128):
        found.append(f"l2_fetch_bytes = {values['l2_fetch_bytes']:g} is not 32, 64 or 128")
    if values["blocks_start_early"] not in (0, 1):
        found.append(f"blocks_start_early = {values['blocks_start_early']:g} is not 0 or 1")
    if values["dram_reordering"] > 1:
        found.append(f"dram_reordering = {values['dram_reordering']:g} exceeds 1")
    if values["scheduler_policy"] not in (0, 1, 2, 3):
        found.append(f"scheduler_policy = {values['scheduler_policy']:g} is not 0, 1, 2 or 3")
    return found
