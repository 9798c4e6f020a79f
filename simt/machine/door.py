"""The door through which the timing model drives the machine: it sees no column of the machine's arrays.

It keeps the blocks of its SMs side by side (:func:`side_by_side`, :data:`lay_out`), looks at one of them
(:data:`block_at`), lets a warp run a few micro-ops (:func:`step`) and asks for its last memory request
(:func:`request`).
"""

from __future__ import annotations

from itertools import pairwise
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
import numpy.typing as npt
from numba.core import config

from simt.machine import layout as L
from simt.machine.compiled.liveness import live_rows, zeroed_rows
from simt.machine.control import current
from simt.machine.encode import encode
from simt.machine.engine import advance
from simt.machine.layout import BLOCKED, CALLED, DONE, FAILED, OWN, PAUSED, READY, State
from simt.machine.native import run_stretch
from simt.machine.splits import choose
from simt.machine.start import start_block
from simt.machine.turns import QUANTUM, account, is_over, may_go_round, resume
from simt.ops.arrays import keep_window, kept_window, record_words
from simt.ops.jit import elsewhere, jit_part, plain

if TYPE_CHECKING:
    from simt.machine.compiled.code import Native
    from simt.machine.prepared import Prepared
    from simt.program import Program

__all__ = [
    "BLOCKED",
    "CALLED",
    "DONE",
    "FAILED",
    "PAUSED",
    "QUANTUM",
    "Request",
    "State",
    "begin",
    "beside",
    "block_at",
    "count",
    "counters",
    "equip",
    "forget",
    "lay_out",
    "leap",
    "partings",
    "place_bytes",
    "request",
    "requests",
    "set_clock",
    "side_by_side",
    "step",
    "wake",
    "words",
]

N_OWN = len(OWN)
_advance = elsewhere(advance)


def side_by_side(prepared: Prepared, state: State, places: int) -> State:
    """One State for blocks in so many places: the arrays that *state* has for a block itself, one behind the other.

    A block finds those registers of the program zero that it may read before it writes them, and in the others what the
    block before it left.  SHARED is the arena.
    """
    program, memory = prepared.program, prepared.memory
    own = {name: getattr(state, name) for name in OWN if name not in ("SHARED", "F64", "F32")}
    together = {name: L.on_lines(np.broadcast_to(one, (places, one.size))).reshape(-1) for name, one in own.items()}
    together["F64"] = together["R"].view(np.float64)
    together["F32"] = together["R"].view(np.float32)
    if program.zeroed is None:
        program.zeroed = zeroed_rows(program, live_rows(program)[0])
    launches = together["LAUNCH"].reshape(places, -1)
    launches[:, L.LAUNCH_SHARED] = memory.shared_at[:places]
    launches[:, L.LAUNCH_LOCAL] = memory.local_at[:places]
    return state._replace(**together, SHARED=state.M64, ZEROED=program.zeroed)


def place_bytes(program: Program, warps: int) -> int:
    """Bytes of most of what a block of so many warps has for itself: its registers, predicates and splits."""
    encoded = encode(program)
    uniform = len(encoded.uniform_rows)
    rows = uniform + warps * (encoded.n_registers - uniform)
    return 8 * (32 * rows + warps * (encoded.n_predicates + 32 * L.N_SPLIT))


def beside(state: State, fresh: State) -> State:
    """The arrays of *fresh* for another host thread that runs blocks of *state*, with what these have themselves."""
    return fresh._replace(ZEROED=state.ZEROED, **{name: getattr(state, name) for name in OWN})


def counters(state: State) -> npt.NDArray[np.int64]:
    """Counters by micro-op: int64 [micro-ops, columns], in the order of :data:`simt.program.COUNTERS`."""
    table: npt.NDArray[np.int64] = state.COUNTS.reshape(-1, L.N_COUNT)
    return table


@jit_part
def _piece(array, start, size):
    return array[start : start + size]


@jit_part
def _extents(s, k, rows, predicates, participants):
    """Of the arrays that the block in place *k* has for itself, where each starts, and how many elements it has."""
    at = k * L.N_LAUNCH
    warps = s.LAUNCH[at + L.LAUNCH_WARPS]
    splits = warps * 32 * L.N_SPLIT
    own_warps = warps * L.N_WARP
    barriers = np.int64(L.BLOCK_BARRIERS * L.N_BARRIER)
    native = len(s.NATIVE) // (len(s.LAUNCH) // L.N_LAUNCH)
    shared = s.LAUNCH[at + L.LAUNCH_SHARED] >> 3
    words = (s.LAUNCH[at + L.LAUNCH_SHARED_BYTES] + 7) >> 3
    each = (rows, rows, 2 * rows, predicates, participants, splits, own_warps, barriers, np.int64(L.N_LAUNCH), native)
    starts = (
        k * rows,
        k * rows,
        2 * k * rows,
        k * predicates,
        k * participants,
        k * splits,
        k * own_warps,
        k * barriers,
        at,
        k * native,
        shared,
    )
    return starts, (*each, words)


def _sliced(s, k, rows, predicates, participants, WORDS):
    starts, sizes = _extents(s, k, rows, predicates, participants)
    own = (
        _piece(s[0], starts[0], sizes[0]),
        _piece(s[1], starts[1], sizes[1]),
        _piece(s[2], starts[2], sizes[2]),
        _piece(s[3], starts[3], sizes[3]),
        _piece(s[4], starts[4], sizes[4]),
        _piece(s[5], starts[5], sizes[5]),
        _piece(s[6], starts[6], sizes[6]),
        _piece(s[7], starts[7], sizes[7]),
        _piece(s[8], starts[8], sizes[8]),
        _piece(s[9], starts[9], sizes[9]),
        _piece(s[10], starts[10], sizes[10]),
    )
    return State(*(own + s[N_OWN:]))


def _kept(s, k, rows, predicates, participants, WORDS):
    return kept_window(s, WORDS, k)


def _nothing_kept(s, first, end, rows, predicates, participants, WORDS):
    return None


def _keep(s, first, end, rows, predicates, participants, WORDS):
    for k in range(first, end):
        starts, sizes = _extents(s, k, rows, predicates, participants)
        keep_window(s, starts, sizes, WORDS, k)


block_at = jit_part(_sliced if config.BOUNDSCHECK else _kept, plain=_sliced)
"""``block_at(s, k, rows, predicates, participants, WORDS)``: State of the block in place *k*; no data is copied.

*rows*, *predicates*, *participants*: elements of R, P and PARTICIPANTS for each place.  *WORDS*: what :data:`lay_out`
has written: to make each State anew for every instruction took a tenth of the time.
"""
lay_out = jit_part(_nothing_kept if config.BOUNDSCHECK else _keep, plain=_nothing_kept)
"""``lay_out(s, first, end, rows, predicates, participants, WORDS)``: get the places *first* to *end* - 1 ready.

*WORDS*: int64[places * words(state)].  It is good as long as the arrays of the State are there.
"""


def words(state: State) -> int:
    """So many words :data:`lay_out` writes for a place."""
    return record_words(state)


def equip(state: State, native: Native, places: range, *sizes: int, like: State | None = None) -> State:
    """A State in which the blocks in some places go on with native code; *sizes* are those of :data:`block_at`.

    *like*: one that has been equipped, for other places and another thread; else both have what native code needs
    together.
    """
    if like is None:
        state = native.entered(state, len(state.LAUNCH) // L.N_LAUNCH)
    else:
        shapes = L.own_lines(len(like.SHAPES))
        state = state._replace(CODE=like.CODE, NATIVE=like.NATIVE, ZEROED=like.ZEROED, SHAPES=shapes)
    known = sorted({places[0], places[len(places) // 2], places[-1]})
    for k in known:
        native.tell(plain(block_at)(state, k, *sizes, state.WORDS))
    rows = state.NATIVE.reshape(len(state.LAUNCH) // L.N_LAUNCH, -1)
    for first, last in pairwise(known):  # the arrays of a block are as far from those of the next one as these are
        steps = np.arange(last - first)[:, None]
        rows[first:last] = rows[first] + (rows[last] - rows[first]) // (last - first) * steps
    return state


def count(state: State, native: Native) -> None:
    """Bring what native code counted into :func:`counters`, of all States that were equipped together."""
    native.count(state, len(state.LAUNCH) // L.N_LAUNCH)


@jit_part
def begin(block, sm, first_warp, s):
    """Start block *block* in the place of *s*: on SM *sm*, whose warps before it are *first_warp*."""
    start_block(block, s)
    s.LAUNCH[L.LAUNCH_SM] = sm
    s.LAUNCH[L.LAUNCH_TICK] = 0
    s.LAUNCH[L.LAUNCH_FIRST_WARP] = first_warp


@jit_part
def set_clock(now, s):
    """The cycle that a kernel reads as ``clock``."""
    s.LAUNCH[L.LAUNCH_CLOCK] = now


@jit_part
def _following(w, s):
    """The micro-op at which the current split of warp *w* goes on."""
    return s.SPLITS[current(s.WARPS, w) + L.S_PC]


@jit_part
def step(w, limit, streak, s):
    """Run warp *w* for at most *limit* micro-ops: (status, the micro-op that follows, streak).

    Status: DONE, BLOCKED, PAUSED (more follows), CALLED (the host is to serve a call) or FAILED; the micro-op is -1
    unless PAUSED.  *streak* counts the warp's micro-ops since it last waited: after a turn of them, and at the end of a
    round of a loop, its splits take turns, as in the engine.
    """
    begun = s.LAUNCH[L.LAUNCH_STEPS]
    following = np.int64(-1)
    status = _advance(w, min(limit, max(QUANTUM - streak, 1)), s)
    streak += s.LAUNCH[L.LAUNCH_STEPS] - begun
    if status == PAUSED:
        following = _following(w, s)
        if streak >= QUANTUM and may_go_round(s.CODE, following):
            streak = np.int64(0)
            if s.LAUNCH[L.LAUNCH_ORDER] <= L.PROFILER:
                choose(s.SPLITS, s.WARPS, w, L.INTERLEAVED)
                following = _following(w, s)
    return status, following, streak


@jit_part
def leap(code, w, limit, s):
    """Begin :func:`step` with the native code of a run of *limit* micro-ops, which stands at *code*.

    (The micro-ops that it has executed, 0 if it may not, and the micro-op that follows.)
    """
    LAUNCH = s.LAUNCH
    WARPS = s.WARPS
    warp = w * L.N_WARP
    split = current(WARPS, w)
    is_first = WARPS[warp + L.W_USED] == 0 and WARPS[warp + L.W_RELEASED] == 0
    is_ready = WARPS[warp + L.W_SPLITS] != 0 and s.SPLITS[split + L.S_STATE] == READY
    if not (is_first and is_ready and LAUNCH[L.LAUNCH_LEFT] >= limit) or is_over(LAUNCH, limit, limit):
        return np.int64(0), np.int64(0)
    _, active, _ = resume(s.SPLITS, WARPS, w)
    following, executed, retired = run_stretch(code, w, active, s)
    s.SPLITS[split + L.S_PC] = following
    account(WARPS, LAUNCH, w, executed, retired, PAUSED)
    return executed, following


@jit_part
def wake(w, s):
    """Make a ready split of warp *w* the current one; the micro-op at which it goes on, -1 if none is ready."""
    following = np.int64(-1)
    if choose(s.SPLITS, s.WARPS, w, s.LAUNCH[L.LAUNCH_ORDER]):
        following = _following(w, s)
    return following


@jit_part
def requests(pc, s):
    """Requests to memory that micro-op *pc* has made so far."""
    return s.COUNTS[np.uint64(pc * L.N_COUNT) + L.N_REQUESTS]


@jit_part
def partings(pc, s):
    """Into how many further places micro-op *pc* has sent lanes of a warp so far."""
    return s.COUNTS[np.uint64(pc * L.N_COUNT) + L.N_DIVERGENT]


class Request(NamedTuple):
    """The last request to memory: 32-byte sectors, bytes asked for, wavefronts; int64[32] addresses.

    Lanes that did not execute repeat the address of one that did.
    """

    sectors: Any
    bytes: Any
    wavefronts: Any
    addresses: Any


@jit_part
def forget(s):
    """Let the last request be for nothing, until there is another: no bytes, and no address of the first lane."""
    s.X[L.X_BYTES] = 0
    s.ADDRESSES[0] = -1


@jit_part
def request(s):
    """The last request to memory."""
    X = s.X
    return Request(X[L.X_SECTORS], X[L.X_BYTES], X[L.X_WAVEFRONTS], s.ADDRESSES)
