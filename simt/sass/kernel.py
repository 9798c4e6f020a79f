"""Kernels of a cubin or a listing: :func:`load_cubin`."""

from __future__ import annotations

import struct
from collections.abc import Iterator, Mapping, MutableMapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from tempfile import TemporaryDirectory
from weakref import WeakValueDictionary

from simt.check import LaunchError, UnsupportedError, check_file, suggestion
from simt.demangle import aliases
from simt.machine import Bank
from simt.program import Program
from simt.runtime import Context
from simt.sass.architectures import VOLTA
from simt.sass.compile import compile_kernel
from simt.sass.disassembly import disassembled
from simt.sass.elf import HELP, Image, KernelInfo, Parameter, Relocation
from simt.sass.grammar import SassInstruction
from simt.sass.link import Code, link
from simt.sass.listing import Listing, parse_listing
from simt.sass.module import Module
from simt.sass.operands import CodeRegister, Register
from simt.sass.reads import variables_read
from simt.sass.rows import SYMBOL_BANK
from simt.system import serves
from simt.text import counted
from simt.toolkit.fatbin import choose, extract, is_container, number_of

OLDEST, NEWEST = 50, 129
_PARAMETER_BASES = ((50, 0x140), (70, 0x160), (90, 0x210), (100, 0x380))
DEFAULT_STACK = 1024
"""Bytes of stack per thread that CUDA gives if code whose need is not known calls functions (cudaLimitStackSize).
"""


class UnknownKernelError(LaunchError, KeyError):
    """There is no kernel of this name in the file; the message lists those that are."""

    __str__ = LaunchError.__str__


@dataclass
class SassKernel:
    """One kernel of a cubin or listing; its code is read and lowered when it is asked for.

    ``name`` is the mangled name; ``section`` the number of its code's section in the cubin (None: a listing).
    ``parameters`` is None if a listing did not say; ``shared_bytes`` (static) per block, after the
    ``system_shared_bytes`` that the system keeps; ``frame_bytes`` of local memory per thread as the file says.
    ``max_threads``: the most that a block may have (``__launch_bounds__``).  ``cluster_blocks``: of a cluster
    (``__cluster_dims__``).  ``externs``: functions that are not in the
    file; ``siblings``: those kernels of the file that are in use, by the section of their code.
    ``symbols``: the symbols (number, addend) whose addresses the code has, in the order of their slots.
    """

    name: str
    module: Module
    architecture: int
    parameters: list[Parameter] | None
    parameter_base: int
    registers: int | None
    frame_bytes: int
    shared_bytes: int
    required_block: tuple[int, int, int] | None = None
    banks: dict[int, bytes] = field(default_factory=dict)
    bank_relocations: dict[int, list[Relocation]] = field(default_factory=dict)
    symbols: list[tuple[int, int]] = field(default_factory=list)
    externs: list[str] = field(default_factory=list)
    section: int | None = None
    system_shared_bytes: int = 0
    max_threads: int | None = None
    cluster_blocks: int = 1
    # Weak, so that the file's device memory goes when its last kernel does, not with the next garbage collection.
    siblings: MutableMapping[int, SassKernel] = field(default_factory=WeakValueDictionary, repr=False, compare=False)
    # Those that nobody else uses, by their handles.
    _launched: dict[int, SassKernel] = field(default_factory=dict, init=False, repr=False, compare=False)

    @property
    def demangled(self) -> str:
        """Readable name."""
        return next(iter(aliases(self.name)), self.name)

    @property
    def view(self) -> str:
        """Its architecture: ``"sm_90"``."""
        return f"sm_{self.architecture}"

    @property
    def order(self) -> str:
        """The order of splits that its code is made for: since Volta it has convergence barriers."""
        return "profiler" if self.architecture >= VOLTA else "then_first"

    @cached_property
    def code(self) -> Code:
        """The kernel's instructions and those of the functions that it may call."""
        module = self.module
        own = self.name if self.section is None else module.code_names.get(self.section)
        if own is None:
            raise UnsupportedError(f"nvdisasm shows no code of {self.demangled} in {module.path}")
        named = {place for patches in self.bank_relocations.values() for place in module.called(patches)}
        missing = [name for name in self.externs if name in named and not serves(name, in_file=False)]
        if missing:
            raise UnsupportedError(
                f"{self.demangled} calls {', '.join(missing)}, which is not in the file",
                help="link the cubin with all of its functions",
            )
        pointed = {name for name in named if name in module.listing.sections or name in self.externs}
        code = link(module, own, sorted(pointed))
        more = module.pointed_functions & set(module.listing.sections)
        if more and any(_calls_a_pointer(instruction) for instruction in code.instructions):
            code = link(module, own, sorted(pointed | more))
        return code

    @cached_property
    def local_bytes(self) -> int:
        """Bytes of local memory per thread that a launch gives: the frame, or the default stack where code calls."""
        calls = any(instruction.opcode in ("CALL", "CAL", "JCAL") for instruction in self.code.instructions)
        return max(self.frame_bytes, DEFAULT_STACK) if calls and self.section is not None else self.frame_bytes

    @cached_property
    def program(self) -> Program:
        """The kernel as micro-ops.

        Raises UnsupportedError for an instruction that is not known, ListingError for a listing that is wrong.
        """
        return compile_kernel(self)

    @property
    def parameter_bytes(self) -> int:
        """Bytes of its parameters."""
        return max((parameter.offset + parameter.size for parameter in self.parameters or ()), default=0)

    @cached_property
    def _handles(self) -> dict[int, KernelInfo]:
        names, image = self.module.code_names, self.module.image
        infos = image.kernels if image else []
        return {self.module.function(names[info.section]): info for info in infos if info.section in names}

    def launched_by(self, handle: int) -> SassKernel | None:
        """The kernel that a pointer to a kernel stands for in the code of this one; None if it stands for none."""
        info, image = self._handles.get(handle), self.module.image
        if info is None or image is None:
            return None
        known = self.siblings.get(info.section)
        if known is None:
            known = self._launched[handle] = _from_image(self.module, image, info, self.siblings)
        return known

    @cached_property
    def _reads(self) -> frozenset[int]:
        return variables_read(self) if len(self.module) else frozenset()

    def notes(self) -> list[str]:
        """What a profile of the kernel, if launched now, should tell the reader."""
        return [
            f"the kernel reads `{name}`, which has no initial value and was not set: it is zero "
            f"(kernel.module[{name!r}], --symbol {name}=VALUE)"
            for name in self.module.memory.unset(self._reads)
        ]

    @cached_property
    def lasting_banks(self) -> dict[int, Bank]:
        """The constant banks that are the same for every launch: all but that with the parameters."""
        memory = self.module.memory
        found = {number: bytearray(data) for number, data in self.banks.items() if number != Module.CONSTANTS}
        for number, data in found.items():
            for entry in self.bank_relocations[number]:
                filled = entry.bytes_of(memory.address(entry.symbol, entry.addend))
                data[entry.offset : entry.offset + entry.size] = filled
        if self.program.uniforms and self.symbols:  # the program knows the symbols
            found[SYMBOL_BANK] = bytearray().join(struct.pack("<Q", memory.address(*symbol)) for symbol in self.symbols)
        banks = {number: Bank(bytes(data)) for number, data in found.items()}
        if memory.constants is not None:
            contents, address = memory.constants
            banks[Module.CONSTANTS] = Bank(contents.data, address)
        return banks

    def __repr__(self) -> str:
        return f"<SASS kernel {self.demangled} for sm_{self.architecture}>"


def _described(entry: tuple[str, SassKernel]) -> str:
    """A kernel by its readable name, and by the one that it is found by if that is another."""
    name, kernel = entry
    return kernel.demangled if kernel.demangled == name else f"{kernel.demangled} ({name})"


class Kernels(Mapping[str, SassKernel]):
    """Kernels by mangled name, the second ``k`` of linked code as ``k#2``; also by readable names that only one has.

    ``templates``: kernels of CUDA C that need template arguments before there is code of them.
    """

    templates: tuple[str, ...] = ()

    def __init__(self, path: str, kernels: Sequence[SassKernel]) -> None:
        self.path = path
        self._kernels: dict[str, SassKernel] = {}
        self._aliases: dict[str, list[str]] = {}
        seen: dict[str, int] = {}
        for kernel in kernels:
            number = seen[kernel.name] = seen.get(kernel.name, 0) + 1
            name = kernel.name if number == 1 else f"{kernel.name}#{number}"
            self._kernels[name] = kernel
            for alias in aliases(kernel.name) if number == 1 else ():
                self._aliases.setdefault(alias, []).append(name)

    def __getitem__(self, name: str) -> SassKernel:
        if name in self._kernels:
            return self._kernels[name]
        found = self._aliases.get(name, [])
        if len(found) == 1:
            return self._kernels[found[0]]
        if found:
            raise UnknownKernelError(f"several kernels are called {name}", details=found, help="give the mangled name")
        unique = [alias for alias, owners in self._aliases.items() if len(owners) == 1]
        raise UnknownKernelError(
            f"{self.path} has no kernel {name!r}",
            details=[f"it has {described}" for described in dict.fromkeys(map(_described, self._kernels.items()))],
            help=suggestion(name, self._kernels if name.startswith("_Z") else unique or self._kernels, ""),
        )

    def __repr__(self) -> str:
        return f"<{counted(len(self), 'kernel')} of {self.path}: {', '.join(self)}>"

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
    home: Context | None = None,
) -> Kernels:
    """The kernels of a cubin, of a listing made by nvdisasm or ``cuobjdump -sass``, or of a file with cubins in it.

    The last are fat binaries, object files, executables and shared libraries; cuobjdump takes the cubins out.  A cubin
    is disassembled when the code of one of its kernels is first asked for.

    ``listing``: the disassembly to use for this very cubin, needed before sm_75.  ``parameters``: byte sizes of the
    parameters by (mangled or readable) kernel name, for listings, which do not say them.  ``architecture``:
    ``"sm_90"``, for instance, where a file has code for several.  ``home``: the context that holds the
    variables (default: one for each module).

    Raises LaunchError (none of these, damaged, or without kernels; several architectures, or not this one; the listing
    of other code), ListingError (a listing that is truncated) and UnsupportedError (architecture, no cuobjdump).
    """
    path = Path(path)
    check_file(path)
    data = path.read_bytes()
    is_cubin = data.startswith(b"\x7fELF")
    if listing is not None and (is_container(data) or not is_cubin):
        raise LaunchError(f"a listing requires a cubin, and {path} is not one")
    if is_container(data):
        with TemporaryDirectory() as folder:
            cubins = choose(path, extract(path, Path(folder)), architecture)
            kernels = [kernel for cubin in cubins for kernel in _from_cubin(str(path), cubin.read_bytes(), None, home)]
    else:
        kernels = _from_cubin(str(path), data, listing, home) if is_cubin else _from_listing(path, parameters or {})
    if not kernels:
        raise LaunchError(
            f"{path} has no kernels",
            help="a kernel is a __global__ function; compilers drop templates and static ones that are never launched",
        )
    if architecture is not None and any(kernel.architecture != number_of(architecture) for kernel in kernels):
        raise LaunchError(f"{path} is for sm_{kernels[0].architecture}, not {architecture}")
    return Kernels(str(path), kernels)


def read_cubin(data: bytes, name: str, home: Context | None = None) -> Kernels:
    """The kernels of a cubin in memory, which messages call *name*.  *home* and errors as for :func:`load_cubin`."""
    return Kernels(name, _from_cubin(name, data, None, home))


def architectures(path: str | Path) -> list[str]:
    """The architectures that a fat binary, or a file that holds some, has machine code for; empty for other files."""
    path = Path(path)
    if not is_container(path.read_bytes()):
        return []
    with TemporaryDirectory() as folder:
        return [f"sm_{number}" for number in sorted(extract(path, Path(folder)))]


def _from_cubin(name: str, data: bytes, given: str | Path | None, home: Context | None) -> list[SassKernel]:
    """The kernels of a cubin of these bytes, which messages call *name*; with the listing *given* for it, or None."""
    image = Image(name, data)
    if not image.kernels:
        return []
    _check_architecture(name, image.architecture)
    if given is not None:
        listing = parse_listing(_read_listing(Path(given)), str(given))
        module = Module(name, image, lambda: listing, home)
        _check_listing(listing, module, image, given)
    else:
        module = Module(name, image, lambda: disassembled(image), home)
    siblings: MutableMapping[int, SassKernel] = WeakValueDictionary()
    return [_from_image(module, image, info, siblings) for info in image.kernels]


def _check_listing(listing: Listing, module: Module, image: Image, given: str | Path) -> None:
    """Raise LaunchError if the listing *given* for a cubin is that of other code."""
    if listing.architecture != image.architecture:
        different = [f"it is for sm_{listing.architecture}, the cubin for sm_{image.architecture}"]
    else:
        ours = listing.sizes
        theirs = {
            module.code_names.get(section.number, section.name.removeprefix(".text.")): section.size
            for section in image.code_sections
        }
        different = [
            f"{name}: {ours.get(name, 'no')} bytes in the listing, {theirs.get(name, 'no')} bytes in the cubin"
            for name in dict.fromkeys([*ours, *theirs])
            if ours.get(name) != theirs.get(name)
        ]
    if different:
        raise LaunchError(
            f"the listing {given} is not that of {image.path}",
            details=different,
            help=f"create it again: nvdisasm {image.path} (before sm_75 that of CUDA 12 or older)",
        )


def _check_architecture(name: str, architecture: int) -> None:
    if not OLDEST <= architecture <= NEWEST or VOLTA <= architecture < 75:
        raise UnsupportedError(
            f"{name} is for sm_{architecture}; supported are sm_50 to sm_62 and sm_75 to sm_{NEWEST - 8}"
        )


def _from_image(
    module: Module, image: Image, info: KernelInfo, siblings: MutableMapping[int, SassKernel]
) -> SassKernel:
    banks: dict[int, bytes] = {}
    patches: dict[int, list[Relocation]] = {}
    for number, section in image.banks(info).items():
        contents = image.contents(section)
        if number and contents is not None:
            banks[number] = contents
            patches[number] = section.relocations
    shared_bytes, system_shared_bytes = image.shared_bytes(info)
    kernel = siblings[info.section] = SassKernel(
        info.name,
        module,
        image.architecture,
        info.parameters,
        info.parameter_base or _default_base(image.architecture),
        info.registers,
        info.local_bytes,
        shared_bytes,
        info.required_block,
        banks,
        patches,
        externs=info.externs,
        section=info.section,
        system_shared_bytes=system_shared_bytes,
        max_threads=info.max_threads,
        cluster_blocks=info.cluster_blocks,
        siblings=siblings,
    )
    return kernel


def _calls_a_pointer(instruction: SassInstruction) -> bool:
    return instruction.opcode == "CALL" and any(
        isinstance(operand, Register | CodeRegister) for operand in instruction.operands
    )


def _default_base(architecture: int) -> int:
    return [base for first, base in _PARAMETER_BASES if first <= architecture][-1]


def _read_listing(path: Path) -> str:
    check_file(path)
    try:
        return path.read_text()
    except UnicodeDecodeError as problem:
        raise LaunchError(
            f"{path} is neither a cubin nor a SASS listing",
            details=[f"at byte {problem.start:#x}: {problem.reason}"],
            help=HELP,
        ) from None


def _from_listing(path: Path, sizes: Mapping[str, Sequence[int]]) -> list[SassKernel]:
    listing = parse_listing(_read_listing(path), str(path))
    _check_architecture(str(path), listing.architecture)
    module = Module(str(path), None, lambda: listing)
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
