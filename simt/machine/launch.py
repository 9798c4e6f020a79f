"""A launch made ready for the engine: code table, memory arena, uniform rows, dimension table."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import numpy.typing as npt

from simt.check import LaunchError
from simt.machine import images, layout
from simt.machine.images import Image
from simt.machine.layout import ADDRESS_BASE
from simt.machine.races import N_SHADOW
from simt.program import FENCE, FULL_MASK, MEMORY_TYPES, MICRO_OPS, RZ, ArrayRef, Program, Space

GUARD_GAP = 1 << 16
"""Unmapped bytes between allocations, so that an access just past one is caught."""

MAX_THREADS_PER_BLOCK = 1024
MAX_BLOCK = (1024, 1024, 64)
MAX_GRID = (2**31 - 1, 65535, 65535)
MAX_SHARED_BYTES = 227 * 1024
MAX_STATIC_SHARED_BYTES = 48 * 1024
"""Limits common to all devices since compute capability 5.0 (CUDA C++ Programming Guide, "Technical
Specifications per Compute Capability"); shared memory is the largest opt-in size (9.0)."""

MAX_RACES_BYTES = 2**26
"""Array bytes of a launch that looks for races: its shadow takes up to 48 bytes for each."""

ORDERS = {"then_first": 0, "else_first": 1, "hardware": 2, "interleaved": 3, "random": 4}


@dataclass
class Launch:
    """What to run a Program with.

    ``arguments`` are NumPy scalars, arrays, or textures and surfaces on arrays, one per kernel parameter; arrays are
    changed in place when the launch succeeds, and stay as they were when it fails or is interrupted.  ``bank_image``
    (machine view) makes the constant banks from the device addresses of the array arguments and the handles of
    textures and surfaces (None for scalars).  ``trace`` is False, True,
    or (linear block index, warp), -1 meaning all.  ``max_instructions`` is per block, in warp instructions.
    ``races`` looks for data races (slower, and one host thread).
    """

    grid: tuple[int, int, int]
    block: tuple[int, int, int]
    arguments: Sequence[Any]
    shared_bytes: int = 0
    order: str = "then_first"
    threads: int | None = None
    trace: bool | tuple[int, int] = False
    max_instructions: int = 2**28
    races: bool = False
    bank_image: Callable[[Sequence[int | None]], Mapping[int, bytes]] | None = None
    progress: Callable[[int, int], None] | None = None

    @property
    def threads_per_block(self) -> int:
        """Threads of a block."""
        return self.block[0] * self.block[1] * self.block[2]

    @property
    def blocks(self) -> int:
        """Blocks of the grid."""
        return self.grid[0] * self.grid[1] * self.grid[2]


def dimensions(value: Any, what: str) -> tuple[int, int, int]:
    """Normalise a grid or block given as an int or a tuple of up to three ints.  Raises LaunchError."""
    parts = value if isinstance(value, (tuple, list)) else (value,)
    if not 1 <= len(parts) <= 3 or not all(isinstance(p, (int, np.integer)) for p in parts):
        raise LaunchError(f"{what} must be an int or a tuple of one to three ints, not {value!r}")
    x, y, z = (*(int(p) for p in parts), 1, 1, 1)[:3]
    limits = MAX_BLOCK if what == "block" else MAX_GRID
    for size, limit, axis in zip((x, y, z), limits, "xyz", strict=True):
        if not 1 <= size <= limit:
            raise LaunchError(
                f"{what} dimension {axis} is {size}; it must be between 1 and {limit}",
                help="an empty input needs no launch" if size == 0 and what == "grid" else "",
            )
    if what == "block" and x * y * z > MAX_THREADS_PER_BLOCK:
        raise LaunchError(f"a block of {x * y * z} threads; the limit is {MAX_THREADS_PER_BLOCK} threads per block")
    return x, y, z


def parse_order(order: str) -> tuple[int, int]:
    """Number and seed of an order: ``then_first``, ``else_first``, ``hardware``, ``interleaved``, ``random:SEED``."""
    name, _, seed = order.partition(":")
    if name not in ORDERS or (seed and not (name == "random" and seed.lstrip("-").isdigit())):
        raise LaunchError(
            f"unknown split order {order!r}",
            help="choose then_first, else_first, hardware, interleaved or random:SEED",
        )
    return ORDERS[name], int(seed or 0) & 0x7FFFFFFF


@dataclass
class Memory:
    """The arena: global allocations with guard gaps, then each worker's shared and local memory."""

    arena: npt.NDArray[np.uint8]
    starts: npt.NDArray[np.int64]
    ends: npt.NDArray[np.int64]
    writable: npt.NDArray[np.bool_]
    names: list[str]
    shared_at: list[int]
    local_at: list[int]
    copies: list[tuple[npt.NDArray[Any], npt.NDArray[Any]]] = field(default_factory=list)

    def copy_back(self) -> None:
        """Write the arena's contents to the caller's arrays."""
        for theirs, ours in self.copies:
            theirs[...] = ours


def _span(array: npt.NDArray[Any]) -> tuple[int, int]:
    """First and one-past-last host address of an array of any strides."""
    low = high = array.ctypes.data
    if array.size:
        reach = [(size - 1) * stride for size, stride in zip(array.shape, array.strides, strict=True)]
        low += sum(r for r in reach if r < 0)
        high += sum(r for r in reach if r > 0) + array.itemsize
    return low, high


def _align(value: int, to: int) -> int:
    return -(-value // to) * to


class Layout:
    """Places arrays in the arena.  Arrays that overlap on the host overlap in the arena, too."""

    def __init__(self, workers: int, shared_bytes: int, local_bytes: int) -> None:
        self.position = GUARD_GAP
        self.extents: list[tuple[int, int, int]] = []  # host low, host high, arena position
        self.regions: list[tuple[int, int, bool, str]] = []
        self.workers = workers
        self.shared_bytes = _align(shared_bytes, 8)
        self.local_stride = _align(local_bytes, 8)  # of each thread: 64-bit slots must not straddle two

    def place(self, size: int, writable: bool, name: str) -> int:
        """Reserve *size* bytes, 256-byte aligned as cudaMalloc does; returns the arena position."""
        at = self.position
        self.regions.append((at, at + size, writable, name))
        self.position = _align(at + size + GUARD_GAP, 256)
        return at

    def place_arrays(self, arrays: Sequence[tuple[str, npt.NDArray[Any]]]) -> list[int]:
        """Reserve room for host arrays; overlapping ones share it.  Returns the arena position of each."""
        merged: list[list[Any]] = []  # low, high, writable, names
        spans = [_span(array) for _, array in arrays]
        for (name, array), (low, high) in zip(arrays, spans, strict=True):
            group = [low, high, array.flags.writeable, [name]]
            for other in [g for g in merged if g[0] < high and low < g[1]]:
                merged.remove(other)
                group = [min(group[0], other[0]), max(group[1], other[1]), group[2] or other[2], other[3] + group[3]]
            merged.append(group)
        for low, high, writable, names in merged:
            self.extents.append((low, high, self.place(high - low, writable, ", ".join(names))))
        positions = []
        for low, high in spans:
            base, _, at = next(e for e in self.extents if e[0] <= low and high <= e[1])
            positions.append(at + low - base)
        return positions

    def finish(self, threads: int) -> Memory:
        """Make the arena."""
        shared_at, local_at = [], []
        position = _align(self.position, 4096)
        for _ in range(self.workers):
            shared_at.append(position)
            position = _align(position + self.shared_bytes, 4096)
            local_at.append(position)
            position = _align(position + self.local_stride * _align(threads, 32), 4096)
        regions = sorted(self.regions)
        return Memory(
            arena=np.zeros(position + 4096, np.uint8),
            starts=np.array([r[0] + ADDRESS_BASE for r in regions] or [0], np.int64),
            ends=np.array([r[1] + ADDRESS_BASE for r in regions] or [0], np.int64),
            writable=np.array([r[2] for r in regions] or [False], np.bool_),
            names=[r[3] for r in regions] or [""],
            shared_at=shared_at,
            local_at=local_at,
        )


def _scalar_bits(value: Any) -> int:
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


@dataclass
class Prepared:
    """A Program and a Launch as arrays.  ``uniform`` is int64 [n_uniform], the value of each uniform row."""

    program: Program
    launch: Launch
    memory: Memory
    code: npt.NDArray[np.int64]
    uniform: npt.NDArray[np.int64]
    n_registers: int
    dims: npt.NDArray[np.int64]
    textures: npt.NDArray[np.int64]
    targets: npt.NDArray[np.int64]
    code_start: int
    shared_bytes: int


def prepare(program: Program, launch: Launch, workers: int) -> Prepared:
    """Place the arrays, resolve the uniform rows and encode the micro-ops.

    Raises LaunchError for too much shared memory.
    """
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
    given_bytes = sum(array.nbytes for value in launch.arguments if (array := _array(value)) is not None)
    if launch.races and given_bytes > MAX_RACES_BYTES:
        raise LaunchError(
            f"{given_bytes} bytes of arrays; races are looked for in at most {MAX_RACES_BYTES}",
            help="a smaller input shows the same races",
        )
    plan = Layout(workers, shared_bytes, program.local_bytes)
    given = [
        (program.parameters[i] if i < len(program.parameters) else f"argument {i}", value)
        for i, value in enumerate(launch.arguments)
    ]
    arrays = [(i, name, array) for i, (name, value) in enumerate(given) if (array := _array(value)) is not None]
    positions = dict(
        zip((i for i, _, _ in arrays), plan.place_arrays([(name, a) for _, name, a in arrays]), strict=True)
    )
    constants = {
        k: plan.place(array.data.nbytes, False, array.name)
        for k, array in enumerate(program.arrays)
        if array.space is Space.CONST
    }
    seen = {i: value for i, (_, value) in enumerate(given) if isinstance(value, Image)}
    handles = {i: images.HANDLES + 1 + k for k, i in enumerate(seen)}
    addresses = [
        handles.get(i, positions[i] + int(ADDRESS_BASE) if i in positions else None) for i in range(len(given))
    ]
    textures = images.table([(image, positions[i] + _offset(image.array)) for i, image in seen.items()])
    banks = dict(launch.bank_image(addresses)) if launch.bank_image else {}
    bank_at = {number: plan.place(len(image), False, f"constant bank {number}") for number, image in banks.items()}
    memory = plan.finish(launch.threads_per_block)

    for number, image in banks.items():
        memory.arena[bank_at[number] : bank_at[number] + len(image)] = np.frombuffer(image, np.uint8)
    for k, at in constants.items():
        data = np.ascontiguousarray(program.arrays[k].data)
        memory.arena[at : at + data.nbytes] = data.reshape(-1).view(np.uint8)
    for i, _, array in arrays:
        ours: npt.NDArray[Any] = np.ndarray(
            array.shape, array.dtype, memory.arena.data, positions[i] + _offset(array), array.strides
        )
        ours[...] = array
        if array.flags.writeable:
            memory.copies.append((array, ours))

    dims, bases, shapes = _dimension_table(program, launch, positions, constants)
    values = {}
    for uniform in program.uniforms:
        if uniform.kind == "const":
            value = uniform.value
        elif uniform.kind == "arg":
            value = _scalar_bits(launch.arguments[uniform.value])
        elif uniform.kind == "base":
            value = bases[uniform.value]
        elif uniform.kind == "shape":
            value = shapes[uniform.value][uniform.axis]
        elif uniform.kind == "size":
            value = int(np.prod(shapes[uniform.value], dtype=np.int64))
        elif uniform.kind == "bank":
            image = banks.get(uniform.value, b"")
            value = int.from_bytes(image[uniform.axis : uniform.axis + uniform.size], "little")
        elif uniform.kind == "bank_base":
            value = bank_at[uniform.value] + int(ADDRESS_BASE)
        else:
            raise AssertionError(uniform.kind)
        values[uniform.row] = _signed(value)
    code, uniform_values, n_registers = _encode(program, values)
    targets, code_start = _targets(program)
    return Prepared(
        program, launch, memory, code, uniform_values, n_registers, dims, textures, targets, code_start, shared_bytes
    )


def _array(value: Any) -> npt.NDArray[Any] | None:
    """The array that an argument is, or that it is a texture or surface of."""
    if isinstance(value, Image):
        return value.array
    return value if isinstance(value, np.ndarray) else None


def _offset(array: npt.NDArray[Any]) -> int:
    """Bytes from the lowest address of an array to its first element (negative strides)."""
    return array.ctypes.data - _span(array)[0]


def _dimension_table(
    program: Program, launch: Launch, positions: Mapping[int, int], constants: Mapping[int, int]
) -> tuple[npt.NDArray[np.int64], list[int], list[tuple[int, ...]]]:
    """Sizes and byte strides by slot, and the base address and shape of each array of the program."""
    slots = max((array.slot + array.ndim for array in program.arrays), default=0)
    dims = np.zeros((max(slots, 1), 2), np.int64)
    bases: list[int] = []
    shapes: list[tuple[int, ...]] = []
    for k, array in enumerate(program.arrays):
        shape, strides, base = _placement(program, launch, array, k, positions, constants)
        for axis in range(array.ndim):
            dims[array.slot + axis] = shape[axis], strides[axis]
        bases.append(base)
        shapes.append(shape)
    return dims, bases, shapes


def _placement(
    program: Program,
    launch: Launch,
    array: ArrayRef,
    k: int,
    positions: Mapping[int, int],
    constants: Mapping[int, int],
) -> tuple[tuple[int, ...], tuple[int, ...], int]:
    if array.argument is not None:
        host = launch.arguments[array.argument]
        return host.shape, host.strides, positions[array.argument] + _offset(host) + int(ADDRESS_BASE)
    itemsize = np.dtype(array.dtype).itemsize
    if array.space is Space.CONST:
        data = np.ascontiguousarray(array.data)
        return data.shape, data.strides, constants[k] + int(ADDRESS_BASE)
    shape = array.shape or ()
    base = array.offset
    if shape == (-1,):  # dynamic shared memory starts after the static part, whatever its dtype
        shape = (launch.shared_bytes // itemsize,)
        base = program.shared_bytes
    strides = tuple(itemsize * int(np.prod(shape[axis + 1 :], dtype=np.int64)) for axis in range(len(shape)))
    return shape, strides, base


def _encode(program: Program, values: Mapping[int, int]) -> tuple[npt.NDArray[np.int64], npt.NDArray[np.int64], int]:
    """The code table, the uniform values, and the number of register rows.

    Rows are renumbered so that the uniform ones come first: they stand once for all warps.
    """
    rows = [RZ, *sorted(set(values) - {RZ})]
    place = np.zeros(max(program.n_registers, max(rows) + 1), np.int64)
    uniform_rows = set(rows)
    for new, old in enumerate(rows):
        place[old] = new
    following = len(rows)
    for old in range(len(place)):
        if old not in uniform_rows:
            place[old] = following
            following += 1
    code = np.zeros((len(program.instructions) + 1, layout.N_CODE), np.int64)
    code[-1, 0] = MICRO_OPS["trap"].code  # for code that runs past its end
    for pc, instruction in enumerate(program.instructions):
        spec = MICRO_OPS[instruction.op]
        fields = [
            int(place[value]) * 32 if letter == "r" else value
            for letter, value in zip(
                spec.operands, (instruction.dst, instruction.a, instruction.b, instruction.c), strict=True
            )
        ]
        flags = layout.RETIRES * instruction.retires | layout.UNIFORM * instruction.uniform
        op = spec.code | flags << layout.FLAGS_SHIFT
        code[pc] = [op, *fields, instruction.guard, instruction.imm, instruction.mod]
    uniform = np.array([values.get(row, 0) for row in rows], np.int64)
    return code, uniform, following


def _targets(program: Program) -> tuple[npt.NDArray[np.int64], int]:
    """Micro-op index per 8 bytes of machine code, from the lowest code address on; -1 where none starts."""
    if not program.addresses:
        return np.full(1, -1, np.int64), 0
    start = min(program.addresses)
    table = np.full((max(program.addresses) - start) // 8 + 1, -1, np.int64)
    for address, pc in program.addresses.items():
        table[(address - start) // 8] = pc
    return table, start


def _granule(program: Program) -> int:
    """log2 of the smallest access to global or shared memory, in bytes: the unit in which races are looked for."""
    sizes = [4]
    by_number = dict(MEMORY_TYPES.values())
    for instruction in program.instructions:
        if instruction.op.startswith(("ld.global", "ld.shared", "ld.generic", "st.global", "st.shared", "st.generic")):
            sizes.append(by_number[instruction.mod])
    return min(sizes).bit_length() - 1


def state_arrays(prepared: Prepared, worker: int, trace_rows: int, stop: npt.NDArray[np.int64]) -> layout.State:
    """Fresh engine state of one host worker."""
    program, launch = prepared.program, prepared.launch
    threads = launch.threads_per_block
    warps = -(-threads // 32)
    n_uniform = len(prepared.uniform)
    own_rows = prepared.n_registers - n_uniform
    registers = np.zeros((n_uniform + warps * own_rows) * 32, np.int64)
    registers[: n_uniform * 32] = np.repeat(prepared.uniform, 32)
    predicates = np.zeros((warps, max(program.n_predicates, 1)), np.int64)
    predicates[:, 0] = FULL_MASK
    out = np.zeros(128, np.int64)
    arena = prepared.memory.arena
    shared_at = prepared.memory.shared_at[worker]
    order, seed = parse_order(launch.order)
    info = np.zeros(layout.N_LAUNCH, np.int64)
    info[0:3] = launch.block
    info[6:9] = launch.grid
    info[layout.LAUNCH_WARPS] = warps
    info[layout.LAUNCH_BUDGET] = launch.max_instructions
    info[layout.LAUNCH_REGISTERS] = own_rows
    info[layout.LAUNCH_UNIFORM_END] = n_uniform * 32
    info[layout.LAUNCH_PREDICATES] = predicates.shape[1]
    info[layout.LAUNCH_BARRIERS] = max(program.n_barriers, 1)
    info[layout.LAUNCH_THREADS] = threads
    info[layout.LAUNCH_ORDER] = order
    info[layout.LAUNCH_SEED] = seed
    info[layout.LAUNCH_SHARED] = shared_at
    info[layout.LAUNCH_SHARED_BYTES] = prepared.shared_bytes
    info[layout.LAUNCH_LOCAL] = prepared.memory.local_at[worker]
    info[layout.LAUNCH_LOCAL_BYTES] = program.local_bytes
    info[layout.LAUNCH_LOCAL_STRIDE] = _align(program.local_bytes, 8)
    traced = {False: (-2, -2), True: (-1, -1)}[launch.trace] if isinstance(launch.trace, bool) else launch.trace
    info[layout.LAUNCH_TRACE_BLOCK], info[layout.LAUNCH_TRACE_WARP] = traced
    info[layout.LAUNCH_CODE_START] = prepared.code_start
    info[layout.LAUNCH_RACES] = launch.races
    granule = _granule(program)
    info[layout.LAUNCH_GRANULE] = granule
    info[layout.LAUNCH_FENCED] = any(i.op == "nop" and i.mod == FENCE for i in program.instructions)
    linear = np.arange(warps * 32)
    x, y, _ = launch.block
    tid = np.stack([linear % x, linear // x % y, linear // (x * y)]).reshape(3, warps, 32).transpose(1, 0, 2)
    words = arena[: len(arena) // 8 * 8]
    return layout.State(
        CODE=prepared.code.reshape(-1),
        COUNTS=np.zeros(len(prepared.code) * layout.N_COUNT, np.int64),
        R=registers,
        F64=registers.view(np.float64),
        F32=registers.view(np.float32),
        O=out,
        O64=out.view(np.float64),
        O32=out.view(np.float32),
        P=predicates.reshape(-1),
        PARTICIPANTS=np.zeros(warps * max(program.n_barriers, 1) * 32, np.int64),
        SPLITS=np.zeros(warps * 32 * layout.N_SPLIT, np.int64),
        WARPS=np.zeros(warps * layout.N_WARP, np.int64),
        BARRIERS=np.zeros(layout.BLOCK_BARRIERS * layout.N_BARRIER, np.int64),
        TID=np.ascontiguousarray(tid).reshape(-1).astype(np.int64),
        LAUNCH=info,
        DIMS=prepared.dims,
        TEXTURES=prepared.textures,
        TARGETS=prepared.targets,
        X=np.zeros(layout.N_MEMORY, np.int64),
        ADDRESSES=np.zeros(32, np.int64),
        WORDS=np.zeros(1024, np.int64),
        FILL=np.zeros(32, np.int64),
        M8=arena,
        M16=words.view(np.uint16),
        M32=words.view(np.uint32),
        M64=words.view(np.int64),
        MF32=words.view(np.float32),
        MF64=words.view(np.float64),
        STARTS=prepared.memory.starts,
        ENDS=prepared.memory.ends,
        WRITABLE=prepared.memory.writable,
        HINTS=np.zeros(len(prepared.code), np.int64),
        SHARED=words.view(np.int64)[shared_at // 8 : (shared_at + prepared.shared_bytes + 7) // 8],
        TRACE=np.zeros((trace_rows, layout.N_TRACE), np.int64),
        VALUES=np.zeros((trace_rows, 32), np.int64),
        ERROR=np.zeros(layout.N_ERROR, np.int64),
        SHADOW=np.zeros((len(arena) >> granule) * N_SHADOW if launch.races else 0, np.int64),
        STOP=stop,
    )
