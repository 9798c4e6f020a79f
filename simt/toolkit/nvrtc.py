"""NVRTC, NVIDIA's run-time compiler for CUDA C, through its C interface: no host compiler, no GPU, no driver."""

from __future__ import annotations

import ctypes
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from typing import Any

from simt.check import UnsupportedError
from simt.toolkit.find import INSTALL, nvrtc_library

_SUCCESS = 0
_COMPILATION = 6
"""nvrtcResult of a source that does not compile; other errors are about the call."""


@dataclass(frozen=True)
class Result:
    """What a compilation gave.

    ``cubin`` is None where it failed; ``is_about_source``: it failed for the source, not for the options.
    ``names``: the mangled name of each instance that was asked for.
    """

    cubin: bytes | None
    log: str
    is_about_source: bool
    names: Mapping[str, str]


@cache
def _library() -> Any:
    path = nvrtc_library()
    try:
        library = ctypes.CDLL(str(path))
    except OSError as error:
        raise UnsupportedError(f"NVRTC ({path}) cannot be loaded", details=[str(error)], help=INSTALL) from None
    library.nvrtcGetErrorString.restype = ctypes.c_char_p
    return library


def _check(code: int) -> None:
    if code != _SUCCESS:
        said = _library().nvrtcGetErrorString(code).decode("utf-8", "replace")
        raise UnsupportedError(f"NVRTC fails: {said}", help=f"is it whole? {INSTALL}")


@cache
def version() -> str:
    """Its version: ``"13.0"``."""
    major, minor = ctypes.c_int(), ctypes.c_int()
    _check(_library().nvrtcVersion(ctypes.byref(major), ctypes.byref(minor)))
    return f"{major.value}.{minor.value}"


@cache
def architectures() -> tuple[str, ...]:
    """The architectures that it compiles for: ``("sm_75", ...)``."""
    count = ctypes.c_int()
    _check(_library().nvrtcGetNumSupportedArchs(ctypes.byref(count)))
    numbers = (ctypes.c_int * count.value)()
    _check(_library().nvrtcGetSupportedArchs(numbers))
    return tuple(f"sm_{number}" for number in numbers)


def compile_source(
    source: str, name: str, options: Sequence[str], headers: Mapping[str, str], instances: Sequence[str] = ()
) -> Result:
    """Compile a source that is called *name* in messages.

    *headers*: text by the name that sources include.  *instances*: kernels to compile by their C++ names, such as
    ``reduce<512>``.  Raises UnsupportedError if NVRTC is missing or broken; what the source has wrong is in the result.
    """
    library = _library()
    program = ctypes.c_void_p()
    texts = _strings([*headers.values()])
    _check(
        library.nvrtcCreateProgram(
            ctypes.byref(program), source.encode(), name.encode(), len(headers), texts, _strings([*headers])
        )
    )
    try:
        for instance in instances:
            _check(library.nvrtcAddNameExpression(program, instance.encode()))
        code = library.nvrtcCompileProgram(program, len(options), _strings(options))
        log = _output(program, "ProgramLog").rstrip(b"\0").decode("utf-8", "replace").strip()
        if code != _SUCCESS:
            return Result(None, log, code == _COMPILATION, {})
        return Result(_output(program, "CUBIN"), log, True, {each: _lowered(program, each) for each in instances})
    finally:
        library.nvrtcDestroyProgram(ctypes.byref(program))


def _strings(values: Sequence[str]) -> Any:
    return (ctypes.c_char_p * len(values))(*(value.encode() for value in values))


def _output(program: ctypes.c_void_p, what: str) -> bytes:
    """What ``nvrtcGet<what>`` gives."""
    size = ctypes.c_size_t()
    _check(getattr(_library(), f"nvrtcGet{what}Size")(program, ctypes.byref(size)))
    buffer = ctypes.create_string_buffer(size.value)
    _check(getattr(_library(), f"nvrtcGet{what}")(program, buffer))
    return buffer.raw


def _lowered(program: ctypes.c_void_p, instance: str) -> str:
    name = ctypes.c_char_p()
    _check(_library().nvrtcGetLoweredName(program, instance.encode(), ctypes.byref(name)))
    return (name.value or b"").decode()
