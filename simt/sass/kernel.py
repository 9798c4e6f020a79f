"""Kernels of a cubin or a listing: :func:`load_cubin`."""

from __future__ import annotations

import struct
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from pathlib import Path
from tempfile import TemporaryDirectory

from simt.check import KernelError, LaunchError, UnsupportedError, check_file
from simt.machine import Bank
from simt.program import Program
from simt.sass.demangle import aliases
from simt.sass.disassemble import disassemble
from simt.sass.elf import Image, Parameter, read_image
from simt.sass.fatbin import choose, extract, is_container, number_of
from simt.sass.grammar import Control, SassInstruction
from simt.sass.link import ASSERT, Code, link
from simt.sass.listing import Listing, parse_listing
from simt.sass.lowering import SYMBOL_BANK
from simt.sass.module import CONSTANTS, Module
from simt.sass.operands import CodeRegister, Register

OLDEST, VOLTA, NEWEST = 50, 70, 129
_PARAMETER_BASES = ((50, 0x140), (70, 0x160), (90, 0x210), (100, 0x380))
DEFAULT_STACK = 1024
"""Bytes of stack per thread that CUDA gives if code whose need is not known calls functions (cudaLimitStackSize).
"""


class UnknownKernelError(LaunchError, KeyError):
    """There is no kernel of this name in the file; the message lists those that are."""

    __str__ = LaunchError.__str__


@dataclass
class SassKernel:
    """One kernel of a cubin or listing.

    ``name`` is the mangled name; ``parameters`` is None if a listing did not say; ``shared_bytes`` (static) per
    block, ``local_bytes`` per thread.  ``externs``: functions that are not in the file.  ``symbols``: global
    variables whose addresses the code has, in the order of their slots.
    """

    name: str
    module: Module
    architecture: int
    parameters: list[Parameter] | None
    parameter_base: int
    registers: int | None
    local_bytes: int
    shared_bytes: int
    required_block: tuple[int, int, int] | None = None
    banks: dict[int, bytes] = field(default_factory=dict)
    bank_relocations: dict[int, list[tuple[int, str, int, int]]] = field(default_factory=dict)
    symbols: list[str] = field(default_factory=list)
    externs: list[str] = field(default_factory=list)

    @property
    def demangled(self) -> str:
        """Readable name."""
        return next(iter(aliases(self.name)), self.name)

    @cached_property
    def code(self) -> Code:
        """The kernel's instructions and those of the functions that it may call."""
        pointed = {
            symbol
            for patches in self.bank_relocations.values()
            for _, symbol, _, _ in patches
            if symbol in self.module.listing.sections or symbol == ASSERT
        }
        module = self.module
        code = link(module.listing, self.name, module.variables, module.function, sorted(pointed))
        if module.functions and any(_calls_a_pointer(instruction) for instruction in code.instructions):
            pointed |= module.functions
            code = link(module.listing, self.name, module.variables, module.function, sorted(pointed))
        return code

    @cached_property
    def program(self) -> Program:
        """The kernel as micro-ops.  Raises UnsupportedError for an instruction that is not known."""
        from simt.sass.compile import compile_kernel

        return compile_kernel(self)

    @cached_property
    def lasting_banks(self) -> dict[int, Bank]:
        """The constant banks that are the same for every launch: all but the one with the parameters."""
        found = {number: bytearray(data) for number, data in self.banks.items() if number != CONSTANTS}
        for number, patches in self.bank_relocations.items():
            for offset, symbol, addend, size in patches if number != CONSTANTS else ():
                raw = self.module.address(symbol, addend).to_bytes(8, "little")[:size]
                found[number][offset : offset + size] = raw
        program = self.program  # fills in the symbols
        symbols = b"".join(struct.pack("<Q", self.module.address(name)) for name in self.symbols)
        if symbols:
            found[SYMBOL_BANK] = bytearray(symbols)
        del program
        banks = {number: Bank(bytes(data)) for number, data in found.items()}
        if self.module.constants_size:
            contents, address = self.module.constants
            banks[CONSTANTS] = Bank(contents.data, address)
        return banks

    def __repr__(self) -> str:
        return f"<SASS kernel {self.demangled} for sm_{self.architecture}>"


class Kernels(Mapping[str, SassKernel]):
    """Kernels by mangled name; also found by their readable names where only one has it."""

    def __init__(self, path: str, kernels: Sequence[SassKernel]) -> None:
        self.path = path
        self._kernels = {kernel.name: kernel for kernel in kernels}
        self._aliases: dict[str, list[str]] = {}
        for kernel in kernels:
            for alias in aliases(kernel.name):
                self._aliases.setdefault(alias, []).append(kernel.name)

    def __getitem__(self, name: str) -> SassKernel:
        if name in self._kernels:
            return self._kernels[name]
        found = self._aliases.get(name, [])
        if len(found) == 1:
            return self._kernels[found[0]]
        if found:
            raise UnknownKernelError(f"several kernels are called {name}", details=found, help="give the mangled name")
        raise UnknownKernelError(
            f"{self.path} has no kernel {name!r}",
            details=[f"it has {kernel.demangled} ({kernel.name})" for kernel in self._kernels.values()],
        )

    def __iter__(self) -> Iterator[str]:
        return iter(self._kernels)

    def __len__(self) -> int:
        return len(self._kernels)

    def __contains__(self, name: object) -> bool:
        return name in self._kernels or len(self._aliases.get(str(name), ())) == 1


def load_cubin(
    path: str | Path,
    listing: str | Path | None = None,
    parameters: Mapping[str, Sequence[int]] | None = None,
    architecture: str | None = None,
) -> Kernels:
    """The kernels of a cubin, of a listing made by nvdisasm or ``cuobjdump -sass``, or of a file with cubins in it.

    The last are fat binaries, object files, executables and shared libraries; cuobjdump takes the cubins out.

    ``listing``: the disassembly to use for this very cubin, needed before sm_75.  ``parameters``: byte sizes of the
    parameters by (mangled or readable) kernel name, for listings, which do not say them.  ``architecture``:
    ``"sm_90"``, for instance, where a file has code for several.

    Raises KernelError (none of these, or truncated), LaunchError (several architectures, or not this one; the
    listing of other code) and UnsupportedError (architecture, no disassembler).
    """
    path = Path(path)
    check_file(path)
    data = path.read_bytes()
    is_cubin = data.startswith(b"\x7fELF")
    if listing is not None and (is_container(data) or not is_cubin):
        raise LaunchError(f"a listing goes with a cubin, and {path} is none")
    if is_container(data):
        with TemporaryDirectory() as folder:
            cubins = choose(path, extract(path, Path(folder)), architecture)
            return Kernels(str(path), [kernel for cubin in cubins for kernel in _from_cubin(cubin, None, str(path))])
    kernels = _from_cubin(path, listing) if is_cubin else _from_listing(path, parameters or {})
    if architecture is not None and any(kernel.architecture != number_of(architecture) for kernel in kernels):
        raise LaunchError(f"{path} is for sm_{kernels[0].architecture}, not {architecture}")
    return Kernels(str(path), kernels)


def architectures(path: str | Path) -> list[str]:
    """The architectures that a fat binary, or a file that holds some, has machine code for; empty for other files."""
    path = Path(path)
    if not is_container(path.read_bytes()):
        return []
    with TemporaryDirectory() as folder:
        return [f"sm_{number}" for number in sorted(extract(path, Path(folder)))]


def _from_cubin(path: Path, listing: str | Path | None, shown: str = "") -> list[SassKernel]:
    """``shown``: the file to name, if the cubin comes out of another one, in which some have no kernels."""
    image = read_image(path)
    if shown and not image.kernels:
        return []
    _check_architecture(path, image.architecture)
    text = _read_listing(Path(listing)) if listing else disassemble(path, image.architecture)
    parsed = parse_listing(text, str(listing or path))
    if listing:
        _check_listing(parsed, image, listing, path)
    if image.architecture < VOLTA:
        _add_control_bits(parsed, image)
    module = Module(shown or str(path), parsed, image)
    return [_from_image(module, image, name) for name in image.kernels if f".nv.constant0.{name}" in image.sections]


def _check_listing(listing: Listing, image: Image, given: str | Path, path: Path) -> None:
    """Raise LaunchError if the listing *given* for the cubin at *path* is that of other code."""
    if listing.architecture != image.architecture:
        different = [f"it is for sm_{listing.architecture}, the cubin for sm_{image.architecture}"]
    else:
        ours = {name: section.size for name, section in listing.sections.items()}
        prefix = ".text."
        theirs = {
            name.removeprefix(prefix): len(section.data or b"")
            for name, section in image.sections.items()
            if name.startswith(prefix)
        }
        different = [
            f"{name}: {ours.get(name, 'no')} bytes in the listing, {theirs.get(name, 'no')} bytes in the cubin"
            for name in dict.fromkeys([*ours, *theirs])
            if ours.get(name) != theirs.get(name)
        ]
    if different:
        raise LaunchError(
            f"the listing {given} is not that of {path}",
            details=different,
            help=f"make it anew: nvdisasm {path} (before sm_75 that of CUDA 12 or older)",
        )


def _add_control_bits(listing: Listing, image: Image) -> None:
    """Read from the code what a listing without encodings lacks: the first of every four words schedules the others."""
    for name, section in listing.sections.items():
        code = image.sections[f".text.{name}"].data or b""
        for k, instruction in enumerate(section.instructions):
            if instruction.control is None:
                at, word = instruction.offset // 32 * 32, instruction.offset % 32 // 8
                bits = int.from_bytes(code[at : at + 8], "little") >> 21 * (word - 1) & (1 << 21) - 1
                section.instructions[k] = replace(instruction, control=Control.from_bits(bits))


def _check_architecture(path: Path, architecture: int) -> None:
    if not OLDEST <= architecture <= NEWEST or VOLTA <= architecture < 75:
        raise UnsupportedError(
            f"{path} is for sm_{architecture}; supported are sm_50 to sm_62 and sm_75 to sm_{NEWEST - 8}"
        )


def _from_image(module: Module, image: Image, name: str) -> SassKernel:
    info = image.kernels[name]
    banks: dict[int, bytes] = {}
    patches: dict[int, list[tuple[int, str, int, int]]] = {}
    for section in image.sections.values():
        number = _bank_number(section.name, name)
        if number is None or number == 0 or section.data is None:
            continue
        banks[number] = section.data
        patches[number] = [(r.offset, r.symbol, r.addend, r.size) for r in section.relocations]
    shared = image.sections.get(f".nv.shared.{name}")
    instructions = module.listing.sections[name].instructions
    local = info.local_bytes
    if any(instruction.opcode in ("CALL", "CAL", "JCAL") for instruction in instructions):
        local = max(local, DEFAULT_STACK)
    return SassKernel(
        name,
        module,
        image.architecture,
        info.parameters,
        info.parameter_base or _default_base(image.architecture),
        info.registers,
        local,
        shared.size if shared else 0,
        info.required_block,
        banks,
        patches,
        externs=info.externs,
    )


def _calls_a_pointer(instruction: SassInstruction) -> bool:
    return instruction.opcode == "CALL" and any(
        isinstance(operand, Register | CodeRegister) for operand in instruction.operands
    )


def _bank_number(section: str, kernel: str) -> int | None:
    """Number of the constant bank that a section fills for a kernel, or None."""
    if not section.startswith(".nv.constant"):
        return None
    number, _, owner = section.removeprefix(".nv.constant").partition(".")
    return int(number) if number.isdigit() and owner in ("", kernel) else None


def _default_base(architecture: int) -> int:
    return [base for first, base in _PARAMETER_BASES if first <= architecture][-1]


def _read_listing(path: Path) -> str:
    check_file(path)
    try:
        return path.read_text()
    except UnicodeDecodeError as problem:
        raise KernelError(
            f"{path} is neither a cubin nor a SASS listing",
            help="give a cubin (nvcc -cubin, cuobjdump -xelf) or the output of nvdisasm or cuobjdump -sass",
        ) from problem


def _from_listing(path: Path, sizes: Mapping[str, Sequence[int]]) -> list[SassKernel]:
    listing = parse_listing(_read_listing(path), str(path))
    _check_architecture(path, listing.architecture)
    module = Module(str(path), listing, None)
    kernels = []
    for name, section in listing.sections.items():
        given = next((sizes[key] for key in (name, *aliases(name)) if key in sizes), None)
        kernels.append(
            SassKernel(
                name,
                module,
                listing.architecture,
                None if given is None else _parameters(given),
                _default_base(listing.architecture),
                section.registers,
                0,
                0,
            )
        )
    return kernels


def _parameters(sizes: Sequence[int]) -> list[Parameter]:
    """Parameters of these sizes, each aligned to its size."""
    found, at = [], 0
    for ordinal, size in enumerate(sizes):
        align = min(size & -size, 8) or 1
        at = -(-at // align) * align
        found.append(Parameter(ordinal, at, size))
        at += size
    return found
