"""One launch under many schedules: whether its results depend on which warp runs when."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from simt.calls.arrays import DeviceArray
from simt.calls.session import Session, session
from simt.check import BudgetError, KernelError, LaunchError
from simt.machine.schedule import ADVERSARIAL, FAIR, RANDOM, ROUND_ROBIN
from simt.testing.first_difference import first_difference
from simt.testing.snippet import number
from simt.text import counted

PREEMPTIONS = 2
"""Most bugs of concurrent programs need no more (Musuvathi and Qadeer, "Iterative Context Bounding for Systematic
Testing of Multithreaded Programs", PLDI 2007)."""

PLAIN_BUDGET = 1 << 22
"""Warp instructions of a block that a launch without a schedule may execute: seconds."""
STEP_BUDGET, TURN_BUDGET = FAIR, 4 * FAIR
"""The same under a schedule that lets each warp do one step, and under others, in which a warp that spins has turns of
FAIR micro-ops; and four times what the launch executed without a schedule."""


@dataclass(frozen=True)
class Outcome:
    """What a launch came to under some schedules, of which the first named preempts least.

    ``schedules``: by name, None for a launch without one.  ``preemptions``: of the first.  ``result``: what the
    function returned; None, and no preemptions, if a launch ended with ``error``.
    """

    schedules: tuple[str | None, ...]
    preemptions: int | None
    result: object = None
    error: KernelError | None = None


@dataclass(frozen=True)
class Exploration:
    """What :func:`explore` found: the outcomes, that of the launch without a schedule first.

    ``difference`` says in words where that one and ``shortest`` part: the first instruction of a thread that got
    another value, or went another way.
    """

    outcomes: tuple[Outcome, ...]
    difference: str = ""

    @property
    def differs(self) -> bool:
        """Whether there is more than one outcome."""
        return len(self.outcomes) > 1

    @property
    def shortest(self) -> Outcome | None:
        """Of the other outcomes the one whose schedule preempts least; None if there is no other."""
        return min(self.outcomes[1:], key=_length, default=None)

    def __str__(self) -> str:
        tried = sum(len(each.schedules) for each in self.outcomes)
        shortest = self.shortest
        if shortest is None:
            return f"the same result under {tried} schedules"
        lines = [f"{len(self.outcomes)} different results under {tried} schedules"]
        for each in self.outcomes:
            name = "without a schedule" if each.schedules[0] is None else f"schedule={each.schedules[0]!r}"
            lines.append(f"  {len(each.schedules)} times, first {name}: {_told(each)}")
        count = shortest.preemptions
        many = "" if count is None else f" ({counted(count, 'preemption')})"
        lines.append(f"the shortest: schedule={shortest.schedules[0]!r}{many}")
        if self.difference:
            lines.append(f"first difference: {self.difference}")
        return "\n".join(lines)


def explore(launch: Callable[[], object], schedules: int = 100, *, preemptions: int = PREEMPTIONS) -> Exploration:
    """Run *launch* under many schedules and compare what it returns.

    Parameters:
        launch: a function that makes its arrays, launches, and returns what must be the same each time: an array, or
            a tuple of arrays and numbers.  All its launches that name no ``order`` or ``schedule`` run under the one
            that is tried.
        schedules: how many are tried: none, ``round_robin``, ``adversarial``, and random ones.
        preemptions: a random schedule lets another warp run so often at most, where one could go on; every third any
            number of times.

    A kernel that fails under some schedules only, with a finding or in an endless loop (BudgetError), is another
    outcome.  Where the least number of preemptions that shows a difference is above *preemptions*, half as many
    schedules again look for one with fewer.

    Raises LaunchError for fewer than 2 schedules, and where *launch* returns or launches nothing; and the error of a
    kernel that fails under all of them.  One that ends under none of the first three is not tried under more.
    """
    if not isinstance(schedules, int) or not isinstance(preemptions, int):
        raise LaunchError(f"schedules={schedules!r} and preemptions={preemptions!r} must be whole numbers")
    if schedules < 2:
        raise LaunchError(f"{schedules} schedules have nothing to compare", help="explore(launch, schedules=100)")
    if preemptions < 0:
        raise LaunchError(f"preemptions is {preemptions}; it must not be negative")
    search = _Search(launch)
    for count, name in enumerate(names(schedules, preemptions), 1):
        search.run(name)
        if count >= _USUAL and search.ends_never:
            break
    if len(search.found) == 1 and (error := search.found[0].error) is not None:
        raise error
    explored = Exploration(tuple(search.found))
    if explored.shortest is not None and preemptions < _length(explored.shortest) < float("inf"):
        search.shorten(range(schedules, schedules + schedules // 2))
        explored = Exploration(tuple(search.found))
    shortest = explored.shortest
    if shortest is None:
        return explored
    return Exploration(explored.outcomes, first_difference(launch, shortest.schedules[0]))


class _Search:
    """Runs a launch under one schedule after the other and sorts what comes of it."""

    def __init__(self, launch: Callable[[], object]) -> None:
        self.found: list[Outcome] = []
        self._launch = launch
        self._needed = 0

    @property
    def ends_never(self) -> bool:
        """Whether no run has come to an end."""
        return all(isinstance(each.error, BudgetError) for each in self.found)

    def run(self, name: str | None) -> Outcome:
        """Run it under a schedule; what came of that."""
        budget = PLAIN_BUDGET if name is None else STEP_BUDGET if name == ROUND_ROBIN else TURN_BUDGET
        new, instructions = _run(self._launch, name, budget + 4 * self._needed)
        if not self.found:
            self._needed = instructions
        same = next((k for k, each in enumerate(self.found) if _key(each) == _key(new)), None)
        if same is None:
            self.found.append(new)
        else:
            old = self.found[same]
            first, second = (new, old) if same and _length(new) < _length(old) else (old, new)
            self.found[same] = Outcome(first.schedules + second.schedules, first.preemptions, first.result, first.error)
        return new

    def shorten(self, seeds: Iterable[int]) -> None:
        """Look for a schedule with fewer preemptions that shows a difference: half as many, else three quarters, ..."""
        least = min(map(_length, self.found[1:]))
        bound = least // 2
        for seed in seeds:
            if bound >= least:
                return
            new = self.run(f"{RANDOM}:{seed}:{int(bound)}")
            if _key(new) != _key(self.found[0]) and _length(new) < least:
                least = _length(new)
                bound = least // 2
            else:
                bound += max(1, (least - bound) // 2)


def names(count: int, preemptions: int = PREEMPTIONS) -> Sequence[str | None]:
    """The schedules to try, the plainest first."""
    usual: list[str | None] = [None, ROUND_ROBIN, ADVERSARIAL]
    assert len(usual) == _USUAL
    seeds = range(max(0, count - len(usual)))
    bounds = [f":{bound}" for bound in range(preemptions + 1)] + [""]
    return [*usual, *(f"{RANDOM}:{seed}{bounds[seed % len(bounds)]}" for seed in seeds)][:count]


_USUAL = 3
"""Schedules that are tried before random ones."""


def _run(launch: Callable[[], object], schedule: str | None, budget: int) -> tuple[Outcome, int]:
    """What came of a run, and the warp instructions that it executed."""
    with session(Session(schedule=schedule, max_instructions=budget)) as running:
        try:
            result = launch()
        except LaunchError:
            raise
        except KernelError as error:
            return Outcome((schedule,), None, error=error), 0
    if result is None or running.profile is None:
        what = "launches nothing" if running.profile is None else "returns nothing to compare"
        raise LaunchError(
            f"the function {what}", help="make the arrays, launch, and return the arrays: explore(function)"
        )
    copied = tuple(np.array(_plain(each)) for each in _parts(result))
    outcome = Outcome((schedule,), running.preemptions, copied if isinstance(result, tuple) else copied[0])
    return outcome, sum(each.instructions for each in running.kernels.values())


def _parts(result: object) -> tuple[object, ...]:
    return result if isinstance(result, tuple) else (result,)


def _plain(value: object) -> Any:
    return value.numpy() if isinstance(value, DeviceArray) else value


def _key(outcome: Outcome) -> object:
    """What tells outcomes apart: the bits of the results, or the error and its line."""
    if outcome.error is not None:
        where = outcome.error.location
        return type(outcome.error), where.number if where is not None else ""
    arrays = [np.asarray(each) for each in _parts(outcome.result)]
    return tuple((str(each.dtype), each.shape, each.tobytes()) for each in arrays)


def _length(outcome: Outcome) -> float:
    return float("inf") if outcome.preemptions is None else outcome.preemptions


def _told(outcome: Outcome) -> str:
    if outcome.error is not None:
        return f"{type(outcome.error).__name__}: {outcome.error.title}"
    texts = []
    for part in _parts(outcome.result):
        array = np.asarray(part)
        few = [number(value) for value in array.reshape(-1)[:8]]
        texts.append(f"[{', '.join(few)}{', …' * (array.size > len(few))}]" if array.ndim else number(array[()]))
    return ", ".join(texts)
