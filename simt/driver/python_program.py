"""Runs a Python program whose Numba kernels run in the source view: ``python -m simt.driver.python_program FILE``.

``simt exec --view source`` starts it: the launches are in this process, and what they counted goes to the server.
"""

from __future__ import annotations

import os
import pickle
import runpy
import socket
import sys
from pathlib import Path

from simt.check.errors import UnsupportedError
from simt.driver import numba_source
from simt.driver.protocol import HEAD, REPLY, messages
from simt.profile import Profile


class Channel:
    """A connection of this process to the server that ``SIMT_DRIVER`` names."""

    def __init__(self, name: str) -> None:
        self._socket = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
        self._socket.connect(f"\0{name}")
        self._requests = {message.name: message for message in messages()}

    def ask(self, name: str, *fields: int, tail: bytes = b"") -> None:
        """Send a request, and wait until it is done."""
        request = self._requests[name]
        content = request.form.pack(*fields) + tail
        self._socket.sendall(HEAD.pack(request.number, len(content)) + content)
        _, size = REPLY.unpack(self._read(REPLY.size))
        self._read(size)

    def _read(self, size: int) -> bytes:
        content = b""
        while len(content) < size:
            part = self._socket.recv(size - len(content))
            if not part:
                raise ConnectionError("the simulator has ended")
            content += part
        return content


def main(arguments: list[str]) -> None:
    """Run the script or ``-m module`` of *arguments* as Python does."""
    channel = Channel(os.environ["SIMT_DRIVER"])

    def record(profile: Profile, stream: int) -> None:
        channel.ask("profile", stream & 0xFFFFFFFF, tail=pickle.dumps(profile))

    def refused(name: str, error: UnsupportedError) -> None:
        channel.ask("refused", tail=f"{name}\0{error.title}".encode())

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
