"""How counters divide by cause: identities that hold for every line and every launch."""

from __future__ import annotations

from collections.abc import Mapping
from fractions import Fraction

from simt.metrics.formula import Number
from simt.metrics.linear import Linear
from simt.metrics.stalls import STATES
from simt.program import WARP_SIZE

STALLED = "stalled_"
"""Before the name of a stall reason: the warp-cycles of a line that the timing model gives to it."""

TRAFFIC = tuple(
    (f"{space}_{direction}", unit, width)
    for space, unit, width, directions in (
        ("global", "sectors", 32, ("load", "store", "atomic")),
        ("local", "sectors", 32, ("load", "store")),
        ("shared", "wavefronts", 128, ("load", "store", "atomic", "copy")),
    )
    for direction in directions
)
"""Accesses: prefix of their counters, what moves their bytes, and how many bytes one moves."""

_EXPLAINED_IDLE = ("idle_no_thread", "idle_exited", "idle_other_path")
_IDLE = (*_EXPLAINED_IDLE, "idle_inactive")


def derived(counters: Mapping[str, Number]) -> dict[str, int]:
    """Counts that complete others to a sum, so that every cause has a counter of its own.

    ``idle_inactive``: lane-slots that were not active, of profiles that do not say why (the hardware's);
    ``idle_replayed``: those of replays.
    ``*_excess``: sectors or wavefronts beyond the least possible; ``*_unused``: bytes that the least possible moves
    without having been asked for; ``*_spare``: likewise, where each byte of a request counts once; ``*_reused``: bytes
    that more lanes asked for than it moves; ``*_undivided``: sectors or wavefronts of a profile that does not know the
    least possible.
    """
    found = {}
    executed, threads, *idle = (
        int(counters.get(name, 0)) for name in ("inst_executed", "thread_inst_executed", *_EXPLAINED_IDLE)
    )
    found["idle_inactive"] = WARP_SIZE * executed - threads - sum(idle)
    found["idle_replayed"] = WARP_SIZE * int(counters.get("replays", 0)) - int(counters.get("replay_threads", 0))
    for prefix, unit, width in TRAFFIC:
        moved, least, asked = (int(counters.get(f"{prefix}_{each}", 0)) for each in (unit, f"{unit}_ideal", "bytes"))
        if moved and not least:
            found[f"{prefix}_undivided"] = moved
        else:
            found[f"{prefix}_excess"] = moved - least
            found[f"{prefix}_unused"] = max(width * least - asked, 0)
            found[f"{prefix}_reused"] = max(asked - width * least, 0)
            found[f"{prefix}_spare"] = width * least - int(counters.get(f"{prefix}_bytes_distinct", asked))
    return {name: count for name, count in found.items() if count}


PARTS: Mapping[str, Linear] = {
    # A warp instruction has 32 lane-slots: those of active lanes, and those that idle for some reason.
    "inst_executed": dict.fromkeys(("thread_inst_executed", *_IDLE), Fraction(1, WARP_SIZE)),
    **{
        f"{prefix}_{unit}": {f"{prefix}_{part}": Fraction(1) for part in (f"{unit}_ideal", "excess", "undivided")}
        for prefix, unit, _ in TRAFFIC
    },
}
"""What a count is the sum of."""

LOSSES: Mapping[str, Linear] = {
    "pred_on_thread_inst_executed": {"thread_inst_executed": Fraction(1), "idle_predicated_off": Fraction(-1)},
    "thread_inst_executed": {"inst_executed": Fraction(WARP_SIZE), **dict.fromkeys(_IDLE, Fraction(-1))},
    "replay_threads": {"replays": Fraction(WARP_SIZE), "idle_replayed": Fraction(-1)},
    **{
        f"{prefix}_bytes": {
            f"{prefix}_{unit}": Fraction(width),
            f"{prefix}_excess": Fraction(-width),
            f"{prefix}_unused": Fraction(-1),
            f"{prefix}_reused": Fraction(1),
        }
        for prefix, unit, width in TRAFFIC
    },
    **{
        f"{prefix}_bytes_distinct": {
            f"{prefix}_{unit}": Fraction(width),
            f"{prefix}_excess": Fraction(-width),
            f"{prefix}_spare": Fraction(-1),
        }
        for prefix, unit, width in TRAFFIC
    },
}
"""What a count is less than the most that it could be."""

WORK, DIVERGENCE = "work", "divergence"
EXITED, PARTIAL, INACTIVE, PREDICATION = "exited lanes", "partial warps", "inactive lanes", "predication"
NEEDED, PATTERN, CONFLICTS = "needed", "access pattern", "bank conflicts"
UNUSED, BROADCAST = "unused bytes", "broadcast"
BRANCHES = "divergent branches"
REPLAYS = "replays"
COUNT = "count"

_NAMES = {
    "thread_inst_executed": WORK,
    "idle_other_path": DIVERGENCE,
    "idle_exited": EXITED,
    "idle_no_thread": PARTIAL,
    "idle_inactive": INACTIVE,
    "idle_predicated_off": PREDICATION,
    **dict.fromkeys(("replays", "replay_threads", "idle_replayed"), REPLAYS),
    "divergent_branches": BRANCHES,
    **{f"{prefix}_{unit}_ideal": NEEDED for prefix, unit, _ in TRAFFIC},
    **{f"{prefix}_excess": PATTERN if unit == "sectors" else CONFLICTS for prefix, unit, _ in TRAFFIC},
    **{f"{prefix}_{part}": UNUSED for prefix, _, _ in TRAFFIC for part in ("unused", "spare")},
    **{f"{prefix}_reused": BROADCAST for prefix, _, _ in TRAFFIC},
    **{STALLED + state.name: state.words for state in STATES.values()},
}


def cause_of(counter: str) -> str:
    """The cause that a counter counts; ``"count"`` for one that says no more than its name."""
    return _NAMES.get(counter, COUNT)


def expanded(sum_: Linear, table: Mapping[str, Linear]) -> dict[str, Fraction]:
    """The sum with what *table* has replaced, until nothing is left to replace."""
    found = dict(sum_)
    while name := next((each for each in found if each in table), None):
        factor = found.pop(name)
        for part, times in table[name].items():
            found[part] = found.get(part, Fraction(0)) + factor * times
    return {name: factor for name, factor in found.items() if factor}
