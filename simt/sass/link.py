"""From the sections of a listing to one kernel's code: its functions side by side, labels as code offsets.

A kernel starts at code address 0; the functions in other sections that it refers to follow it.  So return addresses
in registers are offsets into this code.  Pointers to functions are the same for all kernels of a module, which hand
them on in variables: they lie behind the code of every kernel (see :meth:`simt.sass.module.Module.function`).
"""

from __future__ import annotations

from collections.abc import Callable, Collection
from dataclasses import dataclass, replace

from simt.check import KernelError, Location, UnsupportedError
from simt.sass.grammar import SassInstruction, parse
from simt.sass.listing import CodeSection, Listing
from simt.sass.operands import CodeRegister, Immediate, Label, Operand
from simt.sass.table import VOLTA

_ALIGN = 128

ASSERT = "__assertfail"
"""What a failed ``assert`` calls: the driver's, so code has none for it."""


@dataclass(frozen=True)
class Code:
    """A kernel's code: instructions in address order, with the name of the function that each belongs to.

    ``bases``: code address of each section; ``taken``: of those to which pointers may point.
    """

    instructions: list[SassInstruction]
    functions: list[str]
    bases: dict[str, int]
    taken: dict[str, int]


def link(
    listing: Listing,
    kernel: str,
    variables: Collection[str],
    pointer: Callable[[str], int],
    extra: Collection[str] = (),
) -> Code:
    """Put the code of *kernel* and of the functions that it refers to together.

    ``variables``: names that are data; ``pointer``: the address of a function where one is taken; ``extra``: functions
    to add (their addresses are taken).  Raises UnsupportedError for a function that is not there and KernelError for a
    branch to nowhere.
    """
    return _Linker(listing, kernel, variables, pointer).link(extra)


class _Linker:
    def __init__(
        self, listing: Listing, kernel: str, variables: Collection[str], pointer: Callable[[str], int]
    ) -> None:
        self.listing = listing
        self.kernel = kernel
        self.variables = variables
        self.pointer = pointer
        self.taken: set[str] = set()
        self.owner = {label: section.name for section in listing.sections.values() for label in section.labels}
        self.sections = dict(listing.sections)
        if listing.architecture >= VOLTA:
            self.sections.setdefault(ASSERT, _assert_stub())
        self.bases: dict[str, int] = {}
        self.order: list[CodeSection] = []
        self.end = 0

    def link(self, extra: Collection[str]) -> Code:
        self._place(self.kernel)
        for name in extra:
            self._place(self.owner.get(name, name))
        done = 0
        while done < len(self.order):
            section = self.order[done]
            for instruction in section.instructions:
                for label in _labels(instruction):
                    self._need(label, instruction, section)
            done += 1
        instructions, functions = [], []
        for section in self.order:
            names = _functions(section)
            for instruction in section.instructions:
                instructions.append(self._resolve(instruction, section))
                functions.append(next(name for at, name in names if at <= instruction.offset))
        taken = self.taken.union(self.owner.get(name, name) for name in extra)
        return Code(instructions, functions, self.bases, {name: self.bases[name] for name in taken})

    def _place(self, name: str) -> None:
        if name in self.bases:
            return
        section = self.sections.get(name)
        if section is None:
            raise UnsupportedError(
                f"{self.kernel} calls {name}, which is not in the file",
                details=["device-side printf and malloc, and separately compiled code, end up here"],
                help="link the cubin with all of its functions; printf and malloc are not supported",
            )
        self.bases[name] = self.end
        self.order.append(section)
        self.end = -(-(self.end + section.size) // _ALIGN) * _ALIGN

    def _need(self, label: Label, instruction: SassInstruction, section: CodeSection) -> None:
        if label.symbol in self.variables:
            return
        if label.symbol in self.owner:
            self._place(self.owner[label.symbol])
        elif label.symbol.startswith(".L"):
            raise KernelError(
                f"branch to nowhere: {label.symbol} is not in the listing",
                location=Location("", function=section.name, text=str(instruction)),
            )
        else:
            self._place(label.symbol)

    def _address(self, symbol: str) -> int:
        name = self.owner.get(symbol, symbol)
        return self.bases[name] + self.sections[name].labels.get(symbol, 0)

    def _resolve(self, instruction: SassInstruction, section: CodeSection) -> SassInstruction:
        base = self.bases[section.name]
        jumps = instruction.opcode in _JUMPS
        operands = tuple(
            self._operand(operand, base if jumps and section.name != self.kernel else 0)
            for operand in instruction.operands
        )
        targets = tuple(f"{self._address(label):#x}" for label in instruction.targets if label in self.owner)
        return replace(instruction, operands=operands, targets=targets, offset=instruction.offset + base)

    def _operand(self, operand: Operand, base: int) -> Operand:
        """Labels become offsets; targets that are numbers count from the start of their own section."""
        if isinstance(operand, Label):
            if operand.symbol in self.variables:
                return operand
            if operand.part is not None and operand.within is None:
                self.taken.add(self.owner.get(operand.symbol, operand.symbol))
                return Immediate(0 if operand.part == "hi" else self.pointer(operand.symbol))
            address = self._address(operand.within or operand.symbol)
            return Immediate(0 if operand.part == "hi" else address)
        if isinstance(operand, CodeRegister) and isinstance(operand.displacement, Label):
            return CodeRegister(operand.register, Immediate(self._address(operand.displacement.symbol)))
        if isinstance(operand, Immediate) and base:
            return Immediate(operand.value + base)
        return operand


def _assert_stub() -> CodeSection:
    """Stops the kernel with the arguments of ``__assertfail``: message, file and (32 bits) line.

    The registers are those of CUDA's calling convention, as nvcc 13.0 fills them for sm_75 to sm_120.
    """
    return CodeSection(ASSERT, [parse("BPT.TRAP R4, R6, R8", 0)])


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
