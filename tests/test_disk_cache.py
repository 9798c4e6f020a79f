"""Entries on disk: found again, damaged, folders that cannot be written, several processes and threads at once."""

from __future__ import annotations

import os
import subprocess
import sys
import threading
from collections.abc import Callable
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from simt import disk_cache
from simt.disk_cache import DiskCache, digest


@pytest.fixture(autouse=True)
def _forget_what_was_said() -> None:
    disk_cache._said.clear()


@pytest.fixture
def cache(tmp_path: Path) -> DiskCache:
    return DiskCache("things", tmp_path / "things")


def never() -> bytes:
    raise AssertionError("it was there")


def never_folder(_: Path) -> None:
    raise AssertionError("it was there")


def two_files(folder: Path) -> None:
    """Fill a folder entry."""
    (folder / "inner").mkdir()
    (folder / "a").write_bytes(b"one")
    (folder / "inner" / "b").write_bytes(b"two")


def files(folder: Path) -> list[str]:
    """All files in a folder, sorted."""
    return sorted(path.relative_to(folder).as_posix() for path in folder.rglob("*") if path.is_file())


@settings(suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(st.binary(max_size=1000))
def test_what_is_kept_is_found_again(cache: DiskCache, data: bytes) -> None:
    cache.put("entry", data)
    assert cache.get("entry") == data
    assert cache.get_or_make("entry", never) == data


def test_an_entry_is_made_once_and_leaves_no_other_file(cache: DiskCache) -> None:
    assert cache.get("entry") is None
    assert cache.get_or_make("entry", lambda: b"made", "making it") == b"made"
    assert cache.get_or_make("entry", never) == b"made"
    assert files(cache.folder) == ["entry"]


def test_a_folder_entry_is_made_once(cache: DiskCache) -> None:
    home = cache.folder_of("entry", two_files)
    assert files(home) == ["SHA256SUMS", "a", "inner/b"]
    assert cache.folder_of("entry", never_folder) == home
    subprocess.run(["sha256sum", "--check", "--quiet", "SHA256SUMS"], cwd=home, check=True)


DAMAGE: dict[str, Callable[[bytes], bytes]] = {
    "empty": lambda data: b"",
    "truncated": lambda data: data[: len(data) // 2],
    "one bit": lambda data: data[:-1] + bytes([data[-1] ^ 1]),
    "zeros": lambda data: bytes(len(data)),
    "too long": lambda data: data + b"\0",
    "another file": lambda data: b"no entry",
}


@pytest.mark.parametrize("name", DAMAGE)
def test_a_damaged_entry_is_made_again(cache: DiskCache, name: str, capsys: pytest.CaptureFixture[str]) -> None:
    cache.put("entry", b"contents of some length")
    path = cache.folder / "entry"
    path.write_bytes(DAMAGE[name](path.read_bytes()))
    assert cache.get_or_make("entry", lambda: b"again") == b"again"
    assert cache.get_or_make("entry", never) == b"again"
    assert capsys.readouterr().err == f"simt: {path} is damaged; it is made again\n"


@pytest.mark.parametrize("name", DAMAGE)
@pytest.mark.parametrize("file", ["SHA256SUMS", "inner/b"])
def test_a_damaged_folder_is_made_again(
    cache: DiskCache, name: str, file: str, capsys: pytest.CaptureFixture[str]
) -> None:
    path = cache.folder_of("entry", two_files) / file
    path.write_bytes(DAMAGE[name](path.read_bytes()))
    home = cache.folder_of("entry", two_files)
    assert (home / "inner" / "b").read_bytes() == b"two"
    assert cache.folder_of("entry", never_folder) == home
    assert capsys.readouterr().err == f"simt: {home} is damaged; it is made again\n"


@pytest.mark.parametrize("missing", ["a", "SHA256SUMS"])
def test_a_folder_that_lacks_a_file_is_made_again(cache: DiskCache, missing: str) -> None:
    (cache.folder_of("entry", two_files) / missing).unlink()
    assert files(cache.folder_of("entry", two_files)) == ["SHA256SUMS", "a", "inner/b"]


class Killed(BaseException):
    """The process ends here."""


def test_what_fails_leaves_nothing(cache: DiskCache) -> None:
    def fail(*_: object) -> bytes:
        raise Killed

    def fill_and_fail(folder: Path) -> None:
        two_files(folder)
        raise Killed

    with pytest.raises(Killed):
        cache.get_or_make("entry", fail)
    with pytest.raises(Killed):
        cache.folder_of("folder", fill_and_fail)
    assert list(cache.folder.iterdir()) == []


def test_a_process_killed_while_it_writes_leaves_nothing(cache: DiskCache, monkeypatch: pytest.MonkeyPatch) -> None:
    def kill(*_: object) -> None:
        raise Killed

    monkeypatch.setattr(os, "replace", kill)
    with pytest.raises(Killed):
        cache.put("entry", b"data")
    assert list(cache.folder.iterdir()) == []


def test_a_full_disk_is_reported_and_leaves_nothing(
    cache: DiskCache, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    def full(*_: object) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(os, "replace", full)
    assert cache.get_or_make("entry", lambda: b"data") == b"data"
    said = f"simt: cannot keep things in {cache.folder} (No space left on device); every run makes them again\n"
    assert capsys.readouterr().err == said
    assert list(cache.folder.iterdir()) == []


def test_a_folder_that_cannot_be_written_is_reported_once(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (tmp_path / "file").write_text("")
    cache = DiskCache("things", tmp_path / "file" / "things")
    for name in ("one", "two"):
        assert cache.get_or_make(name, lambda: b"data") == b"data"
        home = cache.folder_of(name, two_files)
        assert (home / "a").read_bytes() == b"one"
        assert cache.folder_of(name, never_folder) == home
    said = f"simt: cannot keep things in {cache.folder} (Not a directory); every run makes them again\n"
    assert capsys.readouterr().err == said


def test_the_entries_used_last_stay(tmp_path: Path) -> None:
    cache = DiskCache("things", tmp_path, most=3)
    for age, name in enumerate(["old", "older", "oldest"], 1):
        cache.put(name, name.encode())
        os.utime(tmp_path / name, (1000 - age, 1000 - age))
    assert cache.get("oldest") == b"oldest"
    cache.folder_of("folder", two_files)
    assert sorted(path.name for path in tmp_path.iterdir()) == ["folder", "old", "oldest"]
    cache.put("new", b"new")
    assert sorted(path.name for path in tmp_path.iterdir()) == ["folder", "new", "oldest"]


def test_of_several_threads_one_makes_it(cache: DiskCache) -> None:
    made, found = [], []
    together = threading.Barrier(4)

    def make() -> bytes:
        made.append(1)
        return b"data"

    def work() -> None:
        together.wait()
        found.append(cache.get_or_make("entry", make))

    threads = [threading.Thread(target=work) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert (made, found) == ([1], [b"data"] * 4)


RACE = """
import sys, time
from pathlib import Path
from simt.disk_cache import DiskCache

home = Path(sys.argv[1])

def make(folder):
    (home / "inside").touch()
    while not (home / "go").exists():
        time.sleep(0.01)
    (folder / "made by").write_text(sys.argv[2])

print((DiskCache("things", home).folder_of("entry", make, "making it") / "made by").read_text())
"""


def test_of_two_processes_one_makes_it_and_the_other_waits(tmp_path: Path) -> None:
    def start(name: str) -> subprocess.Popen[str]:
        command = [sys.executable, "-c", RACE, str(tmp_path), name]
        return subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)

    with start("first") as first:
        while not (tmp_path / "inside").exists():
            assert first.poll() is None, first.communicate()
        with start("second") as second:
            assert second.stderr is not None
            assert second.stderr.readline() == "simt: another process is making it; waiting for it ...\n"
            (tmp_path / "go").touch()
            assert second.communicate() == ("first\n", "")
        assert first.communicate() == ("first\n", "simt: making it (once; cached for later runs) ...\n")
    assert files(tmp_path) == ["entry/SHA256SUMS", "entry/made by", "go", "inside"]


@given(st.lists(st.binary(max_size=4), max_size=4), st.lists(st.binary(max_size=4), max_size=4))
def test_the_digest_of_other_parts_is_another(left: list[bytes], right: list[bytes]) -> None:
    assert (digest(*left) == digest(*right)) == (left == right)
