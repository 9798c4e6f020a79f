"""The examples of docs/testing.md run when they are pasted."""

from __future__ import annotations

import linecache
import re
from pathlib import Path

import pytest

PAGE = Path(__file__).parents[2] / "docs" / "testing.md"
EXAMPLES = re.findall(r"^```python\n(.*?)^```", PAGE.read_text(encoding="utf-8"), flags=re.MULTILINE | re.DOTALL)


@pytest.mark.parametrize("number", range(len(EXAMPLES)))
def test_an_example(
    number: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """What an example prints is shown behind it."""
    text = EXAMPLES[number]
    file = tmp_path / f"example_{number}.py"
    file.write_text(text)
    linecache.checkcache(str(file))
    monkeypatch.chdir(tmp_path)
    exec(compile(text, str(file), "exec"), {"__name__": "example"})
    assert capsys.readouterr().out in PAGE.read_text(encoding="utf-8")
