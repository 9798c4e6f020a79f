"""The nine classic reductions at 2**24 int32 elements, block of 512, both simulated and as a plain loop."""

from __future__ import annotations

import sys
import time

import numba
import numpy as np

import simt
from simt import kernels

FAMILY = (
    "neighbored",
    "neighbored_less",
    "interleaved",
    "unrolling2",
    "unrolling4",
    "unrolling8",
    "unroll_warps8",
    "complete_unroll_warps8",
    "complete_unroll",
)


@numba.njit(parallel=True)
def plain_loop(data: np.ndarray, sums: np.ndarray, block: int, chunks: int, neighbored: bool) -> None:
    """The rounds of every block as nested loops, one block per iteration of the parallel loop.

    *data* (int32, whole blocks of ``block * chunks``) is folded in place into *sums* (int32, one per block).
    """
    for b in numba.prange(sums.size):
        base = b * block * chunks
        for chunk in range(1, chunks):
            for t in range(block):
                data[base + t] += data[base + t + chunk * block]
        if neighbored:
            stride = 1
            while stride < block:
                for t in range(0, block, 2 * stride):
                    data[base + t] += data[base + t + stride]
                stride *= 2
        else:
            stride = block // 2
            while stride > 0:
                for t in range(stride):
                    data[base + t] += data[base + t + stride]
                stride //= 2
        sums[b] = data[base]


def plain_seconds(data: np.ndarray, kernel: str, block: int) -> float:
    """Best of three, compiled beforehand; checks the sum."""
    chunks = kernels.get_reduction(kernel).elements_per_thread
    best = np.inf
    for _ in range(4):
        work = data.copy()
        sums = np.zeros(data.size // (block * chunks), dtype=np.int32)
        start = time.perf_counter()
        plain_loop(work, sums, block, chunks, kernel.startswith("neighbored"))
        best = min(best, time.perf_counter() - start)
        assert sums.sum(dtype=np.int32) == data.sum(dtype=np.int32)
    return best


def peak_memory() -> str:
    """Peak resident memory of this process, where the operating system tells."""
    try:
        import resource
    except ImportError:
        return "unknown (no resource module)"
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    return f"{peak / (2**30 if sys.platform == 'darwin' else 2**20):.2f} GiB"


def main() -> None:
    data = kernels.sample(2**24)
    simt.reduce(data[: 2**16])
    print(f"{numba.get_num_threads()} cores, {data.size} int32, block 512")
    print("kernel                     seconds  warp instructions  million/s  plain loop s    ratio")
    seconds = instructions = 0.0
    for kernel in FAMILY:
        total, profile = simt.reduce(data, kernel=kernel, block=512)
        assert total == data.sum(dtype=np.int32)
        executed = profile.counters["inst_executed"]
        plain = plain_seconds(data, kernel, 512)
        print(
            f"{kernel:24}{profile.seconds:>10.2f}{executed:>19}{executed / profile.seconds / 1e6:>11.1f}"
            f"{plain:>14.4f}{profile.seconds / plain:>9.0f}"
        )
        seconds += profile.seconds
        instructions += executed
    print(f"{'together':24}{seconds:>10.2f}{instructions:>19.0f}{instructions / seconds / 1e6:>11.1f}")
    print(f"peak memory {peak_memory()}")


if __name__ == "__main__":
    main()
