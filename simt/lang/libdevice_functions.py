"""numba.cuda.libdevice: the functions that the math module has, too, in their float32 and float64 forms."""

from __future__ import annotations

from typing import Any

from numba.core.types import containers

from simt.lang import bit_functions
from simt.lang.builder import Builder
from simt.lang.intrinsic import Emit, Intrinsic, f4, f8
from simt.lang.math_functions import EMITTED, plain
from simt.lang.values import Tuple, Value

_ONE = {
    **dict.fromkeys(
        (
            "acos", "acosh", "asin", "asinh", "atan", "atanh", "ceil", "cos", "cosh", "erf", "erfc", "exp", "expm1",
            "fabs", "floor", "lgamma", "log", "log10", "log1p", "log2", "sin", "sinh", "sqrt", "tan", "tanh", "trunc",
        )
    ),
    "tgamma": "gamma",
}  # fmt: skip
"""Functions of one number, and their names in the math module where these are others."""

_TWO = ("atan2", "copysign", "fmod", "hypot", "pow")


def _rows() -> list[Intrinsic]:
    rows = []
    for suffix, ty in (("", f8), ("f", f4)):
        for name, other in _ONE.items():
            rows.append(Intrinsic(f"libdevice.{name}{suffix}", _emit(other or name), (1,), (ty(ty),)))
        for name in _TWO:
            rows.append(Intrinsic(f"libdevice.{name}{suffix}", _emit(name), (2,), (ty(ty, ty),)))
        both = containers.UniTuple(ty, 2)
        rows.append(Intrinsic(f"libdevice.sincos{suffix}", _sine_and_cosine, (1,), (both(ty),)))
        rows.append(Intrinsic(f"libdevice.cbrt{suffix}", bit_functions.cube_root, (1,), (ty(ty),)))
        rows.append(Intrinsic(f"libdevice.fma{suffix}", bit_functions.fma, (3,), (ty(ty, ty, ty),)))
    fast = ("sin", "cos", "tan", "exp", "log", "log2", "log10")
    rows += [Intrinsic(f"libdevice.fast_{name}f", _emit(name), (1,), (f4(f4),)) for name in fast]
    return rows


def _sine_and_cosine(b: Builder, name: str, args: list[Value], signature: Any) -> Value:
    ty = signature.return_type.dtype
    return Tuple(tuple(_emit(each)(b, name, args, ty(ty)) for each in ("sin", "cos")))


def _emit(name: str) -> Emit:
    return plain(EMITTED[name], f"math.{name}")


ROWS = _rows()
