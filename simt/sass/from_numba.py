"""The machine code that Numba makes of a Python kernel: numba-cuda, libNVVM and ptxas, all from wheels, no GPU.

Only this module of the package imports numba-cuda.  Compiled cubins are cached by the kernel's code, the constants and
functions that it uses, its argument types, and the versions of the tools.
"""

from __future__ import annotations

import inspect
import re
import warnings
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from importlib import metadata
from pathlib import Path
from types import CodeType, FunctionType, ModuleType
from typing import Any
from weakref import WeakKeyDictionary

import numpy as np
import numpy.typing as npt
from numba.core import types
from numba.core.errors import NumbaError
from numba.core.types import containers

from simt.check import KernelError, Location, MissingError, UnsupportedError
from simt.disk_cache import DiskCache, cache_root, digest
from simt.dispatcher import Options, compile_declared, is_dispatcher, options_of, python_function
from simt.sass.kernel import SassKernel, read_cubin
from simt.system import FUNCTIONS, serves
from simt.toolkit.find import INSTALL
from simt.toolkit.nvdisasm import OLDEST
from simt.toolkit.ptxas import assemble

_PACKAGES = ("numba-cuda", "numba", "nvidia-nvvm", "nvidia-cuda-nvcc")
CUBINS = DiskCache("cubins", cache_root() / "cubins")


def compile_numba(kernel: object, argtypes: Sequence[Any], architecture: str) -> SassKernel:
    """Compile a Python kernel for an architecture such as ``"sm_90"``, with line information.

    *argtypes* are Numba types, one per argument.  Raises MissingError without a tool, UnsupportedError if
    the architecture is unknown to it, KernelError if Numba cannot compile the kernel, LaunchError for too much static
    shared memory.
    """
    number = architecture.removeprefix("sm_")
    if not architecture.startswith("sm_") or not number.isdigit() or int(number) < OLDEST:
        raise UnsupportedError(
            f"there is no view {architecture!r}",
            help=f'the views are "source" and architectures from sm_{OLDEST} on, such as "sm_90"; '
            "code for older ones runs from a cubin (load_cubin)",
        )
    function, options = python_function(kernel), options_of(kernel)
    argtypes = tuple(argtypes)
    if is_dispatcher(kernel):
        known = _FROZEN.setdefault(kernel, {})
        if (argtypes, architecture) not in known:
            known[argtypes, architecture] = _cubin(function, argtypes, architecture, options)
        cubin = known[argtypes, architecture]
    else:
        cubin = _cubin(function, argtypes, architecture, options)
    (compiled,) = read_cubin(cubin, f"the cubin of {function.__name__}").values()
    compiled.program.name = function.__name__  # instead of the mangled one, which holds the argument types
    names = inspect.signature(function).parameters
    compiled.program.parameters = [
        part for name, ty in zip(names, argtypes, strict=True) for part in _parameter_names(name, ty)
    ]
    return compiled


_FROZEN: WeakKeyDictionary[Any, dict[tuple[Any, ...], bytes]] = WeakKeyDictionary()
"""The cubins of each dispatcher, by types of arguments and architecture: each is compiled once, with the constants of
that time, as Numba does."""


def _parameter_names(name: str, ty: Any) -> Iterator[str]:
    """The argument that each parameter of the machine code belongs to, in the order of :func:`flatten`."""
    if isinstance(ty, containers.BaseTuple):
        for position, item in enumerate(ty):
            yield from _parameter_names(f"{name}[{position}]", item)
    else:
        yield from [name] * (len(array_fields(ty.ndim)) if isinstance(ty, types.Array) else 1)


def array_fields(ndim: int) -> tuple[str, ...]:
    """The parameters that an array of *ndim* dimensions takes in Numba's machine code, in order."""
    axes = range(ndim)
    return (
        *("meminfo", "parent", "nitems", "itemsize", "data"),
        *(f"shape[{k}]" for k in axes),
        *(f"strides[{k}]" for k in axes),
    )


def _array_values(array: npt.NDArray[Any]) -> list[Any]:
    """What a launch passes for each of :func:`array_fields`."""
    values: dict[str, Any] = {
        "meminfo": np.int64(0),
        "parent": np.int64(0),
        "nitems": np.int64(array.size),
        "itemsize": np.int64(array.itemsize),
        "data": array,
    }
    for k, (extent, stride) in enumerate(zip(array.shape, array.strides, strict=True)):
        values |= {f"shape[{k}]": np.int64(extent), f"strides[{k}]": np.int64(stride)}
    return [values[field] for field in array_fields(array.ndim)]


def flatten(args: Sequence[object]) -> list[object]:
    """Arguments as Numba passes them to machine code.

    An array becomes its :func:`array_fields`, a bool one byte; scalars stay.
    """
    flat: list[object] = []
    for value in args:
        if isinstance(value, np.ndarray):
            flat += _array_values(value)
        elif isinstance(value, np.bool_):
            flat.append(np.uint8(value))
        else:
            flat.append(value)
    return flat


def _versions() -> str:
    """Versions of what makes the machine code; the tools may come from a CUDA toolkit instead of wheels."""
    found = []
    for name in _PACKAGES:
        try:
            found.append(f"{name} {metadata.version(name)}")
        except metadata.PackageNotFoundError:
            if name == "numba-cuda":
                raise MissingError(
                    f"the machine view of a Python kernel needs the package {name}", help=INSTALL
                ) from None
            found.append(f"{name} of the system")
    return " ".join(found)


def _cubin(function: FunctionType, argtypes: tuple[Any, ...], architecture: str, options: Options) -> bytes:
    about = f"{_versions()} {architecture} {options} {[str(ty) for ty in argtypes]}"
    number = architecture.removeprefix("sm_")

    def build() -> bytes:
        ptx = _ptx(function, argtypes, (int(number[:-1]), int(number[-1])), options)
        called = _EXTERN.findall(ptx)
        missing = [name for name in called if name not in FUNCTIONS]
        if missing:
            raise UnsupportedError(
                f"{function.__name__} calls {missing[0]}, which Numba compiles from CUDA C and links",
                help="the source view has arithmetic of float16; `simt exec SCRIPT.py` runs what Numba has linked",
            )
        of_system = [name for name in called if serves(name, in_file=True)]
        return assemble(ptx.encode(), architecture, *(["-c"] if of_system else ()))  # -c: ptxas lets calls stand open

    return CUBINS.get_or_make(f"{function.__name__}-{digest(about, *_parts(function, set()))}.cubin", build)


_EXTERN = re.compile(r"\.extern \.func\s+(?:\([^)]*\)\s*)?(\w+)")


def _parts(value: Any, seen: set[int]) -> Iterator[bytes]:
    """Everything that the machine code of *value* depends on."""
    value = getattr(value, "py_func", value)
    if isinstance(value, FunctionType):
        if id(value) in seen:
            return
        seen.add(id(value))
        yield from _parts(value.__code__, seen)
        yield repr(value.__defaults__).encode()
        names = set(value.__code__.co_names)
        for name, used in sorted((n, v) for n, v in value.__globals__.items() if n in names and n != "__builtins__"):
            yield name.encode()
            yield from _parts(used, seen)
        for cell in value.__closure__ or ():
            yield from _parts(cell.cell_contents, seen)
    elif isinstance(value, CodeType):
        yield value.co_code
        yield f"{value.co_names} {value.co_varnames} {value.co_filename} {value.co_firstlineno}".encode()
        for constant in value.co_consts:
            yield from _parts(constant, seen)
    elif isinstance(value, ModuleType):
        yield value.__name__.encode()
    elif isinstance(value, np.ndarray):
        yield f"{value.dtype} {value.shape}".encode()
        yield value.tobytes()
    else:
        yield (repr(value) if not callable(value) else getattr(value, "__name__", repr(type(value)))).encode()


@contextmanager
def _without_device(capability: tuple[int, int]) -> Iterator[None]:
    """Let numba-cuda compile device functions without a driver: it asks the current device for its architecture."""
    from numba.cuda import dispatcher

    class Device:
        compute_capability = capability
        WARP_SIZE = 32

    before = dispatcher.get_current_device
    dispatcher.get_current_device = Device
    try:
        yield
    finally:
        dispatcher.get_current_device = before


def _ptx(function: FunctionType, argtypes: tuple[Any, ...], capability: tuple[int, int], options: Options) -> str:
    from cuda.pathfinder import DynamicLibNotFoundError
    from numba import cuda
    from numba.cuda.cudadrv.error import CudaSupportError, NvvmSupportError

    try:
        with warnings.catch_warnings(), _without_device(capability):
            warnings.simplefilter("ignore")  # Numba warns of missing source lines
            compile_declared()
            ptx, _ = cuda.compile(
                function,
                argtypes,
                device=False,
                abi="numba",
                cc=capability,
                output="ptx",
                lineinfo=True,
                opt=options.opt,
                fastmath=options.fastmath,
                launch_bounds=options.launch_bounds or None,
            )
    except (CudaSupportError, NvvmSupportError, DynamicLibNotFoundError) as error:
        raise MissingError(
            "Numba does not find libNVVM or NVRTC", details=str(error).splitlines()[:5], help=INSTALL
        ) from None
    except Exception as error:  # about kernels that it cannot compile, Numba raises errors of any kind
        raise _refusal(function, error) from None
    text: str = ptx
    return text


_END_OF_REASON = re.compile(r'^\s*(There are \d+ candidate|File "|During: )', re.MULTILINE)
_SPECIFIC = re.compile(r"raised a specific error:\s+\w+: (.*)")
_PLACE = re.compile(r'(?:File "(?P<file>[^"]+)", line |at (?P<at>\S+) \()(?P<line>\d+)')


def _refusal(function: FunctionType, error: Exception) -> KernelError:
    """Numba's reason in short, and the line of the kernel if Numba names one."""
    text = str(error) if isinstance(error, NumbaError) else f"{type(error).__name__}: {error}"
    reasons = [_END_OF_REASON.split(text)[0], *_SPECIFIC.findall(text)]
    lines = [line.strip() for reason in reasons for line in reason.splitlines()]
    details = [line for line in dict.fromkeys(lines) if line and not line.startswith("Failed in cuda mode pipeline")]
    file = function.__code__.co_filename
    places = [int(p["line"]) for p in _PLACE.finditer(text) if Path(p["file"] or p["at"]).resolve() == Path(file)]
    return KernelError(
        f"Numba cannot compile {function.__name__}",
        location=Location(file, places[0] if places else function.__code__.co_firstlineno, function=function.__name__),
        details=details,
        help="the source view may say more",
    )
