"""Simulations of launches whose arguments are host arrays."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

from simt import timing
from simt.devices import Gpu
from simt.machine import Launch
from simt.options import Timing
from simt.program import Program
from simt.runtime import Context
from simt.timing import MachineInstruction, TimingResult

CONTEXT = Context()


def simulate(
    program: Program,
    launch: Launch,
    device: Gpu,
    *,
    context: Context | None = None,
    copy_back: bool = False,
    code: Sequence[MachineInstruction] | None = None,
    **options: Any,
) -> TimingResult:
    """Simulate a launch; with ``copy_back`` its arrays change, as far as the blocks of the simulated SMs change them.

    ``context``: where a kernel's variables are; ``options``: fields of :class:`~simt.options.Timing`, of which the
    host's seconds are not limited here.
    """
    how = Timing(**{"max_host_seconds": math.inf, **options})
    with (context or CONTEXT).placed(program, launch) as placed:
        result = timing.simulate(program, placed.launch, device, placed.memory, how, code)
        if copy_back:
            placed.upload.download()
    return result
