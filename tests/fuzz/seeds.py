"""The sound inputs that mutants are made of."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache
from importlib import resources
from pathlib import Path
from typing import Any

import numpy as np
from numba import cuda

import simt
import simt.devices
from simt import lang
from simt.program import Program
from simt.sass import flatten
from simt.sass.elf import Image, KernelInfo
from simt.toolkit.nvdisasm import disassemble

DATA = Path(__file__).parents[1] / "data"
CUBINS = (
    *(f"hardware/numba/{name}/kernel.cubin" for name in (
        "constant_table", "atomics_shared", "early_exit_barrier", "device_functions", "local_array", "dynamic_shared",
        "histogram", "float16_arithmetic", "loop_trips", "barrier_votes", "shuffle_b128_float32_sum",
    )),
    "sass/fat/two.1.sm_80.cubin",
    "sass/sm_90/packed_halves.cubin",
    "sass/sm_90/external_O3.cubin",
    "sass/sm_90/order_memory_O3.cubin",
    "sass/sm_61/kernels.cubin",
)  # fmt: skip
"""Small cubins with all that a cubin has: constants, global variables, calls, local and shared memory, line tables."""
LONGEST = 250
"""Lines of a listing at most: mutants are many and parsing takes its time."""


@dataclass(frozen=True)
class Cubin:
    """A cubin, its listing, and where its parts are."""

    path: Path
    data: bytes
    listing: str
    places: tuple[range, ...]
    kernels: dict[str, KernelInfo]

    @property
    def sizes(self) -> dict[str, tuple[int, ...]]:
        """Bytes of the parameters of each kernel."""
        return {name: tuple(each.size for each in info.parameters) for name, info in self.kernels.items()}


@dataclass(frozen=True)
class Listing:
    """The listing of one kernel and the sizes of its parameters."""

    name: str
    text: str
    sizes: tuple[int, ...]


@cache
def cubins() -> tuple[Cubin, ...]:
    """All of :data:`CUBINS` that are there."""
    found = []
    for name in CUBINS:
        path = DATA / name
        if path.exists():
            given = path.with_suffix(".sass")
            data = path.read_bytes()
            image = Image(str(path), data)
            listing = given.read_text() if given.exists() else disassemble(str(path), data, image.architecture)
            found.append(Cubin(path, data, listing, _places(image), {each.name: each for each in image.kernels}))
    return tuple(found)


def small_cubins() -> tuple[Cubin, ...]:
    """Those of :func:`cubins` that take little time."""
    return tuple(cubin for cubin in cubins() if len(cubin.listing) < 30_000)


def _places(image: Image) -> tuple[range, ...]:
    """The ELF header, the section headers, and every section that is not code; the last is one of code."""
    headers = int.from_bytes(image.data[0x28:0x30], "little")
    places = [range(64), range(headers, len(image.data))]
    for section in image.sections:
        if image.contents(section) and not section.name.startswith(".text"):
            places.append(range(section.at, section.at + section.size))
    code = image.code_sections[0]
    return (*places, range(code.at, code.at + code.size))


@cache
def fatbin() -> bytes:
    """A fat binary with machine code for two architectures."""
    return (DATA / "sass" / "fat" / "two.fatbin").read_bytes()


_SECTION = re.compile(r"\t\.section\t(\S+?),")
_FUNCTION = re.compile(r"\t+Function : (\S+)")


@cache
def listings() -> tuple[Listing, ...]:
    """Listings of single kernels, taken out of those of the cubins."""
    found = []
    for cubin in cubins():
        head, parts = _parts(cubin.listing)
        for name, lines in parts.items():
            if name in cubin.kernels and len(lines) <= LONGEST:
                found.append(Listing(name, "\n".join([*head, *lines, ""]), cubin.sizes[name]))
    return tuple(found)


def _parts(text: str) -> tuple[list[str], dict[str, list[str]]]:
    """The lines before the first section of a listing, and those of each kernel by its name."""
    head: list[str] = []
    parts: dict[str, list[str]] = {}
    current = head
    for line in text.splitlines():
        match = _SECTION.match(line) or _FUNCTION.match(line)
        if match:
            current = parts.setdefault(match[1].removeprefix(".text."), [])
        current.append(line)
    return head, parts


def _stencil(a: Any, out: Any, n: Any) -> None:
    tile = cuda.shared.array(64, np.int32)
    i = cuda.grid(1)
    t = cuda.threadIdx.x
    tile[t] = a[i] if i < n else 0
    cuda.syncthreads()
    total = 0
    for k in range(t % 4):
        total += tile[(t + k) % 64]
    if t % 2:
        total = cuda.shfl_xor_sync(0xFFFFFFFF, total, 1) if n > 1000 else total * 3
    cuda.atomic.add(out, t % 8, total)
    out[i % 100] = total


@cache
def source_program() -> Program:
    """A Program of the source view with all kinds of micro-ops."""
    return lang.compile(_stencil, lang.argument_types(source_arguments()))


def source_arguments() -> list[Any]:
    """Arguments for it."""
    return [np.arange(128, dtype=np.int32), np.zeros(128, np.int32), np.int64(100)]


@cache
def kernels() -> tuple[Any, ...]:
    """Small kernels of machine code, of the cubins."""
    found = [kernel for cubin in small_cubins() for kernel in simt.load_cubin(cubin.path).values()]
    return tuple(kernel for kernel in found if not kernel.externs)


def arguments(name: str, sizes: Sequence[int]) -> list[Any]:
    """Sound arguments of a kernel: Numba's arrays by its mangled name, else arrays and small integers by size."""
    dimensions = [int(n) for n in re.findall(r"5Array\w+?Li(\d)E", name)]
    if dimensions and sum(5 + 2 * n for n in dimensions) == len(sizes):
        shapes = [(256,) if n == 1 else (16,) * n for n in dimensions]
        return flatten([np.arange(np.prod(shape), dtype=np.int32).reshape(shape) for shape in shapes])
    return [
        np.arange(256, dtype=np.int32) if size == 8 else np.int32(5) if size == 4 else np.zeros(size, np.uint8)
        for size in sizes
    ]


@cache
def profiles() -> tuple[dict[str, Any], ...]:
    """Saved profiles: of the source, of machine code, of a timed launch."""
    found = [simt.launch(_stencil, 2, 64, *source_arguments(), timing=timing).to_dict() for timing in (False, True)]
    kernel = kernels()[0]
    sizes = [parameter.size for parameter in kernel.parameters]
    return *found, simt.launch(kernel, 1, 32, *arguments(kernel.name, sizes)).to_dict()


@cache
def devices() -> tuple[str, ...]:
    """The device files."""
    folder = resources.files("simt.devices")
    return tuple(folder.joinpath(f"{name}.toml").read_text(encoding="utf-8") for name in simt.devices.names())
