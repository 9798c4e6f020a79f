"""How the lanes of a warp access memory, line by line, from the addresses of a second run.

The second run executes the same program with every micro-op traced, those that only prepare an address too: their
results are the addresses.
"""

from __future__ import annotations

import copy
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import numpy.typing as npt

from simt import machine
from simt.calls.code import code_of
from simt.calls.options import Options
from simt.calls.running import gpu_for, run
from simt.check.short import ends_here
from simt.machine.result import TraceRecords
from simt.ops.encoding import MEMORY_TYPES
from simt.ops.table import MICRO_OPS
from simt.profile.counters import access_of
from simt.program import WARP_SIZE, Instruction, Program
from simt.reasons.subject import LineKey, Patterns, key_of

BANKS, SECTOR = 32, 32
_BYTES = {number: size for number, size, *_ in MEMORY_TYPES.values()}
_EXCESS = {"global": (2, 3), "local": (2, 3), "shared": (4, 5)}
"""Columns of ``TraceRecords.memory``: what the request took, and the least possible."""


@dataclass(frozen=True)
class Request:
    """One load or store of a warp: ``lanes`` that take part, and the address of each; ``size`` bytes a lane."""

    line: int
    space: str
    direction: str
    size: int
    lanes: npt.NDArray[np.int64]
    addresses: npt.NDArray[np.int64]
    excess: int

    @property
    def prefix(self) -> str:
        """That of its counters: ``global_load``."""
        return f"{self.space}_{self.direction}"

    @property
    def rank(self) -> tuple[int, int]:
        """What it takes beyond the least possible, and how many addresses it has."""
        return self.excess, len(np.unique(self.addresses))


@dataclass(frozen=True)
class Accesses:
    """The loads and stores of one warp (block, warp): of each listing line, space and direction the request that takes
    most beyond the least possible, of those that take as much the first with most addresses.
    """

    program: Program
    warp: tuple[int, int]
    requests: tuple[Request, ...]

    @property
    def patterns(self) -> Patterns:
        """In words, by source line and by prefix of the counters; the worst request of a line speaks for it."""
        worst: dict[LineKey, dict[str, Request]] = {}
        for request in self.requests:
            line = worst.setdefault(key_of(self.program, request.line), {})
            if request.prefix not in line or line[request.prefix].rank < request.rank:
                line[request.prefix] = request
        return {key: {prefix: in_words(each) for prefix, each in line.items()} for key, line in worst.items()}


def access_patterns(
    kernel: Any, grid: Any, block: Any, *args: Any, warp: tuple[int, int] = (0, 0), **options: Any
) -> Patterns:
    """In words, how each line's loads and stores access memory: :attr:`Accesses.patterns` of :func:`accesses_of`."""
    return accesses_of(kernel, grid, block, *args, warp=warp, **options).patterns


@ends_here
def accesses_of(
    kernel: Any, grid: Any, block: Any, *args: Any, warp: tuple[int, int] = (0, 0), **options: Any
) -> Accesses:
    """What one *warp* (block, warp) loads and stores.

    The parameters are those of :func:`simt.launch`; arrays among *args* are not changed.  Raises what a launch raises.
    """
    wanted = replace(Options.of(**options), trace=warp)
    shape = machine.dimensions(grid, "grid"), machine.dimensions(block, "block")
    code = code_of(kernel, wanted.view, shape, copy.deepcopy(args), wanted.predicate)
    program = watched(code.program)
    profile = run(replace(code, program=program), shape, wanted, gpu_for(None, program.view, timing=False))
    assert profile.result.trace is not None  # it was asked for
    worst: dict[tuple[int, str], Request] = {}
    for request in requests(profile.result.trace, program):
        key = request.line, request.prefix
        if key not in worst or worst[key].rank < request.rank:
            worst[key] = request
    return Accesses(program, warp, tuple(worst[key] for key in sorted(worst)))


def watched(program: Program) -> Program:
    """The program with every micro-op in the trace; its counts mean nothing."""
    return replace(program, instructions=[replace(each, retires=True) for each in program.instructions])


def requests(records: TraceRecords, program: Program) -> Iterator[Request]:
    """The loads and stores of global, local and shared memory in the trace of one warp."""
    rows: dict[int, npt.NDArray[np.int64]] = {}
    for k, pc in enumerate(records.pc.tolist()):
        instruction = program.instructions[pc]
        access = access_of(instruction.op)
        executed = int(records.executed[k])
        if access is not None and executed and access[1] != "atomic":
            request = _request(instruction, access, executed, rows, records.memory[k])
            if request is not None:
                yield request
        if MICRO_OPS[instruction.op].operands[0] == "r":
            rows[instruction.dst] = records.values[k]


def _request(
    instruction: Instruction,
    access: tuple[str, str],
    executed: int,
    rows: Mapping[int, npt.NDArray[np.int64]],
    counted: npt.NDArray[np.int64],
) -> Request | None:
    """None for an access of constants; a generic one is of shared memory if it took wavefronts and no sector."""
    space = access[0]
    if space == "generic":
        space = "shared" if counted[4] and not counted[2] else "global"
    if space not in _EXCESS:
        return None
    lanes = np.array([lane for lane in range(WARP_SIZE) if executed >> lane & 1])
    # A row that nothing wrote is the same in all lanes: a constant, an argument.
    base = rows.get(instruction.a, np.zeros(WARP_SIZE, np.int64))
    took, least = _EXCESS[space]
    excess = int(counted[took] - counted[least])
    size = _BYTES[instruction.mod]
    return Request(instruction.line, space, access[1], size, lanes, (base + instruction.imm)[lanes], excess)


def in_words(request: Request) -> str:
    """The pattern of a request; empty if there is nothing to say of it."""
    addresses, lanes = request.addresses, request.lanes
    if len(lanes) == 1:
        return "one lane"
    distinct = len(np.unique(addresses))
    if distinct == 1:
        return f"broadcast, {len(lanes)} lanes read one address" if request.direction == "load" else "one address"
    if request.space == "shared":
        return _banks(addresses, lanes)
    if distinct < len(lanes):
        return f"{len(lanes)} lanes share {distinct} addresses"
    apart = np.diff(addresses)
    if (apart != apart[0]).any():
        apart = apart / np.diff(lanes)  # lanes between them may have nothing to do
    if (apart != apart[0]).any():
        return "scattered, lanes are not equally far apart"
    if abs(apart[0]) == request.size:
        return _neighbours(request)
    return f"strided, lanes are {abs(int(apart[0]))} bytes apart"


def _neighbours(request: Request) -> str:
    begins = int(request.addresses.min()) % SECTOR
    if not begins:
        return "neighbouring lanes read neighbouring elements"
    return f"misaligned, neighbouring elements begin {begins} bytes after a multiple of {SECTOR}"


def _banks(addresses: npt.NDArray[np.int64], lanes: npt.NDArray[np.int64]) -> str:
    """Which lanes collide most."""
    words = addresses >> 2
    ways = {int(bank): len(np.unique(words[words % BANKS == bank])) for bank in np.unique(words % BANKS)}
    bank = max(ways, key=lambda each: ways[each])
    if ways[bank] == 1:
        return "no conflict"
    colliding = lanes[words % BANKS == bank].tolist()
    shown = ", ".join(map(str, colliding[:3])) + (", ..." if len(colliding) > 3 else "")
    return f"{ways[bank]}-way bank conflict, lanes {shown} use bank {bank}"
