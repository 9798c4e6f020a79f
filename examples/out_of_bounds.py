"""Two reductions as they were published, and the sizes for which they read past the end of the array.

You see that both are right for 1024 elements in blocks of 128, which is how such mistakes survive, and what
the simulator says when the last block is only partly filled.  Hardware would quietly add foreign memory.
"""

import simt
from simt import kernels
from simt.check import OutOfBoundsError


def main() -> None:
    data = kernels.sample(1024)
    for kernel in ("published_unguarded", "published_off_by_one"):
        total, _ = simt.reduce(data, kernel=kernel, block=128)
        print(f"{kernel}, 1024 elements: {total}, NumPy says {data.sum()}")
        try:
            simt.reduce(data[:1000], kernel=kernel, block=128)
        except OutOfBoundsError as error:
            print(f"{kernel}, 1000 elements:\n{error}\n")


if __name__ == "__main__":
    main()
