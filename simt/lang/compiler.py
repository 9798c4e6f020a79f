"""Compile a kernel: its Python source and its argument types to a Program, with a cache."""

from __future__ import annotations

import inspect
from types import CodeType, FunctionType
from typing import Any

import numpy as np
from numba.core import types
from numba.core.types import containers

from simt.check.errors import LaunchError, Location
from simt.dispatcher import is_dispatcher, options_of, python_function, unwrap
from simt.lang import cfg
from simt.lang import numba_types as nt
from simt.lang.builder import Builder
from simt.lang.convergence import place_barriers
from simt.lang.diagnostics import unsupported
from simt.lang.emit import emit
from simt.lang.frozen import Names, Path, compiled, names_of
from simt.lang.ir import ZERO, Place, UniformRef
from simt.lang.source import MISSING, lookup
from simt.lang.statements import Function
from simt.lang.values import Scalar, Tuple, Value, complex_of
from simt.program import Program
from simt.text import counted

_CACHE: dict[tuple[CodeType, tuple[Any, ...], int], list[tuple[Names, Program]]] = {}
"""Programs of plain functions, with what their names meant then."""


def compile(kernel: Any, argtypes: tuple[Any, ...], *, predicate: int = 0) -> Program:
    """The Program of *kernel* (a Python function or a ``@cuda.jit`` dispatcher) for *argtypes*.

    With ``predicate=N`` if/else bodies of at most N simple instructions become predicated instructions.
    Programs of plain functions are cached per code, constants used, argument types and *predicate*; those of a
    dispatcher per argument types and *predicate*: as with Numba, its globals are read once (:mod:`simt.lang.frozen`).

    Raises UnsupportedError for what is outside of the language, KernelError for what Numba would refuse
    too, and LaunchError for a wrong number of arguments; each with file, line and column.
    """
    function = python_function(kernel)
    if not is_dispatcher(kernel):
        cached = _CACHE.setdefault((function.__code__, argtypes, predicate), [])
        for names, program in cached:
            if all(_unchanged(function, path, value) for path, value in names.values.items()):
                return program
        names = Names()
        program = _compile(function, argtypes, predicate, names)
        cached.append((names, program))
        return program
    known = compiled(kernel)
    if (argtypes, predicate) not in known.programs:
        names = names_of(kernel, argtypes, (), Names())
        debug = options_of(kernel).debug
        known.programs[argtypes, predicate] = _compile(function, argtypes, predicate, names, debug)
        known.names.setdefault(argtypes, names.values)
    return known.programs[argtypes, predicate]


def _compile(
    function: FunctionType, argtypes: tuple[Any, ...], predicate: int, names: Names, debug: bool = False
) -> Program:
    builder = Builder(predicate, Place(function.__code__.co_filename, function.__name__, 0, 0), debug=debug)
    source = builder.source(function)
    builder.place = Place(source.file, source.name, source.first_line, source.tree.col_offset)
    parameters = parameter_names(function, argtypes, builder.place)
    lowering = Function(builder, source, names)
    builder.inline = lowering.inline_library
    entry = builder.block("entry")
    builder.current = entry
    for name, ty in zip(parameters, argtypes, strict=True):
        lowering.env[name] = _parameter(builder, builder.parameters, name, ty)
    lowering.body()
    cfg.simplify(entry)
    n_barriers = place_barriers(entry)
    program = emit(builder, entry, source, builder.parameters, n_barriers)
    for callee, kinds, found in builder.frozen:
        compiled(callee).names.setdefault(kinds, found.values)
    return program


def parameter_names(function: FunctionType, argtypes: tuple[Any, ...], place: Place | None = None) -> list[str]:
    """The names of a kernel's parameters; *place* is where its ``def`` stands, if that is known.

    Raises LaunchError for a wrong number of arguments, UnsupportedError for ``*args`` and the like.
    """
    code = function.__code__
    place = place or Place(code.co_filename, function.__name__, code.co_firstlineno, 0)
    signature = inspect.signature(function)
    for parameter in signature.parameters.values():
        if parameter.kind is not parameter.POSITIONAL_OR_KEYWORD:
            unsupported(place, f"the parameter {parameter}", help="a kernel takes plain parameters")
    names = list(signature.parameters)
    if len(names) != len(argtypes):
        raise LaunchError(
            f"{function.__name__} takes {counted(len(names), 'argument')}, not {len(argtypes)}",
            location=Location(place.file, place.line, place.column, place.function),
            help=f"pass {', '.join(names)}" if names else "pass no arguments",
        )
    return names


def _parameter(b: Builder, names: list[str], name: str, ty: Any) -> Value:
    """The value of a parameter; the flat arguments that it takes are appended to *names*."""
    if isinstance(ty, containers.BaseTuple):
        fields: tuple[str, ...] = ()
        python_type = None
        if isinstance(ty, containers.BaseNamedTuple):
            fields, python_type = tuple(ty.fields), ty.instance_class
        labels = (f"{name}.{fields[i]}" if fields else f"{name}[{i}]" for i in range(len(ty)))
        items = tuple(_parameter(b, names, part, item) for part, item in zip(labels, ty, strict=True))
        return Tuple(items, fields, python_type)
    if isinstance(ty, types.Complex):
        parts = (_parameter(b, names, f"{name}.{part}", ty.underlying_float) for part in ("real", "imag"))
        return complex_of(ty, parts)
    if isinstance(ty, types.EnumMember):
        return _parameter(b, names, name, ty.dtype)
    number = len(names)
    names.append(name)
    if isinstance(ty, types.Array):
        return b.argument_array(number, name, ty)
    if isinstance(ty, types.Record):
        return b.argument_record(number, name, ty)
    if nt.storage_class(ty) is None:
        unsupported(b.place, f"an argument of type {ty} ({name})", help="pass NumPy arrays and numbers")
    row = UniformRef("arg", number)
    if nt.storage_class(ty) == nt.BOOL:
        return b.value("ne.s64", types.boolean, row, ZERO, retires=False)
    return Scalar(ty, row)


# The cache


def _unchanged(function: FunctionType, path: Path, before: Any) -> bool:
    """True if the names of *path* still lead to the same constant or object as *before*."""
    now = _follow(function, path)
    if isinstance(before, np.ndarray):
        return (
            isinstance(now, np.ndarray)
            and (now.dtype, now.shape) == (before.dtype, before.shape)
            and now.tobytes() == before.tobytes()
        )
    if now is before:
        return True
    if nt.constant_type(before) is None or type(now) is not type(before):
        return False
    return bool(np.array(now).tobytes() == np.array(before).tobytes())


def _follow(function: Any, path: Path) -> Any:
    """What *path* means, starting from *function*: names inside functions, items of tuples, attributes."""
    value: Any = function
    for step in path:
        target = unwrap(value)
        if step.startswith("[") and isinstance(value, tuple):
            position = int(step[1:-1])
            value = value[position] if position < len(value) else MISSING
        elif step.endswith("=") and isinstance(target, FunctionType):
            value = inspect.signature(target).parameters[step[:-1]].default
        elif isinstance(target, FunctionType):
            value = lookup(target, step)
        else:
            value = getattr(value, step, MISSING)
    return value
