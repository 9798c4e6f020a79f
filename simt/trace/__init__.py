"""What a warp did, lane by lane and line by line; and the counters again, from the trace alone."""

from simt.trace.replay import replay_counters
from simt.trace.steps import Pass, Step
from simt.trace.trace import Trace

__all__ = ["Pass", "Step", "Trace", "replay_counters"]
