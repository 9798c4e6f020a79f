"""What a program gives the driver as code: cubins, fat binaries and PTX become kernels; the linker."""

from __future__ import annotations

import re
import struct
import subprocess
from pathlib import Path
from tempfile import TemporaryDirectory

from simt.check import LaunchError, SimtError, UnsupportedError
from simt.devices import Gpu
from simt.disk_cache import DiskCache, cache_root, digest
from simt.driver.codes import Code, CudaError
from simt.runtime import Context
from simt.sass.kernel import Kernels, read_cubin
from simt.toolkit.fatbin import extract, is_container
from simt.toolkit.find import find_program, identity
from simt.toolkit.ptxas import assemble

_ELF = b"\x7fELF"
CUBINS = DiskCache("compiled PTX", cache_root() / "ptx", most=256)


def kernels_of(image: bytes, name: str, gpu: Gpu, home: Context) -> list[Kernels]:
    """The kernels of an image that a program loads, by cubin.  Messages call the program *name*.

    Machine code of the device's generation is taken, else the PTX that comes with it.  Raises UnsupportedError and
    LaunchError for an unreadable file, CudaError if it has no code for this device.
    """
    return [read_cubin(cubin, name, home) for cubin in _cubins(image, name, gpu)]


def _cubins(image: bytes, name: str, gpu: Gpu) -> list[bytes]:
    if image.startswith(_ELF) and not is_container(image):
        return [image]
    if not is_container(image):
        return [_compiled(image.rstrip(b"\0"), gpu.architecture)]
    with TemporaryDirectory() as place:
        path = Path(place, "image.fatbin")
        path.write_bytes(image)
        try:
            found = extract(path, Path(place))
        except SimtError:
            found = {}
        able = [number for number in sorted(found) if gpu.runs(f"sm_{number}")]
        if able:
            return [file.read_bytes() for file in found[able[-1]]]
        texts = _ptx(path, gpu)
        if not texts:
            present = ", ".join(f"sm_{number}" for number in sorted(found)) or "none"
            raise UnsupportedError(
                f"{name} has no code for {gpu.architecture} ({gpu.name})",
                details=[f"it has machine code for {present}"],
                help=f"compile with -arch={gpu.architecture}, or choose another --device",
            )
        return [_compiled(text, gpu.architecture) for text in texts]


def _ptx(path: Path, gpu: Gpu) -> list[bytes]:
    """The newest PTX in a fat binary that the device can run."""
    program = find_program("cuobjdump")
    subprocess.run([program, "-xptx", "all", str(path)], capture_output=True, check=False, cwd=path.parent)
    found: dict[int, list[bytes]] = {}
    for file in sorted(path.parent.glob("*.ptx")):
        match = re.search(r"\.sm_(\d+)\.ptx$", file.name)
        if match and int(match[1]) <= int(gpu.architecture[3:]):
            found.setdefault(int(match[1]), []).append(file.read_bytes())
    return found[max(found)] if found else []


_DEBUG = re.compile(rb"\.target\s[^\n]*\bdebug\b")
"""PTX with debug information, such as numba-cuda makes with ``debug=True``."""


def _compiled(ptx: bytes, architecture: str, *options: str) -> bytes:
    """PTX as a cubin, which a driver's compiler makes; here ptxas does, once.  Raises what it raises."""
    target = re.search(rb"\.target\s+(sm_\d+[af]?)", ptx)
    if target and target[1].decode().rstrip("af") == architecture:
        architecture = target[1].decode()  # sm_90a
    if _DEBUG.search(ptx):  # ptxas refuses to optimise it, where a driver's compiler does not mind being asked
        options = tuple(option for option in options if not option.startswith("-O"))
    made_by = identity(find_program("ptxas")), architecture, " ".join(options)
    return CUBINS.get_or_make(digest(*made_by, ptx), lambda: assemble(ptx, architecture, *options))


_SUFFIXES = {0: "cubin", 1: "ptx", 2: "fatbin", 3: "o", 4: "a"}
"""File names of what ``CUjitInputType`` numbers."""


_ACCELERATED_FROM = 90
"""sm_90 and later have features of their own, under the name of sm_90a, whose code a driver of sm_90 runs: nvlink puts
such code and plain code together when it is told sm_90a, and refuses the one or the other otherwise."""


def link(inputs: bytes, architecture: str, registers: int, level: int) -> bytes:
    """A cubin of what a program gave its linker (kind and size, 64 bits each, and bytes): ptxas, then nvlink.

    *registers*: at most so many for a thread, 0: any number; *level* of optimisation, 0 to 4.  Raises LaunchError for
    what nvlink refuses, else as :func:`kernels_of`.
    """
    options = [f"-O{min(level, 3)}", *([f"--maxrregcount={registers}"] if registers else ())]
    with TemporaryDirectory() as place:
        files: list[str] = []
        at = 0
        parts = []
        while at < len(inputs):
            if at + 16 > len(inputs):
                raise CudaError(Code.INVALID_VALUE)
            kind, size = struct.unpack_from("=QQ", inputs, at)
            parts.append((kind, inputs[at + 16 : at + 16 + size]))
            at += 16 + size
        if len(parts) == 1 and parts[0][0] == 1:
            return _compiled(parts[0][1].rstrip(b"\0"), architecture, *options)
        for number, (kind, data) in enumerate(parts):
            if kind not in _SUFFIXES:
                raise CudaError(Code.NOT_SUPPORTED)
            path = Path(place, f"{number}.{_SUFFIXES[kind]}")
            if kind == 1:
                path = path.with_suffix(".cubin")
                data = _compiled(data.rstrip(b"\0"), architecture, "-c", *options)
            path.write_bytes(data)
            files.append(str(path))
        made = Path(place, "linked.cubin")
        if int(architecture.removeprefix("sm_")) >= _ACCELERATED_FROM:
            architecture += "a"
        command = [find_program("nvlink"), f"-arch={architecture}", *files, "-o", str(made)]
        done = subprocess.run(command, capture_output=True, text=True, check=False)
        if done.returncode:
            raise LaunchError("nvlink refuses the program's code", details=done.stderr.strip().splitlines()[:5])
        return made.read_bytes()
