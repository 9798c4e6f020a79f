"""A launch made ready for the engine: its constant banks, shared and local memory, uniform rows, dimension table."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from functools import lru_cache
from math import prod
from typing import Any

import numpy as np
import numpy.typing as npt

from simt.check import LaunchError
from simt.machine import images, layout
from simt.machine import layout as L
from simt.machine.device_memory import ALIGNMENT, GUARD_GAP, Allocation, DeviceMemory, align
from simt.machine.encode import encode
from simt.machine.events import EVENT_WORDS
from simt.machine.launch import (
    CLOCK_STEP,
    MAX_LOCAL_BYTES,
    MAX_SHARED_BYTES,
    MAX_STATIC_SHARED_BYTES,
    WORKSPACE_BYTES,
    Bank,
    BankFacts,
    DeviceArray,
    Launch,
    Watch,
    parse_order,
)
from simt.machine.prepared import BANK, Memory, Prepared
from simt.program import FULL_MASK, ArrayRef, Program, Space

_PAGE = 4096

ROUND = 1024
"""Micro-ops of one turn of a warp in a cooperative launch: what it spins on may be written soon."""


def prepare(program: Program, launch: Launch, workers: int, device: DeviceMemory) -> Prepared:
    """Encode the Program, place what lives for this launch behind *device*'s allocations, resolve the uniform rows.

    Raises LaunchError for too much memory, and for an invalid Program (see :func:`encode`).
    """
    encoded = encode(program)
    shared_bytes = _check_sizes(program, launch, device)
    plan = _Plan(device)
    constants = [
        plan.place(array.name, np.ascontiguousarray(array.data).data) if array.space is Space.CONST else 0
        for array in program.arrays
    ]
    placed = _placed_banks(launch, plan)
    if launch.services is not None:
        plan.make_room(launch.services.room(program.syscalls))
    unit = _SWAPPED if encoded.swaps else 1
    memory = plan.finish(workers, shared_bytes, program.local_bytes, launch.threads_per_block, unit)
    dims, bases, shapes = _dimension_table(program, launch, constants, encoded.n_dimensions)
    values = dict.fromkeys(encoded.uniform_rows, 0)
    for uniform in program.uniforms:
        if uniform.kind == "const":
            value = uniform.value
        elif uniform.kind == "arg":
            value = _scalar_bits(launch.arguments[uniform.value])
        elif uniform.kind == "base":
            value = bases[uniform.value]
        elif uniform.kind == "shape":
            value = shapes[uniform.value][uniform.axis]
        elif uniform.kind == "stride":
            value = int(dims[program.arrays[uniform.value].slot + uniform.axis, 1])
        elif uniform.kind == "size":
            value = prod(shapes[uniform.value])
        elif uniform.kind == "bank":
            data = placed[uniform.value].data if uniform.value in placed else b""
            value = int.from_bytes(data[uniform.axis : uniform.axis + uniform.size], "little")
        elif uniform.kind == "bank_base":
            value = placed[uniform.value].address or 0
        else:
            raise AssertionError(uniform.kind)
        values[uniform.row] = _signed(value)
    uniform_values = np.array(list(values.values()), np.int64)
    textures = images.table(launch.arguments)
    return Prepared(program, launch, encoded, device, memory, uniform_values, dims, textures, shared_bytes)


def _check_sizes(program: Program, launch: Launch, device: DeviceMemory) -> int:
    """Bytes of shared memory per block.  Raises LaunchError for too much of any memory."""
    shared_bytes = program.shared_bytes + launch.shared_bytes
    if program.shared_bytes > MAX_STATIC_SHARED_BYTES:
        raise LaunchError(
            f"{program.shared_bytes} bytes of static shared memory; the limit is {MAX_STATIC_SHARED_BYTES}",
            help="use dynamic shared memory: shape 0, and shared_bytes at the launch",
        )
    if shared_bytes > MAX_SHARED_BYTES:
        raise LaunchError(
            f"{shared_bytes} bytes of shared memory per block; the limit is {MAX_SHARED_BYTES}",
            details=[f"static {program.shared_bytes}, dynamic {launch.shared_bytes}"],
        )
    if program.local_bytes > MAX_LOCAL_BYTES:
        raise LaunchError(
            f"{program.local_bytes} bytes of local memory per thread; the limit is {MAX_LOCAL_BYTES}",
            details=["stack, spilled registers and arrays of a thread"],
        )
    return program.system_shared_bytes + shared_bytes


_SWAPPED = 4
"""Bytes of the smallest compare-and-swap; machine code makes atomics of 16 bits of it, on the words that hold them."""


class _Plan:
    """Places what lives for one launch behind all allocations."""

    def __init__(self, device: DeviceMemory) -> None:
        self.device = device
        self.allocations = list(device.allocations)
        self.position = align(device.end, ALIGNMENT)
        self.room = 0

    def place(self, name: str, data: bytes | memoryview) -> int:
        """Put read-only *data* into the arena; its device address."""
        size = memoryview(data).nbytes
        at = self._reserve(size, ALIGNMENT)
        if size:
            self.device.words.M8[at : at + size] = np.frombuffer(data, np.uint8)
        start = at + int(L.ADDRESS_BASE)
        self.allocations.append(Allocation(start, start + size, False, name))
        self.position += GUARD_GAP
        return start

    def make_room(self, size: int) -> None:
        """Reserve writable memory for the services."""
        if size:
            self.room = self._reserve(size, ALIGNMENT) + int(L.ADDRESS_BASE)
            self.allocations.append(Allocation(self.room, self.room + size, True, "parameters of device-side launches"))
            self.position += GUARD_GAP

    def workspace(self) -> int:
        """Device address of zeroed memory in which the blocks of a cooperative launch wait for each other."""
        at = self._reserve(WORKSPACE_BYTES, ALIGNMENT)
        self.device.words.M8[at : at + WORKSPACE_BYTES] = 0
        start = at + int(L.ADDRESS_BASE)
        self.allocations.append(Allocation(start, start + WORKSPACE_BYTES, True, "barrier of the grid"))
        self.position += GUARD_GAP
        return start

    def _reserve(self, size: int, alignment: int) -> int:
        at = align(self.position, alignment)
        room = len(self.device.words.M8)
        if at + size > room:
            raise LaunchError(
                f"the launch needs {at + size} bytes of device memory; the simulator has {room}",
                help="use smaller arrays, a smaller stack or fewer host threads",
            )
        self.position = at + size
        return at

    def finish(self, workers: int, shared_bytes: int, local_bytes: int, threads: int, unit: int) -> Memory:
        """Reserve each worker's shared and local memory.  Allocations end at multiples of *unit* bytes."""
        shared, local = align(shared_bytes, _PAGE), align(local_stride(local_bytes) * align(threads, 32), _PAGE)
        first, each = self._reserve(workers * (shared + local), _PAGE), shared + local
        end = self._reserve(_PAGE, _PAGE) + _PAGE
        regions = self.allocations or [Allocation(0, 0, False, "")]
        return Memory(
            words=self.device.words,
            starts=np.array([region.start for region in regions], np.int64),
            ends=np.array([align(region.end, unit) for region in regions], np.int64),
            writable=np.array([region.writable for region in regions], np.bool_),
            names=[region.name for region in regions],
            hosts=np.array([region.host for region in regions], np.bool_),
            shared_at=[first + k * each for k in range(workers)],
            local_at=[first + shared + k * each for k in range(workers)],
            room=self.room,
            end=end,
        )


def places(program: Program, launch: Launch, workers: int) -> int:
    """Blocks that there is room for: one for each worker, and as many more as are to run together with one."""
    each = program.shared_bytes + launch.shared_bytes + local_stride(program.local_bytes) * launch.threads_per_block
    return workers - 1 + max(1, min(launch.resident, launch.blocks, _MOST_BYTES // max(each, 1)))


_MOST_BYTES = 1 << 28
"""Of shared and local memory of the blocks that run together."""


def local_stride(local_bytes: int) -> int:
    """Bytes from one thread's local memory to the next: 64-bit slots must not straddle two."""
    return align(local_bytes, 8)


def banks(launch: Launch, workspace: int = 0) -> Mapping[int, Bank]:
    """What the constant banks of the launch hold; *workspace*: of :class:`BankFacts`."""
    if launch.bank_image is None:
        return {}
    handles = images.handles(launch.arguments)
    addresses = [
        value.address if isinstance(value, DeviceArray) else handles.get(k) for k, value in enumerate(launch.arguments)
    ]
    return launch.bank_image(addresses, BankFacts(launch.shared_bytes, workspace))


def _placed_banks(launch: Launch, plan: _Plan) -> dict[int, Bank]:
    """The constant banks of the launch, each with its address."""
    return {
        number: bank if bank.address is not None else Bank(bank.data, plan.place(f"{BANK} {number}", bank.data))
        for number, bank in banks(launch, plan.workspace() if launch.cooperative else 0).items()
    }


def _scalar_bits(value: object) -> int:
    """The 64-bit slot of a scalar argument: integers extended by their own sign, floats as their bits."""
    scalar: Any = np.asarray(value)[()]
    if isinstance(scalar, np.float32):
        return int(scalar.view(np.uint32))
    if isinstance(scalar, np.float16):
        return int(scalar.view(np.uint16))
    if isinstance(scalar, np.floating):
        return int(np.float64(scalar).view(np.int64))
    return _signed(int(scalar))


def _signed(bits: int) -> int:
    bits &= 2**64 - 1
    return bits - 2**64 if bits >> 63 else bits


def _dimension_table(
    program: Program, launch: Launch, constants: Sequence[int], slots: int
) -> tuple[npt.NDArray[np.int64], list[int], list[tuple[int, ...]]]:
    """Sizes and byte strides by slot, and the base address and shape of each array of the program."""
    dims = np.zeros((max(slots, 1), 2), np.int64)
    bases: list[int] = []
    shapes: list[tuple[int, ...]] = []
    for array, constant in zip(program.arrays, constants, strict=True):
        base, shape, strides = _placement(program, launch, array, constant)
        for axis in range(array.ndim):
            dims[array.slot + axis] = shape[axis], strides[axis]
        bases.append(base)
        shapes.append(shape)
    return dims, bases, shapes


def _placement(program: Program, launch: Launch, array: ArrayRef, constant: int) -> DeviceArray:
    if array.argument is not None:
        return launch.array(array.argument)
    if array.space is Space.CONST:
        return DeviceArray(constant, array.data.shape, np.ascontiguousarray(array.data).strides)
    itemsize = np.dtype(array.dtype).itemsize
    shape = array.shape or ()
    base = array.offset
    if shape == (-1,):  # dynamic shared memory starts after the static part, whatever its dtype
        shape = (launch.shared_bytes // itemsize,)
        base = program.shared_bytes
    strides = tuple(itemsize * prod(shape[axis + 1 :]) for axis in range(len(shape)))
    return DeviceArray(base, shape, strides)


@lru_cache(maxsize=64)
def _thread_indices(block: tuple[int, int, int]) -> npt.NDArray[np.int64]:
    """threadIdx of each lane: int64 [warps * 3 * 32], x, y and z of a warp side by side; the engine only reads it."""
    x, y, z = block
    warps = -(-(x * y * z) // 32)
    linear = np.arange(warps * 32)
    axes = np.stack([linear % x, linear // x % y, linear // (x * y)])
    return layout.on_lines(axes.reshape(3, warps, 32).transpose(1, 0, 2).astype(np.int64)).reshape(-1)


BARRIER_WORDS = layout.BLOCK_BARRIERS * layout.N_BARRIER
FEW = (128, layout.N_MEMORY, 32, 64, layout.N_NATIVE, layout.N_ERROR, layout.N_LAUNCH, BARRIER_WORDS)
"""Words of the small arrays of a worker: O, X, ADDRESSES, WORDS, NATIVE, ERROR, LAUNCH and BARRIERS."""


def _few_words() -> list[npt.NDArray[np.int64]]:
    """The arrays of FEW, each on lines of its own, made with one call."""
    line = layout.LINES // 8
    room = layout.own_lines(sum(FEW) + len(FEW) * line)
    found, first = [], 0
    for size in FEW:
        found.append(room[first : first + size])
        first += -(-size // line) * line
    return found


def state_arrays(
    prepared: Prepared,
    worker: int,
    trace_rows: int,
    stop: npt.NDArray[np.int64],
    work: npt.NDArray[np.int64] | None = None,
    reached: npt.NDArray[np.uint8] | None = None,
) -> layout.State:
    """Fresh engine state of one host worker.

    *work*, *reached*: where it notes what each block was, and which memory blocks access, if that is asked for.
    """
    program, launch, encoded, memory = prepared.program, prepared.launch, prepared.encoded, prepared.memory
    threads = launch.threads_per_block
    warps = -(-threads // 32)
    n_uniform = len(prepared.uniform)
    own_rows = encoded.n_registers - n_uniform
    registers = layout.own_lines((n_uniform + warps * own_rows) * 32)
    registers[: n_uniform * 32].reshape(n_uniform, 32)[:] = prepared.uniform[:, None]
    predicates = layout.own_lines(warps * encoded.n_predicates).reshape(warps, -1)
    predicates[:, 0] = FULL_MASK
    out, exchanged, addresses, words, native, error, info, barriers = _few_words()
    shared_at = memory.shared_at[worker]
    order, seed = parse_order(launch.order)
    info[layout.LAUNCH_NTID : layout.LAUNCH_NTID + 3] = launch.block
    info[layout.LAUNCH_NCTAID : layout.LAUNCH_NCTAID + 3] = launch.grid
    info[layout.LAUNCH_WARPS] = warps
    info[layout.LAUNCH_BUDGET] = launch.max_instructions
    info[layout.LAUNCH_REGISTERS] = own_rows
    info[layout.LAUNCH_UNIFORM_END] = n_uniform * 32
    info[layout.LAUNCH_PREDICATES] = encoded.n_predicates
    info[layout.LAUNCH_BARRIERS] = encoded.n_barriers
    info[layout.LAUNCH_THREADS] = threads
    info[layout.LAUNCH_ORDER] = order
    info[layout.LAUNCH_SEED] = seed
    info[layout.LAUNCH_SHARED] = shared_at
    info[layout.LAUNCH_SHARED_BYTES] = prepared.shared_bytes
    info[layout.LAUNCH_LOCAL] = memory.local_at[worker]
    info[layout.LAUNCH_LOCAL_BYTES] = program.local_bytes
    info[layout.LAUNCH_LOCAL_STRIDE] = local_stride(program.local_bytes)
    traced = {False: (-2, -2), True: (-1, -1)}[launch.trace] if isinstance(launch.trace, bool) else launch.trace
    info[layout.LAUNCH_TRACE_BLOCK], info[layout.LAUNCH_TRACE_WARP] = traced
    info[layout.LAUNCH_CODE_START] = encoded.code_start
    watch = launch.watch
    info[layout.LAUNCH_WATCH] = watch.told if watch is not None else 0
    info[layout.LAUNCH_FILL], info[layout.LAUNCH_RANDOM] = launch.fill
    events = layout.own_lines(EVENT_WORDS if watch is not None else 1)
    events[0] = 1
    info[layout.LAUNCH_TICK] = CLOCK_STEP
    info[layout.LAUNCH_LEFT] = layout.UNLIMITED
    info[layout.LAUNCH_MHZ] = launch.clock_mhz
    info[layout.LAUNCH_ROUND] = ROUND if launch.cooperative else 0
    return layout.State(
        CODE=encoded.code.reshape(-1),
        COUNTS=layout.own_lines(len(encoded.code) * layout.N_COUNT),
        R=registers,
        F64=registers.view(np.float64),
        F32=registers.view(np.float32),
        O=out,
        O64=out.view(np.float64),
        O32=out.view(np.float32),
        P=predicates.reshape(-1),
        PARTICIPANTS=layout.own_lines(warps * encoded.n_barriers * 32),
        SPLITS=layout.own_lines(warps * 32 * layout.N_SPLIT),
        WARPS=layout.own_lines(warps * layout.N_WARP),
        BARRIERS=barriers,
        TID=_thread_indices(launch.block),
        LAUNCH=info,
        DIMS=prepared.dims,
        TEXTURES=prepared.textures,
        TARGETS=encoded.targets,
        X=exchanged,
        ADDRESSES=addresses,
        WORDS=words,
        NATIVE=native,
        ZEROED=np.arange(n_uniform * 32, encoded.n_registers * 32, 32),
        STARTS=memory.starts,
        ENDS=memory.ends,
        WRITABLE=memory.writable,
        HINTS=layout.own_lines(len(encoded.code)),
        SHAPES=np.zeros(0, np.int64),
        SHARED=memory.words.M64[shared_at // 8 : (shared_at + prepared.shared_bytes + 7) // 8],
        TRACE=np.zeros((trace_rows, layout.N_TRACE), np.int64),
        VALUES=np.zeros((trace_rows, 32), np.int64),
        ERROR=error,
        EVENTS=events,
        WORK=np.zeros(0, np.int64) if work is None else work,
        REACHED=np.zeros(0, np.uint8) if reached is None else reached,
        STOP=stop,
        **memory.words._asdict(),
    )


def begin_watch(prepared: Prepared, watch: Watch, workers: int) -> Prepared:
    """Let a watch begin; the same launch with a code table that tells it of what it wants to hear of."""
    watch.begin(prepared, workers)
    code = prepared.encoded.code.copy()
    needless = watch.needless
    code[needless, layout.C_OP] &= ~(layout.TOLD << layout.FLAGS_SHIFT)
    code[needless, layout.C_OP] |= layout.QUIET << layout.FLAGS_SHIFT
    code[watch.variables, layout.C_OP] |= layout.VARIABLE << layout.FLAGS_SHIFT
    return replace(prepared, encoded=replace(prepared.encoded, code=code))
