"""Compiled code on disk: found again, compiled by one of two processes, the same from a zip archive."""

from __future__ import annotations

import importlib
import os
import pkgutil
import subprocess
import sys
import zipfile
from pathlib import Path
from typing import Any

import pytest
from numba.core import config

from simt import disk_cache
from simt.ops import jit as module
from simt.ops.jit import CodeCache, Function, compilation, is_compiled, jit

ROOT = Path(__file__).parents[2]
NAME = "test_cache.twice"

pytestmark = pytest.mark.skipif(bool(config.DISABLE_JIT), reason="nothing is compiled")


def twice(x: Any) -> Any:
    """A function that is quick to compile."""
    return 2 * x


def fresh(folder: Path) -> Any:
    """As a new process sees it: a function that has not been compiled yet."""
    return jit(twice, folder=folder)


def hits(function: Any) -> int:
    """How often it found its code in the cache."""
    return sum(function.entry.stats.cache_hits.values())


def files(folder: Path) -> list[Path]:
    """All files in a folder, sorted."""
    return sorted(path for path in folder.rglob("*") if path.is_file())


@pytest.fixture(autouse=True)
def _forget_what_was_said() -> None:
    disk_cache._said.clear()


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """A cache folder that holds the compiled function."""
    home = tmp_path / "engine"
    assert fresh(home)(21) == 42
    return home


def test_code_is_found_again(folder: Path) -> None:
    assert is_compiled(NAME, folder)
    again = fresh(folder)
    assert again(21) == 42
    assert hits(again) == 1
    assert again(0.5) == 1.0  # other types are other code
    assert hits(again) == 1
    assert len(files(folder)) == 2


def test_damaged_code_is_compiled_again(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (path,) = files(folder)
    path.write_bytes(path.read_bytes()[:-100])
    repaired = fresh(folder)
    assert repaired(21) == 42
    assert hits(repaired) == 0
    assert f"{path} is damaged; it is made again" in capsys.readouterr().err
    again = fresh(folder)
    assert again(21) == 42
    assert hits(again) == 1
    assert capsys.readouterr().err == ""


def test_where_nothing_can_be_written_it_is_said_once(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (tmp_path / "file").write_text("")
    home = tmp_path / "file" / "engine"
    before = files(Path(__file__).parent)
    for value in (21, 0.5):
        with compilation("the engine", NAME, home):
            assert fresh(home)(value) == 2 * value
    said = capsys.readouterr().err
    assert said.count("cannot keep compiled functions") == 1
    assert f"{home} (Not a directory)" in said
    assert [path for path in files(Path(__file__).parent) if path not in before] == []  # not in __pycache__


def test_code_with_addresses_of_this_process_is_not_kept(tmp_path: Path) -> None:
    class Library:
        has_dynamic_globals = True

    class Compiled:
        library = Library()

    CodeCache(twice, tmp_path).save_overload((), Compiled())
    assert files(tmp_path) == []


RACE = """
import sys, time
from pathlib import Path
from simt.ops.jit import compilation, jit
from tests.machine.test_cache import NAME, twice

folder = Path(sys.argv[1])
function = jit(twice, folder=folder)
with compilation("the engine", NAME, folder):
    (folder / f"inside-{sys.argv[2]}").touch()
    if sys.argv[2] == "first":
        while not (folder / "waiting").exists():
            time.sleep(0.01)
    function(21)
print(sum(function.entry.stats.cache_hits.values()))
"""


def _start(code: str, *arguments: str, **environment: str) -> subprocess.Popen[str]:
    return subprocess.Popen(
        [sys.executable, "-c", code, *arguments],
        cwd=ROOT,
        env={**os.environ, **environment},
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )


def test_of_two_first_runs_one_compiles_and_the_other_waits(tmp_path: Path) -> None:
    with _start(RACE, str(tmp_path), "first") as first:
        while not (tmp_path / "inside-first").exists():
            assert first.poll() is None, first.communicate()
        with _start(RACE, str(tmp_path), "second") as second:
            assert second.stderr is not None
            said = second.stderr.readline()
            assert not (tmp_path / "inside-second").exists()
            (tmp_path / "waiting").touch()
            assert second.communicate()[0].strip() == "1"
        assert first.communicate()[0].strip() == "0"
    assert said == "simt: another process is compiling the engine; waiting for it ...\n"


ZIPPED = """
import sys
sys.path.insert(0, sys.argv[1])
import simt, simt.devices, simt.ops.mufu, simt.timing
from simt.ops import jit, scalar
assert simt.__file__.startswith(sys.argv[1]), simt.__file__
assert scalar.popcount(255) == 8
print(jit.FOLDER.name, sum(scalar.popcount.entry.stats.cache_hits.values()))
"""


def test_an_archive_works_and_is_cached_as_the_files_are(tmp_path: Path) -> None:
    archive = tmp_path / "simt.zip"
    with zipfile.ZipFile(archive, "w") as file:
        for path in (ROOT / "simt").rglob("*"):
            if path.suffix in (".py", ".csv", ".toml"):
                file.write(path, path.relative_to(ROOT))
    found = []
    for _ in range(2):
        process = _start(ZIPPED, str(archive), XDG_CACHE_HOME=str(tmp_path), PYTHONPATH="", PYTHONSAFEPATH="1")
        out, err = process.communicate()
        assert process.returncode == 0, err
        found.append(out.split())
    assert found == [[module.FOLDER.name, "0"], [module.FOLDER.name, "1"]]


def test_settings_that_change_the_code_change_the_folder(monkeypatch: pytest.MonkeyPatch) -> None:
    names = {module.cache_folder().name, module.cache_folder("simt.timing").name}
    monkeypatch.setattr(config, "BOUNDSCHECK", 1)
    names.add(module.cache_folder().name)
    assert len(names) == 3


def test_compiled_code_goes_by_the_modules_that_make_it() -> None:
    """Those with a compiled function and what they import: the columns, the tables; not what runs on the host."""
    packages = ("simt.ops", "simt.machine", "simt.timing")
    sources = module.compiled_sources(*packages)
    for package in map(importlib.import_module, packages):
        for info in pkgutil.walk_packages(package.__path__, f"{package.__name__}."):
            contents = vars(importlib.import_module(info.name)).values()
            compiled = any(isinstance(each, Function) and each.py_func.__module__ == info.name for each in contents)
            assert not compiled or info.name in sources, info.name
    assert {"simt.machine.layout", "simt.timing.layout", "simt.ops.mufu.csv"} <= set(sources)
    hosts = {"simt.machine.host", "simt.machine.findings", "simt.timing.timeline", "simt.check.errors"}
    assert not hosts & set(sources)


def test_a_change_of_such_a_module_changes_the_folder(monkeypatch: pytest.MonkeyPatch) -> None:
    before = module.cache_folder().name
    found = module.compiled_sources(*module.ENGINE)
    for name in ("simt.machine.layout", "simt.ops.mufu.csv"):
        changed = {**found, name: found[name] + b"#"}
        monkeypatch.setattr(module, "compiled_sources", lambda *_, changed=changed: changed)
        assert module.cache_folder().name != before
