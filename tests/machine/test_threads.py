"""How many host threads a launch takes."""

from __future__ import annotations

import os
import subprocess
import sys
from typing import Any

import numpy as np
import pytest
from numba.core import config

from simt import kernels
from simt.check import LaunchError
from simt.lang import argument_types, compile
from simt.machine import Launch
from simt.machine.compiled.code import native_code
from simt.machine.device_memory import Words
from simt.machine.prepare import prepare
from simt.machine.team import Team
from simt.machine.threads import workers_for
from simt.runtime import Context
from simt.runtime.transfers import span
from tests.machine.test_compiled import shape

HOW_MANY = "from simt.machine.threads import workers_for; print(workers_for(None, 1000))"


@pytest.mark.skipif(not hasattr(os, "sched_setaffinity"), reason="needs Linux")
def test_no_more_threads_than_cores_that_the_process_may_use() -> None:
    """Whatever the computer has: in a container or under taskset, more of them would wait for each other."""
    one = min(os.sched_getaffinity(0))
    code = f"import os; os.sched_setaffinity(0, {{{one}}}); {HOW_MANY}"
    assert subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout == "1\n"
    assert workers_for(None, 1000) == len(os.sched_getaffinity(0))


def test_threads_that_are_asked_for() -> None:
    assert workers_for(7, 1000) == 7
    assert workers_for(7, 3) == 3
    with pytest.raises(LaunchError, match="threads must be at least 1, not 0"):
        workers_for(0, 3)


def test_workers_write_to_no_line_of_the_hosts_cache_that_another_looks_at() -> None:
    """Two workers with such lines took 10 to 20 % longer each than one alone."""
    plan = kernels.get("shared").plan(size=2000, block=96)
    program = compile(plan.kernel, argument_types(plan.args))
    options: dict[str, Any] = {"arguments": plan.args, **shape(plan)}
    launch = Launch(**options)
    others = {"DIMS", "TARGETS", "TID", "STARTS", "ENDS", "WRITABLE", "TEXTURES", "CODE", "ZEROED", "WORK", "SHARED"}
    others |= {
        "TRACE",
        "VALUES",
        "REACHED",
        *Words._fields,
    }  # read only, of blocks of their own, in device memory, of one worker, or written once
    with Context().placed(program, launch) as placed:
        team = Team(prepare(program, placed.launch, 2, placed.memory), 2, together=False)
        state = team.states[0]
        if not config.DISABLE_JIT:
            state = native_code(program).equip(state)
        for name, array in zip(state._fields, state, strict=True):
            if name not in others:
                owner = array
                while isinstance(owner.base, np.ndarray):
                    owner = owner.base
                (first, end), (low, high) = span(array), span(owner)
                assert low <= first // 128 * 128, name
                assert -(-end // 128) * 128 <= high, name
