"""Where and with what evidence was recorded; goes into every evidence file."""

from __future__ import annotations

import datetime
import platform
from typing import Any

from gpu import driver, ncu
from gpu.errors import ProfilerError
from gpu.hardware import devices


def provenance(module: str) -> dict[str, Any]:
    """Date, devices, driver, versions and the command, as JSON takes them."""
    try:
        profiler = ncu.version(ncu.find())
    except ProfilerError:
        profiler = ""
    return {
        "date": datetime.date.today().isoformat(),
        "command": f"python -m {module}",
        "devices": [f"{each.name} ({each.architecture}, {each.multiprocessors} SMs)" for each in devices()],
        "python": platform.python_version(),
        "versions": driver.versions(),
        "profiler": profiler,
    }
