"""From the text of one SASS instruction to a :class:`SassInstruction`, and back.

Grammar (as nvdisasm and ``cuobjdump -sass`` print it)::

    instruction := ["@" predicate] opcode {"." word} [operand {"," operand}] [annotation]
    annotation  := '(*"BRANCH_TARGETS ' label {"," label} '"*)'

The operands are described in operands.py.  Text that does not fit raises :class:`SyntaxProblem`; nothing is
skipped.  Modifier words get their meaning from the opcode's row (see table.py).
"""

from __future__ import annotations

import re
from dataclasses import dataclass, replace

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
        """Decode 21 control bits (bits 105 to 125 of a Volta encoding, or one of three in a Pascal word)."""
        write, read = bits >> 5 & 7, bits >> 8 & 7
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
    not be read ("": they were), an error for those who execute the instruction.
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

    @property
    def mnemonic(self) -> str:
        """Opcode with its modifier words."""
        return ".".join((self.opcode, *self.words))

    def __str__(self) -> str:
        guard = f"@{self.guard} " if self.guard is not None else ""
        return f"{guard}{self.mnemonic} {', '.join(map(str, self.operands))}".rstrip()

    def profiler_text(self) -> str:
        """The text as profilers print it: without ``.reuse``."""
        return str(replace(self, operands=tuple(without_reuse(operand) for operand in self.operands)))


_ANNOTATION = re.compile(r'\(\*"BRANCH_TARGETS (?P<labels>[^"]*)"\*\)')
_GUARD = re.compile(r"@(!?U?P(?:T|\d+))\s+")
_MNEMONIC = re.compile(r"[A-Z][A-Z0-9_]*(?:\.[A-Za-z0-9_]+)*")
_REGISTER = r"U?R(?:Z|\d+)"
_PREDICATE = re.compile(r"(!?)(U?)P(T|\d+)")
_HEX = re.compile(r"-?0x[0-9a-f]+")
_FLOAT = re.compile(r"[-+]?(?:\d+(?:\.\d*)?(?:e[-+]?\d+)?|INF|QNAN|SNAN)")
_SUFFIXES = r"(?P<suffixes>(?:\.[A-Z0-9a-z_]+)*)"
_DECORATED = re.compile(
    rf"(?P<sign>[-~]?)(?P<bar>\|?)(?P<body>{_REGISTER}|c\[[^]]*\] ?\[[^]]*\]|cx\[[^]]*\]\[[^]]*\])\|?{_SUFFIXES}"
)
_PLAIN_REGISTER = re.compile(rf"(?P<name>{_REGISTER}){_SUFFIXES}")
_CONSTANT = re.compile(r"(?P<kind>cx?)\[(?P<bank>[^]]*)\](?P<space> ?)\[(?P<index>[^]]*)\]")
_ADDRESS = re.compile(r"(?:desc\[(?P<descriptor>[^]]*)\])?\[(?P<inside>[^]]*)\]")
_LABEL = re.compile(r"`\((?P<symbol>[^()]+)\)")
_PART = re.compile(
    r"32@(?P<part>lo|hi)\((?:\((?P<base>[^()\s]+) \+ (?P<within>[^()\s]+)@srel\)|(?P<symbol>[^()\s]+))\)"
)
_TEXTURE_WORD = re.compile(r"(?:ARRAY_)?(?:1D|2D|3D|CUBE)|TEX_[A-Z_]+")
_CODE_REGISTER = re.compile(rf"(?P<register>{_REGISTER}) (?P<displacement>\S.*)")


def parse(text: str, offset: int = 0, lenient: bool = False) -> SassInstruction:
    """Parse one instruction, without its ``;``.  Raises SyntaxProblem.

    ``lenient``: operands that cannot be read (those of textures, for instance) are noted as ``problem`` instead.
    """
    rest = text.strip()
    targets: tuple[str, ...] = ()
    annotation = _ANNOTATION.search(rest)
    if annotation:
        targets = tuple(label.strip() for label in annotation["labels"].split(","))
        rest = (rest[: annotation.start()] + rest[annotation.end() :]).strip()
    guard = None
    match = _GUARD.match(rest)
    if match:
        guard = _predicate(match[1])
        rest = rest[match.end() :]
    match = _MNEMONIC.match(rest)
    if not match:
        raise SyntaxProblem(f"no opcode in {text!r}")
    opcode, *words = match[0].split(".")
    rest = rest[match.end() :].strip()
    operands: tuple[Operand, ...] = ()
    unread = ""
    try:
        operands = tuple(_operand(part.strip()) for part in rest.split(",")) if rest else ()
    except SyntaxProblem as problem:
        if not lenient:
            raise
        unread = str(problem)
    return SassInstruction(opcode, tuple(words), operands, guard, offset, targets, problem=unread)


def _predicate(text: str) -> Predicate:
    match = _PREDICATE.fullmatch(text)
    if not match:
        raise SyntaxProblem(f"{text!r} is not a predicate")
    negated, uniform, name = match.groups()
    return Predicate(None if name == "T" else int(name), bool(uniform), bool(negated))


def _suffixes(text: str) -> tuple[Suffix, ...]:
    try:
        return tuple(Suffix(name) for name in text.split(".")[1:])
    except ValueError as problem:
        raise SyntaxProblem(f"unknown operand suffix in {text!r}") from problem


def _plain_register(text: str) -> Register:
    match = _PLAIN_REGISTER.fullmatch(text)
    if not match:
        raise SyntaxProblem(f"{text!r} is not a register")
    return _register(match["name"], suffixes=_suffixes(match["suffixes"]))


def _register(
    name: str,
    negated: bool = False,
    absolute: bool = False,
    inverted: bool = False,
    suffixes: tuple[Suffix, ...] = (),
) -> Register:
    uniform = name.startswith("U")
    index = name.lstrip("UR")
    return Register(None if index == "Z" else int(index), uniform, negated, absolute, inverted, suffixes)


def _sum(text: str) -> tuple[Register | None, Register | None, int]:
    """Base register, uniform register and offset of ``R2.64+UR4+-0x8``; a single UR is the uniform one."""
    base: Register | None = None
    uniform: Register | None = None
    offset = 0
    for part in text.split("+"):
        if _HEX.fullmatch(part):
            offset = int(part, 16)
            continue
        register = _plain_register(part)
        if register.uniform:
            uniform = register
        else:
            base = register
    return base, uniform, offset


def _constant(text: str) -> Constant:
    match = _CONSTANT.fullmatch(text)
    if not match:
        raise SyntaxProblem(f"{text!r} is not a constant")
    base, uniform, offset = _sum(match["index"])
    bank = _plain_register(match["bank"]) if match["kind"] == "cx" else int(match["bank"], 16)
    return Constant(bank, offset, base or uniform, spaced=bool(match["space"]))


def _operand(text: str) -> Operand:
    match = _DECORATED.fullmatch(text)
    if match:
        negated, inverted = match["sign"] == "-", match["sign"] == "~"
        absolute, suffixes = bool(match["bar"]), _suffixes(match["suffixes"])
        if match["body"].startswith("c"):
            return replace(
                _constant(match["body"]),
                negated=negated,
                absolute=absolute,
                inverted=inverted,
                suffixes=suffixes,
            )
        return _register(match["body"], negated, absolute, inverted, suffixes)
    if _PREDICATE.fullmatch(text):
        return _predicate(text)
    if text in ("PR", "UPR"):
        return PredicateFile(text == "UPR")
    if _HEX.fullmatch(text):
        return Immediate(int(text, 16))
    if _FLOAT.fullmatch(text):
        return FloatImmediate(text)
    match = _ADDRESS.fullmatch(text)
    if match:
        base, uniform, offset = _sum(match["inside"])
        descriptor = _plain_register(match["descriptor"]) if match["descriptor"] else None
        return Address(base, uniform, offset, descriptor)
    if text.startswith("SR_") or text == "SRZ" or _TEXTURE_WORD.fullmatch(text):
        return Special(text)
    if re.fullmatch(r"B\d+", text):
        return Barrier(int(text[1:]))
    if re.fullmatch(r"SB\d+", text):
        return Scoreboard(int(text[2:]))
    match = _LABEL.fullmatch(text)
    if match:
        return Label(match["symbol"])
    match = _PART.fullmatch(text)
    if match:
        return Label(match["base"] or match["symbol"], match["part"], match["within"])
    match = _CODE_REGISTER.fullmatch(text)
    if match:
        displacement = _operand(match["displacement"])
        if isinstance(displacement, Immediate | Label):
            return CodeRegister(_plain_register(match["register"]), displacement)
    raise SyntaxProblem(f"cannot read the operand {text!r}")
