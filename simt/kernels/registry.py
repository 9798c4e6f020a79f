"""Every kernel of :mod:`simt.kernels` by name, with what it takes to launch it and to check its result."""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass
from functools import cache
from typing import Any

import numpy as np
from numpy.typing import NDArray

from simt.check import LaunchError, suggestion
from simt.kernels import divergence, modern, published, reduction
from simt.kernels.operations import DTYPES, OPERATIONS, operation
from simt.kernels.reduction import Kernel

Dim = int | tuple[int, ...]
Factory = Callable[[int, str, str], Kernel]
"""(block, operation name, dtype name) -> kernel."""
Arguments = Callable[[int, np.random.Generator], tuple[Any, ...]]
"""(elements, source of randomness) -> kernel arguments."""


@dataclass(frozen=True)
class LaunchPlan:
    """All that ``simt.launch(plan.kernel, plan.grid, plan.block, *plan.args)`` needs."""

    kernel: Kernel
    grid: Dim
    block: Dim
    args: tuple[Any, ...]


@dataclass(frozen=True)
class ReductionPlan(LaunchPlan):
    """The launch of a reduction: ``args`` is ``(g_idata, g_odata, n)``, ``g_idata`` a copy of the data."""

    op: str = "sum"

    def finish(self) -> np.generic:
        """After the launch: what the host does last, fold the values of ``g_odata`` (in their own dtype)."""
        return operation(self.op).reduce(self.args[1])


@dataclass(frozen=True)
class KernelEntry:
    """One named kernel.

    Attributes:
        name: what ``simt reduce --kernel`` and ``simt trace`` take.
        group: ``"reduction"`` (right for every size), ``"published"`` (wrong on purpose) or ``"divergence"``.
        summary: one sentence.
        size, block: the defaults of :meth:`plan` (elements, threads per block).
    """

    name: str
    group: str
    summary: str
    size: int
    block: Dim

    def plan(
        self,
        size: int | None = None,
        block: int | None = None,
        *,
        dtype: str = "int32",
        op: str = "sum",
        seed: int = 0,
    ) -> LaunchPlan:
        """A launch with generated data, as ``simt trace`` runs it.

        *dtype* and *op* concern reductions only.  :class:`LaunchError` if the kernel cannot take them, or the
        size is below 1.
        """
        raise NotImplementedError


@dataclass(frozen=True)
class ReductionKernel(KernelEntry):
    """A kernel ``(g_idata, g_odata, n)`` that leaves one value per block (``atomic``: one in all).

    A block of threads takes ``elements_per_thread`` times its size in elements.  ``ops`` and ``dtypes`` are
    what the kernel can do.
    """

    elements_per_thread: int
    factory: Factory
    ops: tuple[str, ...] = tuple(OPERATIONS)
    dtypes: tuple[str, ...] = DTYPES
    single_result: bool = False

    def make(self, block: int = 512, op: str = "sum", dtype: str = "int32") -> Kernel:
        """The kernel function for these; the same object for the same arguments.

        :class:`LaunchError` if the kernel cannot do *op* or *dtype*.
        """
        for what, value, choices in (("operation", op, self.ops), ("dtype", dtype, self.dtypes)):
            if value not in choices:
                raise LaunchError(
                    f"kernel {self.name} cannot do {what} {value!r}",
                    help="choose one of " + ", ".join(choices),
                )
        return _make(self, block, op, dtype)

    def grid(self, n: int, block: int) -> int:
        """Blocks for *n* elements: enough for all of them, so 0 for none."""
        return -(-n // (max(block, 1) * self.elements_per_thread))

    def plan_for(self, data: NDArray[Any], block: int = 512, op: str = "sum") -> ReductionPlan:
        """The launch that reduces *data* (1-d); *data* itself stays as it is."""
        return self.plan_of(data.copy(), block, op)

    def plan_of(self, data: NDArray[Any], block: int = 512, op: str = "sum") -> ReductionPlan:
        """The launch that reduces *data* (1-d), which most kernels overwrite."""
        dtype = data.dtype.name
        kernel = self.make(block, op, dtype)
        grid = self.grid(data.size, block)
        values = 1 if self.single_result else grid
        g_odata = np.full(values, operation(op).identity(dtype), dtype=data.dtype)
        return ReductionPlan(kernel, grid, block, (data, g_odata, data.size), op)

    def plan(
        self,
        size: int | None = None,
        block: int | None = None,
        *,
        dtype: str = "int32",
        op: str = "sum",
        seed: int = 0,
    ) -> ReductionPlan:
        """See :meth:`KernelEntry.plan`; the data is :func:`sample`'s."""
        threads = self.block if block is None else block
        assert isinstance(threads, int)
        return self.plan_for(sample(_size(self, size), dtype, seed), threads, op)


@dataclass(frozen=True)
class DivergenceKernel(KernelEntry):
    """A kernel that shows how lanes part ways.

    ``arguments`` makes its arguments for a number of elements; a kernel without a guard (``guarded`` false)
    gets as many elements as there are threads.
    """

    kernel: Kernel
    arguments: Arguments
    guarded: bool

    def plan(
        self,
        size: int | None = None,
        block: int | None = None,
        *,
        dtype: str = "int32",
        op: str = "sum",
        seed: int = 0,
    ) -> LaunchPlan:
        """See :meth:`KernelEntry.plan`; one thread per element, *dtype* and *op* do not matter."""
        n = _size(self, size)
        threads = self.block if block is None else block
        assert isinstance(threads, int)
        grid = -(-n // max(threads, 1))
        args = self.arguments(n if self.guarded else grid * threads, np.random.default_rng(seed))
        return LaunchPlan(self.kernel, grid, threads, args)


@dataclass(frozen=True)
class PictureKernel(KernelEntry):
    """``picture_guard``: two-dimensional, *size* is the width of a picture of the default's proportions."""

    kernel: Kernel
    height: int

    def plan(
        self,
        size: int | None = None,
        block: int | None = None,
        *,
        dtype: str = "int32",
        op: str = "sum",
        seed: int = 0,
    ) -> LaunchPlan:
        """See :meth:`KernelEntry.plan`; *block* is the side of a square block."""
        width = _size(self, size)
        return picture_plan(width, max(1, width * self.height // self.size), block or 16, seed)


def picture_plan(width: int, height: int, side: int = 16, seed: int = 0) -> LaunchPlan:
    """``picture_guard`` on a random picture of *width* x *height* pixels with *side* x *side* blocks."""
    picture = np.random.default_rng(seed).integers(0, 256, (height, width, 3), dtype=np.uint8)
    gray = np.zeros((height, width), dtype=np.uint8)
    grid = (-(-width // side), -(-height // side))
    return LaunchPlan(divergence.picture_guard, grid, (side, side), (picture, gray))


def sample(n: int, dtype: str = "int32", seed: int = 0, into: NDArray[Any] | None = None) -> NDArray[Any]:
    """*n* reproducible numbers to reduce: integers from -128 to 127, floats from 0 to 1.

    *into*: an array of so many and that dtype, to be filled and returned.
    """
    rng = np.random.default_rng(seed)
    if dtype not in DTYPES:
        raise LaunchError(f"there is no sample data of dtype {dtype!r}", help="choose one of " + ", ".join(DTYPES))
    made = np.empty(n, dtype) if into is None else into
    for first in range(0, n, _PIECE):
        part = made[first : first + _PIECE]
        part[:] = rng.random(len(part)) if made.dtype.kind == "f" else rng.integers(-128, 128, len(part))
    return made


_PIECE = 1 << 20
"""Numbers that are made at a time: each takes eight bytes first."""


def _size(entry: KernelEntry, size: int | None) -> int:
    n = entry.size if size is None else size
    if n < 1:
        raise LaunchError(f"kernel {entry.name} needs at least 1 element, not {n}")
    return n


@cache
def _make(entry: ReductionKernel, block: int, op: str, dtype: str) -> Kernel:
    """Made once for the same arguments, so that whatever is cached per function is found again."""
    return entry.factory(block, op, dtype)


def _summary(function: Callable[..., Any], chunks: int | None = None) -> str:
    """The first line of the docstring, as plain text; the number of chunks instead of all that may be."""
    line = (function.__doc__ or "").strip().splitlines()[0].replace("``", "")
    return re.sub(r"\*chunks\* \(.*?\)", f"{chunks} chunks", line)


def _reduction(name: str, maker: Callable[..., Kernel], factory: Factory, **more: Any) -> ReductionKernel:
    more = {"elements_per_thread": 1, **more}
    return ReductionKernel(
        name=name,
        group="reduction",
        summary=_summary(maker, more.get("elements_per_thread")),
        size=2**20,
        block=512,
        factory=factory,
        **more,
    )


def _in_place(name: str, maker: Callable[..., Kernel], chunks: int | None = None) -> ReductionKernel:
    """A kernel of :mod:`simt.kernels.reduction` made from the operation and maybe the chunks per block."""
    constants = () if chunks is None else (chunks,)

    def factory(block: int, op: str, dtype: str) -> Kernel:
        return maker(OPERATIONS[op].combine, *constants)

    return _reduction(name, maker, factory, elements_per_thread=chunks or 1)


def _complete_unroll(block: int, op: str, dtype: str) -> Kernel:
    return reduction.complete_unroll(OPERATIONS[op].combine, block)


def _shared(block: int, op: str, dtype: str) -> Kernel:
    return modern.shared(OPERATIONS[op].combine, block, np.dtype(dtype).type)


def _with_identity(maker: Callable[..., Kernel]) -> Factory:
    def factory(block: int, op: str, dtype: str) -> Kernel:
        return maker(OPERATIONS[op].combine, OPERATIONS[op].identity(dtype))

    return factory


def _family() -> list[ReductionKernel]:
    r, m = reduction, modern
    return [
        _in_place("neighbored", r.neighbored),
        _in_place("neighbored_less", r.neighbored_less),
        _in_place("interleaved", r.interleaved),
        _in_place("unrolling2", r.unrolling, 2),
        _in_place("unrolling4", r.unrolling, 4),
        _in_place("unrolling8", r.unrolling, 8),
        _in_place("unroll_warps4", r.unroll_warps, 4),
        _in_place("unroll_warps8", r.unroll_warps, 8),
        _in_place("complete_unroll_warps4", r.complete_unroll_warps, 4),
        _in_place("complete_unroll_warps8", r.complete_unroll_warps, 8),
        _reduction("complete_unroll", r.complete_unroll, _complete_unroll, elements_per_thread=8),
        _reduction("shared", m.shared, _shared),
        _reduction("shuffle", m.shuffle, _with_identity(m.shuffle), elements_per_thread=8),
        _reduction(
            "atomic",
            m.atomic,
            _with_identity(m.atomic),
            elements_per_thread=8,
            ops=("sum", "max", "min"),
            single_result=True,
        ),
    ]


def _published(kernel: Kernel) -> ReductionKernel:
    def factory(block: int, op: str, dtype: str) -> Kernel:
        return kernel

    return ReductionKernel(
        name=kernel.__name__,
        group="published",
        summary=_summary(kernel),
        size=1000,
        block=512,
        elements_per_thread=1,
        factory=factory,
        ops=("sum",),
    )


def _no_input(dtype: type[np.generic]) -> Arguments:
    return lambda n, rng: (np.zeros(n, dtype=dtype),)


def _trips(n: int, rng: np.random.Generator) -> tuple[Any, ...]:
    """Trip counts 4 to 8 by lane, every one of them in every warp."""
    return 4 + np.arange(n, dtype=np.int32) % 5, np.zeros(n, dtype=np.int64)


def _vectors(n: int, rng: np.random.Generator) -> tuple[Any, ...]:
    a, b = rng.random((2, n), dtype=np.float32)
    return a, b, np.zeros(n, dtype=np.float32)


def _collatz(n: int, rng: np.random.Generator) -> tuple[Any, ...]:
    return np.arange(1, n + 1, dtype=np.int64), np.zeros(n, dtype=np.int32)


def _diverging(
    kernel: Kernel, size: int, block: int, arguments: Arguments, *, guarded: bool = False
) -> DivergenceKernel:
    return DivergenceKernel(
        name=kernel.__name__,
        group="divergence",
        summary=_summary(kernel),
        size=size,
        block=block,
        kernel=kernel,
        arguments=arguments,
        guarded=guarded,
    )


def _divergence() -> list[KernelEntry]:
    d = divergence
    return [
        _diverging(d.if_else, 32, 32, _no_input(np.int64)),
        _diverging(d.loop_trips, 32, 32, _trips),
        _diverging(d.vector_add, 1003, 64, _vectors, guarded=True),
        PictureKernel(
            name="picture_guard",
            group="divergence",
            summary=_summary(d.picture_guard),
            size=76,
            block=(16, 16),
            kernel=d.picture_guard,
            height=62,
        ),
        _diverging(d.even_odd, 64, 64, _no_input(np.float32)),
        _diverging(d.whole_warp, 64, 64, _no_input(np.float32)),
        _diverging(d.two_ifs, 64, 64, _no_input(np.float32)),
        _diverging(d.c_precedence, 64, 64, _no_input(np.float32)),
        _diverging(d.collatz, 1024, 256, _collatz, guarded=True),
    ]


ENTRIES: dict[str, KernelEntry] = {
    entry.name: entry
    for entry in [
        *_family(),
        *(_published(kernel) for kernel in (published.published_unguarded, published.published_off_by_one)),
        *_divergence(),
    ]
}
"""Every kernel by name, in the order in which they are taught."""


def names(group: str | None = None) -> list[str]:
    """The names of all kernels, or of those of one *group*."""
    return [name for name, entry in ENTRIES.items() if group in (None, entry.group)]


def get(name: str) -> KernelEntry:
    """The kernel called *name*; :class:`LaunchError`, with what may have been meant, if there is none."""
    if name not in ENTRIES:
        raise _unknown(name, list(ENTRIES))
    return ENTRIES[name]


def get_reduction(name: str) -> ReductionKernel:
    """The reduction called *name*; :class:`LaunchError` if there is none or it is not a reduction."""
    choices = names("reduction") + names("published")
    if name not in ENTRIES:
        raise _unknown(name, choices)
    entry = ENTRIES[name]
    if not isinstance(entry, ReductionKernel):
        raise LaunchError(f"kernel {name!r} is not a reduction", help="choose one of " + ", ".join(choices))
    return entry


def _unknown(name: str, choices: list[str]) -> LaunchError:
    help = suggestion(name, choices, "choose one of " + ", ".join(choices))
    return LaunchError(f"there is no kernel {name!r}", help=help)
