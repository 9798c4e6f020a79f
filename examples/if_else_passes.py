"""An if/else that splits a warp: two passes, one after the other.

You see which lanes execute which line.  Lanes 0-23 take one side while 24-31 wait, then the other way round,
then all 32 go on together.  The time of the warp is the sum of both sides.
The same, drawn with colours:  ``simt trace examples/if_else_passes.py:if_else --values``
"""

import numpy as np
from numba import cuda

import simt


def if_else(out):
    lane = cuda.threadIdx.x
    if lane < 24:
        value = 2 * lane
    else:
        value = lane + 100
    out[lane] = value + 1


def launch_if_else():
    """How ``simt trace`` launches the kernel of this file."""
    return {"grid": 1, "block": 32, "args": (np.zeros(32, dtype=np.int64),)}


def main() -> None:
    (out,) = launch_if_else()["args"]
    profile = simt.launch(if_else, 1, 32, out, trace=True)
    print("pass  lanes  source line")
    for each in profile.trace.passes():
        for step in each.steps:
            print(f"{step.pass_number:4}{step.active.bit_count():7}  {step.entry.text.strip()}")
    print()
    print(f"divergent branches: {profile.counters['divergent_branches']}")
    print(f"branch efficiency: {profile.metrics['branch_efficiency']:.1f} %")
    print(f"idle lane-slots on the other path: {profile.metrics['idle_lane_slots_other_path']}")


if __name__ == "__main__":
    main()
