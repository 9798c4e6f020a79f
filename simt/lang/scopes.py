"""What belongs to a function itself, and not to the functions that are defined inside it."""

from __future__ import annotations

import ast
import inspect
from collections.abc import Iterable, Iterator

_INNER = ast.FunctionDef | ast.AsyncFunctionDef | ast.Lambda


def own_nodes(nodes: Iterable[ast.AST]) -> Iterator[ast.AST]:
    """*nodes* and all nodes below them, but not what is inside functions defined there."""
    pending = list(nodes)[::-1]
    while pending:
        node = pending.pop()
        yield node
        if not isinstance(node, _INNER):
            pending.extend(list(ast.iter_child_nodes(node))[::-1])


def stored_names(nodes: Iterable[ast.AST]) -> list[str]:
    """The names that *nodes* assign, in order of appearance."""
    names: dict[str, None] = {}
    for node in own_nodes(nodes):
        if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store):
            names[node.id] = None
        elif isinstance(node, ast.FunctionDef):
            names[node.name] = None
    return list(names)


def local_names(tree: ast.FunctionDef) -> list[str]:
    """Parameters and assigned names of a function, in order of appearance."""
    parameters = [node.arg for node in ast.walk(tree.args) if isinstance(node, ast.arg)]
    return list(dict.fromkeys([*parameters, *stored_names(tree.body)]))


def signature_of(tree: ast.FunctionDef) -> tuple[inspect.Signature, list[tuple[str, ast.expr]]]:
    """The signature of a function that a function defines, whose defaults say only that there are some; and these."""
    arguments = tree.args
    plain = [*arguments.posonlyargs, *arguments.args]
    pairs = list(
        zip([each.arg for each in plain[len(plain) - len(arguments.defaults) :]], arguments.defaults, strict=True)
    )
    pairs += [
        (each.arg, default)
        for each, default in zip(arguments.kwonlyargs, arguments.kw_defaults, strict=True)
        if default is not None
    ]
    given = {name for name, _ in pairs}
    rows: list[tuple[str, inspect._ParameterKind]] = [
        *((each.arg, inspect.Parameter.POSITIONAL_ONLY) for each in arguments.posonlyargs),
        *((each.arg, inspect.Parameter.POSITIONAL_OR_KEYWORD) for each in arguments.args),
    ]
    if arguments.vararg is not None:
        rows.append((arguments.vararg.arg, inspect.Parameter.VAR_POSITIONAL))
    rows += [(each.arg, inspect.Parameter.KEYWORD_ONLY) for each in arguments.kwonlyargs]
    if arguments.kwarg is not None:
        rows.append((arguments.kwarg.arg, inspect.Parameter.VAR_KEYWORD))
    empty = inspect.Parameter.empty
    made = [inspect.Parameter(name, kind, default=... if name in given else empty) for name, kind in rows]
    return inspect.Signature(made), pairs
