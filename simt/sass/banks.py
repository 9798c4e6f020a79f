"""Constant banks of a launch: what the driver writes into bank 0, the parameters, the cubin's own banks."""

from __future__ import annotations

import struct
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import repeat
from typing import TYPE_CHECKING

import numpy as np

from simt.check import LaunchError, UnsupportedError
from simt.machine import Bank
from simt.machine.images import Image
from simt.machine.launch import NO_FACTS, BankFacts
from simt.ops.encoding import LOCAL_WINDOW, SHARED_WINDOW
from simt.sass.elf import Parameter
from simt.sass.module import Module
from simt.sass.structures import is_structure, structure_bytes
from simt.text import counted

if TYPE_CHECKING:
    from simt.sass.kernel import SassKernel


@dataclass(frozen=True)
class DriverArea:
    """Offsets in constant bank 0 of what the driver writes there (None: not known to exist).

    Block and grid are three 32-bit words each; ``stack`` the initial stack pointer (32 bits); ``local_window`` and
    ``shared_window`` the generic addresses of local and shared memory (64 bits); ``constants`` the generic address
    of constant bank 3 (64 bits), where ``__constant__`` variables are; ``workspace`` the address of the memory in which
    the blocks of a cooperative launch wait for each other: its low and its high word (PTX's %envreg2 and %envreg1);
    ``dynamic_shared`` bytes of dynamic shared memory (32 bits; %dynamic_smem_size).  ``cluster``: where words on the
    cluster of the block begin; see :func:`_own_cluster`.
    """

    block: int
    grid: int
    stack: int
    local_window: int | None
    shared_window: int | None
    constants: int | None
    workspace: tuple[int, int] | None = None
    dynamic_shared: int | None = None
    cluster: int | None = None


_AREAS = (
    # First architecture, then where the compilers of CUDA 11.8 and 13.0 read these values.
    (50, DriverArea(block=0x8, grid=0x14, stack=0x20, local_window=None, shared_window=None, constants=None)),
    (70, DriverArea(0x0, 0xC, 0x28, 0x20, 0x18, constants=0x50, workspace=(0x90, 0x8C), dynamic_shared=0x2C)),
    (90, DriverArea(0x0, 0xC, 0x28, 0x20, 0x18, 0xD0, workspace=(0x48, 0x44), dynamic_shared=0x2C, cluster=0x140)),
    (100, DriverArea(block=0x360, grid=0x370, stack=0x37C, local_window=0x2F8, shared_window=None, constants=0x120)),
)


_STRUCTURE = "the members of the tuple must be those of the C structure, in order and of the same sizes"


def driver_area(architecture: int) -> DriverArea:
    """Layout of the driver's part of bank 0."""
    return [area for first, area in _AREAS if first <= architecture][-1]


def parameter_bytes(parameter: Parameter, value: object, address: int | None, inner: Iterator[int]) -> bytes:
    """The bytes of one argument; ``inner``: addresses of the arrays inside of structures, as far as not yet used.

    Raises LaunchError if it does not fit the parameter.
    """
    number, size = parameter.ordinal, parameter.size
    if isinstance(value, np.ndarray | Image):
        if size != 8 or address is None:
            what = "an array" if isinstance(value, np.ndarray) else f"a {value.word}"
            record = isinstance(value, np.ndarray) and value.ndim == 0 and value.dtype.names
            raise LaunchError(
                f"argument {number} is {what}, but parameter {number} has {counted(size, 'byte')}, not 8",
                help="for the structure in the array give array[()]" if record else "",
            )
        return struct.pack("<Q", address)
    if is_structure(value):
        data = structure_bytes(value, inner, f"argument {number}")
    elif isinstance(value, bytes):
        data = value
    elif isinstance(value, np.generic):
        data = value.tobytes()
    elif isinstance(value, bool | int):
        data = _integer(value, parameter)
    elif isinstance(value, float) and size in (4, 8):
        data = _float(value, parameter)
    else:
        raise LaunchError(
            f"argument {number} is a {type(value).__name__}; give an array or a NumPy scalar",
            help="for a structure, a tuple of them",
        )
    if len(data) != size:
        raise LaunchError(
            f"argument {number} has {counted(len(data), 'byte')} ({type(value).__name__}); parameter {number} takes "
            f"{size}",
            help=_STRUCTURE if is_structure(value) else "give a NumPy scalar of the right size, such as np.int32(n)",
        )
    return data


def _too_large(value: float, parameter: Parameter) -> LaunchError:
    return LaunchError(
        f"argument {parameter.ordinal} is {value}, which does not fit in {counted(parameter.size, 'byte')}"
    )


def _float(value: float, parameter: Parameter) -> bytes:
    try:
        return struct.pack("<f" if parameter.size == 4 else "<d", value)
    except OverflowError:
        raise _too_large(value, parameter) from None


def _integer(value: int, parameter: Parameter) -> bytes:
    if parameter.size not in (1, 2, 4, 8):
        raise LaunchError(
            f"argument {parameter.ordinal} is {value}, but parameter {parameter.ordinal} is a structure "
            f"of {counted(parameter.size, 'byte')}",
            help="give its members as a tuple of NumPy scalars and arrays",
        )
    bits = 8 * parameter.size
    if not -(1 << bits - 1) <= value < 1 << bits:
        raise _too_large(value, parameter)
    return (value & (1 << bits) - 1).to_bytes(parameter.size, "little")


def check_arguments(kernel: SassKernel, block: tuple[int, int, int], arguments: Sequence[object]) -> None:
    """Raise LaunchError if a launch does not fit the kernel's parameters or required block size."""
    parameters = kernel.parameters
    if parameters is None:
        raise LaunchError(
            f"the parameters of {kernel.name} are not known: a listing does not say them",
            help="load the cubin itself, or give parameter sizes to load_cubin(path, parameters=...)",
        )
    if len(arguments) != len(parameters):
        sizes = ", ".join(f"{parameter.size}" for parameter in parameters)
        raise LaunchError(
            f"{kernel.name} takes {len(parameters)} arguments, not {len(arguments)}",
            details=[f"parameter sizes in bytes: {sizes or 'none'}"],
        )
    check_block(kernel, block)
    for parameter, value in zip(parameters, arguments, strict=True):
        parameter_bytes(parameter, value, 0, repeat(0))


def check_block(kernel: SassKernel, block: tuple[int, int, int]) -> None:
    """Raise LaunchError if the kernel was compiled for other or for smaller blocks, UnsupportedError for clusters."""
    if kernel.cluster_blocks > 1:
        raise UnsupportedError(
            f"{kernel.name} was compiled for clusters of {kernel.cluster_blocks} blocks, which are not modelled",
            help="compile it without __cluster_dims__",
        )
    threads = block[0] * block[1] * block[2]
    if kernel.max_threads is not None and threads > kernel.max_threads:
        raise LaunchError(
            f"{kernel.name} was compiled for blocks of at most {kernel.max_threads} threads, not {threads}",
            help="smaller blocks, or other __launch_bounds__",
        )
    if kernel.required_block not in (None, block):
        raise LaunchError(f"{kernel.name} was compiled for blocks of {kernel.required_block}, not {block}")


def bank_image(
    kernel: SassKernel,
    grid: tuple[int, int, int],
    block: tuple[int, int, int],
    arguments: Sequence[object],
    addresses: Sequence[int | None],
    facts: BankFacts = NO_FACTS,
) -> dict[int, Bank]:
    """The constant banks of a launch.

    ``addresses`` are the device addresses of the arguments that are arrays, then those of the arrays inside of
    structures (:func:`inner_arrays`).
    """
    pointers = iter([address or 0 for address in addresses[len(arguments) :]])
    parameters = bytearray(kernel.parameter_bytes)
    for parameter, value, address in zip(kernel.parameters or (), arguments, addresses, strict=False):
        end = parameter.offset + parameter.size
        parameters[parameter.offset : end] = parameter_bytes(parameter, value, address, pointers)
    return raw_bank_image(kernel, grid, block, bytes(parameters), facts)


_CLUSTER = struct.Struct("<4I3f3I32xI")


def _own_cluster(grid: tuple[int, int, int]) -> bytes:
    """What the driver tells a block that is a cluster of its own.

    Whether there are clusters (%is_explicit_cluster), the size of one in blocks (%cluster_nctaid), its inverse, with
    which code works %clusterid out of %ctaid, the number of clusters (%nclusterid), and the blocks of one
    (%cluster_nctarank): where code for sm_90 reads them, with the results of an H200.
    """
    return _CLUSTER.pack(0, 1, 1, 1, 1.0, 1.0, 1.0, *grid, 1)


def raw_bank_image(
    kernel: SassKernel,
    grid: tuple[int, int, int],
    block: tuple[int, int, int],
    parameters: bytes,
    facts: BankFacts = NO_FACTS,
) -> dict[int, Bank]:
    """The constant banks of a launch with these bytes of parameters."""
    area = driver_area(kernel.architecture)
    banks = dict(kernel.lasting_banks)
    base = kernel.parameter_base
    first = bytearray(max(0x400, base + len(parameters)))
    struct.pack_into("<3I", first, area.block, *block)
    struct.pack_into("<3I", first, area.grid, *grid)
    struct.pack_into("<I", first, area.stack, kernel.local_bytes)
    if area.local_window is not None:
        struct.pack_into("<Q", first, area.local_window, LOCAL_WINDOW)
    if area.shared_window is not None:
        struct.pack_into("<Q", first, area.shared_window, SHARED_WINDOW)
    if area.constants is not None and Module.CONSTANTS in banks:
        struct.pack_into("<Q", first, area.constants, banks[Module.CONSTANTS].address)
    if area.workspace is not None:
        for offset, word in zip(area.workspace, (facts.workspace & 0xFFFFFFFF, facts.workspace >> 32), strict=True):
            struct.pack_into("<I", first, offset, word)
    if area.dynamic_shared is not None:
        struct.pack_into("<I", first, area.dynamic_shared, facts.dynamic_shared)
    if area.cluster is not None:
        first[area.cluster : area.cluster + _CLUSTER.size] = _own_cluster(grid)
    first[base : base + len(parameters)] = parameters
    banks[0] = Bank(bytes(first))
    return banks
