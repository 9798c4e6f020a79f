"""Calls of device functions: lowered in place, with the arguments that they declare."""

from __future__ import annotations

import ast
import inspect
from collections.abc import Callable, Iterable
from dataclasses import replace
from types import FunctionType
from typing import Any

from numba.core import types
from numba.core.types import containers
from numba.core.types.misc import maybe_literal

from simt.check.errors import UnsupportedError
from simt.dispatcher import is_dispatcher, options_of, python_function, signatures_of
from simt.lang import implementations
from simt.lang import numba_types as nt
from simt.lang.applications import Applications
from simt.lang.arguments import choose, signatures_text
from simt.lang.builder import Builder
from simt.lang.convert import convert
from simt.lang.diagnostics import unsupported, wrong
from simt.lang.environment import Environment
from simt.lang.frozen import Names, names_of
from simt.lang.ir import Block, Place
from simt.lang.scopes import signature_of, stored_names
from simt.lang.source import FunctionSource, lambda_tree
from simt.lang.values import (
    NONE,
    Array,
    Closure,
    Complex,
    Constant,
    Method,
    Object,
    Record,
    Scalar,
    Tuple,
    Value,
    describe,
)

RESULT = "<result>"
"""The variable that a device function returns its value in."""


class Calls(Applications):
    """A function instance that can call others; ``returns`` are the ends of its own paths."""

    def __init__(
        self, b: Builder, source: FunctionSource, names: Names, path: tuple[str, ...], caller: Calls | None
    ) -> None:
        super().__init__(b, source, path, names)
        self.caller = caller
        self.returns: list[tuple[Block, Environment]] = []
        self.env[RESULT] = NONE

    def body(self) -> None:
        """Lower the function's statements."""
        raise NotImplementedError

    def inline(
        self,
        called: Any,
        path: tuple[str, ...],
        args: list[Value],
        keywords: dict[str, Value],
        place: Place,
        own_names: bool = False,
    ) -> Value:
        """Lower a call of a device function in place; its arguments and result are free.

        Where it declares signatures, they are converted to what it declares.  With *own_names* its globals are
        nothing that a later launch has to look at again.
        """
        function = python_function(called)
        source = self.b.source(function)
        self._check_no_recursion(source.tree, place)
        signature = inspect.signature(function)

        def default(name: str) -> Value:
            return self.wrap(signature.parameters[name].default, (*path, f"{name}="), place)

        bound = self._bind(function.__name__, signature, args, keywords, place, default)
        self.b.place = place
        values, result = self._declared(called, list(bound.values()))
        kinds = tuple(_value_type(value) for value in values)
        names = Names(len(path)) if own_names else names_of(called, kinds, path, self.names)
        if names is not self.names and not own_names:
            self.b.frozen.append((called, kinds, names))
        debug, self.b.debug = self.b.debug, options_of(called).debug if is_dispatcher(called) else self.b.debug
        value = self._run(type(self)(self.b, source, names, path, self), zip(bound, values, strict=True), place)
        self.b.debug = debug
        return value if result is None else self._returned(value, result)

    def closure(self, tree: ast.FunctionDef) -> Closure:
        """The function that this instance defines with *tree*; its defaults are evaluated now."""
        _, defaults = signature_of(tree)
        return Closure(tree, tuple((name, self.evaluate(node)) for name, node in defaults), self)

    def _lambda(self, node: ast.Lambda) -> Value:
        if node not in self.b.lambdas:
            self.b.lambdas[node] = lambda_tree(node, "<lambda>")
        return self.closure(self.b.lambdas[node])

    def call_closure(self, called: Closure, args: list[Value], keywords: dict[str, Value], place: Place) -> Value:
        """Lower a call of a function that a function has defined, in place.

        What it does not assign itself are the variables of the function that defined it, as they are at the call.
        """
        self._check_no_recursion(called.tree, place)
        home = called.home
        source = replace(home.source, tree=called.tree)
        callee = type(self)(self.b, source, home.names, home.path, self)
        callee.enclosing = home
        signature, _ = signature_of(called.tree)
        bound = self._bind(called.tree.name, signature, args, keywords, place, dict(called.defaults).__getitem__)
        return self._run(callee, bound.items(), place)

    def _run(self, callee: Calls, arguments: Iterable[tuple[str, Value]], place: Place) -> Value:
        """Lower the body of *callee* here; what it returns."""
        stored = stored_names(callee.source.tree.body)
        for name, value in arguments:
            callee.env[name] = callee.variables.assign(name, value) if name in stored else value
        callee.body()
        self.b.place = place
        joined = callee.variables.join([(block, {RESULT: env[RESULT]}) for block, env in callee.returns])
        return joined.get(RESULT, NONE)

    def _returned(self, value: Value, result: Any) -> Value:
        """The result of a function, as it declares it."""
        if isinstance(value, Scalar | Constant | Complex):
            return convert(self.b, value, result)
        return value

    def numba_function(self, function: Any, args: list[Value], keywords: dict[str, Value]) -> Value | None:
        """A call of a function that Numba has in Python; None if it has not."""
        given = tuple(numba_type(value) for value in args)
        named = {name: numba_type(value) for name, value in keywords.items()}
        if None in given or None in named.values():
            return None
        literals = tuple(
            maybe_literal(value.value) or ty if isinstance(value, Constant) else ty
            for value, ty in zip(args, given, strict=True)
        )
        found = implementations.of_function(function, given, named, literals)
        return self._implementation(f"calling {describe(Object(function))}", found, args, keywords)

    def numba_method(self, owner: Value, name: str, args: list[Value], keywords: dict[str, Value]) -> Value | None:
        """A method that Numba has in Python; None if it has not."""
        ty, *given = (numba_type(value) for value in (owner, *args))
        named = {name: numba_type(value) for name, value in keywords.items()}
        if ty is None or None in given or None in named.values():
            return None
        found = implementations.of_method(ty, name, tuple(given), named)
        return self._implementation(describe(Method(owner, name)), found, [owner, *args], keywords)

    def numba_attribute(self, owner: Value, name: str) -> Value | None:
        """An attribute that Numba has in Python; None if it has not."""
        ty = numba_type(owner)
        found = None if ty is None else implementations.of_attribute(ty, name)
        return None if found is None else self.b.inline(found, [owner])

    def _implementation(
        self,
        what: str,
        found: implementations.Implementation | None,
        args: list[Value],
        keywords: dict[str, Value],
    ) -> Value | None:
        """Lower what Numba has in Python; what is unsupported in it is so where the kernel calls it."""
        if found is None:
            return None
        place = self.b.place
        function, taken = found
        values = [
            convert(self.b, value, ty) if isinstance(value, Scalar | Constant | Complex) else value
            for value, ty in zip(args, taken, strict=True)
        ]
        try:
            return self.inline(function, (function.__name__,), values, keywords, place, own_names=True)
        except UnsupportedError as error:
            unsupported(place, what, help=error.help, details=(f"Numba's function for it has {error.title}",))

    def inline_library(self, function: FunctionType, args: list[Value]) -> Value:
        """Lower a call of a function that is Numba's or the simulator's own."""
        return self.inline(function, (function.__name__,), args, {}, self.b.place, own_names=True)

    def _declared(self, called: Any, values: list[Value]) -> tuple[list[Value], Any]:
        """The arguments as the signature that fits best declares them, and the type of the result, if it does."""
        signatures = signatures_of(called)
        if not signatures:
            return values, None
        given = tuple(_value_type(value) for value in values)
        found = choose(signatures, given, launched=False)
        if found is None:
            name = python_function(called).__name__
            wrong(
                self.b.place,
                f"{name} does not take ({', '.join(map(str, given))})",
                help=f"it is declared for {signatures_text(signatures)}",
            )
        converted = [
            convert(self.b, value, ty) if isinstance(value, Scalar | Constant | Complex) else value
            for value, ty in zip(values, found.args, strict=True)
        ]
        return converted, None if found.result in (None, types.none) else found.result

    def _check_no_recursion(self, tree: ast.FunctionDef, place: Place) -> None:
        function: Calls | None = self
        while function is not None:
            if function.source.tree is tree:
                unsupported(place, f"recursion: {tree.name} calls itself", help="rewrite it as a loop")
            function = function.caller

    def _bind(
        self,
        called: str,
        signature: inspect.Signature,
        args: list[Value],
        keywords: dict[str, Value],
        place: Place,
        default: Callable[[str], Value],
    ) -> dict[str, Value]:
        if any(parameter.kind is parameter.VAR_KEYWORD for parameter in signature.parameters.values()):
            unsupported(place, f"{called} takes ** arguments")
        try:
            bound = signature.bind(*args, **keywords)
        except TypeError as error:
            wrong(place, f"call of {called}: {error}")
        values: dict[str, Value] = {}
        for name, parameter in signature.parameters.items():
            if parameter.kind is parameter.VAR_POSITIONAL:
                values[name] = Tuple(tuple(bound.arguments.get(name, ())))
            elif name in bound.arguments:
                values[name] = bound.arguments[name]
            else:
                values[name] = default(name)
        return values


def _value_type(value: Value) -> Any:
    """The Numba type of a value, as far as it has one."""
    if isinstance(value, Scalar | Constant | Complex):
        return nt.plain(value.type)
    if isinstance(value, Array):
        layout: Any = value.layout
        return types.Array(value.type, value.ndim, layout, readonly=value.readonly)
    if isinstance(value, Record):
        return value.element.type
    if isinstance(value, Tuple):
        items = [_value_type(item) for item in value.items]
        if value.names:
            return (value.type, *items)
        return containers.Tuple(items) if all(isinstance(item, types.Type) for item in items) else tuple(items)
    return value


def numba_type(value: Value) -> Any | None:
    """Numba's type of any value; None for what it has none for."""
    if isinstance(value, Closure):
        return types.MakeFunctionLiteral(value)
    ty = implementations.type_of(value.value) if isinstance(value, Object) else _value_type(value)
    return ty if isinstance(ty, types.Type) else None
