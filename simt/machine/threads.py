"""The host threads that all launches share."""

from __future__ import annotations

import os
import threading
from concurrent.futures import ThreadPoolExecutor
from functools import cache

from simt.check import LaunchError

MAX_HOST_THREADS = 1024
"""Host threads kept at most; they start when launches need them, and wait for the next one."""

_pool: ThreadPoolExecutor | None = None
_pool_lock = threading.Lock()


def host_threads() -> ThreadPoolExecutor:
    """The threads: starting new ones took a third of a small launch."""
    global _pool
    with _pool_lock:
        if _pool is None:
            _pool = ThreadPoolExecutor(MAX_HOST_THREADS, thread_name_prefix="simt")
        return _pool


@cache
def cores() -> int:
    """The cores that this process may use: threads that share one would wait for each other."""
    if hasattr(os, "sched_getaffinity"):
        return len(os.sched_getaffinity(0))
    return os.cpu_count() or 1


def workers_for(threads: int | None, blocks: int) -> int:
    """How many of them take the blocks of a launch; *threads*: as the launch asks for.  Raises LaunchError."""
    wanted = threads if threads is not None else cores()
    if wanted < 1:
        raise LaunchError(f"threads must be at least 1, not {wanted}")
    return min(wanted, blocks)


def _forget_threads() -> None:
    """A forked process has none of its parent's threads."""
    global _pool, _pool_lock
    _pool, _pool_lock = None, threading.Lock()


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_forget_threads)
