"""Many random kernels under the checks: ``python -m tests.check.random.run --kernels 10000 --jobs 16``.

Prints in how many right kernels something was found (none should be), and of those whose barrier, fence or mask is
gone: in how many that does harm, and in how many of these the checks find it (all).  Each that is wrong is listed with
its number, for ``--seed``.  The exit code is 1 if there is one.
"""

from __future__ import annotations

import argparse
import sys
import time
from collections import Counter
from multiprocessing import Pool

from tests.check.random.kernels import make
from tests.check.random.trials import HARMLESS, alarm, spoilt


def tried(seed: int) -> tuple[str, str]:
    """What came of a kernel, and of it spoilt."""
    return alarm(seed), spoilt(seed)


def tried_on_machine(seed: int) -> tuple[str, str]:
    """What came of a kernel's machine code.  A barrier that is gone may be one that the compiler drops itself."""
    return alarm(seed, "sm_90"), HARMLESS


def main() -> int:
    """Try kernels; 1 if one was judged wrongly."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else None)
    parser.add_argument("--kernels", type=int, default=10000)
    parser.add_argument("--first", type=int, default=0, metavar="SEED")
    parser.add_argument("--jobs", type=int, default=1)
    parser.add_argument("--seconds", type=float, default=float("inf"), help="stop after so long")
    parser.add_argument("--machine", action="store_true", help="right kernels only, as machine code")
    parser.add_argument("--seed", type=int, help="print one kernel and what comes of it")
    asked = parser.parse_args()
    work = tried_on_machine if asked.machine else tried
    if asked.seed is not None:
        print(make(asked.seed).source, *work(asked.seed), sep="\n")
        return 0
    work(asked.first)  # compiles what all need
    begin, alarms, outcomes = time.monotonic(), [], Counter[str]()
    seeds = range(asked.first, asked.first + asked.kernels)
    with Pool(asked.jobs) as pool:
        for found, outcome in pool.imap_unordered(work, seeds, chunksize=8):
            if found:
                alarms.append(found)
                print("FALSE ALARM", found, flush=True)
            word = outcome.split()[0]
            if word != outcome:
                print(outcome, flush=True)
            outcomes[word] += 1
            if time.monotonic() - begin > asked.seconds:
                break
        pool.terminate()
    done = outcomes.total()
    harmful = done - outcomes[HARMLESS]
    print(f"{done} kernels in {time.monotonic() - begin:.0f} s: {len(alarms)} false alarms")
    print(f"spoilt: {harmful} do harm, of which {outcomes['found']} are found")
    return int(bool(alarms) or outcomes["found"] < harmful)


if __name__ == "__main__":
    sys.exit(main())
