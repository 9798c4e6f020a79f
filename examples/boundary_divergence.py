"""The guard at the end of an array or a picture: how many warps really diverge?

You see that a guard costs next to nothing on a long vector (one warp of hundreds), and more on a picture,
where every row of blocks has its own right edge.  On the picture, ``x < w`` alone splits warps along the
whole edge; the whole condition splits fewer, because below the picture it is false for all lanes anyway.
"""

import numpy as np
from numba import cuda

import simt
from simt import kernels


def two_dimensional(out):
    out[cuda.threadIdx.y, cuda.threadIdx.x] = cuda.laneid


def divergent_on(profile: simt.Profile, text: str) -> int:
    return sum(line.counters["divergent_branches"] for line in profile.lines if text in line.text)


def main() -> None:
    print("vector add, blocks of 64")
    vector_add = kernels.get("vector_add")
    for n in (100, 1003, 10_000):
        plan = vector_add.plan(n, 64)
        profile = simt.launch(plan.kernel, plan.grid, plan.block, *plan.args)
        warps = profile.counters["warps_launched"]
        guard = divergent_on(profile, "if i < c.size")
        print(f"  n = {n:6}: {profile.grid[0]:4} blocks, {warps:4} warps, {guard} divergent")

    print("picture, blocks of 16 x 16")
    for width, height in ((76, 62), (200, 150)):
        plan = kernels.picture_plan(width, height)
        profile = simt.launch(plan.kernel, plan.grid, plan.block, *plan.args)
        warps = profile.counters["warps_launched"]
        blocks = int(np.prod(profile.grid))
        edge = divergent_on(profile, "inside = ")
        whole = divergent_on(profile, "if inside")
        print(f"  {width} x {height}: {blocks} blocks, {warps} warps, {edge} diverge on x < w, {whole} on all of it")

    out = np.zeros((2, 40), dtype=np.int32)
    profile = simt.launch(two_dimensional, 1, (40, 2), out)
    warps = profile.counters["warps_launched"]
    slots = 32 * warps
    print(f"block 40 x 2: {warps} warps, {slots} lanes, {slots - out.size} that never exist")
    print(f"  x runs fastest: thread (0, 1) is lane {out[1, 0]} of warp 1")


if __name__ == "__main__":
    main()
