"""The second run of a timed launch: the functional one gives results and counts, this one the time."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace

from simt.devices import Gpu
from simt.machine import DeviceMemory, Launch, RunResult
from simt.options import Timing
from simt.program import Program
from simt.timing.result import TimingResult
from simt.timing.schedule import MachineInstruction
from simt.timing.simulate import CLOCK, check, simulate


class TimedRun:
    """Runs a launch cycle by cycle when it is called, and keeps what it found in ``result``.

    ``code`` is as for :func:`simulate`.  Impossible settings raise DeviceError or LaunchError when
    it is made, before anything runs.
    """

    result: TimingResult

    def __init__(
        self,
        program: Program,
        launch: Launch,
        device: Gpu,
        code: Sequence[MachineInstruction] | None,
        options: Timing,
    ) -> None:
        check(program, launch, device, options)
        CLOCK.begin()
        self.program = program
        self.device = device
        self.code = code
        self.options = options

    def __call__(self, launch: Launch, memory: DeviceMemory, functional: RunResult, rewind: Callable[[], None]) -> None:
        """Simulate *launch*, whose arrays *memory* holds and of which *functional* came; its progress is called.

        *rewind* has *memory* as it is now once more.
        """
        self.result = simulate(
            self.program,
            replace(launch, trace=False, watch=None),
            self.device,
            memory,
            self.options,
            self.code,
            functional.work,
            rewind,
            functional.reached,
            functional.executed,
        )
