"""The listing of a cubin, disassembled when its code is asked for."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from simt.check import UnsupportedError
from simt.sass.elf import Image
from simt.sass.listing import CodeSection, Listing, parse_listing
from simt.toolkit.nvdisasm import disassemble

LARGE = 1 << 17
"""Bytes of code from which on a kernel is disassembled alone at first.  For less, starting nvdisasm takes longest:
0.3 s, and 1 s for 26,000 instructions (nvdisasm 13.0)."""


def disassembled(image: Image) -> Listing:
    """The listing of a cubin.  Raises UnsupportedError where nvdisasm fails, ListingError for what it prints."""
    sizes = {section.name.removeprefix(".text."): section.size for section in image.code_sections if section.size}
    named = len(sizes) == len(image.code_sections)  # or nvdisasm has names of its own for some
    if not named or sum(sizes.values()) < LARGE:
        return parse_listing(disassemble(image.path, image.data, image.architecture), image.path)
    return Listing(image.architecture, _Sections(image), sizes)


class _Sections(Mapping[str, CodeSection]):
    """The code sections of a large cubin: the first that is asked for with all that it may call, then all others."""

    def __init__(self, image: Image) -> None:
        self._image = image
        self._numbers = {section.name.removeprefix(".text."): section.number for section in image.code_sections}
        self._read: dict[str, CodeSection] = {}

    def __getitem__(self, name: str) -> CodeSection:
        number = self._numbers[name]
        if name not in self._read:
            functions = () if self._read else self._functions(self._reached(number))
            text = disassemble(self._image.path, self._image.data, self._image.architecture, functions)
            self._read = {**parse_listing(text, self._image.path).sections, **self._read}
        if name not in self._read:
            raise UnsupportedError(f"nvdisasm shows no code of {name} in {self._image.path}")
        return self._read[name]

    def __iter__(self) -> Iterator[str]:
        return iter(self._numbers)

    def __len__(self) -> int:
        return len(self._numbers)

    def __contains__(self, name: object) -> bool:
        return name in self._numbers

    def _reached(self, first: int) -> set[int]:
        """Sections with code that a section may run: what relocations of code and of data name, but for kernels."""
        image = self._image
        code = {section.number for section in image.code_sections}
        callable_ = code - {kernel.section for kernel in image.kernels}
        pointers = [section for section in image.sections if section.number not in code]
        found = {first}
        todo = [image.sections[first], *pointers]
        while todo:
            new = {image.symbols[entry.symbol].section for entry in todo.pop().relocations} & callable_ - found
            found |= new
            todo += [image.sections[number] for number in new]
        return found

    def _functions(self, sections: set[int]) -> list[int]:
        """The number of a symbol in each of some sections."""
        symbols = {symbol.section: symbol.number for symbol in self._image.symbols if symbol.is_function}
        return sorted(symbols[number] for number in sections if number in symbols)
