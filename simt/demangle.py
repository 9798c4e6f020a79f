"""Readable names of kernels, from the Itanium C++ name mangling as far as kernels' names and parameters need it.

Covers (nested) names, ABI tags as Numba writes them, templates (also of addresses), pointers, references, arrays,
functions, substitutions.
What holds anything else keeps its mangled name.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from functools import cache

_BUILTIN = {
    "v": "void", "b": "bool", "c": "char", "a": "signed char", "h": "unsigned char", "s": "short",
    "t": "unsigned short", "i": "int", "j": "unsigned int", "l": "long", "m": "unsigned long",
    "x": "long long", "y": "unsigned long long", "f": "float", "d": "double", "w": "wchar_t",
    "n": "__int128", "o": "unsigned __int128", "e": "long double", "z": "...",
}  # fmt: skip
_BUILTIN_D = {"Dn": "std::nullptr_t", "Dh": "half", "Di": "char32_t", "Ds": "char16_t", "Du": "char8_t"}
_STANDARD = {"t": "std", "a": "std::allocator", "b": "std::basic_string", "s": "std::string"}


@dataclass(frozen=True)
class Style:
    """How a tool writes a type.  ``pointer``: before ``*`` and ``&``; ``typed``: ``int=3`` for a number as an argument;
    ``const_first``: ``const float``."""

    pointer: str = ""
    typed: bool = False
    const_first: bool = False


PLAIN = Style()
NVPROF = Style(typed=True)
"""``void reduce<unsigned int=512>(int*, float const *)``"""
NCU = Style(pointer=" ", const_first=True)
"""``void reduce<512>(int *, const float *)``"""


class _NotReadable(ValueError):
    """The name holds what this reader does not know."""


@dataclass
class _Reader:
    """A position in a mangled name, and what substitutions and template parameters stand for so far."""

    text: str
    style: Style
    at: int = 2
    seen: list[str] = field(default_factory=list)
    arguments: list[str] = field(default_factory=list)

    def peek(self, length: int = 1) -> str:
        return self.text[self.at : self.at + length]

    def skip(self, prefix: str) -> bool:
        if self.text.startswith(prefix, self.at):
            self.at += len(prefix)
            return True
        return False

    def until(self, end: str) -> str:
        stop = self.text.find(end, self.at)
        if stop < 0:
            raise _NotReadable
        found = self.text[self.at : stop]
        self.at = stop + len(end)
        return found

    def digits(self) -> str:
        start = self.at
        while self.peek().isdigit():
            self.at += 1
        return self.text[start : self.at]

    # Names

    def source_name(self) -> str:
        length = int(self.digits() or -1)
        name = self.peek(max(length, 0))
        if length < 1 or len(name) != length:
            raise _NotReadable
        self.at += length
        while self.skip("B"):
            self.source_name()  # an ABI tag
        return "(anonymous namespace)" if name.startswith("_GLOBAL__N_") else name

    def name(self) -> tuple[str, bool]:
        """A name, and whether template arguments end it."""
        if self.skip("N"):
            return self.nested()
        found = self.substitution() if self.peek() == "S" and self.peek(2) != "St" else self.unscoped()
        if self.peek() != "I":
            return found, False
        self.remember(found)
        return found + self.template_arguments(), True

    def unscoped(self) -> str:
        prefix = "std::" if self.skip("St") else ""
        self.skip("L")  # a static function
        return prefix + self.source_name()

    def nested(self) -> tuple[str, bool]:
        parts, is_template = "", False
        while self.peek() in ("K", "V", "r"):
            self.at += 1
        while not self.skip("E"):
            if self.peek() == "I":
                parts += self.template_arguments()
                is_template = True
            elif self.peek() == "S" and not parts:
                parts, is_template = self.substitution(), False
                continue
            else:
                self.skip("L")
                parts = f"{parts}::{self.source_name()}" if parts else self.source_name()
                is_template = False
            if self.peek() != "E":
                self.remember(parts)
        return parts, is_template

    def remember(self, found: str) -> str:
        self.seen.append(found)
        return found

    def substitution(self) -> str:
        if not self.skip("S"):
            raise _NotReadable
        if self.peek() in _STANDARD:
            self.at += 1
            return _STANDARD[self.text[self.at - 1]]
        code = self.until("_")
        return self._numbered(self.seen, code, 36)

    def template_parameter(self) -> str:
        if not self.skip("T"):
            raise _NotReadable
        return self._numbered(self.arguments, self.until("_"), 10)

    @staticmethod
    def _numbered(found: list[str], code: str, base: int) -> str:
        try:
            return found[int(code, base) + 1 if code else 0]
        except (ValueError, IndexError):
            raise _NotReadable from None

    def template_arguments(self) -> str:
        if not self.skip("I"):
            raise _NotReadable
        found: list[str] = []
        while not self.skip("E"):
            found += self.template_argument()
        self.arguments = found
        return f"<{', '.join(found)}>"

    def template_argument(self) -> list[str]:
        if self.skip("J"):
            pack: list[str] = []
            while not self.skip("E"):
                pack += self.template_argument()
            return pack
        if self.skip("XadL_Z"):
            found = self.entity()
            if not self.skip("E"):
                raise _NotReadable
            return [f"&{found}"]
        if not self.skip("L"):
            return [self.type()]
        if self.skip("_Z"):
            return [self.entity()]
        kind = self.type()
        value = ("-" if self.skip("n") else "") + self.until("E")
        if not value.lstrip("-").isdigit():
            raise _NotReadable
        return [f"{kind}={value}" if self.style.typed else value]

    def entity(self) -> str:
        """The name of a function, whose type follows, or of a variable, to the end of the argument that it is."""
        found = self.name()[0]
        while not self.skip("E"):
            self.type()
        return found

    # Types

    def type(self) -> str:
        letter = self.peek()
        if letter in _BUILTIN:
            self.at += 1
            return _BUILTIN[letter]
        if self.peek(2) in _BUILTIN_D:
            self.at += 2
            return _BUILTIN_D[self.text[self.at - 2 : self.at]]
        if letter == "T":
            found = self.remember(self.template_parameter())
            return self.remember(found + self.template_arguments()) if self.peek() == "I" else found
        if letter == "S" and self.peek(2) != "St":
            found = self.substitution()
            return self.remember(found + self.template_arguments()) if self.peek() == "I" else found
        return self.remember(self.compound(letter))

    def compound(self, letter: str) -> str:
        """A type that later ones may refer to."""
        if letter in ("P", "R", "O"):
            self.at += 1
            mark = {"P": "*", "R": "&", "O": "&&"}[letter]
            inner = self.type()
            if inner[-1] in "])":  # an array or a function, or a pointer to one
                if "(*" in inner:
                    return inner.replace("(*", f"(*{mark}", 1)
                at = inner.index(" [" if inner[-1] == "]" else " (")
                return f"{inner[:at]} ({mark}){inner[at:] if inner[-1] == ']' else inner[at + 1 :]}"
            spaced = inner.endswith(" const") or (self.style.pointer and inner[-1] not in "*&")
            return f"{inner}{' ' if spaced else ''}{mark}"
        if letter in ("K", "V"):
            self.at += 1
            word = "const" if letter == "K" else "volatile"
            inner = self.type()
            return f"{word} {inner}" if self.style.const_first and inner[-1] not in "*&" else f"{inner} {word}"
        if letter == "A":
            self.at += 1
            count = self.until("_")
            return f"{self.type()} [{count}]"
        if letter == "F":
            self.at += 1
            result = self.type()
            return f"{result} ({', '.join(self.parameters('E'))})"
        if letter == "N" or letter.isdigit() or self.peek(2) == "St":
            return self.name()[0]
        raise _NotReadable

    def parameters(self, end: str = "") -> list[str]:
        found = []
        while self.at < len(self.text) and not (end and self.peek() == end):
            found.append(self.type())
        self.at += len(end)
        return [] if found == ["void"] and not end else found


def demangle(name: str) -> str:
    """The name without its parameter list, such as ``reduce<512>`` or ``module::kernel``; *name* if unknown."""
    if not name.startswith("_Z"):
        return name
    try:
        return _Reader(name, PLAIN).name()[0]
    except (_NotReadable, RecursionError):
        return name


@cache
def signature(name: str, style: Style) -> str:
    """The name with its parameters, as a tool writes it; for names that are not mangled or not known, as they are."""
    read = _read(name, style)
    if read is None:
        return demangle(name)
    found, parameters = read
    return f"{found}({', '.join(parameters) or ('void' if style.typed else '')})"


def parameter_types(name: str) -> list[str] | None:
    """The types of a kernel's parameters, such as ``float``; None where the name does not tell."""
    read = _read(name, PLAIN)
    return None if read is None else read[1]


def _read(name: str, style: Style) -> tuple[str, list[str]] | None:
    """A mangled name, with the type of its result if it has one, and its parameters."""
    if not name.startswith("_Z"):
        return None
    reader = _Reader(name, style)
    try:
        found, is_template = reader.name()
        result = f"{reader.type()} " if is_template else ""
        return result + found, reader.parameters()
    except (_NotReadable, RecursionError):
        return None


def aliases(name: str) -> list[str]:
    """Other names of a kernel than its mangled one: full, last part, without template arguments."""
    full = demangle(name)
    path = full.split("<", 1)[0]
    last = path.rsplit("::", 1)[-1]
    tail = full[len(path) - len(last) :]
    return [alias for alias in dict.fromkeys((full, tail, last)) if alias != name]
