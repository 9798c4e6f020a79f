"""Damaged cubins and listings: one error that says which file, which byte or line, and why; never a traceback."""

from __future__ import annotations

import subprocess
from pathlib import Path

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from simt.check import LaunchError, ListingError, SimtError, UnsupportedError
from simt.disk_cache import DiskCache
from simt.sass import load_cubin
from simt.sass.elf import Image
from simt.sass.grammar import Control, NotThere, parse
from simt.sass.module import Module
from simt.toolkit import nvdisasm
from tests.sass.assembler import listing
from tests.sass.data import DATA

CUBIN = (DATA / "linked" / "names.cubin").read_bytes()
SECTION_HEADERS = int.from_bytes(CUBIN[0x28:0x30], "little")
BYTES = st.integers(0, len(CUBIN) - 1) | st.integers(0, 63) | st.integers(SECTION_HEADERS, len(CUBIN) - 1)


@settings(max_examples=300, deadline=None)
@given(st.lists(st.tuples(BYTES, st.integers(0, 255)), max_size=8), st.integers(0, len(CUBIN)))
@example([], 64)
def test_any_bytes_are_read_or_refused(changes: list[tuple[int, int]], kept: int) -> None:
    data = bytearray(CUBIN)
    for at, value in changes:
        data[at] = value
    for given_bytes in (bytes(data), bytes(data[:kept])):
        try:
            image = Image("k.cubin", given_bytes)
            Module("k.cubin", image, lambda: pytest.fail("no listing is needed"))
            for kernel in image.kernels:
                image.banks(kernel)
        except SimtError as error:
            said = str(error)
        else:
            said = "k.cubin"
        assert "k.cubin" in said


def with_number(at: int, size: int, value: int) -> bytes:
    return CUBIN[:at] + value.to_bytes(size, "little") + CUBIN[at + size :]


def header(name: str) -> int:
    """Where the header of a section is."""
    number = next(section.number for section in Image("", CUBIN).sections if section.name == name)
    return SECTION_HEADERS + 64 * number


@pytest.mark.parametrize(
    ("data", "message"),
    [
        (CUBIN[:40], r"at byte 0x0, the ELF header needs 64 bytes; the file has 40"),
        (with_number(0x3E, 2, 99), r"at byte 0x3e, section 99 with the names of sections is not one of 35"),
        (with_number(0x3A, 2, 40), r"at byte 0x3a, section headers have 40 bytes, not 64"),
        (with_number(header(".text.first"), 4, 1 << 30), r"the name of section 29 has no end"),
        (with_number(header(".symtab") + 24, 8, 1 << 60), r"symbol 0 needs 24 bytes"),
        (with_number(header(".symtab") + 40, 4, 77), r"there is no section 77 with names"),
        (with_number(header(".nv.global.init") + 32, 8, 8), r"a relocation is at 0x\w+ of .nv.global.init"),
        (with_number(header(".nv.info.first") + 32, 8, 12), r"an attribute of \d+ bytes extends past the end"),
    ],
)
def test_where_and_why(data: bytes, message: str) -> None:
    with pytest.raises(LaunchError, match=f"k.cubin is a damaged cubin: .*{message}"):
        Image("k.cubin", data)


@pytest.mark.parametrize("size", [0x10000, 0x10001])
def test_a_constant_bank_has_64_kib(size: int) -> None:
    image = Image("k.cubin", with_number(header(".nv.constant0.first") + 32, 8, size))
    kernel = next(kernel for kernel in image.kernels if kernel.name == "first")
    if size == 0x10000:
        assert image.banks(kernel)[0].size == size
        return
    with pytest.raises(LaunchError, match=r"\.nv\.constant0\.first has 65537 bytes; a bank has 65536"):
        image.banks(kernel)


RELOCATIONS = {
    **dict.fromkeys((1, 3, 34, 103), (4, 0)),
    **dict.fromkeys((2, 4, 35, 102), (8, 0)),
    **{first + k: (1, k) for first in (76, 84, 92, 104) for k in range(8)},
}
"""By type, as the CUDA binary utilities name them: bytes that are filled in, and the first of the address's."""


@pytest.mark.parametrize("kind", range(120))
def test_relocations_of_data(kind: int) -> None:
    sections = Image("", CUBIN).sections
    data = next(section for section in sections if section.name == ".nv.global.init")
    table = next(section for section in sections if section.name.startswith(".rel") and section.owner == data.number)
    changed = with_number(table.at + 8, 4, kind)  # the type is the low half of r_info
    if kind not in RELOCATIONS:
        with pytest.raises(UnsupportedError, match=f"relocation type {kind} in .nv.global.init"):
            Image("k.cubin", changed)
        return
    first = Image("k.cubin", changed).sections[data.number].relocations[0]
    assert (first.size, first.shift) == RELOCATIONS[kind]


def test_too_much_stack() -> None:
    """MIN_STACK_SIZE (0x12) of ``first`` in .nv.info, which would ask for 2 TiB in all."""
    record = bytes([4, 0x12, 8, 0]) + (28).to_bytes(4, "little")
    at = CUBIN.index(record) + len(record)
    with pytest.raises(LaunchError, match="first asks for 2147483647 bytes of stack; a thread has 524288"):
        Image("k.cubin", with_number(at, 4, 0x7FFFFFFF))


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("MOV R300, R1", "there is no R300; the last is R254"),
        ("MOV R255, R1", "there is no R255; the last is R254"),
        ("IADD3 R1, R4000, R2, R3", "there is no R4000"),
        ("LDS.128 R4, [UR63]", "there is no UR63; the last is UR62"),
        ("ISETP.EQ.AND P1000000, PT, R1, R2, PT", "there is no P1000000; the last is P6"),
        ("@P200000000 EXIT", "there is no P200000000"),
        ("@!UP7 EXIT", "there is no UP7; the last is UP6"),
        ("BMOV.32 B2000, R4", "there is no B2000; the last is B15"),
        ("DEPBAR.LE SB6, 0x0", "there is no SB6; the last is SB5"),
        ("MOV R1, c[0x20][0x0]", "there is no constant bank 0x20; the last is 0x1f"),
        ("MOV R1, c[0x3][0x10000]", "lies outside of its bank, which has 64 KiB"),
    ],
)
def test_numbers_beyond_the_architecture_name_their_line(text: str, message: str, tmp_path: Path) -> None:
    path = tmp_path / "k.sass"
    path.write_text(listing(["NOP", text, "EXIT"]))
    kernel = load_cubin(path, parameters={"k": []})["k"]
    with pytest.raises(ListingError, match=message) as caught:
        _ = kernel.program
    assert caught.value.location is not None
    assert (caught.value.location.file, caught.value.location.line) == (str(path), 5)


def test_blackwell_has_more_uniform_registers() -> None:
    assert str(parse("R2UR UR254, R4", architecture=100)) == "R2UR UR254, R4"
    with pytest.raises(NotThere):
        parse("R2UR UR254, R4", architecture=90)


@pytest.mark.parametrize("bits", [6 << 5, 6 << 8])
def test_a_scoreboard_that_does_not_exist(bits: int) -> None:
    with pytest.raises(NotThere, match="scoreboard 6"):
        Control.from_bits(bits)


def test_annotations_only_comment() -> None:
    for text in ('STL [R1], R32 (*"SpillRefill"*)', 'STL [R1], R32 /*(*"other"*)*/', "STL [R1], R32 (* free *)"):
        assert parse(text) == parse("STL [R1], R32")


def test_code_for_several_architectures(tmp_path: Path) -> None:
    path = tmp_path / "k.sass"
    path.write_text(listing(["EXIT"], 90) + listing(["EXIT"], 80))
    with pytest.raises(ListingError, match=r"k\.sass has code for sm_80 and sm_90"):
        load_cubin(path)


@pytest.fixture
def runs(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> list[list[str]]:
    """The commands that are run, with an empty cache folder."""
    found: list[list[str]] = []
    run = subprocess.run

    def counted(command: list[str], **options: object) -> object:
        found.append(command)
        return run(command, **options)

    monkeypatch.setattr(nvdisasm.subprocess, "run", counted)
    monkeypatch.setattr(nvdisasm, "LISTINGS", DiskCache("listings", tmp_path / "listings"))
    return found


def kept(folder: Path) -> Path:
    (file,) = (folder / "listings").iterdir()
    return file


def test_a_file_is_disassembled_once_and_only_for_code(runs: list[list[str]], tmp_path: Path) -> None:
    for _ in range(2):
        kernels = load_cubin(DATA / "linked" / "names.cubin")
        assert len(kernels) == len([kernel.parameters for kernel in kernels.values()]) == 3
    assert not runs
    for name in ("first", "second"):
        assert load_cubin(DATA / "linked" / "names.cubin")[name].program.instructions
    assert len(runs) == 1


def test_a_broken_cache_file_is_made_anew(runs: list[list[str]], tmp_path: Path) -> None:
    assert load_cubin(DATA / "linked" / "names.cubin")["first"].program
    whole = kept(tmp_path).read_bytes()
    kept(tmp_path).write_bytes(whole[: len(whole) // 2])
    assert load_cubin(DATA / "linked" / "names.cubin")["first"].program
    assert len(runs) == 2
    assert kept(tmp_path).read_bytes() == whole


def test_a_cache_folder_that_cannot_be_written(
    runs: list[list[str]], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "file").write_text("")
    monkeypatch.setattr(nvdisasm, "LISTINGS", DiskCache("listings", tmp_path / "file"))
    for count in (1, 2):
        assert load_cubin(DATA / "linked" / "names.cubin")["first"].program.instructions
        assert len(runs) == count
