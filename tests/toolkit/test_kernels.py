"""CUDA C through NVRTC."""

from __future__ import annotations

import os
import sys
from pathlib import Path

import numpy as np
import pytest

import simt
from simt.check import KernelError, LaunchError, UnsupportedError
from simt.disk_cache import DiskCache
from simt.sass import UnknownKernelError
from simt.toolkit import kernels, nvrtc
from simt.toolkit.find import include_folder
from tests.machine_view import DATA, needs_nvdisasm
from tests.toolkit.needs import needs_nvrtc

EXAMPLES = Path(__file__).resolve().parents[2] / "examples" / "cuda"

pytestmark = [needs_nvrtc, needs_nvdisasm]

SOURCE = """\
#include <cstdio>
#include <vector>

extern "C" __global__ void twice(int *x) {
  x[threadIdx.x] *= 2;
}
__global__ void thrice(int *x) { x[threadIdx.x] *= 3; }
template <int N, class T> __global__ void times(T *x) { x[threadIdx.x] *= N; }
int main() { std::vector<int> v; std::printf("%zu", v.size()); }
"""


@pytest.mark.parametrize(
    ("name", "factor"), [("twice", 2), ("thrice", 3), ("_Z6thricePi", 3), ("times<5, int>", 5), ("times<7,int>", 7)]
)
def test_kernels_by_readable_name(name: str, factor: int) -> None:
    x = np.arange(32, dtype=np.int32)
    profile = simt.launch(simt.load_cuda(SOURCE)[name], 1, 32, x)
    assert list(x) == [factor * k for k in range(32)]
    assert profile.view == "sm_90"


def test_the_listing_shows_the_source() -> None:
    x = np.zeros(32, np.int32)
    profile = simt.launch(simt.load_cuda(SOURCE)["twice"], 1, 32, x)
    assert "x[threadIdx.x] *= 2;" in profile.annotate()


@pytest.mark.parametrize("path", sorted([*EXAMPLES.glob("*.cu"), *DATA.glob("*.cu")]), ids=lambda path: path.name)
def test_whole_programs_compile_without_their_host(path: Path) -> None:
    """Files with main, host templates, macros: those of this repository."""
    if "cooperative_groups.h" in path.read_text(encoding="utf-8"):
        folder = include_folder()
        if folder is None or not (folder / "nv" / "target").is_file():
            pytest.skip("needs the headers of nvidia-cuda-cccl")
    found = simt.load_cuda(path)
    assert len(found) + len(found.templates) > 0


def test_a_header_of_ones_own(tmp_path: Path) -> None:
    (tmp_path / "more").mkdir()
    (tmp_path / "more" / "deep.h").write_text("__device__ int four() { return 4; }\nint host() { return main(); }\n")
    (tmp_path / "own.h").write_text("#pragma once\n#include <deep.h>\n__device__ int five() { return four() + BY; }\n")
    source = tmp_path / "k.cu"
    source.write_text('#include "own.h"\n#include "own.h"\n__global__ void k(int *x) { x[0] = five(); }\n')
    x = np.zeros(1, np.int32)
    options = ["-DBY=1", "-I", str(tmp_path / "more")]
    simt.launch(simt.load_cuda(source, options=options)["k"], 1, 1, x)
    assert x[0] == 5
    (tmp_path / "more" / "deep.h").write_text("__device__ int four() { return 40; }\n")
    simt.launch(simt.load_cuda(source, options=options)["k"], 1, 1, x)
    assert x[0] == 41  # not the cached one


def test_what_nvcc_declares_without_an_include() -> None:
    source = "__global__ void k(double *x) { uint n = UINT_MAX; x[0] = M_PI; x[1] = INFINITY; x[2] = n; }"
    x = np.zeros(3)
    simt.launch(simt.load_cuda(source)["k"], 1, 1, x)
    assert list(x) == [np.pi, np.inf, 2**32 - 1]


def test_types_and_limits_of_standard_headers() -> None:
    names = {
        "(double)INT_MIN": -(2**31), "INT_MAX": 2**31 - 1, "(double)LLONG_MIN": -(2.0**63), "UINT64_MAX": 2**64 - 1,
        "sizeof(int8_t)": 1, "sizeof(uint16_t)": 2, "sizeof(int64_t)": 8, "sizeof(uintptr_t)": 8, "SHRT_MIN": -(2**15),
        "UCHAR_MAX": 255, "INT16_MAX": 2**15 - 1, "UINT8_MAX": 255, "ULLONG_MAX": 2**64 - 1, "LONG_MAX": 2**63 - 1,
        "FLT_MAX": float(np.finfo(np.float32).max), "DBL_EPSILON": float(np.finfo(np.float64).eps),
    }  # fmt: skip
    lines = "\n".join(f"  x[{k}] = {name};" for k, name in enumerate(names))
    headers = "#include <cstdint>\n#include <climits>\n#include <cfloat>\n"
    x = np.zeros(len(names))
    source = f"{headers}__global__ void k(double *x) {{\n{lines}\n}}\n"
    simt.launch(simt.load_cuda(source)["k"], 1, 1, x)
    assert list(x) == [float(value) for value in names.values()]


@pytest.mark.skipif(sys.platform != "linux", reason="elsewhere no file has such a name")
def test_a_name_that_is_not_utf8(tmp_path: Path) -> None:
    path = tmp_path / os.fsdecode(b"a\xff.cu")
    path.write_text(SOURCE)
    with pytest.raises(LaunchError, match=r"\\udcff.* is not UTF-8") as found:
        kernels.compile_kernels(path)
    assert "rename" in found.value.help


def test_an_error_names_its_line(tmp_path: Path) -> None:
    source = tmp_path / "wrong.cu"
    source.write_text("int main() {}\n\n__global__ void k(int *x) {\n  x[0] = unknown;\n  x[1] = strange;\n}\n")
    with pytest.raises(KernelError, match='identifier "unknown" is undefined') as caught:
        simt.load_cuda(source)
    assert caught.value.location is not None
    assert (caught.value.location.file, caught.value.location.line) == (str(source), 4)
    assert '"strange" is undefined' in str(caught.value)
    assert "Traceback" not in str(caught.value)


@pytest.mark.parametrize(
    ("source", "words"),
    [
        ('#include "missing.h"\n', ['cannot open source file "missing.h"', "-I"]),
        ("__global__ void k(int *x) { x[0] = std::max(1, 2); }", ["no C++ standard library", "nvcc -cubin"]),
        ("int f() { return 1; }", ["has no kernels", "__global__"]),
    ],
)
def test_what_to_do_about_it(source: str, words: list[str]) -> None:
    with pytest.raises(KernelError) as caught:
        simt.load_cuda(source)
    assert all(word in str(caught.value) for word in words)


def test_refusals_of_what_was_asked_for() -> None:
    with pytest.raises(UnsupportedError, match="does not compile for sm_35"):
        simt.load_cuda(SOURCE, "sm_35")
    with pytest.raises(UnsupportedError, match="NVRTC refuses the options") as caught:
        simt.load_cuda(SOURCE, options=["--nonsense"])
    assert "--nonsense" in str(caught.value)
    with pytest.raises(LaunchError, match=r"there is no file nowhere\.cu"):
        simt.load_cuda("nowhere.cu")


def test_names_that_are_not_there() -> None:
    found = simt.load_cuda(SOURCE)
    with pytest.raises(UnknownKernelError, match="times is a template") as caught:
        found["times"]
    assert '"times<512>"' in caught.value.help
    with pytest.raises(UnknownKernelError, match="has no kernel 'fourth'") as caught:
        found["fourth"]
    assert "it has the template times<...>" in caught.value.details
    with pytest.raises(KernelError, match="times"):
        found["times<nothing>"]


def test_a_source_is_compiled_once(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setattr(kernels, "CUBINS", DiskCache("compiled CUDA C", tmp_path))
    compiled = []
    real = nvrtc.compile_source
    monkeypatch.setattr(nvrtc, "compile_source", lambda *given: compiled.append(given[0]) or real(*given))
    first = kernels.compile_kernels(SOURCE)
    assert kernels.compile_kernels(SOURCE) == first
    assert len(compiled) == 1
    kernels.compile_kernels(SOURCE, options=["-DX"])
    kernels.compile_kernels(SOURCE, "sm_80")
    assert len(compiled) == 3


def test_launches_of_kernels_compile_as_relocatable_code() -> None:
    source = "__global__ void child() {}\n__global__ void parent() { child<<<1, 1>>>(); cudaGetLastError(); }\n"
    assert {kernel.demangled for kernel in simt.load_cuda(source).values()} == {"child", "parent"}
