"""Nsight Compute in a subprocess: find it, run it, read its CSV pages."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import tempfile
from collections.abc import Sequence
from pathlib import Path

from gpu import jobs
from gpu.errors import ProfilerError
from simt.profile.ncu_pages import Report, parse

USUAL_PLACES = ("/usr/local/cuda/bin/ncu", "/opt/nvidia/nsight-compute/ncu")
"""Where installers put ncu when it is not on the PATH."""

COLLECT = (
    "--set", "full", "--import-source", "yes",
    "--clock-control", "none", "--cache-control", "none",
    "--profile-from-start", "off", "--target-processes", "all",
)  # fmt: skip
"""Every section, so that the source page has its counts per instruction; clocks and caches as they are."""

TIMEOUT = 900.0
"""Seconds for one profiled process: each launch is replayed some forty times."""

_PROBLEMS = (
    (
        r"ERR_NVGPUCTRPERM|permission",
        "this user may not read the GPU's performance counters",
        "an administrator sets NVreg_RestrictProfilingToAdminUsers=0 (kernel module nvidia), or run as root",
    ),
    (
        r"[Dd]river.*(not compatible|too old|not supported|insufficient)|LibraryNotLoaded",
        "the driver does not fit this Nsight Compute, or cannot be profiled here",
        "install an Nsight Compute no newer than the driver; some virtual machines hide the counters",
    ),
    (
        r"[Dd]evice.*not supported|unsupported GPU|is not supported on this device",
        "this Nsight Compute does not support the GPU",
        "GPUs before compute capability 7.0 need nvprof or an older Nsight Compute",
    ),
    (
        r"No kernels were profiled",
        "nothing was profiled",
        "the kernel was not launched; run it with gpu.launch first",
    ),
)


def find() -> str:
    """The path of ncu.  ProfilerError if there is none."""
    for place in (shutil.which("ncu"), *USUAL_PLACES):
        if place and os.access(place, os.X_OK):
            return place
    raise ProfilerError(
        "Nsight Compute (ncu) was not found",
        help="install it (it comes with the CUDA toolkit) and put ncu on the PATH; gpu.launch works without",
    )


def version(ncu: str) -> str:
    """``Nsight Compute 2025.3.1`` or similar."""
    said = subprocess.run([ncu, "--version"], capture_output=True, text=True, check=False).stdout
    match = re.search(r"Version ([\d.]+)", said)
    return f"Nsight Compute {match.group(1)}" if match else "Nsight Compute"


def collect(todo: Sequence[jobs.Job], timeout: float = TIMEOUT) -> tuple[list[Report], list[jobs.Outcome]]:
    """Profile the jobs, one process for all of them; one report and one outcome each.

    Raises ProfilerError with ncu's own words and what to do.
    """
    ncu = find()
    with tempfile.TemporaryDirectory(prefix="simt-ncu-") as folder:
        report = Path(folder) / "report.ncu-rep"
        prefix = [ncu, *COLLECT, "--force-overwrite", "--export", str(report)]
        try:
            outcomes, process = jobs.run("profile", todo, prefix=prefix, timeout=timeout)
        except subprocess.TimeoutExpired:
            raise ProfilerError(f"profiling took more than {timeout:g} s", help="profile a smaller launch") from None
        failed = next((outcome.error for outcome in outcomes if outcome.error), "")
        if not report.is_file() or failed or len(outcomes) < len(todo):
            raise explain(process.stdout + process.stderr, failed)
        raw = _page(ncu, report, "raw")
        source = _page(ncu, report, "source", "--print-source", "sass")
        lines = _page(ncu, report, "source", "--print-source", "cuda,sass")
    reports = parse(raw, source, lines)
    for each in reports:
        each.version = version(ncu)
    if len(reports) != len(todo):
        raise ProfilerError(f"ncu reported {len(reports)} launches instead of {len(todo)}")
    return reports, outcomes


def explain(output: str, failed: str = "") -> ProfilerError:
    """The error that ncu's *output* (or the runner's, *failed*) stands for."""
    said = [line.strip() for line in output.splitlines() if "==ERROR==" in line or "==WARNING==" in line]
    for pattern, title, help in _PROBLEMS:
        if any(re.search(pattern, line) for line in said):
            return ProfilerError(title, details=said[:4], help=help)
    plain = [line for line in output.strip().splitlines() if not line.startswith("==PROF==")]
    details = [failed] if failed else (said + plain[-4:])[:6]
    return ProfilerError("the profiled process failed", details=details, help="try the launch with gpu.launch first")


def _page(ncu: str, report: Path, page: str, *options: str) -> str:
    command = [ncu, "--import", str(report), "--page", page, "--csv", "--print-units", "base", *options]
    done = subprocess.run(command, capture_output=True, text=True, errors="replace", check=False)
    if done.returncode != 0:
        raise explain(done.stdout + done.stderr)
    return done.stdout
