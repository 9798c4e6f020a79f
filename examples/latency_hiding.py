"""Why a GPU wants many warps: while one waits, another issues.

Every thread follows a chain: the next index is what the last load brought, so each load waits for the one before.
One warp leaves its scheduler idle for nearly all of that time.  You see how long 1 to 32 warps of one block take on an
H200 for the same chain each: the time grows little while the work grows thirty-two times, until the schedulers are
busy.  The timelines show the same cycles of a single warp and of eight: # is an issue, a letter what a warp waits for.
"""

import numpy as np
from numba import cuda

import simt

ROUNDS = 100
WINDOW = (3000, 3060)


@cuda.jit
def follow(chain, out, rounds):
    i = cuda.grid(1)
    at = i
    for _ in range(rounds):
        at = chain[at]
    out[i] = at


def run(warps: int) -> simt.Profile:
    threads = 32 * warps
    # Each thread's next is its neighbour: the loads are coalesced.
    chain = np.roll(np.arange(threads, dtype=np.int32), -1)
    out = np.zeros(threads, np.int64)
    profile = simt.launch(follow, 1, threads, chain, out, ROUNDS, device="h200", timing=True, window=WINDOW)
    assert (out == (np.arange(threads) + ROUNDS) % threads).all()
    return profile


def main() -> None:
    profiles = {warps: run(warps) for warps in (1, 2, 4, 8, 16, 32)}
    print(f"{ROUNDS} dependent loads per thread, one block on one SM of an H200\n")
    print(f"{'warps':>5}{'cycles':>9}{'loads / 1000 cycles':>21}{'issue slots used %':>20}   mainly waits for")
    for warps, profile in profiles.items():
        cycles = profile.timing.totals["cycles"]  # without the launch itself
        loads = 1000 * profile.counters["global_load_requests"] / cycles
        used = profile.metrics["issue_slot_utilization"]
        print(f"{warps:>5}{cycles:>9}{loads:>21.1f}{used:>20.1f}   {profile.timing.dominant_stall.replace('_', ' ')}")
    for warps in (1, 8):
        print(f"\n{warps} warp{'s' if warps > 1 else ''}:")
        print(profiles[warps].timeline(width=WINDOW[1] - WINDOW[0]))
    print("\nWhere eight warps wait:")
    print(profiles[8].annotate(["inst_executed", "waited", "for"]))


if __name__ == "__main__":
    main()
