"""What checks cost on the reductions: times of the unchecked launch, all in one run, and bytes of shadow memory.

The unchecked launch is interpreted, as checked ones are; beside it is what it takes in native code.
"""

from __future__ import annotations

import time

import simt
from simt import kernels
from tests.check.test_parts import judged

SIZE, BLOCK, TRIES = 2**19, 256, 3
CHECKS = ("", "initcheck", "synccheck", "racecheck", "all")


def seconds(name: str, check: str, engine: str = "interpreter") -> float:
    """The fastest of some launches."""
    best = float("inf")
    for _ in range(TRIES):
        plan = kernels.get(name).plan(SIZE, BLOCK, seed=0)
        start = time.perf_counter()
        simt.launch(plan.kernel, plan.grid, plan.block, *plan.args, check=check or (), engine=engine)
        best = min(best, time.perf_counter() - start)
    return best


def shadow(name: str) -> float:
    """Bytes of racecheck for each byte of the words that are touched."""
    plan = kernels.get(name).plan(SIZE, BLOCK, seed=0)
    _, sanitizer = judged(plan.kernel, plan.block, plan.args, grid=plan.grid)
    return sanitizer.shadow_bytes() / (4 * sanitizer.touched_words())


def main() -> None:
    names = [name for name in kernels.names() if kernels.get(name).group == "reduction" and "published" not in name]
    for check in CHECKS:
        seconds(names[0], check)  # compiles what it needs
    native = {name: seconds(name, "", "compiled") for name in names}
    print(f"{SIZE} elements, blocks of {BLOCK}; times the unchecked launch, shadow bytes a byte")
    print(
        f"{'kernel':24}{'seconds':>9}{'native':>9}" + "".join(f"{check:>11}" for check in CHECKS[1:]) + f"{'shadow':>8}"
    )
    for name in names:
        plain, *checked = (seconds(name, check) for check in CHECKS)
        ratios = "".join(f"{each / plain:11.2f}" for each in checked)
        print(f"{name:24}{plain:9.4f}{native[name]:9.4f}{ratios}{shadow(name):8.1f}", flush=True)


if __name__ == "__main__":
    main()
