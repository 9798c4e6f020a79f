"""What a ``@cuda.jit`` decorator says about a kernel: its function, its options, and the signatures it declares.

Both views read kernels through this module, and it imports no view and no Numba.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from types import FunctionType
from typing import Any
from weakref import WeakKeyDictionary

from simt.check import KernelError, LaunchError


@dataclass(frozen=True)
class Signature:
    """Numba types of the arguments, and of the result of a device function where it is declared."""

    args: tuple[Any, ...]
    result: Any = None


@dataclass(frozen=True)
class Options:
    """Options of the decorator that change what a kernel does.

    ``debug`` is Numba's check for divisions by zero, ``opt`` and ``fastmath`` concern the compiler (the machine view),
    ``launch_bounds`` are the most threads of a block, and behind it what only the compiler heeds.
    """

    debug: bool = False
    opt: bool = True
    fastmath: bool = False
    launch_bounds: tuple[int, ...] = ()


def unwrap(value: Any) -> Any:
    """The Python function of a Numba dispatcher (or of what Numba's simulator has in its place); else *value*."""
    if isinstance(value, FunctionType):
        return value
    return getattr(value, "py_func", getattr(value, "__wrapped__", value))


def python_function(kernel: Any) -> FunctionType:
    """The plain function of a kernel: itself, or that of a Numba dispatcher.

    Raises KernelError if *kernel* is neither.
    """
    function = unwrap(kernel)
    if not isinstance(function, FunctionType):
        raise KernelError(
            f"{kernel!r} is not a kernel",
            help="pass a Python function, or a function decorated with @cuda.jit",
        )
    return function


def is_dispatcher(kernel: Any) -> bool:
    """Whether *kernel* is a decorated function, which Numba compiles once for each tuple of argument types."""
    return not isinstance(kernel, FunctionType) and isinstance(unwrap(kernel), FunctionType)


def options_of(kernel: Any) -> Options:
    """The options that *kernel* was decorated with; Numba's defaults for a plain function."""
    given = getattr(kernel, "targetoptions", None) or {}
    bounds = given.get("launch_bounds")
    return Options(
        debug=bool(given.get("debug", False)),
        opt=bool(given.get("opt", True)),
        fastmath=bool(given.get("fastmath", False)),
        launch_bounds=() if bounds is None else tuple(bounds) if isinstance(bounds, tuple | list) else (bounds,),
    )


def check_launch_bounds(kernel: Any, block: tuple[int, int, int]) -> None:
    """LaunchError if *block* has more threads than the decorator's ``launch_bounds`` allow."""
    bounds = options_of(kernel).launch_bounds
    threads = block[0] * block[1] * block[2]
    if bounds and threads > bounds[0]:
        raise LaunchError(
            f"a block of {threads} threads; launch_bounds of {python_function(kernel).__name__} allows {bounds[0]}"
        )


_DECLARED: WeakKeyDictionary[Any, list[Signature]] = WeakKeyDictionary()
"""Signatures of dispatchers that were declared under :func:`without_gpu`, and not compiled."""


def signatures_of(kernel: Any) -> tuple[Signature, ...]:
    """The signatures that *kernel* was declared with; empty if it takes whatever it is called with."""
    if not is_dispatcher(kernel):
        return ()
    if kernel in _DECLARED:
        return tuple(_DECLARED[kernel])
    if getattr(kernel, "_can_compile", True):
        return ()
    return tuple(
        Signature(tuple(args), getattr(getattr(compiled, "signature", None), "return_type", None))
        for args, compiled in kernel.overloads.items()
    )


@contextmanager
def without_gpu() -> Iterator[None]:
    """Let ``@cuda.jit("void(float32[:], int32)")`` declare kernels on a computer without a GPU.

    Numba compiles a kernel with a signature as it is decorated, for the GPU of the computer, and raises
    CudaSupportError where there is none.  Within this context it only notes the signature there; :func:`simt.launch`
    heeds it.  With a GPU the context changes nothing.

    >>> with simt.without_gpu():
    ...     from my_kernels import kernel
    """
    from numba import config, cuda

    if config.ENABLE_CUDASIM or cuda.is_available():
        yield
        return
    from numba.core import sigutils
    from numba.cuda.dispatcher import CUDADispatcher

    before = CUDADispatcher.compile, CUDADispatcher.compile_device, CUDADispatcher.disable_compile

    def declare(self: Any, signature: Any, result: Any = None) -> None:
        args, declared = sigutils.normalize_signature(signature)
        _DECLARED.setdefault(self, []).append(Signature(tuple(args), declared if result is None else result))

    CUDADispatcher.compile = CUDADispatcher.compile_device = declare
    CUDADispatcher.disable_compile = lambda self, val=True: None  # without an overload there is nothing to keep to
    try:
        yield
    finally:
        CUDADispatcher.compile, CUDADispatcher.compile_device, CUDADispatcher.disable_compile = before


def compile_declared() -> None:
    """Have Numba compile the device functions that were declared under :func:`without_gpu`.

    The machine view calls it where Numba can compile without a driver, so that their callers find what was declared.
    """
    for dispatcher, declared in list(_DECLARED.items()):
        if dispatcher.targetoptions.get("device") and not dispatcher.overloads:
            for signature in declared:
                dispatcher.compile_device(signature.args, signature.result)
            dispatcher.disable_compile()
