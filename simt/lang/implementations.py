"""Functions that Numba itself has in Python: found through Numba, and lowered like device functions.

Numba implements much of its language in Python: with ``@overload`` (its own functions and those of users), or with a
Python function that the lowering of a builtin compiles.  Their code, not a copy of it, says what they do.
"""

from __future__ import annotations

import sys
from functools import lru_cache
from types import FunctionType
from typing import Any

from numba.core import imputils
from numba.core.errors import NumbaError
from numba.core.registry import cpu_target

from simt.dispatcher import unwrap

Implementation = tuple[FunctionType, tuple[Any, ...]]
"""A Python function, and the types that its arguments are converted to."""


def of_function(
    function: Any, argtypes: tuple[Any, ...], keywords: dict[str, Any], literals: tuple[Any, ...] = ()
) -> Implementation | None:
    """What Numba runs where *function* is called with arguments of these types; None if that is not in Python.

    *literals* are the types of the same arguments, where constants have types of their own.
    """
    for context in _contexts():
        try:
            ty = context.resolve_value_type(function)
        except _NO_ANSWER:
            continue
        found = _of_type(context, ty, function, argtypes, argtypes, keywords, literals)
        if found is not None:
            return found
    return None


def is_known(function: FunctionType) -> bool:
    """Whether Numba has been told what a plain Python function is in kernels: with ``@overload``, for instance."""
    return any(context._lookup_global(function) is not None for context in _contexts())


def of_method(
    owner: Any, name: str, argtypes: tuple[Any, ...], keywords: dict[str, Any] | None = None
) -> Implementation | None:
    """What Numba runs for method *name* of values of type *owner*, which it takes first; None likewise."""
    for context in _contexts():
        try:
            ty = context.resolve_getattr(owner, name)
        except _NO_ANSWER:
            continue
        key = getattr(getattr(ty, "template", None), "key", None)
        found = None if ty is None else _of_type(context, ty, key, argtypes, (owner, *argtypes), keywords or {})
        if found is not None:
            return found
    return None


_NO_ANSWER = (NumbaError, NotImplementedError, ValueError, KeyError, TypeError, AttributeError)
"""What Numba raises where it does not know a function."""


def _of_type(
    context: Any,
    ty: Any,
    key: Any,
    argtypes: tuple[Any, ...],
    taken: tuple[Any, ...],
    keywords: dict[str, Any],
    literals: tuple[Any, ...] = (),
) -> Implementation | None:
    """The implementation behind the type of a function; it takes arguments of the types *taken*."""
    templates = getattr(ty, "templates", None) or (getattr(ty, "template", None),)
    for template in sorted(templates, key=_generality):
        overload = getattr(template, "_overload_func", None)
        if overload is None or (context is not cpu_target.typing_context and _generality(template) == len(_TARGETS)):
            continue
        choices = dict.fromkeys((taken, literals or taken))
        for given in reversed(choices) if getattr(template, "prefer_literal", False) else choices:
            found = _called(overload, given, keywords)
            if found is not None:
                return found, taken
    if keywords:
        return None
    try:
        signature = context.resolve_function_type(ty, argtypes, {})
    except _NO_ANSWER:
        return None
    if signature is None:
        return None
    taken = (*taken[: len(taken) - len(argtypes)], *signature.args)
    lowered = _lowered(key, taken, signature.return_type)
    return None if lowered is None else (lowered, taken)


_TARGETS = ("cuda", "gpu", "generic")
"""Targets of overloads that code for a GPU may use, the most specific first."""


def _generality(template: Any) -> int:
    """The place of an overload's target among :data:`_TARGETS`; their number if it is none of them."""
    target = getattr(template, "metadata", {}).get("target", "generic")
    return _TARGETS.index(target) if target in _TARGETS else len(_TARGETS)


def of_attribute(owner: Any, name: str) -> FunctionType | None:
    """The Python function that Numba runs to get attribute *name* of values of type *owner*; None likewise."""
    for context in _contexts():
        for template in context._get_attribute_templates(owner):
            overload = getattr(template, "_overload_func", None)
            is_method = getattr(template, "is_method", False)
            if overload is not None and not is_method and getattr(template, "_attr", None) == name:
                found = _called(overload, (owner,), {})
                if found is not None:
                    return found
    return None


def type_of(value: Any) -> Any | None:
    """Numba's type of a Python object that a kernel names; None if it has none."""
    for context in _contexts():
        try:
            return context.resolve_value_type(value)
        except _NO_ANSWER:
            continue
    return None


def _contexts() -> list[Any]:
    """Numba's typing contexts that know overloads: of the CUDA target, where a program has loaded it, and the CPU's."""
    contexts = []
    descriptor = sys.modules.get("numba.cuda.descriptor")
    if descriptor is not None:
        contexts.append(descriptor.cuda_target.typing_context)
    contexts.append(cpu_target.typing_context)
    for context in contexts:
        context.refresh()
    return contexts


def _called(overload: Any, argtypes: tuple[Any, ...], keywords: dict[str, Any]) -> FunctionType | None:
    """The implementation that the function behind ``@overload`` chooses for these types."""
    try:
        found = overload(*argtypes, **keywords)
    except _NO_ANSWER:
        return None
    if isinstance(found, tuple):
        found = found[1]
    found = unwrap(found) if found is not None else None
    return found if isinstance(found, FunctionType) else None


class _Compiled(Exception):
    """Carries the Python function that a lowering wants to compile."""

    def __init__(self, function: FunctionType) -> None:
        self.function = function


class _Recorder:
    """In the place of Numba's target context: tells what a lowering compiles, and knows nothing else."""

    def compile_internal(self, builder: Any, function: FunctionType, signature: Any, args: Any, **_: Any) -> None:
        raise _Compiled(function)


def _lowered(function: Any, argtypes: tuple[Any, ...], result: Any) -> FunctionType | None:
    """The Python function that the lowering of a builtin compiles, where that is all it does with its arguments."""
    for lowering, pattern in _lowerings().get(function, ()):
        if len(pattern) != len(argtypes) or not all(map(_matches, argtypes, pattern)):
            continue
        try:
            lowering(_Recorder(), None, result(*argtypes), list(argtypes))
        except _Compiled as compiled:
            return compiled.function
        except _NO_ANSWER:
            continue
    return None


def _matches(given: Any, pattern: Any) -> bool:
    return isinstance(given, pattern) if isinstance(pattern, type) else bool(given == pattern)


@lru_cache(maxsize=1)
def _lowerings() -> dict[Any, list[tuple[Any, tuple[Any, ...]]]]:
    """Lowerings of builtins and of the cmath module, by the function that they are for."""
    import numba.cpython.cmathimpl as complex_math

    found: dict[Any, list[tuple[Any, tuple[Any, ...]]]] = {}
    registries = [imputils.builtin_registry, getattr(complex_math, "registry", imputils.builtin_registry)]
    for registry in registries:
        for lowering, function, pattern in registry.functions:
            try:
                found.setdefault(function, []).append((lowering, tuple(pattern)))
            except TypeError:
                continue
    return found
