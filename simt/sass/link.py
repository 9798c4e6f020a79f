"""From the sections of a listing to one kernel's code: its functions side by side, labels as code offsets.

A kernel starts at code address 0; the functions in other sections that it refers to follow it.  So return addresses
in registers are offsets into this code.  Pointers to functions are the same for all kernels of a module, which hand
them on in variables: they lie behind the code of every kernel (see :meth:`simt.sass.module.Module.function`).
"""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import dataclass, field, replace

from simt.check import KernelError, Location, UnsupportedError
from simt.sass.elf import Symbol
from simt.sass.grammar import SassInstruction
from simt.sass.listing import CodeSection
from simt.sass.module import CODE_ALIGN, Module
from simt.sass.operands import CodeRegister, Immediate, Label, Operand
from simt.system import serves


@dataclass(frozen=True)
class Code:
    """A kernel's code: instructions in address order, with the name of the function that each belongs to.

    ``bases``: code address of each section; ``pointed``: those to which pointers may point; ``calls``: functions of
    the system, which have no code, with the address of each.
    """

    instructions: list[SassInstruction]
    functions: list[str]
    bases: dict[str, int]
    pointed: frozenset[str] = frozenset()
    calls: Mapping[str, int] = field(default_factory=dict)


def link(module: Module, kernel: str, extra: Collection[str] = ()) -> Code:
    """Put the code of *kernel* (a section of the listing) and of the functions that it refers to together.

    ``extra``: sections to add (addresses of their functions are taken).  Raises UnsupportedError for a missing
    function, KernelError for a branch to nowhere, ListingError for code that cannot be read.
    """
    return _Linker(module, kernel).link(extra)


class _Linker:
    def __init__(self, module: Module, kernel: str) -> None:
        self.module = module
        self.kernel = kernel
        self.bases: dict[str, int] = {}
        self.pointed: set[str] = set()
        self.calls: dict[str, int] = {}
        self.order: list[CodeSection] = []
        self.end = 0

    def link(self, extra: Collection[str]) -> Code:
        self._place(self.kernel)
        for name in extra:
            self._place(name)
        done = 0
        while done < len(self.order):
            section = self.order[done]
            for instruction in section.instructions:
                for label in _labels(instruction):
                    place = self._target(label, instruction, section)
                    if not isinstance(place, Symbol) and place[0] not in self.module.kernels:
                        self._place(place[0])
            done += 1
        instructions, functions = [], []
        for section in self.order:
            names = _functions(section)
            for instruction in section.instructions:
                instructions.append(self._resolve(instruction, section))
                functions.append(next(name for at, name in names if at <= instruction.offset))
        return Code(instructions, functions, self.bases, frozenset(self.pointed.union(extra)), self.calls)

    def _place(self, name: str) -> None:
        if name in self.bases:
            return
        section = self.module.code(name)
        if name != self.kernel and serves(name, in_file=section is not None):
            self.bases[name] = self.calls[name] = self.end
            self.end += CODE_ALIGN
            return
        if section is None:
            raise UnsupportedError(
                f"{self.kernel} calls {name}, which is not in the file",
                details=["separately compiled code leads here"],
                help="link the cubin with all of its functions",
            )
        self.bases[name] = self.end
        self.order.append(section)
        self.end = -(-(self.end + section.size) // CODE_ALIGN) * CODE_ALIGN

    def _target(self, label: Label, instruction: SassInstruction, section: CodeSection) -> tuple[str, int] | Symbol:
        """Section and offset of what a label names in code; the symbol, if it is data."""
        if label.within is None:
            symbol = self.module.symbol_of(label.symbol, section.name, instruction.offset)
            if symbol is not None:
                if self.module.section_of(symbol).startswith((".nv.global", ".nv.constant", ".nv.shared")):
                    return symbol
                return self.module.code_place(symbol) or (symbol.name, 0)
        name = label.within or label.symbol
        owner = self.module.listing.owner(name, section.name)
        if owner is not None:
            return owner, self.module.listing.sections[owner].labels.get(name, 0)
        if name.startswith(".L"):
            raise KernelError(
                f"branch to nowhere: {name} is not in the listing",
                location=Location(section.file, section.line, function=section.name, text=str(instruction)),
            )
        return name, 0

    def _resolve(self, instruction: SassInstruction, section: CodeSection) -> SassInstruction:
        base = self.bases[section.name]
        if not base and not instruction.targets and not any(isinstance(o, _NAMES) for o in instruction.operands):
            return instruction
        shift = base if instruction.opcode in _JUMPS else 0
        operands = tuple(self._operand(operand, shift, instruction, section) for operand in instruction.operands)
        targets = tuple(
            f"{self._address(self._target(Label(label), instruction, section)):#x}"
            for label in instruction.targets
            if self.module.listing.owner(label, section.name)
        )
        return replace(instruction, operands=operands, targets=targets, offset=instruction.offset + base)

    def _address(self, place: tuple[str, int] | Symbol) -> int:
        """Code address of a place; of a variable in shared memory, its own."""
        return place.offset if isinstance(place, Symbol) else self.bases[place[0]] + place[1]

    def _operand(self, operand: Operand, base: int, instruction: SassInstruction, section: CodeSection) -> Operand:
        """Labels become offsets; targets that are numbers count from the start of their own section."""
        if isinstance(operand, Label):
            place = self._target(operand, instruction, section)
            if isinstance(place, Symbol) and not self.module.section_of(place).startswith(".nv.shared"):
                return replace(operand, number=place.number)
            if operand.part is None or operand.within is not None or isinstance(place, Symbol):
                address = self._address(place) + operand.addend
            else:
                if place[0] in self.bases:  # not a kernel that this one launches
                    self.pointed.add(place[0])
                address = self.module.function(*place) + operand.addend
            return Immediate(address >> 32 if operand.part == "hi" else address)
        if isinstance(operand, CodeRegister) and isinstance(operand.displacement, Label):
            place = self._target(operand.displacement, instruction, section)
            return CodeRegister(operand.register, Immediate(self._address(place)))
        if isinstance(operand, Immediate) and base:
            return Immediate(operand.value + base)
        return operand


_NAMES = (Label, CodeRegister)
"""Operands that may name a place."""
_JUMPS = frozenset({"BRA", "JMP", "BSSY", "SSY", "PBK", "PCNT", "CAL", "PRET", "CALL"})


def _labels(instruction: SassInstruction) -> list[Label]:
    found = [operand for operand in instruction.operands if isinstance(operand, Label)]
    for operand in instruction.operands:
        if isinstance(operand, CodeRegister) and isinstance(operand.displacement, Label):
            found.append(operand.displacement)
    return found


def _functions(section: CodeSection) -> list[tuple[int, str]]:
    """Functions of a section and where they start, last first; internal ones have labels with a ``$``."""
    inner = [(at, label) for label, at in section.labels.items() if label.startswith("$")]
    return sorted([(0, section.name), *inner], reverse=True)
