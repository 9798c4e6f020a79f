"""Kernels to simulate: the reduction family and the divergence cases, plain Numba CUDA Python functions.

``names()`` lists them, ``get(name)`` gives an entry that knows how to launch its kernel::

    entry = simt.kernels.get_reduction("interleaved")
    plan = entry.plan_for(data, block=512, op="sum")
    profile = simt.launch(plan.kernel, plan.grid, plan.block, *plan.args)
    total = plan.finish()
"""

from simt.kernels.operations import DTYPES, OPERATIONS, Operation, agrees, operation, recursive
from simt.kernels.registry import (
    DivergenceKernel,
    KernelEntry,
    LaunchPlan,
    ReductionKernel,
    ReductionPlan,
    get,
    get_reduction,
    names,
    picture_plan,
    sample,
)

__all__ = [
    "DTYPES",
    "OPERATIONS",
    "DivergenceKernel",
    "KernelEntry",
    "LaunchPlan",
    "Operation",
    "ReductionKernel",
    "ReductionPlan",
    "agrees",
    "get",
    "get_reduction",
    "names",
    "operation",
    "picture_plan",
    "recursive",
    "sample",
]
