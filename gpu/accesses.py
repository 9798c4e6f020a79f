"""Memory accesses by source line: where the machine code does fewer of them than the source says.

The source view executes each access that a line writes.  A compiler keeps a value in a register, moves a load out of
a loop, or merges neighbours into one wide access.  Totals then differ, and the line says why.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import PurePath
from typing import Any

from gpu.profiling import HardwareProfile
from simt.metrics.table import SOURCE
from simt.profile import Profile

KINDS = (
    "global_load", "global_store", "global_atomic", "shared_load", "shared_store", "shared_atomic",
)  # fmt: skip
"""Kinds of accesses, as the counters of a profile begin."""

_OPCODES = {
    "LDG": "global_load", "STG": "global_store", "ATOMG": "global_atomic", "ATOM": "global_atomic",
    "RED": "global_atomic", "REDG": "global_atomic", "LDS": "shared_load", "STS": "shared_store",
    "ATOMS": "shared_atomic", "LDGSTS": "global_load",
}  # fmt: skip
_GENERIC = {"LD": "load", "ST": "store"}
_WIDTHS = {"U8": 1, "S8": 1, "U16": 2, "S16": 2, "64": 8, "128": 16}
"""Bytes of an access by modifier; 4 without."""

_VERBS = {"load": "loaded", "store": "stored", "atomic": "updated"}

Place = tuple[str, int, str]
"""Name of the file (the other side may have found it in another folder), line, kind."""


@dataclass(frozen=True)
class Access:
    """Sums over a line: warp executions, bytes that lanes asked for, distinct sectors (None: not known by kind)."""

    requests: int = 0
    bytes: int = 0
    sectors: int | None = 0

    def __add__(self, other: Access) -> Access:
        sectors = None if self.sectors is None or other.sectors is None else self.sectors + other.sectors
        return Access(self.requests + other.requests, self.bytes + other.bytes, sectors)


Accesses = Mapping[Place, Access]


def accesses(profile: Profile | HardwareProfile) -> Accesses:
    """The accesses of a profile by source line and kind; those of instructions without a line are left out."""
    found: dict[Place, Access] = {}
    for place, access in _measured(profile) if isinstance(profile, HardwareProfile) else _simulated(profile):
        found[place] = found.get(place, Access()) + access
    return found


def _simulated(profile: Profile) -> Iterator[tuple[Place, Access]]:
    for line in profile.lines:
        source = (line.file, line.number) if profile.view == SOURCE else line.source
        if source is None:
            continue
        for kind in KINDS:
            requests = line.counters[f"{kind}_requests"]
            if requests:
                sectors = line.counters[f"{kind}_sectors"] if kind in ("global_load", "global_store") else None
                access = Access(requests, line.counters[f"{kind}_bytes"], sectors)
                yield (PurePath(source[0]).name, source[1], kind), access


def _measured(profile: HardwareProfile) -> Iterator[tuple[Place, Access]]:
    for line in profile.lines:
        opcode, *modifiers = _opcode(line.text).split(".")
        sectors = line.counters["global_sectors"]
        kind = _OPCODES.get(opcode)
        if opcode in _GENERIC:
            kind = f"{'global' if sectors else 'shared'}_{_GENERIC[opcode]}"
        lanes = line.counters["pred_on_thread_inst_executed"]
        if kind is None or line.source is None or not lanes:
            continue
        width = next((_WIDTHS[each] for each in modifiers if each in _WIDTHS), 4)
        known = sectors if kind in ("global_load", "global_store") else None
        place = PurePath(line.source[0]).name, line.source[1], kind
        yield place, Access(line.counters["inst_executed"], width * lanes, known)


def _opcode(text: str) -> str:
    words = [word for word in text.split() if not word.startswith(("@", "{"))]
    return words[0].rstrip(";,") if words else ""


@dataclass(frozen=True)
class LineAccess:
    """One kind of access of a source line on both sides."""

    file: str
    line: int
    kind: str
    source: Access
    machine: Access

    @property
    def fewer(self) -> bool:
        """Whether the machine code asks for fewer bytes, or for the same in fewer, wider accesses."""
        if self.machine.bytes != self.source.bytes:
            return self.machine.bytes < self.source.bytes
        return self.machine.requests < self.source.requests

    @property
    def differs(self) -> bool:
        """Whether the machine code does other accesses on this line: fewer, or such as were moved here.

        More executions for the same bytes are none: a profiler counts those whose guard is false in all lanes.
        """
        return self.fewer or self.machine.bytes > self.source.bytes

    @property
    def contradicts(self) -> bool:
        """Whether the same accesses touch other sectors, which no compiler explains."""
        sectors = self.source.sectors, self.machine.sectors
        return not self.differs and None not in sectors and sectors[0] != sectors[1]

    def to_dict(self) -> dict[str, Any]:
        """For JSON."""
        return {
            "file": self.file,
            "line": self.line,
            "kind": self.kind,
            "source": dict(vars(self.source)),
            "machine": dict(vars(self.machine)),
        }

    def __str__(self) -> str:
        space, _, direction = self.kind.partition("_")
        here, there = times(self.source.requests), times(self.machine.requests)
        return f"{self.file}:{self.line}: {space} memory {_VERBS[direction]} {here} here, {there} in the machine code"


def times(count: int) -> str:
    """``never``, ``once``, ``64 times``."""
    return {0: "never", 1: "once"}.get(count, f"{count:,} times")


def compare_accesses(source: Accesses, machine: Accesses) -> tuple[LineAccess, ...]:
    """Every source line and kind of access that either side has, by file and line."""
    places = sorted(source.keys() | machine.keys())
    return tuple(LineAccess(*p, source.get(p, Access()), machine.get(p, Access())) for p in places)


def explained(counters: Iterable[str], lines: Iterable[LineAccess]) -> bool:
    """Whether a difference of *counters* between the views is one of how often lines access memory.

    It is if the machine code does fewer accesses of those kinds altogether, and the lines that access memory equally
    often touch equally many sectors.  A line may have more than before: a compiler books a load that it moves on
    the line that it moves it to.
    """
    concerned = [line for line in lines if any(_concerns(counter, line.kind) for counter in counters)]
    source = sum((line.source for line in concerned), Access())
    machine = sum((line.machine for line in concerned), Access())
    return LineAccess("", 0, "", source, machine).fewer and not any(line.contradicts for line in concerned)


def _concerns(counter: str, kind: str) -> bool:
    """Whether accesses of *kind* are in a counter; ``global_sectors`` has all kinds of its space."""
    if any(counter.startswith(each) for each in KINDS):
        return counter.startswith(kind)
    return counter.startswith(kind.partition("_")[0] + "_")
