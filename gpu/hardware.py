"""Which GPUs there are, and their limits."""

from __future__ import annotations

import atexit
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import asdict, dataclass
from typing import Any

from gpu import driver
from gpu.errors import NoGpuError
from simt.check import LaunchError


@dataclass(frozen=True)
class Device:
    """One GPU.

    ``memory_bytes`` in all, ``shared_bytes`` per block at most without opting in, ``clock_khz`` of the
    multiprocessors at most.
    """

    index: int
    name: str
    architecture: str
    multiprocessors: int
    memory_bytes: int
    clock_khz: int
    threads_per_block: int
    block_limits: tuple[int, int, int]
    grid_limits: tuple[int, int, int]
    shared_bytes: int
    uuid: str

    def to_dict(self) -> dict[str, Any]:
        """For JSON."""
        return asdict(self)

    def __str__(self) -> str:
        gib = self.memory_bytes / 2**30
        return f"{self.index}: {self.name} ({self.architecture}, {self.multiprocessors} SMs, {gib:.0f} GiB)"


def available() -> bool:
    """Whether a GPU can be used from this process."""
    return driver.unusable() is None


def why_not() -> NoGpuError | None:
    """Why no GPU can be used; None if one can."""
    return driver.unusable()


def devices() -> tuple[Device, ...]:
    """Every GPU that this process may use, in CUDA's order; empty if there is none."""
    if not available():
        return ()
    return tuple(_device(index) for index in range(len(driver.cuda().gpus)))


def device(index: int = 0) -> Device:
    """The GPU of that number.  NoGpuError without any, LaunchError for a number that does not exist."""
    found = driver.need()
    count = len(found.gpus)
    if not 0 <= index < count:
        raise LaunchError(f"there is no device {index}", help=f"this process has {count}: 0 to {count - 1}")
    return _device(index)


def select(devices: int | str | Sequence[int] | None) -> tuple[int, ...]:
    """Device numbers: ``None`` is the first, ``"all"`` every one, else a number or several different ones.

    Raises as :func:`device`, and LaunchError for anything else.
    """
    driver.need()
    if devices == "all":
        return tuple(range(len(driver.cuda().gpus)))
    if devices is None:
        return (0,)
    chosen = (devices,) if isinstance(devices, int) else devices
    if isinstance(chosen, str) or not chosen or not all(isinstance(number, int) for number in chosen):
        raise LaunchError(f"devices is {devices!r}", help="pass a number, several, or 'all'")
    if len(set(chosen)) != len(chosen):
        raise LaunchError(f"devices names one device twice: {devices!r}")
    for number in chosen:
        device(number)
    return tuple(chosen)


_used: set[int] = set()
_deferred: list[Any] = []


@contextmanager
def use(index: int) -> Iterator[None]:
    """Make device *index* the current one of this thread."""
    if not _used:
        atexit.register(_keep_libraries)
    _used.add(index)
    with driver.cuda().gpus[index]:
        yield


def _keep_libraries() -> None:
    """Leave loaded code to the end of the process, where several devices were used.

    numba-cuda 0.30.4 unloads a kernel's library once for every device that it ran on, and the second time crashes
    the process on its way out (seen on two H200s).
    """
    if len(_used) > 1:
        for index in _used:
            with driver.cuda().gpus[index]:
                deferred = driver.cuda().current_context().defer_cleanup()
                deferred.__enter__()
                _deferred.append(deferred)


def _device(index: int) -> Device:
    with use(index):
        handle = driver.cuda().get_current_device()
        memory = driver.cuda().current_context().get_memory_info()
        major, minor = handle.compute_capability
        name = handle.name
        return Device(
            index=index,
            name=name.decode() if isinstance(name, bytes) else str(name),
            architecture=f"sm_{major}{minor}",
            multiprocessors=int(handle.MULTIPROCESSOR_COUNT),
            memory_bytes=int(memory.total),
            clock_khz=int(handle.CLOCK_RATE),
            threads_per_block=int(handle.MAX_THREADS_PER_BLOCK),
            block_limits=(int(handle.MAX_BLOCK_DIM_X), int(handle.MAX_BLOCK_DIM_Y), int(handle.MAX_BLOCK_DIM_Z)),
            grid_limits=(int(handle.MAX_GRID_DIM_X), int(handle.MAX_GRID_DIM_Y), int(handle.MAX_GRID_DIM_Z)),
            shared_bytes=int(handle.MAX_SHARED_MEMORY_PER_BLOCK),
            uuid=str(handle.uuid),
        )
