"""From what the judges found to findings for the user."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from simt.check import Finding, Side, lanes_text
from simt.machine.layout import ADDRESS_BASE
from simt.machine.places import access_text, coordinates, first_lane, locate, place_of, with_article
from simt.machine.prepare import local_stride
from simt.machine.prepared import Prepared
from simt.ops.memory import GLOBAL, LOCAL, SHARED, SPACES
from simt.program import ArrayRef, Instruction, Space
from simt.sanitizer import layout as Z
from simt.sanitizer.metadata import marks
from simt.sanitizer.tools import INITCHECK, RACECHECK, SYNCCHECK
from simt.text import counted


class Report:
    """Findings of one launch, which ran in a *schedule*."""

    def __init__(self, prepared: Prepared, schedule: str) -> None:
        self.prepared = prepared
        self.schedule = schedule

    def finding(self, row: Sequence[int]) -> Finding:
        """The finding of a row of FOUND."""
        kind = row[Z.F_KIND]
        made = {
            Z.RACE: self._race,
            Z.UNWRITTEN: self._unwritten,
            Z.UNSET: self._unset,
            Z.SOURCE_LANE: self._source_lane,
            Z.NAMED_GONE: self._named_gone,
            Z.OTHER_BARRIER: self._other_barrier,
            Z.MISSED_BARRIER: self._missed_barrier,
            Z.WRONG_COUNT: self._wrong_count,
            Z.LEFT_WAITING: self._left_waiting,
            Z.NOT_AWAITED: self._not_awaited,
        }
        return made[kind](row)

    # Who and where

    def _side(self, what: str, pc: int, block: int, warp: int, lanes: int) -> Side:
        launch, program = self.prepared.launch, self.prepared.program
        return Side(
            what=what,
            location=locate(self.prepared, pc),
            block=coordinates(block, launch.grid),
            warp=warp,
            lanes=lanes,
            thread=coordinates(warp * 32 + first_lane(lanes), launch.block),
            instruction="" if program.view == "source" else place_of(program, pc),
        )

    def _this(self, row: Sequence[int], what: str = "") -> Side:
        pc = row[Z.F_PC]
        what = what or access_text(self.prepared.program.instructions[pc])
        return self._side(what, pc, row[Z.F_BLOCK], row[Z.F_WARP], row[Z.F_LANES])

    def _other(self, row: Sequence[int], what: str = "") -> Side:
        pc = row[Z.F_OTHER_PC]
        what = what or f"{access_text(self.prepared.program.instructions[pc])} before"
        return self._side(what, pc, row[Z.F_OTHER_BLOCK], row[Z.F_OTHER_WARP], row[Z.F_OTHER_LANES])

    def where(self, space: int, offset: int) -> dict[str, Any]:
        """Space, address, variable and element of an access to an offset in the arena."""
        memory, launch = self.prepared.memory, self.prepared.launch
        found: dict[str, Any] = {"space": SPACES[space]}
        if space == GLOBAL:
            address = offset + int(ADDRESS_BASE)
            return {**found, "address": address, **self._of_allocation(address)}
        if space == LOCAL:
            stride = local_stride(self.prepared.program.local_bytes)
            begin = max(at for at in memory.local_at if at <= offset)
            address = (offset - begin) % stride
        else:
            address = offset - max(at for at in memory.shared_at if at <= offset)
        wanted = Space.SHARED if space == SHARED else Space.LOCAL
        for array in self.prepared.program.arrays:
            if array.space is wanted and array.argument is None:
                begin, size = _extent(array, self.prepared.program.shared_bytes, launch.shared_bytes)
                if begin <= address < begin + size:
                    return {**found, "address": address, **_element(array, address - begin, ())}
        return {**found, "address": address}

    def name_of(self, space: int, offset: int) -> str:
        """What stands at an offset in the arena: an element, a byte of an allocation, or an address."""
        where = self.where(space, offset)
        if "element" in where:
            return f"`{where['element']}`"
        return next(iter(where.get("details", ())), f"address {where['address']:#x}")

    def _of_allocation(self, address: int) -> dict[str, object]:
        memory, program = self.prepared.memory, self.prepared.program
        for array in program.arrays:
            if array.argument is None or array.space is not Space.GLOBAL:
                continue
            given = self.prepared.launch.array(array.argument)
            strides = list(zip(given.shape, given.strides, strict=True))
            low = given.address + sum((size - 1) * stride for size, stride in strides if stride < 0)
            itemsize = np.dtype(array.dtype).itemsize
            high = given.address + sum((size - 1) * stride for size, stride in strides if stride > 0) + itemsize
            if low <= address < high and all(size for size, _ in strides):
                return _element(array, address - given.address, given.strides)
        for name, start, end in zip(memory.names, memory.starts, memory.ends, strict=True):
            if start <= address < end:
                return {"variable": name, "details": (f"`{name}`, byte {address - int(start)} of {int(end - start)}",)}
        return {}

    # What

    def _make(self, tool: str, kind: str, text: str, sides: Sequence[Side], row: Sequence[int], **more: Any) -> Finding:
        return Finding(
            tool,
            kind,
            text,
            tuple(sides),
            count=row[Z.F_COUNT],
            schedule=self.schedule,
            **more,
        )

    def _race(self, row: Sequence[int]) -> Finding:
        instructions = self.prepared.program.instructions
        this, other = instructions[row[Z.F_PC]], instructions[row[Z.F_OTHER_PC]]
        one_block = row[Z.F_BLOCK] == row[Z.F_OTHER_BLOCK]
        one_warp = one_block and row[Z.F_WARP] == row[Z.F_OTHER_WARP]
        barrier = "`cuda.syncwarp()`" if one_warp else "`cuda.syncthreads()`"
        if self.prepared.program.view != "source":
            barrier = "`__syncwarp()`" if one_warp else "`__syncthreads()`"
        if not one_block and self._is_narrow(this, other):
            help = "one of them is atomic for the threads of its block only: give it the scope of the device"
        elif not one_block:
            help = (
                "blocks of one launch have no barrier: use atomics, a second launch, or let one write, fence and set "
                "a flag with an atomic, which the other reads with an atomic"
            )
        elif "atom" in (this.op[:4], other.op[:4]):
            help = f"make both atomic, or put {barrier} between the two"
        elif this.line == other.line:
            help = f"split the statement, with {barrier} between; or let one thread do it, or an atomic"
        else:
            help = f"put {barrier} between the two"
        return self._make(
            RACECHECK.name,
            "data race",
            f"data race: {with_article(this)} and {with_article(other)} of the same bytes, with nothing between "
            "that orders them",
            [self._this(row), self._other(row)],
            row,
            help=help,
            **self.where(row[Z.F_SPACE], row[Z.F_OFFSET]),
        )

    def _is_narrow(self, *accesses: Instruction) -> bool:
        """Whether one of two accesses is atomic, but not for other blocks, and both are atomic."""
        kinds = [marks(each, self.prepared.program.listing[each.line].text) for each in accesses]
        atomic = all(kind & Z.IS_STRONG or each.op[:4] == "atom" for kind, each in zip(kinds, accesses, strict=True))
        return atomic and any(kind & Z.IS_NARROW for kind in kinds)

    def _not_awaited(self, row: Sequence[int]) -> Finding:
        this = self.prepared.program.instructions[row[Z.F_PC]]
        return self._make(
            RACECHECK.name,
            "copy under way",
            f"{with_article(this)} of shared memory to which a copy is under way: nobody has waited for it",
            [self._this(row), self._other(row, "asynchronous copy before")],
            row,
            help="let the thread that copies wait (cp.async.wait_group, __pipeline_wait_prior, the barrier of the "
            "copy), and then the threads for each other",
            **self.where(row[Z.F_SPACE], row[Z.F_OFFSET]),
        )

    def _unwritten(self, row: Sequence[int]) -> Finding:
        where = self.where(row[Z.F_SPACE], row[Z.F_OFFSET])
        name = where.get("element") or where.get("variable")
        size = f"{counted(row[Z.F_SIZE], 'byte')} of " if row[Z.F_SIZE] else ""
        what = f"`{name}`" if name else f"{size}{where['space']} memory"
        sides = [self._this(row), self._other(row, "use")] if row[Z.F_OTHER_PC] >= 0 else [self._this(row)]
        return self._make(
            INITCHECK.name,
            "uninitialised read",
            f"{with_article(self.prepared.program.instructions[row[Z.F_PC]])} of {what}, which nobody has written",
            sides,
            row,
            help="write it first; on a GPU it holds whatever was there before",
            **where,
        )

    def _unset(self, row: Sequence[int]) -> Finding:
        name = self.prepared.program.instructions[row[Z.F_MORE]].unset or ""
        return self._make(
            INITCHECK.name,
            "unset variable",
            f"`{name}` is used by lanes whose path has not set it",
            [self._this(row, "use")],
            row,
            variable=name,
            help=f"set `{name}` on every path, before the branch or loop",
        )

    def _source_lane(self, row: Sequence[int]) -> Finding:
        return self._make(
            SYNCCHECK.name,
            "shuffle of an absent lane",
            f"a shuffle reads from lane {row[Z.F_MORE]}, which does not take part in it, and what it got is used",
            [self._this(row, "shuffle"), self._other(row, "use")],
            row,
            help="what it gets is not defined: let all lanes that are read from execute the shuffle",
        )

    def _named_gone(self, row: Sequence[int]) -> Finding:
        mask, named = row[Z.F_MORE] & 0xFFFFFFFF, (row[Z.F_MORE] >> 32) & 0xFFFFFFFF
        return self._make(
            SYNCCHECK.name,
            "mask of absent lanes",
            f"a warp-level operation names lanes {lanes_text(named)}, which have exited or are no threads",
            [self._this(row, "operation")],
            row,
            details=(f"mask {mask:#010x} names lanes {lanes_text(mask)}",),
            help="name only lanes that come there: take the mask with ballot_sync before lanes leave",
        )

    def _other_barrier(self, row: Sequence[int]) -> Finding:
        return self._make(
            SYNCCHECK.name,
            "different barriers",
            "threads of a block wait at different barriers",
            [self._this(row, "barrier"), self._other(row, "barrier before")],
            row,
            help="all threads of a block have to reach the same barrier: move it out of the branches",
        )

    def _missed_barrier(self, row: Sequence[int]) -> Finding:
        return self._make(
            SYNCCHECK.name,
            "missed barrier",
            f"{counted(row[Z.F_MORE], 'thread')} of the block went past a barrier that others wait at",
            [self._this(row, "barrier")],
            row,
            help="let all threads of the block reach the barrier: no branch around it",
        )

    def _wrong_count(self, row: Sequence[int]) -> Finding:
        others = [self._other(row, "barrier before")] if row[Z.F_OTHER_PC] >= 0 else []
        expected = row[Z.F_MORE]
        if others:
            text = f"a barrier for {counted(expected, 'thread')}, for which others expect another number"
        elif expected % 32:
            text = f"a barrier for {counted(expected, 'thread')}, which is no multiple of 32"
        else:
            text = f"more threads come to a barrier than the {expected} that it is for"
        return self._make(
            SYNCCHECK.name, "wrong barrier count", text, [self._this(row, "barrier"), *others], row,
            help="give the number of threads of all warps that take part",
        )  # fmt: skip

    def _left_waiting(self, row: Sequence[int]) -> Finding:
        return self._make(
            SYNCCHECK.name,
            "abandoned barrier",
            f"threads arrived at barrier {row[Z.F_MORE]}, and the block ended without anybody who waited there",
            [self._this(row, "arrival")],
            row,
            help="every arrival needs a barrier that waits for it",
        )


def _extent(array: ArrayRef, static: int, dynamic: int) -> tuple[int, int]:
    """Where an array begins in shared or local memory, and its bytes."""
    shape = array.shape or ()
    if shape == (-1,):
        return static, dynamic
    return array.offset, int(np.prod(shape, dtype=np.int64)) * np.dtype(array.dtype).itemsize


def _element(array: ArrayRef, offset: int, strides: Sequence[int]) -> dict[str, object]:
    """Name and index of the element of an array that holds a byte; *strides* in bytes, if they are not C's."""
    shape = array.shape or ()
    itemsize = np.dtype(array.dtype).itemsize
    if not strides and shape:
        strides = [itemsize * int(np.prod(shape[axis + 1 :], dtype=np.int64)) for axis in range(len(shape))]
    index = []
    order = sorted(range(len(strides)), key=lambda axis: -abs(strides[axis]))
    places = dict.fromkeys(order, 0)
    for axis in order:
        if strides[axis] > 0:
            places[axis], offset = divmod(offset, strides[axis])
    index = [str(places[axis]) for axis in range(len(strides))]
    if any(stride <= 0 for stride in strides) or not index:
        return {"variable": array.name}
    return {"variable": array.name, "element": f"{array.name}[{', '.join(index)}]"}
