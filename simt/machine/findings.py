"""From the engine's error codes to the typed errors of :mod:`simt.check`."""

from __future__ import annotations

from collections.abc import Sequence

from simt.check import (
    BarrierError,
    BudgetError,
    DeadlockError,
    DivisionError,
    KernelError,
    Location,
    MisalignedError,
    OutOfBoundsError,
    TrapError,
    UnsupportedError,
    lanes_text,
)
from simt.machine import layout
from simt.machine.images import HANDLES, DeviceImage
from simt.machine.launch import DeviceArray
from simt.machine.places import access_text, caller, coordinates, locate, place_of, where
from simt.machine.prepared import BANK, Prepared
from simt.ops.encoding import NULL_CALL, ZERO_DIVISION
from simt.program import ArrayRef
from simt.text import counted

_NULL_PAGE = 4096
"""An address below this is a null pointer plus the offset of a member or an element."""

_FAR = 1 << 40
"""Bytes from an allocation at which an address was hardly meant for it: more than any GPU has."""


def _array_of_slot(prepared: Prepared, slot: int) -> tuple[ArrayRef, int]:
    for array in prepared.program.arrays:
        if array.slot <= slot < array.slot + array.ndim:
            return array, slot - array.slot
    raise AssertionError(slot)


def _nearest(prepared: Prepared, address: int, size: int) -> list[str]:
    """The allocation nearest to an address, and how far away it is."""
    if 0 < address - HANDLES < 1 << 32:
        return ["that is the handle of a texture or surface; the kernel expects an array", *_images(prepared)]
    if 0 <= address < _NULL_PAGE:
        return ["that is a null pointer" if address == 0 else f"that is {counted(address, 'byte')} past a null pointer"]
    memory = prepared.memory
    own = [k for k, name in enumerate(memory.names) if name and not name.startswith(BANK)]
    if not own:
        return ["the launch has no array arguments"]
    best = min(
        own,
        key=lambda k: min(abs(address - int(memory.starts[k])), abs(address - int(memory.ends[k]))),
    )
    start, end = int(memory.starts[best]), int(memory.ends[best])
    if not start - _FAR <= address <= end + _FAR:
        return ["no allocation is near it: a pointer to memory of the host, or one that was never set?"]
    if address == end:
        side = "right past the end"
    elif address > end:
        side = f"{counted(address - end, 'byte')} past the end"
    elif address >= start:
        side = f"{counted(address + size - end, 'byte')} past the end"
    else:
        side = f"{counted(start - address, 'byte')} before the start"
    what = f"`{memory.names[best]}`, {counted(end - start, 'byte')} at {start:#x}"
    return [f"nearest allocation: {what}; the access is {side}"]


def _images(prepared: Prepared) -> list[str]:
    """The textures and surfaces of a launch."""
    return [
        f"argument {k} is a {value.image.word}: {value.image.array.dtype}, shape {value.image.array.shape}"
        for k, value in enumerate(prepared.launch.arguments)
        if isinstance(value, DeviceImage)
    ]


def _array_at(prepared: Prepared, handle: int) -> list[str]:
    """The array whose address was used as a handle, of which instructions see the low 32 bits only."""
    low = handle & 0xFFFFFFFF
    return [
        f"that is the address of argument {k}, an array"
        for k, value in enumerate(prepared.launch.arguments)
        if isinstance(value, DeviceArray) and value.address & 0xFFFFFFFF == low
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
        details.append(f"instruction {place_of(prepared.program, caller(prepared, state))}")
    if reason == layout.R_INDEX and instruction.op == "within":
        name = prepared.program.arrays[instruction.imm].name
        return OutOfBoundsError(
            f"index {address} is out of bounds for a part of `{name}`, whose size is {extra}",
            location=location,
            details=details,
            help="guard the access: compare the index with the part's .shape",
        )
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
            first = prepared.program.system_shared_bytes if space == "shared" else 0
            end = prepared.shared_bytes if space == "shared" else prepared.program.local_bytes
            begins = f" from {first:#x} on" if first else ""
            details.append(
                f"address {address:#x}, {extra} bytes; {space} memory has {counted(end - first, 'byte')}{begins}"
            )
        else:
            details.append(f"address {address:#x}, {extra} bytes")
            details += _nearest(prepared, address, extra)
        return OutOfBoundsError(
            f"out-of-bounds {access_text(instruction)} of {space} memory", location=location, details=details
        )
    if reason == layout.R_HANDLE:
        return KernelError(
            f"no {'surface' if extra else 'texture'} has the handle {address & 0xFFFFFFFF:#x}",
            location=location,
            details=[*details, *_array_at(prepared, address), *_images(prepared)],
            help=f"give simt.{'surface' if extra else 'texture'}(array, ...) as the kernel's argument",
        )
    if reason == layout.R_SURFACE:
        return OutOfBoundsError(
            f"out-of-bounds {access_text(instruction)} of a surface",
            location=location,
            details=[*details, *_images(prepared)],
            help="x counts bytes; cudaBoundaryModeZero and cudaBoundaryModeClamp allow accesses outside",
        )
    if reason == layout.R_MISALIGNED:
        return MisalignedError(
            f"misaligned {access_text(instruction)}: an access of {extra} bytes requires an address that is a multiple "
            f"of {extra}",
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
            "a lane executes a warp-level operation whose mask does not include it",
            location=location,
            details=[*details, f"mask {address:#010x} names lanes {lanes_text(address)}"],
            help="every executing lane must be in the mask; take the mask before the branch with ballot_sync",
        )
    if reason == layout.R_ARRIVALS:
        return BarrierError(
            f"{counted(extra, 'thread')} arrive at an mbarrier that waits for fewer in this phase",
            location=location,
            details=details,
            help="initialise it with the number of threads that arrive in each phase",
        )
    if reason == layout.R_TRAP and instruction.imm == ZERO_DIVISION:
        return DivisionError(
            "division by zero in a kernel with debug=True, where Numba raises ZeroDivisionError",
            location=location,
            details=details,
        )
    if reason == layout.R_TRAP:
        if instruction.imm == NULL_CALL:
            return TrapError("a function is called through a null pointer", location=location, details=details)
        return _stopped(prepared, pc, location, details)
    if reason == layout.R_CODE_ADDRESS:
        return UnsupportedError(
            f"an indirect branch goes to code address {address:#x}, where no instruction of this kernel starts",
            location=location,
            details=details,
        )
    if reason == layout.R_BUDGET:
        return BudgetError(
            f"a block executed more than {prepared.launch.max_instructions} warp instructions",
            location=location,
            details=details,
            help="the kernel may never end; if it is only long, raise max_instructions (--max-instructions)",
        )
    if reason == layout.R_UNKNOWN:
        return AssertionError(f"the engine has no case for micro-op {instruction.op}")
    return AssertionError(f"the engine stopped at {instruction.op} for reason {reason}, which findings.py lacks")


def _stopped(prepared: Prepared, pc: int, location: Location | None, details: Sequence[str]) -> TrapError:
    """The error of a kernel that stopped itself: at a statement of Python, or a machine instruction."""
    line = prepared.program.listing[prepared.program.instructions[pc].line]
    if prepared.program.view == "source":
        return TrapError(f"the kernel stopped itself (`{line.text.strip()}`)", location=location, details=details)
    return TrapError(
        "the kernel stopped itself (__trap or breakpoint)",
        location=location,
        details=details,
        help="if the source has neither there, the compiler put a trap in the place of what is never right, "
        "such as a store through a null pointer",
    )


_WAITS = {
    layout.WAIT_BSYNC: "waits to reconverge with other lanes of its warp",
    layout.WAIT_BARRIER: "waits at the block barrier",
    layout.WAIT_WARPSYNC: "waits for the lanes named in a warp mask",
    layout.WAIT_PHASE: "waits for a phase of an mbarrier to end",
}


_REMEDIES = {
    layout.WAIT_BARRIER: "every thread of the block that has not exited must reach the barrier; "
    "move it out of the divergent branch",
    layout.WAIT_WARPSYNC: "every lane in a warp mask must reach the same operation with that mask: move it out of the "
    "branch, or take the mask before the branch with ballot_sync",
    layout.WAIT_PHASE: "as many threads must arrive in each phase as the mbarrier was initialised for, and all bytes "
    "that it was told to expect must come; threads that leave arrive with arrive_and_drop",
}


def deadlock(prepared: Prepared, state: layout.State, block: int) -> DeadlockError:
    """The error for a block in which no warp can run; it names every waiting warp, lane mask and line."""
    waiting: list[str] = []
    first: dict[int, int] = {}  # by what it waits for
    reaching = 0  # lanes that wait for a warp mask where the first ones do
    warps = int(state.LAUNCH[layout.LAUNCH_WARPS])
    for warp in range(warps):
        for i in range(int(state.WARPS[warp * layout.N_WARP + layout.W_SPLITS])):
            at = (warp * 32 + i) * layout.N_SPLIT
            split: Sequence[int] = [int(v) for v in state.SPLITS[at : at + layout.N_SPLIT]]
            pc = split[layout.S_PC]
            first.setdefault(split[layout.S_STATE], pc)
            if split[layout.S_STATE] == layout.WAIT_WARPSYNC and pc == first[layout.WAIT_WARPSYNC]:
                reaching |= split[layout.S_MASK]
            waiting.append(
                f"warp {warp}, lanes {lanes_text(split[layout.S_MASK])}: "
                f"{_WAITS[split[layout.S_STATE]]} at {place_of(prepared.program, pc)}"
            )
    culprit = next((state for state in _REMEDIES if state in first), layout.WAIT_WARPSYNC)
    return DeadlockError(
        f"deadlock in block {coordinates(block, prepared.launch.grid)}: no warp can move",
        location=locate(prepared, first[culprit]) if culprit in first else None,
        details=waiting,
        help=_REMEDIES[culprit] + (f" ({reaching:#010x} here)" if culprit == layout.WAIT_WARPSYNC else ""),
    )
