"""2**20 lanes that all take their own path and their own time."""

from __future__ import annotations

import simt
from simt import kernels


def main() -> None:
    entry = kernels.get("collatz")
    small = entry.plan(1024)
    simt.launch(small.kernel, small.grid, small.block, *small.args)
    plan = entry.plan(2**20)
    profile = simt.launch(plan.kernel, plan.grid, plan.block, *plan.args)
    executed = profile.counters["inst_executed"]
    print(f"{2**20} lanes: {profile.seconds:.2f} s, {executed} warp instructions")
    print(f"{executed / profile.seconds / 1e6:.1f} million warp instructions/s")
    print(f"warp execution efficiency {profile.metrics['warp_execution_efficiency']:.1f} %")


if __name__ == "__main__":
    main()
