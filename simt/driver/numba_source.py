"""Runs the kernels of a numba-cuda program in the source view, inside the program's own process.

numba-cuda types and compiles each kernel as ever, and copies arrays as ever, through whatever ``libcuda`` it found;
only the launch itself becomes a :func:`simt.launch` of the Python function, on NumPy views of device memory.  So
device addresses have to be addresses of the process: the libraries of :mod:`simt.driver` map device memory there.
A kernel that the source view refuses is launched as machine code, as without this module.
"""

from __future__ import annotations

import ctypes
from collections.abc import Callable, Sequence
from functools import cache
from typing import Any
from weakref import WeakKeyDictionary

import numpy as np
from numba.core import types
from numba.core.types import containers
from numba.np import numpy_support

from simt.api import launch
from simt.check.errors import LaunchError, UnsupportedError
from simt.lang import read_device_arrays, remember_executed_code
from simt.profile import Profile

Record = Callable[[Profile, int], None]
"""Told of each launch: its profile, and the handle of its stream."""

Refused = Callable[[str, UnsupportedError], None]
"""Told of each launch that goes on as machine code: the kernel's name, and why."""


def install(record: Record, refused: Refused, **options: Any) -> Callable[[], None]:
    """From now on launch the kernels of ``numba.cuda`` in the source view; the result undoes it.

    *options*: of every launch, as for :func:`simt.launch`, such as ``check``.  Errors of a kernel are those of
    :func:`simt.launch`, raised where the program launches it.
    """
    from numba.cuda import dispatcher as numba_dispatcher

    remember_executed_code()
    kernels, dispatchers = numba_dispatcher._Kernel, numba_dispatcher.CUDADispatcher
    before = kernels.launch, dispatchers.add_overload
    owners: WeakKeyDictionary[Any, Any] = WeakKeyDictionary()

    def add_overload(self: Any, kernel: Any, argtypes: Any) -> None:
        owners[kernel] = self
        before[1](self, kernel, argtypes)

    def launch_kernel(
        self: Any, args: Sequence[Any], griddim: Any, blockdim: Any, stream: Any = 0, sharedmem: int = 0
    ) -> None:
        owner = owners.get(self)
        if owner is None:  # unpickled without its dispatcher
            before[0](self, args, griddim, blockdim, stream, sharedmem)
            return
        write_back: list[Callable[[], Any]] = []
        pairs = zip(self.argument_types, args, strict=True)
        values = [_argument(self, ty, value, stream, write_back) for ty, value in pairs]
        try:
            profile = launch(owner, tuple(griddim), tuple(blockdim), *values, shared_bytes=sharedmem, **options)
        except UnsupportedError as error:
            refused(owner.py_func.__qualname__, error)
            before[0](self, args, griddim, blockdim, stream, sharedmem)
            return
        except LaunchError as error:
            kind: Any = type(error)
            error.__class__ = _cuda_error(kind)
            raise
        record(profile, int(getattr(stream, "handle", stream)))
        for copy_to_host in write_back:
            copy_to_host()

    def uninstall() -> None:
        read_device_arrays(None)
        kernels.launch, dispatchers.add_overload = before

    read_device_arrays(_captured)
    kernels.launch, dispatchers.add_overload = launch_kernel, add_overload
    return uninstall


@cache
def _cuda_error(kind: Any) -> Any:
    """An error that is also CUDA's, which programs expect for an invalid launch."""
    from cuda.core._utils.cuda_utils import CUDAError

    def text(self: Any) -> str:
        return f"CUDA_ERROR_INVALID_VALUE: {kind.__str__(self)}"

    return type(kind.__name__, (kind, CUDAError), {"__str__": text})


def _argument(kernel: Any, ty: Any, value: Any, stream: Any, write_back: list[Callable[[], Any]]) -> Any:
    """An argument as :func:`simt.launch` takes it; what is on the host is copied to the device as Numba does."""
    from numba.cuda.args import wrap_arg

    for extension in reversed(kernel.extensions):
        ty, value = extension.prepare_args(ty, value, stream=stream, retr=write_back)
    if isinstance(ty, types.Array):
        on_device = wrap_arg(value).to_device(write_back, stream)
        strides = on_device._layout.strides_in_bytes
        return _view(on_device.ptr, numpy_support.as_dtype(ty.dtype), on_device.shape, strides, ty.mutable)
    if isinstance(ty, types.Record):
        on_device = wrap_arg(value).to_device(write_back, stream)
        return _view(on_device.ptr, numpy_support.as_dtype(ty), (), (), True)[()]
    if isinstance(ty, containers.BaseTuple):
        items = [_argument(kernel, each, item, stream, write_back) for each, item in zip(ty, value, strict=True)]
        return type(value)(*items) if hasattr(value, "_fields") else tuple(items)
    return value


def _captured(value: Any) -> np.ndarray | None:
    """The memory of an array that a kernel reaches through a name, if it is one of the device."""
    interface = getattr(value, "__cuda_array_interface__", None)
    if not isinstance(interface, dict):
        return None
    address, readonly = interface["data"]
    return _view(address, np.dtype(interface["typestr"]), interface["shape"], interface.get("strides"), not readonly)


def _view(address: int, dtype: Any, shape: Sequence[int], strides: Sequence[int] | None, writable: bool) -> np.ndarray:
    """Device memory as an array: no copy."""
    if 0 in shape:
        return np.empty(tuple(shape), dtype)
    if strides is None:
        strides = [dtype.itemsize * int(np.prod(shape[axis + 1 :], dtype=np.int64)) for axis in range(len(shape))]
    low = sum((size - 1) * stride for size, stride in zip(shape, strides, strict=True) if stride < 0)
    high = sum((size - 1) * stride for size, stride in zip(shape, strides, strict=True) if stride > 0)
    memory = (ctypes.c_char * (high - low + dtype.itemsize)).from_address(address + low)
    view: np.ndarray = np.ndarray(tuple(shape), dtype, memory, -low, tuple(strides))
    view.flags.writeable = writable
    return view
