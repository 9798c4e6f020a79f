"""What a cubin's ELF sections say about its kernels: parameters, constant banks, shared memory, symbols.

Sections and symbols are known by their numbers: linked objects may have local symbols of one name.  All numbers of
the file are read through :class:`Bytes`, so that a damaged file is one error that says where.

Formats: NVIDIA does not document them.  Attribute codes and the packing of parameter records are those that
``nvdisasm`` prints for ``.nv.info`` sections, the names of relocations those that ``cuobjdump -elf`` prints; checked
against the cubins of CUDA 11.8 (sm_61) and 13.0 to 13.5 (sm_75 to sm_120).
"""

from __future__ import annotations

import re
import struct
from collections.abc import Iterator
from dataclasses import dataclass, field
from enum import IntEnum
from functools import cached_property

from simt.check import LaunchError, UnsupportedError

EM_CUDA = 190
HELP = "give a cubin (nvcc -cubin, cuobjdump -xelf) or the output of nvdisasm or cuobjdump -sass"
MOST_STACK = 512 << 10
"""Bytes of local memory that a thread can have (CUDA C++ Programming Guide, technical specifications)."""
MOST_BANK = 64 << 10
"""Bytes of a constant bank (likewise)."""
MOST_GLOBAL = 16 << 30
"""Bytes of global variables that a module may have here."""
SYSTEM_SHARED = 1 << 10
"""Bytes that the system keeps of a block's shared memory (Nsight Compute's launch__shared_mem_per_block_driver)."""
_SYSTEM_SECTION = ".nv.shared.reserved.0"
"""Files with this section (sm_90 and later) count those bytes into a kernel's shared memory, at its start."""
UNKNOWN_SIZE = 1 << 31
"""Stack sizes from here on: ptxas could not tell, because of recursion."""
_RESERVED_SECTIONS = 0xFF00
"""Section numbers from here on name no section (ELF)."""
_RELA, _REL, _SYMTAB = 4, 9, 2
_NO_BYTES = frozenset((8, 0x70000007, 0x70000009, 0x7000000A))
"""Kinds of sections without bytes in the file: NOBITS, in code that is not linked yet CUDA_GLOBAL, _LOCAL and
_SHARED."""
_SECTION_SYMBOL, _FUNCTION_SYMBOL = 3, 2
_HAS_SIZE = 4  # EIFMT_SVAL: a 16-bit size, then that many bytes; other formats hold the value in 16 bits


class Attribute(IntEnum):
    """EIATTR codes of ``.nv.info`` that matter here."""

    PARAM_CBANK = 0x0A
    EXTERNS = 0x0F
    MAX_THREADS = 0x05
    REQNTID = 0x10
    FRAME_SIZE = 0x11
    MIN_STACK_SIZE = 0x12
    KPARAM_INFO = 0x17
    CBANK_PARAM_SIZE = 0x19
    REGCOUNT = 0x2F
    CTA_PER_CLUSTER = 0x3D
    KPARAM_INFO_V2 = 0x45


class Bytes:
    """The bytes of a file; what does not lie in it is a LaunchError with the offset."""

    def __init__(self, path: str, data: bytes) -> None:
        self.path = path
        self.data = data

    def damaged(self, at: int, cause: str) -> LaunchError:
        """An error about the bytes from *at* on."""
        return LaunchError(f"{self.path} is a damaged cubin: at byte {at:#x}, {cause}", help="compile it again")

    def part(self, at: int, size: int, what: str) -> bytes:
        """*size* bytes from *at* on."""
        if at + size > len(self.data):
            raise self.damaged(at, f"{what} needs {size} bytes; the file has {len(self.data)}")
        return self.data[at : at + size]

    def numbers(self, form: struct.Struct, at: int, what: str) -> tuple[int, ...]:
        """The numbers of a structure at *at*."""
        return form.unpack(self.part(at, form.size, what))

    def name(self, at: int, end: int, what: str) -> str:
        """The text from *at* to the next zero byte before *end*."""
        stop = self.data.find(b"\0", at, end) if at < end else -1
        if stop < 0:
            raise self.damaged(at, f"{what} has no end")
        try:
            return self.data[at:stop].decode()
        except UnicodeDecodeError as problem:
            raise self.damaged(at + problem.start, f"{what} is not text") from None


@dataclass(frozen=True, slots=True)
class Parameter:
    """One kernel parameter: ``offset`` from the start of the parameters in constant bank 0, ``size`` in bytes."""

    ordinal: int
    offset: int
    size: int


@dataclass(frozen=True, slots=True)
class Relocation:
    """``size`` bytes at ``offset`` of a section hold the address of symbol number ``symbol`` plus ``addend``.

    ``shift``: how many bytes of the address come before those; ``size`` is 0 where an instruction holds them.
    """

    offset: int
    symbol: int
    addend: int
    size: int
    shift: int = 0

    def bytes_of(self, address: int) -> bytes:
        """What stands there if the symbol plus addend has this address."""
        return (address & (1 << 64) - 1).to_bytes(8, "little")[self.shift : self.shift + self.size]


@dataclass(frozen=True, slots=True)
class Symbol:
    """A symbol: its number, the number of its section (0 if it is external), its offset there, its size."""

    number: int
    name: str
    section: int
    offset: int
    size: int
    is_function: bool
    is_section: bool


@dataclass(slots=True)
class Section:
    """A section: its place in the file, the section that it is about (``owner``, else 0), its relocations."""

    number: int
    name: str
    kind: int
    at: int
    size: int
    owner: int
    relocations: list[Relocation] = field(default_factory=list)


@dataclass(slots=True)
class KernelInfo:
    """Attributes of one kernel: the number of its symbol and of its code's section, and what ``.nv.info`` says."""

    name: str
    symbol: int
    section: int
    parameters: list[Parameter] = field(default_factory=list)
    parameter_base: int = 0
    registers: int | None = None
    local_bytes: int = 0
    required_block: tuple[int, int, int] | None = None
    cluster_blocks: int = 1
    max_threads: int | None = None
    externs: list[str] = field(default_factory=list)


_SIZES = {1: 4, 2: 8, 3: 4, 4: 8, 34: 4, 35: 8, 102: 8, 103: 4}
"""R_CUDA_32, 64, G32 and G64 (generic addresses, which here are the same), FUNC_DESC_32 and 64, UNIFIED and its 32."""
_FIRST_BYTES = (76, 84, 92, 104)
"""First of eight types that each fill in one byte of an address: R_CUDA_8_0, G8_0, FUNC_DESC_8_0, UNIFIED_8_0."""
_SHAPES = {
    **{kind: (size, 0) for kind, size in _SIZES.items()},
    **{first + k: (1, k) for first in _FIRST_BYTES for k in range(8)},
}
"""Relocation type: bytes of data that it fills in, and the first of the address's bytes that go there."""

_HEADER = struct.Struct("<16sHHIQQQIHHHHHH")
_SECTION = struct.Struct("<IIQQQQIIQQ")
_SYMBOL = struct.Struct("<IBBHQQ")
_REL_ENTRY = struct.Struct("<QII")
_RELA_ENTRY = struct.Struct("<QIIq")
_RECORD = struct.Struct("<BBH")
_BANK = re.compile(r"\.nv\.constant(?P<number>[0-9]{1,2})(?P<owned>\..*)?")


class Image:
    """A parsed cubin: sections and symbols by number, kernels in the order of their symbols.

    Raises LaunchError if it is none or damaged, UnsupportedError for a kind that is not read.
    """

    def __init__(self, path: str, data: bytes) -> None:
        self.path = path
        self.data = data
        self._bytes = Bytes(path, data)
        self.architecture, first, count, names = self._header()
        self.sections = self._sections(first, count, names)
        self.symbols = self._symbols()
        self._relocations()
        self.kernels = self._kernels()
        self._attributes()

    def damaged(self, at: int, cause: str) -> LaunchError:
        """An error about the bytes from *at* on."""
        return self._bytes.damaged(at, cause)

    def contents(self, section: Section) -> bytes | None:
        """The bytes of a section, None for a zero-filled one."""
        if section.kind in _NO_BYTES:
            return None
        return self._bytes.part(section.at, section.size, f"section {section.name}")

    def named(self, name: str) -> Section | None:
        """The first section of that name."""
        return next((section for section in self.sections if section.name == name), None)

    @cached_property
    def by_name(self) -> dict[str, Symbol | None]:
        """Symbols by name; None where several have it."""
        found: dict[str, Symbol | None] = {}
        for symbol in self.symbols:
            if symbol.name:
                found[symbol.name] = None if symbol.name in found else symbol
        return found

    @cached_property
    def code_sections(self) -> list[Section]:
        """Sections with code, in the order of the file."""
        return [section for section in self.sections if section.name.startswith(".text.")]

    @cached_property
    def _about(self) -> dict[int, list[Section]]:
        """The sections about each section."""
        found: dict[int, list[Section]] = {}
        for section in self.sections:
            found.setdefault(section.owner, []).append(section)
        return found

    def banks(self, kernel: KernelInfo) -> dict[int, Section]:
        """Sections of the constant banks that a kernel reads, by bank."""
        found = {}
        for section in (*self._about.get(0, ()), *self._about.get(kernel.section, ())):
            match = _BANK.fullmatch(section.name)
            if match and (not match["owned"] or section.owner):
                if section.size > MOST_BANK:
                    raise self.damaged(section.at, f"{section.name} has {section.size} bytes; a bank has {MOST_BANK}")
                found[int(match["number"])] = section
        return found

    def shared_bytes(self, kernel: KernelInfo) -> tuple[int, int]:
        """Static shared memory of a kernel in bytes, and what the system keeps before it."""
        size = sum(s.size for s in self._about.get(kernel.section, ()) if s.name.startswith(".nv.shared."))
        system = min(size, SYSTEM_SHARED) if self.named(_SYSTEM_SECTION) else 0
        return size - system, system

    @cached_property
    def tool(self) -> str:
        """The compiler's version note, such as "Cuda compilation tools, release 13.0, V13.0.88"."""
        section = self.named(".note.nv.tkinfo")
        for part in ((self.contents(section) if section else b"") or b"").split(b"\0"):
            if b"release" in part:
                return str(part[part.index(b"Cuda") :] if b"Cuda" in part else part, "utf-8", "replace")
        return ""

    def _header(self) -> tuple[int, int, int, int]:
        """Architecture; offset and number of the section headers; the section with their names."""
        if not self.data.startswith(b"\x7fELF"):
            raise LaunchError(f"{self.path} is neither a cubin nor a SASS listing", help=HELP)
        ident, _, machine, *_, first, flags, _, _, _, size, count, names = _HEADER.unpack(
            self._bytes.part(0, _HEADER.size, "the ELF header")
        )
        if ident[4:6] != b"\x02\x01":
            raise UnsupportedError(f"{self.path} is not a 64-bit little-endian ELF file", help="compile it for 64 bits")
        if machine != EM_CUDA:
            raise LaunchError(
                f"{self.path} holds no machine code for NVIDIA GPUs: it is an ELF file for machine {machine}", help=HELP
            )
        if size != _SECTION.size:
            raise self.damaged(0x3A, f"section headers have {size} bytes, not {_SECTION.size}")
        # The architecture: bits 8 to 15 of the flags since ABI version 8 (CUDA 12.8), else bits 0 to 7.
        return flags >> 8 & 0xFF if ident[8] >= 8 else flags & 0xFF, first, count, names

    def _sections(self, first: int, count: int, names: int) -> list[Section]:
        headers = []
        for number in range(count):
            at = first + number * _SECTION.size
            headers.append(self._bytes.numbers(_SECTION, at, f"the header of section {number}"))
        if names >= count:
            raise self.damaged(0x3E, f"section {names} with the names of sections is not one of {count}")
        start, size = headers[names][4:6]
        found = []
        for number, (name, kind, _, _, at, length, _, info, *_) in enumerate(headers):
            text = self._bytes.name(start + name, start + size, f"the name of section {number}") if kind else ""
            found.append(Section(number, text, kind, at, length, info))
        self._table, self._links = first, [header[6] for header in headers]
        for section in found:
            section.owner = self._owner(section, found)
        return found

    @staticmethod
    def _owner(section: Section, sections: list[Section]) -> int:
        """The section that another one is about: by its number (ELF's sh_info), in old files by its name."""
        if section.name.startswith((".nv.info.", ".nv.constant", ".nv.shared.", ".rel")):
            if 0 < section.owner < len(sections):
                return section.owner
            about = re.sub(r"^\.rela?|^\.nv\.(?:info|constant[0-9]+|shared)(?=\.)", "", section.name)
            about = about if section.name.startswith(".rel") else f".text{about}"
            return next((other.number for other in sections if other.name == about), 0)
        return 0

    def _symbols(self) -> list[Symbol]:
        table = next((section for section in self.sections if section.kind == _SYMTAB), None)
        if table is None:
            return []
        link = self._links[table.number]
        if link >= len(self.sections):
            raise self.damaged(self._table + table.number * _SECTION.size, f"there is no section {link} with names")
        strings = self.sections[link]
        found = []
        for number in range(table.size // _SYMBOL.size):
            at = table.at + number * _SYMBOL.size
            name, info, _, section, offset, size = self._bytes.numbers(_SYMBOL, at, f"symbol {number}")
            if section >= _RESERVED_SECTIONS:
                section = 0
            elif section >= len(self.sections):
                raise self.damaged(at, f"symbol {number} is in section {section} of {len(self.sections)}")
            kind = info & 15
            text = ""
            if kind == _SECTION_SYMBOL:
                text = self.sections[section].name
            elif name:
                text = self._bytes.name(strings.at + name, strings.at + strings.size, f"the name of symbol {number}")
            found.append(Symbol(number, text, section, offset, size, kind == _FUNCTION_SYMBOL, kind == _SECTION_SYMBOL))
        return found

    def symbol(self, number: int, at: int) -> Symbol:
        """A symbol by its number, which stands at byte *at*."""
        if number >= len(self.symbols):
            raise self.damaged(at, f"there is no symbol {number}; the file has {len(self.symbols)}")
        return self.symbols[number]

    def _relocations(self) -> None:
        for table in self.sections:
            if table.kind not in (_REL, _RELA) or not table.owner:
                continue
            section = self.sections[table.owner]
            if not section.name.startswith((".text.", ".nv.constant", ".nv.global")):
                continue
            form = _RELA_ENTRY if table.kind == _RELA else _REL_ENTRY
            for at in range(table.at, table.at + table.size // form.size * form.size, form.size):
                offset, kind, number, *addend = self._bytes.numbers(form, at, f"a relocation of {section.name}")
                self.symbol(number, at)
                size, shift = 0, 0
                if not section.name.startswith(".text."):
                    if kind not in _SHAPES:
                        raise UnsupportedError(
                            f"{self.path}: relocation type {kind} in {section.name}, at byte {at:#x}",
                            help="link the cubin (nvlink or nvJitLink) before loading it",
                        )
                    size, shift = _SHAPES[kind]
                if offset + size > section.size:
                    raise self.damaged(at, f"a relocation is at {offset:#x} of {section.name}, which is shorter")
                section.relocations.append(Relocation(offset, number, addend[0] if addend else 0, size, shift))

    def _kernels(self) -> list[KernelInfo]:
        """Functions with a constant bank 0 of their own, where their parameters are."""
        owners = {s.owner for s in self.sections if s.name.startswith(".nv.constant0.")}
        found = []
        for symbol in self.symbols:
            section = self.sections[symbol.section]
            if symbol.is_function and symbol.section in owners and section.name == f".text.{symbol.name}":
                found.append(KernelInfo(symbol.name, symbol.number, symbol.section))
        return found

    def _attributes(self) -> None:
        by_symbol = {kernel.symbol: kernel for kernel in self.kernels}
        by_section = {kernel.section: kernel for kernel in self.kernels}
        for section in self.sections:
            if section.name == ".nv.info":
                for attribute, at, size in self._records(section):
                    if attribute in (Attribute.REGCOUNT, Attribute.MIN_STACK_SIZE, Attribute.FRAME_SIZE):
                        number, value = self._payload("<II", at, size)
                        self._amount(by_symbol.get(number), attribute, value, at)
            elif section.name.startswith(".nv.info.") and section.owner in by_section:
                kernel = by_section[section.owner]
                for attribute, at, size in self._records(section):
                    self._attribute(kernel, attribute, at, size)
        for kernel in self.kernels:
            kernel.parameters.sort(key=lambda parameter: parameter.ordinal)

    def _amount(self, kernel: KernelInfo | None, attribute: int, value: int, at: int) -> None:
        if kernel is None:
            return
        if attribute == Attribute.REGCOUNT:
            kernel.registers = value
        elif value < UNKNOWN_SIZE:
            if value > MOST_STACK:
                raise self.damaged(at, f"{kernel.name} asks for {value} bytes of stack; a thread has {MOST_STACK}")
            kernel.local_bytes = max(kernel.local_bytes, value)

    def _attribute(self, kernel: KernelInfo, attribute: int, at: int, size: int) -> None:
        if attribute == Attribute.KPARAM_INFO:
            _, ordinal, offset, packed = self._payload("<IHHI", at, size)
            self._parameter(kernel, Parameter(ordinal, offset, packed >> 18), at)
        elif attribute == Attribute.KPARAM_INFO_V2:  # of kernels with more than 4 KiB of parameters
            _, ordinal, offset, packed = self._payload("<IHHI", at, size)
            self._parameter(kernel, Parameter(ordinal, offset, packed & 0xFFFF), at)
        elif attribute == Attribute.PARAM_CBANK:
            _, kernel.parameter_base, _ = self._payload("<IHH", at, size)
        elif attribute == Attribute.REQNTID:
            x, y, z = self._payload("<III", at, size)
            kernel.required_block = x, y, z
        elif attribute == Attribute.CTA_PER_CLUSTER:
            x, y, z = self._payload("<III", at, size)
            kernel.cluster_blocks = x * y * z
        elif attribute == Attribute.MAX_THREADS:
            x, y, z = self._payload("<III", at, size)
            kernel.max_threads = x * y * z
        elif attribute == Attribute.EXTERNS:
            numbers = self._payload(f"<{size // 4}I", at, size)
            kernel.externs = [self.symbol(number, at).name for number in numbers]

    def _parameter(self, kernel: KernelInfo, parameter: Parameter, at: int) -> None:
        if parameter.offset + parameter.size > MOST_BANK:
            raise self.damaged(at, f"parameter {parameter.ordinal} of {kernel.name} is not in the constant bank")
        kernel.parameters.append(parameter)

    def _payload(self, form: str, at: int, size: int) -> tuple[int, ...]:
        structure = struct.Struct(form)
        if structure.size > size:
            raise self.damaged(at, f"an attribute has {size} bytes, not {structure.size}")
        return self._bytes.numbers(structure, at, "an attribute")

    def _records(self, section: Section) -> Iterator[tuple[int, int, int]]:
        """(attribute, place and size of its value) of an ``.nv.info`` section."""
        at, end = section.at, section.at + section.size
        while at + _RECORD.size <= end:
            kind, attribute, value = self._bytes.numbers(_RECORD, at, "an attribute")
            at += _RECORD.size
            if kind != _HAS_SIZE:
                yield attribute, at - 2, 2
                continue
            if at + value > end:
                raise self.damaged(at, f"an attribute of {value} bytes extends past the end of {section.name}")
            yield attribute, at, value
            at += value
