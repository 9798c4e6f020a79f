"""Hypothesis strategies for launches: shapes with the awkward ones, arrays and scalars with extreme values."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, Literal, overload

import numpy as np
import numpy.typing as npt

from simt.check import LaunchError, MissingError
from simt.testing.case import Case, Extent

try:
    from hypothesis import strategies as st
    from hypothesis.strategies import DrawFn, SearchStrategy
except ModuleNotFoundError as error:
    if error.name != "hypothesis":
        raise
    raise MissingError("simt.testing needs Hypothesis", help="pip install 'simt[testing]'") from None

AWKWARD = (0, 1, 2, 31, 32, 33, 63, 64, 65, 96, 127, 128, 129, 255, 256, 257, 511, 512, 513, 1000, 1023, 1024, 1025)
"""Sizes at which kernels go wrong: nothing, one, and around whole warps and usual blocks."""

DISTINCT = 16
"""Different elements of an array at most: Hypothesis draws these one by one, and a seed spreads them."""

SEEDS = st.integers(0, 2**32 - 1)
EXTRA = st.integers(0, 7).map(lambda k: int(k == 7))
"""Now and then a block more than the elements need."""

Shape = int | tuple[int, ...] | Callable[[Extent], int | tuple[int, ...]] | None
"""The shape of an array: fixed, a function of the launch's size, or None for the elements of the launch (an array with
x as its last axis)."""

Grid = SearchStrategy[int] | Callable[[int, int], int] | None


def sizes(least: int = 0, most: int = 300) -> SearchStrategy[int]:
    """Numbers of elements from *least* to *most*: each, but awkward ones (0, 1, 31, 32, 33, …) more often.

    Shrinks to *least*.
    """
    usual = [size for size in AWKWARD if least <= size <= most]

    def choose(size: int, awkward: bool) -> int:
        return usual[size % len(usual)] if awkward and usual else size

    return st.builds(choose, st.integers(least, most), st.booleans())


def blocks(most: int = 256) -> SearchStrategy[int]:
    """Threads of a block, 1 to *most*: whole warps, parts of warps, one thread.  Shrinks to 1."""
    return sizes(1, most)


def elements(
    dtype: npt.DTypeLike,
    low: float | None = None,
    high: float | None = None,
    *,
    finite: bool = False,
) -> SearchStrategy[Any]:
    """Values of one dtype (booleans, integers, floats, complex numbers), often extreme.

    Integers are those of the whole range, so that sums wrap around; floats have NaN, infinities (neither if *finite*,
    or where there is a bound), zeros of both signs and denormal numbers.  *low*, *high*: bounds, both included.

    Raises LaunchError for other dtypes.
    """
    kind = np.dtype(dtype)
    if kind.kind == "b":
        return st.booleans()
    if kind.kind in "iu":
        limits = np.iinfo(kind)
        least = int(limits.min) if low is None else int(np.ceil(low))
        most = int(limits.max) if high is None else int(np.floor(high))
        near = [value for value in (0, 1, -1, least, least + 1, most - 1, most) if least <= value <= most]
        return st.integers(least, most) | st.sampled_from(sorted(set(near), key=abs))
    if kind.kind == "f":
        width: Any = 8 * kind.itemsize
        bounded = finite or low is not None or high is not None
        usual = st.floats(
            None if low is None else float(low),
            None if high is None else float(high),
            width=width,
            allow_nan=not bounded,
            allow_infinity=not bounded,
        )
        # Hypothesis draws these by itself, but too seldom for a hundred launches.
        return usual if bounded else usual | st.sampled_from([np.nan, np.inf, -np.inf, -0.0, float(np.finfo(kind).max)])
    if kind.kind == "c":
        part = elements(f"f{kind.itemsize // 2}", low, high, finite=finite)
        return st.builds(complex, part, part)
    raise LaunchError(
        f"there are no elements of {kind} to draw", help="give a strategy of your own: arrays(dtype, elements=...)"
    )


def scalars(dtype: npt.DTypeLike, low: float | None = None, high: float | None = None) -> SearchStrategy[Any]:
    """NumPy scalars of a dtype, as :func:`elements`."""
    return elements(dtype, low, high).map(np.dtype(dtype).type)


@dataclass(frozen=True)
class ArrayArgument:
    """An array argument of a launch; made by :func:`arrays` and :func:`outputs`."""

    dtype: np.dtype[Any]
    shape: Shape
    values: SearchStrategy[list[Any]]
    """The different elements."""
    written: bool

    def shape_for(self, extent: Extent) -> tuple[int, ...]:
        """The shape for a launch of that size."""
        shape = self.shape(extent) if callable(self.shape) else self.shape
        if shape is None:
            return extent.n[::-1]
        return shape if isinstance(shape, tuple) else (shape,)

    def draw(self, draw: DrawFn, extent: Extent) -> npt.NDArray[Any]:
        """An array for a launch of that size."""
        shape = self.shape_for(extent)
        # The elements do not depend on the shape, so that a smaller array is the beginning of a larger one.
        seed = 0 if self.written else draw(SEEDS)
        values = np.array(draw(self.values), self.dtype)
        count = int(np.prod(shape, dtype=np.int64))
        picks = np.random.default_rng(seed).integers(0, 2**32, count) if seed else np.arange(count)
        return values[picks % len(values)].reshape(shape)


@dataclass(frozen=True)
class LengthArgument:
    """The number of elements as an argument; made by :func:`length`."""

    axis: int | None
    dtype: np.dtype[Any]

    def draw(self, draw: DrawFn, extent: Extent) -> Any:
        """The number for a launch of that size."""
        return self.dtype.type(extent.elements if self.axis is None else extent.n[self.axis])


def arrays(dtype: npt.DTypeLike, shape: Shape = None, *, elements: SearchStrategy[Any] | None = None) -> ArrayArgument:
    """An array argument, one value for each element of the launch unless *shape* says otherwise.

    *shape*: an int, a tuple, or a function of the :class:`Extent`, ``lambda launch: launch.blocks``.  *elements*: what
    its values are (default: :func:`elements` of the dtype).
    """
    kind = np.dtype(dtype)
    each = default_elements(kind) if elements is None else elements
    return ArrayArgument(kind, shape, st.lists(each, min_size=1, max_size=DISTINCT), written=False)


def outputs(dtype: npt.DTypeLike, shape: Shape = None, *, fill: Any = None) -> ArrayArgument:
    """An array that the kernel is to write; it holds *fill* before (default: 0x55 in each byte, which is not zero)."""
    kind = np.dtype(dtype)
    value = np.frombuffer(b"\x55" * kind.itemsize, kind)[0] if fill is None else fill
    return ArrayArgument(kind, shape, st.just([value]), written=True)


def length(axis: int | None = None, dtype: npt.DTypeLike = "int64") -> LengthArgument:
    """The number of elements as an argument: of all, or along *axis* (0 is x)."""
    return LengthArgument(axis, np.dtype(dtype))


def default_elements(dtype: np.dtype[Any]) -> SearchStrategy[Any]:
    """What :func:`elements` gives for a dtype."""
    return elements(dtype)


@dataclass(frozen=True)
class Shapes:
    """How large launches are; see :func:`launches`."""

    n: SearchStrategy[int] | Literal["threads"] | None = None
    block: SearchStrategy[int] | None = None
    grid: Grid = None
    axes: int = 1
    shared_bytes: int | Callable[[Extent], int] = 0

    def __post_init__(self) -> None:
        if self.axes not in (1, 2, 3):
            raise LaunchError(f"a launch has 1 to 3 axes, not {self.axes}")
        if self.n == "threads" and callable(self.grid):
            raise LaunchError("with n='threads' the grid cannot follow from n", help="give a strategy as grid")

    def cases(self, arguments: Sequence[object]) -> SearchStrategy[Case]:
        """Launches with these arguments."""

        axis = self._axis()

        @st.composite
        def case(draw: DrawFn) -> Case:
            n, grid, block = zip(*(draw(axis) for _ in range(self.axes)), strict=True)
            extent = Extent(n, grid, block)
            drawn = tuple(_draw(draw, extent, each) for each in arguments)
            written = tuple(k for k, each in enumerate(arguments) if isinstance(each, ArrayArgument) and each.written)
            shared = self.shared_bytes(extent) if callable(self.shared_bytes) else self.shared_bytes
            return Case(extent, drawn, written, shared)

        return case()

    def _axis(self) -> SearchStrategy[tuple[int, int, int]]:
        """Elements, blocks and threads of a block along one axis."""
        usual, most, length = ((256, 1024, 300), (16, 32, 32), (8, 10, 10))[self.axes - 1]
        block = blocks(usual) if self.block is None else self.block
        if isinstance(self.n, str):
            grid = sizes(1, 4) if self.grid is None or callable(self.grid) else self.grid
            return st.builds(lambda grid, block: (grid * block, grid, block), grid, block)
        n = sizes(0, length) if self.n is None else self.n
        over = sizes(0, 32)

        @st.composite
        def axis(draw: DrawFn) -> tuple[int, int, int]:
            size = draw(n)
            if self.block is not None or draw(st.booleans()):
                width = draw(block)
            else:  # one block, if that may be so large: what launches shrink to
                width = min(max(size + draw(over), 1), most)
            if self.grid is None:
                return size, max(-(-size // width), 1) + draw(EXTRA), width
            return size, self.grid(size, width) if callable(self.grid) else draw(self.grid), width

        return axis()


def _draw(draw: DrawFn, extent: Extent, argument: object) -> object:
    if isinstance(argument, ArrayArgument | LengthArgument):
        return argument.draw(draw, extent)
    return draw(argument) if isinstance(argument, SearchStrategy) else argument


@overload
def launches(
    *,
    n: SearchStrategy[int] | Literal["threads"] | None = None,
    block: SearchStrategy[int] | None = None,
    grid: Grid = None,
    axes: int = 1,
    shared_bytes: int | Callable[[Extent], int] = 0,
) -> Shapes: ...


@overload
def launches(
    first: object,
    /,
    *arguments: object,
    n: SearchStrategy[int] | Literal["threads"] | None = None,
    block: SearchStrategy[int] | None = None,
    grid: Grid = None,
    axes: int = 1,
    shared_bytes: int | Callable[[Extent], int] = 0,
) -> SearchStrategy[Case]: ...


def launches(
    *arguments: object,
    n: SearchStrategy[int] | Literal["threads"] | None = None,
    block: SearchStrategy[int] | None = None,
    grid: Grid = None,
    axes: int = 1,
    shared_bytes: int | Callable[[Extent], int] = 0,
) -> SearchStrategy[Case] | Shapes:
    """Launches of a kernel, shrinking to one small block, few elements and plain data.

    Parameters:
        arguments: one for each parameter: :func:`arrays`, :func:`outputs`, :func:`length`, any Hypothesis strategy, or
            the value itself.  Without any, :func:`simt.testing.assert_kernel` makes them for the kernel's declared
            signature: arrays of all elements, integers called ``n``, ``size`` or ``length`` the number of elements.
        n: how many elements (along each axis), by default :func:`sizes`; ``"threads"``: as many as there are threads,
            for kernels that do not ask whether there is an element.
        block: threads of a block (along each axis), by default :func:`blocks`.
        grid: how many blocks: a strategy, a function of ``(n, block)``, or None for a thread an element, sometimes a
            block more.
        axes: 1, 2 or 3; arrays then have as many, x the last.
        shared_bytes: dynamic shared memory, or a function of the :class:`Extent`.
    """
    shapes = Shapes(n, block, grid, axes, shared_bytes)
    return shapes.cases(arguments) if arguments else shapes
