"""The process that Nsight Compute watches.

``python -m gpu.calibration.launches GPU CUBIN KERNEL BLOCKS THREADS TIMES``: launches of a kernel that reads
a word a thread and writes one.
"""

from __future__ import annotations

import sys
from pathlib import Path

import numpy as np

from gpu.calibration.native import Native

if __name__ == "__main__":
    index, cubin, kernel, blocks, threads, times = sys.argv[1:]
    native = Native(int(index))
    native.load(Path(cubin).read_bytes())
    arrays = [native.array(np.zeros(int(blocks) * int(threads), np.float32)) for _ in range(2)]
    for _ in range(int(times)):
        native.launch(kernel, int(blocks), int(threads), arrays)
