"""The server: a device for each process that connects, until it ends."""

from __future__ import annotations

import os
import secrets
import select
import socket
import struct
import threading
import traceback
from collections.abc import Callable

from simt import devices
from simt.driver import protocol
from simt.driver.attributes import product
from simt.driver.codes import Code
from simt.driver.loaded import NOTHING, Reply
from simt.driver.session import Cancelled, Session
from simt.driver.settings import Settings
from simt.machine.device_memory import align
from simt.runtime import Context
from simt.runtime.arena import MAX_BYTES

_HANGUP = select.POLLRDHUP | select.POLLHUP | select.POLLERR if hasattr(select, "POLLRDHUP") else 0
LONGEST_WAIT = 5.0
"""Seconds that processes which outlive the program have to close their connections."""


class Server:
    """Accepts connections of the libraries in a program, from processes of this user only.

    Its address is an abstract name, so that nothing is left behind.
    """

    def __init__(self, settings: Settings) -> None:
        self.settings = settings
        self.name = f"simt-{os.getpid()}-{secrets.token_hex(8)}"
        self.sessions: list[Session] = []
        self._threads: list[threading.Thread] = []
        self._connections: set[socket.socket] = set()
        self._lock = threading.Lock()
        self._socket = socket.socket(socket.AF_UNIX)
        self._socket.bind(f"\0{self.name}")
        self._socket.listen(64)
        threading.Thread(target=self._accept, name="simt-accept", daemon=True).start()

    def _accept(self) -> None:
        while True:
            try:
                connection, _ = self._socket.accept()
            except OSError:  # closed
                return
            peer = connection.getsockopt(socket.SOL_SOCKET, socket.SO_PEERCRED, struct.calcsize("3i"))
            if struct.unpack("3i", peer)[1] != os.getuid():
                connection.close()
                continue
            thread = threading.Thread(target=self._serve, args=(connection,), name="simt-serve", daemon=True)
            with self._lock:
                self._connections.add(connection)
                self._threads.append(thread)
            thread.start()

    def _serve(self, connection: socket.socket) -> None:
        try:
            serve(connection, self.settings, self.sessions.append)
        finally:
            with self._lock:
                self._connections.discard(connection)

    def close(self) -> None:
        """The program has ended: accept no more connections, and end those of its children."""
        self._socket.shutdown(socket.SHUT_RDWR)
        self._socket.close()
        for thread in list(self._threads):
            thread.join(LONGEST_WAIT)
        with self._lock:
            for connection in self._connections:
                connection.shutdown(socket.SHUT_RDWR)


def serve(
    connection: socket.socket,
    settings: Settings,
    begin: Callable[[Session], None],
    end: Callable[[Session], None] = lambda session: None,
) -> None:
    """Serve one process until its end of the connection is closed.

    *begin* hears of its session, *end* when the process is about to end (it waits for that), or is gone.
    """
    watch = select.poll()
    watch.register(connection, _HANGUP)
    file = os.memfd_create("simt device memory")
    try:
        session = Session(settings, Context(file, _addresses(settings)), lambda: not watch.poll(0), end)
        begin(session)
        socket.send_fds(connection, [b"\0"], [file])
    except OSError:
        return
    finally:
        os.close(file)
    with connection, connection.makefile("rb") as stream:
        try:
            while len(head := stream.read(protocol.HEAD.size)) == protocol.HEAD.size:
                number, size = protocol.HEAD.unpack(head)
                payload = stream.read(size)
                if len(payload) < size or not _reply(connection, session, number, payload):
                    return
        except (OSError, Cancelled):  # the process is gone
            return
        finally:
            session.end()


def _addresses(settings: Settings) -> int:
    """Bytes of addresses for the device's memory, pinned memory of the host, and what launches have for themselves."""
    wanted = 2 * product(devices.get(settings.device), "memory_bytes")
    return max(MAX_BYTES, align(wanted, 1 << 30))


def _reply(connection: socket.socket, session: Session, number: int, payload: bytes) -> bool:
    """Answer one request; whether there can be others after it."""
    known = protocol.messages()
    if not 1 <= number <= len(known):
        return False
    message = known[number - 1]
    try:
        code, reply = session.answer(message, payload)
    except Cancelled:
        raise
    except Exception:  # a mistake of ours: the program hears of an unknown error, the user all about it
        traceback.print_exc()
        code, reply = Code.UNKNOWN, NOTHING
    if message.name != "note":
        connection.sendall(_packed(message, code, reply))
    return True


def _packed(message: protocol.Message, code: Code, reply: Reply) -> bytes:
    fields, tail = reply
    raw = message.answer.pack(*fields) if fields else b""
    return protocol.REPLY.pack(code, len(raw) + len(tail)) + raw + tail
