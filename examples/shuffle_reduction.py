"""A warp folds 32 values through registers: five shuffles, no memory, no barrier.

You see the value of each lane after each step; lane 0 ends with the sum 0 + 1 + ... + 31 = 496.  Then the
whole reduction of the library against interleaved: hardly any stores, and far fewer loads.
"""

import numpy as np
from numba import cuda

import simt
from simt import kernels


def warp_sum(out):
    value = cuda.laneid
    offset = 16
    while offset > 0:
        value += cuda.shfl_down_sync(0xFFFFFFFF, value, offset)
        offset //= 2
    out[cuda.laneid] = value


def main() -> None:
    out = np.zeros(32, dtype=np.int64)
    profile = simt.launch(warp_sum, 1, 32, out, trace=True)
    print("value of lanes 0, 1, 2, ... after each shuffle")
    for step in profile.trace.steps():
        if "shfl_down" in step.entry.text:
            print("  " + " ".join(f"{value:4}" for value in step.values["value"][:12]) + " ...")
    print(f"lane 0 holds {out[0]}\n")

    data = kernels.sample(2**16)
    for kernel in ("interleaved", "shuffle"):
        total, profile = simt.reduce(data, kernel=kernel, block=512)
        counters = profile.counters
        print(
            f"{kernel:11} sum {total}: {counters['inst_executed']} warp instructions; sectors "
            f"{counters['global_load_sectors']} read, {counters['global_store_sectors']} written"
        )


if __name__ == "__main__":
    main()
