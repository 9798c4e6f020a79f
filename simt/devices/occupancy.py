"""Theoretical occupancy: how many blocks of a kernel fit on a multiprocessor at a time.

The rules are those of NVIDIA's CUDA Occupancy Calculator (and ``cuda_occupancy.h`` of the CUDA toolkit): a
warp's registers are rounded up to ``register_unit``, the warps that the register file holds are rounded down
to ``warp_unit``, a block's shared memory is rounded up to ``shared_unit`` after adding what the system
reserves.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, dataclass
from typing import Any

from simt.devices.device import WARP_SIZE, DeviceError, Gpu


@dataclass(frozen=True)
class Occupancy:
    """What fits on one multiprocessor.

    ``limits`` gives, per resource, the blocks that it alone would allow (``warps``, ``blocks``,
    ``registers``, ``shared memory``; registers only if they were given).  ``limited_by`` are the resources
    that allow the fewest.
    """

    device: str
    threads_per_block: int
    warps_per_block: int
    registers: int | None
    shared_bytes: int
    blocks_per_sm: int
    warps_per_sm: int
    max_warps_per_sm: int
    limits: Mapping[str, int]
    limited_by: tuple[str, ...]

    @property
    def percent(self) -> float:
        """Resident warps in percent of the most that the multiprocessor holds."""
        return 100 * self.warps_per_sm / self.max_warps_per_sm

    def to_dict(self) -> dict[str, Any]:
        """All fields and the percentage, for JSON."""
        return {**asdict(self), "limited_by": list(self.limited_by), "percent": self.percent}


def _round_up(value: int, unit: int) -> int:
    return -(-value // unit) * unit


def _blocks_by_registers(device: Gpu, warps_per_block: int, registers: int) -> int:
    per_warp = _round_up(registers * WARP_SIZE, device.limit("register_unit"))
    unit = device.limit("warp_unit")
    in_block = device.limit("registers_per_block")
    if registers > device.limit("registers_per_thread") or per_warp * _round_up(warps_per_block, unit) > in_block:
        return 0
    warps = device.limit("registers_per_sm") // per_warp // unit * unit
    return warps // warps_per_block


def _blocks_by_shared(device: Gpu, shared_bytes: int) -> int | None:
    """Blocks that shared memory allows; ``None`` if it sets no limit."""
    if shared_bytes > device.limit("shared_per_block_optin"):
        return 0
    wanted = shared_bytes + device.limit("shared_reserved_per_block")
    taken = _round_up(wanted, device.limit("shared_unit"))
    return device.limit("shared_per_sm") // taken if taken else None


def occupancy(device: Gpu, threads_per_block: int, registers: int | None = None, shared_bytes: int = 0) -> Occupancy:
    """Theoretical occupancy of a kernel on *device*.

    ``registers`` per thread (``None``: not known, no limit), ``shared_bytes`` static and dynamic per block.
    A block that does not fit on a multiprocessor has 0 blocks per SM.  Raises :class:`DeviceError` for values that
    no launch has.
    """
    most = device.limit("threads_per_block")
    if not 1 <= threads_per_block <= most:
        raise DeviceError(f"{threads_per_block} threads per block: {device.name} takes 1 to {most}")
    if registers is not None and registers < 1:
        raise DeviceError(f"{registers} registers per thread: a kernel has at least 1")
    if shared_bytes < 0:
        raise DeviceError(f"{shared_bytes} bytes of shared memory: a size cannot be negative")
    warps = -(-threads_per_block // WARP_SIZE)
    limits = {"warps": device.limit("warps_per_sm") // warps, "blocks": device.limit("blocks_per_sm")}
    if registers is not None:
        limits["registers"] = _blocks_by_registers(device, warps, registers)
    by_shared = _blocks_by_shared(device, shared_bytes)
    if by_shared is not None:
        limits["shared memory"] = by_shared
    blocks = min(limits.values())
    return Occupancy(
        device=device.key,
        threads_per_block=threads_per_block,
        warps_per_block=warps,
        registers=registers,
        shared_bytes=shared_bytes,
        blocks_per_sm=blocks,
        warps_per_sm=blocks * warps,
        max_warps_per_sm=device.limit("warps_per_sm"),
        limits=limits,
        limited_by=tuple(name for name, allowed in limits.items() if allowed == blocks),
    )
