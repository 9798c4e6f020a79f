"""Readable names of kernels: a small part of the Itanium C++ name mangling.

Covers what kernels are called: (nested) names, ABI tags as Numba writes them, template arguments that are
integers or builtin types.  Anything else keeps its mangled name.
"""

from __future__ import annotations

_BUILTIN = {
    "v": "void", "b": "bool", "c": "char", "a": "signed char", "h": "unsigned char", "s": "short",
    "t": "unsigned short", "i": "int", "j": "unsigned int", "l": "long", "m": "unsigned long",
    "x": "long long", "y": "unsigned long long", "f": "float", "d": "double",
}  # fmt: skip


class _Cursor:
    def __init__(self, text: str) -> None:
        self.text = text
        self.at = 0

    def peek(self) -> str:
        return self.text[self.at : self.at + 1]

    def skip(self, prefix: str) -> bool:
        if self.text.startswith(prefix, self.at):
            self.at += len(prefix)
            return True
        return False

    def digits(self) -> str:
        start = self.at
        while self.peek().isdigit():
            self.at += 1
        return self.text[start : self.at]

    def source_name(self) -> str:
        length = self.digits()
        if not length:
            raise ValueError(self.text)
        start = self.at
        self.at += int(length)
        if self.at > len(self.text):
            raise ValueError(self.text)
        return self.text[start : self.at]


def _component(cursor: _Cursor) -> str:
    """A name with its ABI tags (dropped) and template arguments."""
    name = cursor.source_name()
    while cursor.skip("B"):
        cursor.source_name()
    if cursor.skip("I"):
        arguments = []
        while not cursor.skip("E"):
            arguments.append(_argument(cursor))
        name += f"<{', '.join(arguments)}>"
    return name


def _argument(cursor: _Cursor) -> str:
    if cursor.skip("L"):
        cursor.at += 1  # the type of the number
        sign = "-" if cursor.skip("n") else ""
        number = cursor.digits()
        if not number or not cursor.skip("E"):
            raise ValueError(cursor.text)
        return sign + number
    if cursor.peek() in _BUILTIN:
        cursor.at += 1
        return _BUILTIN[cursor.text[cursor.at - 1]]
    raise ValueError(cursor.text)


def demangle(name: str) -> str:
    """The name without its parameter list, such as ``reduce<512>`` or ``module::kernel``; *name* if unknown."""
    cursor = _Cursor(name)
    if not cursor.skip("_Z"):
        return name
    try:
        if not cursor.skip("N"):
            return _component(cursor)
        parts = []
        while not cursor.skip("E"):
            parts.append(_component(cursor))
        return "::".join(parts)
    except ValueError:
        return name


def aliases(name: str) -> list[str]:
    """Other names of a kernel than its mangled one: full, last part, without template arguments."""
    full = demangle(name)
    path = full.split("<", 1)[0]
    last = path.rsplit("::", 1)[-1]
    tail = full[len(path) - len(last) :]
    return [alias for alias in dict.fromkeys((full, tail, last)) if alias != name]
