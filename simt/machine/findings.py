"""From the engine's error codes to the typed errors of :mod:`simt.check`."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from simt.check import (
    BarrierError,
    BudgetError,
    DeadlockError,
    DivisionError,
    KernelError,
    Location,
    MisalignedError,
    OutOfBoundsError,
    RaceError,
    TrapError,
    UnsupportedError,
    lanes_text,
)
from simt.machine import layout
from simt.machine.checks import races
from simt.machine.images import HANDLES, DeviceImage
from simt.machine.prepare import Prepared
from simt.machine.registers import row_at
from simt.ops.encoding import NULL_CALL, SYSCALL, ZERO_DIVISION
from simt.ops.scalar import lowest
from simt.program import RZ, ArrayRef, Instruction, ListingLine


def locate(prepared: Prepared, pc: int) -> Location:
    """Where micro-op *pc* stands in the user's code: the line, for machine code if the cubin knows it."""
    program = prepared.program
    instruction = program.instructions[pc]
    line = program.listing[instruction.line]
    if program.view == "source":
        return Location(
            line.file or program.file, line.number, instruction.column, line.function or program.name, line.text
        )
    if line.source is not None:
        return Location(*line.source, function=program.name)
    return Location(program.file, line.number, 0, program.name, _machine_text(line))


def row_of(prepared: Prepared, state: layout.State, column: np.uint64) -> int:
    """Where the row of an operand stands in the register file, for the micro-op and the warp that ERROR names."""
    pc, warp = int(state.ERROR[layout.E_PC]), int(state.ERROR[layout.E_WARP])
    own = warp * int(state.LAUNCH[layout.LAUNCH_REGISTERS]) * 32
    return int(row_at(int(prepared.encoded.code[pc, column]), own, int(state.LAUNCH[layout.LAUNCH_UNIFORM_END])))


def caller(prepared: Prepared, state: layout.State) -> int:
    """The micro-op that ERROR names; where that is a system call, the one before the address that it returns to."""
    pc = int(state.ERROR[layout.E_PC])
    instruction = prepared.program.instructions[pc]
    if instruction.op != SYSCALL or (instruction.b == RZ and instruction.c == RZ):
        return pc
    lane = lowest(int(state.ERROR[layout.E_MASK]))
    low, high = (int(state.R[row_of(prepared, state, column) + lane]) for column in (layout.C_B, layout.C_C))
    entry = (low | high << 32) - prepared.encoded.code_start >> 3
    targets = prepared.encoded.targets
    found = int(targets[entry]) if 0 <= entry < len(targets) else 0
    return found - 1 if found > 0 else pc


def _machine_text(line: ListingLine) -> str:
    return f"{line.number:#06x}  {line.text}"


def _at(prepared: Prepared, pc: int) -> str:
    """The line or machine instruction of micro-op *pc*, in the words of a detail."""
    line = prepared.program.listing[prepared.program.instructions[pc].line]
    if prepared.program.view != "source":
        return _machine_text(line)
    return f"line {line.number}: {line.text.strip()}"


def where(prepared: Prepared, block: int, warp: int, mask: int) -> str:
    """``block (3, 0, 0), warp 2, lanes 5-7 (threads (69, 0, 0) ...)``."""
    gx, gy, _ = prepared.launch.grid
    coordinates = (block % gx, block // gx % gy, block // (gx * gy))
    lanes = "lane" if mask.bit_count() == 1 else "lanes"
    text = f"block {coordinates}, warp {warp}, {lanes} {lanes_text(mask)}"
    if mask:
        thread = warp * 32 + (mask & -mask).bit_length() - 1
        bx, by, _ = prepared.launch.block
        text += (
            f" ({'' if lanes == 'lane' else 'first: '}thread {(thread % bx, thread // bx % by, thread // (bx * by))})"
        )
    return text


def _array_of_slot(prepared: Prepared, slot: int) -> tuple[ArrayRef, int]:
    for array in prepared.program.arrays:
        if array.slot <= slot < array.slot + array.ndim:
            return array, slot - array.slot
    raise AssertionError(slot)


def _access_text(instruction: Instruction) -> str:
    kind = instruction.op.split(".")[0]
    kinds = {"ld": "read", "st": "write", "atom": "atomic", "suld": "read", "sust": "write", "suatom": "atomic"}
    return kinds.get(kind, "access")


def _with_article(instruction: Instruction) -> str:
    text = _access_text(instruction)
    return f"an {text}" if text[0] == "a" else f"a {text}"


def _nearest(prepared: Prepared, address: int, size: int) -> list[str]:
    """Which allocation an address just misses, and by how much."""
    if 0 < address - HANDLES < 1 << 32:
        return ["that is the handle of a texture or surface: the kernel takes an array there", *_images(prepared)]
    memory = prepared.memory
    best = min(
        range(len(memory.names)),
        key=lambda k: min(abs(address - int(memory.starts[k])), abs(address - int(memory.ends[k]))),
    )
    start, end = int(memory.starts[best]), int(memory.ends[best])
    if not memory.names[best]:
        return ["the launch has no array argument"]
    side = f"{address - end} bytes past the end" if address >= end else f"{start - address} bytes before the start"
    if start <= address < end:
        side = f"{address + size - end} bytes past the end"
    return [f"nearest allocation: `{memory.names[best]}`, {end - start} bytes at {start:#x}; the access is {side}"]


def _images(prepared: Prepared) -> list[str]:
    """The textures and surfaces of a launch."""
    return [
        f"argument {k} is a {value.image.word}: {value.image.array.dtype}, shape {value.image.array.shape}"
        for k, value in enumerate(prepared.launch.arguments)
        if isinstance(value, DeviceImage)
    ]


def failure(prepared: Prepared, state: layout.State) -> Exception:
    """The exception for a FAILED status."""
    error = [int(value) for value in state.ERROR]
    reason, pc, warp, mask = error[:4]
    if pc == len(prepared.program.instructions):
        return UnsupportedError(
            "the code runs past its last instruction", location=locate(prepared, pc - 1), help="it has to end with EXIT"
        )
    address, block, extra = error[layout.E_ADDRESS], error[layout.E_BLOCK], error[layout.E_EXTRA]
    instruction = prepared.program.instructions[pc]
    location = locate(prepared, caller(prepared, state))
    details = [where(prepared, block, warp, mask)]
    if prepared.program.listing[instruction.line].source is not None:
        details.append(f"instruction {_at(prepared, caller(prepared, state))}")
    if reason == layout.R_INDEX:
        array, axis = _array_of_slot(prepared, instruction.imm)
        of_axis = f" of axis {axis}" if array.ndim > 1 else ""
        help = f"guard the access, for instance with `if i < {array.name}.shape[{axis}]`"
        if array.shape == (-1,):
            given = prepared.launch.shared_bytes
            help = f"the launch gives {given} bytes of dynamic shared memory: shared_bytes={given}"
        return OutOfBoundsError(
            f"index {address} is out of bounds for `{array.name}`{of_axis}, whose size is {extra}",
            location=location,
            details=details,
            help=help,
        )
    if reason == layout.R_OUT_OF_BOUNDS:
        space = instruction.op.split(".")[1]
        if space in ("shared", "local"):
            limit = prepared.shared_bytes if space == "shared" else prepared.program.local_bytes
            details.append(f"address {address:#x}, {extra} bytes; {space} memory has {limit} bytes")
        else:
            details.append(f"address {address:#x}, {extra} bytes")
            details += _nearest(prepared, address, extra)
        return OutOfBoundsError(
            f"out-of-bounds {_access_text(instruction)} of {space} memory", location=location, details=details
        )
    if reason == layout.R_HANDLE:
        return KernelError(
            f"no {'surface' if extra else 'texture'} has the handle {address & 0xFFFFFFFF:#x}",
            location=location,
            details=[*details, *_images(prepared)],
            help=f"give simt.{'surface' if extra else 'texture'}(array, ...) as the kernel's argument",
        )
    if reason == layout.R_SURFACE:
        return OutOfBoundsError(
            f"out-of-bounds {_access_text(instruction)} of a surface",
            location=location,
            details=[*details, *_images(prepared)],
            help="x counts bytes; cudaBoundaryModeZero and cudaBoundaryModeClamp allow what is outside",
        )
    if reason == layout.R_MISALIGNED:
        return MisalignedError(
            f"misaligned {_access_text(instruction)}: an access of {extra} bytes needs an address that is a multiple "
            "of it",
            location=location,
            details=[*details, f"address {address:#x}"],
        )
    if reason == layout.R_READ_ONLY:
        return KernelError(
            "write to a read-only array",
            location=location,
            details=details,
            help="pass a writable array (array.flags.writeable) or do not store to it",
        )
    if reason == layout.R_WARPSYNC:
        return BarrierError(
            "a lane executes a warp-level operation whose mask does not name it",
            location=location,
            details=[*details, f"mask {address:#010x} names lanes {lanes_text(address)}"],
            help="every executing lane must be in the mask; take the mask before the branch with ballot_sync",
        )
    if reason == layout.R_RACE:
        return _race(prepared, state, location)
    if reason == layout.R_TRAP and instruction.imm == ZERO_DIVISION:
        return DivisionError(
            "division by zero in a kernel with debug=True, where Numba raises ZeroDivisionError",
            location=location,
            details=details,
        )
    if reason == layout.R_TRAP:
        why = "a function is called through a null pointer" if instruction.imm == NULL_CALL else _STOPPED
        return TrapError(why, location=location, details=details)
    if reason == layout.R_CODE_ADDRESS:
        return UnsupportedError(
            f"an indirect branch goes to code address {address:#x}, where no instruction of this kernel starts",
            location=location,
            details=details,
        )
    if reason == layout.R_UNKNOWN:
        return AssertionError(f"the engine has no case for micro-op {instruction.op}")
    return BudgetError(
        f"a block executed more than {prepared.launch.max_instructions} warp instructions",
        location=location,
        details=details,
        help="the kernel may never end; if it is only long, raise max_instructions",
    )


_STOPPED = "the kernel stopped itself (__trap or breakpoint)"


def _race(prepared: Prepared, state: layout.State, location: Location) -> RaceError:
    """Both sides of a race: this access, and the one before that nothing orders it after."""
    pc, warp, mask = (int(state.ERROR[k]) for k in (layout.E_PC, layout.E_WARP, layout.E_MASK))
    block, other = int(state.ERROR[layout.E_BLOCK]), int(state.ERROR[layout.E_OTHER])
    other_pc = (other & ((1 << races.THREAD_SHIFT) - 1)) >> races.PC_SHIFT
    thread = (other >> races.THREAD_SHIFT) & 1023
    other_block = other >> races.BLOCK_SHIFT
    instruction, before = prepared.program.instructions[pc], prepared.program.instructions[other_pc]
    address = int(state.ERROR[layout.E_ADDRESS])
    barrier = "`cuda.syncwarp()`" if (other_block, thread >> 5) == (block, warp) else "`cuda.syncthreads()`"
    if other_block != block:
        help = "blocks of one launch cannot wait for each other: use atomics, or a second launch"
    elif instruction.line == before.line:
        help = f"split the statement, with {barrier} between; or let one thread do it, or an atomic"
    else:
        help = f"put {barrier} between the two"
    return RaceError(
        f"data race: {_with_article(instruction)} and {_with_article(before)} of the same bytes, with nothing between "
        "that orders them",
        location=location,
        details=[
            f"this {_access_text(instruction)}: {where(prepared, block, warp, mask)}",
            f"the {_access_text(before)} before: {where(prepared, other_block, thread >> 5, 1 << (thread & 31))}, "
            f"at {_at(prepared, other_pc)}",
            *_holder(prepared, instruction, address),
        ],
        help=help,
    )


def _holder(prepared: Prepared, instruction: Instruction, address: int) -> list[str]:
    """The allocation that holds a global address, and where in it."""
    if ".shared" in instruction.op:
        return []
    memory = prepared.memory
    for name, start, end in zip(memory.names, memory.starts, memory.ends, strict=True):
        if start <= address < end:
            return [f"`{name}`, byte {address - int(start)} of {int(end - start)}"]
    return []


_WAITS = {
    layout.WAIT_BSYNC: "waits to reconverge with other lanes of its warp",
    layout.WAIT_BARRIER: "waits at the block barrier",
    layout.WAIT_WARPSYNC: "waits for the lanes named in a warp mask",
}


_REMEDIES = {
    layout.WAIT_BARRIER: "a barrier must be reached by every thread of the block that has not exited; "
    "move it out of the divergent branch",
    layout.WAIT_WARPSYNC: "every lane that a warp mask names must come there; name only those that do: take the mask "
    "before the branch with ballot_sync",
}


def deadlock(prepared: Prepared, state: layout.State, block: int) -> DeadlockError:
    """The finding for a block in which nobody can move: it names every waiting warp, lane mask and line."""
    waiting: list[str] = []
    first: dict[int, int] = {}  # by what it waits for
    warps = int(state.LAUNCH[layout.LAUNCH_WARPS])
    for warp in range(warps):
        for i in range(int(state.WARPS[warp * layout.N_WARP + layout.W_SPLITS])):
            at = (warp * 32 + i) * layout.N_SPLIT
            split: Sequence[int] = [int(v) for v in state.SPLITS[at : at + layout.N_SPLIT]]
            pc = split[layout.S_PC]
            first.setdefault(split[layout.S_STATE], pc)
            waiting.append(
                f"warp {warp}, lanes {lanes_text(split[layout.S_MASK])}: "
                f"{_WAITS[split[layout.S_STATE]]} at {_at(prepared, pc)}"
            )
    gx, gy, _ = prepared.launch.grid
    culprit = layout.WAIT_BARRIER if layout.WAIT_BARRIER in first else layout.WAIT_WARPSYNC
    return DeadlockError(
        f"deadlock in block {(block % gx, block // gx % gy, block // (gx * gy))}: no warp can move",
        location=locate(prepared, first[culprit]) if culprit in first else None,
        details=waiting,
        help=_REMEDIES[culprit],
    )
