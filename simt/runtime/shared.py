"""Files in memory that the processes of this computer map instead of sending each other what they hold (Linux)."""

from __future__ import annotations

import mmap
import os
import weakref
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import numpy.typing as npt

_BOOT = Path("/proc/sys/kernel/random/boot_id")


@dataclass(frozen=True)
class SharedFile:
    """Where processes of this computer find a file in memory, and what tells it from any other one."""

    path: str
    identity: tuple[int, int, str]

    def bytes(self, *, own: bool = False, write: bool = False) -> npt.NDArray[np.uint8] | None:
        """The file's bytes, mapped; None if this process does not find it: it is another computer's or user's.

        *own*: changes stay with this process; *write*: they go to the file; else they are forbidden.
        """
        try:
            file = os.open(self.path, os.O_RDWR if write else os.O_RDONLY)
        except OSError:
            return None
        try:
            if _identity(file) != self.identity:
                return None
            kind = mmap.MAP_PRIVATE | getattr(mmap, "MAP_NORESERVE", 0x4000) if own else mmap.MAP_SHARED
            access = mmap.PROT_READ | (mmap.PROT_WRITE if own or write else 0)
            return np.frombuffer(mmap.mmap(file, os.fstat(file).st_size, kind, access), np.uint8)
        except OSError:
            return None
        finally:
            os.close(file)


class MemoryFile:
    """A file in memory, which lives as long as this object and whoever maps it."""

    def __init__(self, number: int) -> None:
        self.number = number
        self.shared = SharedFile(f"/proc/{os.getpid()}/fd/{number}", _identity(number))
        weakref.finalize(self, os.close, number)

    @classmethod
    def create(cls, size: int = 0) -> MemoryFile | None:
        """A file of *size* zeros that take no memory until they are written; None where there are no such files."""
        try:
            number = os.memfd_create("simt", os.MFD_CLOEXEC)
            os.ftruncate(number, size)
            return cls(number)
        except (AttributeError, OSError):  # not on Linux, or a sandbox without them
            return None


def _identity(file: int) -> tuple[int, int, str]:
    status = os.fstat(file)
    return status.st_dev, status.st_ino, _BOOT.read_text()
