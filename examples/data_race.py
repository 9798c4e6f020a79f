"""The last warp of a reduction without ``__syncwarp``: right on Pascal, a race since Volta, found here.

Old CUDA code lets the last 32 lanes add up their values with no barrier at all, because lanes used to run in
lockstep.  Since Volta they need not.  You see both sides of the race, the line of each, and what to put between.
With the barriers in place the same check passes.
"""

import numpy as np
from numba import cuda

import simt
from simt.check import RaceError


def lockstep(data):
    lane = cuda.threadIdx.x
    if lane < 16:
        data[lane] += data[lane + 16]
        data[lane] += data[lane + 8]


def synchronised(data):
    lane = cuda.threadIdx.x
    step = 16
    while step > 0:
        if lane < step:
            data[lane] += data[lane + step]
        cuda.syncwarp()
        step //= 2


def main() -> None:
    data = np.arange(32, dtype=np.int32)
    try:
        simt.launch(lockstep, 1, 32, data, check="racecheck")
    except RaceError as error:
        print(error)
    simt.launch(synchronised, 1, 32, data, check="racecheck")
    print(f"\nwith syncwarp: no race, sum {data[0]}")


if __name__ == "__main__":
    main()
