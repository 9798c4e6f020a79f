"""Which warp a scheduler issues from: what the packed keys and gates come to is what the policies say."""

from __future__ import annotations

from dataclasses import dataclass
from functools import reduce
from operator import or_
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from simt.metrics.stalls import Reason
from simt.ops.jit import plain
from simt.timing import layout as L
from simt.timing import pipes, ready, selection, waits
from simt.timing.classes import CLASSES, PIPES, TimingClass, Unit
from simt.timing.gates import GROUP, N_GATE, N_STANDING, asks
from simt.timing.parameters import PARAMETERS

NOW = 1000
QUEUES = (Unit.QUEUED, Unit.SHARED, Unit.GLOBAL, Unit.FENCE)
TIMES = st.sampled_from([NOW - 7, NOW - 1, NOW, NOW + 1, NOW + 2, NOW + 30])
NUMBERS = {"barrier_queue": 3, "mio_queue": 5, "lsu_kept": 2, "xu_queue": 6}
select, stand_in_line, occupy = plain(selection.select), plain(waits._stand_in_line), plain(pipes.occupy)


@dataclass
class Warp:
    """A warp, and the instruction that it goes on with."""

    ready: int
    asked: TimingClass
    loads: bool
    yields: bool
    age: int
    block_age: int


WARPS = st.builds(
    Warp,
    ready=st.one_of(TIMES, st.just(L.NEVER)),
    asked=st.sampled_from(CLASSES) | st.sampled_from([each for each in CLASSES if each.unit is Unit.GLOBAL]),
    loads=st.booleans(),
    yields=st.booleans(),
    age=st.integers(0, 1 << 20),
    block_age=st.integers(0, 3),
)


def clock(warps: list[Warp], policy: int, last: int, times: dict[str, int], occupied: list[tuple[int, int]]) -> Any:
    """The arrays of a scheduler whose pipes were occupied before: (pipe, interval)."""
    n = len(warps)
    room = -(-n // GROUP) * GROUP
    t = SimpleNamespace(
        CONFIG=np.zeros(L.N_CONFIG, np.int64),
        NUMBERS=np.array([NUMBERS.get(name, 0) for name in PARAMETERS], np.float64),
        SCHEDULERS=np.zeros(L.N_SCHEDULER, np.int64),
        SMS=np.zeros(L.N_SM, np.float64),
        TOTALS=np.zeros(L.N_TOTAL, np.int64),
        GATES=np.zeros(N_GATE + GROUP, np.int64),
        STANDING=np.zeros(room // GROUP * N_STANDING, np.int64),
        QUEUED=np.full(L.QUEUE_ROOM, L.NEVER),
        QUEUED_GLOBAL=np.full(L.QUEUE_ROOM, L.NEVER),
        WARPS=np.zeros((n, L.N_WARP), np.int64),
        OPS=np.zeros((n, L.N_OP), np.int64),
        MEMBERS=np.arange(n),
        READY=np.array([warp.ready for warp in warps] + [L.NEVER] * (room - n)),
        **{name: np.zeros(room, np.int64) for name in ("ASKS", "KEYS", "PASSED", "THROTTLE")},
    )
    t.CONFIG[L.G_MEMBERS] = room
    t.SCHEDULERS[[L.Q_LAST, L.Q_MIO_FREE]] = last, times["mio"]
    t.SMS[[L.M_LSU_FREE, L.M_BARRIER_FREE]] = times["lsu"] + 0.5, times["barrier"] + 0.5
    t.QUEUED[[-2, -1]] = times["begun"], times["last"]  # when the unit begins with the last two instructions
    t.QUEUED_GLOBAL[-selection.LG_KEPT] = times["global"]
    for pipe, interval in occupied:
        occupy(0, pipe, NOW - 1, 0, interval, t.NUMBERS, t.GATES)
    for k, warp in enumerate(warps):
        unit, pipe = warp.asked.unit, PIPES.index(warp.asked.pipe)
        t.OPS[k, L.O_ASKS + warp.yields] = asks(unit, pipe, warp.loads, policy, warp.yields)
        t.WARPS[k, [L.W_KEY, L.W_YIELDS]] = (
            (warp.age if policy == L.OLDEST else warp.block_age) << L.KEY_AGE,
            warp.yields,
        )
        t.WARPS[k, L.W_PC] = k
        t.WARPS[k, [L.W_GROUP, L.W_BIT]] = k // GROUP * N_STANDING, 1 << k % GROUP
    t.OPS, t.WARPS = t.OPS.reshape(-1), t.WARPS.reshape(-1)
    for k in range(n):
        stand_in_line(k, k * L.N_WARP, k * L.N_OP, t)
    return t


def gate(warp: Warp, times: dict[str, int], pipes_free: dict[str, int]) -> tuple[int, Reason]:
    """When the instruction of a warp may pass, and why it has to wait if that is later."""
    unit, pipe = warp.asked.unit, warp.asked.pipe
    if unit is Unit.FIXED:
        return pipes_free[pipe], Reason.MATH_PIPE_THROTTLE
    if unit is Unit.BARRIER:
        return times["barrier"] + 1 - NUMBERS["barrier_queue"], Reason.BARRIER
    if unit not in QUEUES:
        return 0, Reason.SELECTED
    if pipe != "lsu":
        return max(times["mio"], pipes_free[pipe] - NUMBERS["xu_queue"]), Reason.MIO_THROTTLE
    unit_free = min(max(times["lsu"] + 1, times["last"]) - NUMBERS["mio_queue"], times["begun"])
    full_of_others = unit_free > NOW >= times["global"]
    why = Reason.LG_THROTTLE if unit is Unit.GLOBAL and not full_of_others else Reason.MIO_THROTTLE
    return max(unit_free, times["mio"]), why


def rank(warp: Warp, k: int, last: int, n: int, policy: int) -> tuple[int, ...]:
    """The place of an eligible warp in the scheduler's order."""
    turn = (k - last - 1) % n
    if policy == L.OLDEST:
        return (k != last, warp.age, turn)
    loads_shared = warp.loads and warp.asked.unit is Unit.SHARED
    ahead = policy == L.AHEAD_UNTIL_YIELD and not warp.yields and not loads_shared
    if ahead:
        by_age = warp.asked.unit is Unit.BARRIER
    else:
        by_age = policy >= L.OLDEST_BLOCK and (warp.loads or warp.asked.unit is not Unit.GLOBAL)
    group = (0 if k == last else 1) if ahead else 2
    return (group, warp.block_age if by_age else 0, turn)


@settings(max_examples=400)
@given(
    st.lists(WARPS, min_size=1, max_size=70),
    st.integers(0, 3),
    st.fixed_dictionaries(dict.fromkeys(("mio", "lsu", "begun", "last", "global", "barrier"), TIMES)),
    st.lists(st.tuples(st.integers(0, len(PIPES) - 1), st.integers(1, 4)), max_size=6),
    st.data(),
)
def test_a_scheduler_takes_the_first_by_its_policy(
    warps: list[Warp], policy: int, times: dict[str, int], occupied: list[tuple[int, int]], data: st.DataObject
) -> None:
    n = len(warps)
    last = data.draw(st.integers(-1, n - 1))
    t = clock(warps, policy, last, times, occupied)
    pipes_free = dict(zip(PIPES, t.GATES.tolist(), strict=False))
    waiting = [k for k, warp in enumerate(warps) if warp.ready <= NOW]
    gates = {k: gate(warps[k], times, pipes_free) for k in waiting}
    eligible = [k for k in waiting if gates[k][0] <= NOW]
    best = min(eligible, key=lambda k: rank(warps[k], k, last, n, policy), default=selection.NONE)
    others = [warp.ready for warp in warps if warp.ready > NOW] + [gates[k][0] for k in waiting if k not in eligible]

    assert select(0, 0, NOW, True, t) == best
    assert t.SCHEDULERS[L.Q_NEXT] == (NOW + 1 if eligible else min(others))
    if eligible:
        assert t.SCHEDULERS[L.Q_OTHERS] == (NOW + 1 if len(waiting) > 1 else min(others, default=L.NEVER))
    assert t.TOTALS[L.N_ELIGIBLE] == len(eligible)
    refused = {k: gates[k][1] for k in waiting if k not in eligible}
    passed = [k for k in waiting if refused.get(k) != Reason.MATH_PIPE_THROTTLE and k != best]
    assert np.flatnonzero(t.PASSED[:n]).tolist() == (passed if len(eligible) > 1 else [])
    assert t.THROTTLE[:n].tolist() == [refused.get(k, 0) for k in range(n)]


@given(st.lists(TIMES, min_size=GROUP + 3, max_size=GROUP + 3), st.integers(0, 3), st.integers(0, (1 << GROUP) - 1))
def test_a_group_is_looked_at_at_once(times: list[int], first: int, bits: int) -> None:
    own = times[first:][:GROUP]
    chosen = [bits >> k & 1 for k in range(GROUP)]
    array = np.array(times)
    for function in (lambda each: each, plain):
        found = function(ready.no_later)(array, first, NOW)
        assert [found >> k & 1 for k in range(GROUP + 1)] == [time <= NOW for time in own] + [0]
        others = [time for time, is_chosen in zip(own, chosen, strict=True) if not is_chosen]
        assert function(ready.soonest)(array, first, bits) == min(others, default=L.NEVER)
        later = [time for time in own if time > NOW]
        assert function(ready.soonest)(array, first, found) == min(later, default=L.NEVER)
        either = [time for time, is_chosen in zip(own, chosen, strict=True) if is_chosen]
        assert function(ready.joined)(array, first, bits) == reduce(or_, either, 0)
        counted = array.copy()
        function(ready.count)(counted, first, bits)
        assert (counted - array).tolist() == [0] * first + chosen + [0] * (3 - first)


@given(
    st.lists(st.integers(0, 3), min_size=GROUP + 3, max_size=GROUP + 3),
    st.integers(0, 3),
    st.integers(1, (1 << GROUP) - 1),
    st.integers(-1, GROUP + 2),
)
def test_the_foremost_of_a_group(ages: list[int], first: int, bits: int, last: int) -> None:
    """The oldest, and of several the next one after the last, round the scheduler."""
    chosen = [first + k for k in range(GROUP) if bits >> k & 1]
    best = min(chosen, key=lambda k: (ages[k], k <= last, k))
    keys = np.array(ages) << L.KEY_AGE
    for function in (lambda each: each, plain):
        assert function(ready.foremost)(keys, first, bits, first - last - 1) == 1 << best - first


@given(st.lists(st.tuples(st.sampled_from(["fma", "fma_light", "fma_heavy", "fma_both", "alu"]), st.integers(0, 3))))
def test_gates_of_the_two_halves_of_fmas(entered: list[tuple[str, int]]) -> None:
    """Either half takes FMAs, and those of half precision need both."""
    gates = np.zeros(N_GATE, np.int64)
    now = 0
    for pipe, later in entered:
        now += later
        occupy(0, PIPES.index(pipe), now, 0, 2, np.zeros(len(PARAMETERS)), gates)
        light, heavy, either, both = (gates[PIPES.index(f"fma{half}")] for half in ("_light", "_heavy", "", "_both"))
        assert (either, both) == (min(light, heavy), max(light, heavy))


@pytest.mark.parametrize("pipe", ["xu", "redux"])
def test_the_queue_of_a_pipe_takes_the_next_before_the_pipe_does(pipe: str) -> None:
    gates = np.zeros(N_GATE, np.int64)
    numbers = np.array([NUMBERS.get(name, 0) for name in PARAMETERS], np.float64)
    occupy(0, PIPES.index(pipe), NOW, 0, 40, numbers, gates)
    assert gates[PIPES.index(pipe)] == NOW + 40
    assert gates[len(PIPES) + PIPES.index(pipe)] == NOW + 34
