"""An issue slot: what it is counted as, what the warp has waited for until then, and when the next one may be."""

from __future__ import annotations

from simt.timing import layout as L
from simt.timing.codes import BRANCHING, NOT_SELECTED, SELECTED, STALLED_BARRIER, WAIT
from simt.timing.jit import jit, jit_inline, jit_rare
from simt.timing.pipes import pay


@jit
def _account(wi, now, WARPS, READY, PASSED, THROTTLE, STALLS):
    """Attribute the cycles since the last issue of a warp to their reasons, at the instruction that waited."""
    row = wi * L.N_WARP
    member = WARPS[row + L.W_MEMBER]
    at = WARPS[row + L.W_PC] * L.N_REASONS
    since = WARPS[row + L.W_LAST] + 1
    if WARPS[row + L.W_REASON] == STALLED_BARRIER:
        # On an H200 the barrier counts while it is closed, not the stall counts that elapse meanwhile.
        opened = min(max(WARPS[row + L.W_HOLD], since), now)
        STALLS[at + STALLED_BARRIER] += opened - since
        since = opened
    fixed = min(max(WARPS[row + L.W_FIXED], since), now)
    resolved = min(max(WARPS[row + L.W_RESOLVED], fixed), now)
    ready = min(max(READY[member], resolved), now)
    passed = min(PASSED[member], now - ready)
    STALLS[at + WAIT] += fixed - since
    STALLS[at + BRANCHING] += resolved - fixed
    STALLS[at + WARPS[row + L.W_REASON]] += ready - resolved
    STALLS[at + NOT_SELECTED] += passed
    STALLS[at + THROTTLE[member]] += now - ready - passed
    STALLS[at + SELECTED] += 1


@jit_rare
def _record(wi, q, now, CONFIG, WARPS, READY, SLOTS, TOTALS, EVENTS):
    """Note an issue for the timeline."""
    row = wi * L.N_WARP
    at = TOTALS[L.N_EVENTS] * L.N_EVENT
    TOTALS[L.N_EVENTS] += 1
    EVENTS[at + L.E_SM] = q // CONFIG[L.G_SCHEDULERS]
    EVENTS[at + L.E_SCHEDULER] = q % CONFIG[L.G_SCHEDULERS]
    EVENTS[at + L.E_WARP] = WARPS[row + L.W_INDEX]
    EVENTS[at + L.E_NUMBER] = wi
    EVENTS[at + L.E_BLOCK] = SLOTS[WARPS[row + L.W_PLACE] * L.N_SLOT + L.S_BLOCK]
    EVENTS[at + L.E_PC] = WARPS[row + L.W_PC]
    EVENTS[at + L.E_SINCE] = WARPS[row + L.W_LAST] + 1
    EVENTS[at + L.E_FIXED] = WARPS[row + L.W_FIXED]
    EVENTS[at + L.E_RESOLVED] = WARPS[row + L.W_RESOLVED]
    EVENTS[at + L.E_READY] = READY[WARPS[row + L.W_MEMBER]]
    EVENTS[at + L.E_REASON] = WARPS[row + L.W_REASON]
    EVENTS[at + L.E_CYCLE] = now


@jit_inline
def note_issue(q, wi, now, t):
    """Count an issue; whether registers that the warp's instructions before it marked for reuse are at hand."""
    CONFIG = t.CONFIG
    SCHEDULERS = t.SCHEDULERS
    at = q * L.N_SCHEDULER
    row = wi * L.N_WARP
    _account(wi, now, t.WARPS, t.READY, t.PASSED, t.THROTTLE, t.STALLS)
    if CONFIG[L.G_FROM] <= now < CONFIG[L.G_TO]:
        _record(wi, q, now, CONFIG, t.WARPS, t.READY, t.SLOTS, t.TOTALS, t.EVENTS)
    t.TOTALS[L.N_ISSUED] += 1
    member = t.WARPS[row + L.W_MEMBER]
    if SCHEDULERS[at + L.Q_LAST] != member:
        SCHEDULERS[at + L.Q_LAST] = member
        SCHEDULERS[at + L.Q_STREAK] = 0
    kept = SCHEDULERS[at + L.Q_STREAK] >= t.OPS[t.WARPS[row + L.W_PC] * L.N_OP + L.O_KEPT]
    SCHEDULERS[at + L.Q_STREAK] += 1
    pay(q, now, SCHEDULERS)
    return kept


@jit_inline
def end_of_issue(q, settled, own, SCHEDULERS):
    """Note when to look at a scheduler again that has issued; *own*: when the warp may go on.

    *settled*: how long the others wait did not change.
    """
    at = q * L.N_SCHEDULER
    SCHEDULERS[at + L.Q_FLOOR] = SCHEDULERS[at + L.Q_NEXT]
    if settled:
        soonest = min(own, SCHEDULERS[at + L.Q_OTHERS])
        SCHEDULERS[at + L.Q_NEXT] = max(SCHEDULERS[at + L.Q_NEXT], soonest)
