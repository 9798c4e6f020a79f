"""The seconds that the interpreter of another simt takes for the launches of engine_cases.py.

Run as a program, it is that other simt's: PYTHONPATH says where that is.  It knows trees up to commit 705aa81, whose
engine was started by :mod:`simt.machine.launch`, and later ones.
"""

from __future__ import annotations

import contextlib
import importlib.util
import io
import json
import os
import shutil
import statistics
import subprocess
import sys
import tarfile
import time
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np

ROOT = Path(__file__).parent.parent.parent
TIMES = 3
PACKAGES = {"elftools": "pyelftools"}
"""What packages of modules are called that simt once needed."""


class OlderTreeError(Exception):
    """There is no other tree to compare with, or it does not run; the text says why."""


def seconds_of(which: str, names: list[str]) -> dict[str, float]:
    """Seconds by case: of the tree in a folder, or of a revision of this repository."""
    from simt.disk_cache import cache_root

    others = cache_root() / "others"
    folder = _unpacked(which, others)
    environment = os.environ | {
        "PYTHONPATH": os.pathsep.join([str(folder), str(ROOT), os.environ.get("PYTHONPATH", "")]),
        "XDG_CACHE_HOME": str(others),
    }
    command = [sys.executable, "-m", __name__, *names]
    done = subprocess.run(command, env=environment, cwd=folder, capture_output=True, text=True)
    if done.returncode != 0:
        said = done.stderr.strip().splitlines()[-3:]
        missing = [f"  pip install {package}" for name, package in PACKAGES.items() if name in "".join(said)]
        raise OlderTreeError("\n".join([f"{which} does not run:", *said, *missing]))
    found: dict[str, float] = json.loads(done.stdout.splitlines()[-1])
    return found


def _unpacked(which: str, others: Path) -> Path:
    """A folder that holds the package simt of a tree and nothing else."""
    if (Path(which) / "simt").is_dir():
        folder = others / "tree"
        shutil.rmtree(folder, ignore_errors=True)
        shutil.copytree(Path(which) / "simt", folder / "simt")
        return folder
    if Path(which).is_dir():
        raise OlderTreeError(f"{which} holds no package simt")
    revision = _git("rev-parse", "--verify", "--quiet", "--end-of-options", f"{which}^{{commit}}", which=which)
    folder = others / revision.decode().strip()
    if not folder.is_dir():
        with tarfile.open(fileobj=io.BytesIO(_git("archive", folder.name, "simt", which=which))) as archive:
            archive.extractall(folder)
    return folder


def _git(*arguments: str, which: str) -> bytes:
    try:
        done = subprocess.run(["git", "-C", str(ROOT), *arguments], capture_output=True)
    except OSError as error:
        raise OlderTreeError(f"{which} is no folder, and for a revision git is needed: {error}") from error
    if done.returncode != 0:
        said = done.stderr.decode().strip() or f"{ROOT} has no such revision"
        raise OlderTreeError(f"{which} is neither a folder nor a revision: {said}")
    return done.stdout


class _MeasuredError(Exception):
    """The launch has been measured instead of run."""


def _median(make: Callable[[], Any], blocks: int) -> float:
    """Thread CPU time in which the engine runs blocks, each time from a new state."""
    from simt.machine.engine import run_blocks

    seconds = []
    for _ in range(TIMES + 1):
        state = make()
        start = time.thread_time()
        run_blocks(0, blocks, state)
        seconds.append(time.thread_time() - start)
    return statistics.median(seconds[1:])


def _measure(launch_of: Any) -> float:
    """Seconds of the engine for a launch that *launch_of* makes with a function like :func:`simt.launch`."""
    import simt

    found: list[float] = []
    stop = np.zeros(1, np.int64)

    def before(program: Any, launch: Any, *_: Any) -> None:
        at: Any = importlib.import_module("simt.machine.launch")
        found.append(_median(lambda: at.state_arrays(at.prepare(program, launch, 1), 0, 0, stop), launch.blocks))
        raise _MeasuredError

    def today(program: Any, launch: Any, *_: Any, **__: Any) -> None:
        at: Any = importlib.import_module("simt.machine.prepare")
        with where.Context().placed(program, launch) as placed:
            one, device = replace(placed.launch, threads=1), placed.memory
            found.append(
                _median(lambda: at.state_arrays(at.prepare(program, one, 1, device), 0, 0, stop), launch.blocks)
            )
        raise _MeasuredError

    old = importlib.util.find_spec("simt.machine.prepare") is None
    where: Any = importlib.import_module("simt.machine" if old else "simt.runtime")
    where.run = before if old else today
    with contextlib.suppress(_MeasuredError):
        launch_of(simt.launch)
    return found[0]


def main() -> None:
    try:
        from tests.benchmarks.engine_cases import cases

        known = cases()
        print(json.dumps({name: _measure(known[name].launch) for name in sys.argv[1:]}))
    except ModuleNotFoundError as error:
        name = (error.name or "").partition(".")[0]
        sys.exit(f"it needs the module {name}, which is not installed")


if __name__ == "__main__":
    main()
