"""What the kernels of one file share: code, symbols, and variables that outlive launches."""

from __future__ import annotations

import threading
from collections.abc import Iterator, Mapping
from functools import cached_property
from itertools import accumulate
from typing import Any

import numpy as np
import numpy.typing as npt

from simt.check import LaunchError, suggestion
from simt.runtime import Context, LoadedModule, ModuleImage, Pointer, Variables
from simt.sass.demangle import aliases
from simt.sass.elf import Image, Relocation, Symbol
from simt.sass.link import ASSERT
from simt.sass.listing import Listing

CONSTANTS = 3
"""The constant bank that holds ``__constant__`` variables."""
_DATA = (".nv.global.init", ".nv.global")
_CONSTANT_SECTION = f".nv.constant{CONSTANTS}"
_GLOBALS, _CONSTANTS = range(2)
"""Pieces of a module's memory."""
_CODE_ALIGN = 128
VARIABLE_ALIGN = 256
"""Bytes to which global variables are aligned.  An H200 (driver 580) starts each at a sector of its own, at least."""


class UnknownVariableError(LaunchError, KeyError):
    """There is no variable of this name in the file; the message lists those that are."""

    __str__ = LaunchError.__str__


class Module(Mapping[str, npt.NDArray[Any]]):
    """What the kernels of one file share: code, symbols, and variables in device memory, which outlive launches.

    A mapping of the variables, ``__device__`` and ``__constant__``, by (mangled or readable) name: NumPy arrays that
    read and write them.  Their elements are integers of the variable's size, of 4 bytes (or less, if they do not fit)
    for a larger one; ``.view(np.float32)`` shows another type.
    """

    def __init__(self, path: str, listing: Listing, image: Image | None) -> None:
        self.path = path
        self.listing = listing
        self.image = image
        self._starts: dict[str, int] = {}
        self._lock = threading.Lock()
        self._loaded: LoadedModule | None = None
        self._context: Context | None = None
        at = 0
        for symbol in sorted(self._symbols(), key=lambda symbol: (symbol.section, symbol.offset)):
            self._starts[symbol.name] = at
            at = -(-(at + symbol.size) // VARIABLE_ALIGN) * VARIABLE_ALIGN
        self._size = at
        self._functions = self._function_addresses()

    def _symbols(self) -> list[Symbol]:
        symbols = self.image.symbols.values() if self.image else ()
        return [symbol for symbol in symbols if symbol.section in _DATA]

    def _function_addresses(self) -> dict[str, int]:
        """Pointers to functions: behind the code of every kernel, so that one pointer means the same to all."""
        sections = self.listing.sections
        ends = list(accumulate(-(-section.size // _CODE_ALIGN) * _CODE_ALIGN for section in sections.values()))
        first = ends[-1] + _CODE_ALIGN if ends else 0
        found = {ASSERT: first}
        for name, start in zip(sections, [0, *ends], strict=False):
            base = first + _CODE_ALIGN + start
            found |= {label: base + at for label, at in sections[name].labels.items()}
            found[name] = base
        return found

    @property
    def variables(self) -> set[str]:
        """Names of global variables."""
        return set(self._starts)

    @property
    def functions(self) -> set[str]:
        """Functions whose addresses global variables hold."""
        pointed = {entry.symbol for name in _DATA for entry in self._relocations(name)}
        return {symbol for symbol in pointed if symbol in self.listing.sections}

    def _relocations(self, section: str) -> list[Relocation]:
        sections = self.image.sections if self.image else {}
        return sections[section].relocations if section in sections else []

    def function(self, name: str) -> int:
        """What a pointer to a function holds; 0 for what is not in the file."""
        return self._functions.get(name, 0)

    def _place(self, name: str, addend: int) -> tuple[int, int] | None:
        """Piece of memory and offset there of the byte *addend* after a variable, or of a section of them."""
        if name in self._starts:
            return _GLOBALS, self._starts[name] + addend
        if name in _DATA:
            for symbol in self._symbols():
                if symbol.section == name and symbol.offset <= addend < symbol.offset + symbol.size:
                    return _GLOBALS, self._starts[symbol.name] + addend - symbol.offset
        if name == _CONSTANT_SECTION:
            return _CONSTANTS, addend
        symbol_of = self.image.symbols.get(name) if self.image else None
        if symbol_of is not None and symbol_of.section == _CONSTANT_SECTION:
            return _CONSTANTS, symbol_of.offset + addend
        return None

    def address(self, name: str, addend: int = 0) -> int:
        """Device address of a variable, or what a pointer to a function holds, plus *addend*; 0 for unknown names."""
        place = self._place(name, addend)
        if place is not None:
            piece, offset = place
            return self._load().addresses[piece] + offset
        return self._functions[name] + addend if name in self._functions else 0

    def _load(self) -> LoadedModule:
        """The module in device memory: placed and relocated when it is first asked for."""
        with self._lock:
            if self._loaded is None:
                self._context = Context()
                self._loaded = self._context.load(self._memory_image())
            return self._loaded

    def _memory_image(self) -> ModuleImage:
        sections = self.image.sections if self.image else {}
        contents = bytearray(self._size)
        for symbol in self._symbols():
            data = sections[symbol.section].data
            if data is not None:
                start = self._starts[symbol.name]
                contents[start : start + symbol.size] = data[symbol.offset : symbol.offset + symbol.size]
        constants = sections[_CONSTANT_SECTION].data if _CONSTANT_SECTION in sections else None
        pieces = (
            Variables("global variables", bytes(contents), writable=True),
            Variables("__constant__ variables", constants or b"", writable=False),
        )
        return ModuleImage(
            pieces, [pointer for name in (*_DATA, _CONSTANT_SECTION) for pointer in self._pointers(name)]
        )

    def _pointers(self, section: str) -> Iterator[Pointer]:
        """The pointers that variables of a section hold."""
        for entry in self._relocations(section):
            holder = self._place(section, entry.offset)
            if holder is not None:
                piece, value = self._place(entry.symbol, entry.addend) or (None, self._code_address(entry))
                yield Pointer(*holder, entry.size, piece, value)

    def _code_address(self, entry: Relocation) -> int:
        return self._functions[entry.symbol] + entry.addend if entry.symbol in self._functions else 0

    @property
    def context(self) -> Context | None:
        """Where launches of the module's kernels run, so that they find its variables; None if it has none."""
        if not self._starts and not self.constants_size:
            return None
        self._load()
        return self._context

    @property
    def constants_size(self) -> int:
        """Bytes of ``__constant__`` variables."""
        sections = self.image.sections if self.image else {}
        return sections[_CONSTANT_SECTION].size if _CONSTANT_SECTION in sections else 0

    @property
    def constants(self) -> tuple[npt.NDArray[np.uint8], int]:
        """The bytes of the ``__constant__`` variables in device memory, and their device address."""
        loaded = self._load()
        return loaded.bytes[_CONSTANTS], loaded.addresses[_CONSTANTS]

    @cached_property
    def _named(self) -> dict[str, Symbol]:
        """Variables by mangled name."""
        found = [*self._symbols()]
        symbols = self.image.symbols.values() if self.image else ()
        found += [symbol for symbol in symbols if symbol.section == _CONSTANT_SECTION and symbol.size]
        return {symbol.name: symbol for symbol in found}

    def __getitem__(self, name: str) -> npt.NDArray[Any]:
        names = [name] if name in self._named else [each for each in self._named if name in aliases(each)]
        if len(names) > 1:
            raise UnknownVariableError(
                f"several variables are called {name}", details=names, help="give the mangled name"
            )
        if not names:
            raise UnknownVariableError(
                f"{self.path} has no variable {name!r}",
                details=[f"it has {', '.join(sorted(self._named)) or 'none'}"],
                help=suggestion(name, self._named, ""),
            )
        symbol = self._named[names[0]]
        place = self._place(symbol.name, 0)
        assert place is not None
        piece, offset = place
        raw = self._load().bytes[piece][offset : offset + symbol.size]
        width = symbol.size if symbol.size in (1, 2, 8) else next(w for w in (4, 2, 1) if symbol.size % w == 0)
        return raw.view(f"i{width}")

    def __iter__(self) -> Iterator[str]:
        return iter(self._named)

    def __len__(self) -> int:
        return len(self._named)

    def __repr__(self) -> str:
        return f"<module {self.path}, variables: {', '.join(self._named) or 'none'}>"
