"""Profiles that pages are made of."""

from __future__ import annotations

from collections.abc import Mapping
from functools import cache
from typing import Any

import numpy as np

import simt
from simt import kernels
from simt.profile import Profile
from simt.reasons import Accesses, accesses_of


def _plan(name: str) -> kernels.LaunchPlan:
    kernel = kernels.get(name)
    return kernel.plan(*((256, 64) if kernel.group == "reduction" else ()))


@cache
def profiled(name: str, timing: bool = False) -> Profile:
    """A traced launch of a kernel of the registry, with its timeline if it is timed."""
    plan = _plan(name)
    more: dict[str, Any] = {"timing": True, "window": (0, 5000)} if timing else {}
    return simt.launch(plan.kernel, plan.grid, plan.block, *plan.args, trace=(0, 0), **more)


@cache
def accesses(name: str) -> Accesses:
    """What its first warp loads and stores."""
    plan = _plan(name)
    return accesses_of(plan.kernel, plan.grid, plan.block, *plan.args)


HOSTILE = "</script><script>alert(1)</script><img src=x onerror=alert(2)> & \u2028"


def hostile() -> Mapping[str, Any]:
    """A saved profile whose texts would be scripts in a page that does not escape them."""
    saved = profiled("if_else").to_dict()
    saved["kernel"] = HOSTILE
    saved["notes"] = [HOSTILE]
    saved["metrics"] = {**saved["metrics"], HOSTILE: 1}
    saved["lines"] = [{**line, "text": HOSTILE, "function": HOSTILE, "file": HOSTILE} for line in saved["lines"]]
    return saved


def hostile_launch() -> Profile:
    """A traced launch of a kernel whose source has markup in it."""

    def markup(out):
        out[0] = 1  # </script><script>alert(1)</script> <!-- <script> <img src=x onerror=alert(2)>

    return simt.launch(markup, 1, 32, np.zeros(1, np.int32), trace=(0, 0))
