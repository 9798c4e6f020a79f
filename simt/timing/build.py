"""Run as a program, this compiles the engine and the timing model, as :mod:`simt.runtime.build` does the engine."""

from __future__ import annotations

from simt.devices import get
from simt.machine.early import ENGINE
from simt.options import Timing
from simt.runtime.build import LAUNCH, NOTHING
from simt.runtime.context import run
from simt.timing.simulate import CLOCK
from simt.timing.timed_run import TimedRun

if __name__ == "__main__":
    ENGINE.elsewhere = CLOCK.elsewhere = False
    run(NOTHING, LAUNCH, second=TimedRun(NOTHING, LAUNCH, get("h200"), None, Timing()))
