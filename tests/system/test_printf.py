"""The text of ``printf`` against the C library's, and what CUDA's does not know."""

from __future__ import annotations

import ctypes
import struct
import sys

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from simt.system.printf import CannotFormatError, printf

TEXT = b"some text"
Value = int | float | bytes


class Given:
    """Arguments that are there already."""

    def __init__(self, values: list[int]) -> None:
        self.values = list(values)

    def word(self) -> int:
        return self.values.pop(0) & 0xFFFFFFFF

    def double_word(self) -> int:
        return self.values.pop(0) & (1 << 64) - 1

    def text(self, address: int) -> bytes:
        return TEXT


def c_printf(template: bytes, values: list[object]) -> bytes:
    """What the C library makes of it."""
    room = ctypes.create_string_buffer(8192)
    n = ctypes.CDLL(None).snprintf(room, len(room), template, *values)
    return room.raw[:n]


@st.composite
def calls(draw: st.DrawFn) -> tuple[bytes, list[object], list[int]]:
    """A format of one conversion, its arguments for C and as bits."""
    kind = draw(st.sampled_from("diouxXfeEgGaAcsp"))
    flags = "".join(draw(st.lists(st.sampled_from("-+ #0"), max_size=3)))
    width = draw(st.sampled_from(["", "1", "5", "30", "*"]))
    precision = draw(st.sampled_from(["", ".", ".0", ".1", ".3", ".15"]))
    length = draw(st.sampled_from(["", "", "h", "hh", "l", "ll"])) if kind in "diouxX" else ""
    c_values: list[object] = []
    bits: list[int] = []
    if width == "*":
        flags = flags.replace("0", "")  # glibc does not always let a negative width override it
        amount = draw(st.integers(-20, 20))
        c_values.append(ctypes.c_int(amount))
        bits.append(amount)
    if kind in "feEgGaA":
        number = draw(st.floats(allow_nan=True))
        number = abs(number) if number != number else number
        c_values.append(ctypes.c_double(number))
        bits.append(struct.unpack("<Q", struct.pack("<d", number))[0])
    elif kind == "s":
        c_values.append(ctypes.c_char_p(TEXT))
        bits.append(1)
    else:
        wide = kind == "p" or length in ("l", "ll")
        whole = draw(st.integers(0, 2**64 - 1) | st.sampled_from([0, 1, 2**31, 2**63, 255]))
        whole = whole & 0x7F or 65 if kind == "c" else whole
        c_values.append(ctypes.c_uint64(whole) if wide else ctypes.c_uint32(whole & 0xFFFFFFFF))
        bits.append(whole)
    return f"<%{flags}{width}{precision}{length}{kind}>".encode(), c_values, bits


@pytest.mark.skipif(sys.platform != "linux", reason="other C libraries write %p and %a in their own way")
@settings(max_examples=3000, deadline=None)
@given(calls())
@example((b"<%#.0a>", [ctypes.c_double(1.5)], [0x3FF8000000000000]))
@example((b"<%.3a>", [ctypes.c_double(5e-324)], [1]))
def test_as_the_c_library(call: tuple[bytes, list[object], list[int]]) -> None:
    template, values, bits = call
    assert printf(template, Given(bits)) == c_printf(template, values)


@pytest.mark.parametrize(
    "template", [b"%zd", b"%ju", b"%td", b"%y", b"%5%", b"%l|", b"%", b"%.*f", b"%2$d", b"%'d", b"%Lf", b"%I"]
)
def test_what_cuda_does_not_know_is_text(template: bytes) -> None:
    """As an H200 prints it; nothing is taken for it."""
    assert printf(template + b" %d%%", Given([7])) == template + b" 7%"


@pytest.mark.parametrize("template", [b"%n", b"%ln", b"%9999999d", b"%*d", b"%.9999999f"])
def test_what_nobody_must_be_given(template: bytes) -> None:
    with pytest.raises(CannotFormatError):
        printf(template, Given([2**31 - 1, 0]))
