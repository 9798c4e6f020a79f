"""Executors by name, for the command line, and a pool of processes that outlives its workers."""

from __future__ import annotations

import multiprocessing
import os
import re
import signal
import threading
from collections.abc import Callable, Iterator
from concurrent.futures import BrokenExecutor, Executor, Future, ProcessPoolExecutor
from contextlib import contextmanager
from importlib import import_module
from typing import Any, TypeVar

from simt.check import LaunchError

CONNECT_SECONDS = 10
"""How long a Dask scheduler may take to answer."""

FORMS = "processes:8 or dask://HOST:PORT"

Found = TypeVar("Found")


def check_executor(executor: object) -> None:
    """Raises LaunchError for what is no executor."""
    if isinstance(executor, Executor):
        return
    help = "concurrent.futures.ProcessPoolExecutor(8), a Dask client's get_executor(), an MPIPoolExecutor of mpi4py"
    if callable(getattr(executor, "get_executor", None)):
        help = "pass client.get_executor()"
    raise LaunchError(f"executor is {executor!r}, which is no concurrent.futures.Executor", help=help)


class Processes(Executor):
    """A pool of processes of this computer, as many as it has cores by default.

    After one of them has died the next task starts new ones.  Ctrl-C is for this process only.
    """

    def __init__(self, count: int | None = None) -> None:
        self._count = count or os.cpu_count() or 1
        self._others = set(multiprocessing.active_children())
        self._lock = threading.Lock()
        self._pool = self._start()

    def _start(self) -> ProcessPoolExecutor:
        return ProcessPoolExecutor(self._count, initializer=signal.signal, initargs=(signal.SIGINT, signal.SIG_IGN))

    def submit(self, fn: Callable[..., Found], /, *args: Any, **kwargs: Any) -> Future[Found]:
        """As every executor does."""
        with self._lock:
            try:
                return self._pool.submit(fn, *args, **kwargs)
            except BrokenExecutor:
                self._pool = self._start()
                return self._pool.submit(fn, *args, **kwargs)

    def shutdown(self, wait: bool = True, *, cancel_futures: bool = False) -> None:
        """As every executor does."""
        self._pool.shutdown(wait, cancel_futures=cancel_futures)

    def stop(self) -> None:
        """End all processes now, whatever they do."""
        self._pool.shutdown(wait=False, cancel_futures=True)
        for child in set(multiprocessing.active_children()) - self._others:
            child.terminate()


@contextmanager
def executor_of(text: str) -> Iterator[Executor]:
    """The executor that a text names: ``processes:8``, or the scheduler of a Dask cluster, ``dask://HOST:PORT``.

    Raises LaunchError for other texts, without Dask, and where no scheduler answers.
    """
    kind, _, rest = text.partition(":")
    if kind == "processes" and re.fullmatch(r"[1-9]\d{0,3}", rest):
        pool = Processes(int(rest))
        try:
            pool.submit(int).result()  # all start now, while this process has one thread
            yield pool
        finally:
            pool.stop()
    elif kind == "dask" and re.fullmatch(r"//[^/\s]+:\d+", rest):
        with _dask(rest[2:]) as executor:
            yield executor
    else:
        raise LaunchError(f"{text!r} names no executor", help=FORMS)


@contextmanager
def _dask(address: str) -> Iterator[Executor]:
    try:
        distributed: Any = import_module("distributed")
    except ImportError:
        raise LaunchError(
            "Dask is not installed", details=["the package distributed is missing"], help="pip install 'simt[dask]'"
        ) from None
    try:
        client = distributed.Client(f"tcp://{address}", timeout=CONNECT_SECONDS, set_as_default=False)
    except (OSError, ValueError) as error:  # a time-out is an OSError, too
        raise LaunchError(
            f"no Dask scheduler answers at {address}",
            details=[str(error).splitlines()[0]],
            help="start one with `dask scheduler`, and workers with `dask worker HOST:PORT`",
        ) from None
    with client:
        executor: Executor = client.get_executor()
        yield executor
