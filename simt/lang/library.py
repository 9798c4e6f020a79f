"""What Numba has functions of Python for: lowered like device functions; their lines count on their own.

Complex division and power follow the formulas that Numba documents (CPython's), operation by operation.
"""

from __future__ import annotations

import math
from typing import Any


def divide(a: Any, b: Any) -> Any:
    """a / b by Smith's method."""
    if not b.real and not b.imag:
        return complex(math.nan, math.nan)
    if abs(b.real) >= abs(b.imag):
        ratio = b.imag / b.real
        scale = b.real + b.imag * ratio
        return complex((a.real + a.imag * ratio) / scale, (a.imag - a.real * ratio) / scale)
    ratio = b.real / b.imag
    scale = b.real * ratio + b.imag
    return complex((a.real * ratio + a.imag) / scale, (a.imag * ratio - a.real) / scale)


def power(a: Any, b: Any) -> Any:
    """a ** b in polar coordinates."""
    if b.real == 0.0 and b.imag == 0.0:
        return complex(1.0, 0.0)
    if a.real == 0.0 and b.real == 0.0:
        return complex(0.0, 0.0)
    size = math.hypot(a.real, a.imag)
    length = math.pow(size, b.real)
    angle = math.atan2(a.imag, a.real)
    phase = angle * b.real
    if b.imag != 0.0:
        length /= math.exp(angle * b.imag)
        phase += b.imag * math.log(size)
    return complex(length * math.cos(phase), length * math.sin(phase))


def exponential(z: Any) -> Any:
    """cmath.exp(z)."""
    x, y = z.real, z.imag
    if math.isfinite(x):
        if not math.isfinite(y):
            return complex(math.nan, math.nan)
        size = math.exp(x)
        return complex(size * math.cos(y), size * math.sin(y))
    if math.isnan(x):
        return complex(x, x if y else y)
    if x < 0.0:
        if not math.isfinite(y):
            return complex(0.0, 0.0)
        return complex(0.0 * math.cos(y), 0.0 * math.sin(y))
    if not math.isfinite(y):
        return complex(x, math.nan)
    real, imag = math.cos(y), math.sin(y)
    if real != 0.0:
        real *= x
    if imag != 0.0:
        imag *= x
    return complex(real, imag)


def logarithm(z: Any, *base: Any) -> Any:
    """cmath.log(z), and to another base."""
    if len(base) == 1:
        return natural_logarithm(z) / natural_logarithm(base[0])
    return natural_logarithm(z)


def natural_logarithm(z: Any) -> Any:
    """The logarithm to base e."""
    return complex(math.log(math.hypot(z.real, z.imag)), math.atan2(z.imag, z.real))


def remainder(x: Any, y: Any) -> Any:
    """math.remainder: of the quotient nearest to x / y."""
    if math.isnan(x) or math.isnan(y) or math.isinf(x) or y == 0.0:
        return (x - x) / (y - y)
    if math.isinf(y):
        return x
    left = math.fmod(abs(x), abs(y))
    right = abs(y) - left
    if left < right:
        rest = left
    elif left > right:
        rest = -right
    else:
        rest = left - 2.0 * math.fmod(0.5 * (abs(x) - left), abs(y))
    return math.copysign(1.0, x) * rest


def is_nan(z: Any) -> Any:
    """cmath.isnan(z)."""
    return math.isnan(z.real) or math.isnan(z.imag)


def is_infinite(z: Any) -> Any:
    """cmath.isinf(z)."""
    return math.isinf(z.real) or math.isinf(z.imag)


def is_finite(z: Any) -> Any:
    """cmath.isfinite(z)."""
    return math.isfinite(z.real) and math.isfinite(z.imag)


def absolute(z: Any) -> Any:
    """abs(z)."""
    return math.hypot(z.real, z.imag)


def fill_1(target: Any, value: Any) -> None:
    """target[:] = value."""
    for i in range(target.shape[0]):
        target[i] = value


def fill_2(target: Any, value: Any) -> None:
    """The same for two dimensions."""
    for i in range(target.shape[0]):
        for j in range(target.shape[1]):
            target[i, j] = value


def fill_3(target: Any, value: Any) -> None:
    """The same for three dimensions."""
    for i in range(target.shape[0]):
        for j in range(target.shape[1]):
            for k in range(target.shape[2]):
                target[i, j, k] = value


def copy_1(target: Any, source: Any) -> None:
    """target[:] = source, from first to last."""
    for i in range(target.shape[0]):
        target[i] = source[i]


def copy_2(target: Any, source: Any) -> None:
    """The same for two dimensions."""
    for i in range(target.shape[0]):
        for j in range(target.shape[1]):
            target[i, j] = source[i, j]


def copy_3(target: Any, source: Any) -> None:
    """The same for three dimensions."""
    for i in range(target.shape[0]):
        for j in range(target.shape[1]):
            for k in range(target.shape[2]):
                target[i, j, k] = source[i, j, k]


FILL = (fill_1, fill_2, fill_3)
COPY = (copy_1, copy_2, copy_3)
"""By the number of dimensions, from 1 on."""


def total(a: Any, start: Any) -> Any:
    """a.sum(), one element after the other."""
    result = start
    for value in a.flat:
        result += value
    return result


def product(a: Any, start: Any) -> Any:
    """a.prod(), one element after the other."""
    result = start
    for value in a.flat:
        result *= value
    return result


def mean(a: Any, start: Any) -> Any:
    """a.mean()."""
    return total(a, start) / a.size


def least(a: Any) -> Any:
    """a.min(): the first NaN, if there is one."""
    result = first(a)
    for value in a.flat:
        if value < result or value != value:
            result = value
        if result != result:
            break
    return result


def greatest(a: Any) -> Any:
    """a.max(): the first NaN, if there is one."""
    result = first(a)
    for value in a.flat:
        if value > result or value != value:
            result = value
        if result != result:
            break
    return result


def least_number(a: Any) -> Any:
    """numpy.nanmin(a): a NaN only where all are."""
    result = first(a)
    for value in a.flat:
        if value < result or result != result:
            result = value
    return result


def greatest_number(a: Any) -> Any:
    """numpy.nanmax(a): a NaN only where all are."""
    result = first(a)
    for value in a.flat:
        if value > result or result != result:
            result = value
    return result


def first(a: Any) -> Any:
    """The first element."""
    return a.item()


REDUCTIONS = {"sum": total, "prod": product, "mean": mean, "min": least, "max": greatest}
"""Methods of arrays, and functions of NumPy, that reduce a whole array."""


def apply_1(out: Any, function: Any, a: Any) -> None:
    """A universal function of one argument, element by element."""
    for i in range(len(out)):
        out[i] = function(a[i])


def apply_2(out: Any, function: Any, a: Any, b: Any) -> None:
    """The same with two arguments."""
    for i in range(len(out)):
        out[i] = function(a[i], b[i])


WITHOUT_NANS = {"nanmin": least_number, "nanmax": greatest_number}
"""Functions of NumPy that reduce what of an array is a number."""

APPLY = (apply_1, apply_2)
"""By the number of arguments, from 1 on."""


def maximum(a: Any, b: Any) -> Any:
    """numpy.maximum: a NaN wins, the first of two."""
    return a if a >= b or a != a else b


def minimum(a: Any, b: Any) -> Any:
    """numpy.minimum: a NaN wins, the first of two."""
    return a if a <= b or a != a else b


def fmax(a: Any, b: Any) -> Any:
    """numpy.fmax of complex numbers: a NaN loses."""
    if is_nan(b):
        return a
    return a if greater_or_equal(a, b) else b


def fmin(a: Any, b: Any) -> Any:
    """numpy.fmin of complex numbers: a NaN loses."""
    if is_nan(b):
        return a
    return a if less_or_equal(a, b) else b


def complex_maximum(a: Any, b: Any) -> Any:
    """numpy.maximum of complex numbers, by real part first."""
    return a if is_nan(a) or greater_or_equal(a, b) else b


def complex_minimum(a: Any, b: Any) -> Any:
    """numpy.minimum of complex numbers, by real part first."""
    return a if is_nan(a) or less_or_equal(a, b) else b


COMPLEX_EXTREMES = {"maximum": complex_maximum, "minimum": complex_minimum, "fmax": fmax, "fmin": fmin}
"""By the name of the function of reals."""


def less(a: Any, b: Any) -> Any:
    """a < b, by real part first."""
    return a.real < b.real or (a.real == b.real and a.imag < b.imag)


def less_or_equal(a: Any, b: Any) -> Any:
    """a <= b, by real part first."""
    return a.real < b.real or (a.real == b.real and a.imag <= b.imag)


def greater(a: Any, b: Any) -> Any:
    """a > b, by real part first."""
    return a.real > b.real or (a.real == b.real and a.imag > b.imag)


def greater_or_equal(a: Any, b: Any) -> Any:
    """a >= b, by real part first."""
    return a.real > b.real or (a.real == b.real and a.imag >= b.imag)


COMPLEX_ORDER = {"<": less, "<=": less_or_equal, ">": greater, ">=": greater_or_equal}
"""NumPy's comparisons of complex numbers; Python has none."""


def logarithm_2(z: Any) -> Any:
    """The logarithm to base 2."""
    w = logarithm(z)
    return complex(w.real / math.log(2.0), w.imag / math.log(2.0))


COMPLEX = {"exp": exponential, "log": logarithm, "log2": logarithm_2}
"""Functions of complex numbers that Numba has not in Python, by name."""
