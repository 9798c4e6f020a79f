"""Executors by name, for the command line, and a pool of processes that outlives its workers."""

from __future__ import annotations

import re
import signal
import threading
from collections.abc import Callable, Iterator
from concurrent.futures import BrokenExecutor, Executor, Future, ProcessPoolExecutor
from contextlib import contextmanager
from importlib import import_module
from typing import Any, TypeVar

from simt.check import LaunchError, MissingError
from simt.machine.threads import cores

CONNECT_SECONDS = 10
"""How long a Dask scheduler may take to answer."""

FORMS = "processes:8 or dask://HOST:PORT"

Result = TypeVar("Result")


def check_executor(executor: object) -> None:
    """Raise LaunchError for what is no executor."""
    if isinstance(executor, Executor):
        return
    if callable(getattr(executor, "get_executor", None)):
        help = "pass client.get_executor()"
    else:
        help = "pass concurrent.futures.ProcessPoolExecutor(8), or get_executor() of a Dask client"
    raise LaunchError(f"executor is {executor!r}, which is no concurrent.futures.Executor", help=help)


class Processes(Executor):
    """A pool of *count* processes on this computer (default: one for each core).

    When one of them has died, the next task starts new ones.  The processes ignore ctrl-C: this one decides.
    """

    def __init__(self, count: int | None = None) -> None:
        self._count = count or cores()
        self._lock = threading.Lock()
        self._pool = self._start()

    def _start(self) -> ProcessPoolExecutor:
        return ProcessPoolExecutor(self._count, initializer=signal.signal, initargs=(signal.SIGINT, signal.SIG_IGN))

    def submit(self, fn: Callable[..., Result], /, *args: Any, **kwargs: Any) -> Future[Result]:
        """Have a process call *fn*."""
        with self._lock:
            try:
                return self._pool.submit(fn, *args, **kwargs)
            except BrokenExecutor:
                self._pool = self._start()
                return self._pool.submit(fn, *args, **kwargs)

    def shutdown(self, wait: bool = True, *, cancel_futures: bool = False) -> None:
        """End the processes once their tasks are done."""
        self._pool.shutdown(wait, cancel_futures=cancel_futures)

    def stop(self) -> None:
        """End the processes now, whatever they do."""
        processes = list((self._pool._processes or {}).values())  # Python 3.14 has terminate_workers()
        self._pool.shutdown(wait=False, cancel_futures=True)
        for process in processes:
            process.terminate()


@contextmanager
def executor_of(text: str) -> Iterator[Executor]:
    """The executor that a text names: ``processes:8``, or ``dask://HOST:PORT``, the scheduler of a Dask cluster.

    Raises LaunchError for any other text and if no scheduler answers, MissingError if Dask is not installed.
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
        raise LaunchError(f"{text!r} names no executor", help=f"write {FORMS}")


@contextmanager
def _dask(address: str) -> Iterator[Executor]:
    try:
        distributed: Any = import_module("distributed")
    except ImportError:
        raise MissingError(
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
