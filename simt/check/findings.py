"""What a check of a launch found, as values; :meth:`Finding.error` is the same as an exception."""

from __future__ import annotations

from collections.abc import Hashable, Iterable, Sequence
from dataclasses import dataclass, replace
from typing import Any

from simt.check.errors import BarrierError, Index, KernelError, Location, RaceError, UninitializedError, who_text

ERRORS: dict[str, type[KernelError]] = {
    "racecheck": RaceError,
    "initcheck": UninitializedError,
    "synccheck": BarrierError,
}
"""The error of each tool."""


@dataclass(frozen=True)
class Side:
    """Who took part in what went wrong: *what* was done (``"write"``), where in the code, by which lanes.

    ``block`` and ``thread`` are blockIdx, and threadIdx of the lowest of the lanes; ``lanes`` is a mask;
    ``instruction``: the machine instruction, empty in the source view.
    """

    what: str
    location: Location
    block: Index
    warp: int
    lanes: int
    thread: Index
    instruction: str = ""

    def __str__(self) -> str:
        return who_text(self.block, self.warp, self.lanes, self.thread)

    @property
    def place(self) -> str:
        """The line, and the machine instruction; of machine code without lines that alone."""
        if not self.location.line:
            return self.instruction
        line = f"line {self.location.line}: {self.location.source().strip()}"
        return f"{line} ({self.instruction})" if self.instruction else line

    def to_dict(self) -> dict[str, Any]:
        """For JSON."""
        lanes = [lane for lane in range(32) if self.lanes >> lane & 1]
        return {
            "what": self.what, "file": self.location.file, "line": self.location.line or None,
            "source": self.location.source().strip(), "function": self.location.function,
            "instruction": self.instruction or None, "block": list(self.block), "warp": self.warp, "lanes": lanes,
            "thread": list(self.thread),
        }  # fmt: skip


@dataclass(frozen=True)
class Finding:
    """One error of a kernel: the place that came first, and how often it came.

    Attributes: ``tool`` (of ERRORS), ``kind`` (``"data race"``), ``text`` (one sentence), ``sides`` (the one that
    found it first), ``space`` (``"shared"``), ``address`` of device or of the space, ``variable`` and ``element``
    (``"tile[3]"``) where they are known, ``schedule`` in which it came, ``help``, ``count``.
    """

    tool: str
    kind: str
    text: str
    sides: Sequence[Side]
    space: str = ""
    address: int | None = None
    variable: str = ""
    element: str = ""
    details: Sequence[str] = ()
    help: str = ""
    schedule: str = ""
    count: int = 1

    @property
    def place(self) -> Hashable:
        """What findings have in common that are one place of the code: lines, or instructions of no known line."""
        sides = [
            (side.what, side.location.file, side.location.line, side.location.column)
            if side.location.line
            else (side.what, side.instruction)
            for side in self.sides
        ]
        return self.tool, self.kind, tuple(sides)

    def error(self) -> KernelError:
        """The finding as an exception."""
        first, *others = self.sides
        lines = [f"this {first.what}: {first}"]
        if first.instruction and first.location.offset is None:
            lines.append(f"instruction {first.instruction}")
        lines += [f"the {other.what}: {other}, at {other.place}" for other in others]
        where = [f"`{self.element or self.variable}`"] if self.element or self.variable else []
        if self.address is not None:
            where.append(f"address {self.address:#x} of {self.space} memory")
        if where:
            lines.append(", ".join(where))
        if self.schedule:
            lines.append(f"found with schedule={self.schedule!r}")
        made = ERRORS[self.tool](self.text, location=first.location, details=[*lines, *self.details], help=self.help)
        made.finding, made.findings = self, (self,)
        return made

    def __str__(self) -> str:
        times = f"\n  {self.count:,} times" if self.count > 1 else ""
        return f"{self.tool}: {self.error()}{times}"

    def to_dict(self) -> dict[str, Any]:
        """For JSON."""
        return {
            "tool": self.tool, "kind": self.kind, "text": self.text, "count": self.count, "space": self.space or None,
            "address": self.address, "variable": self.variable or None, "element": self.element or None,
            "sides": [side.to_dict() for side in self.sides], "details": list(self.details), "help": self.help or None,
            "schedule": self.schedule or None,
        }  # fmt: skip


def gathered(findings: Iterable[Finding]) -> tuple[Finding, ...]:
    """Each place once, in the order in which they came, with the sum of its counts.

    Of those at one place the one is kept whose sides are farthest apart: what helps it helps the others, too, as a
    barrier of the block does where warps and lanes of one warp race.
    """
    found: dict[Hashable, Finding] = {}
    for each in findings:
        before = found.get(each.place, each)
        farthest = max(before, each, key=_distance)
        found[each.place] = replace(farthest, count=each.count + (0 if before is each else before.count))
    return tuple(found.values())


def _distance(finding: Finding) -> int:
    """Of the sides from each other: 0 in one warp, 1 in one block, 2 between blocks."""
    blocks, warps = ({getattr(side, what) for side in finding.sides} for what in ("block", "warp"))
    return 2 if len(blocks) > 1 else int(len(warps) > 1)
