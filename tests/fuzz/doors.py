"""What comes in by the other doors: CUDA C, bytes of parameters, the driver's messages, formats of ``printf``."""

from __future__ import annotations

import contextlib
import gc
import io
import time
from collections.abc import Callable
from functools import cache
from pathlib import Path
from random import Random
from typing import Any

import simt
from simt.calls.options import Options
from simt.check import LaunchError
from simt.driver import protocol
from simt.driver.session import Cancelled, Session
from simt.driver.settings import Settings
from simt.runtime import Context
from simt.system.printf import CannotFormatError, printf
from tests.fuzz import seeds
from tests.fuzz.mutators import NUMBERS, spoil_bytes, spoil_lines

BUDGET = 3000
Trial = Callable[[Path], object]

SOURCE = """\
#include <cstdio>
__constant__ int factors[4] = {1, 2, 3, 4};
struct Pair { int *first; float second; };
template <int N> __device__ int folded(int x) {
    for (int k = N; k > 0; k >>= 1) x += __shfl_down_sync(0xffffffffu, x, k);
    return x;
}
__global__ void fold(int *data, Pair pair, int n) {
    __shared__ int tile[64];
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    tile[threadIdx.x % 64] = i < n ? data[i] * factors[i & 3] : 0;
    __syncthreads();
    int sum = folded<16>(tile[threadIdx.x % 64]);
    if (threadIdx.x % 32 == 0) atomicAdd(pair.first, sum);
    if (i == 0) printf("%d of %s is %5.2f\\n", sum, "all", pair.second);
}
"""
FORMATS = (
    b"%d %5u %-8x|%+i %08.3f %e %G %s %c %p %lld %hhd %hu %zu %%\n",
    b"%*d %.*f %-*s %#o %#x % d %a",
    b"block %d, thread %d: %s\n",
)
RANDOM_WORDS = (0, 1, 31, 0x7FFFFFFF, 0x80000000, 0xFFFFFFFF, 0x7FF00000, 0x7FF80000, 0xFFF00000, 0x3FF00000)


def source(random: Random) -> tuple[str, bytes, Trial]:
    """Lines and characters of CUDA C."""
    text = spoil_lines(random, SOURCE).encode("utf-8", "surrogatepass")

    def trial(path: Path) -> None:
        kernels = simt.load_cuda(path)
        for kernel in kernels.values():
            sizes = [parameter.size for parameter in kernel.parameters or ()]
            simt.launch(kernel, 1, 64, *seeds.arguments(kernel.name, sizes), max_instructions=BUDGET)

    return ".cu", text, trial


@cache
def _device() -> tuple[simt.Device, tuple[Any, ...]]:
    """A device, and small kernels whose variables are in its memory."""
    device = simt.Device(stdout=io.StringIO())
    small = [str(cubin.path) for cubin in seeds.small_cubins()]
    paths = [path for path in small if "sm_80" not in path and "sm_61" not in path]
    kernels = [kernel for path in paths for kernel in device.load(path).values()]
    return device, tuple(kernel for kernel in kernels if not kernel.externs)


def raw(random: Random) -> tuple[str, bytes, Trial]:
    """Bytes of a kernel's parameters, some of them addresses of device memory."""
    _, kernels = _device()
    number = random.randrange(len(kernels))
    size = kernels[number].parameter_bytes
    parameters = bytearray(random.choice(NUMBERS) % 256 for _ in range(size))
    places = [at for at in range(0, size - 7, 8) if random.random() < 0.7]
    blocks = random.choice((1, 2, (2, 2, 1)))
    threads = random.choice((1, 32, 48, (8, 8, 1)))
    spoilt = spoil_bytes(random, bytes(parameters)) if random.random() < 0.3 else bytes(parameters)

    def trial(path: Path) -> None:
        device, kernels = _device()
        device.recover()
        memory = device.array([0] * 256)
        data = bytearray(path.read_bytes())
        for at in places:
            data[at : at + 8] = memory.address.to_bytes(8, "little")
        shape = [each if isinstance(each, tuple) else (each, 1, 1) for each in (blocks, threads)]
        device.launch_raw(kernels[number], *shape, bytes(data), Options(max_instructions=BUDGET), profiled=False)

    return ".bin", spoilt, trial


class _Words:
    """Arguments of a call, of random words and texts."""

    def __init__(self, random: Random) -> None:
        self._random = random

    def word(self) -> int:
        """See Arguments."""
        return self._random.choice((*RANDOM_WORDS, self._random.getrandbits(32)))

    def double_word(self) -> int:
        """See Arguments."""
        return self.word() << 32 | self.word()

    def text(self, address: int) -> bytes:
        """See Arguments."""
        return self._random.randbytes(address % 40)


def formats(random: Random) -> tuple[str, bytes, Trial]:
    """Bytes of a format, and random arguments."""
    template = spoil_bytes(random, random.choice(FORMATS))

    def trial(path: Path) -> None:
        try:
            printf(path.read_bytes(), _Words(random))
        except CannotFormatError as error:  # a launch says where
            raise LaunchError(str(error)) from None

    return ".txt", template, trial


_TRUSTED = ("profile",)
"""It carries what Python pickled: the library and the server are one user's, who trusts both."""
_BEGINNING = ("hello", "load", "function", "allocate")
_BITS = {"u32": 32, "u64": 64}
SECONDS = 5.0
"""Of a session: a launch of many blocks is then as if the program had gone."""


def messages(random: Random) -> tuple[str, bytes, Trial]:
    """A program's messages to the driver: fields and bytes, their order and number."""
    cubin = random.choice(seeds.small_cubins())
    kernel = random.choice(list(cubin.kernels))
    sound: dict[str, tuple[tuple[float, ...], bytes]] = {
        "load": ((), cubin.data),
        "function": ((0,), kernel.encode()),
        "variable": ((0,), b"factors"),
        "allocate": ((4096, 0), b""),
        "image": ((1 << 45, 64, 16, 4, 0, 0, 0, 7, 1, 0, 0, 0, 0, 0, 1, 1, 1, 0, 0, 0, 0), b""),
        "launch": ((0, 1, 1, 1, 32, 1, 1, 0, 0, 0), bytes(sum(cubin.sizes[kernel]) + 64)),
        "note": ((), b"call cudaMalloc 10 20\ncopy HtoD 64 0\nstub cuFoo"),
        "limit": ((2, 1 << 20), b""),
    }
    known = {message.name: message for message in protocol.messages() if message.name not in _TRUSTED}
    payloads = []
    for name in (*_BEGINNING, *random.choices(list(known), k=6)):
        types = [field.type for field in known[name].request for _ in range(field.count or 1)]
        values, tail = sound.get(name, ((0,) * len(types), b""))
        if random.random() < 0.3:
            values = tuple(random.choice((value, value, *NUMBERS)) for value in values)
        fields = [int(v) % (1 << _BITS[t]) if t in _BITS else float(v) for v, t in zip(values, types, strict=True)]
        payload = known[name].form.pack(*fields) + tail
        payloads.append((known[name], spoil_bytes(random, payload) if random.random() < 0.15 else payload))

    def trial(_: Path) -> None:
        end = time.process_time() + SECONDS
        settings = Settings(max_instructions=BUDGET, timing=random.random() < 0.1)
        session = Session(settings, Context(), lambda: time.process_time() < end)
        with contextlib.suppress(Cancelled):
            for message, payload in payloads:
                session.answer(message, payload)
        del session
        gc.collect()  # kernels know each other, in a circle: 64 GiB of addresses would stay for a while

    return ".bin", b"".join(payload for _, payload in payloads), trial
