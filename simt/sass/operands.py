"""Operands of SASS instructions as typed values; ``str()`` gives back the disassembler's text.

Register files: R (per lane), UR (one value per warp), P and UP (predicates).  Index ``None`` is the one that
reads zero or true: RZ, URZ, PT, UPT.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from enum import Enum


class Suffix(Enum):
    """What may follow a register, a constant or an address register."""

    REUSE = "reuse"  # keep the operand in the collector's cache: no effect on results
    CC = "CC"  # Pascal: also write the condition code
    H0_H0 = "H0_H0"  # packed halves: low half twice
    H1_H1 = "H1_H1"
    H1_H0 = "H1_H0"
    H0 = "H0"
    H1 = "H1"
    B0 = "B0"
    B1 = "B1"
    B2 = "B2"
    B3 = "B3"
    F32 = "F32"  # HADD2: the operand is one float32
    SIGN = "SIGN"  # PLOP3: the register's sign bit
    WIDE = "64"  # address register pair
    U32 = "U32"  # address register, zero-extended
    X4 = "X4"  # address register, scaled
    X8 = "X8"
    X16 = "X16"


SCALE = {Suffix.X4: 4, Suffix.X8: 8, Suffix.X16: 16}


def _decorate(body: str, negated: bool, absolute: bool, inverted: bool, suffixes: tuple[Suffix, ...]) -> str:
    body = f"|{body}|" if absolute else body
    sign = "-" if negated else "~" if inverted else ""
    return sign + body + "".join(f".{suffix.value}" for suffix in suffixes)


@dataclass(frozen=True, slots=True)
class Register:
    """``R4``, ``-R2.reuse``, ``|R6|``, ``~URZ``, ``R9.H1``, ``R4.64``; index None is RZ or URZ."""

    index: int | None
    uniform: bool = False
    negated: bool = False
    absolute: bool = False
    inverted: bool = False
    suffixes: tuple[Suffix, ...] = ()

    @property
    def name(self) -> str:
        """The register itself, without decorations."""
        return ("UR" if self.uniform else "R") + ("Z" if self.index is None else str(self.index))

    def __str__(self) -> str:
        return _decorate(self.name, self.negated, self.absolute, self.inverted, self.suffixes)

    def next(self, step: int = 1) -> Register:
        """The register *step* after this one, undecorated (RZ stays RZ)."""
        return Register(None if self.index is None else self.index + step, self.uniform)


@dataclass(frozen=True, slots=True)
class Predicate:
    """``P0``, ``!P3``, ``UPT``; index None is PT or UPT."""

    index: int | None
    uniform: bool = False
    negated: bool = False

    def __str__(self) -> str:
        name = ("UP" if self.uniform else "P") + ("T" if self.index is None else str(self.index))
        return "!" + name if self.negated else name


@dataclass(frozen=True, slots=True)
class PredicateFile:
    """``PR``: all predicates as a bit mask (P2R, R2P); ``UPR`` the uniform ones."""

    uniform: bool = False

    def __str__(self) -> str:
        return "UPR" if self.uniform else "PR"


@dataclass(frozen=True, slots=True)
class Immediate:
    """An integer as the disassembler writes it, in hexadecimal: ``0x1f``, ``-0x8``."""

    value: int

    def __str__(self) -> str:
        return f"-{-self.value:#x}" if self.value < 0 else f"{self.value:#x}"


@dataclass(frozen=True, slots=True)
class FloatImmediate:
    """A floating-point number as the disassembler writes it: ``1.5``, ``-1000000``, ``+INF``, ``-QNAN``.

    Which format it is in depends on the instruction; the text is exact for that format.
    """

    text: str

    def __str__(self) -> str:
        return self.text


@dataclass(frozen=True, slots=True)
class Constant:
    """``c[0x0][0x210]``, ``c[0x0][R2+0x210]``, ``cx[UR4][0x8]``; ``bank`` is a Register for ``cx``.

    ``spaced``: written ``c[0x0] [0x8]``, as the disassembler does for Pascal's XMAD and for HADD2.
    """

    bank: int | Register
    offset: int
    base: Register | None = None
    negated: bool = False
    absolute: bool = False
    inverted: bool = False
    suffixes: tuple[Suffix, ...] = ()
    spaced: bool = False

    def __str__(self) -> str:
        bank = f"cx[{self.bank}]" if isinstance(self.bank, Register) else f"c[{self.bank:#x}]"
        index = _sum_text(self.base, None, self.offset)
        body = f"{bank}{' ' if self.spaced else ''}[{index}]"
        return _decorate(body, self.negated, self.absolute, self.inverted, self.suffixes)


def _sum_text(base: Register | None, uniform: Register | None, offset: int) -> str:
    parts = [str(part) for part in (base, uniform) if part is not None]
    if offset or not parts:
        parts.append(str(Immediate(offset)))
    return "+".join(parts)


@dataclass(frozen=True, slots=True)
class Address:
    """``[R4]``, ``[R2.64+UR4]``, ``[UR4+0x2c]``, ``desc[UR6][R2.64+-0x8]``: base + uniform + offset."""

    base: Register | None
    uniform: Register | None
    offset: int
    descriptor: Register | None = None

    def __str__(self) -> str:
        inside = f"[{_sum_text(self.base, self.uniform, self.offset)}]"
        return inside if self.descriptor is None else f"desc[{self.descriptor}]{inside}"


@dataclass(frozen=True, slots=True)
class Special:
    """A special register, ``SR_TID.X``, ``SRZ``; or a word of a texture instruction: ``2D``, ``ARRAY_1D``."""

    name: str

    def __str__(self) -> str:
        return self.name


@dataclass(frozen=True, slots=True)
class Barrier:
    """A convergence barrier register: ``B0``."""

    index: int

    def __str__(self) -> str:
        return f"B{self.index}"


@dataclass(frozen=True, slots=True)
class Scoreboard:
    """A dependency counter: ``SB5``."""

    index: int

    def __str__(self) -> str:
        return f"SB{self.index}"


@dataclass(frozen=True, slots=True)
class Label:
    """A place in code by name: `` `(.L_x_1) ``, or part of an address: ``32@lo((fn + .L_x_5@srel))``.

    ``part`` is None, "lo" or "hi"; ``symbol`` the label or function; ``within`` the label after "+", ``addend`` the
    number there; ``via`` the kind of function address, as in ``32@lo(fun@unified(f))``.  ``number``: the symbol's
    number in the cubin, once the code is linked.
    """

    symbol: str
    part: str | None = None
    within: str | None = None
    addend: int = 0
    via: str = ""
    number: int | None = None

    def __str__(self) -> str:
        if self.part is None:
            return f"`({self.symbol})"
        after = f"{self.within}@srel" if self.within is not None else f"{self.addend:#x}" if self.addend else ""
        inside = f"({self.symbol} + {after})" if after else self.symbol
        return f"32@{self.part}({f'fun@{self.via}({inside})' if self.via else inside})"


@dataclass(frozen=True, slots=True)
class CodeRegister:
    """A code address in a register pair plus a displacement: ``R4 -0x150``, ``R20 `(kernel)``, ``R20 0x0``."""

    register: Register
    displacement: Immediate | Label

    def __str__(self) -> str:
        return f"{self.register} {self.displacement}"


Operand = (
    Register
    | Predicate
    | PredicateFile
    | Immediate
    | FloatImmediate
    | Constant
    | Address
    | Special
    | Barrier
    | Scoreboard
    | Label
    | CodeRegister
)


def without_reuse(operand: Operand) -> Operand:
    """The operand without ``.reuse``, which profilers do not print."""
    if isinstance(operand, Register | Constant) and Suffix.REUSE in operand.suffixes:
        return replace(operand, suffixes=tuple(s for s in operand.suffixes if s is not Suffix.REUSE))
    return operand
