"""Both halves of the engine with bounds checks: no index goes astray, and results and cycles are the same."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from numba.core import config

from tests.machine import checked_suite, small_programs

ROOT = Path(__file__).parents[2]


@pytest.mark.skipif(bool(config.DISABLE_JIT), reason="NumPy checks every index")
@pytest.mark.slow
@pytest.mark.timeout(1800)  # compiles the engine anew: 85 s of one core, without optimisation
def test_no_index_goes_astray(tmp_path: Path) -> None:
    """With NUMBA_BOUNDSCHECK=1 a bad index is an IndexError, in a mutant the outcome "inside"."""
    environment = {**os.environ, "NUMBA_BOUNDSCHECK": "1", "NUMBA_OPT": "0", "XDG_CACHE_HOME": str(tmp_path)}
    process = subprocess.run(
        [sys.executable, "-m", "tests.machine.checked_suite"],
        cwd=ROOT,
        env=environment,
        capture_output=True,
        text=True,
        check=False,
    )
    assert process.returncode == 0, process.stderr
    found: dict[str, Any] = json.loads(process.stdout.splitlines()[-1])
    assert found["armed"] == "IndexError"
    assert set(found["mutants"].values()) == {"result", "refused"}
    assert found["timed"] == checked_suite.timed()
    assert found["images"] > len(checked_suite.CUBES)
    assert found["called"] == checked_suite.called()
    ours = json.loads(json.dumps(small_programs.report()))
    for part in ("control", "memory", "errors", "source"):
        assert found["small"][part] == ours[part], part
    assert found["small"]["alu"]["exact"] == ours["alu"]["exact"]
