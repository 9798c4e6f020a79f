"""A published profile of a real GPU, reproduced without one: nine reductions on a Quadro P2000 (Pascal).

You see what nvprof printed for 2^24 integers in blocks of 512 threads beside what the machine view counts when
it executes machine code for the same GPU: instructions per warp, and the efficiency of global loads.  All
eighteen figures agree to the last decimal.  Both are the same for any smaller power of two that fills the
grid's blocks (give one to save time: ``python examples/published_profile.py 20``).
"""

import sys
from pathlib import Path

import numpy as np

import simt

DATA = Path(__file__).resolve().parents[1] / "tests" / "data" / "sass" / "sm_61"
BLOCK = 512
PUBLISHED = {
    # kernel: chunks of 512 elements per block, inst_per_warp, gld_efficiency in %
    "reduceNeighbored": (1, 412.0, 25.02),
    "reduceNeighboredLess": (1, 145.5625, 25.02),
    "reduceInterleaved": (1, 117.8125, 96.15),
    "reduceUnrolling2": (2, 138.8125, 98.04),
    "reduceUnrolling4": (4, 153.8125, 98.68),
    "reduceUnrolling8": (8, 177.8125, 99.21),
    "reduceUnrollWarps8": (8, 118.0, 99.43),
    "reduceCompleteUnrollWarps8": (8, 119.5, 99.43),
    "reduceCompleteUnroll": (8, 112.5, 99.43),
}


def main(power: int = 24) -> None:
    kernels = simt.load_cubin(DATA / "kernels.cubin", listing=DATA / "kernels.sass")
    data = np.random.default_rng(0).integers(0, 256, 2**power, dtype=np.int32)
    print(f"2^{power} int32 elements, block {BLOCK}, sm_61 machine code; simulated beside published\n")
    print(f"{'kernel':28}{'inst_per_warp':>24}{'gld_efficiency %':>20}{'sum':>7}")
    equal = 0
    for name, (chunks, instructions, efficiency) in PUBLISHED.items():
        grid = data.size // (BLOCK * chunks)
        sums = np.zeros(grid, np.int32)
        profile = simt.launch(kernels[name], grid, BLOCK, data.copy(), sums, np.uint32(data.size))
        # As nvprof prints them: four decimals, two decimals.
        counted = f"{profile.metrics['inst_per_warp']:.4f}", f"{profile.metrics['gld_efficiency']:.2f}"
        published = f"{instructions:.4f}", f"{efficiency:.2f}"
        equal += sum(a == b for a, b in zip(counted, published, strict=True))
        right = "right" if sums.sum() == data.sum() else "WRONG"
        print(f"{name:28}{counted[0]:>12}{published[0]:>12}{counted[1]:>10}{published[1]:>10}{right:>7}")
    print(f"\n{equal} of {2 * len(PUBLISHED)} figures equal the published ones")


if __name__ == "__main__":
    main(int(sys.argv[1]) if len(sys.argv) > 1 else 24)
