"""The machine: executes Programs of either view; see engine.py for the loop and host.py for the entry point."""

from simt.machine.device_memory import Allocation, DeviceMemory, Snapshot, Unwritten
from simt.machine.host import run
from simt.machine.launch import DEFAULT_ENGINE, ENGINES, Bank, DeviceArray, Launch, dimensions
from simt.machine.outlook import TooLong
from simt.machine.result import RunResult, TraceRecords
from simt.machine.waiting import may_wait

__all__ = [
    "DEFAULT_ENGINE",
    "ENGINES",
    "Allocation",
    "Bank",
    "DeviceArray",
    "DeviceMemory",
    "Launch",
    "RunResult",
    "Snapshot",
    "TooLong",
    "TraceRecords",
    "Unwritten",
    "dimensions",
    "may_wait",
    "run",
]
