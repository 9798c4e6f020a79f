"""Every function that the system has for code on the device, declared once: how it is called, and what serves it."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from simt.machine.services import SystemCall
from simt.system import launches, memory, output
from simt.system.grid import Grid

Serve = Callable[[Grid, SystemCall, Sequence[Sequence[int]]], list[int] | None]
"""Serves a call: its arguments by lane; what it returns by lane, if it does."""

_WORDS = {"i": 1, "p": 2, "3": 3}
MASK = (1 << 32) - 1
WIDE = (1 << 64) - 1


@dataclass(frozen=True)
class Function:
    """A function of the system.

    ``parameters``: one letter each: ``i`` 32 bits, ``p`` 64 bits (pointers, sizes), ``3`` a ``dim3``; ``*``: as many
    rows of 64 bits as the caller says.  ``result``: ``i``, ``p`` or nothing.  ``replaces``: it stands in for the
    function of this name in a file that has been linked with NVIDIA's device runtime.
    """

    name: str
    parameters: str
    result: str
    serve: Serve
    replaces: bool = False

    @property
    def rows(self) -> int:
        """Rows of arguments and results in CUDA's calling convention: a register each, 64 bits in an even pair."""
        return max(self._end(), _WORDS.get(self.result, 0), 1)

    @property
    def is_open(self) -> bool:
        """Whether the caller says how many arguments there are: one of Python's, not of CUDA's calling convention."""
        return self.parameters == "*"

    def _end(self) -> int:
        at = 0
        for letter in self.parameters:
            at = (at + 1) // 2 * 2 + 2 if letter == "p" else at + _WORDS[letter]
        return at

    def arguments(self, call: SystemCall) -> list[list[int]]:
        """The arguments of each lane."""
        if self.is_open:
            return [[int(row[lane]) & WIDE for row in call.rows] for lane in call.lanes]
        return [self._of_lane([int(row[lane]) & MASK for row in call.rows]) for lane in call.lanes]

    def _of_lane(self, words: Sequence[int]) -> list[int]:
        at = 0
        found = []
        for letter in self.parameters:
            if letter == "p":
                at = (at + 1) // 2 * 2
                found.append(words[at] | words[at + 1] << 32)
                at += 2
            else:
                count = _WORDS[letter]
                found += words[at : at + count]
                at += count
        return found

    def put(self, call: SystemCall, results: Sequence[int]) -> None:
        """Give each lane what the function returns."""
        for lane, value in zip(call.lanes, results, strict=True):
            call.rows[0, lane] = value & MASK
            if self.result == "p":
                call.rows[1, lane] = value >> 32


def _device_runtime(name: str, parameters: str, result: str, serve: Serve) -> list[Function]:
    """A function of both generations of the device runtime, with and without a default stream for each thread."""
    names = [f"{prefix}{name}{suffix}" for prefix in ("cuda", "__cudaCDP2") for suffix in ("", "_ptsz")]
    return [Function(each, parameters, result, serve, replaces=True) for each in names]


FUNCTIONS = {
    function.name: function
    for function in [
        Function("vprintf", "pp", "i", output.vprintf),
        Function("print", "*", "", output.print_slots),
        Function("__assertfail", "ppipp", "", output.assertfail),
        Function("malloc", "p", "p", memory.malloc),
        Function("free", "p", "", memory.free),
        Function("cudaDeviceSynchronize", "", "i", launches.synchronize, replaces=True),
        Function("__cudaDeviceSynchronizeDeprecationAvoidance", "", "i", launches.synchronize, replaces=True),
        *_device_runtime("GetParameterBufferV2", "p33i", "p", launches.parameter_buffer),
        *_device_runtime("GetParameterBuffer", "pp", "p", launches.plain_buffer),
        *_device_runtime("LaunchDeviceV2", "pp", "i", launches.launch_prepared),
        *_device_runtime("LaunchDevice", "pp33ip", "i", launches.launch),
        *_device_runtime("GetLastError", "", "i", launches.last_error),
        *_device_runtime("PeekAtLastError", "", "i", launches.peek_error),
        *_device_runtime("StreamCreateWithFlags", "pi", "i", launches.create),
        *_device_runtime("StreamDestroy", "p", "i", launches.nothing),
        *_device_runtime("StreamWaitEvent", "ppi", "i", launches.nothing),
        *_device_runtime("EventCreateWithFlags", "pi", "i", launches.create),
        *_device_runtime("EventRecord", "pp", "i", launches.nothing),
        *_device_runtime("EventRecordWithFlags", "ppi", "i", launches.nothing),
        *_device_runtime("EventDestroy", "p", "i", launches.nothing),
        *_device_runtime("GetDevice", "p", "i", launches.device_number),
        *_device_runtime("GetDeviceCount", "p", "i", launches.device_count),
        *_device_runtime("DeviceGetLimit", "pi", "i", launches.device_limit),
        *_device_runtime("Malloc", "pp", "i", memory.cuda_malloc),
        *_device_runtime("Free", "p", "i", memory.cuda_free),
    ]
}
"""By name.  The names and parameters of the device runtime are those of ``cuda_device_runtime_api.h``."""


def _served_by(*serve: Serve) -> frozenset[str]:
    return frozenset(name for name, function in FUNCTIONS.items() if function.serve in serve)


ALLOCATING = _served_by(memory.malloc, memory.free, memory.cuda_malloc, memory.cuda_free)
"""Those that need a heap."""

_LAUNCHING = _served_by(launches.parameter_buffer, launches.plain_buffer)


def serves(name: str, in_file: bool) -> bool:
    """Whether the system serves a call of *name* in machine code; *in_file*: the file has code for it."""
    function = FUNCTIONS.get(name)
    return function is not None and not function.is_open and (function.replaces or not in_file)


def launches_grids(functions: Sequence[str]) -> bool:
    """Whether code that calls these functions launches grids."""
    return not _LAUNCHING.isdisjoint(functions)
