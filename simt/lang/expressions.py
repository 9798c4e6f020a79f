"""Expressions: Python syntax to values and operations, in Python's order of evaluation."""

from __future__ import annotations

import ast
from collections.abc import Callable, Sequence
from enum import Enum
from types import FunctionType, ModuleType
from typing import Any, NoReturn

import numpy as np
from numba.core import types

from simt.dispatcher import is_dispatcher, unwrap
from simt.lang import aggregates, arrays, attributes, elements, intrinsics, operators, ufuncs
from simt.lang import numba_types as nt
from simt.lang.aggregates import fields_of
from simt.lang.builder import Builder
from simt.lang.convert import Number, cast, constant, number, scalar, truth
from simt.lang.diagnostics import unsupported, wrong
from simt.lang.dialect import DIMENSIONS, NAMES, symbol_of
from simt.lang.dtypes import converted_to, dtype_object, element_type, is_builtin
from simt.lang.environment import Environment, Variables
from simt.lang.frozen import Names
from simt.lang.ir import Block, Place
from simt.lang.source import MISSING, FunctionSource, is_library
from simt.lang.values import (
    NONE,
    Array,
    Conflict,
    Constant,
    Flat,
    Method,
    Object,
    Record,
    Scalar,
    Slice,
    Tuple,
    Undefined,
    Value,
    describe,
)
from simt.program import Space

BINARY = {
    ast.Add: "+", ast.Sub: "-", ast.Mult: "*", ast.Div: "/", ast.FloorDiv: "//", ast.Mod: "%", ast.Pow: "**",
    ast.LShift: "<<", ast.RShift: ">>", ast.BitAnd: "&", ast.BitOr: "|", ast.BitXor: "^",
}  # fmt: skip
COMPARISON = {ast.Eq: "==", ast.NotEq: "!=", ast.Lt: "<", ast.LtE: "<=", ast.Gt: ">", ast.GtE: ">="}
UNARY = {ast.USub: "-", ast.UAdd: "+", ast.Invert: "~"}

_OWN = (int, float, bool, complex, len, tuple)
"""Types and functions whose calls are lowered here, although Numba has some of them in Python."""

CONSTRUCTS = {
    "Lambda": "lambda", "ListComp": "a list comprehension", "SetComp": "a set comprehension",
    "DictComp": "a dict comprehension", "GeneratorExp": "a generator expression", "Await": "await",
    "Yield": "yield", "YieldFrom": "yield from", "JoinedStr": "an f-string", "List": "a list",
    "Dict": "a dict", "Set": "a set",
    "NamedExpr": "an assignment expression (:=)", "Starred": "* unpacking", "Slice": "a slice",
    "With": "with", "AsyncWith": "async with", "Try": "try", "TryStar": "try", "Delete": "del",
    "Import": "import inside a kernel", "ImportFrom": "import inside a kernel", "Global": "global",
    "Nonlocal": "nonlocal", "FunctionDef": "a function defined inside a kernel",
    "AsyncFunctionDef": "async def", "ClassDef": "class", "AsyncFor": "async for", "Match": "match",
}  # fmt: skip
"""Syntax outside of the language, in words."""


class Expressions:
    """Evaluates the expressions of one function instance (a kernel, or one inlined call)."""

    def __init__(self, b: Builder, source: FunctionSource, path: tuple[str, ...], names: Names) -> None:
        self.b = b
        self.source = source
        self.path = path
        self.names = names
        self.variables = Variables(b)
        self.env: Environment = {name: Undefined(name) for name in _local_names(source.tree)}

    # Places and errors

    def mark(self, node: ast.AST) -> None:
        """Operations from here on belong to *node*."""
        self.b.place = self.place(node)

    def place(self, node: ast.AST) -> Place:
        """Where *node* is in the file."""
        line, column = getattr(node, "lineno", 0), getattr(node, "col_offset", 0)
        return Place(self.source.file, self.source.name, line, column)

    def refuse(self, node: ast.AST) -> NoReturn:
        """Raise UnsupportedError for a construct outside of the language."""
        name = type(node).__name__
        words = CONSTRUCTS.get(name, name)
        unsupported(self.place(node), words, help="rewrite it with the constructs that README.md lists")

    # Dispatch

    def evaluate(self, node: ast.expr) -> Value:
        """The value of an expression."""
        method = getattr(self, f"_{type(node).__name__.lower()}", None)
        if method is None:
            self.refuse(node)
        value: Value = method(node)
        self.mark(node)
        return value

    def evaluate_number(self, node: ast.expr) -> Number:
        """The value of an expression that has to be a number."""
        return number(self.b, self.evaluate(node))

    # Leaves

    def _constant(self, node: ast.Constant) -> Value:
        self.mark(node)
        if node.value is None:
            return NONE
        if isinstance(node.value, str) or node.value is Ellipsis:
            return Object(node.value)
        value = constant(node.value)
        if value is None:
            unsupported(self.place(node), f"the constant {node.value!r}", help="use numbers")
        return value

    def _name(self, node: ast.Name) -> Value:
        self.mark(node)
        value = self.env.get(node.id)
        if value is None:
            found = self.source.lookup(node.id)
            if found is MISSING:
                wrong(self.place(node), f"name {node.id!r} is not defined")
            return self.wrap(found, (*self.path, node.id), self.place(node))
        if isinstance(value, Undefined):
            value.touch()
            if value.in_loop:
                return Constant(types.int64, 0)  # the loop is lowered again once the type is known
            wrong(self.place(node), f"variable {node.id!r} is used before it has a value")
        if isinstance(value, Conflict):
            wrong(
                self.place(node),
                f"variable {node.id!r} is {value.first} on one path and {value.second} on another",
                help="use two variables",
            )
        return value

    def wrap(self, found: Any, path: tuple[str, ...], place: Place) -> Value:
        """The value of a global, closure variable or module attribute that *path* leads to, named at *place*."""
        found = self.names.read(path, found, self.b.copies)
        self.b.place = place
        symbol = symbol_of(found)
        if symbol is not None:
            return self._dialect(Object(found, path, symbol))
        if found is None:
            return NONE
        value = constant(found)
        if value is not None:
            return value
        if isinstance(found, tuple):
            items = tuple(self.wrap(item, (*path, f"[{i}]"), place) for i, item in enumerate(found))
            return Tuple(items, *fields_of(found))
        if isinstance(found, np.ndarray):
            return self.b.constant_array(path[-1], found)
        return Object(found, path)

    def _dialect(self, value: Object) -> Value:
        register = intrinsics.attribute_register(self.b, value.symbol or "")
        return value if register is None else register

    def _attribute(self, node: ast.Attribute) -> Value:
        base = self.evaluate(node.value)
        self.mark(node)
        if not isinstance(base, Object):
            found = attributes.attribute(self.b, base, node.attr)
            return found or self.numba_attribute(base, node.attr) or Method(base, node.attr)
        if base.symbol is not None:
            symbol = f"{base.symbol}.{node.attr}".lstrip(".")
            if symbol in NAMES or (base.symbol and symbol.split(".")[0] in DIMENSIONS):
                return self._dialect(Object(getattr(base.value, node.attr, None), base.path, symbol))
        found = getattr(base.value, node.attr, MISSING)
        if found is MISSING:
            if base.symbol is not None:
                wrong(self.place(node), f"cuda has no {node.attr!r}")
            wrong(self.place(node), f"{describe(base)} has no attribute {node.attr!r}")
        if isinstance(base.value, np.dtype) and node.attr == "type":
            return Object(found)
        if not isinstance(base.value, ModuleType | type | Enum):
            unsupported(self.place(node), f"attribute .{node.attr} of {describe(base)}")
        return self.wrap(found, (*base.path, node.attr), self.place(node))

    def _tuple(self, node: ast.Tuple) -> Value:
        return Tuple(tuple(self.evaluate_arguments(node.elts)))

    def evaluate_arguments(self, nodes: Sequence[ast.expr]) -> list[Value]:
        """The values of *nodes*, with ``*t`` spread out."""
        values: list[Value] = []
        for node in nodes:
            if isinstance(node, ast.Starred):
                value = self.evaluate(node.value)
                if not isinstance(value, Tuple):
                    self.refuse(node)
                values.extend(value.items)
            else:
                values.append(self.evaluate(node))
        return values

    # Operators

    def _binop(self, node: ast.BinOp) -> Value:
        left, right = self.evaluate(node.left), self.evaluate(node.right)
        self.mark(node)
        return self.binary(node, node.op, left, right)

    def binary(self, node: ast.AST, op: ast.operator, left: Value, right: Value) -> Value:
        """A binary operator on two values."""
        text = BINARY.get(type(op))
        if text is None:
            unsupported(self.place(node), "the operator @", help="write the loops of a matrix product")
        if text == "+" and isinstance(left, Tuple) and isinstance(right, Tuple):
            return Tuple(left.items + right.items)
        return operators.operate(self.b, text, number(self.b, left), number(self.b, right))

    def _unaryop(self, node: ast.UnaryOp) -> Value:
        value = self.evaluate_number(node.operand)
        self.mark(node)
        if isinstance(node.op, ast.Not):
            return operators.logical_not(self.b, value)
        return operators.unary(self.b, UNARY[type(node.op)], value)

    def _compare(self, node: ast.Compare) -> Value:
        return self._short_circuit(self._links(node), stops_on=False)

    def _links(self, node: ast.Compare) -> list[Callable[[], Value]]:
        """The comparisons of a chain; each evaluates its right operand, once."""
        pending = [self.evaluate(node.left)]

        def link(op: ast.cmpop, comparator: ast.expr) -> Callable[[], Value]:
            def compare() -> Value:
                left = pending.pop()
                right = self.evaluate(comparator)
                pending.append(right)
                self.mark(node)
                return self._comparison(node, op, left, right)

            return compare

        return [link(op, comparator) for op, comparator in zip(node.ops, node.comparators, strict=True)]

    def _comparison(self, node: ast.Compare, op: ast.cmpop, left: Value, right: Value) -> Value:
        if isinstance(op, ast.Is | ast.IsNot):
            same = left == right if NONE in (left, right) else attributes.same(left, right)
            if same is None:
                unsupported(self.place(node), "'is' between values", help="use ==")
            return Constant(types.boolean, same == isinstance(op, ast.Is))
        text = COMPARISON.get(type(op))
        if text is None:
            unsupported(self.place(node), "'in'", help="compare with each item, joined by 'or'")
        same = attributes.same(left, right)
        if same is not None and text in ("==", "!="):
            return Constant(types.boolean, same == (text == "=="))
        return operators.compare(self.b, text, number(self.b, left), number(self.b, right))

    # Control flow inside expressions

    def _boolop(self, node: ast.BoolOp) -> Value:
        thunks = [lambda value=value: self.evaluate(value) for value in node.values]
        return self._short_circuit(thunks, stops_on=isinstance(node.op, ast.Or))

    def _short_circuit(self, thunks: Sequence[Callable[[], Value]], *, stops_on: bool) -> Value:
        """``and``/``or``: the first value whose truth is *stops_on*, else the last one."""
        results: list[tuple[Block, Value]] = []
        for thunk in thunks[:-1]:
            value = number(self.b, thunk())
            condition = truth(self.b, value)
            if isinstance(condition, Constant):
                if condition.value == stops_on:
                    results.append((self.b.here(), value))
                    return self._merge(results)
                continue
            stop, proceed = self.b.block("short"), self.b.block("next")
            if stops_on:
                self.b.branch(condition, stop, proceed)
            else:
                self.b.branch(condition, proceed, stop)
            results.append((stop, value))
            self.b.current = proceed
        last = thunks[-1]()
        results.append((self.b.here(), last))
        return self._merge(results)

    def _ifexp(self, node: ast.IfExp) -> Value:
        then, other = self.b.block("then"), self.b.block("else")
        self.condition(node.test, then, other)
        results = []
        for block, arm in ((then, node.body), (other, node.orelse)):
            if block in self.b.entered:
                self.b.current = block
                value = self.evaluate(arm)
                results.append((self.b.here(), value))
        return self._merge(results)

    def _merge(self, results: list[tuple[Block, Value]]) -> Value:
        """The value that paths with different results agree on."""
        name = "<value>"
        joined = Variables(self.b).join([(block, {name: value}) for block, value in results])[name]
        if isinstance(joined, Conflict):
            wrong(self.b.place, f"the value is {joined.first} on one path and {joined.second} on another")
        return joined

    def condition(self, node: ast.expr, then: Block, other: Block) -> None:
        """Branch to *then* where *node* is true, else to *other*; a branch per operand of ``and``/``or``."""
        if isinstance(node, ast.BoolOp):
            is_or = isinstance(node.op, ast.Or)
            for operand in node.values[:-1]:
                proceed = self.b.block("next")
                self.condition(operand, then if is_or else proceed, proceed if is_or else other)
                if proceed not in self.b.entered:
                    return
                self.b.current = proceed
            self.condition(node.values[-1], then, other)
            return
        if isinstance(node, ast.Compare) and len(node.ops) > 1:
            self._chain_condition(node, then, other)
            return
        value = truth(self.b, self.evaluate_number(node))
        self.mark(node)
        self.b.branch(value, then, other)

    def _chain_condition(self, node: ast.Compare, then: Block, other: Block) -> None:
        links = self._links(node)
        for link in links[:-1]:
            proceed = self.b.block("next")
            self.b.branch(truth(self.b, number(self.b, link())), proceed, other)
            if proceed not in self.b.entered:
                return
            self.b.current = proceed
        self.b.branch(truth(self.b, number(self.b, links[-1]())), then, other)

    # Subscripts

    def _subscript(self, node: ast.Subscript) -> Value:
        base = self.evaluate(node.value)
        if isinstance(base, Tuple):
            return self._tuple_item(base, node)
        index = self.evaluate(node.slice)
        self.mark(node)
        return elements.load(self.b, self.part(base, index))

    def part(self, base: Value, index: Value) -> Array:
        """The element, row or field that an index names."""
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
        if not isinstance(function, Object):
            wrong(self.place(node), f"{describe(function)} is not a function")
        if function.symbol in ("shared.array", "local.array"):
            return self._array_constructor(function.symbol, node, args, keywords)
        intrinsic = intrinsics.find(function)
        inlined = unwrap(function.value)
        is_python = isinstance(inlined, FunctionType) and function.symbol is None and intrinsic is None
        if is_python and (is_dispatcher(function.value) or not is_library(inlined)):
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
        if keywords:
            unsupported(self.place(node), f"keyword arguments of {describe(method)}")
        found = attributes.call(self.b, method, args)
        if found is None:
            found = self.numba_method(method.owner, method.name, args)
        if found is None:
            unsupported(self.place(node), describe(method), help=attributes.HELP)
        return found

    def numba_function(self, function: Any, args: list[Value], keywords: dict[str, Value]) -> Value | None:
        """A call of a function that Numba has in Python; None if it has not."""
        raise NotImplementedError

    def numba_method(self, owner: Value, name: str, args: list[Value]) -> Value | None:
        """A method that Numba has in Python; None if it has not."""
        raise NotImplementedError

    def numba_attribute(self, owner: Value, name: str) -> Value | None:
        """An attribute that Numba has in Python; None if it has not."""
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
        value = number(self.b, args[0])
        return cast(self.b, value, converted_to(function.value, value.type))

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
        shape = tuple(arrays.constant_shape(self.b, bound["shape"]))
        space = Space.SHARED if symbol == "shared.array" else Space.LOCAL
        site = (self.source.function.__code__, node.lineno, node.col_offset)
        alignment = attributes.alignment_of(self.b, bound.get("alignment", NONE))
        return self.b.allocate(site, self._target_of(node), ty, shape, space, alignment)

    def _target_of(self, node: ast.Call) -> str:
        """The variable that a statement of this function assigns *node* to; the text of *node* if there is none."""
        for statement in ast.walk(self.source.tree):
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


def _is_real(args: list[Value]) -> bool:
    """Whether these are the arguments of a function of one number that is not complex."""
    return len(args) == 1 and isinstance(args[0], Scalar | Constant)


def _local_names(tree: ast.FunctionDef) -> list[str]:
    """Parameters and assigned names, in order of appearance."""
    names = dict.fromkeys(argument.arg for argument in ast.walk(tree.args) if isinstance(argument, ast.arg))
    for node in ast.walk(tree):
        if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store):
            names[node.id] = None
    return list(names)
