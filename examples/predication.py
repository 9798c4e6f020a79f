"""Why a profiler may report 100 % branch efficiency for a kernel that is full of if/else.

You see four kernels that do the same work, as an unoptimised build runs them (branches) and as an optimising
compiler does (``predicate=4``: short bodies lose their branch, and lanes are switched off by a predicate).
The branches are gone, the idle lanes are not: look at the last column.
"""

import simt
from simt import kernels

KERNELS = ("even_odd", "whole_warp", "two_ifs", "c_precedence")


def main() -> None:
    print("kernel        predicate  branches  divergent  branch eff. %  idle lanes %")
    for name in KERNELS:
        for predicate in (0, 4):
            plan = kernels.get(name).plan()
            profile = simt.launch(plan.kernel, plan.grid, plan.block, *plan.args, predicate=predicate)
            counters = profile.counters
            efficiency = profile.metrics["branch_efficiency"]
            # No branch at all leaves nothing to divide by; profilers print that as 100 %.
            shown = 100.0 if efficiency is None else efficiency
            slots = 32 * counters["inst_executed"]
            idle = 100 * (1 - counters["pred_on_thread_inst_executed"] / slots)
            print(
                f"{name:14}{predicate:>10}{counters['branches']:>10}{counters['divergent_branches']:>11}"
                f"{shown:>15.1f}{idle:>14.1f}"
            )


if __name__ == "__main__":
    main()
