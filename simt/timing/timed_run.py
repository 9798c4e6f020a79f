"""A launch with its time: the functional run for results and counts, and the simulation beside it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace

from simt import machine
from simt.devices import Device
from simt.program import Program
from simt.timing.result import TimingResult
from simt.timing.schedule import MachineInstruction
from simt.timing.simulate import check, simulate


def timed_run(
    program: Program,
    launch: machine.Launch,
    device: Device,
    *,
    code: Sequence[MachineInstruction] | None,
    sms: str | int,
    max_host_seconds: float,
    overrides: Mapping[str, float] | None,
    window: tuple[int, int] | None,
) -> tuple[machine.RunResult, TimingResult]:
    """Run a launch as without timing, and cycle by cycle; results and counts are those of the former.

    The parameters, and what is raised, are those of :func:`simulate`; ``launch.progress`` hears of both runs.
    """
    check(program, launch, device, sms, overrides)  # what cannot be is said before anything runs
    times: list[TimingResult] = []

    def clock() -> None:
        # The arrays are still as the caller gave them, and the kernel has proved right.
        times.append(
            simulate(
                program,
                replace(launch, trace=False, races=False),
                device,
                code=code,
                sms=sms,
                max_host_seconds=max_host_seconds,
                overrides=overrides,
                window=window,
                progress=launch.progress,
            )
        )

    result = machine.run(program, launch, before_copy=clock)
    return result, times[0]
