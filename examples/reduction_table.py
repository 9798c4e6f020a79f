"""Every reduction of the family on one array: what each costs, and why.

You see a table with one row per kernel.  Follow two columns: the warp instructions per warp fall from
neighbored to interleaved, because fewer of them run with most lanes idle (lane efficiency), and the load
efficiency rises from 25 % to 99 %, because the working lanes read neighbouring elements.
"""

import numpy as np

import simt
from simt import kernels

SIZE = 2**16
BLOCK = 512


def main() -> None:
    data = np.random.default_rng(0).integers(-128, 128, SIZE, dtype=np.int32)
    print(f"{SIZE} int32 elements, block {BLOCK}, sum {data.sum(dtype=np.int32)}\n")
    print(f"{'kernel':24}{'sum':>8}  blocks  instr./warp  lane eff. %  load eff. %")
    for kernel in kernels.names("reduction"):
        total, profile = simt.reduce(data, kernel=kernel, block=BLOCK)
        metrics = profile.metrics
        print(
            f"{kernel:24}{total:>8}{profile.grid[0]:>8}{metrics['inst_per_warp']:>13.1f}"
            f"{metrics['warp_execution_efficiency']:>13.1f}{metrics['gld_efficiency']:>13.2f}"
        )


if __name__ == "__main__":
    main()
