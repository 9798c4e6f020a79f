"""Kernels and arguments on their way to another process: Nsight Compute's, or Numba's CUDA simulator.

Kernels travel by value where they cannot be imported (closures), with every dispatcher in their closure taken back
to its Python function, because a compiled dispatcher belongs to the process and the target that made it.
"""

from __future__ import annotations

import io
import os
import pickle
import subprocess
import sys
import tempfile
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from types import ModuleType
from typing import Any

from numba import cloudpickle

from gpu import driver

Dim = int | tuple[int, ...]


@dataclass(frozen=True)
class Job:
    """One launch to carry out elsewhere; ``lineinfo`` compiles it with source line numbers."""

    kernel: Any
    grid: Dim
    block: Dim
    args: tuple[Any, ...]
    shared_bytes: int = 0
    lineinfo: bool = True


@dataclass(frozen=True)
class Outcome:
    """What came back of a job: the arguments after the launch, or the error as text."""

    args: tuple[Any, ...] = ()
    registers: int | None = None
    error: str = ""


def _device_function(function: Any) -> Any:
    return driver.cuda().jit(device=True)(function)


class _Pickler(cloudpickle.CloudPickler):
    def reducer_override(self, obj: Any) -> Any:
        if hasattr(obj, "py_func") and hasattr(obj, "targetoptions"):
            return _device_function, (obj.py_func,)
        return super().reducer_override(obj)


def dump(jobs: Sequence[Job]) -> bytes:
    """The jobs as bytes.  ``pickle.PicklingError`` or ``TypeError`` for arguments that cannot travel."""
    buffer = io.BytesIO()
    plain = [replace(job, kernel=getattr(job.kernel, "py_func", job.kernel)) for job in jobs]
    homes = {home for job in plain if (home := _foreign_home(job.kernel)) is not None}
    for home in homes:
        cloudpickle.register_pickle_by_value(home)
    try:
        _Pickler(buffer).dump(plain)
    finally:
        for home in homes:
            cloudpickle.unregister_pickle_by_value(home)
    return buffer.getvalue()


def _foreign_home(kernel: Any) -> ModuleType | None:
    """The module of a kernel that is not one of ours: another process may not be able to import it."""
    name = str(getattr(kernel, "__module__", ""))
    return None if name.split(".")[0] in ("simt", "gpu", "__main__") else sys.modules.get(name)


def run(
    mode: str,
    jobs: Sequence[Job],
    *,
    prefix: Sequence[str] = (),
    environment: Mapping[str, str] | None = None,
    timeout: float | None = None,
) -> tuple[list[Outcome], subprocess.CompletedProcess[str]]:
    """Run the jobs in ``python -m gpu.runner`` behind the command *prefix*.

    Returns the outcomes (fewer than the jobs if the process died) and the finished process.
    """
    with tempfile.TemporaryDirectory(prefix="simt-gpu-") as folder:
        todo, done = Path(folder) / "jobs.pickle", Path(folder) / "outcomes.pickle"
        todo.write_bytes(dump(jobs))
        command = [*prefix, sys.executable, "-m", "gpu.runner", mode, str(todo), str(done)]
        finished = subprocess.run(
            command,
            capture_output=True,
            text=True,
            errors="replace",
            env={**(os.environ if environment is None else environment), "PYTHONPATH": os.pathsep.join(sys.path)},
            timeout=timeout,
            check=False,
        )
        outcomes: list[Outcome] = pickle.loads(done.read_bytes()) if done.is_file() else []
    return outcomes, finished
