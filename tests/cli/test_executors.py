"""Sweeps on executors, and a Dask cluster on this machine."""

from __future__ import annotations

import os
import signal
import time
from collections.abc import Callable
from concurrent.futures import Executor, Future
from contextlib import nullcontext
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from numba import cuda

import simt
from simt.check import LaunchError

SWEEP = ["sweep", "neighbored", "--size", "2^12", "--blocks", "64,128,2000", "--json"]


def twos(x):
    x[cuda.grid(1)] = 2.0


class Kills(Executor):
    """Sends a cluster's worker, once, a task that kills it."""

    def __init__(self, inner: Executor, mark: Path) -> None:
        self.inner, self.mark = inner, mark

    def submit(self, fn: Callable[..., Any], /, *args: Any, **kwargs: Any) -> Future[Any]:
        return self.inner.submit(dies_once, self.mark, fn, *args, **kwargs)


def dies_once(mark: Path, fn: Callable[..., Any], *args: Any) -> Any:
    if not mark.exists():
        mark.touch()
        os.kill(os.getpid(), signal.SIGKILL)
    return fn(*args)


def test_dask(tmp_path: Path, run: Any) -> None:
    """A cluster of one worker, which dies once; a sweep on it says what one without says."""
    distributed = pytest.importorskip("distributed", reason="needs Dask (pip install 'simt[dask]')")
    with distributed.LocalCluster(n_workers=1, threads_per_worker=2, dashboard_address=None) as cluster:
        with distributed.Client(cluster, set_as_default=False) as client:
            with pytest.raises(LaunchError, match=r"pass client.get_executor\(\)"):
                simt.launch(twos, 8, 32, np.zeros(256), executor=client)
            x = np.zeros(256)
            simt.launch(twos, 8, 32, x, executor=Kills(client.get_executor(), tmp_path / "died"))
            assert (x == 2).all()
        there = run(*SWEEP, "--executor", cluster.scheduler_address.replace("tcp", "dask"))
    assert there.json() == run(*SWEEP).json()


def test_processes(run: Any) -> None:
    assert run(*SWEEP, "--executor", "processes:2").json() == run(*SWEEP).json()


def test_executors_that_there_are_not(run: Any) -> None:
    found = run(*SWEEP, "--executor", "mpi:4")
    assert found.code == 2
    assert "names no executor" in found.err
    found = run("sweep", "neighbored", "--blocks", "2000,3000", "--executor", "processes:1")
    assert found.code == 2
    assert "it must be between 1 and 1024" in found.err


def test_a_value_error_of_another_kind_does_not_become_a_refusal(run: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    def wrong(*_: Any) -> None:
        raise ValueError("something else")

    monkeypatch.setattr("simt.timing.sweep", wrong)
    with pytest.raises(ValueError, match="something else"):
        run(*SWEEP)


class Never(Executor):
    """Takes work and does none."""

    def __init__(self) -> None:
        self.taken: list[Future[Any]] = []

    def submit(self, fn: Callable[..., Any], /, *args: Any, **kwargs: Any) -> Future[Any]:
        self.taken.append(Future())
        return self.taken[-1]


def test_ctrl_c_ends_a_sweep(run: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    never = Never()

    def interrupted(*_: Any) -> None:
        while len(never.taken) < 2:
            time.sleep(0.01)
        raise KeyboardInterrupt

    monkeypatch.setattr("simt.calls.executors.connect.executor_of", lambda _: nullcontext(never))
    monkeypatch.setattr("simt.timing.sweep", interrupted)
    assert run(*SWEEP, "--executor", "processes:1").code == 130
    assert all(future.cancelled() for future in never.taken)
