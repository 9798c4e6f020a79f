"""Listings of nvdisasm and ``cuobjdump -sass``: sections of parsed instructions, labels, control bits.

Both tools print one instruction a line, ``/*offset*/ text ;``, with labels (nvdisasm) or hexadecimal targets
(cuobjdump) and, if asked, the encoding in comments.  Volta and later: 16 bytes an instruction, its control bits
in bits 105 to 125.  Maxwell and Pascal: 8 bytes, and before every three instructions a word with three times 21
control bits.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field, replace
from functools import cached_property
from itertools import zip_longest

from simt.check import ListingError, Location
from simt.sass.grammar import Control, SassInstruction, SyntaxProblem, parse

_HEADER = re.compile(
    r"^[ \t]*(?:\.target[ \t]+sm_(?P<target>\d+)|\.headerflags.*EF_CUDA_SM(?P<flags>\d+)|code for sm_(?P<code>\d+)"
    r"|\.section[ \t]+(?P<section>[^,\s]+)|Function : (?P<function>\S+)).*$",
    re.MULTILINE | re.ASCII,
)
_CODE = ".text."
_HELP = "give a cubin, a fat binary, or the output of nvdisasm or cuobjdump -sass"
_HELP_CU = "compile it first: nvcc -cubin -arch=sm_90"
_LABEL = re.compile(r"^(?P<name>[.$\w]+):[ \t\r]*$", re.MULTILINE)
_OFFSET = re.compile(r"^[ \t]*/\*([0-9a-f]{4,})\*/", re.MULTILINE)
_INSTRUCTION = re.compile(
    r"\s*/\*(?P<offset>[0-9a-f]{4,})\*/\s+(?P<open>\{?)\s*(?P<text>[@A-Z].*?)\s*"
    r"(?:(?P<end>;)|(?P<close>\}))\s*(?:/\* 0x(?P<hex>[0-9a-f]{16}) \*/)?\s*$"
)
_PAIR_OPEN = re.compile(r"\s*/\*(?P<offset>[0-9a-f]{4,})\*/\s+\{\s*(?P<text>[@A-Z].*?)\s*;\s*$")
_ENCODING = re.compile(r"\s*/\* 0x(?P<hex>[0-9a-f]{16}) \*/\s*$")
_REGISTERS = re.compile(r"SHI_REGISTERS=(\d{1,4})\b", re.ASCII)
_END = re.compile(r"^[ \t]*\.size[ \t]+(?P<name>[^,\s]+),\((?P<end>\S+) - (?P=name)\)", re.MULTILINE)
_LINE = re.compile(r'\s*//## File "(?P<file>[^"]*)", line (?P<line>\d{1,9})\b(?P<inlined> inlined at )?', re.ASCII)
_TOOLKIT = re.compile(r"(^|/)(cuda[^/]*|targets/[^/]+|nvidia/[^/]+)/include/")
"""Where CUDA's own headers are, as the toolkit and the wheels install them."""
_OTHER = re.compile(
    r"\s*(?:\.\w.*|//.*|=+.*|\.{4,}.*|host = .*|compile_size = .*|Fatbin .*|arch = .*|code version = .*)?$"
)


@dataclass
class Code:
    """What the lines of a section say: instructions, and labels by name with the offsets that they stand for."""

    instructions: list[SassInstruction] = field(default_factory=list)
    labels: dict[str, int] = field(default_factory=dict)


@dataclass
class CodeSection:
    """The code of one function (with its internal functions), parsed when it is asked for.

    ``text``: its lines, the first of which is number ``line`` of ``file``.
    """

    name: str
    text: str
    line: int
    file: str
    architecture: int

    @cached_property
    def code(self) -> Code:
        """The parsed lines.  Raises ListingError for one that cannot be read."""
        return _Reader(self).read()

    @property
    def instructions(self) -> list[SassInstruction]:
        """The instructions in address order."""
        return self.code.instructions

    @property
    def labels(self) -> dict[str, int]:
        """Offsets of the labels."""
        return self.code.labels

    @property
    def label_names(self) -> list[str]:
        """The labels, without parsing the instructions."""
        return _LABEL.findall(self.text)

    @cached_property
    def registers(self) -> int | None:
        """Registers of a thread, if the listing says so."""
        match = _REGISTERS.search(self.text)
        return int(match[1]) if match else None

    @cached_property
    def size(self) -> int:
        """Bytes up to the end of the last instruction."""
        offsets = _OFFSET.findall(self.text)
        return int(offsets[-1], 16) + (16 if self.architecture >= _VOLTA else 8) if offsets else 0

    def check(self) -> None:
        """ListingError if the section ends early or lost lines in between."""
        offsets = [int(offset, 16) for offset in _OFFSET.findall(self.text)]
        missing = {match["end"].lstrip("(") for match in _END.finditer(self.text)}.difference(self.label_names)
        if not offsets or offsets != list(_offsets(len(offsets), self.architecture)) or missing:
            raise ListingError(
                f"the listing of {self.name} is truncated",
                location=Location(self.file, self.line, function=self.name),
                details=[f"{len(offsets)} instructions were read"],
                help="disassemble the cubin again",
            )


@dataclass
class Listing:
    """A listing: architecture number (90 for sm_90) and code sections by name, the second ``f`` as ``f#2``.

    ``sizes``: bytes of each section, known before it is read.
    """

    architecture: int
    sections: Mapping[str, CodeSection]
    sizes: Mapping[str, int]

    def owner(self, label: str, near: str) -> str | None:
        """The section of a label that code of the section *near* names; None if no section has it."""
        if label in self.sections[near].labels:
            return near
        return label if label in self.sections else self._owners.get(label)

    @cached_property
    def _owners(self) -> dict[str, str]:
        return {label: name for name, section in self.sections.items() for label in section.label_names}


_VOLTA = 70


class _Reader:
    """Reads the lines of one section."""

    def __init__(self, section: CodeSection) -> None:
        self.section = section
        self.code = Code()
        self.source: tuple[str, int] | None = None
        self.inlined = False
        self.schedule: list[int] = []  # Pascal: control bits of the next instructions

    def read(self) -> Code:
        for number, line in enumerate(self.section.text.split("\n"), self.section.line):
            try:
                self._line(line)
            except SyntaxProblem as problem:
                raise ListingError(
                    f"cannot read the SASS listing: {problem}",
                    location=Location(self.section.file, number, 0, self.section.name, line.strip()),
                ) from None
        return self.code

    def _line(self, line: str) -> None:
        match = _INSTRUCTION.match(line) or _PAIR_OPEN.match(line)
        if match:
            self._instruction(match)
            return
        match = _ENCODING.match(line)
        if match:
            self._encoding(int(match["hex"], 16))
            return
        match = _LABEL.match(line)
        if match:
            self.code.labels[match["name"]] = self._next_offset()
            return
        match = _LINE.match(line)
        if match:
            self._place(match["file"], int(match["line"]), inlined=match["inlined"] is not None)
            return
        if not _OTHER.match(line):
            raise SyntaxProblem("this line is not one of a SASS listing")

    def _place(self, file: str, line: int, inlined: bool) -> None:
        """The line of the next instructions; *inlined*: the line that follows says where it was inlined.

        Of code that was inlined, its own line counts; but of CUDA's headers (a shuffle, a reduction of cub) that of
        who calls them, since nobody else's line is the user's.
        """
        if not self.inlined or (self.source and _TOOLKIT.search(self.source[0])):
            self.source = (file, line)
        self.inlined = inlined

    def _instruction(self, match: re.Match[str]) -> None:
        parsed = parse(match["text"], int(match["offset"], 16), lenient=True, architecture=self.section.architecture)
        groups = match.groupdict()
        word = groups.get("hex")
        self.code.instructions.append(
            replace(
                parsed,
                source=self.source,
                dual=bool(groups.get("close")),
                encoding=int(word, 16) if word else None,
                control=Control.from_bits(self.schedule.pop(0)) if self.schedule else None,
            )
        )

    def _encoding(self, word: int) -> None:
        """A word on a line of its own: the upper half of the last instruction, or Pascal's scheduling word."""
        if self.section.architecture < _VOLTA:
            self.schedule = [word >> shift & (1 << 21) - 1 for shift in (0, 21, 42)]
            return
        if not self.code.instructions:
            raise SyntaxProblem("an encoding without its instruction")
        last = self.code.instructions[-1]
        encoding = (last.encoding or 0) | word << 64
        control = Control.from_bits(encoding >> 105 & (1 << 21) - 1)
        self.code.instructions[-1] = replace(last, encoding=encoding, control=control)

    def _next_offset(self) -> int:
        if not self.code.instructions:
            return 0
        offset = self.code.instructions[-1].offset
        if self.section.architecture < _VOLTA:
            # Every fourth word, at a multiple of 32, is a scheduling word.
            return offset + 8 if (offset + 8) % 32 else offset + 16
        return offset + 16


def _offsets(count: int, architecture: int) -> Iterator[int]:
    """Offsets of *count* instructions."""
    if architecture >= _VOLTA:
        yield from range(0, count * 16, 16)
        return
    for k in range(count):
        yield k // 3 * 32 + 8 + k % 3 * 8


def parse_listing(text: str, file: str = "") -> Listing:
    """Divide the output of nvdisasm or ``cuobjdump -sass`` into its sections.

    Raises ListingError: no code, truncated, or code for several architectures.
    """
    headers = list(_HEADER.finditer(text))
    numbers = {int(found[k]) for found in headers for k in ("target", "flags", "code") if found[k]}
    if len(numbers) > 1:
        several = " and ".join(f"sm_{number}" for number in sorted(numbers))
        raise ListingError(
            f"{file or 'the listing'} has code for {several}", help="disassemble one architecture (cuobjdump -arch)"
        )
    architecture = next(iter(numbers), 0)
    sections: dict[str, CodeSection] = {}
    places = [found for found in headers if found["section"] or found["function"]]
    line, counted = 1, 0
    for found, following in zip_longest(places, places[1:]):
        name = found["function"] or found["section"]
        if found["section"] and not name.startswith(_CODE):
            continue  # data
        name = name.removeprefix(_CODE)
        line, counted = line + text.count("\n", counted, found.end()), found.end()
        code = text[found.end() : following.start() if following else len(text)]
        if name in sections:
            name = f"{name}#{sum(key.partition('#')[0] == name for key in sections) + 1}"
        sections[name] = CodeSection(name, code, line, file, architecture)
    if not architecture or not sections:
        raise ListingError(
            f"{file or 'the text'} is neither a cubin nor a SASS listing: no machine code was found in it",
            help=_HELP_CU if file.endswith((".cu", ".ptx")) else _HELP,
        )
    for section in sections.values():
        section.check()
    return Listing(architecture, sections, {name: section.size for name, section in sections.items()})
