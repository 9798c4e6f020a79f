"""What NVIDIA's compilers say about a source, as one error of simt."""

from __future__ import annotations

import re

from simt.check import CompileError, Location

_DIAGNOSTIC = re.compile(
    r"^(?P<file>[^\n(:]*)(?:\((?P<line>\d+)\)|:(?P<row>\d+)(?::\d+)?): (?:catastrophic |fatal )?error: (?P<what>.*)$",
    re.MULTILINE,
)
"""``file(line): error: ...`` by NVIDIA's front end, ``file:line:column: error: ...`` by a host compiler."""

_MISSING_HEADER = re.compile(r'cannot open source file "([^"]+)"|error: ([\w./+-]+): No such file or directory')
_WHEELS_OF_HEADERS = (
    (("nv/", "cuda/", "cub/", "thrust/"), "nvidia-cuda-cccl"),
    (("curand",), "nvidia-curand"),
    (("cooperative_groups", "cuda_", "mma.h", "sm_", "vector_", "math_", "device_", "texture_"), "nvidia-cuda-runtime"),
)
_LIBRARIES = re.compile(r"(cublas|cufft|cusparse|cusolver|cudnn|cutensor|nccl|npp|nvjpeg)")
"""Beginnings of headers of libraries that bring a CUDA runtime of their own."""
_FLAG = re.compile(r"--(extended-lambda|expt-relaxed-constexpr)")
"""Options of nvcc that its messages name."""
MOST = 6
"""Errors that a message shows."""


def refusal(name: str, log: str, how_to_include: str) -> CompileError:
    """The error of a source called *name*, at the first line that the *log* names, with the next errors.

    ``how_to_include``: what to type for a folder of headers.
    """
    found = [*_DIAGNOSTIC.finditer(log)]
    help = _help(log, how_to_include)
    if not found:
        return CompileError(f"{name} does not compile", details=_lines(log)[:10], help=help)
    first, *others = found
    details = [each[0] for each in others[: MOST - 1]]
    if len(others) >= MOST:
        details.append(f"and {len(found) - MOST} more")
    location = Location(first["file"], int(first["line"] or first["row"]))
    return CompileError(first["what"], location=location, details=details, help=help)


def _lines(log: str) -> list[str]:
    return [line for line in log.splitlines() if line.strip()]


def _help(log: str, how_to_include: str) -> str:
    missing = _MISSING_HEADER.search(log)
    if missing:
        header = missing[1] or missing[2]
        library = _LIBRARIES.match(header)
        if library:
            return f"programs that use {library[1]} do not run here: it brings a CUDA runtime of its own"
        wheels = [wheel for prefixes, wheel in _WHEELS_OF_HEADERS if header.startswith(prefixes)]
        return f"pip install {wheels[0]}" if wheels else f"give its folder: {how_to_include}"
    flag = _FLAG.search(log)
    if flag:
        return f"allow it: {how_to_include.replace('-Ifolder', flag[0])}"
    if "cudaDeviceSynchronize" in log:
        return (
            "since CUDA 12 a kernel does not wait for its children; launch what comes after them in the stream "
            "cudaStreamTailLaunch"
        )
    return ""
