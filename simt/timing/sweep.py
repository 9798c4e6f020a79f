"""Launches side by side that differ in their block size or something else: which is predicted best, and why."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterable, Mapping
from dataclasses import dataclass
from typing import Generic, TypeVar

from simt.check import SimtError
from simt.metrics.stalls import WAITS, words_of
from simt.text import number_text
from simt.timing.result import TimingResult

BLOCKS = (32, 64, 128, 256, 512, 1024)

Choice = TypeVar("Choice", bound=Hashable)
"""What is tried: a block size, or anything else whose text says what it is."""

NAMED = 4
"""Choices that a sentence names at most."""


@dataclass(frozen=True)
class Sweep(Generic[Choice]):
    """Results by choice, and why the choices that have none could not run."""

    results: dict[Choice, TimingResult]
    refused: dict[Choice, str]

    @property
    def ranked(self) -> list[Choice]:
        """The choices that ran, the fastest first (the one tried first of equals)."""
        return sorted(self.results, key=lambda choice: self.results[choice].seconds)

    @property
    def best(self) -> Choice:
        """The choice with the shortest time."""
        return self.ranked[0]

    def margin(self, choice: Choice) -> float:
        """By how many percent of the best time the choice takes longer."""
        return 100 * (self.results[choice].seconds / self.results[self.best].seconds - 1)

    @property
    def within_error(self) -> list[Choice]:
        """Choices that the model cannot tell from the best: their times differ by less than its expected error."""
        off = self.results[self.best].expected_error.total
        return [] if off is None else [choice for choice in self.ranked[1:] if self.margin(choice) <= off]

    def text(self) -> str:
        """A table, and a sentence about the best choice."""
        names = {choice: str(choice) for choice in (*self.results, *self.refused)}
        width = max(6, *map(len, names.values()))
        lines = [f"{'block':>{width}} {'cycles':>12} {'occupancy':>10} {'ipc':>6}  dominant stall"]
        for choice, result in self.results.items():
            m = result.metrics
            lines.append(
                f"{names[choice]:>{width}} {result.cycles:>12.0f} {m['achieved_occupancy']:>10.3f} {m['ipc']:>6.2f}  "
                f"{result.dominant_stall.replace('_', ' ')}"
            )
        lines += [f"{names[choice]:>{width}} {why}" for choice, why in self.refused.items()]
        return "\n".join([*lines, self.reason()])

    def reason(self) -> str:
        """How sure the best choice is, and what sets it apart from the worst."""
        best = self.results[self.best]
        text = (
            f"predicted best: {_words(self.best)}, {best.cycles:.0f} cycles, {number_text(1e6 * best.seconds)} us "
            f"({best.expected_error})"
        )
        worst_of_all = self.ranked[-1]
        if worst_of_all == self.best:
            return text
        text += f"; {self._margin_text()}"
        worst = self.results[worst_of_all]
        spread = {name: _waited(worst, name) - _waited(best, name) for name in best.stall_reasons if name in WAITS}
        name = words_of(max(spread, key=lambda key: spread[key]))
        return (
            f"{text}; {worst_of_all} takes {worst.seconds / best.seconds:.2f} times as long: its warps wait most of "
            f"the additional time for {name} (occupancy {worst.metrics['achieved_occupancy']:.2f} against "
            f"{best.metrics['achieved_occupancy']:.2f}, limited by {', '.join(worst.occupancy.limited_by)})"
        )

    def _margin_text(self) -> str:
        """The next best, how much slower it is, and whether the expected error allows to say so."""
        second, within = self.ranked[1], self.within_error
        text = f"next is {second}, {self.margin(second):.1f} % slower"
        if self.results[self.best].expected_error.total is None:
            return text
        if not within:
            return f"{text}, more than that error"
        others = [str(choice) for choice in within[1:]]
        more = [f"{len(others) - NAMED} more"] if len(others) > NAMED else []
        return f"{text}, within that error{' as are ' if others else ''}{'; '.join([*others[:NAMED], *more])}"


class NoSizeRanError(ValueError):
    """Nothing that was tried could run; ``errors``: why, by choice."""

    def __init__(self, errors: Mapping[Hashable, SimtError]) -> None:
        super().__init__("no launch of the sweep could run: " + "; ".join(map(_first_line, errors.values())))
        self.errors = errors


def _words(choice: Hashable) -> str:
    return f"{choice} threads per block" if isinstance(choice, int) else str(choice)


def _first_line(error: SimtError) -> str:
    return str(error).splitlines()[0]


def _waited(result: TimingResult, reason: str) -> float:
    """Seconds of the launch that its warps, on average, spent waiting for *reason*."""
    return result.seconds * result.stall_reasons[reason] / (sum(result.stall_reasons.values()) or 1.0)


def sweep(
    run: Callable[[Choice], TimingResult],
    choices: Iterable[Choice] = BLOCKS,  # type: ignore[assignment]  # mypy: a default cannot say what Choice is
) -> Sweep[Choice]:
    """Call *run* with each choice (a block size); those that the kernel or the device does not allow are noted.

    Raises NoSizeRanError if that leaves none.
    """
    results: dict[Choice, TimingResult] = {}
    errors: dict[Hashable, SimtError] = {}
    refused: dict[Choice, str] = {}
    for choice in choices:
        try:
            results[choice] = run(choice)
        except SimtError as error:
            errors[choice], refused[choice] = error, _first_line(error)
    if not results:
        raise NoSizeRanError(errors)
    return Sweep(results, refused)
