"""Many random kernels on both engines: ``python -m tests.machine.pairs --kernels 20000 --jobs 16``.

Prints those of which native code leaves other arrays or counters than the interpreter, or notes other accesses, with
their numbers.  The exit code is 1 if there is one.
"""

from __future__ import annotations

import argparse
import sys
import time
from collections.abc import Sequence
from multiprocessing import Pool
from unittest.mock import patch

import simt
from tests.check.random.kernels import make
from tests.check.random.trials import Trial
from tests.machine.engines import launches_with


def left(seed: int, engine: str) -> tuple[Sequence[bytes], object, object]:
    """The arrays and all counters that a random kernel leaves, and what it has accessed."""
    profiles: list[simt.Profile] = []
    run = simt.launch

    def kept(*args: object, **options: object) -> simt.Profile:
        profiles.append(run(*args, **options))
        return profiles[-1]

    order = ("then_first", "else_first")[seed % 2]
    with patch.object(simt, "launch", kept), launches_with(per_block=True):
        arrays = Trial(make(seed)).run(engine=engine, order=order, threads=1)
    reached = profiles[0].result.reached
    assert reached is not None
    return arrays, profiles[0].counters, reached.tobytes()


def differs(seed: int) -> str:
    """What is not the same on both engines; empty: nothing."""
    interpreted, native = left(seed, "interpreter"), left(seed, "compiled")
    kinds = ("arrays", "counters", "accesses")
    found = [what for what, *two in zip(kinds, interpreted, native, strict=True) if two[0] != two[1]]
    return f"{seed}: {', '.join(found)}" if found else ""


def main() -> int:
    """Try kernels; 1 if the engines differ."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else None)
    parser.add_argument("--kernels", type=int, default=20000)
    parser.add_argument("--first", type=int, default=0, metavar="SEED")
    parser.add_argument("--jobs", type=int, default=1)
    parser.add_argument("--seconds", type=float, default=float("inf"), help="stop after so long")
    asked = parser.parse_args()
    differs(asked.first)  # compiles what all need
    begin, done, wrong = time.monotonic(), 0, 0
    with Pool(asked.jobs) as pool:
        for found in pool.imap_unordered(differs, range(asked.first, asked.first + asked.kernels), chunksize=8):
            done += 1
            if found:
                wrong += 1
                print("DIFFERENT", found, flush=True)
            if time.monotonic() - begin > asked.seconds:
                break
        pool.terminate()
    print(f"{done} kernels in {time.monotonic() - begin:.0f} s: {wrong} differ")
    return int(wrong > 0)


if __name__ == "__main__":
    sys.exit(main())
