"""Program: what both views of a kernel become, and all that the machine knows of it.

A :class:`Program` is a flat list of :class:`Instruction` micro-ops plus a *listing* (the lines a reader
sees: Python source lines, or SASS instructions).  Each micro-op is declared exactly once, as a row of
:mod:`simt.ops`; its code number, its family, its operand kinds and its text derive from that row.

Storage
-------
* **Registers** are rows of 32 lanes x 64 bits.  What a row holds depends on the micro-ops that use it:

  - signed and unsigned integers of the source view are kept extended to 64 bits (sign- or zero-extended
    according to their own type), so widening is free and narrowing is ``cvt.s8`` ... ``cvt.u32``;
  - 32-bit registers of machine code are kept zero-extended;
  - float64 is its bits; float32 is its bits in the low half, high half zero; float16 likewise.

* **Predicates** are 32-bit lane masks, bit *l* is lane *l*.  Booleans of the source view are predicates.
  Predicate 0 is PT: always true, writes to it are discarded.  A predicate *operand* is encoded as
  ``2 * index + negated`` (see :func:`pred`), so operand 0 means "true" and operand 1 means "false".
* Register row 0 is RZ: always zero, writes to it are discarded.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field, fields
from enum import Enum
from typing import Any

from simt.check import Location

WARP_SIZE = 32
FULL_MASK = 0xFFFFFFFF

RZ = 0
"""Register row that always reads zero."""
PT = 0
"""Predicate operand that is always true."""


def pred(index: int, negated: bool = False) -> int:
    """Encode predicate *index* as an operand (``2 * index + negated``)."""
    return 2 * index + int(negated)


class Space(Enum):
    """Memory spaces, by PTX's names."""

    GLOBAL = "global"
    SHARED = "shared"
    LOCAL = "local"
    CONST = "const"


@dataclass(frozen=True, slots=True)
class MachineCode:
    """One instruction of machine code, as a scheduler sees it.

    Attributes: ``opcode`` and ``modifiers`` (``("WIDE", "U32")``); ``sources``: registers of the operand slots a, b
    and c (uniform ones, constants and RZ need no port); ``results``: registers that it writes, as far as is known;
    ``uniform``: it names a uniform register; ``data``: a register stands behind its address (atomics);
    ``constant``: bank and offset of the constant that it reads, if that is the same each time.
    """

    opcode: str
    modifiers: tuple[str, ...] = ()
    sources: tuple[tuple[int, ...], ...] = ()
    results: tuple[int, ...] = ()
    uniform: bool = False
    data: bool = False
    constant: tuple[int, int] | None = None


@dataclass(frozen=True, slots=True)
class ListingLine:
    """A line that the user reads: a Python source line, or one SASS instruction.

    Attributes: ``text``; ``number`` (source line number, or byte offset of the SASS instruction);
    ``file`` and ``function`` where known; ``source`` (file, line) for SASS with line information; ``code`` for SASS.
    """

    text: str
    number: int
    file: str = ""
    function: str = ""
    source: tuple[str, int] | None = None
    code: MachineCode | None = None


@dataclass(slots=True)
class Instruction:
    """One micro-op of a Program; see :data:`simt.ops.table.MICRO_OPS` for what each field means per micro-op.

    ``line`` indexes ``Program.listing``.  ``retires`` says that a profile counts it: in the source view
    every countable operation, in the machine view the last micro-op of each SASS instruction.
    ``uniform`` says that the result goes to all 32 lanes, whatever the exec mask (the uniform datapath).
    ``copies`` marks the storing half of a copy from global to shared memory, whose traffic is counted apart.
    ``strong`` marks a load or store that threads may signal each other with (``volatile``, atomic in C++'s sense).
    ``variable`` names the Python variable that the destination is assigned to, ``dtype`` its NumPy type;
    ``unset`` the one that the path here has not set, and that gets a zero.
    """

    op: str
    dst: int = 0
    a: int = 0
    b: int = 0
    c: int = 0
    guard: int = PT
    imm: int = 0
    mod: int = 0
    line: int = 0
    retires: bool = True
    uniform: bool = False
    copies: bool = False
    strong: bool = False
    column: int = 0
    variable: str | None = None
    dtype: str | None = None
    unset: str | None = None

    def __str__(self) -> str:
        from simt.ops.table import MICRO_OPS  # here, because it brings Numba along

        spec = MICRO_OPS[self.op]
        parts = []
        for letter, value, is_source in zip(
            spec.operands, (self.dst, self.a, self.b, self.c), (False, True, True, True), strict=True
        ):
            if letter == "r":
                parts.append("RZ" if value == RZ else f"r{value}")
            elif letter == "p":
                parts.append(predicate_text(value) if is_source else f"p{value}")
        if self.imm:
            parts.append(f"#{self.imm}")
        if self.mod:
            parts.append(f"mod={self.mod}")
        guard = "" if self.guard == PT else f"@{predicate_text(self.guard)} "
        return f"{guard}{self.op} {', '.join(parts)}".rstrip()


def predicate_text(operand: int) -> str:
    """The text of a predicate operand: ``p3``, ``!p3``, ``PT``."""
    name = "PT" if operand >> 1 == 0 else f"p{operand >> 1}"
    return "!" + name if operand & 1 else name


@dataclass(frozen=True, slots=True)
class Uniform:
    """A register row that holds the same value in all lanes and never changes during a launch.

    ``kind`` is one of

    * ``"const"``: ``value`` is the 64-bit pattern (as a signed Python int);
    * ``"arg"``: the scalar argument number ``value``;
    * ``"base"``: the start address of ``Program.arrays[value]``;
    * ``"shape"``, ``"stride"``: size and bytes between elements of axis ``axis`` of ``Program.arrays[value]``;
      ``"size"``: its element count;
    * ``"bank"``: ``size`` bytes at offset ``axis`` of constant bank ``value`` (machine view).
    """

    row: int
    kind: str
    value: int = 0
    axis: int = 0
    size: int = 8


@dataclass(frozen=True, slots=True)
class ArrayRef:
    """An array that a Program addresses through ``index`` micro-ops.

    ``slot`` is the number of its first dimension in the launch's dimension table: axis *i* of the array has
    size and byte stride in slot ``slot + i`` (the ``imm`` of ``index``).  ``argument`` is the number of the
    kernel argument for arrays passed in.  Shared and local arrays have a static ``shape`` and ``offset``
    (bytes from the start of the block's shared, or the thread's local, memory); a ``shape`` of ``(-1,)``
    is dynamic shared memory.  Constant arrays carry their ``data`` (C-contiguous ndarray).
    """

    name: str
    dtype: str
    ndim: int
    space: Space
    slot: int
    argument: int | None = None
    shape: tuple[int, ...] | None = None
    offset: int = 0
    data: Any = None


@dataclass(slots=True)
class Program:
    """A kernel ready for the machine.  Both views make one; nothing in the machine asks which.

    ``view`` is ``"source"`` or the architecture (``"sm_90"``); ``symbol`` is the mangled name of machine code, with its
    parameters (empty: ``name`` is all there is); ``toolchain`` names the compiler of machine code.
    ``addresses`` maps code addresses (machine view) to micro-op indices for ``brx``.
    ``shared_bytes`` is static shared memory per block, ``local_bytes`` per thread, ``registers`` the registers per
    thread for the occupancy calculation (``None`` where the view cannot know).  ``system_shared_bytes``: what the
    system keeps at the start of a block's shared memory; addresses count it, the kernel's own bytes do not.
    ``syscalls``: names of the functions that ``syscall`` micro-ops call (:data:`simt.ops.encoding.SYSCALL`).
    ``strings``: texts that arguments of system calls name by their number.

    ``encoded`` is the machine's: what the first launch makes of the micro-ops (simt.machine.encode), which must not
    change from then on. So are ``native`` and ``stretches``: native code of them, ``stretches_kept``: where the
    cache has the latter, and ``past``, which says when native code is worth while (simt.machine.compiled);
    ``waits``: whether a block may wait for another one (simt.machine.waiting); ``zeroed``: what a block finds zero
    (simt.machine.door); and ``timed``: what the timing model last made of it.
    """

    name: str
    view: str
    instructions: list[Instruction]
    listing: list[ListingLine]
    n_registers: int
    n_predicates: int
    n_barriers: int
    uniforms: list[Uniform] = field(default_factory=list)
    arrays: list[ArrayRef] = field(default_factory=list)
    parameters: list[str] = field(default_factory=list)
    shared_bytes: int = 0
    system_shared_bytes: int = 0
    local_bytes: int = 0
    registers: int | None = None
    syscalls: list[str] = field(default_factory=list)
    strings: list[str] = field(default_factory=list)
    addresses: dict[int, int] = field(default_factory=dict)
    file: str = ""
    toolchain: str = ""
    symbol: str = ""
    encoded: Any = field(default=None, init=False, repr=False, compare=False)
    native: Any = field(default=None, init=False, repr=False, compare=False)
    stretches: Any = field(default=None, init=False, repr=False, compare=False)
    stretches_kept: Any = field(default=None, init=False, repr=False, compare=False)
    past: Any = field(default=None, init=False, repr=False, compare=False)
    waits: Any = field(default=None, init=False, repr=False, compare=False)
    zeroed: Any = field(default=None, init=False, repr=False, compare=False)
    timed: Any = field(default=None, init=False, repr=False, compare=False)

    def __getstate__(self) -> tuple[None, dict[str, Any]]:
        """For pickling: without what the machine has made of it, which is of this process (native code, above all)."""
        return None, {each.name: getattr(self, each.name) if each.init else each.default for each in fields(self)}

    def place(self, line: ListingLine, column: int = 0) -> Location:
        """Where a line of the listing is."""
        if self.view == "source":
            return Location(line.file or self.file, line.number, column, line.function or self.name, line.text)
        return Location(self.file, 0, 0, self.name, line.text, line.number)

    def dump(self) -> Iterator[str]:
        """The micro-ops as text, one a line, with the listing lines they belong to."""
        line = -1
        for pc, instruction in enumerate(self.instructions):
            if instruction.line != line:
                line = instruction.line
                entry = self.listing[line]
                yield f"# {entry.number}: {entry.text.strip()}"
            mark = " " if instruction.retires else "."
            yield f"{pc:5d} {mark} {instruction}"


COUNTERS = (
    "inst_executed",
    "thread_inst_executed",
    "pred_on_thread_inst_executed",
    "idle_no_thread",
    "idle_exited",
    "branches",
    "divergent_branches",
    "requests",
    "bytes",
    "sectors",
    "sectors_ideal",
    "wavefronts",
    "wavefronts_ideal",
    "updates",
    "bytes_distinct",
    "replays",
    "replay_threads",
)
"""What the machine counts per micro-op, in column order of the counter table (int64).

``updates``: sectors of atomics on global memory, each as often as lanes of the request meet at one of its addresses.
``bytes_distinct``: bytes that a request asks for, each once however many of its lanes do.  ``replays``: further issues
of one execution, and ``replay_threads`` the lanes that these have together.
"""
