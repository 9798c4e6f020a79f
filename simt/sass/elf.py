"""What a cubin's ELF sections say about its kernels: parameters, constant banks, shared memory, symbols.

Formats: NVIDIA does not document them.  Attribute codes and the packing of parameter records are those that
``nvdisasm`` prints for ``.nv.info`` sections; checked against the cubins of CUDA 11.8 (sm_61) and 13.0 (sm_75 to
sm_120).
"""

from __future__ import annotations

import io
import struct
from collections.abc import Iterator
from dataclasses import dataclass, field
from enum import IntEnum
from pathlib import Path
from typing import Any

from elftools.common.exceptions import ELFError
from elftools.elf.elffile import ELFFile

from simt.check import KernelError, UnsupportedError

EM_CUDA = 190


UNKNOWN_SIZE = 1 << 31
"""Stack sizes from here on: ptxas could not tell, because of recursion."""


class Attribute(IntEnum):
    """EIATTR codes of ``.nv.info`` that matter here."""

    PARAM_CBANK = 0x0A
    EXTERNS = 0x0F
    REQNTID = 0x10
    FRAME_SIZE = 0x11
    MIN_STACK_SIZE = 0x12
    KPARAM_INFO = 0x17
    CBANK_PARAM_SIZE = 0x19
    REGCOUNT = 0x2F


_HAS_SIZE = 4  # EIFMT_SVAL: a 16-bit size, then that many bytes; other formats hold the value in 16 bits


@dataclass(frozen=True, slots=True)
class Parameter:
    """One kernel parameter: ``offset`` from the start of the parameters in constant bank 0, ``size`` in bytes."""

    ordinal: int
    offset: int
    size: int


@dataclass(frozen=True, slots=True)
class Relocation:
    """Eight or four bytes at ``offset`` of a section that hold the address of ``symbol`` plus ``addend``."""

    offset: int
    symbol: str
    addend: int
    size: int


@dataclass(frozen=True, slots=True)
class Symbol:
    """A symbol: the section that holds it ("" if it is external), its offset there, its size."""

    name: str
    section: str
    offset: int
    size: int
    is_function: bool


@dataclass(slots=True)
class Section:
    """Bytes of a data section (None for zero-filled ones) with its relocations."""

    name: str
    data: bytes | None
    size: int
    align: int
    relocations: list[Relocation] = field(default_factory=list)


@dataclass(slots=True)
class KernelInfo:
    """Attributes of one kernel."""

    name: str
    parameters: list[Parameter] = field(default_factory=list)
    parameter_base: int = 0
    parameter_bytes: int = 0
    registers: int | None = None
    local_bytes: int = 0
    required_block: tuple[int, int, int] | None = None
    externs: list[str] = field(default_factory=list)


@dataclass(slots=True)
class Image:
    """A parsed cubin."""

    path: str
    architecture: int
    data: bytes
    kernels: dict[str, KernelInfo]
    sections: dict[str, Section]
    symbols: dict[str, Symbol]
    tool: str


_R_CUDA_BYTES = {1: 4, 2: 8, 3: 4, 4: 8}
"""Bytes by relocation type: R_CUDA_32, R_CUDA_64, and generic addresses, which here are the same: G32, G64."""


def read_image(path: Path) -> Image:
    """Parse a cubin.  Raises KernelError if it is none, UnsupportedError for one that is not linked."""
    data = path.read_bytes()
    try:
        elf = ELFFile(io.BytesIO(data))
        if elf["e_machine"] not in ("EM_CUDA", EM_CUDA):
            raise KernelError(f"{path} is an ELF file for {elf['e_machine']}, not for NVIDIA GPUs")
        return _Reader(str(path), data, elf).read()
    except (ELFError, struct.error, UnicodeDecodeError, IndexError) as problem:
        raise KernelError(
            f"{path} is neither a cubin nor a SASS listing",
            details=[f"{type(problem).__name__}: {problem}"],
            help="give a cubin (nvcc -cubin, cuobjdump -xelf) or the output of nvdisasm or cuobjdump -sass",
        ) from problem


def _architecture(elf: Any) -> int:
    """SM number from the ELF flags: bits 8 to 15 since ABI version 8 (CUDA 12.8), else bits 0 to 7."""
    flags = int(elf["e_flags"])
    return flags >> 8 & 0xFF if elf["e_ident"]["EI_ABIVERSION"] >= 8 else flags & 0xFF


class _Reader:
    def __init__(self, path: str, data: bytes, elf: Any) -> None:
        self.elf = elf
        self.image = Image(path, _architecture(elf), data, {}, {}, {}, "")
        self.names: list[str] = []  # symbol names by number

    def read(self) -> Image:
        image = self.image
        self._symbols()
        for section in self.elf.iter_sections():
            name = section.name
            if name.startswith((".nv.constant", ".nv.global", ".nv.shared.", ".text.")):
                empty = section["sh_type"] == "SHT_NOBITS"
                image.sections[name] = Section(
                    name, None if empty else section.data(), section["sh_size"], section["sh_addralign"]
                )
        for symbol in image.symbols.values():
            if symbol.is_function and f".nv.info.{symbol.name}" in self._section_names():
                image.kernels[symbol.name] = KernelInfo(symbol.name)
        self._relocations()
        self._attributes()
        image.tool = _tool(self.elf)
        return image

    def _section_names(self) -> set[str]:
        return {section.name for section in self.elf.iter_sections()}

    def _symbols(self) -> None:
        table = self.elf.get_section_by_name(".symtab")
        if table is None:
            return
        for symbol in table.iter_symbols():
            self.names.append(symbol.name)
            index = symbol["st_shndx"]
            where = self.elf.get_section(index).name if isinstance(index, int) else ""
            kind = symbol["st_info"]["type"]
            if symbol.name and kind != "STT_SECTION":
                self.image.symbols[symbol.name] = Symbol(
                    symbol.name, where, symbol["st_value"], symbol["st_size"], kind == "STT_FUNC"
                )
            elif kind == "STT_SECTION":
                self.names[-1] = where

    def _relocations(self) -> None:
        for section in self.elf.iter_sections():
            if section["sh_type"] not in ("SHT_REL", "SHT_RELA"):
                continue
            target = self.elf.get_section(section["sh_info"]).name if section["sh_info"] else ""
            target = target or section.name.removeprefix(".rela").removeprefix(".rel")
            if target not in self.image.sections:
                continue
            for entry in section.iter_relocations():
                kind = entry["r_info_type"]
                if not target.startswith(".text.") and kind not in _R_CUDA_BYTES:
                    raise UnsupportedError(
                        f"{self.image.path}: relocation type {kind} in {target}",
                        help="link the cubin (nvlink or nvJitLink) before loading it",
                    )
                self.image.sections[target].relocations.append(
                    Relocation(
                        entry["r_offset"],
                        self.names[entry["r_info_sym"]],
                        entry["r_addend"] if "r_addend" in entry.entry else 0,
                        _R_CUDA_BYTES.get(kind, 4),
                    )
                )

    def _attributes(self) -> None:
        kernels = self.image.kernels
        shared = self.elf.get_section_by_name(".nv.info")
        for attribute, payload in _records(shared.data() if shared else b""):
            if attribute in (Attribute.REGCOUNT, Attribute.MIN_STACK_SIZE, Attribute.FRAME_SIZE):
                number, value = struct.unpack_from("<II", payload)
                kernel = kernels.get(self.names[number])
                if kernel is None:
                    continue
                if attribute == Attribute.REGCOUNT:
                    kernel.registers = value
                elif value < UNKNOWN_SIZE:
                    kernel.local_bytes = max(kernel.local_bytes, value)
        for kernel in kernels.values():
            section = self.elf.get_section_by_name(f".nv.info.{kernel.name}")
            for attribute, payload in _records(section.data()):
                self._attribute(kernel, attribute, payload)
            kernel.parameters.sort(key=lambda parameter: parameter.ordinal)

    def _attribute(self, kernel: KernelInfo, attribute: int, payload: bytes) -> None:
        if attribute == Attribute.KPARAM_INFO:
            _, ordinal, offset, packed = struct.unpack_from("<IHHI", payload)
            kernel.parameters.append(Parameter(ordinal, offset, packed >> 18))
        elif attribute == Attribute.PARAM_CBANK:
            _, offset, size = struct.unpack_from("<IHH", payload)
            kernel.parameter_base, kernel.parameter_bytes = offset, size
        elif attribute == Attribute.REQNTID:
            kernel.required_block = struct.unpack_from("<III", payload)
        elif attribute == Attribute.EXTERNS:
            numbers = struct.unpack_from(f"<{len(payload) // 4}I", payload)
            kernel.externs = [self.names[number] for number in numbers]


def _records(data: bytes) -> Iterator[tuple[int, bytes]]:
    """(attribute, payload) of an ``.nv.info`` section; a value held in the record has its two bytes as payload."""
    at = 0
    while at + 4 <= len(data):
        kind, attribute, value = struct.unpack_from("<BBH", data, at)
        at += 4
        if kind == _HAS_SIZE:
            yield attribute, data[at : at + value]
            at += value
        else:
            yield attribute, struct.pack("<H", value)


def _tool(elf: Any) -> str:
    """The compiler's version note, such as "Cuda compilation tools, release 13.0, V13.0.88"."""
    section = elf.get_section_by_name(".note.nv.tkinfo")
    if section is None:
        return ""
    for part in section.data().split(b"\0"):
        if b"release" in part:
            return str(part[part.index(b"Cuda") :] if b"Cuda" in part else part, "utf-8", "replace")
    return ""
