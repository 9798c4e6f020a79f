"""Things that take long to make, kept on disk between runs: compiled code, listings, cubins, built libraries.

An entry is either bytes or a folder of files.  It appears whole or not at all, because it is written beside its place
and then renamed.  Its SHA-256 sum is stored with it, and an entry that does not match is made again.  Of several
processes that want the same entry, one makes it and the others wait.
"""

from __future__ import annotations

import atexit
import contextlib
import hashlib
import os
import shutil
import sys
import tempfile
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path

from filelock import FileLock, Timeout
from platformdirs import user_cache_path

LONGEST_WAIT = 1200.0
"""Seconds to wait for another process that makes an entry (the engine takes minutes on a busy computer)."""

_SUM_SIZE = hashlib.sha256().digest_size
_SUMS = "SHA256SUMS"
"""The file with the sums of a folder entry, in the format of the program sha256sum."""
_said: set[str] = set()
_temporary: dict[Path, Path] = {}
"""Folder entries that could not be kept, by the place where they should be."""


def cache_root() -> Path:
    """The user's cache folder, in which every cache has a folder of its own."""
    return user_cache_path("simt")


def digest(*parts: str | bytes) -> str:
    """A name for an entry that depends on all *parts*: pass everything that the entry is made from."""
    found = hashlib.sha256()
    for part in parts:
        data = part.encode() if isinstance(part, str) else part
        found.update(len(data).to_bytes(8, "little") + data)
    return found.hexdigest()[:32]


def say_once(text: str) -> None:
    """Print a note on standard error, unless it was printed before."""
    if text not in _said:
        _said.add(text)
        print(f"simt: {text}", file=sys.stderr, flush=True)


@dataclass(frozen=True)
class DiskCache:
    """The entries of one folder.

    ``kind`` names them in messages ("listings"); ``folder`` is created when the first entry is kept; of more than
    ``most`` entries those that were not used for longest are deleted.
    """

    kind: str
    folder: Path
    most: int | None = None

    def get(self, name: str) -> bytes | None:
        """The bytes of an entry; None if there is none, or if it is damaged (then it is deleted)."""
        path = self.folder / name
        try:
            stored = path.read_bytes()
        except OSError:
            return None  # not there, or not ours to read
        data = stored[_SUM_SIZE:]
        if hashlib.sha256(data).digest() != stored[:_SUM_SIZE]:
            self._discard(path)
            return None
        self._used(path)
        return data

    def has(self, name: str) -> bool:
        """Whether there is an entry."""
        return (self.folder / name).exists()

    def put(self, name: str, data: bytes) -> None:
        """Keep an entry, whole or not at all.  A folder that cannot be written is reported once, and is no error."""
        try:
            self.folder.mkdir(parents=True, exist_ok=True)
            number, new = tempfile.mkstemp(dir=self.folder, suffix=".new")
            try:
                with os.fdopen(number, "wb") as file:
                    file.write(hashlib.sha256(data).digest() + data)
                os.replace(new, self.folder / name)
            except BaseException:
                os.unlink(new)
                raise
            self._make_room()
        except OSError as error:
            self._cannot_keep(error)

    def get_or_make(self, name: str, make: Callable[[], bytes], doing: str = "") -> bytes:
        """The bytes of an entry, made and kept if need be.  What *make* raises is passed on, and nothing is kept."""
        data = self.get(name)
        if data is None:
            with self.making(name, lambda: self.has(name), doing):
                data = self.get(name)
                if data is None:
                    data = make()
                    self.put(name, data)
        return data

    def folder_of(self, name: str, make: Callable[[Path], None], doing: str = "") -> Path:
        """The folder of an entry with several files, or with files that others open by their path.

        *make* fills a new, empty folder, which is then renamed: files must not hold its path.  Where the cache cannot
        be written the folder is a temporary one of this process.
        """
        home = self.folder / name
        if self._is_whole(home):
            return home
        with self.making(name, home.exists, doing):
            if self._is_whole(home):
                return home
            try:
                self.folder.mkdir(parents=True, exist_ok=True)
                new = Path(tempfile.mkdtemp(dir=self.folder, suffix=".new"))
            except OSError as error:
                self._cannot_keep(error)
                return self._make_temporary(home, make)
            try:
                make(new)
                (new / _SUMS).write_text(_sums(new), encoding="utf-8")
                new.rename(home)
            except BaseException:
                shutil.rmtree(new, ignore_errors=True)
                raise
            self._make_room()
        return home

    @contextlib.contextmanager
    def making(self, name: str, is_there: Callable[[], bool], doing: str = "") -> Iterator[None]:
        """Around the making of an entry: one process or thread at a time.  Look again inside whether it is there.

        ``doing`` ("compiling the engine") is printed, and that another process does it; without it nothing is.
        """
        if is_there():
            yield
            return
        with contextlib.ExitStack() as held:
            try:
                self.folder.mkdir(parents=True, exist_ok=True)
                path = self.folder / f"{name}.lock"
                lock = FileLock(path)
                try:
                    lock.acquire(timeout=0)
                except Timeout:
                    if doing:
                        say_once(f"another process is {doing}; waiting for it ...")
                    lock.acquire(timeout=LONGEST_WAIT)
                held.callback(_remove, path)  # after the release: who still waits for it finds the entry
                held.callback(lock.release)
            except (OSError, NotImplementedError, Timeout):
                pass  # no folder, no locks on this file system, or the other process hangs: each makes its own
            if doing and not is_there():
                say_once(f"{doing} (once; cached for later runs) ...")
            yield

    def is_making(self, name: str) -> bool:
        """Whether a process is in :meth:`making` of an entry."""
        path = self.folder / f"{name}.lock"
        if not path.exists():
            return False
        try:
            with FileLock(path, timeout=0):
                return False
        except Timeout:
            return True
        except (OSError, NotImplementedError):
            return False

    def can_keep(self) -> bool:
        """Whether entries can be kept; if not, that is reported once."""
        try:
            self.folder.mkdir(parents=True, exist_ok=True)
            with tempfile.TemporaryFile(dir=self.folder):
                return True
        except OSError as error:
            self._cannot_keep(error)
            return False

    def _make_temporary(self, home: Path, make: Callable[[Path], None]) -> Path:
        if home not in _temporary:
            new = Path(tempfile.mkdtemp(prefix="simt-"))
            atexit.register(shutil.rmtree, new, ignore_errors=True)
            make(new)
            _temporary[home] = new
        return _temporary[home]

    def _is_whole(self, home: Path) -> bool:
        """Whether a folder entry is there and has its sums; a damaged one is deleted."""
        try:
            expected = (home / _SUMS).read_text(encoding="utf-8")
            if expected == _sums(home):
                self._used(home)
                return True
        except (OSError, UnicodeDecodeError):
            pass
        if home.exists():
            self._discard(home)
        return False

    def _discard(self, path: Path) -> None:
        say_once(f"{path} is damaged; it is made again")
        _remove(path)

    def _used(self, path: Path) -> None:
        if self.most is not None:
            with contextlib.suppress(OSError):
                os.utime(path)

    def _make_room(self) -> None:
        if self.most is None:
            return
        ages = {}
        for path in self.folder.iterdir():
            if path.suffix != ".lock":
                with contextlib.suppress(OSError):  # another process made room, too
                    ages[path] = path.stat().st_mtime_ns
        for path in sorted(ages, key=ages.__getitem__)[: -self.most]:
            _remove(path)

    def _cannot_keep(self, error: OSError) -> None:
        say_once(f"cannot keep {self.kind} in {self.folder} ({error.strerror}); every run makes them again")


def _remove(path: Path) -> None:
    """Delete a file or a folder, if it is there and ours to delete."""
    if path.is_dir():
        shutil.rmtree(path, ignore_errors=True)
    else:
        with contextlib.suppress(OSError):
            path.unlink()


def _sums(home: Path) -> str:
    """One line for each file of a folder entry."""
    files = sorted(path for path in home.rglob("*") if path.is_file() and path.name != _SUMS)
    return "".join(
        f"{hashlib.sha256(path.read_bytes()).hexdigest()}  {path.relative_to(home).as_posix()}\n" for path in files
    )
