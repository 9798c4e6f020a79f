"""Large cubins: one kernel is disassembled alone, and is the same code as with all others."""

from __future__ import annotations

import re
from collections.abc import Sequence
from itertools import pairwise

import pytest

import simt
from simt.sass import disassembly
from simt.sass.kernel import Kernels
from simt.sass.listing import CodeSection
from simt.toolkit.nvdisasm import disassemble
from tests.machine_view import DATA, needs_nvdisasm
from tests.toolkit.needs import needs_nvrtc

pytestmark = needs_nvdisasm
LINKED = """
extern "C" __device__ __noinline__ int twice(int x) { return 2 * x; }
extern "C" __device__ __noinline__ int thrice(int x) { return twice(x) + x; }
extern "C" __device__ __noinline__ int less(int x) { return x - 1; }
extern "C" __global__ void near(int *o) { o[threadIdx.x] = thrice(o[threadIdx.x]); }
extern "C" __global__ void far(int *o) { o[threadIdx.x] = less(o[threadIdx.x]); }
"""
Asked = list[Sequence[int]]


@pytest.fixture
def asked(monkeypatch: pytest.MonkeyPatch) -> Asked:
    """The functions that each call of nvdisasm was asked for; every cubin counts as a large one."""
    found: Asked = []

    def spy(shown: str, data: bytes, architecture: int, functions: Sequence[int] = ()) -> str:
        found.append(functions)
        return disassemble(shown, data, architecture, functions)

    monkeypatch.setattr("simt.sass.disassembly.disassemble", spy)
    monkeypatch.setattr(disassembly, "LARGE", 0)
    return found


def _code(kernels: Kernels, name: str) -> list[str]:
    """The instructions of a kernel, without the numbers of labels, which count through what is disassembled."""
    return [re.sub(r"\.L_x_[0-9]+", "label", repr(each)) for each in kernels[name].code.instructions]


@pytest.mark.parametrize("name", ["structures", "variables_O3"])
def test_alone_and_with_all_others(name: str, asked: Asked, monkeypatch: pytest.MonkeyPatch) -> None:
    path = DATA / "sm_90" / f"{name}.cubin"
    names = list(simt.load_cubin(path))[:4]
    alone = {each: _code(simt.load_cubin(path), each) for each in names}
    assert [len(functions) for functions in asked] == [1] * len(names)
    monkeypatch.setattr(disassembly, "LARGE", 1 << 62)
    together = simt.load_cubin(path)
    assert alone == {each: _code(together, each) for each in names}
    assert len(asked[-1]) == 0


@needs_nvrtc
def test_functions_come_with_their_kernel_and_the_second_kernel_with_all_others(asked: Asked) -> None:
    kernels = simt.load_cuda(LINKED, options=["-rdc=true"])
    assert list(kernels["near"].code.bases) == ["near", "thrice", "twice"]
    assert [len(functions) for functions in asked] == [3]
    assert list(kernels["far"].code.bases) == ["far", "less"]
    assert [len(functions) for functions in asked] == [3, 0]
    assert _code(kernels, "near") == _code(simt.load_cuda(LINKED, options=["-rdc=true"]), "near")


MINE, HEADER = "/home/me/include/mine.h", "/usr/local/cuda-13.0/targets/x86_64-linux/include/sm_30_intrinsics.hpp"
CUB, WHEEL = "/usr/local/cuda/include/cccl/cub/warp.cuh", "/lib/python3/site-packages/nvidia/cu13/include/cub.cuh"


@pytest.mark.parametrize(
    ("places", "line"),
    [
        ([("a.cu", 7)], ("a.cu", 7)),
        ([(MINE, 3), ("a.cu", 7)], (MINE, 3)),
        ([(HEADER, 397), ("a.cu", 7)], ("a.cu", 7)),
        ([(HEADER, 397), (CUB, 80), (WHEEL, 90), (MINE, 3), ("a.cu", 7)], (MINE, 3)),
        ([(CUB, 80)], (CUB, 80)),
    ],
)
def test_of_what_was_inlined_from_headers_of_cuda_the_callers_line_counts(
    places: list[tuple[str, int]], line: tuple[str, int]
) -> None:
    """As nvdisasm -gi writes it: every place but the last one says where it was inlined."""
    said = [f'//## File "{file}", line {number}' for file, number in places]
    said = [f"{each} inlined at {after.removeprefix('//## File ')}" for each, after in pairwise(said)] + said[-1:]
    text = "\n".join(f"\t{each}" for each in said) + "\n        /*0000*/                   NOP ;"
    (instruction,) = CodeSection("k", text, 1, "k.sass", 90).instructions
    assert instruction.source == line


COUNTING = """#include <cuda/std/bit>
extern "C" __global__ void k(unsigned *x) {
  x[threadIdx.x] = cuda::std::popcount(x[threadIdx.x]);
}
"""


@needs_nvrtc
def test_a_function_of_a_header_of_cuda_has_the_line_of_its_call() -> None:
    code = simt.load_cuda(COUNTING)["k"].code.instructions
    assert {each.source[1] for each in code if each.opcode == "POPC" and each.source} == {3}
