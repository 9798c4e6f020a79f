"""A kernel's own source: its text, its syntax tree with real line numbers, and what its global names mean."""

from __future__ import annotations

import ast
import builtins
import inspect
import linecache
import sys
import textwrap
from dataclasses import dataclass
from pathlib import Path
from threading import get_ident
from types import CodeType, FunctionType
from typing import Any, Generic, TypeVar
from weakref import finalize

from simt.check.errors import Location, UnsupportedError

T = TypeVar("T")


class Missing:
    """Marks a name that is bound nowhere."""


MISSING = Missing()


@dataclass(frozen=True, slots=True)
class FunctionSource:
    """A function and its parsed source.

    ``tree`` carries line numbers of the file and columns of the line as written; ``lines`` are the lines from
    ``def`` (number ``first_line``) to the end of the function.
    """

    function: FunctionType
    tree: ast.FunctionDef
    file: str
    first_line: int
    lines: tuple[str, ...]

    @property
    def name(self) -> str:
        return self.function.__name__

    def lookup(self, name: str) -> Any:
        """What a name that is not local means: closure variable, global or builtin; MISSING if unbound."""
        return lookup(self.function, name)


def lookup(function: FunctionType, name: str) -> Any:
    """The value of a free, global or builtin *name* as *function* sees it; MISSING if unbound."""
    free = function.__code__.co_freevars
    if name in free and function.__closure__ is not None:
        try:
            return function.__closure__[free.index(name)].cell_contents
        except ValueError:
            return MISSING
    if name in function.__globals__:
        return function.__globals__[name]
    return getattr(builtins, name, MISSING)


def read_source(function: FunctionType) -> FunctionSource:
    """Parse the source of *function*.

    Raises UnsupportedError if there is none (exec, an interactive session) or if it is not a ``def``.
    """
    file = function.__code__.co_filename
    where = Location(file, function.__code__.co_firstlineno, function=function.__name__)
    kept = _TREES.get(function.__code__)
    if kept is not None:
        made, of = kept
        return FunctionSource(function, made, file, made.lineno, of)
    try:
        raw, start = _executed_lines(function) or _file_lines(function)
    except (OSError, TypeError, IndexError, SyntaxError):
        raise UnsupportedError(
            f"the source of {function.__name__} is not available",
            location=where,
            help="define the kernel in a file (or a notebook cell); the source view reads the Python source, "
            "which exec() and the interactive prompt do not keep",
        ) from None
    start = max(start, 1)
    if function.__code__.co_name == "<lambda>":
        return _read_lambda(function, where)
    text = textwrap.dedent("".join(raw))
    indent = len(raw[0]) - len(raw[0].lstrip())
    tree = _parse(text, function.__code__.co_name)  # __name__ may have been changed since
    if tree is None:
        raise UnsupportedError(
            f"{function.__name__} is not written as a def statement",
            location=where,
            help="write the kernel as 'def name(...):'",
        )
    for node in ast.walk(tree):
        if isinstance(node, ast.stmt | ast.expr | ast.arg | ast.keyword):
            node.lineno += start - 1
            node.end_lineno = (node.end_lineno or node.lineno) + start - 1
            node.col_offset += indent
            node.end_col_offset = (node.end_col_offset or 0) + indent
    end = tree.end_lineno or tree.lineno
    lines = tuple(line.rstrip("\n") for line in raw[tree.lineno - start : end - start + 1])
    return FunctionSource(function, tree, file, tree.lineno, lines)


def _read_lambda(function: FunctionType, where: Location) -> FunctionSource:
    """The source of a lambda: a function with one ``return``.  Raises UnsupportedError where it cannot be told."""
    code = function.__code__
    text = _executed(function)
    lines = text.splitlines() if text else [line.rstrip("\n") for line in linecache.getlines(code.co_filename)]
    same_line = [
        node
        for node in ast.walk(ast.parse("\n".join(lines)))
        if isinstance(node, ast.Lambda) and node.lineno == code.co_firstlineno
    ]
    found = [node for node in same_line if _is_of(node, code)] if len(same_line) > 1 else same_line
    if len(found) != 1:
        raise UnsupportedError(
            "the source of a lambda cannot be told from others on its line",
            location=where,
            help="write it as 'def name(...):'",
        )
    (node,) = found
    last = node.end_lineno or node.lineno
    return FunctionSource(
        function, lambda_tree(node, code.co_name), code.co_filename, node.lineno, tuple(lines[node.lineno - 1 : last])
    )


def lambda_tree(node: ast.Lambda, name: str) -> ast.FunctionDef:
    """A lambda as a ``def`` with one ``return``."""
    tree = ast.FunctionDef(name=name, args=node.args, body=[], decorator_list=[], returns=None)
    tree.body = [ast.copy_location(ast.Return(node.body), node.body)]
    return ast.copy_location(tree, node)


def _is_of(node: ast.Lambda, code: CodeType) -> bool:
    """Whether *code* may be that of the lambda *node*: its names, and (Python 3.11 and later) its place."""
    names = tuple(argument.arg for argument in (*node.args.posonlyargs, *node.args.args))
    if names != code.co_varnames[: code.co_argcount]:
        return False
    places = {(line, column) for line, _, column, _ in code.co_positions()} if hasattr(code, "co_positions") else None
    body = node.body
    inside = {(each.lineno, each.col_offset) for each in ast.walk(body) if isinstance(each, ast.expr)}
    return places is None or (body.lineno, body.col_offset) in places or bool(inside & places)


class _OfCode(Generic[T]):
    """Something about code objects, as long as they live.  Each is told apart, also from one that is equal to it."""

    def __init__(self) -> None:
        self._values: dict[int, T] = {}

    def __setitem__(self, code: CodeType, value: T) -> None:
        self._values[id(code)] = value
        finalize(code, self._values.pop, id(code), None).atexit = False

    def get(self, code: CodeType) -> T | None:
        """What was set for this very object."""
        return self._values.get(id(code))


_TREES: _OfCode[tuple[ast.FunctionDef, tuple[str, ...]]] = _OfCode()
"""What simt made functions of: the tree, and the lines that it comes from."""


def keep_tree(made: FunctionType, tree: ast.FunctionDef, lines: tuple[str, ...]) -> None:
    """Let *tree* be the source of a function that simt made; it comes from *lines* of the file of its code."""
    _TREES[made.__code__] = tree, lines


_EXECUTED: _OfCode[str] = _OfCode()
"""Source texts of code that exec() ran."""


def remember_executed_code() -> None:
    """From now on keep the text of what exec() and eval() run, for kernels that are made so.

    There is no way back: Python's audit hooks stay.
    """
    compiled: dict[int, tuple[str, str]] = {}  # by thread: what it compiled last, and the file that it named

    def hook(event: str, arguments: tuple[Any, ...]) -> None:
        if event == "compile" and isinstance(arguments[0], str | bytes):
            text, file = arguments
            if str(file).startswith("<"):
                text = text.decode("utf-8", "replace") if isinstance(text, bytes) else text
                compiled[get_ident()] = (text, str(file))
        elif event == "exec" and get_ident() in compiled:
            text, file = compiled.pop(get_ident())
            if arguments[0].co_filename == file:
                _keep(arguments[0], text)

    sys.addaudithook(hook)


def _keep(code: CodeType, text: str) -> None:
    _EXECUTED[code] = text
    for constant in code.co_consts:
        if isinstance(constant, CodeType):
            _keep(constant, text)


def _executed(function: FunctionType) -> str | None:
    """The text that exec() or ``python -c`` made *function* of; None if it was not kept."""
    return _EXECUTED.get(function.__code__) or _command(function)


def _command(function: FunctionType) -> str | None:
    """The program of ``python -c``, if *function* is one of its; Python itself keeps it from 3.13 on."""
    if function.__code__.co_filename != "<string>" or function.__module__ != "__main__" or sys.argv[:1] != ["-c"]:
        return None
    words = sys.orig_argv
    return textwrap.dedent(words[words.index("-c") + 1])


def _executed_lines(function: FunctionType) -> tuple[list[str], int] | None:
    """The lines of a function that exec() made, and the number of the first; None if its text was not kept."""
    text = _executed(function)
    if text is None:
        return None
    start = function.__code__.co_firstlineno
    return inspect.getblock(text.splitlines(keepends=True)[start - 1 :]), start


def _file_lines(function: FunctionType) -> tuple[list[str], int]:
    """The lines of a function of a file or a notebook's cell, and the number of the first.

    Raises OSError where there is none.
    """
    if function.__code__.co_filename == "<string>":  # from 3.13 on inspect finds ``python -c`` there
        raise OSError("exec() keeps no source")
    return inspect.getsourcelines(function)


def _parse(text: str, name: str) -> ast.FunctionDef | None:
    try:
        module = ast.parse(text)
    except SyntaxError:
        return None
    for node in module.body:
        if isinstance(node, ast.FunctionDef) and node.name == name:
            return node
    return None


LIBRARIES = ("numpy", "numba", "numba_cuda")
"""Packages whose Python functions are not what a kernel that calls them runs."""


def is_library(function: FunctionType) -> bool:
    """Whether *function* belongs to one of :data:`LIBRARIES`; a file elsewhere may have a module name like theirs."""
    if function.__module__.partition(".")[0] not in LIBRARIES:
        return False
    file = getattr(sys.modules.get(function.__module__), "__file__", None) or function.__code__.co_filename
    folders = [Path(folder) for name in LIBRARIES for folder in getattr(sys.modules.get(name), "__path__", ())]
    return any(folder in Path(file).parents for folder in folders)
