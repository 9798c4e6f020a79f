"""A launch as Python code to paste."""

from __future__ import annotations

import base64
import re
import zlib
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
import numpy.typing as npt

from simt.dispatcher import unwrap
from simt.testing.case import Case, plain

LITERAL = 64
"""Elements of an array that are written out; larger arrays are written compressed."""


def parameter_names(kernel: object, count: int) -> list[str]:
    """The names of a kernel's parameters; ``arg0``, ``arg1`` … for machine code, which has none."""
    code = getattr(unwrap(kernel), "__code__", None)
    names = list(code.co_varnames[: code.co_argcount]) if code is not None else []
    return names if len(names) == count else [f"arg{k}" for k in range(count)]


def kernel_name(kernel: object) -> str:
    """What a message calls the kernel."""
    return getattr(unwrap(kernel), "__name__", "") or str(getattr(kernel, "name", kernel))


def snippet(kernel: object, case: Case, options: Mapping[str, object], expected: Sequence[Any] | None = None) -> str:
    """Code that runs the launch; the kernel itself is not in it.  *expected*: what each argument should hold then."""
    name = kernel_name(kernel)
    names = parameter_names(kernel, len(case.arguments))
    values, given, checks = [], [], []
    for position, (parameter, value) in enumerate(zip(names, case.arguments, strict=True)):
        if not isinstance(value, np.ndarray):
            given.append(_scalar(value))
            continue
        values.append(f"{parameter} = {_array(value)}")
        given.append(parameter)
        if expected is not None and not _same(expected[position], value):
            checks.append(f"# {parameter} should be {_array(expected[position])}")
    if case.shared_bytes:
        options = {**options, "shared_bytes": case.shared_bytes}
    parts = [name if name.isidentifier() else "kernel", str(plain(case.extent.grid)), str(plain(case.extent.block)),
             *given, *(f"{key}={value!r}" for key, value in options.items())]  # fmt: skip
    lines = [*values, f"simt.launch({', '.join(parts)})", *checks]
    packed = ["import base64", "import zlib", ""] if any("zlib." in line for line in values) else []
    return "\n".join([*packed, "import numpy as np", "import simt", "", *lines])


def number(value: Any) -> str:
    """A number as Python writes it; those without a literal by NumPy's names."""
    plain_value = value.item() if isinstance(value, np.generic) else value
    if isinstance(plain_value, complex) and not np.isfinite(plain_value):  # Python writes what it cannot read: infj
        return f"complex({number(plain_value.real)}, {number(plain_value.imag)})"
    return re.sub(r"\b(nan|inf)\b", r"np.\1", repr(plain_value))


def _scalar(value: object) -> str:
    if isinstance(value, np.generic):
        return f"np.{type(value).__name__}({number(value)})"
    return number(value) if isinstance(value, float | complex) else repr(value)


def _array(value: npt.NDArray[Any]) -> str:
    dtype = f"np.{value.dtype}" if value.dtype.names is None and value.dtype.kind != "b" else repr(value.dtype.str)
    shape = str(value.shape)
    if value.size == 0:
        return f"np.zeros({shape}, {dtype})"
    first = value.reshape(-1)[:1]
    if value.size > 1 and _same(value, np.broadcast_to(first.reshape((1,) * value.ndim), value.shape)):
        return f"np.full({plain(value.shape)}, {number(first[0])}, {dtype})"
    if value.size <= LITERAL:
        return f"np.array({_literal(value.tolist())}, {dtype})"
    data = base64.b64encode(zlib.compress(np.ascontiguousarray(value).tobytes(), 9)).decode()
    shaped = "" if value.ndim == 1 else f".reshape{shape}"
    return f'np.frombuffer(zlib.decompress(base64.b64decode("{data}")), {dtype}).copy(){shaped}'


def _literal(values: Any) -> str:
    """Nested lists as Python writes them, with NumPy's names."""
    return f"[{', '.join(map(_literal, values))}]" if isinstance(values, list) else number(values)


def _same(one: npt.NDArray[Any], other: npt.NDArray[Any]) -> bool:
    return np.ascontiguousarray(one).tobytes() == np.ascontiguousarray(other).tobytes()
