"""Listings of nvdisasm and ``cuobjdump -sass``: sections of parsed instructions, labels, control bits.

Both tools print one instruction a line, ``/*offset*/ text ;``, with labels (nvdisasm) or hexadecimal targets
(cuobjdump) and, if asked, the encoding in comments.  Volta and later: 16 bytes an instruction, its control bits
in bits 105 to 125.  Maxwell and Pascal: 8 bytes, and before every three instructions a word with three times 21
control bits.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass, field, replace

from simt.check import KernelError, Location, UnsupportedError
from simt.sass.grammar import Control, SassInstruction, SyntaxProblem, parse

_TARGET = re.compile(r"\.target\s+sm_(\d+)|EF_CUDA_SM(\d+)|code for sm_(\d+)")
_SECTION = re.compile(r"\s*\.section\s+(?P<name>[^,\s]+)")
_FUNCTION = re.compile(r"\s*Function : (?P<name>\S+)")
_LABEL = re.compile(r"(?P<name>[.$\w]+):\s*$")
_INSTRUCTION = re.compile(
    r"\s*/\*(?P<offset>[0-9a-f]{4,})\*/\s+(?P<open>\{?)\s*(?P<text>[@A-Z].*?)\s*"
    r"(?:(?P<end>;)|(?P<close>\}))\s*(?:/\* 0x(?P<hex>[0-9a-f]{16}) \*/)?\s*$"
)
_PAIR_OPEN = re.compile(r"\s*/\*(?P<offset>[0-9a-f]{4,})\*/\s+\{\s*(?P<text>[@A-Z].*?)\s*;\s*$")
_ENCODING = re.compile(r"\s*/\* 0x(?P<hex>[0-9a-f]{16}) \*/\s*$")
_REGISTERS = re.compile(r"SHI_REGISTERS=(\d+)")
_SIZE = re.compile(r"\s*\.size\s+(?P<name>[^,\s]+),\((?P<end>\S+) - (?P<start>\S+)\)")
_LINE = re.compile(r'\s*//## File "(?P<file>[^"]*)", line (?P<line>\d+)')
_OTHER = re.compile(
    r"\s*(?:\.\w.*|//.*|=+.*|\.{4,}.*|host = .*|compile_size = .*|Fatbin .*|arch = .*|code version = .*)?$"
)


@dataclass
class CodeSection:
    """The code of one function (with its internal functions): instructions and labels by name."""

    name: str
    instructions: list[SassInstruction] = field(default_factory=list)
    labels: dict[str, int] = field(default_factory=dict)
    registers: int | None = None
    end_label: str | None = None

    @property
    def size(self) -> int:
        """Bytes up to the end of the last instruction."""
        step = 8 if self._words_of_8() else 16
        return self.instructions[-1].offset + step if self.instructions else 0

    def _words_of_8(self) -> bool:
        return any(instruction.offset % 16 for instruction in self.instructions)


@dataclass
class Listing:
    """A parsed listing: architecture number (90 for sm_90) and code sections by function name."""

    architecture: int
    sections: dict[str, CodeSection]


class _Reader:
    """Reads a listing line by line."""

    def __init__(self, text: str, file: str) -> None:
        self.lines = text.splitlines()
        self.file = file
        self.architecture: int | None = None
        self.sections: dict[str, CodeSection] = {}
        self.section: CodeSection | None = None
        self.source: tuple[str, int] | None = None
        self.schedule: list[int] = []  # Pascal: control bits of the next instructions

    def read(self) -> Listing:
        for number, line in enumerate(self.lines, 1):
            self._line(number, line)
        if self.architecture is None or not self.sections:
            raise KernelError(
                f"{self.file or 'the listing'} has no machine code that could be read",
                help="give a cubin, or the output of nvdisasm or cuobjdump -sass",
            )
        for section in self.sections.values():
            self._check(section)
        return Listing(self.architecture, self.sections)

    def _line(self, number: int, line: str) -> None:
        target = _TARGET.search(line)
        if target and self.architecture is None:
            self.architecture = int(next(group for group in target.groups() if group))
        match = _SECTION.match(line)
        if match:
            name = match["name"]
            self._enter(name.removeprefix(".text.") if name.startswith(".text.") else None)
            return
        match = _FUNCTION.match(line)
        if match:
            self._enter(match["name"])
            return
        if self.section is None:
            return  # data sections
        self._code(number, line, self.section)

    def _enter(self, name: str | None) -> None:
        self.section = None
        self.source = None
        self.schedule = []
        if name is not None:
            self.section = self.sections.setdefault(name, CodeSection(name))

    def _code(self, number: int, line: str, section: CodeSection) -> None:
        match = _INSTRUCTION.match(line) or _PAIR_OPEN.match(line)
        if match:
            self._instruction(number, line, match, section)
            return
        match = _ENCODING.match(line)
        if match:
            self._encoding(int(match["hex"], 16), section)
            return
        match = _LABEL.match(line)
        if match:
            section.labels[match["name"]] = self._next_offset(section)
            return
        match = _LINE.match(line)
        if match:
            self.source = (match["file"], int(match["line"]))
            return
        match = _REGISTERS.search(line)
        if match:
            section.registers = int(match[1])
        match = _SIZE.match(line)
        if match and match["start"] == section.name:
            section.end_label = match["end"].lstrip("(")
        if not _OTHER.match(line):
            raise self._problem(number, line, "this line is not one of a SASS listing")

    def _instruction(self, number: int, line: str, match: re.Match[str], section: CodeSection) -> None:
        try:
            parsed = parse(match["text"], int(match["offset"], 16), lenient=True)
        except SyntaxProblem as problem:
            raise self._problem(number, line, str(problem)) from problem
        groups = match.groupdict()
        word = groups.get("hex")
        control = Control.from_bits(self.schedule.pop(0)) if self.schedule else None
        section.instructions.append(
            replace(
                parsed,
                source=self.source,
                dual=bool(groups.get("close")),
                encoding=int(word, 16) if word else None,
                control=control,
            )
        )

    def _encoding(self, word: int, section: CodeSection) -> None:
        """A word on a line of its own: the upper half of the last instruction, or Pascal's scheduling word."""
        if self.architecture is not None and self.architecture < 70:
            self.schedule = [word >> shift & (1 << 21) - 1 for shift in (0, 21, 42)]
            return
        last = section.instructions[-1]
        encoding = (last.encoding or 0) | word << 64
        section.instructions[-1] = replace(
            last, encoding=encoding, control=Control.from_bits(encoding >> 105 & (1 << 21) - 1)
        )

    def _next_offset(self, section: CodeSection) -> int:
        if not section.instructions:
            return 0
        offset = section.instructions[-1].offset
        if self.architecture is not None and self.architecture < 70:
            # Every fourth word, at a multiple of 32, is a scheduling word.
            return offset + 8 if (offset + 8) % 32 else offset + 16
        return offset + 16

    def _problem(self, number: int, line: str, what: str) -> UnsupportedError:
        return UnsupportedError(
            f"cannot read the SASS listing: {what}",
            location=Location(self.file, number, 0, self.section.name if self.section else "", line.strip()),
        )

    def _check(self, section: CodeSection) -> None:
        """A listing that ends early, or lost lines in between, is an error."""
        offsets = [instruction.offset for instruction in section.instructions]
        expected = list(_offsets(len(offsets), self.architecture or 0))
        if not offsets or offsets != expected or (section.end_label and section.end_label not in section.labels):
            raise KernelError(
                f"the listing of {section.name} is truncated",
                location=Location(self.file, function=section.name),
                details=[f"{len(offsets)} instructions were read"],
                help="disassemble the cubin again",
            )


def _offsets(count: int, architecture: int) -> Iterator[int]:
    """Offsets of *count* instructions."""
    if architecture >= 70:
        yield from range(0, count * 16, 16)
        return
    for k in range(count):
        yield k // 3 * 32 + 8 + k % 3 * 8


def parse_listing(text: str, file: str = "") -> Listing:
    """Parse the output of nvdisasm or ``cuobjdump -sass``.

    Raises KernelError (no code, truncated) and UnsupportedError (a line that cannot be read).
    """
    return _Reader(text, file).read()
