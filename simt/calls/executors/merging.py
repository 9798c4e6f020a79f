"""What the parts of a launch left in device memory, put together; and the refusal of parts that met there."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import permutations

import numpy as np

from simt.calls.executors.reductions import merge
from simt.calls.executors.task import Outcome, held_in
from simt.calls.executors.touched import Runs, refused
from simt.check import LaunchError
from simt.machine import DeviceMemory
from simt.machine.layout import ADDRESS_BASE
from simt.runtime import MemoryFile


def put_together(outcomes: Sequence[Outcome], memory: DeviceMemory, results: MemoryFile | None) -> None:
    """Bring into *memory* what the parts wrote, which *results* holds where it did not travel."""
    written = results.shared.bytes() if results is not None else None
    before = [{kind: held_in(memory, runs) for kind, runs in outcome.reduced.items()} for outcome in outcomes]
    for outcome, old in zip(outcomes, before, strict=True):
        at = 0
        for first, end in zip(*outcome.written, strict=True):
            if outcome.data is not None:
                memory.words.M8[first:end] = outcome.data[at : at + end - first]
            elif written is not None:
                memory.words.M8[first:end] = written[first:end]
            at += end - first
        for kind, runs in outcome.reduced.items():
            at = 0
            for first, end in zip(*runs, strict=True):
                part = slice(at, at + end - first)
                merge(kind, memory.words.M8[first:end], outcome.changed[kind][part], old[kind][part])
                at = part.stop
        for mine, mask in zip(memory.unwritten if outcome.unwritten else (), outcome.unwritten, strict=True):
            mine.mask[:] &= mask


def check_apart(outcomes: Sequence[Outcome], spans: Sequence[tuple[int, int] | None], memory: DeviceMemory) -> None:
    """Raise LaunchError if a part wrote bytes that another one wrote or read."""
    sizes = [len(outcome.written.starts) for outcome in outcomes]
    starts = np.concatenate([outcome.written.starts for outcome in outcomes])
    ends = np.concatenate([outcome.written.ends for outcome in outcomes])
    owners = np.repeat(np.arange(len(outcomes)), sizes)
    order = np.argsort(starts, kind="stable")
    starts, ends, owners = starts[order], ends[order], owners[order]
    twice = np.flatnonzero(starts[1:] < np.maximum.accumulate(ends)[:-1])
    if len(twice):
        k = int(twice[0])
        raise _met(int(starts[k + 1]), int(owners[k]), int(owners[k + 1]), "written", spans, memory)
    for reader, outcome in enumerate(outcomes):
        others = owners != reader
        found = _overlap(outcome.read, Runs(starts[others], ends[others]))
        if found is not None:
            at, k = found
            raise _met(at, int(owners[others][k]), reader, "read", spans, memory)
    _check_reductions(outcomes, spans, memory)


def _check_reductions(
    outcomes: Sequence[Outcome], spans: Sequence[tuple[int, int] | None], memory: DeviceMemory
) -> None:
    """Raise LaunchError if a part touched otherwise what atomics of another one changed."""
    for (here, one), (there, other) in permutations(enumerate(outcomes), 2):
        for kind, runs in one.reduced.items():
            touched = [(other.written, "written"), (other.read, "read")]
            touched += [(more, "changed by other atomics") for of, more in other.reduced.items() if of != kind]
            for others, what in touched:
                found = _overlap(runs, others)
                if found is not None:
                    raise _met(found[0], here, there, what, spans, memory, "changed by atomics")


def _overlap(read: Runs, written: Runs) -> tuple[int, int] | None:
    """The first byte that is in runs of both, and which run of *written* has it."""
    first = np.searchsorted(written.ends, read.starts, "right")
    behind = np.searchsorted(written.starts, read.ends, "left")
    met = np.flatnonzero(first < behind)
    if not len(met):
        return None
    k = int(first[met[0]])
    return max(int(read.starts[met[0]]), int(written.starts[k])), k


def _met(
    at: int,
    writer: int,
    other: int,
    what: str,
    spans: Sequence[tuple[int, int] | None],
    memory: DeviceMemory,
    how: str = "written",
) -> LaunchError:
    """The refusal of a launch in which one part wrote a byte of the arena that another one has written or read."""
    sides = []
    for done, number in ((how, writer), (what, other)):
        span = spans[number]
        assert span is not None  # a launch in one task has no parts
        first, end = span
        who = f"block {first}" if end - first == 1 else f"one of the blocks {first} to {end - 1}"
        sides.append(f"{done} by {who}")
    return refused(int(ADDRESS_BASE) + at, memory.allocations, " and ".join(sides))
