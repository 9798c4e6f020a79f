"""A Python program whose kernels run in the source view: ``python -m simt.driver.python_program SCRIPT [ARGS]``.

``simt exec --view source`` starts this in the program's process.  Each launch of a ``numba.cuda`` kernel runs there
(:mod:`simt.driver.numba_source`), and its profile goes to the server through the connection of the library.
"""

from __future__ import annotations

import ctypes
import pickle
import runpy
import struct
import sys
from functools import cache
from pathlib import Path

from simt.calls.device import DEFAULT_STREAM
from simt.check import UnsupportedError
from simt.driver import protocol
from simt.driver.numba_source import install
from simt.driver.settings import checking
from simt.driver.sources import DRIVER
from simt.profile import Profile


def main() -> None:
    """Run the script or, after ``-m``, the module as Python would."""
    install(_record, _refused, **checking())
    del sys.argv[0]
    if sys.argv[0] == "-m":
        del sys.argv[0]
        sys.path.insert(0, "")
        runpy.run_module(sys.argv[0], run_name="__main__", alter_sys=True)
    else:
        sys.path.insert(0, str(Path(sys.argv[0]).resolve().parent))
        runpy.run_path(sys.argv[0], run_name="__main__")


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


if __name__ == "__main__":
    main()
