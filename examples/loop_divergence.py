"""A loop with 4 to 8 trips, depending on the lane: the warp stays until its slowest lane is done.

You see the active lanes of each of the 8 executions of the loop's body: all 32 in the first four, fewer
after.  The lanes that are done wait; their slots are lost.
"""

import numpy as np
from numba import cuda

import simt


def work(trips, out):
    i = cuda.grid(1)
    total = 0
    for trip in range(trips[i]):
        total += trip * i
    out[i] = total


def main() -> None:
    trips = (4 + np.arange(32) % 5).astype(np.int32)
    out = np.zeros(32, dtype=np.int64)
    profile = simt.launch(work, 1, 32, trips, out, trace=True)
    body = [step for step in profile.trace.steps() if "total +=" in step.entry.text]
    print("trip  active lanes")
    for trip, step in enumerate(body, start=1):
        print(f"{trip:4}  {step.active.bit_count():2} {'#' * step.active.bit_count()}")
    used = sum(step.active.bit_count() for step in body)
    print(f"\n{len(body)} passes of the body, {used} of {32 * len(body)} lane-slots used")
    print(f"warp execution efficiency of the kernel: {profile.metrics['warp_execution_efficiency']:.1f} %")


if __name__ == "__main__":
    main()
