"""Every function that the system has for code on the device, declared once: how it is called, and what serves it."""

from __future__ import annotations

import struct
from collections.abc import Callable, Sequence
from dataclasses import dataclass

from simt.check import OutOfBoundsError
from simt.machine.services import SystemCall
from simt.ops.encoding import LOCAL_WINDOW
from simt.system import copies, launches, memory, output
from simt.system.grid import Grid

Serve = Callable[[Grid, SystemCall, Sequence[Sequence[int]]], list[int] | None]
"""Serves a call: its arguments by lane; what it returns by lane, if it does."""

_WORDS = {"i": 1, "p": 2, "3": 3}
_STACK_POINTER, _FIRST, _REGISTERS = 1, 4, 12
"""CUDA's calling convention, as nvcc 13.0 has it: R1 points to the stack, the first 12 words of arguments are in R4 to
R15, further ones on the stack.  The rows of a call begin with R1."""
GRID_SYNC = "cudaCGSynchronize"
"""Called by all threads of a grid; whoever lowers the call has them meet before it is served."""
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
        """Registers of a call from machine code, R1 the first: 64 bits take an even pair."""
        words = max(min(self._end(), _REGISTERS), _WORDS.get(self.result, 0))
        return _FIRST - _STACK_POINTER + words

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
        return [self._of_lane(self._words(call, lane)) for lane in call.lanes]

    def _words(self, call: SystemCall, lane: int) -> list[int]:
        """The words of a lane's arguments: 12 from registers, further ones from the stack."""
        pointer, _, _, *words = (int(row[lane]) & MASK for row in call.rows)
        size = 4 * max(self._end() - _REGISTERS, 0)
        stack = call.read(lane, LOCAL_WINDOW + pointer, size) if size else b""
        if stack is None:
            raise call.error(
                OutOfBoundsError, f"the arguments of {self.name} are not on the stack", [lane], [f"R1 is {pointer:#x}"]
            )
        return [*words, *(word for (word,) in struct.iter_unpack("<I", stack))]

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
        first = _FIRST - _STACK_POINTER
        for lane, value in zip(call.lanes, results, strict=True):
            call.rows[first, lane] = value & MASK
            if self.result == "p":
                call.rows[first + 1, lane] = value >> 32


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
        Function("cudaCGGetIntrinsicHandle", "i", "p", launches.group, replaces=True),
        Function(GRID_SYNC, "pi", "i", launches.meet, replaces=True),
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
        *_device_runtime("MemcpyAsync", "pppip", "i", copies.copy),
        *_device_runtime("Memcpy2DAsync", "ppppppip", "i", copies.copy_2d),
        *_device_runtime("MemsetAsync", "pipp", "i", copies.fill),
        *_device_runtime("Memset2DAsync", "ppippp", "i", copies.fill_2d),
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
