"""Which simt runs: in a checkout of its own, an installed one says that it is not that."""

from __future__ import annotations

import shutil
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


def test_a_checkout_with_the_modules_that_run_says_nothing(tmp_path: Path) -> None:
    (tmp_path / "pyproject.toml").touch()
    shutil.copytree(ROOT / "simt", tmp_path / "simt", ignore=shutil.ignore_patterns("__pycache__"))
    assert other_checkout(tmp_path / "simt") is None
    text = (ROOT / "simt" / "text.py").read_bytes()
    (tmp_path / "simt" / "text.py").write_bytes(text[:-1] + b" ")  # as long as before
    assert other_checkout(tmp_path / "simt") == tmp_path
    (tmp_path / "simt" / "text.py").write_text("edited")
    assert other_checkout(tmp_path / "simt") == tmp_path
    (tmp_path / "simt" / "text.py").unlink()
    assert other_checkout(tmp_path / "simt") == tmp_path
