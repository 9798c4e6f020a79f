"""Runs a Python program whose Numba kernels run in the source view: ``python -m simt.driver.python_program FILE``.

``simt exec --view source`` starts it: the launches are in this process, and what they counted goes to the server.
"""

from __future__ import annotations

import ctypes
import os
import pickle
import runpy
import sys
from pathlib import Path

from simt.check.errors import UnsupportedError
from simt.driver import numba_source
from simt.driver.protocol import messages
from simt.profile import Profile


def _send(name: str, *fields: int, tail: bytes = b"") -> None:
    """Make a request to the server, through the library that this process has for libcuda."""
    (request,) = (message for message in messages() if message.name == name)
    content = request.form.pack(*fields) + tail
    library = ctypes.CDLL("libcuda.so.1")
    library.simt_send(ctypes.c_int(request.number), content, ctypes.c_size_t(len(content)))


def main(arguments: list[str]) -> None:
    """Run the script or ``-m module`` of *arguments* as Python does."""

    def record(profile: Profile, stream: int) -> None:
        _send("profile", stream & 0xFFFFFFFF, tail=pickle.dumps(profile))

    def refused(name: str, error: UnsupportedError) -> None:
        _send("refused", tail=f"{name}\0{error.title}".encode())

    numba_source.install(record, refused)
    if arguments[0] == "-m":
        sys.argv = arguments[1:]
        sys.path[0] = os.getcwd()
        runpy.run_module(arguments[1], run_name="__main__", alter_sys=True)
    else:
        sys.argv = arguments
        sys.path[0] = str(Path(arguments[0]).resolve().parent)
        runpy.run_path(arguments[0], run_name="__main__")


if __name__ == "__main__":
    main(sys.argv[1:])
