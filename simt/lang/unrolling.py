"""A kernel with its innermost loops unrolled: several rounds behind each other, between two tests of the loop."""

from __future__ import annotations

import ast
import copy
from collections.abc import Sequence
from types import CodeType, FunctionType
from typing import Any

from simt.check import LaunchError, Location
from simt.dispatcher import python_function
from simt.lang.scopes import local_names, own_nodes, stored_names
from simt.lang.source import keep_tree, lookup, read_source

WHICH = (
    "write the loop over range() with a literal step, without another loop, break, continue or return in it, and leave "
    "range and max their meaning in Python"
)


MOST = 4096
"""Rounds behind each other: a body of one line then takes seconds to compile."""


def unrolled(kernel: Any, times: int) -> FunctionType:
    """The function of *kernel* with *times* rounds of each innermost loop behind each other, and a loop for the rest.

    It computes what *kernel* does, in Python, in both views and under Numba.  Lines keep their numbers, so that its
    profile compares line by line.  Loops over ``range`` are unrolled if their step is a literal, and if they hold no
    ``break``, ``continue`` or ``return`` and do not assign their counter.

    Raises LaunchError where there is no such loop, for fewer than two rounds and more than MOST, and for kernels that
    are machine code.
    """
    if not isinstance(times, int) or not 2 <= times <= MOST:
        raise LaunchError(f"a loop cannot be unrolled {times!r} times", help=f"give a whole number from 2 to {MOST:,}")
    if isinstance(getattr(kernel, "view", None), str):
        raise LaunchError(
            "simt unrolls loops of Python, those of CUDA C their compiler",
            help=f"in a copy of the file, write #pragma unroll {times} before the loop, and compare both: "
            "simt explain FILE.cu:KERNEL COPY.cu:KERNEL",
        )
    function = python_function(kernel)
    source = read_source(function)
    tree = copy.deepcopy(source.tree)
    unroller = _Unroller(function, tree, times)
    unroller.visit(tree)
    if not unroller.found:
        where = Location(source.file, source.first_line, function=source.name)
        raise LaunchError(f"{source.name} has no loop that could be unrolled", location=where, help=WHICH)
    made = _function(function, tree, source.file)
    keep_tree(made, tree, source.lines)
    return made


class _Unroller(ast.NodeTransformer):
    """Replaces loops by unrolled ones."""

    def __init__(self, function: FunctionType, tree: ast.FunctionDef, times: int) -> None:
        self.function = function
        self.times = times
        self.local = set(local_names(tree))
        self.names = self.local | {each.id for each in ast.walk(tree) if isinstance(each, ast.Name)}
        self.found = 0

    def visit_For(self, node: ast.For) -> Any:
        """The loop, or two in its place."""
        bounds = self._bounds(node)
        if bounds is None:
            self.generic_visit(node)
            return node
        self.found += 1
        start, stop, step = bounds
        first, last = self._new("first"), self._new("last")
        assert isinstance(node.target, ast.Name)  # _bounds has looked
        counter = node.target.id
        whole = self.times * step
        before = [_assign(first, start), _assign(last, stop)]
        rounds = [*node.body]
        for _ in range(self.times - 1):
            rounds += [_parsed(f"{counter} = {counter} + {step}"), *copy.deepcopy(node.body)]
        trips = f"max(0, ({last} - {first} + {step - (1 if step > 0 else -1)}) // {step})"
        loops = [
            _parsed(f"for {counter} in range({first}, {last} - {whole - step}, {whole}): pass"),
            _parsed(f"for {counter} in range({first} + {trips} // {self.times} * {whole}, {last}, {step}): pass"),
        ]
        for loop, body in zip(loops, (rounds, copy.deepcopy(node.body)), strict=True):
            assert isinstance(loop, ast.For)
            loop.body = body
        found = [*before, *loops]
        for each in found:
            _place(each, node)
        return found

    def _bounds(self, node: ast.For) -> tuple[ast.expr, ast.expr, int] | None:
        """Start, stop and step of a loop that can be unrolled."""
        call = node.iter
        if not (isinstance(call, ast.Call) and isinstance(call.func, ast.Name) and 1 <= len(call.args) <= 3):
            return None
        inside = (ast.For, ast.While, ast.Break, ast.Continue, ast.Return)
        if node.orelse or call.keywords or any(isinstance(each, inside) for each in own_nodes(node.body)):
            return None
        if not isinstance(node.target, ast.Name) or node.target.id in stored_names(node.body):
            return None
        if not (self._is(call.func.id, range) and self._is("max", max)):
            return None
        args = [ast.Constant(0), *call.args] if len(call.args) == 1 else call.args
        try:
            step = ast.literal_eval(args[2]) if len(args) == 3 else 1
        except ValueError:
            return None
        return (args[0], args[1], step) if isinstance(step, int) and step else None

    def _is(self, name: str, builtin: object) -> bool:
        """Whether a name of the function means a builtin of Python."""
        return name not in self.local and lookup(self.function, name) is builtin

    def _new(self, what: str) -> str:
        """A name that the function does not use."""
        name = next(f"{what}_{k}" for k in range(len(self.names) + 1) if f"{what}_{k}" not in self.names)
        self.names.add(name)
        return name


def _parsed(text: str) -> ast.stmt:
    return ast.parse(text).body[0]


def _assign(name: str, value: ast.expr) -> ast.stmt:
    return ast.Assign([ast.Name(name, ast.Store())], value)


def _place(statement: ast.stmt, loop: ast.For) -> None:
    """What the loop became stands where it stood; its body stays where it was."""
    kept = {id(each) for node in loop.body for each in ast.walk(node)}
    lines = {each.lineno for node in loop.body for each in ast.walk(node) if isinstance(each, ast.stmt)}
    for each in ast.walk(statement):
        if id(each) not in kept and not (isinstance(each, ast.stmt | ast.expr) and getattr(each, "lineno", 0) in lines):
            ast.copy_location(each, loop)
    ast.fix_missing_locations(statement)


def _function(function: FunctionType, tree: ast.FunctionDef, file: str) -> FunctionType:
    """The function that *tree* describes, with the globals, defaults and closure of *function*."""
    free = function.__code__.co_freevars
    plain = copy.deepcopy(tree)
    plain.decorator_list, plain.returns, plain.args.defaults, plain.args.kw_defaults = [], None, [], []
    for each in ast.walk(plain.args):
        if isinstance(each, ast.arg):
            each.annotation = None
    outer = ast.parse(f"def outer({', '.join(free)}): pass")
    assert isinstance(outer.body[0], ast.FunctionDef)
    outer.body[0].body = [plain]
    inner = _code(_code(compile(outer, file, "exec", dont_inherit=True).co_consts).co_consts)
    cells = dict(zip(free, function.__closure__ or (), strict=True))
    closure = tuple(cells[name] for name in inner.co_freevars)
    made = FunctionType(inner, function.__globals__, function.__name__, function.__defaults__, closure)
    made.__kwdefaults__ = function.__kwdefaults__
    return made


def _code(constants: Sequence[Any]) -> CodeType:
    return next(each for each in constants if isinstance(each, CodeType))
