"""Lanes of one warp wait at different barriers: on hardware a hang, here a message.

You see which warps wait, with which lanes, and at which line.  Even lanes wait for their whole warp, odd
lanes for the whole block, and neither can go on.  (Threads that have *left* the kernel are no problem: a
barrier does not wait for those.)
"""

import numpy as np
from numba import cuda

import simt
from simt.check import DeadlockError


def deadlock(data):
    tid = cuda.threadIdx.x
    if tid % 2 == 0:
        cuda.syncwarp()
    else:
        cuda.syncthreads()
    data[tid] = tid


def main() -> None:
    try:
        simt.launch(deadlock, 1, 64, np.zeros(64, dtype=np.int32))
    except DeadlockError as error:
        print(error)


if __name__ == "__main__":
    main()
