"""Subscripts and calls: what stands before brackets and parentheses, and what they make of it."""

from __future__ import annotations

import ast
from dataclasses import replace
from enum import EnumMeta as EnumType
from types import FunctionType
from typing import Any

import numpy as np
from numba.core import types

from simt.dispatcher import unwrap
from simt.lang import aggregates, arrays, attributes, elements, implementations, intrinsics, ufuncs
from simt.lang import numba_types as nt
from simt.lang.convert import cast, constant, number, scalar
from simt.lang.diagnostics import unsupported, wrong
from simt.lang.dtypes import converted_to, dtype_object, element_type, is_builtin
from simt.lang.expressions import Expressions
from simt.lang.ir import Place
from simt.lang.scopes import own_nodes
from simt.lang.source import is_library
from simt.lang.values import (
    NONE,
    Array,
    Closure,
    Constant,
    Flat,
    Method,
    Object,
    Record,
    Scalar,
    Slice,
    Tuple,
    Value,
    describe,
)
from simt.program import Space

_OWN = (int, float, bool, complex, len, tuple, np.dtype)
"""Types and functions whose calls are lowered here, although Numba has some of them in Python."""


class Applications(Expressions):
    """A function instance that can index, call intrinsics and convert; calls of Python functions come with
    :mod:`~simt.lang.calls`."""

    # Subscripts

    def _subscript(self, node: ast.Subscript) -> Value:
        base = self.evaluate(node.value)
        if isinstance(base, Tuple):
            return self._tuple_item(base, node)
        index = self.evaluate(node.slice)
        self.mark(node)
        if isinstance(base, Object) and isinstance(base.value, EnumType) and isinstance(index, Object):
            return self._member(base, index.value)
        return elements.load(self.b, self.part(base, index))

    def _member(self, base: Object, name: Any) -> Value:
        """``Color["red"]``."""
        if name not in base.value.__members__:
            wrong(self.b.place, f"{describe(base)} has no member {name!r}")
        return self.wrap(base.value[name], (*base.path, name), self.b.place)

    def part(self, base: Value, index: Value) -> Array:
        """The element, row or field that an index names."""
        index = self._without_arrays(index)
        if isinstance(index, Object) and isinstance(index.value, str):
            found = attributes.field(self.b, base, index.value)
            if found is None:
                wrong(self.b.place, f"{describe(base)} has no field {index.value!r}")
            return found
        if isinstance(base, Record) and isinstance(index, Constant):
            fields = list(base.element.type.fields)
            if isinstance(index.value, int) and -len(fields) <= index.value < len(fields):
                return self.part(base, Object(fields[index.value]))
        if isinstance(base, Flat) and isinstance(index, Scalar | Constant):
            return arrays.element_at(self.b, base.array, index)
        if not isinstance(base, Array):
            unsupported(self.b.place, f"indexing {describe(base)}", help="arrays, records and tuples have items")
        return arrays.subscript(self.b, base, index)

    def _without_arrays(self, index: Value) -> Value:
        """An index with the elements of 0-d arrays in the place of these."""
        if isinstance(index, Tuple):
            return replace(index, items=tuple(self._without_arrays(item) for item in index.items))
        return elements.load(self.b, index) if isinstance(index, Array) and not index.ndim else index

    def _slice(self, node: ast.Slice) -> Slice:
        parts = [None if part is None else self.evaluate(part) for part in (node.lower, node.upper, node.step)]
        return Slice(*(None if part in (None, NONE) else scalar(self.b, part) for part in parts))

    def _tuple_item(self, base: Tuple, node: ast.Subscript) -> Value:
        index = self.evaluate(node.slice)
        self.mark(node)
        if isinstance(index, Slice):
            bounds = [self._whole(part) for part in (index.start, index.stop, index.step)]
            return Tuple(base.items[slice(*bounds)])
        if isinstance(index, Scalar) and nt.storage_class(index.type) == nt.INT:
            return aggregates.item(self.b, base, index)
        position = self._whole(index)
        if position is None or not -len(base.items) <= position < len(base.items):
            wrong(self.place(node), f"index {position} of a tuple of {len(base.items)} items")
        return base.items[position]

    def _whole(self, value: Value | None) -> int | None:
        if value is None:
            return None
        if not isinstance(value, Constant) or nt.storage_class(value.type) != nt.INT:
            unsupported(self.b.place, f"a tuple's index or bound {describe(value)}", help="use constant integers")
        return int(value.value)

    # Calls

    def _call(self, node: ast.Call) -> Value:
        function = self.evaluate(node.func)
        args = self.evaluate_arguments(node.args)
        keywords = {}
        for keyword in node.keywords:
            if keyword.arg is None:
                unsupported(self.place(keyword), "** unpacking")
            keywords[keyword.arg] = self.evaluate(keyword.value)
        self.mark(node)
        if isinstance(function, Method):
            return self.call_method(function, args, keywords, node)
        if isinstance(function, Closure):
            return self.call_closure(function, args, keywords, self.place(node))
        if not isinstance(function, Object):
            wrong(self.place(node), f"{describe(function)} is not a function")
        if function.symbol in ("shared.array", "local.array"):
            return self._array_constructor(function.symbol, node, args, keywords)
        intrinsic = intrinsics.find(function)
        if intrinsic is None and function.symbol is None and type(function.value).__name__ == "_Intrinsic":
            help = "it makes LLVM code, which the source view has not; use the machine view"
            unsupported(self.place(node), f"{describe(function)}, an @intrinsic", help=help)
        inlined = unwrap(function.value)
        is_python = isinstance(inlined, FunctionType) and function.symbol is None and intrinsic is None
        plain = is_python and not hasattr(function.value, "py_func")
        if is_python and not (plain and (is_library(inlined) or implementations.is_known(function.value))):
            return self.inline(function.value, function.path, args, keywords, self.place(node))
        own = isinstance(function.value, np.ufunc | ufuncs.Elementwise) or function.value in _OWN
        if intrinsic is None and function.symbol is None and not own:
            found = self.numba_function(function.value, args, keywords)
            if found is not None:
                return found
        if keywords:
            unsupported(self.place(node), f"keyword arguments of {describe(function)}")
        if function.symbol == "const.array_like":
            if len(args) != 1 or not isinstance(args[0], Array) or args[0].space != Space.CONST.value:
                wrong(self.place(node), "const.array_like takes a global or closure array")
            return args[0]
        if isinstance(function.value, np.ufunc) and (intrinsic is None or not _is_real(args)):
            return ufuncs.call(self.b, function.value, args)
        if isinstance(function.value, ufuncs.Elementwise):
            return function.value(self.b, args)
        if intrinsic is not None:
            return intrinsics.call(self.b, intrinsic, args)
        if function.value is len:
            return self._length(node, args)
        if function.value is np.dtype:
            return self._dtype(node, args)
        made = aggregates.construct(self.b, function, args)
        return self._conversion(node, function, args) if made is None else made

    def call_method(self, method: Method, args: list[Value], keywords: dict[str, Value], node: ast.Call) -> Value:
        """The result of a method of an array or a number."""
        found = None if keywords else attributes.call(self.b, method, args)
        if found is None:
            found = self.numba_method(method.owner, method.name, args, keywords)
        if found is None and keywords:
            unsupported(self.place(node), f"keyword arguments of {describe(method)}")
        if found is None:
            unsupported(self.place(node), describe(method), help=attributes.HELP)
        return found

    def numba_function(self, function: Any, args: list[Value], keywords: dict[str, Value]) -> Value | None:
        """A call of a function that Numba has in Python; None if it has not."""
        raise NotImplementedError

    def numba_method(self, owner: Value, name: str, args: list[Value], keywords: dict[str, Value]) -> Value | None:
        """A method that Numba has in Python; None if it has not."""
        raise NotImplementedError

    def _length(self, node: ast.Call, args: list[Value]) -> Value:
        if len(args) == 1 and isinstance(args[0], Tuple):
            return Constant(types.int64, len(args[0].items))
        if len(args) == 1 and isinstance(args[0], Flat):
            return arrays.size(self.b, args[0].array)
        if len(args) == 1 and isinstance(args[0], Array) and args[0].ndim:
            return arrays.axis_size(args[0], 0)
        wrong(self.place(node), "len() takes an array or a tuple")

    def _conversion(self, node: ast.Call, function: Object, args: list[Value]) -> Value:
        """``int32(x)``, ``np.float32(x)``, ``float(x)``: an explicit conversion."""
        if not is_builtin(function.value) and converted_to(function.value, None) is None:
            unsupported(
                self.place(node),
                f"calling {describe(function)}",
                help="call device functions, Numba's CUDA functions, the math module, or conversions",
            )
        if len(args) != 1:
            wrong(self.place(node), f"a conversion takes 1 argument, not {len(args)}")
        if function.value in (float, complex) and isinstance(args[0], Object) and isinstance(args[0].value, str):
            return self._of_text(function.value, args[0].value)
        value = number(self.b, args[0])
        return cast(self.b, value, converted_to(function.value, value.type))

    def _of_text(self, kind: Any, text: str) -> Value:
        """``float("nan")``: a constant."""
        try:
            value = constant(kind(text))
        except ValueError as error:
            wrong(self.b.place, str(error))
        assert value is not None
        return value

    def _dtype(self, node: ast.Call, args: list[Value]) -> Value:
        ty = element_type(args[0]) if len(args) == 1 else None
        if ty is None:
            wrong(self.place(node), "np.dtype takes the name of a number type", help='use e.g. np.dtype("int32")')
        return dtype_object(ty)

    def _array_constructor(self, symbol: str, node: ast.Call, args: list[Value], keywords: dict[str, Value]) -> Value:
        bound = dict(zip(("shape", "dtype", "alignment"), args, strict=False)) | keywords
        if not {"shape", "dtype"} <= set(bound) <= {"shape", "dtype", "alignment"} or len(bound) < len(args):
            wrong(self.place(node), f"cuda.{symbol} takes a shape, a dtype and an alignment")
        dtype = bound["dtype"]
        ty = element_type(dtype)
        if ty is None:
            wrong(self.place(node), f"{describe(dtype)} is not an element type", help="use e.g. np.float32")
        given = self._constants(node.args[0]) if args else bound["shape"]
        shape = tuple(arrays.constant_shape(self.b, bound["shape"] if given is None else given))
        space = Space.SHARED if symbol == "shared.array" else Space.LOCAL
        site = (self.source.function.__code__, node.lineno, node.col_offset)
        alignment = attributes.alignment_of(self.b, bound.get("alignment", NONE))
        return self.b.allocate(site, self._target_of(node), ty, shape, space, alignment)

    def _constants(self, node: ast.expr) -> Value | None:
        """What a shape is whose variables are assigned once, constants: Numba finds these; None for any other."""
        if isinstance(node, ast.Tuple):
            items = [self._constants(item) for item in node.elts]
            known = tuple(item for item in items if item is not None)
            return Tuple(known) if len(known) == len(items) else None
        if isinstance(node, ast.Constant):
            return self.evaluate(node)
        if not isinstance(node, ast.Name) or not isinstance(self.env.get(node.id), Scalar):
            return self.evaluate(node) if isinstance(node, ast.Name) else None
        stores = [
            each for each in own_nodes(self.source.tree.body) if isinstance(each, ast.Name) and each.id == node.id
        ]
        assigned = [each for each in own_nodes(self.source.tree.body) if isinstance(each, ast.Assign)]
        values = [each.value for each in assigned if each.targets[0] in stores and len(each.targets) == 1]
        once = sum(isinstance(each.ctx, ast.Store) for each in stores) == len(values) == 1
        return self._constants(values[0]) if once else None

    def _target_of(self, node: ast.Call) -> str:
        """The variable that a statement of this function assigns *node* to; the text of *node* if there is none."""
        for statement in own_nodes(self.source.tree.body):
            if isinstance(statement, ast.Assign) and statement.value is node:
                return ast.unparse(statement.targets[0])
        return ast.unparse(node)

    def inline(
        self,
        called: Any,
        path: tuple[str, ...],
        args: list[Value],
        keywords: dict[str, Value],
        place: Place,
    ) -> Value:
        """Lower a call of a device function, plain or decorated, in place."""
        raise NotImplementedError

    def call_closure(self, called: Closure, args: list[Value], keywords: dict[str, Value], place: Place) -> Value:
        """Lower a call of a function that a function has defined, in place."""
        raise NotImplementedError


def _is_real(args: list[Value]) -> bool:
    """Whether these are the arguments of a function of one number that is not complex."""
    return len(args) == 1 and isinstance(args[0], Scalar | Constant)
