"""Names of Numba's CUDA dialect, found by identity, whatever alias or package the kernel imports them by."""

from __future__ import annotations

import sys
from functools import lru_cache
from types import ModuleType
from typing import Any

CUDA_MODULES = ("numba.cuda", "numba.cuda.simulator", "numba_cuda.numba.cuda")
"""Module names of the dialect: Numba's own, its simulator, NVIDIA's package."""

DIMENSIONS = {"threadIdx": "tid", "blockIdx": "ctaid", "blockDim": "ntid", "gridDim": "nctaid"}
"""The dialect's three-component registers and their PTX names."""

NAMES = (
    *DIMENSIONS,
    "laneid", "warpsize", "grid", "gridsize",
    "shared", "shared.array", "local", "local.array", "const", "const.array_like",
    "syncthreads", "syncthreads_count", "syncthreads_and", "syncthreads_or", "syncwarp",
    "threadfence", "threadfence_block", "threadfence_system",
    "shfl_sync", "shfl_up_sync", "shfl_down_sync", "shfl_xor_sync", "shfl_sync_intrinsic",
    "all_sync", "any_sync", "eq_sync", "ballot_sync", "vote_sync_intrinsic",
    "match_any_sync", "match_all_sync", "activemask", "lanemask_lt",
    "ldca", "ldcg", "ldcs", "ldlu", "ldcv", "stcg", "stcs", "stwb", "stwt", "cbrt",
    "popc", "brev", "clz", "ffs", "fma", "selp", "nanosleep",
    "atomic", "atomic.add", "atomic.sub", "atomic.and_", "atomic.or_", "atomic.xor", "atomic.inc",
    "atomic.dec", "atomic.exch", "atomic.max", "atomic.min", "atomic.nanmax", "atomic.nanmin", "atomic.cas",
    "atomic.compare_and_swap", "cg", "cg.this_grid",
)  # fmt: skip
"""Every name of the dialect that the simulator knows."""


def is_cuda_module(value: Any) -> bool:
    """True for the module that a kernel imports as ``cuda``."""
    return isinstance(value, ModuleType) and value.__name__ in CUDA_MODULES


@lru_cache(maxsize=1)
def _by_identity() -> dict[int, str]:
    symbols: dict[int, str] = {}
    for module_name in CUDA_MODULES:
        module = sys.modules.get(module_name)
        if module is None:
            continue
        for name in NAMES:
            value: Any = module
            for part in name.split("."):
                value = getattr(value, part, None)
            if value is not None:
                symbols[id(value)] = name
    return symbols


def symbol_of(value: Any) -> str | None:
    """The dialect's name of *value*: ``""`` for the module itself, ``"atomic.add"``, or None."""
    if is_cuda_module(value):
        return ""
    if value is None or isinstance(value, bool | int | float | str):
        return None
    return _by_identity().get(id(value))
