"""The numbers that the fields ``imm`` and ``mod`` of micro-ops carry, and the names behind them."""

from __future__ import annotations

from enum import Enum

SPECIAL_REGISTERS = (
    "tid.x", "tid.y", "tid.z",
    "ntid.x", "ntid.y", "ntid.z",
    "ctaid.x", "ctaid.y", "ctaid.z",
    "nctaid.x", "nctaid.y", "nctaid.z",
    "laneid", "warpid", "nwarpid", "smid",
    "lanemask_eq", "lanemask_lt", "lanemask_le", "lanemask_gt", "lanemask_ge",
    "clock", "globaltimer",
)  # fmt: skip
"""Special registers in order of their number (PTX names)."""

CLOCKS = ("clock", "globaltimer")
"""Those that tell the time."""

MEMORY_TYPES = {
    # name: (number, bytes, note)
    "u8": (0, 1),
    "s8": (1, 1),
    "u16": (2, 2),
    "s16": (3, 2),
    "u32": (4, 4),
    "s32": (5, 4),
    "b64": (6, 8),  # one 64-bit slot
    "v2": (7, 8),  # two 32-bit registers, consecutive rows
    "v4": (8, 16),  # four 32-bit registers, consecutive rows
}
"""Access types of loads and stores: number and bytes. float32 moves as u32, float64 as b64."""

ATOMICS = ("add", "min", "max", "and", "or", "xor", "exch", "cas", "inc", "dec", "sub", "nanmin", "nanmax")
"""Atomic operations in order of their number. ``cas`` compares with operand c and stores operand b."""

ATOMIC_TYPES = ("s32", "u32", "s64", "u64", "f32", "f64", "f16x2", "bf16x2", "f32x2", "f32x4")
"""Operand types of atomics in order of their number; packed ones and vectors (consecutive rows) are only added."""

ATOMIC_BYTES = (4, 4, 8, 8, 4, 8, 4, 4, 8, 16)
"""Bytes that a lane accesses, by the type's number."""


MUFU_FUNCTIONS = ("rcp", "rsq", "sqrt", "ex2", "lg2", "sin", "cos", "tanh", "rcp64h", "rsq64h")
"""Functions of ``mufu.b32`` in order of their number: of a float32; sin and cos take turns (revolutions); the last two
take and give the upper word of a float64."""

PRMT_MODES = ("", "f4e", "b4e", "rc8", "ecl", "ecr", "rc16")
"""Modes of ``prmt.b32`` in order of their number (PTX ISA, prmt); the first takes four selectors from b."""

ROUNDED_FORMATS = ("f16", "f32", "f64", "bf16")
"""Floating-point formats of the ``rnd`` micro-ops; see :func:`rounded`."""

ROUNDINGS = ("rn", "rm", "rp", "rz")
"""Roundings in order of their number: nearest even, down, up, towards zero."""

INTEGER_TYPES = ("u8", "s8", "u16", "s16", "u32", "s32", "u64", "s64")
"""Destination types of ``cvt.int.f64`` in order of their number."""


def rounded(format: str, rounding: str, keeps_nan: bool = False) -> int:
    """The ``imm`` of a ``rnd`` micro-op: format, rounding, whether ``cvt.rnd.f64`` keeps a NaN's sign and payload."""
    return ROUNDED_FORMATS.index(format) + 4 * ROUNDINGS.index(rounding) + 16 * keeps_nan


def integer_conversion(type: str, rounding: str, nan_to_zero: bool) -> int:
    """The ``imm`` of ``cvt.int.f64``.  A NaN that does not give 0 gives the type's bits with only the top one set."""
    return INTEGER_TYPES.index(type) + 8 * ROUNDINGS.index(rounding) + 32 * nan_to_zero


WHOLE = 1
"""``mod`` of a ``high.b64`` that ends the writing of a register pair."""

FENCE = 1
"""``mod`` of a ``nop`` that is a memory fence; its ``imm`` is one of SCOPES."""

COMMIT, AWAIT = 2, 3
"""``mod`` of a ``nop`` that makes a group of a thread's asynchronous copies, and of one that waits for all but the last
``imm`` groups."""

COPY_GROUPS = 64
"""One past the most groups that may be left: DEPBAR has six bits for them."""

SCOPES = ("block", "device", "system")
"""Threads among which a memory fence orders accesses, by number."""

UNCOUNTED = 1
"""``mod`` of a ``bra`` that is no branch to a profiler."""

COLLECTIVE = 1
"""``mod`` of a ``warpsync`` that lanes may reach at several places: they all go on where the last ones came; and of the
``brx`` that sends them back.  Lanes at one without a ``mod`` wait for others at this very one (H200, H100)."""

_FUNCTIONS = "syncwarp shfl.idx shfl.up shfl.down shfl.bfly vote.all vote.any vote.eq ballot match.any match.all"
MEETINGS = {name: number for number, name in enumerate(_FUNCTIONS.split(), COLLECTIVE + 1)}
"""``mod`` of the ``warpsync`` of a warp-level function of Python, by what it does: lanes may reach it at several
places, and each goes on from its own.  So ptxas compiles them (CUDA 13.0): those that do the same meet."""

SYSCALL = "syscall"
"""The micro-op at which the engine stops until the host has served a call of its exec lanes.

``imm``: which one of ``Program.syscalls``.  ``a``: the first of ``mod`` consecutive rows with the arguments and room
for what the call returns.  ``b``, ``c``: rows with the two words of the return address, RZ where
the micro-op is itself the call.  It counts nothing: it never retires.
"""

GRID_BARRIER = "grid barrier"
"""The system call that the machine serves itself: its block waits until a thread of every block has called."""

INDEPENDENT_CALLS = frozenset({"vprintf", "print", "__assertfail"})
"""System calls whose outcome is the same in whatever order blocks make them."""

SHARED_WINDOW = 0x7E0000000000
"""Generic addresses from here on are shared memory, one 4 GiB window."""
LOCAL_WINDOW = 0x7E0100000000
"""Generic addresses from here on are local memory, one 4 GiB window."""

NULL_CALL = 1
"""``imm`` of a ``trap`` that stands for a call through a null pointer."""

ZERO_DIVISION = 2
"""``imm`` of a ``trap`` that stands for a division by zero where Numba checks for it (``debug=True``)."""

TEXTURE_FORMS, SURFACE_FORMS = 1 << 9, 1 << 7
"""One past the greatest ``imm`` of texture and of surface micro-ops."""


class Boundary(Enum):
    """What a surface access does outside the surface."""

    TRAP = 0  # it ends the kernel
    CLAMP = 1  # it goes to the nearest texel
    ZERO = 2  # a read gives zero, a write does nothing


CUBE = 0
"""Dimensions of a cube map in :func:`texture_form`; its coordinates are those of a direction."""


def texture_form(mask: int, dims: int, layered: bool, component: int = 0) -> int:
    """The ``imm`` of a texture micro-op.

    *mask*: which of four results it leaves, in consecutive rows; *dims*: 1 to 3, or CUBE; *component*: which one
    ``tld4`` gathers.
    """
    return mask | dims << 4 | layered << 6 | component << 7


def surface_form(dims: int, layered: bool, boundary: Boundary, in_bytes: bool, formatted: bool = False) -> int:
    """The ``imm`` of a surface micro-op.  Coordinates: x (*in_bytes*, or in texels), y, z, then the layer.

    *formatted*: four components are converted to or from the surface's type.
    """
    return dims | layered << 2 | boundary.value << 3 | in_bytes << 5 | formatted << 6
