"""The text that ``printf`` makes of a format and its arguments, as C defines it (LP64: a ``long`` has 64 bits).

As on an H200, what ``printf`` of CUDA does not know is text and takes no argument: ``%zd``, ``%jd``, ``%td``, ``%Lf``,
``%.*f``, ``%'d``, ``%2$d``.  ``%hhd`` and ``%F``, of which hardware makes a muddle, are as in C.
"""

from __future__ import annotations

import math
import re
import struct
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Protocol

_CONVERSION = re.compile(
    rb"%(?:(?P<percent>%)|(?P<flags>[-+ #0]*)(?P<width>\*|\d{1,9})?(?:\.(?P<precision>\d{0,9}))?"
    rb"(?P<length>hh|h|ll|l)?(?P<kind>[diouxXfFeEgGaAcspn]))",
)
_WIDE = frozenset((b"l", b"ll"))
_BITS = {b"hh": 8, b"h": 16}
FLOATS = b"fFeEgGaA"
MOST_WIDTH = 1 << 20
"""Characters of a field, so that one number does not fill the host's memory."""


class CannotFormatError(Exception):
    """A format that ``printf`` must not be given: the message says what is in it, ``help`` what to know."""

    def __init__(self, what: str, help: str) -> None:
        super().__init__(what)
        self.help = help


class Arguments(Protocol):
    """The arguments of one call, taken in their order."""

    def word(self) -> int:
        """The next one as 32 bits, unsigned."""

    def double_word(self) -> int:
        """The next one as 64 bits, unsigned."""

    def text(self, address: int) -> bytes:
        """The string that ``%s`` is to show."""


@dataclass(frozen=True)
class Conversion:
    """One ``%...``: flags, width (a number, ``*`` or nothing), precision (a number; none is 0), length and kind."""

    flags: bytes
    width: bytes
    precision: bytes
    length: bytes
    kind: bytes
    has_precision: bool

    @property
    def is_wide(self) -> bool:
        """Whether its argument has 64 bits."""
        return self.kind in FLOATS or self.kind in (b"s", b"p") or self.length in _WIDE


def pieces(template: bytes) -> Iterator[bytes | Conversion]:
    """A format in its parts: text, and conversions; anything else is text."""
    at = 0
    for found in _CONVERSION.finditer(template):
        if found.start() > at:
            yield template[at : found.start()]
        percent, *parts = found.group("percent", "flags", "width", "precision", "length", "kind")
        flags, width, precision, length, kind = (part or b"" for part in parts)
        yield percent or Conversion(flags, width, precision, length, kind, has_precision=parts[2] is not None)
        at = found.end()
    if at < len(template):
        yield template[at:]


def printf(template: bytes, arguments: Arguments) -> bytes:
    """The text of one call."""
    return b"".join(piece if isinstance(piece, bytes) else convert(piece, arguments) for piece in pieces(template))


def convert(conversion: Conversion, arguments: Arguments) -> bytes:
    """The text of one conversion, whose arguments are next."""
    flags = conversion.flags
    width = _number(conversion.width, arguments)
    if width < 0:  # only one that is an argument can be
        flags, width = flags + b"-", -width
    precision = int(conversion.precision or b"0") if conversion.has_precision else None
    kind = conversion.kind
    if width > MOST_WIDTH or (precision or 0) > MOST_WIDTH:
        raise CannotFormatError("a field wider than 1 MiB", "")
    if kind == b"n":
        raise CannotFormatError("%n", "CUDA's printf has no %n; on an H200 it crashes the program")
    raw = arguments.double_word() if conversion.is_wide else arguments.word()
    zeros = b"0" in flags and b"-" not in flags
    if kind == b"c":
        sign, body, zeros = b"", bytes((raw & 255,)), False
    elif kind == b"s":
        sign, body, zeros = b"", arguments.text(raw)[:precision], False
    elif kind in FLOATS:
        value: float = struct.unpack("<d", struct.pack("<Q", raw))[0]
        sign, body = _floating(value, kind, flags, precision)
        zeros = zeros and math.isfinite(value)
    elif kind == b"p":
        sign, body = _sign(False, flags) + b"0x", (b"%x" % raw).rjust(precision or 0, b"0")
        if raw == 0:
            sign, body = b"", b"(nil)"
        zeros = zeros and precision is None and raw != 0
    else:
        bits = 64 if conversion.is_wide else _BITS.get(conversion.length, 32)
        sign, body = _integer(raw & (1 << bits) - 1, bits, kind, flags, precision)
        zeros = zeros and precision is None
    if zeros:
        body = body.rjust(width - len(sign), b"0")
    whole = sign + body
    return whole.ljust(width) if b"-" in flags else whole.rjust(width)


def _number(text: bytes, arguments: Arguments) -> int:
    """A width; ``*`` takes it from the arguments."""
    if text == b"*":
        value = arguments.word()
        return value - (1 << 32) if value >> 31 else value
    return int(text or b"0")


def _sign(negative: bool, flags: bytes) -> bytes:
    return b"-" if negative else b"+" if b"+" in flags else b" " if b" " in flags else b""


def _integer(raw: int, bits: int, kind: bytes, flags: bytes, precision: int | None) -> tuple[bytes, bytes]:
    """Sign (or prefix) and digits."""
    if kind in b"di":
        value = raw - (1 << bits) if raw >> bits - 1 else raw
        sign, digits = _sign(value < 0, flags), b"%d" % abs(value)
    else:
        form = {b"u": b"%d", b"o": b"%o", b"x": b"%x", b"X": b"%X"}[kind]
        sign, digits = b"", form % raw
    if precision == 0 and raw == 0:
        digits = b""
    digits = digits.rjust(precision or 0, b"0")
    if b"#" in flags and kind == b"o" and not digits.startswith(b"0"):
        digits = b"0" + digits
    if b"#" in flags and kind in b"xX" and raw:
        sign = b"0" + kind
    return sign, digits


def _floating(value: float, kind: bytes, flags: bytes, precision: int | None) -> tuple[bytes, bytes]:
    """Sign (with the prefix of hexadecimal digits) and digits."""
    sign = _sign(math.copysign(1.0, value) < 0, flags)
    value = abs(value)
    if not math.isfinite(value):
        text = b"nan" if math.isnan(value) else b"inf"
        return sign, text.upper() if kind.isupper() else text
    if kind in b"aA":
        prefix, body = b"0x", _hexadecimal(value, precision, b"#" in flags)
        return (sign + prefix.upper(), body.upper()) if kind == b"A" else (sign + prefix, body)
    form = b"%" + (b"#" if b"#" in flags else b"") + b".%d" % (6 if precision is None else precision) + kind
    return sign, form % value


def _hexadecimal(value: float, precision: int | None, point: bool) -> bytes:
    """A double as glibc's ``%a`` has it, without ``0x``."""
    bits = struct.unpack("<Q", struct.pack("<d", value))[0]
    exponent, fraction = bits >> 52, bits & (1 << 52) - 1
    lead = int(exponent > 0)
    power = (exponent - 1023 if exponent else -1022) if value else 0
    if precision is not None and precision < 13:
        drop = 4 * (13 - precision)
        whole = lead << 52 | fraction
        half, rest = 1 << drop - 1, whole & (1 << drop) - 1
        whole >>= drop
        whole += int(rest > half or (rest == half and whole & 1))
        lead, fraction = whole >> 4 * precision, whole & (1 << 4 * precision) - 1
        digits = b"%0*x" % (precision, fraction) if precision else b""
    else:
        digits = b"%013x" % fraction
        digits = digits.rstrip(b"0") if precision is None else digits.ljust(precision, b"0")
    dot = b"." if digits or point else b""
    return b"%d%s%sp%+d" % (lead, dot, digits, power)
