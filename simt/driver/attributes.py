"""What a program hears about the device: CUDA's attributes, from the device file."""

from __future__ import annotations

from simt.devices import Gpu
from simt.driver.protocol import ATTRIBUTES

_LIMITS = {
    1: "threads_per_block",
    2: "block_x",
    3: "block_y",
    4: "block_z",
    5: "grid_x",
    6: "grid_y",
    7: "grid_z",
    8: "shared_per_block",
    12: "registers_per_block",
    16: "multiprocessors",
    39: "threads_per_sm",
    81: "shared_per_sm",
    82: "registers_per_sm",
    97: "shared_per_block_optin",
    106: "blocks_per_sm",
    111: "shared_reserved_per_block",
}
"""Attribute (number in ``CUdevice_attribute``): limit of the device file."""

_SAME = {
    9: 65536,  # constant memory
    10: 32,  # warp size
    11: 2**31 - 1,  # pitch
    14: 512,  # alignment of textures
    15: 1,  # copies beside kernels
    19: 1,  # mapped host memory
    30: 512,  # alignment of surfaces
    31: 1,  # concurrent kernels
    33: 1,  # PCI bus
    40: 1,  # copy engines
    41: 1,  # unified addressing
    44: 1,  # texture gather
    51: 32,  # alignment of texture pitch
    78: 1,  # stream priorities
    79: 1,  # L1 caches global memory
    80: 1,  # and local memory
    83: 1,  # managed memory
    86: 1,  # native atomics of the host: it is one memory
    87: 2,  # single to double precision
    89: 1,  # managed memory while a kernel runs
    90: 1,  # preemption
    99: 1,  # memory of the host can be registered
    115: 1,  # memory pools
    129: 1,  # function pointers are the same everywhere
    134: -1,  # NUMA node of the host: none
    131: -1,
}
"""Attributes that all modelled devices have alike; what is not here is 0: not supported."""

_IMAGES = {
    21: 131072,  # textures: 1D, 2D, 3D
    22: 131072,
    23: 65536,
    **dict.fromkeys((24, 25, 26), 16384),
    **dict.fromkeys((27, 28, 42, 45, 46, 73, 74, 77, 52, 53), 32768),
    **dict.fromkeys((29, 43, 62, 65), 2048),  # layers
    54: 2046,
    69: 2**28,  # linear memory
    70: 131072,
    71: 65000,
    72: 2097120,
    **dict.fromkeys((47, 48), 8192),
    49: 32768,
    55: 32768,  # surfaces
    56: 131072,
    57: 65536,
    **dict.fromkeys((58, 59, 60), 16384),
    **dict.fromkeys((61, 63, 64, 66, 67), 32768),
    68: 2046,
}
"""Largest textures and surfaces (CUDA C++ Programming Guide, technical specifications since 6.0)."""


def product(gpu: Gpu, name: str) -> int:
    """A number of the section ``product``; 0 for a device file without it."""
    number = gpu.sections.get("product", {}).get(name)
    return int(number.value) if number else 0


def attributes(gpu: Gpu) -> list[int]:
    """The attributes by number, from 0."""
    major, minor = (int(part) for part in gpu.compute_capability.split("."))
    found = _SAME | _IMAGES | {number: gpu.limit(name) for number, name in _LIMITS.items()}
    found |= {
        13: gpu.limit("clock_mhz") * 1000,
        36: product(gpu, "memory_clock_mhz") * 1000,
        37: product(gpu, "memory_bus_bits"),
        38: product(gpu, "l2_cache_bytes"),
        75: major,
        76: minor,
        95: 1,  # cooperative launches
    }
    if major >= 8:  # the part of L2 that persisting accesses can have, and how many bytes they may be: as on an A100
        found |= {108: 3 * found[38] // 4, 109: 1 << 27}
    return [found.get(number, 0) for number in range(ATTRIBUTES)]
