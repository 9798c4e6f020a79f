"""The benchmark of the engines compares with another tree, or says why it cannot."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.benchmarks import older


def test_what_is_no_other_tree(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    with pytest.raises(older.OlderTreeError, match="holds no package simt"):
        older.seconds_of(str(tmp_path), ["integers"])
    monkeypatch.setattr(older, "ROOT", tmp_path)
    with pytest.raises(older.OlderTreeError, match=r"neither a folder nor a revision: .*not a git repository"):
        older.seconds_of("705aa81", ["integers"])
    monkeypatch.setenv("PATH", str(tmp_path))
    with pytest.raises(older.OlderTreeError, match="for a revision git is needed"):
        older.seconds_of("705aa81", ["integers"])


def test_a_tree_that_does_not_run_says_why(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    (tmp_path / "simt").mkdir()
    (tmp_path / "simt" / "__init__.py").write_text("import elftools.no_such_module")
    with pytest.raises(older.OlderTreeError, match=r"needs the module elftools, .*\n  pip install pyelftools"):
        older.seconds_of(str(tmp_path), ["integers"])
