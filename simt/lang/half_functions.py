"""float16: the functions of numba.cuda.fp16.

Arithmetic is exact up to its one rounding, as on a GPU; transcendental functions are those of the host's float64
library, rounded once.
"""

from __future__ import annotations

from typing import Any

from numba.core import types

from simt.lang.builder import Builder
from simt.lang.convert import ScalarValue, convert, scalar
from simt.lang.intrinsic import Emit, Intrinsic, b1
from simt.lang.numeric import absolute, minmax
from simt.lang.operators import compare, float64_op, half_op, operate, unary
from simt.lang.values import Constant, Value

f2, f8 = types.float16, types.float64

_UNARY, _BINARY, _TERNARY = (f2(f2),), (f2(f2, f2),), (f2(f2, f2, f2),)


def _operator(text: str) -> Emit:
    def emit(b: Builder, name: str, args: list[Value], signature: Any) -> Value:
        return operate(b, text, *(scalar(b, arg) for arg in args))

    return emit


def _comparison(text: str) -> Emit:
    def emit(b: Builder, name: str, args: list[Value], signature: Any) -> Value:
        return compare(b, text, *(scalar(b, arg) for arg in args))

    return emit


def _extreme(name: str) -> Emit:
    def emit(b: Builder, _: str, args: list[Value], signature: Any) -> Value:
        return minmax(b, name, args, signature)

    return emit


def _negative(b: Builder, name: str, args: list[Value], signature: Any) -> Value:
    return unary(b, "-", scalar(b, args[0]))


def _wide(b: Builder, value: Value) -> ScalarValue:
    return convert(b, scalar(b, value), f8, counted=False)


def _fma(b: Builder, name: str, args: list[Value], signature: Any) -> Value:
    """In float64 product and sum are exact where that matters for the rounding to float16."""
    return float64_op(b, "fma", f2, *(scalar(b, arg) for arg in args))


def function(stem: str) -> Emit:
    """A function that one float64 micro-op computes."""

    def emit(b: Builder, name: str, args: list[Value], signature: Any) -> Value:
        return float64_op(b, stem, f2, *(scalar(b, arg) for arg in args))

    return emit


def _power_of(base: float) -> Emit:
    def emit(b: Builder, name: str, args: list[Value], signature: Any) -> Value:
        return float64_op(b, "pow", f2, Constant(f8, base), scalar(b, args[0]))

    return emit


def _reciprocal(of_root: bool) -> Emit:
    def emit(b: Builder, name: str, args: list[Value], signature: Any) -> Value:
        value = _wide(b, args[0])
        if of_root:
            value = b.value("sqrt.f64", f8, b.operand(value), retires=False)
        return float64_op(b, "div", f2, Constant(f8, 1.0), value)

    return emit


def _test(infinite: bool) -> Emit:
    def emit(b: Builder, name: str, args: list[Value], signature: Any) -> Value:
        value = scalar(b, args[0])
        if not infinite:
            return compare(b, "!=", value, value)
        return b.value("isinf.f64", b1, b.operand(_wide(b, value)))

    return emit


def _root(b: Builder, name: str, args: list[Value], signature: Any) -> Value:
    return half_op(b, "sqrt", f2, scalar(b, args[0]))


_TESTS = {"heq": "==", "hne": "!=", "hlt": "<", "hle": "<=", "hgt": ">", "hge": ">="}
_FUNCTIONS = {
    "hsin": "sin", "hcos": "cos", "htanh": "tanh", "hlog": "log", "hlog2": "log2", "hlog10": "log10", "hexp": "exp",
    "hfloor": "floor", "hceil": "ceil", "htrunc": "trunc", "hrint": "rint",
}  # fmt: skip

ROWS = [
    *(
        Intrinsic(f"fp16.{name}", _operator(text), (2,), _BINARY)
        for name, text in (("hadd", "+"), ("hsub", "-"), ("hmul", "*"), ("hdiv", "/"))
    ),
    *(Intrinsic(f"fp16.{name}", _comparison(text), (2,), (b1(f2, f2),)) for name, text in _TESTS.items()),
    Intrinsic("fp16.hmax", _extreme("max"), (2,), _BINARY),
    Intrinsic("fp16.hmin", _extreme("min"), (2,), _BINARY),
    Intrinsic("fp16.hfma", _fma, (3,), _TERNARY),
    Intrinsic("fp16.hneg", _negative, (1,), _UNARY),
    Intrinsic("fp16.habs", absolute, (1,), _UNARY),
    Intrinsic("fp16.hsqrt", _root, (1,), _UNARY),
    Intrinsic("fp16.hrsqrt", _reciprocal(True), (1,), _UNARY),
    Intrinsic("fp16.hrcp", _reciprocal(False), (1,), _UNARY),
    Intrinsic("fp16.hexp2", _power_of(2.0), (1,), _UNARY),
    Intrinsic("fp16.hexp10", _power_of(10.0), (1,), _UNARY),
    Intrinsic("fp16.hisnan", _test(False), (1,), (b1(f2),)),
    Intrinsic("fp16.hisinf", _test(True), (1,), (b1(f2),)),
    *(Intrinsic(f"fp16.{name}", function(stem), (1,), _UNARY) for name, stem in _FUNCTIONS.items()),
]
