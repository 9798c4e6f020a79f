"""Simulations of launches whose arguments are host arrays."""

from __future__ import annotations

from typing import Any

from simt import timing
from simt.devices import Gpu
from simt.machine import Launch
from simt.program import Program
from simt.runtime import Context
from simt.timing import TimingResult

CONTEXT = Context()


def simulate(
    program: Program,
    launch: Launch,
    device: Gpu,
    *,
    context: Context | None = None,
    copy_back: bool = False,
    **options: Any,
) -> TimingResult:
    """Simulate a launch; with ``copy_back`` its arrays change, as far as the blocks of the simulated SMs change them.

    ``context``: where a kernel's variables are.
    """
    with (context or CONTEXT).placed(program, launch) as placed:
        result = timing.simulate(program, placed.launch, device, placed.memory, **options)
        if copy_back:
            placed.upload.download()
    return result
