"""Findings: what can be wrong with a kernel or a launch, and how it is told."""

from simt.check.errors import (
    BarrierError,
    BudgetError,
    DeadlockError,
    KernelError,
    LaunchError,
    Location,
    MisalignedError,
    OutOfBoundsError,
    RaceError,
    SimtError,
    TrapError,
    UnsupportedError,
    check_file,
    lanes_text,
    render,
    suggestion,
)

__all__ = [
    "BarrierError",
    "BudgetError",
    "DeadlockError",
    "KernelError",
    "LaunchError",
    "Location",
    "MisalignedError",
    "OutOfBoundsError",
    "RaceError",
    "SimtError",
    "TrapError",
    "UnsupportedError",
    "check_file",
    "lanes_text",
    "render",
    "suggestion",
]
