"""The process that Nsight Compute watches.

``python -m gpu.calibration.launches GPU CUBIN KERNEL BLOCKS THREADS TIMES``: launches of a kernel without arguments.
"""

from __future__ import annotations

import sys
from pathlib import Path

from gpu.calibration.native import Native

if __name__ == "__main__":
    index, cubin, kernel, blocks, threads, times = sys.argv[1:]
    native = Native(int(index))
    native.load(Path(cubin).read_bytes())
    for _ in range(int(times)):
        native.launch(kernel, int(blocks), int(threads), [])
