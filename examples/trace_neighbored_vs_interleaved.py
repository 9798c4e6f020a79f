"""Two reductions of the same 64 elements, lane by lane.

You see the additions of both warps, a row per round, lanes left to right (``#`` works, ``.`` waits).
Neighbored spreads its working lanes thinner each round, so every round diverges.  Interleaved keeps them
together: the first round keeps warp 0 busy as a whole, and warp 1 has nothing to do.
The kernels are this file's own: any Numba CUDA kernel will do.
"""

import numpy as np
from numba import cuda

import simt


def neighbored(data, result):
    tid = cuda.threadIdx.x
    stride = 1
    while stride < cuda.blockDim.x:
        if tid % (2 * stride) == 0:
            data[tid] += data[tid + stride]
        cuda.syncthreads()
        stride *= 2
    if tid == 0:
        result[0] = data[0]


def interleaved(data, result):
    tid = cuda.threadIdx.x
    stride = cuda.blockDim.x // 2
    while stride > 0:
        if tid < stride:
            data[tid] += data[tid + stride]
        cuda.syncthreads()
        stride //= 2
    if tid == 0:
        result[0] = data[0]


def lanes(mask: int) -> str:
    return "".join("#" if mask >> lane & 1 else "." for lane in range(32))


def main() -> None:
    for kernel in (neighbored, interleaved):
        data = np.arange(64, dtype=np.int32)
        result = np.zeros(1, dtype=np.int32)
        profile = simt.launch(kernel, 1, 64, data, result, trace=True)
        print(f"{kernel.__name__}: sum {result[0]}, {profile.counters['divergent_branches']} divergent branches")
        for warp in range(2):
            adds = [step for step in profile.trace.steps(0, warp) if "+=" in step.entry.text]
            for turn, step in enumerate(adds, start=1):
                print(f"  warp {warp} add {turn}  {lanes(step.executed)}  {step.executed.bit_count():2} lanes")
        print()


if __name__ == "__main__":
    main()
