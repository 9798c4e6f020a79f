"""Modifier words as typed values.

An opcode's row lists the values that it takes; :func:`resolve` turns the words of an instruction into them.
A word that the row does not take is an error, so no modifier is ever ignored by accident.  Words that change
nothing that is simulated (cache policy, memory ordering: memory is sequentially consistent here) are
:class:`Hint`.
"""

from __future__ import annotations

from collections.abc import Iterable
from enum import Enum
from typing import TypeVar


class Compare(Enum):
    """Comparisons; the U forms are true for NaN operands, NUM and NAN test for ordered and unordered."""

    F = "F"
    LT = "LT"
    EQ = "EQ"
    LE = "LE"
    GT = "GT"
    NE = "NE"
    GE = "GE"
    NUM = "NUM"
    NAN = "NAN"
    LTU = "LTU"
    EQU = "EQU"
    LEU = "LEU"
    GTU = "GTU"
    NEU = "NEU"
    GEU = "GEU"
    T = "T"


class MinMax(Enum):
    """DSETP.MIN and DSETP.MAX; also the operation of atomics, REDUX and the like."""

    MIN = "MIN"
    MAX = "MAX"


class Combine(Enum):
    """How a comparison's result is combined with a predicate; also bitwise operations."""

    AND = "AND"
    OR = "OR"
    XOR = "XOR"


class Integer(Enum):
    """Integer types."""

    U8 = "U8"
    S8 = "S8"
    U16 = "U16"
    S16 = "S16"
    U32 = "U32"
    S32 = "S32"
    U64 = "U64"
    S64 = "S64"

    @property
    def signed(self) -> bool:
        return self.value[0] == "S"

    @property
    def bits(self) -> int:
        return int(self.value[1:])


class Packed(Enum):
    """Several integers in one register."""

    U16X2 = "U16x2"
    S16X2 = "S16x2"
    U8X4 = "U8x4"
    S8X4 = "S8x4"
    B16X2 = "16x2"  # sums, the same for both signs

    @property
    def signed(self) -> bool:
        return self.value[0] == "S"

    @property
    def bits(self) -> int:
        return int(self.value.lstrip("US").split("x")[0])


class Float(Enum):
    """Floating-point types."""

    F16 = "F16"
    F32 = "F32"
    F64 = "F64"
    BF16 = "BF16"


class Eight(Enum):
    """Floating-point formats of 8 bits, by the bits of exponent and significand."""

    E4M3 = "E4M3"
    E5M2 = "E5M2"


class Packing(Enum):
    """F2FP: which operands it packs (a above b, or only b), which it unpacks; the result may join half of c."""

    PACK_AB = "PACK_AB"
    PACK_AB_MERGE_C = "PACK_AB_MERGE_C"
    PACK_B = "PACK_B"
    UNPACK_B = "UNPACK_B"
    UNPACK_B_MERGE_C = "UNPACK_B_MERGE_C"


class Round(Enum):
    """Roundings of floating-point results: nearest even, down, up, towards zero."""

    RN = "RN"
    RM = "RM"
    RP = "RP"
    RZ = "RZ"


class Scale(Enum):
    """FMUL: the product is divided (D) or multiplied (M) by 2, 4 or 8 before it is rounded."""

    D2 = "D2"
    D4 = "D4"
    D8 = "D8"
    M2 = "M2"
    M4 = "M4"
    M8 = "M8"

    @property
    def factor(self) -> float:
        number = int(self.value[1])
        return 1 / number if self.value[0] == "D" else float(number)


class RoundInteger(Enum):
    """Roundings to an integer."""

    ROUND = "ROUND"
    FLOOR = "FLOOR"
    CEIL = "CEIL"
    TRUNC = "TRUNC"


class Width(Enum):
    """Access or operand width in bits, without a sign."""

    W32 = "32"
    W64 = "64"
    W128 = "128"


class Lanes(Enum):
    """Several floats that one atomic adds."""

    F16X2 = "F16x2"
    BF16X2 = "BF16x2"
    F32X2 = "F32x2"
    F32X4 = "F32x4"


class Side(Enum):
    """Direction of a funnel shift."""

    L = "L"
    R = "R"


class Atomic(Enum):
    """Atomic operations beside MinMax and Combine."""

    ADD = "ADD"
    EXCH = "EXCH"
    CAS = "CAS"
    CAST = "CAST"  # compare and swap that gives 1 if it swapped, else 0
    INC = "INC"
    DEC = "DEC"


class Function(Enum):
    """Functions of the multi-function unit (MUFU)."""

    RCP = "RCP"
    RSQ = "RSQ"
    SQRT = "SQRT"
    EX2 = "EX2"
    LG2 = "LG2"
    SIN = "SIN"
    COS = "COS"
    TANH = "TANH"
    RCP64H = "RCP64H"  # high word of a float64 reciprocal, of a high word
    RSQ64H = "RSQ64H"


class Lane(Enum):
    """How SHFL picks the source lane."""

    IDX = "IDX"
    UP = "UP"
    DOWN = "DOWN"
    BFLY = "BFLY"


class Vote(Enum):
    """VOTE and MATCH: of all lanes, of any lane, equal in all."""

    ALL = "ALL"
    ANY = "ANY"
    EQ = "EQ"


class Permute(Enum):
    """Modes of PRMT."""

    F4E = "F4E"
    B4E = "B4E"
    RC8 = "RC8"
    ECL = "ECL"
    ECR = "ECR"
    RC16 = "RC16"


class Logic(Enum):
    """Operations of Pascal's LOP."""

    AND = "AND"
    OR = "OR"
    XOR = "XOR"
    PASS_B = "PASS_B"


class Space(Enum):
    """Address spaces that QSPC asks for: shared, local, global, and another block's shared memory."""

    S = "S"
    L = "L"
    G = "G"
    D = "D"


class Flag(Enum):
    """Modifiers that are there or not."""

    E = "E"  # 64-bit address
    X = "X"  # with carry in
    EX = "EX"  # upper half of a 64-bit comparison
    HI = "HI"  # upper half
    W = "W"  # shift amounts wrap instead of saturating
    LUT = "LUT"  # truth table
    WIDE = "WIDE"  # 64-bit result
    MOV = "MOV"  # says what an IMAD is for
    SHL = "SHL"
    IADD = "IADD"
    SX32 = "SX32"  # the upper word is the sign of the lower
    FTZ = "FTZ"  # denormals are zero
    FMZ = "FMZ"  # and zero times anything is zero
    SAT = "SAT"  # limited to 0 ... 1
    TF32 = "TF32"  # float32 with a significand of 11 bits
    SATFINITE = "SATFINITE"  # limited to the finite numbers of the format
    RELU = "RELU"  # negative results and NaN become 0
    NTZ = "NTZ"  # NaN gives 0
    BF = "BF"  # a true result is 1.0
    SH = "SH"  # FLO: distance from the top
    PAND = "PAND"
    POPC = "POPC"
    SUM = "SUM"
    VIEW = "VIEW"  # FENCE.VIEW.ASYNC: orders accesses of the asynchronous proxy, which nothing simulated uses
    ASYNC = "ASYNC"
    G = "G"
    S = "S"
    MMA = "MMA"  # which pipe executes an HFMA2
    PSL = "PSL"  # XMAD: see opcodes/pascal.py
    CBCC = "CBCC"
    CHI = "CHI"
    CLO = "CLO"
    MRG = "MRG"
    RS = "RS"  # IADD3: (a + b) >> 16 before c
    LS = "LS"
    CLEAR = "CLEAR"
    RESULT = "RESULT"
    RED = "RED"
    SYNC = "SYNC"
    ARV = "ARV"
    REL = "REL"
    ABS = "ABS"
    U = "U"
    ANY = "ANY"  # of BRA.U
    DIV = "DIV"
    CONV = "CONV"
    COLLECTIVE = "COLLECTIVE"
    EXCLUSIVE = "EXCLUSIVE"
    TRAP = "TRAP"
    IDP_4A = "4A"
    IDP_2A = "2A"
    LO = "LO"
    ISAT = "ISAT"  # integer sums are limited to what 32 bits hold
    ACC = "ACC"  # plus a third operand
    NAN = "NAN"  # of minimum and maximum: a NaN wins
    XORSIGN = "XORSIGN"  # of magnitudes; the signs are multiplied
    BF16_V2 = "BF16_V2"  # packed bfloat16


class Hint(Enum):
    """Words that change nothing that is simulated."""

    ALL = "ALL"
    CACHED = "CACHED"
    CA = "CA"
    CG = "CG"
    CI = "CI"
    CONSTANT = "CONSTANT"
    CS = "CS"
    CTA = "CTA"
    CV = "CV"
    DEFER_BLOCKING = "DEFER_BLOCKING"
    E = "E"
    EF = "EF"
    EL = "EL"
    EU = "EU"
    GPU = "GPU"
    IV = "IV"
    IVALL = "IVALL"
    LE = "LE"
    LTC128B = "LTC128B"
    LU = "LU"
    MMIO = "MMIO"
    NA = "NA"
    NODEC = "NODEC"
    NOINC = "NOINC"
    PF1 = "PF1"
    PF1_5 = "PF1_5"
    PF2 = "PF2"
    PRIVATE = "PRIVATE"
    RECONVERGENT = "RECONVERGENT"
    RELIABLE = "RELIABLE"
    RML2 = "RML2"
    RS = "RS"
    WB = "WB"
    WBALL = "WBALL"
    BYPASS = "BYPASS"
    ZFILL = "ZFILL"
    ACCESS = "ACCESS"
    SC = "SC"
    SM = "SM"
    SPIN = "SPIN"
    STRONG = "STRONG"
    SYS = "SYS"
    SYNCS = "SYNCS"
    U = "U"
    VC = "VC"
    WARP = "WARP"
    WEAK = "WEAK"
    WT = "WT"


_E = TypeVar("_E", bound=Enum)


class Modifiers:
    """The typed modifiers of one instruction, in the order in which they were written."""

    def __init__(self, values: Iterable[Enum] = ()) -> None:
        self.values = tuple(values)

    def __contains__(self, value: Enum) -> bool:
        return value in self.values

    def all(self, kind: type[_E]) -> list[_E]:
        """All modifiers of one kind."""
        return [value for value in self.values if isinstance(value, kind)]

    def one(self, kind: type[_E], default: _E) -> _E:
        """The first modifier of a kind, or *default*."""
        return next(iter(self.all(kind)), default)

    def maybe(self, kind: type[_E]) -> _E | None:
        """The first modifier of a kind, or None."""
        return next(iter(self.all(kind)), None)


Allowed = type[Enum] | Enum


def resolve(words: Iterable[str], allowed: Iterable[Allowed]) -> tuple[Modifiers, str | None]:
    """Typed modifiers for *words*, and the first word that is not among *allowed* (None if all are)."""
    kinds = tuple(allowed)
    values: list[Enum] = []
    for word in words:
        value = _match(word, kinds)
        if value is None:
            return Modifiers(values), word
        values.append(value)
    return Modifiers(values), None


def _match(word: str, kinds: tuple[Allowed, ...]) -> Enum | None:
    members = (member for kind in kinds for member in ((kind,) if isinstance(kind, Enum) else kind))
    return next((member for member in members if member.value == word), None)
