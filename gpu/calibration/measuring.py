"""Figures on the GPU: each several times, with its spread and the SM's clock."""

from __future__ import annotations

import os
import shutil
import subprocess
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any, Protocol

import numpy as np
import numpy.typing as npt

from gpu.calibration.figures import MIB, Figure, words
from simt.check import SimtError

REPEATS = 9
ATTEMPTS = 3
STEADY_CLOCK = 0.01
"""Largest change of the clock during the repeats of a figure, as a share."""
STEADY = 0.05
"""Largest spread of a figure, as a share: beyond it something else uses the GPU."""


class Target(Protocol):
    """Where kernels run: :class:`gpu.calibration.native.Native`, or what stands in for it."""

    def array(self, values: npt.NDArray[Any]) -> Any:
        """A device array with these values; ``read()`` gives them back."""

    def launch(self, kernel: str, blocks: int, threads: int, args: Sequence[Any]) -> None:
        """Run a kernel to its end."""

    def profiled(self, kernel: str, blocks: int, threads: int, times: int) -> list[float]:
        """Cycles of so many launches of a kernel without arguments, as Nsight Compute counts them.

        Raises SimtError where it cannot, or may not.
        """


@dataclass(frozen=True)
class Measured:
    """A figure in SM clock cycles: the median of its repeats, and half of what the middle half of them spans.

    ``mhz``: the clock meanwhile.  ``problem``: why it is not to be relied on, or nothing.
    """

    figure: Figure
    cycles: float
    spread: float
    mhz: float
    problem: str = ""


def measure(target: Target, figures: Sequence[Figure], progress: Callable[[str], None]) -> Iterator[Measured]:
    """Measure all figures; one that the GPU refuses has a problem instead of a value."""
    flush, clock = _Flush(target), _Clock(target)
    for figure in figures:
        progress(figure.name)
        try:
            yield _steady(target, figure, flush, clock)
        except SimtError as error:
            yield Measured(figure, float("nan"), float("nan"), float("nan"), error.title)


def _steady(target: Target, figure: Figure, flush: _Flush, clock: _Clock) -> Measured:
    """The figure, measured anew while the clock moves or the times do."""
    once = _profiled if figure.profiled else _once
    found = once(target, figure, flush, clock)
    for _ in range(ATTEMPTS - 1):
        if not found.problem:
            break
        found = once(target, figure, flush, clock)
    return found


class _Flush:
    """Empties L2 by reading so much else."""

    def __init__(self, target: Target) -> None:
        self._target = target
        self._args = [target.array(words(64 * MIB)), np.uint32(16 * MIB), target.array(words(1 << 18))]
        self._times = target.array(np.zeros(4 << 10, np.int64))

    def __call__(self) -> None:
        self._target.launch("stream_read", 1 << 10, 1 << 8, [*self._args, self._times])


class _Clock:
    """The SM's clock, by a chain of arithmetic that takes milliseconds."""

    def __init__(self, target: Target) -> None:
        self._target = target
        self._args = [np.float32(1.5), np.uint32(1 << 20), target.array(words(32))]
        self._times = target.array(np.zeros(4, np.int64))

    def mhz(self) -> float:
        """At the moment."""
        self._target.launch("chain_fma", 1, 32, [*self._args, self._times])
        begin, end, since, until = self._times.read().tolist()
        return float(1e3 * (end - begin) / max(until - since, 1))


def _once(target: Target, figure: Figure, flush: _Flush, clock: _Clock) -> Measured:
    arrays = [[target.array(a) if isinstance(a, np.ndarray) else a for a in figure.arguments(n)] for n in figure.steps]
    per_step, clocks = [], []
    for repeat in range(REPEATS + 1):
        tables = []
        for steps, args in zip(figure.steps, arrays, strict=True):
            if figure.cold:
                flush()
            target.launch(figure.kernel, figure.blocks_of(steps), figure.threads, args)
            tables.append(args[-1].read().reshape(-1, 4))
        if repeat:  # the first one warms up
            clocks.append(clock.mhz())
            per_step.append(figure.per_step([_cycles(figure, table, clocks[-1]) for table in tables]))
    return _judged(figure, per_step, clocks)


def _profiled(target: Target, figure: Figure, _: _Flush, clock: _Clock) -> Measured:
    """The figure as Nsight Compute counts it.  Clocks are those before and after: it has the GPU meanwhile."""
    clocks = [clock.mhz()]
    cycles = target.profiled(figure.kernel, figure.blocks, figure.threads, REPEATS)
    return _judged(figure, cycles, [*clocks, clock.mhz()])


def _judged(figure: Figure, per_step: Sequence[float], clocks: Sequence[float]) -> Measured:
    """The repeats of a figure, and what is wrong with them."""
    low, cycles, high = (float(q) for q in np.quantile(per_step, (0.25, 0.5, 0.75)))
    spread, mhz = (high - low) / 2, float(np.median(clocks))
    problem = ""
    if max(clocks) - min(clocks) > STEADY_CLOCK * mhz:
        problem = f"the clock moved between {min(clocks):.0f} and {max(clocks):.0f} MHz"
    elif cycles <= 0 or spread > STEADY * cycles:
        problem = f"the times differ by {100 * spread / abs(cycles):.0f} %: is the GPU busy?"
    return Measured(figure, cycles, spread, mhz, problem)


def _cycles(figure: Figure, times: npt.NDArray[np.int64], mhz: float) -> float:
    """Cycles of a launch whose blocks noted *times*: int64 [blocks, 4], clock and nanoseconds at the start and the end.

    Blocks that are all there from the start tell the mean of their SMs' clocks, which SMs do not share.  Where blocks
    follow each other the nanoseconds tell, which they do.
    """
    if figure.per_block:
        return float(times[:, 3].max() - times[:, 2].min()) * mhz / 1e3
    return float((times[:, 1] - times[:, 0]).mean())


def other_processes(place: str) -> str:
    """What else uses the GPU at this place on the PCI bus, as nvidia-smi says; nothing if it says nothing, or is not

    there.  In a container numbers of processes are not the host's: a lone process is taken to be this one.
    """
    program = shutil.which("nvidia-smi")
    if program is None:
        return ""
    command = [program, f"--id={place}", "--query-compute-apps=pid,name", "--format=csv,noheader"]
    said = subprocess.run(command, capture_output=True, text=True, check=False)
    found = said.stdout.strip().splitlines() if said.returncode == 0 else []
    others = [line for line in found if line.split(",")[0].strip() != str(os.getpid())]
    return "; ".join(others) if len(others) < len(found) or len(others) > 1 else ""
