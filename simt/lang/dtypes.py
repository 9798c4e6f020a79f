"""What a kernel may name a type by: Numba and NumPy scalar types, dtypes, and strings such as ``"float32"``."""

from __future__ import annotations

from typing import Any

import numpy as np
from numba.core import types

from simt.lang import numba_types as nt
from simt.lang.values import Object, Value

_BUILTINS: dict[type, Any] = {int: types.int64, float: types.float64, bool: types.boolean}


def is_builtin(target: Any) -> bool:
    """True for ``int``, ``float`` and ``bool`` themselves (a NumPy dtype also *equals* one of them)."""
    return isinstance(target, type) and target in _BUILTINS


def converted_to(target: Any, argument: Any) -> Any | None:
    """The Numba type that calling *target* with a scalar of type *argument* converts to; None if it cannot.

    ``int(x)`` and ``float(x)`` keep the widths that Numba keeps; dtypes are not callable.
    """
    if is_builtin(target):
        signature = nt.operator_signature(target, (argument,))
        return nt.plain(signature.return_type) if signature is not None else _BUILTINS[target]
    if isinstance(target, types.NumberClass):
        target = target.dtype
    if isinstance(target, types.Type):
        return target if nt.is_element(target) else None
    return _of_numpy(target)


def element_type(value: Value) -> Any | None:
    """The Numba type that a ``dtype`` argument means; None if Numba takes it for none."""
    target = value.value if isinstance(value, Object) else None
    if isinstance(target, str):
        try:
            target = np.dtype(target)
        except TypeError:
            return None
    if isinstance(target, types.Record):
        return target
    if isinstance(target, np.dtype):
        if target.fields is not None:
            return nt.element_of(np.empty(0, target))
        target = target.type
    return None if is_builtin(target) else converted_to(target, None)


def dtype_object(ty: Any) -> Object:
    """An element type as the dtype that ``array.dtype`` is."""
    return Object(nt.as_dtype(ty))


def _of_numpy(target: Any) -> Any | None:
    if not (isinstance(target, type) and issubclass(target, np.generic)):
        return None
    try:
        return nt.constant_type(target(0))
    except (TypeError, ValueError):
        return None
