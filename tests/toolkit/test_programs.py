"""CUDA C to a program, with an nvcc that writes down how it is called and says what the test wants."""

from __future__ import annotations

import os
import sys
from pathlib import Path

import pytest

from simt.check import KernelError, LaunchError, UnsupportedError
from simt.disk_cache import DiskCache
from simt.toolkit import find, programs

pytestmark = pytest.mark.skipif(sys.platform == "win32", reason="the nvcc of these tests is a shell script")

NVCC = """#!/bin/sh
echo "$@" >> {log}
{says}
while [ $# -gt 0 ]; do
  case "$1" in -o) out=$2;; -MF) rule=$2;; *.cu) source=$1;; esac
  shift
done
printf 'out.o : %s \\\\\\n    {header}\\n' "$source" > "$rule"
cat "$source" {header} > "$out"
"""


class Nvcc:
    """A compiler that copies its sources."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.header = folder / "own header.h"
        self.header.write_text("// one\n")
        self.source = folder / "program.cu"
        self.source.write_text("int main() {}\n")
        (folder / "lib").mkdir()
        self.path = folder / "nvcc"
        self.says()

    def says(self, text: str = "", fails: bool = False, unless: str = "never") -> None:
        """Say *text* from now on, and make nothing if it *fails*; not if *unless* is among the options."""
        speaking = f'case "$*" in *{unless}*) ;; *) cat <<"END"\n{text}\nEND\n{"exit 1" if fails else ""};; esac'
        made = NVCC.format(
            log=self.folder / "log", says=speaking if text else "", header=str(self.header).replace(" ", "\\ ")
        )
        self.path.write_text(made)
        self.path.chmod(0o755)

    @property
    def calls(self) -> list[str]:
        log = self.folder / "log"
        return log.read_text().splitlines() if log.exists() else []

    def build(self, *options: str) -> Path:
        return programs.build_program(self.source, "sm_90", self.folder / "lib", options)


@pytest.fixture
def nvcc(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Nvcc:
    made = Nvcc(tmp_path)
    monkeypatch.setenv("SIMT_NVCC", str(made.path))
    for name in ("NVCC_PREPEND_FLAGS", "NVCC_APPEND_FLAGS"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setattr(programs, "PROGRAMS", DiskCache("programs", tmp_path / "programs"))
    monkeypatch.setattr(programs, "INCLUDED", DiskCache("lists", tmp_path / "included"))
    monkeypatch.setattr(programs.shutil, "which", lambda name: f"/usr/bin/{name}")
    return made


def test_the_command_line(nvcc: Nvcc) -> None:
    nvcc.build()
    lib = nvcc.folder / "lib"
    assert f"-cudart shared -L{lib} -Xlinker=-rpath-link={lib} -arch=sm_90 -lineinfo -O3 " in nvcc.calls[0]


@pytest.mark.parametrize(
    ("given", "missing"),
    [
        (["-arch=sm_80"], "-arch=sm_90"),
        (["-gencode", "arch=compute_80,code=sm_80"], "-arch=sm_90"),
        (["--gpu-architecture=sm_80"], "-arch=sm_90"),
        (["-G"], "-lineinfo"),
        (["-cudart", "none"], "-cudart shared"),
        (["-O0"], "-O3"),
    ],
)
def test_what_is_given_is_not_given_twice(nvcc: Nvcc, given: list[str], missing: str) -> None:
    nvcc.build(*given)
    assert missing not in nvcc.calls[0]
    assert " ".join(given) in nvcc.calls[0]


def test_options_of_the_environment(nvcc: Nvcc, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("NVCC_APPEND_FLAGS", "-G")
    nvcc.build()
    assert "-lineinfo" not in nvcc.calls[0]


def test_a_program_is_compiled_once_for_its_contents(nvcc: Nvcc, monkeypatch: pytest.MonkeyPatch) -> None:
    first = nvcc.build()
    assert first.read_text() == "int main() {}\n// one\n"
    assert first.name == "program"
    assert nvcc.build() == first
    assert len(nvcc.calls) == 1
    nvcc.header.write_text("// two\n")
    assert nvcc.build().read_text() == "int main() {}\n// two\n"
    assert len(nvcc.calls) == 2
    nvcc.header.write_text("// one\n")
    nvcc.build()
    nvcc.build("-DX")
    assert len(nvcc.calls) == 3  # the first is still there
    monkeypatch.setenv("NVCC_APPEND_FLAGS", "-DY")
    nvcc.build()
    assert len(nvcc.calls) == 4


def test_kernels_that_launch_kernels(nvcc: Nvcc) -> None:
    nvcc.says("k.cu(3): error: kernel launch from __device__ functions requires separate compilation mode", True, "rdc")
    assert nvcc.build().is_file()
    assert ["-rdc=true" in call for call in nvcc.calls] == [False, True]


def test_errors_name_their_line(nvcc: Nvcc) -> None:
    nvcc.says(f'{nvcc.source}(1): error: identifier "x" is undefined\n{nvcc.source}(7): error: too', fails=True)
    with pytest.raises(KernelError, match='identifier "x" is undefined') as caught:
        nvcc.build()
    assert caught.value.location is not None
    assert (caught.value.location.file, caught.value.location.line) == (str(nvcc.source), 1)
    assert caught.value.details == (f"{nvcc.source}(7): error: too",)


@pytest.mark.parametrize(
    ("said", "words"),
    [
        ("k.cu:1:10: fatal error: nix.h: No such file or directory", ["nix.h", "NVCC_APPEND_FLAGS"]),
        (
            "k.cu:1:10: fatal error: cublas_v2.h: No such file or directory",
            ["programs that use cublas do not run here"],
        ),
        (
            "k.cu:1:10: fatal error: nppi.h: No such file or directory",
            ["programs that use npp do not run here"],
        ),
        ("k.cu(1): error: a lambda requires --extended-lambda nvcc flag", ['NVCC_APPEND_FLAGS="--extended-lambda"']),
        (
            'k.cu(9): error: calling a constexpr __host__ function("max") from a __global__ function("f") is not '
            "allowed. The experimental flag '--expt-relaxed-constexpr' can be used to allow this.",
            ["the source is wrong: calling", 'NVCC_APPEND_FLAGS="--expt-relaxed-constexpr"'],
        ),
        ("k.cu:1:10: fatal error: cub/cub.cuh: No such file or directory", ["pip install nvidia-cuda-cccl"]),
        ('k.cu(3): error: calling a __host__ function("cudaDeviceSynchronize")', ["cudaStreamTailLaunch"]),
        ("ld: cannot find -lnothing", ["program.cu does not compile", "cannot find -lnothing"]),
    ],
)
def test_what_to_do_about_errors(nvcc: Nvcc, said: str, words: list[str]) -> None:
    nvcc.says(said, fails=True)
    with pytest.raises(KernelError) as caught:
        nvcc.build()
    assert all(word in str(caught.value) for word in words)


@pytest.mark.skipif(sys.platform != "linux", reason="elsewhere no file has such a name")
@pytest.mark.parametrize("name", [b"a\xff.cu", b"\xff/a.cu"])
def test_names_that_are_not_utf8(nvcc: Nvcc, name: bytes) -> None:
    nvcc.source = nvcc.folder / os.fsdecode(name)
    nvcc.source.parent.mkdir(exist_ok=True)
    nvcc.source.write_text("int main() {}\n")
    with pytest.raises(LaunchError, match=r"\\udcff.* is not UTF-8") as found:
        nvcc.build()
    assert "rename" in found.value.help


def test_architectures_that_nvcc_does_not_know(nvcc: Nvcc) -> None:
    nvcc.says("nvcc fatal   : Unsupported gpu architecture 'compute_61'", fails=True)
    with pytest.raises(UnsupportedError, match="does not compile for sm_61") as caught:
        nvcc.build()
    assert "--arch" in caught.value.help


def test_what_is_missing_says_how_to_get_it(nvcc: Nvcc, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(programs.shutil, "which", lambda name: None)
    with pytest.raises(UnsupportedError, match="needs a compiler for C") as caught:
        nvcc.build()
    assert "apt install g++" in caught.value.help
    assert "simt run FILE.cu:KERNEL" in caught.value.help
    monkeypatch.delenv("SIMT_NVCC")
    monkeypatch.setattr(find.metadata, "files", lambda wheel: [])
    monkeypatch.setattr(find.shutil, "which", lambda name: None)
    with pytest.raises(UnsupportedError, match="needs nvcc, which is not installed") as caught:
        nvcc.build()
    assert "pip install 'simt[sass]'" in caught.value.help
    nvcc.source.unlink()
    with pytest.raises(LaunchError, match="there is no file"):
        nvcc.build()
