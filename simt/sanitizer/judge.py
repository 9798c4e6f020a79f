"""The loop over the events of a launch."""

from __future__ import annotations

import numpy as np

from simt.machine import events as V
from simt.machine.events import ACCESS, FRESH, HAS_VALUES, LANES, N_EVENT, N_HEADER, SERVED, VARIABLE
from simt.machine.layout import BLOCK_BARRIERS
from simt.ops.memory import LOCAL, SHARED
from simt.ops.scalar import FULL
from simt.sanitizer import layout as Z
from simt.sanitizer.accesses import judge_access
from simt.sanitizer.barriers import arrive, judge_shuffle, leave_block, meet_warp
from simt.sanitizer.clocks import fence, meet_lanes
from simt.sanitizer.copies import await_copies, commit
from simt.sanitizer.initialised import forget_written, judge_written, note_written
from simt.sanitizer.interning import fill_slots
from simt.sanitizer.jit import jit
from simt.sanitizer.parts import forget_all
from simt.sanitizer.rooms import addresses_fit, entries_fit, patterns_fit, places_fit, sets_fit, time_fits, vectors_fit
from simt.sanitizer.undefined import judge_registers

_SETS, _PATTERNS, _VECTORS, _ENTRIES, _ADDRESSES, _PLACES, _TIME = (
    jit(fits) for fits in (sets_fit, patterns_fit, vectors_fit, entries_fit, addresses_fit, places_fit, time_fits)
)


@jit
def _has_room(j):
    """Whether the pools have room for what one event may take."""
    return (
        _SETS(j.HEAD, j.SETS)
        and _PATTERNS(j.HEAD, j.PATTERNS)
        and _VECTORS(j.HEAD, j.VECTORS)
        and _ENTRIES(j.HEAD, j.KEYS)
        and _ADDRESSES(j.HEAD, j.HASH)
        and _PLACES(j.HEAD, j.BLOCKS)
        and _TIME(j.HEAD)
    )


@jit
def _place_of(block, j):
    """The place of a block that runs; a block that begins gets a fresh one."""
    HEAD = j.HEAD
    if j.SLOT[block]:
        return np.int64(j.SLOT[block]) - 1
    place = HEAD[Z.H_FREE_SLOT]
    HEAD[Z.H_FREE_SLOT] = j.BLOCKS[place * Z.N_BLOCK + Z.B_NEXT]
    warps = HEAD[Z.H_WARPS]
    _clear(j.BLOCKS, place, Z.N_BLOCK)
    _clear(j.WARPS, place, warps * Z.N_WARP)
    _clear(j.THREADS, place, warps * 32 * Z.N_THREAD)
    _clear(j.BARRIERS, place, BLOCK_BARRIERS * Z.N_BARRIER)
    _clear(j.ARRIVED, place, BLOCK_BARRIERS * warps * 2)
    _clear(j.REGISTERS, place, warps * HEAD[Z.H_REGISTERS] * Z.N_REGISTER)
    j.BLOCKS[place * Z.N_BLOCK + Z.B_LIVE] = HEAD[Z.H_THREADS]
    j.SLOT[block] = place + 1
    return place


@jit
def _clear(words, place, count):
    for k in range(place * count, (place + 1) * count):
        words[k] = 0


@jit
def _begin_space(block, space, first, j):
    """A block touches its shared or local memory, which begins at *first* in the arena, for the first time."""
    HEAD = j.HEAD
    j.SEEN[block] |= np.uint8(1 << space)
    if space == SHARED:
        if HEAD[Z.H_TOOLS] & Z.RACES:
            forget_all(first, HEAD[Z.H_SHARED], HEAD, j.CELLS)
        if HEAD[Z.H_TOOLS] & Z.INIT:
            forget_written(first + HEAD[Z.H_SYSTEM], HEAD[Z.H_SHARED] - HEAD[Z.H_SYSTEM], j.POISON)
    elif HEAD[Z.H_TOOLS] & Z.INIT:
        forget_written(first, HEAD[Z.H_LOCAL], j.POISON)


@jit
def _note_served(what, first, size, j):
    """A system call gave a thread memory, or wrote some."""
    HEAD = j.HEAD
    if what == FRESH and HEAD[Z.H_TOOLS] & Z.RACES:
        forget_all(first, size, HEAD, j.CELLS)
    if HEAD[Z.H_TOOLS] & Z.INIT:
        if what == FRESH:
            forget_written(first, size, j.POISON)
        else:
            note_written(first, size, j.POISON)


@jit
def _judge_order(EVENTS, at, place, j):
    """A micro-op that orders threads, other than a warp barrier."""
    HEAD = j.HEAD
    kind = j.META[EVENTS[at + V.V_PC] * Z.N_META + Z.M_KIND] & 255
    if kind == Z.BARRIER or kind == Z.ARRIVES:
        arrive(
            EVENTS, at, place, j.META, HEAD, j.BLOCKS, j.WARPS, j.THREADS, j.BARRIERS, j.ARRIVED, j.KEYS, j.TIMES,
            j.VECTORS, j.FOUND,
        )  # fmt: skip
    elif kind == Z.EXIT:
        ended = leave_block(
            EVENTS, at, place, j.META, HEAD, j.BLOCKS, j.WARPS, j.KNOWN, j.THREADS, j.BARRIERS, j.ARRIVED, j.KEYS,
            j.TIMES, j.VECTORS, j.FOUND,
        )  # fmt: skip
        if ended:
            j.BLOCKS[place * Z.N_BLOCK + Z.B_NEXT] = HEAD[Z.H_FREE_SLOT]
            HEAD[Z.H_FREE_SLOT] = place
            j.SLOT[EVENTS[at + V.V_BLOCK]] = 0
    elif kind == Z.FENCE and HEAD[Z.H_TOOLS] & Z.RACES:
        fence(
            EVENTS[at + V.V_BLOCK], place, EVENTS[at + V.V_WARP], EVENTS[at + V.V_LANES], EVENTS[at + V.V_WHAT], HEAD,
            j.BLOCKS, j.WARPS, j.KNOWN, j.THREADS, j.KEYS, j.TIMES, j.VECTORS,
        )  # fmt: skip
    elif kind == Z.TOGETHER and HEAD[Z.H_LANES]:
        _meet(EVENTS, at, place, j)
    elif kind == Z.COMMITS:
        commit(place, EVENTS[at + V.V_WARP], EVENTS[at + V.V_LANES], HEAD, j.THREADS)
    elif kind == Z.AWAITS:
        left = j.META[EVENTS[at + V.V_PC] * Z.N_META + Z.M_KIND] >> Z.LEFT_SHIFT
        await_copies(place, EVENTS[at + V.V_WARP], EVENTS[at + V.V_LANES], left, HEAD, j.WARPS, j.THREADS, j.CELLS)


@jit
def _meet(EVENTS, at, place, j):
    """Lanes exchange values: what they did before comes before what they do then."""
    meet_lanes(
        EVENTS[at + V.V_BLOCK], place, EVENTS[at + V.V_WARP], EVENTS[at + V.V_LANES], EVENTS[at + V.V_EXITED] & FULL,
        j.HEAD, j.BLOCKS, j.WARPS, j.KNOWN, j.THREADS, j.KEYS, j.TIMES, j.VECTORS,
    )  # fmt: skip


@jit
def judge(EVENTS, first, j):
    """Judge events from *first* on; where it stopped: at the end, at a finding that ends the launch, or for room."""
    HEAD = j.HEAD
    tools = HEAD[Z.H_TOOLS]
    at = np.int64(first)
    if HEAD[Z.H_UNFILED]:
        HEAD[Z.H_UNFILED] = 0
        fill_slots(Z.N_READER, j.SETS, Z.H_SETS, HEAD)
        fill_slots(Z.N_PATTERN, j.PATTERNS, Z.H_PATTERNS, HEAD)
    while at < len(EVENTS):
        if not _has_room(j) or (HEAD[Z.H_STOPS] and HEAD[Z.H_FOUND]):
            return at
        kind = EVENTS[at + V.V_KIND]
        block = EVENTS[at + V.V_BLOCK]
        HEAD[Z.H_EVENT] += 1
        place = _place_of(block, j)
        if kind == ACCESS:
            space = (EVENTS[at + V.V_WHAT] >> 4) & 15
            if not (j.SEEN[block] >> space) & 1 and (space == SHARED or space == LOCAL):
                _begin_space(block, space, EVENTS[at + V.V_MORE], j)
            if tools & Z.INIT:
                judge_written(EVENTS, at, place, HEAD, j.POISON, j.POISON32, j.POISON64, j.REGISTERS, j.USES, j.FOUND)
            if tools & Z.RACES and space != LOCAL:
                judge_access(
                    EVENTS, at, place, j.META, HEAD, j.BLOCKS, j.WARPS, j.KNOWN, j.THREADS, j.CELLS, j.SETS,
                    j.PATTERNS, j.BYTES, j.SCRATCH, j.KEYS, j.TIMES, j.VECTORS, j.HASH, j.FOUND,
                )  # fmt: skip
        elif kind == LANES:
            what = j.META[EVENTS[at + V.V_PC] * Z.N_META + Z.M_KIND] & 255
            if what == Z.WARP_BARRIER or what == Z.REJOINS:
                meet_warp(
                    EVENTS, at, place, j.META, HEAD, j.BLOCKS, j.WARPS, j.KNOWN, j.THREADS, j.KEYS, j.TIMES,
                    j.VECTORS, j.FOUND,
                )  # fmt: skip
            else:
                if HEAD[Z.H_REGISTERS]:
                    judge_shuffle(EVENTS, at, what, place, HEAD, j.REGISTERS, j.USES)
                if HEAD[Z.H_LANES]:
                    _meet(EVENTS, at, place, j)
        elif kind == VARIABLE:
            judge_registers(EVENTS, at, place, HEAD, j.REGISTERS, j.USES, j.FOUND)
            if HEAD[Z.H_LANES] and j.META[EVENTS[at + V.V_PC] * Z.N_META + Z.M_KIND] == Z.LEFT_OUT:
                _meet(EVENTS, at, place, j)
        elif kind == SERVED:
            _note_served(EVENTS[at + V.V_WHAT], EVENTS[at + V.V_MORE], EVENTS[at + V.V_EXITED], j)
        else:
            _judge_order(EVENTS, at, place, j)
        at += N_EVENT if (HAS_VALUES >> kind) & 1 else N_HEADER
    return at
