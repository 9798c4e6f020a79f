"""Cubins and listings: what they say about their kernels, and what is wrong with bad ones."""

from __future__ import annotations

import sys
from functools import partial
from pathlib import Path

import numpy as np
import pytest
from hypothesis import example, given
from hypothesis import strategies as st

import simt
from simt.check import KernelError, LaunchError, UnsupportedError
from simt.demangle import aliases, demangle
from simt.sass import UnknownKernelError, bank_image, check_arguments, load_cubin
from simt.sass.banks import parameter_bytes
from simt.sass.elf import Parameter
from simt.sass.grammar import Control
from simt.sass.operands import Immediate
from simt.system import FUNCTIONS
from simt.toolkit import find, nvdisasm
from tests.sass.assembler import listing
from tests.sass.data import DATA, cubin, launch

REDUCE = "_Z16reduceNeighboredPiS_j"


def test_attributes() -> None:
    kernel = cubin("sm_90/kernels_O3")[REDUCE]
    assert (kernel.architecture, kernel.registers, kernel.local_bytes, kernel.shared_bytes) == (90, 14, 0, 0)
    assert [(p.offset, p.size) for p in kernel.parameters or ()] == [(0, 8), (8, 8), (16, 4)]
    assert kernel.parameter_base == 0x210
    assert "V13.0.88" in kernel.program.toolchain
    pascal = cubin("sm_61/kernels")[REDUCE]
    assert (pascal.architecture, pascal.parameter_base, pascal.registers) == (61, 0x140, 18)
    assert cubin("sm_61/kernels")["loopDiv"].banks[2]
    scan = cubin("sm_90/opcodes_O3")["scan"]
    assert (scan.shared_bytes, scan.system_shared_bytes) == (4096, 1024)
    before = cubin("sm_80/opcodes_O3")["scan"]
    assert (before.shared_bytes, before.system_shared_bytes) == (4096, 0)


def test_line_information() -> None:
    sources = {line.source for line in cubin_with_lines().program.listing}
    assert {line for source in sources if source for _, line in [source]} >= {1, 5, 6}


def cubin_with_lines():
    """The -G build, disassembled here: its stored listing has no line information."""
    return load_cubin(DATA / "sm_90" / "kernels_G.cubin")[REDUCE]


def test_names() -> None:
    kernels = cubin("sm_90/kernels_O3")
    assert kernels["reduceNeighbored"] is kernels[REDUCE]
    assert kernels["reduceCompleteUnroll<512>"] is kernels["reduceCompleteUnroll"]
    assert REDUCE in kernels
    assert "vecAdd" in kernels
    assert "nothing" not in kernels
    assert len(kernels) == len(list(kernels)) == 17
    with pytest.raises(UnknownKernelError, match="has no kernel 'reduce'") as caught:
        kernels["reduce"]
    assert isinstance(caught.value, KeyError)
    assert any("reduceNeighbored (_Z16" in detail for detail in caught.value.details)
    assert len(caught.value.details) == 17
    with pytest.raises(UnknownKernelError, match="did you mean reduceNeighbored or reduceNeighboredLess"):
        kernels["reduceNeighboured"]
    assert repr(kernels).startswith("<17 kernels of ")


def test_a_kernel_is_listed_once_by_the_name_that_finds_it() -> None:
    with pytest.raises(UnknownKernelError) as caught:
        cubin("linked/names")["third"]
    assert len(set(caught.value.details)) == len(caught.value.details) == 3


@pytest.mark.parametrize(
    ("mangled", "readable"),
    [
        ("_Z16reduceNeighboredPiS_j", "reduceNeighbored"),
        ("_Z20reduceCompleteUnrollILj512EEvPiS0_j", "reduceCompleteUnroll<512>"),
        ("_ZN5outer5innerIifLin3EEEvv", "outer::inner<int, float, -3>"),
        ("_ZN6cudapy8__main__3addB2v1B4cw51E5ArrayIiLi1E1C7mutable7alignedE", "cudapy::__main__::add"),
        ("plain_c_name", "plain_c_name"),
        ("_Z3", "_Z3"),
        ("_ZN3fooIXadL_Z1xEEEEvv", "foo<&x>"),
    ],
)
def test_demangle(mangled: str, readable: str) -> None:
    assert demangle(mangled) == readable


def test_aliases() -> None:
    assert aliases("_ZN1a1bILi2EEEvv") == ["a::b<2>", "b<2>", "b"]


def test_constant_bank_0() -> None:
    kernel = cubin("sm_90/kernels_O3")["vecAdd"]
    arrays = [np.zeros(4, np.float32) for _ in range(3)]
    banks = bank_image(kernel, (7, 8, 9), (4, 5, 6), [*arrays, np.int32(-2)], [0x1000, 0x2000, 0x3000, None])
    words = np.frombuffer(banks[0].data, np.int32)
    assert words[:6].tolist() == [4, 5, 6, 7, 8, 9]
    assert words[0x210 // 4 : 0x22C // 4].tolist() == [0x1000, 0, 0x2000, 0, 0x3000, 0, -2]


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ([np.zeros(4, np.int32), np.zeros(4, np.int32)], "takes 3 arguments, not 2"),
        ([np.zeros(4, np.int32), np.zeros(4, np.int32), np.int64(4)], "argument 2 has 8 bytes"),
        ([np.zeros(4, np.int32), np.int32(1), np.uint32(4)], "argument 1 has 4 bytes"),
        ([np.zeros(4, np.int32), np.zeros(4, np.int32), np.zeros(4, np.int32)], "argument 2 is an array"),
        ([np.zeros(4, np.int32), np.zeros(4, np.int32), 2**40], "does not fit in 4 bytes"),
        ([np.zeros(4, np.int32), np.zeros(4, np.int32), "4"], "argument 2 is a str"),
    ],
)
def test_wrong_arguments(arguments: list[object], message: str) -> None:
    with pytest.raises(LaunchError, match=message):
        check_arguments(cubin("sm_90/kernels_O3")["reduceNeighbored"], (32, 1, 1), arguments)


def test_python_numbers_take_the_size_of_the_parameter() -> None:
    kernel = cubin("sm_90/kernels_O3")["reduceNeighbored"]
    sums = np.zeros(2, np.int32)
    simt.launch(kernel, 2, 512, np.ones(1024, np.int32), sums, 1024)
    assert sums.tolist() == [512, 512]
    for data, size in (([1] * 1024, 1024), (np.ones(1024, np.int32), "n")):
        with pytest.raises(LaunchError, match=r"argument \d is a (list|str)"):
            simt.launch(kernel, 2, 512, data, sums, size)


@given(st.floats() | st.integers(-(2**64), 2**64), st.sampled_from((1, 2, 4, 8)))
@example(1.5, 4)
@example(1.5, 8)
@example(1.5, 2)
@example(1e39, 4)
def test_bytes_of_python_numbers(value: float, size: int) -> None:
    """Integers of any size, signed or unsigned, and floats of four and eight bytes, as far as they fit."""
    given_bytes = partial(parameter_bytes, Parameter(0, 0, size), value, None, iter(()))
    if isinstance(value, int):
        kinds = [np.dtype(f"{sign}{size}") for sign in "iu"]
        fits = [kind for kind in kinds if np.iinfo(kind).min <= value <= np.iinfo(kind).max]
    else:
        with np.errstate(over="ignore"):
            kept = size == 8 or (size == 4 and np.isinf(np.float32(value)) == np.isinf(value))
        fits = [np.dtype(f"f{size}")] if kept else []
    if fits:
        assert given_bytes() == np.array(value, fits[0]).tobytes()
    else:
        with pytest.raises(LaunchError, match=f"argument 0 .*in {size} bytes?|argument 0 is a float"):
            given_bytes()


def test_listing_alone(tmp_path: Path) -> None:
    path = DATA / "sm_90" / "kernels_O3.sass"
    kernel = load_cubin(path)["mathKernel1"]
    with pytest.raises(LaunchError, match="parameters of _Z11mathKernel1Pf are not known"):
        check_arguments(kernel, (32, 1, 1), [np.zeros(4, np.float32)])
    kernel = load_cubin(path, parameters={"mathKernel1": [8]})["mathKernel1"]
    out = np.zeros(64, np.float32)
    launch(kernel, (1, 1, 1), (64, 1, 1), [out])
    assert out.tolist() == [100.0, 200.0] * 32


def test_cuobjdump_format(tmp_path: Path) -> None:
    text = """
	code for sm_90
		Function : k
	.headerflags	@"EF_CUDA_SM90"
        /*0000*/                   LDC.64 R2, c[0x0][0x210] ;      /* 0x00008400ff027b82 */
                                                                   /* 0x000e220000000a00 */
        /*0010*/                   S2R R0, SR_TID.X ;              /* 0x0000000000007919 */
                                                                   /* 0x000e6e0000002100 */
        /*0020*/                   IMAD.WIDE.U32 R2, R0, 0x4, R2 ; /* 0x0000000400027825 */
                                                                   /* 0x003fca00078e0002 */
        /*0030*/                   STG.E desc[UR4][R2.64], R0 ;    /* 0x0000000002007986 */
                                                                   /* 0x000fe2000c101904 */
        /*0040*/                   EXIT ;                          /* 0x000000000000794d */
                                                                   /* 0x000fea0003800000 */
        /*0050*/                   BRA 0x50;                       /* 0xfffffffc00fc7947 */
                                                                   /* 0x000fc0000383ffff */
		..........
"""
    path = tmp_path / "k.sass"
    path.write_text(text)
    kernel = load_cubin(path, parameters={"k": [8]})["k"]
    out = np.zeros(32, np.int32)
    launch(kernel, (1, 1, 1), (32, 1, 1), [out])
    assert out.tolist() == list(range(32))
    assert kernel.program.listing[5].text == "BRA 0x50"


def test_upper_halves_of_encodings_alone(tmp_path: Path) -> None:
    """Control bits stand in the upper half; a listing may lack the lower one."""
    lines = ["IADD3 R1, R2, R3, R4", "EXIT"]
    bits = [0b0000_101011_100_001_1_0111, 0b0001_000000_111_111_0_0101]
    text = listing(lines).splitlines()
    for k, control in enumerate(bits):
        text.insert(4 + 2 * k, f"    /* {control << 41:#018x} */")
    path = tmp_path / "k.sass"
    path.write_text("\n".join(text) + "\n")
    code = load_cubin(path, parameters={"k": []})["k"].code
    assert [instruction.control for instruction in code.instructions] == [Control.from_bits(each) for each in bits]


def test_numeric_targets_count_from_the_start_of_their_own_function(tmp_path: Path) -> None:
    """As cuobjdump prints them: ``f`` stands behind the kernel, and its branch goes to its own third instruction."""
    kernel = ["S2R R0, SR_TID.X", "CALL.REL.NOINC `(f)", "EXIT"]
    function = ["MOV R4, 0x5", "BRA 0x30", "MOV R4, 0x7", "RET.REL.NODEC R20 `(k)"]
    path = tmp_path / "k.sass"
    path.write_text(listing(kernel) + listing(function).replace(".text.k", ".text.f").replace("\nk:", "\nf:"))
    code = load_cubin(path, parameters={"k": []})["k"].code
    assert code.bases["f"] > 0
    branch = next(each for each in code.instructions if each.opcode == "BRA")
    assert branch.operands == (Immediate(code.bases["f"] + 0x30),)


@pytest.mark.parametrize("keep", [0.3, 0.55, 0.8])
def test_truncated_listing(tmp_path: Path, keep: float) -> None:
    lines = (DATA / "sm_90" / "kernels_O3.sass").read_text().splitlines()
    path = tmp_path / "cut.sass"
    path.write_text("\n".join(lines[: int(len(lines) * keep)]))
    with pytest.raises(KernelError, match="is truncated"):
        load_cubin(path)


def test_lost_line(tmp_path: Path) -> None:
    lines = (DATA / "sm_90" / "kernels_O3.sass").read_text().splitlines()
    del lines[30]
    path = tmp_path / "lost.sass"
    path.write_text("\n".join(lines))
    with pytest.raises(KernelError, match="is truncated"):
        load_cubin(path)


def test_listing_of_another_cubin(tmp_path: Path) -> None:
    """A listing that does not belong to the cubin is an error that says what differs and what to do."""
    cubin = DATA / "sm_61" / "kernels.cubin"
    with pytest.raises(LaunchError, match="is not that of") as caught:
        load_cubin(cubin, listing=DATA / "sm_90" / "kernels_O3.sass")
    assert caught.value.details == ("it is for sm_90, the cubin for sm_61",)
    assert f"nvdisasm {cubin}" in caught.value.help
    renamed = tmp_path / "renamed.sass"
    renamed.write_text((DATA / "sm_61" / "kernels.sass").read_text().replace(REDUCE, "renamed"))
    with pytest.raises(LaunchError) as caught:
        load_cubin(cubin, listing=renamed)
    assert caught.value.details == (
        "renamed: 896 bytes in the listing, no bytes in the cubin",
        f"{REDUCE}: no bytes in the listing, 896 bytes in the cubin",
    )
    with pytest.raises(LaunchError) as caught:
        load_cubin(DATA / "sm_90" / "kernels_G.cubin", listing=DATA / "sm_90" / "kernels_O3.sass")
    assert any(detail.startswith(f"{REDUCE}: ") for detail in caught.value.details)
    with pytest.raises(LaunchError, match="there is no file"):
        load_cubin(cubin, listing=tmp_path / "missing.sass")
    with pytest.raises(LaunchError, match="requires a cubin"):
        load_cubin(renamed, listing=renamed)


def test_not_a_cubin(tmp_path: Path) -> None:
    with pytest.raises(KernelError, match="there is no file"):
        load_cubin(tmp_path / "missing.cubin")
    empty = tmp_path / "empty"
    empty.write_bytes(b"")
    with pytest.raises(KernelError, match="is neither a cubin nor a SASS listing: no machine code"):
        load_cubin(empty)
    source = tmp_path / "kernels.cu"
    source.write_text("__global__ void k() {}")
    with pytest.raises(KernelError, match=r"(?s)neither a cubin nor a SASS listing.*compile it first: nvcc -cubin"):
        load_cubin(source)
    binary = tmp_path / "binary"
    binary.write_bytes(bytes(range(128, 256)) * 8)
    with pytest.raises(KernelError, match="neither a cubin nor a SASS listing"):
        load_cubin(binary)
    broken = tmp_path / "broken.cubin"
    broken.write_bytes((DATA / "sm_90" / "kernels_O3.cubin").read_bytes()[:300])
    with pytest.raises(LaunchError, match=r"broken.cubin is a damaged cubin: at byte 0x\w+, the header of section 0"):
        load_cubin(broken)


def test_architectures(tmp_path: Path) -> None:
    with pytest.raises(UnsupportedError, match="no longer reads"):
        _ = load_cubin(DATA / "sm_61" / "kernels.cubin")[REDUCE].program
    data = bytearray((DATA / "sm_90" / "kernels_O3.cubin").read_bytes())
    data[49] = 70  # e_flags, bits 8 to 15
    path = tmp_path / "volta.cubin"
    path.write_bytes(data)
    with pytest.raises(UnsupportedError, match="is for sm_70"):
        load_cubin(path)


def test_no_disassembler(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("SIMT_NVDISASM", raising=False)
    monkeypatch.setattr(find.metadata, "files", lambda wheel: None)
    monkeypatch.setattr(find.shutil, "which", lambda name: None)
    kernel = load_cubin(DATA / "sm_90" / "kernels_O3.cubin")[REDUCE]
    with pytest.raises(UnsupportedError, match="nvdisasm is not installed") as caught:
        _ = kernel.program
    assert "simt[sass]" in caught.value.help


@pytest.mark.skipif(sys.platform == "win32", reason="a shell script is run")
def test_a_disassembler_that_does_not_end(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """Some damaged files keep nvdisasm busy for ever."""
    program = tmp_path / "nvdisasm"
    program.write_text("#!/bin/sh\nexec sleep 60\n")
    program.chmod(0o755)
    monkeypatch.setenv("SIMT_NVDISASM", str(program))
    monkeypatch.setattr(nvdisasm, "LONGEST", 0.1)
    with pytest.raises(UnsupportedError, match="nvdisasm cannot read") as caught:
        _ = load_cubin(DATA / "sm_90" / "kernels_O3.cubin")[REDUCE].program
    assert "it was stopped after" in str(caught.value)
    assert "listing" in caught.value.help


def test_external_functions(monkeypatch: pytest.MonkeyPatch) -> None:
    """A kernel that calls a function that nobody has is refused; another one of the same file runs."""
    monkeypatch.delitem(FUNCTIONS, "vprintf")
    kernels = cubin("sm_90/external_O3")
    data = np.arange(32, dtype=np.int32)
    launch(kernels["plain"], (1, 1, 1), (32, 1, 1), [data])
    assert data.tolist() == list(range(1, 33))
    with pytest.raises(UnsupportedError, match="prints calls vprintf"):
        _ = kernels["prints"].program


@pytest.mark.parametrize("architecture", [75, 80, 100, 120])
def test_all_opcode_kernels_lower_on_other_architectures(architecture: int) -> None:
    kernels = cubin(f"sm_{architecture}/opcodes_O3")
    for kernel in kernels.values():
        assert len(kernel.program.listing) == len(kernel.code.instructions)
