"""The launches whose machine code, results and counts are stored for the machine view.

The kernels of ``kernels.py``, ``control_flow.py`` and ``practice.py`` in ``tests/data/hardware/numba``, the whole of
``simt.kernels`` at two block sizes, and some of its reductions in other types.
"""

from __future__ import annotations

import importlib.util
import sys
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from types import ModuleType
from typing import Any

from simt import kernels

DATA = Path(__file__).parent.parent / "data" / "hardware" / "numba"


@dataclass(frozen=True)
class MachineLaunch:
    """One stored launch; ``args()`` makes the same arguments every time."""

    name: str
    kernel: Callable[..., None]
    grid: int | tuple[int, ...]
    block: int | tuple[int, ...]
    args: Callable[[], tuple[Any, ...]]
    shared_bytes: int = 0


@cache
def kernel_module(name: str = "kernels") -> ModuleType:
    """A module of further kernels, imported from its file."""
    spec = importlib.util.spec_from_file_location(f"numba_hardware_{name}", DATA / f"{name}.py")
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    sys.modules[spec.name] = module
    spec.loader.exec_module(module)
    return module


def launches() -> Iterator[MachineLaunch]:
    """Every launch; names are unique."""
    for launch in kernel_module().LAUNCHES:
        yield MachineLaunch(launch.name, launch.kernel, launch.grid, launch.block, launch.args, launch.shared_bytes)
    for module in ("control_flow", "practice"):
        for kernel, grid, block, args in kernel_module(module).LAUNCHES:
            yield MachineLaunch(kernel.__name__, kernel, grid, block, args)
    for name in kernels.names("reduction"):
        yield _reduction(name, 2**13, 512)
        yield _reduction(name, 10007, 96)
    for name in ("interleaved", "unroll_warps8", "shared", "shuffle"):
        for dtype in ("int64", "float32", "float64"):
            yield _reduction(name, 5003, 128, dtype)
    yield _reduction("atomic", 5003, 128, "int32", "max")
    yield _reduction("shuffle", 5003, 128, "float32", "min")
    yield _reduction("interleaved", 5003, 128, "int32", "product")
    for name in kernels.names("divergence"):
        plan = kernels.get(name).plan()
        yield MachineLaunch(name, plan.kernel, plan.grid, plan.block, _divergence_args(name))


def _divergence_args(name: str) -> Callable[[], tuple[Any, ...]]:
    return lambda: kernels.get(name).plan().args


def _reduction(name: str, n: int, block: int, dtype: str = "int32", op: str = "sum") -> MachineLaunch:
    entry = kernels.get_reduction(name)

    def plan() -> kernels.ReductionPlan:
        return entry.plan_for(kernels.sample(n, dtype), block, op)

    first = plan()
    kind = "" if (dtype, op) == ("int32", "sum") else f"_{dtype}_{op}"
    return MachineLaunch(f"{name}_b{block}{kind}", first.kernel, first.grid, first.block, lambda: plan().args)
