"""A Python process of a program under ``--view source``: where its kernels run, and where their profiles go.

``simt exec --view source`` has every Python of the program begin with :mod:`simt.driver.startup`.  Each launch of a
``numba.cuda`` kernel runs in the process (:mod:`simt.driver.numba_source`), and its profile goes to the server through
the connection of the library.
"""

from __future__ import annotations

import ctypes
import pickle
import struct
from functools import cache

from simt.calls.device import DEFAULT_STREAM
from simt.check import UnsupportedError
from simt.driver import protocol
from simt.driver.numba_source import install
from simt.driver.settings import checking
from simt.driver.sources import DRIVER
from simt.profile import Profile


def begin() -> None:
    """From now on launch kernels in the source view; ``numba.cuda`` has just been imported."""
    install(_record, _refused, **checking())


@cache
def _driver() -> ctypes.CDLL:
    return ctypes.CDLL(DRIVER)


def _send(name: str, bytes_: bytes) -> None:
    number = next(message.number for message in protocol.messages() if message.name == name)
    _driver().simt_send(number, bytes_, ctypes.c_size_t(len(bytes_)))


def _record(profile: Profile, stream: int) -> None:
    _send("profile", struct.pack("=I", DEFAULT_STREAM) + pickle.dumps(profile))


def _refused(name: str, error: UnsupportedError) -> None:
    _send("refused", f"{name}\0{error.title}".encode())
