"""Expressions: Python syntax to values and operations, in Python's order of evaluation."""

from __future__ import annotations

import ast
from collections.abc import Callable, Sequence
from enum import Enum
from types import ModuleType
from typing import Any, NoReturn

import numpy as np
from numba.core import types

from simt.lang import attributes, device_arrays, intrinsics, operators
from simt.lang import numba_types as nt
from simt.lang.aggregates import fields_of
from simt.lang.builder import Builder
from simt.lang.convert import Number, constant, number, truth
from simt.lang.diagnostics import unsupported, wrong
from simt.lang.dialect import DIMENSIONS, NAMES, symbol_of
from simt.lang.environment import Environment, Variables
from simt.lang.frozen import Names
from simt.lang.ir import Block, Place
from simt.lang.scopes import local_names
from simt.lang.source import MISSING, FunctionSource
from simt.lang.values import (
    NONE,
    Conflict,
    Constant,
    Method,
    Object,
    Tuple,
    Undefined,
    Value,
    describe,
)

BINARY = {
    ast.Add: "+", ast.Sub: "-", ast.Mult: "*", ast.Div: "/", ast.FloorDiv: "//", ast.Mod: "%", ast.Pow: "**",
    ast.LShift: "<<", ast.RShift: ">>", ast.BitAnd: "&", ast.BitOr: "|", ast.BitXor: "^",
}  # fmt: skip
COMPARISON = {ast.Eq: "==", ast.NotEq: "!=", ast.Lt: "<", ast.LtE: "<=", ast.Gt: ">", ast.GtE: ">="}
UNARY = {ast.USub: "-", ast.UAdd: "+", ast.Invert: "~"}

CONSTRUCTS = {
    "ListComp": "a list comprehension", "SetComp": "a set comprehension",
    "DictComp": "a dict comprehension", "GeneratorExp": "a generator expression", "Await": "await",
    "Yield": "yield", "YieldFrom": "yield from", "JoinedStr": "an f-string", "List": "a list",
    "Dict": "a dict", "Set": "a set",
    "NamedExpr": "an assignment expression (:=)", "Starred": "* unpacking", "Slice": "a slice",
    "With": "with", "AsyncWith": "async with", "Try": "try", "TryStar": "try", "Delete": "del",
    "Import": "import inside a kernel", "ImportFrom": "import inside a kernel", "Global": "global",
    "Nonlocal": "nonlocal", "AsyncFunctionDef": "async def", "ClassDef": "class", "AsyncFor": "async for",
    "Match": "match",
}  # fmt: skip
"""Syntax outside of the language, in words."""


class Expressions:
    """Evaluates the expressions of one function instance (a kernel, or one inlined call)."""

    enclosing: Expressions | None = None
    """The instance that defined the function, where its names are looked up; None for a function of a module."""

    def __init__(self, b: Builder, source: FunctionSource, path: tuple[str, ...], names: Names) -> None:
        self.b = b
        self.source = source
        self.path = path
        self.names = names
        self.variables = Variables(b)
        self.env: Environment = {name: Undefined(name) for name in local_names(source.tree)}

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
        unsupported(self.place(node), words, help="rewrite it with the constructs that docs/dialect.md lists")

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
        if value is None and self.enclosing is not None:
            return self.enclosing._name(node)
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
        view = device_arrays.view_of(found)
        return Object(found, path) if view is None else self.b.device_array(path[-1], found, view)

    def _dialect(self, value: Object) -> Value:
        register = intrinsics.attribute_register(self.b, value.symbol or "")
        return value if register is None else register

    def _attribute(self, node: ast.Attribute) -> Value:
        base = self.evaluate(node.value)
        self.mark(node)
        if not isinstance(base, Object):
            found = attributes.attribute(self.b, base, node.attr)
            if found is None:
                found = self.numba_attribute(base, node.attr)
            return Method(base, node.attr) if found is None else found
        if base.symbol is not None:
            symbol = f"{base.symbol}.{node.attr}".lstrip(".")
            if symbol in NAMES or (base.symbol and symbol.split(".")[0] in DIMENSIONS):
                return self._dialect(Object(getattr(base.value, node.attr, None), base.path, symbol))
        named: Any = getattr(base.value, node.attr, MISSING)
        if named is MISSING:
            if base.symbol is not None:
                wrong(self.place(node), f"cuda has no {node.attr!r}")
            wrong(self.place(node), f"{describe(base)} has no attribute {node.attr!r}")
        if isinstance(base.value, np.dtype) and node.attr == "type":
            return Object(named)
        if not isinstance(base.value, ModuleType | type | Enum):
            unsupported(self.place(node), f"attribute .{node.attr} of {describe(base)}")
        return self.wrap(named, (*base.path, node.attr), self.place(node))

    def numba_attribute(self, owner: Value, name: str) -> Value | None:
        """An attribute that Numba has in Python; None if it has not."""
        raise NotImplementedError

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
            if same is None and {nt.plain(getattr(value, "type", None)) for value in (left, right)} == {types.boolean}:
                equals = "==" if isinstance(op, ast.Is) else "!="
                return operators.compare(self.b, equals, number(self.b, left), number(self.b, right))
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
