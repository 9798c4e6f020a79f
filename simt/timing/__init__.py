"""Cycle-level timing: who issues when, who waits for what, on a modelled GPU."""

from simt.metrics.stalls import Reason
from simt.timing.parameters import PARAMETERS, SECTION, Parameters, parameters
from simt.timing.result import TimingResult
from simt.timing.schedule import MachineInstruction
from simt.timing.simulate import check_options, simulate
from simt.timing.sweep import NoSizeRanError, Sweep, sweep
from simt.timing.timed_run import TimedRun
from simt.timing.timeline import Timeline, spans, trace_events, write_trace

__all__ = [
    "PARAMETERS",
    "SECTION",
    "MachineInstruction",
    "NoSizeRanError",
    "Parameters",
    "Reason",
    "Sweep",
    "TimedRun",
    "Timeline",
    "TimingResult",
    "check_options",
    "parameters",
    "simulate",
    "spans",
    "sweep",
    "trace_events",
    "write_trace",
]
