"""The process that Nsight Compute watches, or that runs Numba's CUDA simulator: ``python -m gpu.runner``.

``MODE JOBS OUTCOMES``: reads pickled jobs, carries each out once, writes pickled outcomes.  Mode ``profile`` marks
each launch for ``ncu --profile-from-start off``; mode ``plain`` does not, and works on the simulator.
"""

from __future__ import annotations

import pickle
import sys
from pathlib import Path
from typing import Any

import numpy as np

from gpu.jobs import Job, Outcome

_kernels: list[Any] = []
"""Kernels stay loaded, so that no two have had the same code address."""


def main(mode: str, todo: Path, done: Path) -> None:
    """Carry out the jobs of the file *todo*."""
    jobs: list[Job] = pickle.loads(todo.read_bytes())
    outcomes = []
    for job in jobs:
        outcomes.append(_attempt(job, mode == "profile"))
        done.write_bytes(pickle.dumps(outcomes))


def _attempt(job: Job, profile: bool) -> Outcome:
    try:
        return _profiled(job) if profile else _plain(job)
    except Exception as error:  # the parent process turns it into an error of its own
        return Outcome(error=f"{type(error).__name__}: {error}")


def _profiled(job: Job) -> Outcome:
    from gpu import driver

    cuda = driver.need()
    kernel = cuda.jit(lineinfo=job.lineinfo)(job.kernel)
    args = [cuda.to_device(value) if isinstance(value, np.ndarray) else value for value in job.args]
    _kernels.append(kernel)
    # Compiled before the profiled stretch, so that nothing but the launch is in it.
    kernel.compile(tuple(kernel.typeof_pyval(value) for value in args))
    cuda.synchronize()
    cuda.profile_start()
    kernel[job.grid, job.block, 0, job.shared_bytes](*args)
    cuda.synchronize()
    cuda.profile_stop()
    after = tuple(value.copy_to_host() if hasattr(value, "copy_to_host") else value for value in args)
    (compiled,) = kernel.overloads.values()
    return Outcome(after, int(compiled.regs_per_thread))


def _plain(job: Job) -> Outcome:
    from gpu import driver

    cuda = driver.cuda()
    args: tuple[Any, ...] = tuple(value.copy() if isinstance(value, np.ndarray) else value for value in job.args)
    with np.errstate(all="ignore"):
        cuda.jit(job.kernel)[job.grid, job.block, 0, job.shared_bytes](*args)
    return Outcome(args)


if __name__ == "__main__":
    main(sys.argv[1], Path(sys.argv[2]), Path(sys.argv[3]))
