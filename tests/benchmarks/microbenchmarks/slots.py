"""Kernels of given machine instructions: python slots.py TEMPLATE_CUBIN PACK writes what ``slots`` measures.

nvcc chooses registers, stall counts and reuse bits itself, so these kernels are the template of ``slots.cu`` with the
256 FFMAs of its loop replaced.  Encodings are those that nvcc 13.0 gives for sm_90; registers and the control bits are
put in.  Sources are never written, so that nothing depends on anything.
"""

from __future__ import annotations

import struct
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

SLOTS = 256
FIRST = 78  # instruction of the template at which the FFMAs start
RZ = 255
DESTINATIONS = [*range(12, 20), *range(22, 59)]
PAIRS = [register for register in DESTINATIONS if register % 2 == 0 and register + 1 in DESTINATIONS]
KEEP_B, KEEP_C = 2, 4
WORDS = {  # without registers and control bits
    "FFMA": 0x223,
    "FADD": 0x221,
    "NOP": 0x918,
    "IMAD": 0x78E0200_0000000000000224,
    "IMAD.HI": 0x78E0000_0000000000000227,
    "IMAD.WIDE": 0x78E0000_0000000000000225,
    "HFMA2": 0x231,
    "HFMA2.MMA": 0x235,
    "VIADD": 0x236,
    "IADD3": 0x7FFE000_0000000000000210,
    "FFMA.UR": 0x8000000_0000000000000C23,
    "IMAD.HI.UR": 0xF8E0000_0000000000000C27,
}
WITHOUT_C = ("FADD", "VIADD")
LETTERS = {"F": "FFMA", "D": "FADD", "N": "NOP", "I": "IMAD", "X": "IMAD.HI", "W": "IMAD.WIDE", "H": "HFMA2"}
LETTERS |= {"M": "HFMA2.MMA", "V": "VIADD", "A": "IADD3"}


@dataclass(frozen=True)
class Slot:
    """One instruction: sources *a*, *b*, *c*, stall count, reuse bits; ``yields`` lets other warps go first."""

    opcode: str
    a: int = 4
    b: int = 7
    c: int = RZ
    stall: int = 1
    reuse: int = 0
    yields: bool = False

    def word(self, k: int) -> int:
        """The 128 bits as slot *k*."""
        word = WORDS[self.opcode] | 7 << 12
        if self.opcode != "NOP":
            destinations = PAIRS if self.opcode == "IMAD.WIDE" else DESTINATIONS
            word |= destinations[k % len(destinations)] << 16 | self.a << 24 | self.b << 32
            word |= 0 if self.opcode in WITHOUT_C else self.c << 64
        control = self.stall | (not self.yields) << 4 | 7 << 5 | 7 << 8 | self.reuse << 17
        return word | control << 105


def mix(letters: str, stalls: str = "1") -> list[Slot]:
    """Instructions that read an even and an odd register each; one stall count a letter, repeated."""
    return [Slot(LETTERS[x], stall=int(stalls[k % len(stalls)])) for k, x in enumerate(letters)]


def uniform(letter: str, a: int, c: int) -> Slot:
    """F or X with a uniform register as its second factor."""
    return Slot(f"{LETTERS[letter]}.UR", a, 4, c)


EEE, OOO, EE = Slot("FFMA", 4, 6, 8), Slot("FFMA", 5, 7, 9), Slot("FFMA", 4, 6)
BODIES: dict[str, list[Slot]] = {
    **{f"mix.{x}": mix(x) for x in ("F", "I", "X", "W", "H", "M", "V", "A", "FI", "FFI", "FFFI", "FFFFI", "FII")},
    **{f"mix.{x}": mix(x) for x in ("FFII", "FFFFIIII", "FH", "FFH", "FFHH", "FM", "FFM", "FFFM", "FFMM", "FFHM")},
    **{f"mix.{x}": mix(x) for x in ("HM", "IM", "IH", "HV", "MV", "FV", "FFV", "FX", "FFX", "FFFX", "FXX", "FA")},
    **{f"mix.{x}": mix(x) for x in ("FFA", "IA", "XN", "XNN")},
    "stalls.DDDD": mix("DDDD", "1112"),
    "stalls.FI": mix("FI", "12"),
    "stalls.FFII": mix("FFII", "1121"),
    "yields.D": [Slot("FADD", yields=True)],
    "ports.eo": [Slot("FFMA", 4, 5)],
    "ports.ee": [EE],
    "ports.eee": [EEE],
    "ports.444": [Slot("FFMA", 4, 4, 4)],
    "ports.446": [Slot("FFMA", 4, 4, 6)],
    "ports.eee.ooo": [EEE, OOO],
    "ports.eee2.ooo2": [EEE, EEE, OOO, OOO],
    "ports.eee8.ooo8": [EEE] * 8 + [OOO] * 8,
    "ports.ee4.oo4": [EE] * 4 + [Slot("FFMA", 5, 7)] * 4,
    "ports.eee.nnnn": [EEE, *mix("NNNN")],
    "ports.eeeA": [Slot("IADD3", 4, 6, 8)],
    "ports.eeX": [Slot("IMAD.HI", 4, 6)],
    "ports.eeX8": [Slot("IMAD.HI", 4, 6, 8)],
    "ports.eeXF": [Slot("IMAD.HI", 4, 6), EE],
    "ports.eeX8.ooF": [Slot("IMAD.HI", 4, 6, 8), Slot("FFMA", 5, 7)],
    "uniform.oX": [uniform("X", 5, RZ)],
    "uniform.oX8": [uniform("X", 5, 8)],
    "uniform.eX8": [uniform("X", 4, 8)],
    "uniform.oX.eFo": [uniform("X", 5, RZ), uniform("F", 4, 5)],
    "uniform.oX8.eFo": [uniform("X", 5, 8), uniform("F", 4, 5)],
    "uniform.eX8.eFo": [uniform("X", 4, 8), uniform("F", 4, 5)],
    "uniform.oX8.eF": [uniform("X", 5, 8), uniform("F", 4, RZ)],
    "uniform.oX8.oF": [uniform("X", 5, 8), uniform("F", 5, RZ)],
    "uniform.eX8.eF": [uniform("X", 4, 8), uniform("F", 4, RZ)],
    "uniform.eX8.oF": [uniform("X", 4, 8), uniform("F", 5, RZ)],
    "uniform.oX8.N": [uniform("X", 5, 8), *mix("N")],
    "uniform.eX8.N": [uniform("X", 4, 8), *mix("N")],
    "reuse.c": [Slot("FFMA", 4, 7, 6, reuse=KEEP_C)],
    "reuse.bc": [Slot("FFMA", 4, 6, 8, reuse=KEEP_B | KEEP_C)],
    "reuse.alternating": [Slot("FFMA", 5, 4, 6, reuse=KEEP_C), Slot("FFMA", 5, 4, 8, reuse=KEEP_C)],
    "reuse.every_other": [Slot("FFMA", 4, 5, 6, reuse=KEEP_C), Slot("FFMA", 4, 5, 6)],
    "reuse.bc.stall2": [Slot("FFMA", 4, 6, 8, reuse=KEEP_B | KEEP_C, stall=2)],
    "reuse.bc.I": [Slot("IMAD", 4, 6, 8, reuse=KEEP_B | KEEP_C)],
}
"""Letters: see LETTERS; ``e`` an even, ``o`` an odd register, 8 the pair R8 and R9, digits those registers."""


def kernels(template: bytes) -> Iterator[tuple[str, bytes]]:
    """(name, cubin) of every body; *template* is ``slots.cu`` as a cubin."""
    (sections,) = struct.unpack_from("<Q", template, 40)
    entry_size, count, names = struct.unpack_from("<HHH", template, 58)
    rows = [struct.unpack_from("<IIQQQQ", template, sections + k * entry_size) for k in range(count)]
    text = next(r[4] for r in rows if template[rows[names][4] + r[0] :].startswith(b".text.body\0"))
    for name, body in BODIES.items():
        image = bytearray(template)
        for k in range(SLOTS):
            word = body[k % len(body)].word(k)
            image[text + 16 * (FIRST + k) : text + 16 * (FIRST + k + 1)] = word.to_bytes(16, "little")
        yield name, bytes(image)


if __name__ == "__main__":
    with Path(sys.argv[2]).open("wb") as pack:
        for name, cubin in kernels(Path(sys.argv[1]).read_bytes()):
            pack.write(struct.pack("<i", len(name)) + name.encode() + struct.pack("<i", len(cubin)) + cubin)
