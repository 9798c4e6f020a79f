"""A module's ``__device__`` and ``__constant__`` variables in device memory."""

from __future__ import annotations

import threading
import weakref
from collections.abc import Iterable, Iterator
from functools import cached_property
from typing import TYPE_CHECKING, Any, Protocol

import numpy as np
import numpy.typing as npt

from simt.check import LaunchError, suggestion
from simt.demangle import aliases
from simt.runtime import Context, LoadedModule, ModuleImage, Pointer, Variables

if TYPE_CHECKING:
    from simt.sass.elf import Image, Section, Symbol

GLOBALS, CONSTANTS = range(2)
"""Pieces of a module's memory."""


class UnknownVariableError(LaunchError, KeyError):
    """There is no variable of this name in the file; the message lists those that are."""

    __str__ = LaunchError.__str__


class Holder(Protocol):
    """What is read of the :class:`~simt.sass.module.Module` that the variables belong to."""

    CONSTANTS: int
    path: str
    image: Image | None
    data_size: int
    allocates: bool

    def initial_data(self) -> Iterator[tuple[int, bytes]]:
        """Where global variables that are not zero at first are among them, and what they hold."""

    def data_sections(self) -> list[Section]:
        """Sections with initial values of global variables."""

    def data_offset(self, section: int, offset: int) -> int | None:
        """Where a byte of a section of global variables is among them all."""

    def variable_offset(self, symbol: Symbol, addend: int = 0) -> int | None:
        """Where the byte *addend* after a variable is among the global ones."""

    def code_place(self, symbol: Symbol) -> tuple[str, int] | None:
        """Section of the listing and offset there, for a symbol of code."""

    def function(self, section: str, offset: int = 0) -> int:
        """What a pointer to code holds."""


class ModuleMemory:
    """The variables of a module: where they are, and arrays that read and write them.

    They are placed and relocated when they are first asked for, in *home* or in a context of their own.
    """

    def __init__(self, module: Holder, home: Context | None = None) -> None:
        # The module has this; without a circle, device memory goes when the last kernel does.
        self._module: Holder = weakref.proxy(module)
        self._home = home
        self._lock = threading.Lock()
        self._made: tuple[Context, LoadedModule] | None = None
        self._handed_out: set[int] = set()  # variables that the host has asked for: it may have set them

    @cached_property
    def _constants(self) -> Section | None:
        image = self._module.image
        return image.named(f".nv.constant{self._module.CONSTANTS}") if image else None

    @property
    def is_empty(self) -> bool:
        """Whether the module has nothing that outlives launches: no variables, and no use for a heap."""
        return not self._module.data_size and self._constants is None and not self._module.allocates

    def _load(self) -> tuple[Context, LoadedModule]:
        with self._lock:
            if self._made is None:
                context = self._home or Context()
                self._made = context, context.load(self._image())
            return self._made

    @property
    def context(self) -> Context | None:
        """Where launches of the module's kernels run, so that they find its variables; None if that does not matter."""
        return self._home if self.is_empty else self._load()[0]

    @property
    def constants(self) -> tuple[npt.NDArray[np.uint8], int] | None:
        """The bytes of the ``__constant__`` variables and their device address; None if there are none."""
        if self._constants is None:
            return None
        loaded = self._load()[1]
        return loaded.bytes[CONSTANTS], loaded.addresses[CONSTANTS]

    def _image(self) -> ModuleImage:
        module, constants = self._module, self._constants
        contents = module.image.contents(constants) if module.image and constants else None
        room = constants.size if constants else 0
        pieces = (
            Variables("global variables", module.data_size, module.initial_data(), writable=True),
            Variables("__constant__ variables", room, [(0, contents)] if contents else [], writable=False),
        )
        return ModuleImage(pieces, list(self._pointers()))

    def _pointers(self) -> Iterator[Pointer]:
        """The pointers that variables hold."""
        module = self._module
        holders = [*module.data_sections(), *([self._constants] if self._constants else [])]
        for section in holders:
            for entry in section.relocations:
                holder = self._holder(section, entry.offset)
                if holder is not None and module.image is not None:
                    place = self._place(module.image.symbols[entry.symbol], entry.addend)
                    target, value = place or (None, self._code_address(entry.symbol, entry.addend))
                    yield Pointer(*holder, entry.size, entry.shift, target, value)

    def _holder(self, section: Section, offset: int) -> tuple[int, int] | None:
        if section is self._constants:
            return CONSTANTS, offset
        at = self._module.data_offset(section.number, offset)
        return None if at is None else (GLOBALS, at)

    def _place(self, symbol: Symbol, addend: int) -> tuple[int, int] | None:
        """Piece of memory and offset there of the byte *addend* after a variable, or after the start of a section."""
        if self._constants is not None and symbol.section == self._constants.number:
            return CONSTANTS, symbol.offset + addend
        at = self._module.variable_offset(symbol, addend)
        return None if at is None else (GLOBALS, at)

    def _code_address(self, number: int, addend: int) -> int:
        image = self._module.image
        if image is None:
            return 0
        symbol = image.symbols[number]
        pointer = self._module.function(*(self._module.code_place(symbol) or (symbol.name, 0)))
        return pointer + addend if pointer else 0

    def address(self, number: int, addend: int = 0) -> int:
        """Device address of variable *number*, or what a pointer to a function holds, plus *addend*; 0 for others."""
        image = self._module.image
        place = self._place(image.symbols[number], addend) if image else None
        if place is None:
            return self._code_address(number, addend)
        piece, offset = place
        return self._load()[1].addresses[piece] + offset

    @cached_property
    def named(self) -> dict[int, Symbol]:
        """Variables by the number of their symbol."""
        image = self._module.image
        symbols = image.symbols if image else []
        return {s.number: s for s in symbols if s.size and not s.is_section and self._is_inside(s)}

    def _is_inside(self, symbol: Symbol) -> bool:
        """Whether a symbol is a variable whose bytes the file has room for."""
        place, constants = self._place(symbol, 0), self._constants
        if place is None:
            return False
        room = constants.size if constants is not None and place[0] == CONSTANTS else self._module.data_size
        return place[1] + symbol.size <= room

    def place(self, symbol: Symbol) -> tuple[int, int]:
        """Device address and size of a variable, which the host may have set from now on."""
        self._handed_out.add(symbol.number)
        return self.address(symbol.number), symbol.size

    def unload(self) -> None:
        """Give the device memory of the variables back; the module must not be used any more."""
        with self._lock:
            if self._made is not None:
                self._made[1].free()
                self._made = None

    def find(self, name: str) -> Symbol:
        """The variable of a (mangled or readable) name.  Raises UnknownVariableError."""
        found = [s for s in self.named.values() if s.name == name]
        found = found or [s for s in self.named.values() if name in aliases(s.name)]
        if len(found) == 1:
            return found[0]
        path = self._module.path
        if found:
            raise UnknownVariableError(
                f"{path} has {len(found)} variables {name!r}",
                details=[f"{s.name}, {s.size} bytes" for s in found],
                help="the names are not enough to tell them apart; compile the files into cubins of their own"
                if len({s.name for s in found}) == 1
                else "give the mangled name",
            )
        names = sorted({s.name for s in self.named.values()})
        raise UnknownVariableError(
            f"{path} has no variable {name!r}",
            details=[f"it has {', '.join(names) or 'none'}"],
            help=suggestion(name, names, ""),
        )

    def constants_in(self, start: int, end: int | None) -> list[int]:
        """``__constant__`` variables that have bytes from offset *start* on, up to *end*."""
        places = [(symbol, self._place(symbol, 0)) for symbol in self.named.values()]
        return [
            symbol.number
            for symbol, place in places
            if place and place[0] == CONSTANTS and place[1] + symbol.size > start and (end is None or place[1] < end)
        ]

    def variable_at(self, number: int, addend: int) -> list[int]:
        """The variable that holds the byte *addend* after a symbol; empty for code and for unmapped bytes."""
        image = self._module.image
        wanted = self._place(image.symbols[number], addend) if image else None
        for symbol in self.named.values() if wanted else ():
            place = self._place(symbol, 0)
            if place and wanted and place[0] == wanted[0] and place[1] <= wanted[1] < place[1] + symbol.size:
                return [symbol.number]
        return []

    def unset(self, numbers: Iterable[int]) -> list[str]:
        """Names of those variables that are zero, in the file and now, and that the host never asked for."""
        found = []
        for number in numbers:
            if number not in self._handed_out:
                symbol = self.named[number]
                if number in self._zero_at_first and not self._bytes(symbol).any():
                    found.append(symbol.name)
        return sorted(found)

    @cached_property
    def _zero_at_first(self) -> frozenset[int]:
        """Variables without an initial value, or with one of zeros: the file does not tell them apart."""
        image = self._module.image
        found = []
        for symbol in self.named.values() if image else ():
            section = image.sections[symbol.section] if image else None
            contents = image.contents(section) if image and section else None
            pointers = section.relocations if section else []
            end = symbol.offset + symbol.size
            if not any((contents or b"")[symbol.offset : end]) and not any(
                symbol.offset <= entry.offset < end for entry in pointers
            ):
                found.append(symbol.number)
        return frozenset(found)

    def _bytes(self, symbol: Symbol) -> npt.NDArray[np.uint8]:
        place = self._place(symbol, 0)
        assert place is not None
        piece, offset = place
        return self._load()[1].bytes[piece][offset : offset + symbol.size]

    def array(self, symbol: Symbol) -> npt.NDArray[Any]:
        """A variable as integers: one of its size, or of 4 bytes each (fewer, if those do not fit)."""
        self._handed_out.add(symbol.number)
        width = symbol.size if symbol.size in (1, 2, 8) else next(w for w in (4, 2, 1) if symbol.size % w == 0)
        return self._bytes(symbol).view(f"i{width}")
