"""The device runtime: launches from code on the device, its streams and events, its errors.

Two generations of it: CDP2 (functions ``__cudaCDP2...``, all that CUDA 12 and later compile for sm_90) and CDP1
(``cuda...``), in which a kernel may wait for its children.  Error codes are those of ``cudaError_t``; which error comes
when is as measured on an H200 (tests/data/system).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from simt.check import OutOfBoundsError
from simt.machine.launch import MAX_BLOCK, MAX_GRID, MAX_SHARED_BYTES, MAX_THREADS_PER_BLOCK
from simt.machine.services import SystemCall
from simt.system.grid import Child, Grid
from simt.system.world import NESTING, Request

INVALID_VALUE, INVALID_CONFIGURATION = 1, 9
MAX_DEPTH_EXCEEDED, SYNC_DEPTH_EXCEEDED, PENDING_EXCEEDED = 65, 68, 69
NOT_SUPPORTED = 801
GRID_SCOPE = 1
"""cudaCGScopeGrid."""
TAIL = 3
"""cudaStreamTailLaunch: its launches run when the grid and all its other launches have ended."""
_SECOND = "__cudaCDP2"
_CREATED = 0x100
"""Handle of every stream and event that the device creates: launches run in their order anyway."""
_STREAMS = frozenset((0, 1, 2, TAIL, 4, _CREATED))
"""The default streams, the tail launches, cudaStreamFireAndForget, and those created."""

Arguments = Sequence[Sequence[int]]


def _thread(call: SystemCall, lane: int) -> tuple[int, int]:
    return call.block, call.warp * 32 + lane


def fail(grid: Grid, call: SystemCall, lane: int, error: int) -> int:
    """Keep *error* as the last one of a thread; returns it."""
    if error:
        grid.errors[_thread(call, lane)] = error
    return error


def is_stream(handle: int) -> bool:
    """Whether a handle stands for a stream."""
    return handle in _STREAMS


def waits_for_grid(call: SystemCall, stream: int) -> bool:
    """Whether what a call puts into a stream waits until the grid, and all that it launches, has ended."""
    return stream == TAIL and call.function.startswith(_SECOND)


def meet(grid: Grid, call: SystemCall, arguments: Arguments) -> list[int]:
    """``cudaError_t cudaCGSynchronize(unsigned long long group, unsigned flags)``, after the barrier of the grid."""
    return [0 for _ in call.lanes]


def group(grid: Grid, call: SystemCall, arguments: Arguments) -> list[int]:
    """``unsigned long long cudaCGGetIntrinsicHandle(cudaCGScope)``: the grid's; 0 for a group of several GPUs."""
    return [GRID_SCOPE if scope == GRID_SCOPE else 0 for (scope,) in arguments]


def _problem(grid: Grid, call: SystemCall, request: Request) -> int:
    """The error with which a launch is refused; 0 if it can be."""
    sizes = [*zip(request.grid, MAX_GRID, strict=True), *zip(request.block, MAX_BLOCK, strict=True)]
    x, y, z = request.block
    shared = request.kernel.shared_bytes + request.shared_bytes
    if any(not 1 <= size <= most for size, most in sizes) or x * y * z > MAX_THREADS_PER_BLOCK:
        return INVALID_CONFIGURATION
    if request.kernel.required_block not in (None, request.block):
        return INVALID_CONFIGURATION
    if shared > MAX_SHARED_BYTES:
        return INVALID_CONFIGURATION
    if not call.function.startswith(_SECOND) and grid.depth >= NESTING:
        return MAX_DEPTH_EXCEEDED
    return PENDING_EXCEEDED if grid.is_full else 0


def _request(grid: Grid, call: SystemCall, lane: int, values: Sequence[int]) -> Request:
    """The launch that a function, a grid, a block and bytes of shared memory stand for."""
    address, *sizes = values
    kernel = grid.world.kernel_at(address)
    if kernel is None:
        what = "a null pointer" if address == 0 else f"{address:#x}, where no kernel of this module is"
        raise call.error(
            OutOfBoundsError, f"a launch of {what}", [lane], help="on an H200 this is an illegal memory access"
        )
    return Request(kernel, (sizes[0], sizes[1], sizes[2]), (sizes[3], sizes[4], sizes[5]), sizes[6])


def parameter_buffer(grid: Grid, call: SystemCall, arguments: Arguments) -> list[int]:
    """``void *...GetParameterBufferV2(void *kernel, dim3 grid, dim3 block, unsigned shared_bytes)``.

    Null, with a last error, for an invalid launch; code then skips the launch.
    """
    results = []
    for lane, values in zip(call.lanes, arguments, strict=True):
        request = _request(grid, call, lane, values)
        error = fail(grid, call, lane, _problem(grid, call, request))
        address = 0 if error else _buffer(grid, call, lane, request.kernel.parameter_bytes)
        if address:
            grid.prepared[address] = request
        elif not error:
            fail(grid, call, lane, PENDING_EXCEEDED)
        results.append(address)
    return results


def launch_prepared(grid: Grid, call: SystemCall, arguments: Arguments) -> list[int]:
    """``cudaError_t ...LaunchDeviceV2(void *parameters, cudaStream_t)``."""
    results = []
    for lane, (address, stream) in zip(call.lanes, arguments, strict=True):
        request = grid.prepared.pop(address, None)
        if request is None:
            results.append(fail(grid, call, lane, INVALID_VALUE))
            continue
        results.append(_launch(grid, call, lane, request, address, stream))
        grid.buffers(call).free(address)
    return results


def plain_buffer(grid: Grid, call: SystemCall, arguments: Arguments) -> list[int]:
    """``void *...GetParameterBuffer(size_t alignment, size_t size)``: the launch says later what it is for."""
    return [_buffer(grid, call, lane, size) for lane, (_, size) in zip(call.lanes, arguments, strict=True)]


def _buffer(grid: Grid, call: SystemCall, lane: int, size: int) -> int:
    """The address of room for the parameters of a launch; 0 if there is none left."""
    address = grid.buffers(call).allocate(max(size, 1))
    if address:
        call.gave(lane, address, size)
    return address


def launch(grid: Grid, call: SystemCall, arguments: Arguments) -> list[int]:
    """``cudaError_t ...LaunchDevice(kernel, parameters, grid, block, shared_bytes, stream)``."""
    results = []
    for lane, (kernel, address, *sizes, stream) in zip(call.lanes, arguments, strict=True):
        request = _request(grid, call, lane, [kernel, *sizes])
        error = fail(grid, call, lane, _problem(grid, call, request))
        results.append(error or _launch(grid, call, lane, request, address, stream))
    return results


def _launch(grid: Grid, call: SystemCall, lane: int, request: Request, address: int, stream: int) -> int:
    if not is_stream(stream):
        return fail(grid, call, lane, INVALID_VALUE)
    tail = waits_for_grid(call, stream)
    if tail and grid.is_full:
        return fail(grid, call, lane, PENDING_EXCEEDED)
    size = request.kernel.parameter_bytes
    data = call.read(lane, address, size) if size else b""
    if data is None:
        raise call.error(
            OutOfBoundsError,
            f"the parameters of {request.kernel.name} are not in memory",
            [lane],
            [f"{size} bytes at address {address:#x}"],
        )
    grid.queue(Child(replace(request, parameters=data), call.block, tail))
    return 0


def synchronize(grid: Grid, call: SystemCall, arguments: Arguments) -> list[int]:
    """``cudaError_t cudaDeviceSynchronize()`` of CDP1: the block waits for all that its threads have launched."""
    if grid.depth >= grid.world.limits.sync_depth:
        return [fail(grid, call, lane, SYNC_DEPTH_EXCEEDED) for lane in call.lanes]
    grid.wait(call)
    return [0 for _ in call.lanes]


def last_error(grid: Grid, call: SystemCall, arguments: Arguments) -> list[int]:
    """``cudaError_t cudaGetLastError()``: of this thread, which then has none."""
    return [grid.errors.pop(_thread(call, lane), 0) for lane in call.lanes]


def peek_error(grid: Grid, call: SystemCall, arguments: Arguments) -> list[int]:
    """``cudaError_t cudaPeekAtLastError()``."""
    return [grid.errors.get(_thread(call, lane), 0) for lane in call.lanes]


def create(grid: Grid, call: SystemCall, arguments: Arguments) -> list[int]:
    """``cudaError_t cudaStreamCreateWithFlags(cudaStream_t *, unsigned flags)``, and the same for events."""
    for lane, (where, _) in zip(call.lanes, arguments, strict=True):
        call.store(lane, where, _CREATED.to_bytes(8, "little"))
    return [0 for _ in call.lanes]


def nothing(grid: Grid, call: SystemCall, arguments: Arguments) -> list[int]:
    """Functions that order launches, which run in their order anyway: events, waiting for them, ends of streams."""
    return [0 for _ in call.lanes]


def device_number(grid: Grid, call: SystemCall, arguments: Arguments) -> list[int]:
    """``cudaError_t cudaGetDevice(int *)``: there is one."""
    for lane, (where,) in zip(call.lanes, arguments, strict=True):
        call.store(lane, where, bytes(4))
    return [0 for _ in call.lanes]


def device_count(grid: Grid, call: SystemCall, arguments: Arguments) -> list[int]:
    """``cudaError_t cudaGetDeviceCount(int *)``."""
    for lane, (where,) in zip(call.lanes, arguments, strict=True):
        call.store(lane, where, (1).to_bytes(4, "little"))
    return [0 for _ in call.lanes]


_HEAP, _PENDING = 2, 4


def device_limit(grid: Grid, call: SystemCall, arguments: Arguments) -> list[int]:
    """``cudaError_t cudaDeviceGetLimit(size_t *, cudaLimit)``."""
    known = {_HEAP: grid.world.limits.heap_bytes, _PENDING: grid.world.limits.pending_launches}
    results = []
    for lane, (where, which) in zip(call.lanes, arguments, strict=True):
        if which not in known:
            results.append(fail(grid, call, lane, NOT_SUPPORTED))
            continue
        call.store(lane, where, known[which].to_bytes(8, "little"))
        results.append(0)
    return results
