"""Seconds for 2**16 to 2**26 elements: the cost is linear once the fixed part is small."""

from __future__ import annotations

import time

import simt
from simt import kernels


def main() -> None:
    data = kernels.sample(2**26)
    simt.reduce(data[: 2**16])
    for kernel in ("neighbored", "interleaved", "complete_unroll"):
        print(f"{kernel}\n    elements   seconds  ns/element")
        for exponent in range(16, 27, 2):
            part = data[: 2**exponent]
            start = time.perf_counter()
            simt.reduce(part, kernel=kernel, block=512)
            seconds = time.perf_counter() - start
            print(f"{part.size:12}{seconds:10.3f}{seconds / part.size * 1e9:12.2f}")


if __name__ == "__main__":
    main()
