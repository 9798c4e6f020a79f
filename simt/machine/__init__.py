"""The machine: executes Programs of either view; see engine.py for the loop and host.py for the entry point."""

from simt.machine.host import run
from simt.machine.launch import Launch, dimensions
from simt.machine.result import RunResult, TraceRecords

__all__ = ["Launch", "RunResult", "TraceRecords", "dimensions", "run"]
