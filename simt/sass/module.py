"""What the kernels of one file share: its code and its symbols, and the global variables."""

from __future__ import annotations

import re
from bisect import bisect_right
from collections.abc import Callable, Iterator, Mapping
from dataclasses import replace
from functools import cached_property
from itertools import accumulate
from typing import Any

import numpy.typing as npt

from simt.check import LaunchError
from simt.runtime import Context
from simt.sass.architectures import VOLTA
from simt.sass.elf import MOST_GLOBAL, Image, Relocation, Section, Symbol
from simt.sass.grammar import Control
from simt.sass.listing import CodeSection, Listing
from simt.sass.variables import ModuleMemory
from simt.system import ALLOCATING, FUNCTIONS

_DATA = (".nv.global.init", ".nv.global")
_CODE = ".text."
CODE_ALIGN = 128
"""Bytes to which functions are aligned."""
VARIABLE_ALIGN = 256
"""Bytes to which global variables are aligned.  An H200 (driver 580) starts each at a sector of its own, at least."""


class Module(Mapping[str, npt.NDArray[Any]]):
    """One cubin, or a listing without (*image* is None).

    A mapping of its variables, ``__device__`` and ``__constant__``, by (mangled or readable) name: NumPy arrays that
    read and write them in device memory, where they outlive launches.  Their elements are integers of the variable's
    size, or of 4 bytes for larger ones (fewer if those do not fit); ``.view(np.float32)`` shows another type.

    ``listing``: a function that gives the listing, called when code is first asked for.  ``home``: the context for the
    variables (default: one of the module's own).  ``data_size``: bytes of the ``__device__`` variables together;
    ``allocates``: its code calls ``malloc``.  Symbols and sections go by their numbers in the cubin, since names need
    not be unique.
    """

    CONSTANTS = 3
    """The constant bank that holds ``__constant__`` variables."""

    def __init__(
        self, path: str, image: Image | None, listing: Callable[[], Listing], home: Context | None = None
    ) -> None:
        self.path = path
        self.image = image
        self._listing = listing
        self._filled: set[str] = set()
        self._starts: dict[int, int] = {}  # symbol number: offset in data
        self._sorted: dict[int, list[tuple[int, int]]] = {}  # section number: (offset, symbol number) of its variables
        self.data_size = 0
        sections = image.sections if image else []
        called = {entry.symbol for section in sections for entry in section.relocations}
        self.allocates = image is not None and any(image.symbols[number].name in ALLOCATING for number in called)
        self.memory = ModuleMemory(self, home)
        if image is not None:
            self._lay_out(image)

    def _lay_out(self, image: Image) -> None:
        """Give each variable its place, and its initial value."""
        at = 0
        variables = [s for s in image.symbols if not s.is_section and image.sections[s.section].name in _DATA]
        for symbol in sorted(variables, key=lambda symbol: (symbol.section, symbol.offset)):
            section = image.sections[symbol.section]
            if symbol.offset + symbol.size > section.size:
                raise image.damaged(section.at, f"variable {symbol.name} lies outside of {section.name}")
            at = -(-at // VARIABLE_ALIGN) * VARIABLE_ALIGN
            self._starts[symbol.number] = at
            self._sorted.setdefault(symbol.section, []).append((symbol.offset, symbol.number))
            at += symbol.size
            if at > MOST_GLOBAL:
                raise LaunchError(f"{self.path} has more than {MOST_GLOBAL >> 30} GiB of global variables")
        self.data_size = at

    def initial_data(self) -> Iterator[tuple[int, bytes]]:
        """Where global variables that are not zero at first are among them, and what they hold."""
        image = self.image
        for number, start in self._starts.items() if image else ():
            symbol = image.symbols[number] if image else None
            contents = image.contents(image.sections[symbol.section]) if image and symbol else None
            if symbol is not None and contents is not None:
                yield start, contents[symbol.offset : symbol.offset + symbol.size]

    def __getitem__(self, name: str) -> npt.NDArray[Any]:
        return self.memory.array(self.memory.find(name))

    def __iter__(self) -> Iterator[str]:
        return iter({symbol.name: None for symbol in self.memory.named.values()})

    def __len__(self) -> int:
        return len({symbol.name for symbol in self.memory.named.values()})

    __hash__ = object.__hash__

    def __eq__(self, other: object) -> bool:
        return self is other

    def __bool__(self) -> bool:
        return True

    def __repr__(self) -> str:
        return f"<module {self.path}, variables: {', '.join(self) or 'none'}>"

    # Code

    @cached_property
    def listing(self) -> Listing:
        """The listing.  Raises what disassembling and reading it raise."""
        return self._listing()

    @cached_property
    def code_names(self) -> dict[int, str]:
        """What the listing calls each section with code; of several with one name, those that come later ``f__1``."""
        if self.image is None:
            return {}
        free = dict.fromkeys(self.listing.sections)
        found = {}
        for section in self.image.code_sections:
            own = section.name.removeprefix(_CODE)
            numbered = re.compile(re.escape(own) + r"(?:__|#)\d+")
            name = own if own in free else next((other for other in free if numbered.fullmatch(other)), None)
            if name is not None:
                del free[name]
                found[section.number] = name
        return found

    @cached_property
    def _code_sections(self) -> dict[str, Section]:
        """Sections of the cubin by the name that the listing has for them."""
        sections = self.image.sections if self.image else []
        return {name: sections[number] for number, name in self.code_names.items()}

    @cached_property
    def kernels(self) -> frozenset[str]:
        """What the listing calls the sections of kernels; nothing for a listing without its cubin."""
        infos = self.image.kernels if self.image else []
        return frozenset(self.code_names[info.section] for info in infos if info.section in self.code_names)

    def code(self, name: str) -> CodeSection | None:
        """A section of the listing, parsed, with control bits wherever the file has them."""
        section = self.listing.sections.get(name)
        if section is not None and section.architecture < VOLTA and name not in self._filled:
            self._filled.add(name)
            self._add_control_bits(section)
        return section

    def _add_control_bits(self, section: CodeSection) -> None:
        """Read from the code what a listing without encodings lacks: the first of every four words schedules others."""
        place = self._code_sections.get(section.name)
        code = (self.image.contents(place) if self.image and place else b"") or b""
        for k, instruction in enumerate(section.instructions if code else ()):
            if instruction.control is None:
                at, word = instruction.offset // 32 * 32, instruction.offset % 32 // 8
                bits = int.from_bytes(code[at : at + 8], "little") >> 21 * (word - 1) & (1 << 21) - 1
                section.instructions[k] = replace(instruction, control=Control.from_bits(bits))

    @cached_property
    def _code_relocations(self) -> dict[str, dict[int, Relocation]]:
        return {name: {r.offset: r for r in section.relocations} for name, section in self._code_sections.items()}

    def symbol_of(self, name: str, section: str, offset: int) -> Symbol | None:
        """The symbol that an instruction at *offset* of a section of the listing calls *name*; None for a label.

        The relocation of the instruction has the symbol's number; nvdisasm's name for it may be another one.
        """
        if self.image is None or name.startswith(".L"):
            return None
        found = self._code_relocations.get(section, {}).get(offset)
        if found is not None:
            return self.image.symbols[found.symbol]
        return None if self.listing.owner(name, section) else self.image.by_name.get(name)

    def code_place(self, symbol: Symbol) -> tuple[str, int] | None:
        """Section of the listing and offset there, for a symbol of code."""
        name = self.code_names.get(symbol.section)
        return None if name is None else (name, symbol.offset)

    @cached_property
    def _pointers(self) -> dict[str, int]:
        """Where each section of the listing begins for pointers to functions; behind them those of the system."""
        room = {name: -(-size // CODE_ALIGN) * CODE_ALIGN for name, size in self.listing.sizes.items()}
        room |= {name: CODE_ALIGN for name in FUNCTIONS if name not in room}
        # Behind the code of any kernel, which holds no section and no stub twice.
        first = sum(room.values()) + CODE_ALIGN
        return dict(zip(room, accumulate([first, *room.values()]), strict=False))

    def function(self, section: str, offset: int = 0) -> int:
        """What a pointer to code holds, the same in all kernels; 0 for a section that the listing does not have."""
        return self._pointers[section] + offset if section in self._pointers else 0

    # Data

    def section_of(self, symbol: Symbol) -> str:
        """Name of the section that holds a symbol; "" if none does."""
        return self.image.sections[symbol.section].name if self.image and symbol.section else ""

    def variable_offset(self, symbol: Symbol, addend: int = 0) -> int | None:
        """Where the byte *addend* after a global variable, or after the start of their section, is in ``data``."""
        start = self._starts.get(symbol.number)
        if start is not None:
            return start + addend
        return self.data_offset(symbol.section, symbol.offset + addend) if symbol.is_section else None

    def data_offset(self, section: int, offset: int) -> int | None:
        """Where a byte of a data section is in ``data``."""
        variables = self._sorted.get(section, [])
        before = bisect_right(variables, offset, key=lambda variable: variable[0]) - 1
        if before < 0 or self.image is None:
            return None
        first, number = variables[before]
        inside = offset < first + self.image.symbols[number].size
        return self._starts[number] + offset - first if inside else None

    def data_sections(self) -> list[Section]:
        """Sections with global variables."""
        return [self.image.sections[number] for number in self._sorted] if self.image else []

    @cached_property
    def pointed_functions(self) -> set[str]:
        """Sections of the listing with functions whose addresses global variables hold."""
        return {place for section in self.data_sections() for place in self.called(section.relocations)}

    def called(self, relocations: list[Relocation]) -> set[str]:
        """Sections of the listing that relocations of data point to, and the names of external functions."""
        found = set()
        for relocation in relocations:
            symbol = self.image.symbols[relocation.symbol] if self.image else None
            if symbol is not None and symbol.section in self.code_names:
                found.add(self.code_names[symbol.section])
            elif symbol is not None and not symbol.section:
                found.add(symbol.name)
        return found
