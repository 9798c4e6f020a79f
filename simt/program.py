"""Program: what both views of a kernel become, and all that the machine knows of it.

A :class:`Program` is a flat list of :class:`Instruction` micro-ops plus a *listing* (the lines a reader
sees: Python source lines, or SASS instructions).  Each micro-op is declared exactly once, in
:data:`MICRO_OPS`; its code number, its family, its operand kinds and its text derive from that row.

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
from dataclasses import dataclass, field
from enum import Enum
from typing import Any

WARP_SIZE = 32
FULL_MASK = 0xFFFFFFFF

RZ = 0
"""Register row that always reads zero."""
PT = 0
"""Predicate operand that is always true."""


def pred(index: int, negated: bool = False) -> int:
    """Encode predicate *index* as an operand (``2 * index + negated``)."""
    return 2 * index + int(negated)


class Family(Enum):
    """Which file of :mod:`simt.machine` executes a micro-op."""

    INT = "int"  # 64-bit integers
    BITS = "bits"  # 32-bit registers of machine code, bit counting
    F64 = "f64"
    F32 = "f32"
    CONVERT = "convert"
    COMPARE = "compare"  # registers -> predicate
    PREDICATE = "predicate"  # predicates -> predicate
    WARP = "warp"  # shuffle, vote, match, reduce across lanes
    MEMORY = "memory"
    TEXTURE = "texture"  # textures and surfaces
    CONTROL = "control"


@dataclass(frozen=True)
class MicroOp:
    """One declared micro-op.

    ``operands`` lists destination and sources as letters: ``r`` register row, ``p`` predicate (a plain
    index as destination, an encoded operand as source), ``-`` unused.  Order: dst, a, b, c.
    """

    code: int
    name: str
    family: Family
    operands: str
    meaning: str


NULL_CALL = 1
"""``imm`` of a ``trap`` that stands for a call through a null pointer."""

ZERO_DIVISION = 2
"""``imm`` of a ``trap`` that stands for a division by zero where Numba checks for it (``debug=True``)."""

_ROWS: tuple[tuple[Family, str], ...] = (
    (
        Family.INT,
        """
        mov             rr    d = a
        add.s64         rrr   d = a + b, modulo 2**64
        sub.s64         rrr   d = a - b, modulo 2**64
        mul.s64         rrr   d = a * b, modulo 2**64
        mad.s64         rrrr  d = a * b + c, modulo 2**64
        neg.s64         rr    d = -a
        abs.s64         rr    d = |a|
        min.s64         rrr   d = the smaller of a and b, signed
        max.s64         rrr   d = the larger of a and b, signed
        min.u64         rrr   d = the smaller of a and b, unsigned
        max.u64         rrr   d = the larger of a and b, unsigned
        and.b64         rrr   d = a & b
        or.b64          rrr   d = a | b
        xor.b64         rrr   d = a ^ b
        not.b64         rr    d = ~a
        shl.b64         rrr   d = a << (low 32 bits of b); 64 or more gives 0
        shr.s64         rrr   d = a >> (low 32 bits of b), arithmetic; 64 or more gives the sign
        shr.u64         rrr   d = a >> (low 32 bits of b), logical; 64 or more gives 0
        floordiv.s64    rrr   d = floor(a / b), signed; b = 0 and -2**63 / -1 give 0
        floormod.s64    rrr   d = a - b * floor(a / b), signed; b = 0 gives 0
        div.u64         rrr   d = a / b, unsigned; b = 0 gives 0
        rem.u64         rrr   d = a mod b, unsigned; b = 0 gives 0
        pow.s64         rrr   d = a ** b as Numba does it on signed integers
        pow.s64.u64     rrr   d = a ** b as Numba does it on a signed integer and an unsigned exponent
        pow.u64         rrr   d = a ** b as Numba does it on unsigned integers
        mulhi.s64       rrr   d = high 64 bits of the signed 128-bit product
        mulhi.u64       rrr   d = high 64 bits of the unsigned 128-bit product
        index           rrr-  d = a + i * stride, i = b (b + size if b < 0 and mod = 1); imm = dimension slot
        selp            rrrp  d = a where predicate c, else b
        """,
    ),
    (
        Family.BITS,
        """
        popc.b64        rr    d = number of one bits
        clz.b64         rr    d = leading zero bits of 64
        clz.b32         rr    d = leading zero bits of the low 32
        brev.b64        rr    d = bits reversed
        brev.b32        rr    d = low 32 bits reversed
        ffs.b64         rr    d = 1 + index of the lowest one bit, 0 if none
        pack.b64        rrr   d = low 32 bits of a, low 32 bits of b above them
        high.b64        rr    d = high 32 bits of a, zero-extended; mod = WHOLE: a trace shows all of a
        add.u32         rrr   d = a + b, modulo 2**32
        add3.u32        rrrr  d = a + b + c, modulo 2**32
        sub.u32         rrr   d = a - b, modulo 2**32
        mad.u32         rrrr  d = a * b + c, modulo 2**32
        shl.b32         rrr   d = low 32 bits of a << b; a shift of 32 or more gives 0
        shr.s32         rrr   d = low 32 bits of a >> b, arithmetic; a shift of 32 or more gives the sign
        min.s32         rrr   d = the smaller of the low 32 bits of a and b, signed
        max.s32         rrr   d = the larger of the low 32 bits of a and b, signed
        abs.s32         rr    d = |low 32 bits of a|, modulo 2**32
        lop3.b32        rrrr  d = truth table imm over the low 32 bits: bit 4a + 2b + c of imm
        prmt.b32        rrrr  d = bytes of c:a picked by selector b; imm = PRMT_MODES
        dp4a.b32        rrrr  d = c + dot product of bytes, modulo 2**32; imm = 1 if a is signed + 2 if b is
        mufu.b32        rr    d = function MUFU_FUNCTIONS[imm] of a as the multi-function unit gives it
        ftz.f32         rr    d = a, a denormal float32 replaced by zero of its sign
        sat.f32         rr    d = a limited to 0 ... 1, NaN gives +0
        add.rnd         rrr   d = a + b in format and rounding imm (ROUNDED_FORMATS, ROUNDINGS)
        mul.rnd         rrr   d = a * b likewise
        fma.rnd         rrrr  d = a * b + c likewise, with one rounding
        cvt.rnd.f64     rr    d = float64 a in format and rounding imm
        cvt.rnd.s64     rr    d = signed integer a in format and rounding imm
        cvt.rnd.u64     rr    d = unsigned integer a in format and rounding imm
        cvt.int.f64     rr    d = float64 a rounded to an integer, saturated; imm: see integer_conversion
        """,
    ),
    (
        Family.F64,
        """
        add.f64         rrr   d = a + b
        sub.f64         rrr   d = a - b
        mul.f64         rrr   d = a * b
        div.f64         rrr   d = a / b, IEEE (x / 0 is an infinity or NaN)
        fma.f64         rrrr  d = a * b + c with one rounding
        neg.f64         rr    d = -a
        abs.f64         rr    d = |a|
        min.f64         rrr   d = the smaller (a NaN loses)
        max.f64         rrr   d = the larger (a NaN loses)
        floordiv.f64    rrr   d = floor division as Numba does it
        floormod.f64    rrr   d = modulo as Numba does it, sign of b
        copysign.f64    rrr   d = |a| with the sign of b
        floor.f64       rr    d = floor(a)
        ceil.f64        rr    d = ceil(a)
        trunc.f64       rr    d = a rounded towards zero
        rint.f64        rr    d = a rounded to nearest, ties to even
        sqrt.f64        rr    d = sqrt(a), correctly rounded
        powi.f64        rrr   d = a ** b for a signed integer b, by squaring as Numba does it
        pow.f64         rrr   d = a ** b
        atan2.f64       rrr   d = atan2(a, b)
        hypot.f64       rrr   d = hypot(a, b)
        fmod.f64        rrr   d = C fmod(a, b), sign of a
        exp.f64         rr    d = e ** a
        expm1.f64       rr    d = e ** a - 1
        log.f64         rr    d = natural logarithm
        log2.f64        rr    d = base-2 logarithm
        log10.f64       rr    d = base-10 logarithm
        log1p.f64       rr    d = log(1 + a)
        sin.f64         rr    d = sin(a)
        cos.f64         rr    d = cos(a)
        tan.f64         rr    d = tan(a)
        asin.f64        rr    d = asin(a)
        acos.f64        rr    d = acos(a)
        atan.f64        rr    d = atan(a)
        sinh.f64        rr    d = sinh(a)
        cosh.f64        rr    d = cosh(a)
        tanh.f64        rr    d = tanh(a)
        asinh.f64       rr    d = asinh(a)
        acosh.f64       rr    d = acosh(a)
        atanh.f64       rr    d = atanh(a)
        erf.f64         rr    d = error function
        erfc.f64        rr    d = complementary error function
        gamma.f64       rr    d = gamma function
        lgamma.f64      rr    d = log |gamma|
        """,
    ),
    (
        Family.F32,
        """
        add.f32         rrr   d = a + b
        sub.f32         rrr   d = a - b
        mul.f32         rrr   d = a * b
        div.f32         rrr   d = a / b, IEEE
        fma.f32         rrrr  d = a * b + c with one rounding
        neg.f32         rr    d = -a
        abs.f32         rr    d = |a|
        min.f32         rrr   d = the smaller (a NaN loses)
        max.f32         rrr   d = the larger (a NaN loses)
        floordiv.f32    rrr   d = floor division as Numba does it
        floormod.f32    rrr   d = modulo as Numba does it, sign of b
        powi.f32        rrr   d = a ** b for a signed integer b, by squaring as Numba does it
        sqrt.f32        rr    d = sqrt(a), correctly rounded
        """,
    ),
    (
        Family.CONVERT,
        """
        cvt.s8          rr    d = low 8 bits, sign-extended
        cvt.s16         rr    d = low 16 bits, sign-extended
        cvt.s32         rr    d = low 32 bits, sign-extended
        cvt.u8          rr    d = low 8 bits
        cvt.u16         rr    d = low 16 bits
        cvt.u32         rr    d = low 32 bits
        cvt.f64.s64     rr    d = float64 of a signed integer
        cvt.f64.u64     rr    d = float64 of an unsigned integer
        cvt.f32.s64     rr    d = float32 of a signed integer
        cvt.f32.u64     rr    d = float32 of an unsigned integer
        cvt.f64.f32     rr    d = float64 of a float32
        cvt.f32.f64     rr    d = float32 of a float64, ties to even
        cvt.f16.f32     rr    d = float16 of a float32, ties to even
        cvt.f32.f16     rr    d = float32 of a float16
        cvt.s64.f64     rr    d = a truncated, saturated to int64; NaN gives -2**63
        cvt.u64.f64     rr    d = a truncated, saturated to uint64; NaN gives 2**63
        cvt.s32.f64     rr    d = a truncated, saturated to int32; NaN gives -2**31
        cvt.u32.f64     rr    d = a truncated, saturated to uint32; NaN gives 0
        """,
    ),
    (
        Family.COMPARE,
        """
        eq.s64          prr   d = a == b
        ne.s64          prr   d = a != b
        lt.s64          prr   d = a < b, signed
        le.s64          prr   d = a <= b, signed
        lt.s32          prr   d = a < b, low 32 bits signed
        le.s32          prr   d = a <= b, low 32 bits signed
        lt.u64          prr   d = a < b, unsigned
        le.u64          prr   d = a <= b, unsigned
        eq.f64          prr   d = a == b, ordered
        ne.f64          prr   d = a != b, true for NaN
        lt.f64          prr   d = a < b, ordered
        le.f64          prr   d = a <= b, ordered
        isinf.f64       pr    d = a is an infinity
        eq.f32          prr   d = a == b, ordered
        ne.f32          prr   d = a != b, true for NaN
        lt.f32          prr   d = a < b, ordered
        le.f32          prr   d = a <= b, ordered
        """,
    ),
    (
        Family.PREDICATE,
        """
        plop            pppp  d = truth table imm over (a, b, c): bit 4a + 2b + c of imm
        """,
    ),
    (
        Family.WARP,
        """
        sreg            r     d = special register imm (SPECIAL_REGISTERS)
        shfl.idx        rrrr  d = a of lane b; c = PTX clamp operand; mod = predicate that says in range
        shfl.up         rrrr  d = a of lane (own - b)
        shfl.down       rrrr  d = a of lane (own + b)
        shfl.bfly       rrrr  d = a of lane (own ^ b)
        vote.all        pp    d = a true in all exec lanes
        vote.any        pp    d = a true in any exec lane
        vote.eq         pp    d = a the same in all exec lanes
        ballot          rp    d = mask of exec lanes whose a is true
        activemask      r     d = mask of active lanes
        livemask        r     d = mask of the lanes that exist and have not exited
        first           rr    d = a of the lowest exec lane
        match.any       rr    d = mask of exec lanes that hold the same a
        match.all       rr    d = exec mask if all hold the same a, else 0; mod = predicate that says so
        redux.add       rr    d = sum of a over exec lanes, modulo 2**32
        redux.min.s32   rr    d = minimum over exec lanes, low 32 bits signed
        redux.max.s32   rr    d = maximum over exec lanes, low 32 bits signed
        redux.min.u32   rr    d = minimum over exec lanes, low 32 bits unsigned
        redux.max.u32   rr    d = maximum over exec lanes, low 32 bits unsigned
        redux.and       rr    d = bitwise and over exec lanes
        redux.or        rr    d = bitwise or over exec lanes
        redux.xor       rr    d = bitwise exclusive or over exec lanes
        """,
    ),
    (
        Family.MEMORY,
        """
        ld.global       rr    d = memory[a + imm]; mod = MEMORY_TYPES
        ld.shared       rr    d = shared memory[a + imm]
        ld.local        rr    d = local memory[a + imm] of the thread
        ld.const        rr    d = constant memory[a + imm]; not counted as a global access
        ld.generic      rr    d = memory[a + imm], the space found from the address
        st.global       -rr   memory[a + imm] = b
        st.shared       -rr   shared memory[a + imm] = b
        st.local        -rr   local memory[a + imm] = b
        st.generic      -rr   memory[a + imm] = b, the space found from the address
        atom.global     rrrr  d = old memory[a + imm]; memory = ATOMICS[mod >> 4](old, b[, c]); mod & 15 = type
        atom.shared     rrrr  the same in shared memory
        atom.generic    rrrr  the same, the space found from the address
        """,
    ),
    (
        Family.TEXTURE,
        """
        tex             rrrr  d = texture b at floats a (four rows: x, y, z, layer), c texel offsets; imm: texture_form
        tld             rrrr  d = texel of texture b at integers a, likewise
        tld4            rrrr  d = one component of the four texels that a linear filter would take, likewise
        txq             r-r-  d = width, height, depth, levels of texture b; imm: texture_form
        suld            rrr   d = surface b at integers a; mod = MEMORY_TYPES; imm: surface_form
        sust            -rrr  surface b at integers a = c, likewise
        suatom          rrrr  d = old surface b at integers a, updated as atom does, c operands; mod as there
        """,
    ),
    (
        Family.CONTROL,
        """
        nop             -     nothing; mod = FENCE: a memory fence (memory is sequentially consistent here)
        bra             -p    exec lanes where predicate a jump to imm, the other active lanes fall through
        brx             -r    exec lanes jump to the code address a + imm (Program.addresses)
        bssy            -     convergence barrier imm = active lanes
        bsync           -     wait at convergence barrier imm for its lanes, then go on at the next micro-op
        break           -     exec lanes leave convergence barrier imm
        yield           -     let another split run; convergence barriers do not wait for those that gave way
        warpsync        -r    wait for the lanes of mask a that have not exited; mod = COLLECTIVE: see there
        bar.sync        --rr  __syncthreads on barrier imm + c; b = threads expected, 0: all
        bar.red.popc    rprr  __syncthreads_count of predicate a
        bar.red.and     pprr  __syncthreads_and
        bar.red.or      pprr  __syncthreads_or
        bar.arrive      --rr  count as arrived at barrier imm + c and go on
        exit            -     exec lanes end
        trap            -rrr  exec lanes stop: a, b addresses of message and file, c line; imm NULL_CALL, ZERO_DIVISION
        bmov.get        r     d = participants of convergence barrier imm; mod = 1: which is cleared
        bmov.set        -r    participants of convergence barrier imm = mask a
        """,
    ),
)


def _declare() -> dict[str, MicroOp]:
    table: dict[str, MicroOp] = {}
    for family, rows in _ROWS:
        for row in rows.strip().splitlines():
            name, operands, meaning = row.split(maxsplit=2)
            if name in table:
                raise AssertionError(f"micro-op {name} is declared twice")
            operands = (operands + "---")[:4]
            table[name] = MicroOp(len(table), name, family, operands, meaning)
    return table


MICRO_OPS: dict[str, MicroOp] = _declare()
"""Every micro-op by name, in order of its code number."""

SPECIAL_REGISTERS = (
    "tid.x", "tid.y", "tid.z",
    "ntid.x", "ntid.y", "ntid.z",
    "ctaid.x", "ctaid.y", "ctaid.z",
    "nctaid.x", "nctaid.y", "nctaid.z",
    "laneid", "warpid", "nwarpid", "smid",
    "lanemask_eq", "lanemask_lt", "lanemask_le", "lanemask_gt", "lanemask_ge",
    "clock",
)  # fmt: skip
"""Special registers in order of their number (PTX names)."""

MEMORY_TYPES = {
    # name: (number, bytes, note)
    "u8": (0, 1),
    "s8": (1, 1),
    "u16": (2, 2),
    "s16": (3, 2),
    "u32": (4, 4),
    "s32": (5, 4),
    "b64": (6, 8),  # one 64-bit slot
    "v2": (7, 8),  # two 32-bit registers, consecutive rows
    "v4": (8, 16),  # four 32-bit registers, consecutive rows
}
"""Access types of loads and stores: number and bytes. float32 moves as u32, float64 as b64."""

ATOMICS = ("add", "min", "max", "and", "or", "xor", "exch", "cas", "inc", "dec", "sub", "nanmin", "nanmax")
"""Atomic operations in order of their number. ``cas`` compares with operand c and stores operand b."""

ATOMIC_TYPES = ("s32", "u32", "s64", "u64", "f32", "f64", "f16x2", "bf16x2", "f32x2", "f32x4")
"""Operand types of atomics in order of their number; packed ones and vectors (consecutive rows) are only added."""

ATOMIC_BYTES = (4, 4, 8, 8, 4, 8, 4, 4, 8, 16)
"""Bytes that a lane accesses, by the type's number."""


MUFU_FUNCTIONS = ("rcp", "rsq", "sqrt", "ex2", "lg2", "sin", "cos", "tanh", "rcp64h", "rsq64h")
"""Functions of ``mufu.b32`` in order of their number: of a float32; sin and cos take turns (revolutions); the last two
take and give the upper word of a float64."""

PRMT_MODES = ("", "f4e", "b4e", "rc8", "ecl", "ecr", "rc16")
"""Modes of ``prmt.b32`` in order of their number (PTX ISA, prmt); the first takes four selectors from b."""

ROUNDED_FORMATS = ("f16", "f32", "f64", "bf16")
"""Floating-point formats of the ``rnd`` micro-ops; see :func:`rounded`."""

ROUNDINGS = ("rn", "rm", "rp", "rz")
"""Roundings in order of their number: nearest even, down, up, towards zero."""

INTEGER_TYPES = ("u8", "s8", "u16", "s16", "u32", "s32", "u64", "s64")
"""Destination types of ``cvt.int.f64`` in order of their number."""


def rounded(format: str, rounding: str, keeps_nan: bool = False) -> int:
    """The ``imm`` of a ``rnd`` micro-op: format, rounding, whether ``cvt.rnd.f64`` keeps a NaN's sign and payload."""
    return ROUNDED_FORMATS.index(format) + 4 * ROUNDINGS.index(rounding) + 16 * keeps_nan


def integer_conversion(type: str, rounding: str, nan_to_zero: bool) -> int:
    """The ``imm`` of ``cvt.int.f64``.  A NaN that does not give 0 gives the type's bits with only the top one set."""
    return INTEGER_TYPES.index(type) + 8 * ROUNDINGS.index(rounding) + 32 * nan_to_zero


TEXTURE_FORMS, SURFACE_FORMS = 1 << 9, 1 << 7
"""One past the greatest ``imm`` of texture and of surface micro-ops."""


class Boundary(Enum):
    """What a surface access does outside the surface."""

    TRAP = 0  # it ends the kernel
    CLAMP = 1  # it goes to the nearest texel
    ZERO = 2  # a read gives zero, a write does nothing


def texture_form(mask: int, dims: int, layered: bool, component: int = 0) -> int:
    """The ``imm`` of a texture micro-op.

    *mask*: which of four results it leaves, in consecutive rows; *component*: which one ``tld4`` gathers.
    """
    return mask | dims << 4 | layered << 6 | component << 7


def surface_form(dims: int, layered: bool, boundary: Boundary, in_bytes: bool, formatted: bool = False) -> int:
    """The ``imm`` of a surface micro-op.  Coordinates: x (*in_bytes*, or in texels), y, z, then the layer.

    *formatted*: ``sust`` converts four components to the surface's type.
    """
    return dims | layered << 2 | boundary.value << 3 | in_bytes << 5 | formatted << 6


WHOLE = 1
"""``mod`` of a ``high.b64`` that ends the writing of a register pair."""

FENCE = 1
"""``mod`` of a ``nop`` that is a memory fence."""

UNCOUNTED = 1
"""``mod`` of a ``bra`` that is no branch to a profiler."""

COLLECTIVE = 1
"""``mod`` of a ``warpsync`` that lanes may reach at several places: they all go on where the last ones came."""

SHARED_WINDOW = 0x7E0000000000
"""Generic addresses from here on are shared memory, one 4 GiB window."""
LOCAL_WINDOW = 0x7E0100000000
"""Generic addresses from here on are local memory, one 4 GiB window."""


class Space(Enum):
    """Memory spaces, by PTX's names."""

    GLOBAL = "global"
    SHARED = "shared"
    LOCAL = "local"
    CONST = "const"


@dataclass(frozen=True, slots=True)
class ListingLine:
    """A line that the user reads: a Python source line, or one SASS instruction.

    Attributes: ``text``; ``number`` (source line number, or byte offset of the SASS instruction);
    ``file`` and ``function`` where known; ``source`` (file, line) for SASS with line information.
    """

    text: str
    number: int
    file: str = ""
    function: str = ""
    source: tuple[str, int] | None = None


@dataclass(slots=True)
class Instruction:
    """One micro-op of a Program; see :data:`MICRO_OPS` for what each field means per micro-op.

    ``line`` indexes ``Program.listing``.  ``retires`` says that a profile counts it: in the source view
    every countable operation, in the machine view the last micro-op of each SASS instruction.
    ``uniform`` says that the result goes to all 32 lanes, whatever the exec mask (the uniform datapath).
    ``copies`` marks the storing half of a copy from global to shared memory, whose traffic is counted apart.
    ``variable`` names the Python variable that the destination is assigned to, ``dtype`` its NumPy type.
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
    column: int = 0
    variable: str | None = None
    dtype: str | None = None

    def __str__(self) -> str:
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
    * ``"shape"``: the size of axis ``axis`` of ``Program.arrays[value]``; ``"size"``: its element count;
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

    ``view`` is ``"source"`` or the architecture (``"sm_90"``); ``toolchain`` names the compiler of machine code.
    ``addresses`` maps code addresses (machine view) to micro-op indices for ``brx``.
    ``shared_bytes`` is static shared memory per block, ``local_bytes`` per thread, ``registers`` the registers per
    thread for the occupancy calculation (``None`` where the view cannot know).  ``system_shared_bytes``: what the
    system keeps at the start of a block's shared memory; addresses count it, the kernel's own bytes do not.

    ``encoded`` is the machine's: what the first launch makes of the micro-ops (simt.machine.encode), which must not
    change from then on.
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
    addresses: dict[int, int] = field(default_factory=dict)
    file: str = ""
    toolchain: str = ""
    encoded: Any = field(default=None, init=False, repr=False, compare=False)

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
    "replays",
)
"""What the machine counts per micro-op, in column order of the counter table (int64).

``updates``: sectors of atomics on global memory, each as often as lanes of the request meet at one of its addresses.
"""
