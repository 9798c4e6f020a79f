"""With an empty cache the first answers come before the engine is compiled, and are the same."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest
from numba.core import config

from tests.cli.conftest import Outcome

ROOT = Path(__file__).parents[2]

pytestmark = pytest.mark.skipif(bool(config.DISABLE_JIT), reason="nothing is compiled")

COLD = """
import sys
from simt.__main__ import main
from simt.machine.early import ENGINE
from simt.ops import jit
try:
    main()
finally:
    print(ENGINE.compiled, jit.is_compiled("engine.run_blocks"), ENGINE._process.poll())
    ENGINE._process.kill()
"""


@pytest.mark.parametrize(
    "command",
    [
        ["trace", "if_else"],
        ["run", "neighbored", "--size", "256"],
        ["run", "if_else", "--timing", "--device", "h200"],
    ],
    ids=["trace", "run", "timing"],
)
def test_with_an_empty_cache_the_answer_comes_before_the_engine(
    command: list[str], tmp_path: Path, run: Callable[..., Outcome]
) -> None:
    process = subprocess.run(
        [sys.executable, "-c", COLD, *command],
        cwd=ROOT,
        env={**os.environ, "XDG_CACHE_HOME": str(tmp_path)},
        capture_output=True,
        text=True,
        check=False,
    )
    answer, _, state = process.stdout.rstrip().rpartition("\n")
    assert state == "False False None", process.stderr  # neither compiled nor given up
    assert "in the background (once; until then it runs as plain Python, slowly)" in process.stderr
    assert answer.rstrip() == run(*command).out.rstrip()
