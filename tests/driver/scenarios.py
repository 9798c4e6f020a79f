"""Running a scenario of tests/driver/program.c, and what it printed."""

from __future__ import annotations

import os
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path

from simt.driver import Finished, Settings, run_program

CUBIN = Path(__file__).parent.parent / "data" / "programs" / "kernels.cubin"
LONGEST = 120.0


@dataclass(frozen=True)
class Ran:
    """How a scenario ended, its lines, and what it wrote to standard error."""

    finished: Finished
    lines: list[str]
    errors: list[str]


def run(program: Path, scenario: str, folder: Path, settings: Settings | None = None, cubin: Path = CUBIN) -> Ran:
    """Run a scenario here; its output goes through files in *folder*."""
    output, errors = folder / "output", folder / "errors"
    script = 'exec "$0" "$@" > "$OUTPUT" 2> "$ERRORS"'
    os.environ |= {"OUTPUT": str(output), "ERRORS": str(errors)}
    finished = run_program(["/bin/sh", "-c", script, str(program), str(cubin), scenario], settings or Settings())
    return Ran(finished, output.read_text().splitlines(), errors.read_text().splitlines())


def start(program: Path, scenario: str, *options: str) -> subprocess.Popen[str]:
    """``simt exec`` of a scenario in a process group of its own."""
    command = [sys.executable, "-m", "simt", "exec", *options, str(program), str(CUBIN), scenario]
    return subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, start_new_session=True)
