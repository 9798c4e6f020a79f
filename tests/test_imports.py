"""Who imports whom: derived from the sources, held to the drawing in ARCHITECTURE.md."""

from __future__ import annotations

import ast
import re
from collections.abc import Mapping
from functools import cache
from pathlib import Path

import pytest

ROOT = Path(__file__).parent.parent

Graph = Mapping[str, set[str]]


def sources() -> dict[str, Path]:
    """The modules of simt and gpu."""
    found = {}
    for file in sorted([*ROOT.glob("simt/**/*.py"), *ROOT.glob("gpu/**/*.py")]):
        parts = file.relative_to(ROOT).with_suffix("").parts
        found[".".join(parts[:-1] if parts[-1] == "__init__" else parts)] = file
    return found


def imports_of(tree: ast.AST, modules: Mapping[str, object]) -> set[str]:
    """The modules that a source imports, wherever the statement stands: in functions and for types alone, too."""
    found = set()
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            found |= {alias.name for alias in node.names}
        elif isinstance(node, ast.ImportFrom) and node.module:
            for alias in node.names:
                inside = f"{node.module}.{alias.name}"
                found.add(inside if inside in modules else node.module)
    return found & set(modules)


@cache
def module_graph() -> dict[str, set[str]]:
    """What each module imports of the others."""
    modules = sources()
    return {
        name: imports_of(ast.parse(file.read_text(encoding="utf-8")), modules) - {name}
        for name, file in modules.items()
    }


def package_of(module: str) -> str:
    """The package, or module beside the packages, that the drawing has."""
    return "gpu" if module.split(".")[0] == "gpu" else ".".join(module.split(".")[:2])


def package_graph(modules: Graph) -> dict[str, set[str]]:
    """The same between packages."""
    found: dict[str, set[str]] = {}
    for name, imported in modules.items():
        found.setdefault(package_of(name), set()).update(map(package_of, imported))
    return {name: imported - {name} for name, imported in found.items()}


def cycle(graph: Graph) -> list[str]:
    """The members of a circle, each importing the next and the last the first; empty if there is none."""
    done: set[str] = set()

    def walk(name: str, path: list[str]) -> list[str]:
        if name in path:
            return path[path.index(name) :]
        if name not in done:
            for other in sorted(graph.get(name, ())):
                if found := walk(other, [*path, name]):
                    return found
            done.add(name)
        return []

    return next((found for name in sorted(graph) if (found := walk(name, []))), [])


def drawn() -> dict[str, int]:
    """The row of each package in the drawing of ARCHITECTURE.md, from the top."""
    text = (ROOT / "ARCHITECTURE.md").read_text(encoding="utf-8")
    match = re.search(r"\*\*Who imports whom\.\*\*.*?```text\n(.*?)```", text, re.DOTALL)
    assert match is not None, "ARCHITECTURE.md has no drawing of who imports whom"
    return {name: row for row, line in enumerate(match[1].splitlines()) for name in line.split()[1:]}


def against(graph: Graph, rows: Mapping[str, int]) -> list[str]:
    """Imports that do not go down."""
    return [f"{name} imports {other}" for name in graph for other in graph[name] if rows[other] <= rows[name]]


def test_no_two_modules_import_each_other() -> None:
    assert cycle(module_graph()) == []


def test_no_two_packages_import_each_other() -> None:
    assert cycle(package_graph(module_graph())) == []


def test_imports_go_down() -> None:
    graph, rows = package_graph(module_graph()), drawn()
    assert set(graph) == set(rows), "the drawing has other packages than the tree"
    assert against(graph, rows) == []


@pytest.mark.parametrize(
    ("graph", "expected"),
    [
        ({}, []),
        ({"a": {"b"}, "b": {"c"}, "c": set()}, []),
        ({"a": {"b", "c"}, "b": {"d"}, "c": {"d"}, "d": set()}, []),
        ({"a": {"b"}, "b": {"a"}}, ["a", "b"]),
        ({"a": {"b"}, "b": {"c"}, "c": {"d"}, "d": {"b"}}, ["b", "c", "d"]),
    ],
)
def test_circles_are_found(graph: dict[str, set[str]], expected: list[str]) -> None:
    assert cycle(graph) == expected


def test_imports_up_and_sideways_are_found() -> None:
    rows = {"a": 0, "b": 1, "c": 1}
    assert against({"a": {"b", "c"}, "b": set(), "c": set()}, rows) == []
    assert against({"b": {"c"}}, rows) == ["b imports c"]
    assert against({"c": {"a"}}, rows) == ["c imports a"]


def test_imports_are_found_wherever_they_stand() -> None:
    tree = ast.parse(
        "from typing import TYPE_CHECKING\nimport p.a\nif TYPE_CHECKING:\n    from p import b\n"
        "def f():\n    from p.c import thing\n"
    )
    assert imports_of(tree, dict.fromkeys(["p", "p.a", "p.b", "p.c"])) == {"p.a", "p.b", "p.c"}
