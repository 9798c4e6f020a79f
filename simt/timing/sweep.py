"""Block sizes side by side: which one the model predicts to be fastest, and why."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass

from simt.check import SimtError
from simt.metrics.stalls import WAITS, words_of
from simt.timing.result import TimingResult

BLOCKS = (32, 64, 128, 256, 512, 1024)


@dataclass(frozen=True)
class Sweep:
    """Results by block size, and why the sizes that have none could not run."""

    results: dict[int, TimingResult]
    refused: dict[int, str]

    @property
    def best(self) -> int:
        """The block size with the fewest cycles (the smaller one of equals)."""
        return min(self.results, key=lambda block: (self.results[block].cycles, block))

    def text(self) -> str:
        """A table, and a sentence about the best size."""
        lines = [f"{'block':>6} {'cycles':>12} {'occupancy':>10} {'ipc':>6}  dominant stall"]
        for block, result in self.results.items():
            m = result.metrics
            lines.append(
                f"{block:>6} {result.cycles:>12.0f} {m['achieved_occupancy']:>10.3f} {m['ipc']:>6.2f}  "
                f"{result.dominant_stall.replace('_', ' ')}"
            )
        lines += [f"{block:>6} {why}" for block, why in self.refused.items()]
        return "\n".join([*lines, self.reason()])

    def reason(self) -> str:
        """What sets the best size apart from the worst."""
        best = self.results[self.best]
        within = self._within_error()
        worst_size = max(self.results, key=lambda block: self.results[block].cycles)
        worst = self.results[worst_size]
        text = f"predicted best: {self.best} threads per block, {best.cycles:.0f} cycles ({best.expected_error})"
        if within:
            text += f"; within that error of it: {', '.join(map(str, within))}"
        if worst_size == self.best:
            return text
        spread = {
            name: _per_thread(worst, worst_size, name) - _per_thread(best, self.best, name)
            for name in best.stall_reasons
            if name in WAITS
        }
        name = words_of(max(spread, key=lambda key: spread[key]))
        return (
            f"{text}; {worst_size} takes {worst.cycles / best.cycles:.2f} times as long: its threads wait most of the "
            f"additional time for {name} (occupancy {worst.metrics['achieved_occupancy']:.2f} against "
            f"{best.metrics['achieved_occupancy']:.2f}, limited by {', '.join(worst.occupancy.limited_by)})"
        )

    def _within_error(self) -> list[int]:
        """Other block sizes that the model cannot tell from the best: their times differ by less than its error."""
        off = self.results[self.best].expected_error.total
        if off is None:
            return []
        limit = self.results[self.best].cycles * (1 + off / 100)
        return [block for block, found in self.results.items() if block != self.best and found.cycles <= limit]


class NoSizeRanError(ValueError):
    """No block size could run; ``errors``: why, by block size."""

    def __init__(self, errors: Mapping[int, SimtError]) -> None:
        super().__init__("no block size could run: " + "; ".join(map(_first_line, errors.values())))
        self.errors = errors


def _first_line(error: SimtError) -> str:
    return str(error).splitlines()[0]


def _per_thread(result: TimingResult, block: int, reason: str) -> float:
    """Warp-cycles per thread of the grid that were spent waiting for *reason*."""
    return result.stall_reasons[reason] * result.totals["issued"] / result.blocks / block


def sweep(run: Callable[[int], TimingResult], blocks: Iterable[int] = BLOCKS) -> Sweep:
    """Call *run* with each block size; sizes that the kernel or the device does not allow are noted, not raised.

    Raises NoSizeRanError if that leaves none.
    """
    results: dict[int, TimingResult] = {}
    errors: dict[int, SimtError] = {}
    for block in blocks:
        try:
            results[block] = run(block)
        except SimtError as error:
            errors[block] = error
    if not results:
        raise NoSizeRanError(errors)
    return Sweep(results, {block: _first_line(error) for block, error in errors.items()})
