"""Result types are Numba's: the CPU's typing context for operators, the CUDA target's for its functions."""

from __future__ import annotations

import itertools
import operator
from importlib.util import find_spec
from typing import Any

import pytest
from hypothesis import example, given
from hypothesis import strategies as st
from numba import typeof
from numba.core import types

from simt.lang import numba_types as nt
from simt.lang.intrinsics import INTRINSICS

SCALARS = (
    types.boolean, types.int8, types.uint8, types.int16, types.int32, types.uint32, types.int64, types.uint64,
    types.float32, types.float64,
)  # fmt: skip
OPERATORS = (
    operator.add, operator.sub, operator.mul, operator.truediv, operator.floordiv, operator.mod, operator.pow,
    operator.lshift, operator.rshift, operator.and_, operator.or_, operator.xor, operator.lt, operator.eq,
)  # fmt: skip

NEWER = {"math.exp2", "math.nextafter"}
"""Functions that the CUDA target in Numba itself does not have."""


@pytest.fixture(scope="module")
def cuda_context() -> Any:
    """The typing context of Numba's CUDA target, which needs no GPU."""
    descriptor = pytest.importorskip("numba.cuda.descriptor", exc_type=ImportError)
    context = descriptor.cuda_target.typing_context
    context.refresh()
    return context


def signature(context: Any, function: Any, args: tuple[Any, ...]) -> Any:
    try:
        return context.resolve_function_type(function, args, {})
    except Exception:
        return None


@pytest.mark.parametrize("function", OPERATORS, ids=lambda f: f.__name__)
def test_operators_are_typed_as_on_cuda(function: Any, cuda_context: Any) -> None:
    for args in itertools.product(SCALARS, repeat=2):
        assert nt.operator_signature(function, args) == signature(cuda_context, function, args), args


@pytest.mark.parametrize("name", sorted(name for name in INTRINSICS if name.startswith("math.")))
def test_math_functions_are_typed_as_on_cuda(name: str, cuda_context: Any) -> None:
    import math

    if name in NEWER and not (find_spec("numba_cuda") and hasattr(math, name.removeprefix("math."))):
        pytest.skip("needs numba-cuda (pip install 'simt[sass]') and Python 3.11")
    intrinsic = INTRINSICS[name]
    for args in itertools.product(SCALARS, repeat=intrinsic.counts[0]):
        ours = nt.overload(name, intrinsic.cases, args)
        numba = signature(cuda_context, getattr(math, name.removeprefix("math.")), args)
        assert (ours and (ours.return_type, ours.args)) == (numba and (numba.return_type, numba.args)), args


@pytest.mark.parametrize(
    "name", ["popc", "clz", "ffs", "brev", "fma", "match_any_sync", "match_all_sync", "shfl_sync_intrinsic"]
)
def test_cuda_functions_are_typed_as_on_cuda(name: str, cuda_context: Any) -> None:
    declarations = pytest.importorskip("numba.cuda.cudadecl", exc_type=ImportError)
    template = getattr(declarations, f"Cuda_{name}", None)
    if template is None:
        pytest.skip("numba-cuda 0.30 has no such declaration: it types shuffles as it compiles them")
    intrinsic = INTRINSICS[f"cuda.{name}"]
    for ty in SCALARS:
        args = {
            "fma": (ty, ty, ty),
            "match_any_sync": (types.int64, ty),
            "match_all_sync": (types.int64, ty),
            "shfl_sync_intrinsic": (types.int64, types.int64, ty, types.int64, types.int64),
        }.get(name, (ty,))
        ours = nt.overload(name, intrinsic.cases, args)
        numba = signature(cuda_context, types.Function(template), args)
        assert (ours and (ours.return_type, ours.args)) == (numba and (numba.return_type, numba.args)), ty


def test_constants_convert_as_on_the_machine() -> None:
    assert nt.cast_constant(300, types.uint8) == 44
    assert nt.cast_constant(2**31, types.int32) == -(2**31)
    assert nt.cast_constant(-1.9, types.int64) == -1
    assert nt.cast_constant(0.1, types.float32) != 0.1
    assert nt.constant_bits(-1, types.uint64) == -1
    assert nt.constant_bits(1.0, types.float32) == 0x3F800000
    assert nt.cast_constant(float("nan"), types.int32) == -(2**31)
    assert nt.cast_constant(float("nan"), types.int32, types.float32) == 0


@given(st.integers(-(2**65), 2**65))
@example(2**63 - 1)
@example(2**63)
@example(-(2**63))
@example(2**64 - 1)
def test_integers_have_the_types_that_numba_gives_them(value: int) -> None:
    try:
        expected = typeof(value)
    except ValueError:
        expected = None
    assert nt.constant_type(value) == expected
