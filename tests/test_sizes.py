"""No file and no function grows beyond what one reads at a sitting."""

from __future__ import annotations

import ast
from pathlib import Path

import pytest

ROOT = Path(__file__).parent.parent
LONGEST_FILE, LONGEST_FUNCTION = 450, 150
"""Lines, with comments and docstrings."""

SOURCES = [
    path
    for folder in ("simt", "gpu", "examples", "tests")
    for path in sorted((ROOT / folder).rglob("*.py"))
    if not path.is_relative_to(ROOT / "tests" / "data")  # recorded kernels: their lines stand in the recordings
]


def too_long(source: str) -> list[str]:
    """What is too long in a source file."""
    lines = len(source.splitlines())
    found = [f"{lines} lines"] if lines > LONGEST_FILE else []
    for node in ast.walk(ast.parse(source)):
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef) and node.end_lineno is not None:
            length = node.end_lineno - node.lineno + 1
            if length > LONGEST_FUNCTION:
                found.append(f"{node.name}: {length} lines")
    return found


@pytest.mark.parametrize(
    "path",
    SOURCES,
    ids=lambda path: path.relative_to(ROOT).as_posix(),
)
def test_nothing_is_too_long(path: Path) -> None:
    assert too_long(path.read_text(encoding="utf-8")) == []


def test_what_is_too_long_is_found() -> None:
    body = "    pass\n" * (LONGEST_FUNCTION - 1)
    assert too_long(f"def f():\n{body}") == []
    assert too_long(f"class C:\n  def f(self):\n{body}    pass\n") == ["f: 151 lines"]
    assert too_long("\n" * LONGEST_FILE) == []
    assert too_long("\n" * LONGEST_FILE + "x = 1\n") == ["451 lines"]
