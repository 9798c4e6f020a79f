"""Which simt runs: in a checkout of its own, an installed one says that it is not that."""

from __future__ import annotations

from pathlib import Path

import pytest

from simt.__main__ import other_checkout

ROOT = Path(__file__).parents[2]


def test_the_checkout_that_runs_says_nothing(run, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(ROOT / "tests")
    assert other_checkout(Path.cwd()) is None
    assert run("metrics", "ipc").err == ""


def test_another_checkout_is_named(run, monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    (tmp_path / "simt" / "metrics").mkdir(parents=True)
    (tmp_path / "simt" / "__main__.py").touch()
    monkeypatch.chdir(tmp_path / "simt" / "metrics")
    assert run("metrics", "ipc").err == ""  # some other project
    (tmp_path / "pyproject.toml").touch()
    found = run("metrics", "ipc")
    assert found.code == 0
    assert found.err == f"note: this is the simt of {ROOT}; `pip install -e {tmp_path}` runs the checkout\n"
