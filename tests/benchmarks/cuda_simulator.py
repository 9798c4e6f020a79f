"""The same launch here and on Numba's own CUDA simulator, which runs a host thread per CUDA thread.

The simulator has to be chosen before Numba is imported, so that half runs in a process of its own.
"""

from __future__ import annotations

import os
import subprocess
import sys
import time

SIZE = 2**13
BLOCK = 128
KERNELS = ("neighbored", "interleaved", "shared")


def on_the_cuda_simulator(kernel: str) -> None:
    """Print the seconds of one launch."""
    from numba import cuda

    from simt import kernels

    plan = kernels.get_reduction(kernel).plan_for(kernels.sample(SIZE), BLOCK)
    dispatcher = cuda.jit(plan.kernel)
    start = time.perf_counter()
    dispatcher[plan.grid, plan.block](*plan.args)
    seconds = time.perf_counter() - start
    assert plan.finish() == kernels.operation("sum").reduce(kernels.sample(SIZE))
    print(seconds)


def main() -> None:
    import simt
    from simt import kernels

    data = kernels.sample(SIZE)
    print(f"{SIZE} int32, block {BLOCK}\nkernel            simt s  Numba's simulator s   ratio")
    for kernel in KERNELS:
        simt.reduce(data, kernel=kernel, block=BLOCK)
        _, profile = simt.reduce(data, kernel=kernel, block=BLOCK)
        environment = {**os.environ, "NUMBA_ENABLE_CUDASIM": "1"}
        done = subprocess.run(
            [sys.executable, __file__, kernel], env=environment, capture_output=True, text=True, check=True
        )
        theirs = float(done.stdout)
        print(f"{kernel:14}{profile.seconds:>10.4f}{theirs:>21.2f}{theirs / profile.seconds:>8.0f}")


if __name__ == "__main__":
    if len(sys.argv) > 1:
        on_the_cuda_simulator(sys.argv[1])
    else:
        main()
