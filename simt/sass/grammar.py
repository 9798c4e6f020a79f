"""From the text of one SASS instruction to a :class:`SassInstruction`, and back.

Grammar (as nvdisasm and ``cuobjdump -sass`` print it)::

    instruction := ["@" predicate] opcode {"." word} [operand {"," operand}] [annotation]
    annotation  := '(*"' ("BRANCH_TARGETS " label {"," label} | text) '"*)'

The operands are described in operands.py.  Text that does not fit raises :class:`SyntaxProblem`; nothing is
skipped but annotations, which only comment (``(*"SpillRefill"*)``).  A register, predicate, barrier, scoreboard or
constant bank that the architecture does not have raises :class:`NotThere`.  Modifier words get their meaning from the
opcode's row (see table.py).
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass, replace
from functools import lru_cache

from simt.sass.architectures import BLACKWELL
from simt.sass.operands import (
    Address,
    Barrier,
    CodeRegister,
    Constant,
    FloatImmediate,
    Immediate,
    Label,
    Operand,
    Predicate,
    PredicateFile,
    Register,
    Scoreboard,
    Special,
    Suffix,
    without_reuse,
)


class SyntaxProblem(ValueError):
    """The text is not an instruction of this grammar; the message says what and where."""


class NotThere(SyntaxProblem):
    """The text names what the architecture does not have, such as R300."""


@dataclass(frozen=True, slots=True)
class Limits:
    """How many there are: registers, uniform registers, convergence barriers; the first that does not exist."""

    registers: int = 255
    uniform: int = 63
    barriers: int = 16
    predicates: int = 7
    scoreboards: int = 6
    banks: int = 32


def limits(architecture: int) -> Limits:
    """What code of an architecture may name (CUDA Binary Utilities, instruction set reference)."""
    return Limits(uniform=255 if architecture >= BLACKWELL else 63)


@dataclass(frozen=True, slots=True)
class Control:
    """Scheduling bits of an encoding; they do not change results, the timing model reads them.

    ``stall``: cycles until the next issue; ``yields``: the scheduler may switch warps; ``write_barrier`` and
    ``read_barrier``: scoreboard to signal (None: none); ``wait_mask``: scoreboards to wait for;
    ``reuse``: operand slots to keep.
    """

    stall: int
    yields: bool
    write_barrier: int | None
    read_barrier: int | None
    wait_mask: int
    reuse: int

    @staticmethod
    def from_bits(bits: int) -> Control:
        """Decode 21 control bits (bits 105 to 125 of a Volta encoding, or one of three in a Pascal word).

        Raises NotThere for a scoreboard that does not exist.
        """
        write, read = bits >> 5 & 7, bits >> 8 & 7
        if 6 in (write, read):
            raise NotThere("the control bits name scoreboard 6; there are SB0 to SB5")
        return Control(
            stall=bits & 15,
            yields=not bits >> 4 & 1,
            write_barrier=None if write == 7 else write,
            read_barrier=None if read == 7 else read,
            wait_mask=bits >> 11 & 63,
            reuse=bits >> 17 & 15,
        )


@dataclass(frozen=True, slots=True)
class SassInstruction:
    """One parsed instruction.

    ``offset``: bytes from the start of its kernel; ``words``: modifier words as written; ``targets``: labels of
    a BRANCH_TARGETS annotation; ``encoding``: the instruction word, if the listing had it; ``dual``: issued
    together with the one before it (Pascal); ``source``: file and line, if known; ``problem``: why the operands could
    not be read ("": they were), an error for those who execute the instruction; ``unread``: these, as written.
    """

    opcode: str
    words: tuple[str, ...] = ()
    operands: tuple[Operand, ...] = ()
    guard: Predicate | None = None
    offset: int = 0
    targets: tuple[str, ...] = ()
    encoding: int | None = None
    control: Control | None = None
    dual: bool = False
    source: tuple[str, int] | None = None
    problem: str = ""
    unread: str = ""

    @property
    def mnemonic(self) -> str:
        """Opcode with its modifier words."""
        return ".".join((self.opcode, *self.words))

    def __str__(self) -> str:
        return self._text(self.operands)

    def profiler_text(self) -> str:
        """The text as profilers print it: without ``.reuse``."""
        return self._text(map(without_reuse, self.operands))

    def _text(self, operands: Iterable[Operand]) -> str:
        guard = f"@{self.guard} " if self.guard is not None else ""
        return f"{guard}{self.mnemonic} {self.unread or ', '.join(map(str, operands))}".rstrip()


_ANNOTATION = re.compile(r'(?:/\*)?\(\*(?:"(?:BRANCH_TARGETS (?P<labels>[^"]*)|[^"]*)"|.*?)\*\)(?:\*/)?')
_GUARD = re.compile(r"@(!?U?P(?:T|\d{1,9}))\s+", re.ASCII)
_MNEMONIC = re.compile(r"[A-Z][A-Z0-9_]*(?:\.[A-Za-z0-9_]+)*")
_REGISTER = r"U?R(?:Z|[0-9]{1,9})"
_PREDICATE = re.compile(r"(!?)(U?)P(T|[0-9]{1,9})")
_HEX = re.compile(r"-?0x[0-9a-f]{1,16}")
_FLOAT = re.compile(r"[-+]?(?:[0-9]+(?:\.[0-9]*)?(?:e[-+]?[0-9]+)?|INF|QNAN|SNAN)")
_BARRIER = re.compile(r"B([0-9]{1,9})")
_SCOREBOARD = re.compile(r"SB([0-9]{1,9})")
_SUFFIXES = r"(?P<suffixes>(?:\.[A-Z0-9a-z_]+)*)"
_DECORATED = re.compile(
    rf"(?P<sign>[-~]?)(?P<bar>\|?)(?P<body>{_REGISTER}|c\[[^]]*\] ?\[[^]]*\]|cx\[[^]]*\]\[[^]]*\])"
    rf"(?P<inside>(?:\.[A-Z0-9a-z_]+)*)\|?{_SUFFIXES}"  # |R2|.H0_H0, but |UR4.H0_H0|
)
_PLAIN_REGISTER = re.compile(rf"(?P<name>{_REGISTER}){_SUFFIXES}")
_CONSTANT = re.compile(r"(?P<kind>cx?)\[(?P<bank>[^]]*)\](?P<space> ?)\[(?P<index>[^]]*)\]")
_ADDRESS = re.compile(r"(?:desc\[(?P<descriptor>[^]]*)\])?\[(?P<inside>[^]]*)\]")
_LABEL = re.compile(r"`\((?P<symbol>[^()]+)\)")
_PART = re.compile(
    r"32@(?P<part>lo|hi)\((?:(?P<symbol>[^()\s]+)|fun@(?P<via>\w+)\((?P<function>[^()\s]+)\)"
    r"|\((?P<base>[^()\s]+) \+ (?:(?P<within>[^()\s]+)@srel|(?P<addend>0x[0-9a-f]{1,16}))\))\)"
)
_TEXTURE_WORD = re.compile(r"(?:ARRAY_)?(?:1D|2D|3D|CUBE)|TEX_[A-Z_]+")
_CODE_REGISTER = re.compile(rf"(?P<register>{_REGISTER}) (?P<displacement>\S.*)")
_BANK_BYTES = 1 << 16


def parse(text: str, offset: int = 0, lenient: bool = False, architecture: int = BLACKWELL) -> SassInstruction:
    """Parse one instruction, without its ``;``.  Raises SyntaxProblem.

    ``lenient``: operands that cannot be read (those of tensor cores, for instance) are noted as ``problem`` instead;
    those that name what *architecture* does not have still raise NotThere.
    """
    rest = text.strip()
    targets: tuple[str, ...] = ()
    for annotation in _ANNOTATION.finditer(rest):
        if annotation["labels"] is not None:
            targets = tuple(label.strip() for label in annotation["labels"].split(","))
    rest = _ANNOTATION.sub("", rest).strip()
    reader = _Operands(limits(architecture))
    guard = None
    match = _GUARD.match(rest)
    if match:
        guard = reader.predicate(match[1])
        rest = rest[match.end() :]
    match = _MNEMONIC.match(rest)
    if not match:
        raise SyntaxProblem(f"no opcode in {text!r}")
    opcode, *words = match[0].split(".")
    rest = rest[match.end() :].strip()
    operands: tuple[Operand, ...] = ()
    problem = ""
    try:
        operands = tuple(_operand(architecture, part.strip()) for part in rest.split(",")) if rest else ()
    except NotThere:
        raise
    except SyntaxProblem as found:
        if not lenient:
            raise
        problem = str(found)
    return SassInstruction(
        opcode, tuple(words), operands, guard, offset, targets, problem=problem, unread=rest if problem else ""
    )


@lru_cache(maxsize=1 << 14)
def _operand(architecture: int, text: str) -> Operand:
    """One operand: code has the same few again and again.  Raises SyntaxProblem."""
    return _Operands(limits(architecture)).operand(text)


def _suffixes(text: str) -> tuple[Suffix, ...]:
    try:
        return tuple(Suffix(name) for name in text.split(".")[1:])
    except ValueError as problem:
        raise SyntaxProblem(f"unknown operand suffix in {text!r}") from problem


class _Operands:
    """Reads operands of an architecture that has no more than *limits*."""

    def __init__(self, limits: Limits) -> None:
        self.limits = limits

    def operand(self, text: str) -> Operand:
        """One operand.  Raises SyntaxProblem."""
        match = _DECORATED.fullmatch(text)
        if match:
            return self._decorated(match)
        if _PREDICATE.fullmatch(text):
            return self.predicate(text)
        if text in ("PR", "UPR"):
            return PredicateFile(text == "UPR")
        if _HEX.fullmatch(text):
            return Immediate(int(text, 16))
        if _FLOAT.fullmatch(text):
            return FloatImmediate(text)
        match = _ADDRESS.fullmatch(text)
        if match:
            base, uniform, offset = self._sum(match["inside"])
            descriptor = self._plain_register(match["descriptor"]) if match["descriptor"] else None
            return Address(base, uniform, offset, descriptor)
        if text.startswith("SR_") or text == "SRZ" or _TEXTURE_WORD.fullmatch(text):
            return Special(text)
        match = _BARRIER.fullmatch(text)
        if match:
            return Barrier(self._number("B", match[1], self.limits.barriers))
        match = _SCOREBOARD.fullmatch(text)
        if match:
            return Scoreboard(self._number("SB", match[1], self.limits.scoreboards))
        match = _LABEL.fullmatch(text)
        if match:
            return Label(match["symbol"])
        match = _PART.fullmatch(text)
        if match:
            symbol = match["symbol"] or match["function"] or match["base"]
            return Label(symbol, match["part"], match["within"], int(match["addend"] or "0", 16), match["via"] or "")
        match = _CODE_REGISTER.fullmatch(text)
        if match:
            displacement = self.operand(match["displacement"])
            if isinstance(displacement, Immediate | Label):
                return CodeRegister(self._plain_register(match["register"]), displacement)
        raise SyntaxProblem(f"cannot read the operand {text!r}")

    def predicate(self, text: str) -> Predicate:
        """``P0``, ``!UPT``."""
        match = _PREDICATE.fullmatch(text)
        if not match:
            raise SyntaxProblem(f"{text!r} is not a predicate")
        negated, uniform, name = match.groups()
        index = None if name == "T" else self._number(f"{uniform}P", name, self.limits.predicates)
        return Predicate(index, bool(uniform), bool(negated))

    @staticmethod
    def _number(kind: str, digits: str, count: int) -> int:
        """The number of one of *count* registers of a kind."""
        number = int(digits)
        if number >= count:
            raise NotThere(f"there is no {kind}{number}; the last is {kind}{count - 1}")
        return number

    def _decorated(self, match: re.Match[str]) -> Operand:
        negated, inverted = match["sign"] == "-", match["sign"] == "~"
        absolute, suffixes = bool(match["bar"]), _suffixes(match["inside"] + match["suffixes"])
        plain: Register | Constant
        plain = self._constant(match["body"]) if match["body"].startswith("c") else self._register(match["body"])
        return replace(plain, negated=negated, absolute=absolute, inverted=inverted, suffixes=suffixes)

    def _register(self, name: str) -> Register:
        uniform = name.startswith("U")
        index = name.lstrip("UR")
        if index == "Z":
            return Register(None, uniform)
        count = self.limits.uniform if uniform else self.limits.registers
        return Register(self._number("UR" if uniform else "R", index, count), uniform)

    def _plain_register(self, text: str) -> Register:
        match = _PLAIN_REGISTER.fullmatch(text)
        if not match:
            raise SyntaxProblem(f"{text!r} is not a register")
        return replace(self._register(match["name"]), suffixes=_suffixes(match["suffixes"]))

    def _sum(self, text: str) -> tuple[Register | None, Register | None, int]:
        """Base register, uniform register and offset of ``R2.64+UR4+-0x8``; a single UR is the uniform one."""
        base: Register | None = None
        uniform: Register | None = None
        offset = 0
        for part in text.split("+"):
            if _HEX.fullmatch(part):
                offset = int(part, 16)
                continue
            register = self._plain_register(part)
            if register.uniform:
                uniform = register
            else:
                base = register
        return base, uniform, offset

    def _constant(self, text: str) -> Constant:
        match = _CONSTANT.fullmatch(text)
        if not match:
            raise SyntaxProblem(f"{text!r} is not a constant")
        base, uniform, offset = self._sum(match["index"])
        spaced = bool(match["space"])
        if match["kind"] == "cx":
            return Constant(self._plain_register(match["bank"]), offset, base or uniform, spaced=spaced)
        if not _HEX.fullmatch(match["bank"]):
            raise SyntaxProblem(f"{text!r} is not a constant")
        bank = int(match["bank"], 16)
        if not 0 <= bank < self.limits.banks:
            raise NotThere(f"there is no constant bank {bank:#x}; the last is {self.limits.banks - 1:#x}")
        if base is None and uniform is None and not 0 <= offset < _BANK_BYTES:
            raise NotThere(f"{text} lies outside of its bank, which has {_BANK_BYTES >> 10} KiB")
        return Constant(bank, offset, base or uniform, spaced=spaced)
