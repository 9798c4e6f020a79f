"""How many host threads a launch takes."""

from __future__ import annotations

import os
import subprocess
import sys

import pytest

from simt.check import LaunchError
from simt.machine.threads import workers_for

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
