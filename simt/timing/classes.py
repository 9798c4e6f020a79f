"""Timing classes: which pipe an instruction issues to, and which latency it has.

A class is declared once, in :data:`CLASSES`.  The source view finds it by micro-op, machine code by opcode.
"""

from __future__ import annotations

from dataclasses import dataclass
from enum import IntEnum

from simt.ops.table import MICRO_OPS


class Unit(IntEnum):
    """What serves a class: it decides how the completion time is found."""

    FIXED = 0  # a pipe of the scheduler with a latency
    QUEUED = 1  # the same, through the queue of memory input/output (MIO), which the schedulers share
    SHARED = 2  # load/store unit, shared memory
    GLOBAL = 3  # load/store unit, L1
    BRANCH = 4  # branch unit
    BARRIER = 5
    EXIT = 6
    FENCE = 7
    FREE = 8  # no issue slot: names, moves and jumps of the source view


@dataclass(frozen=True)
class TimingClass:
    """One row: ``name`` is also the key of ``latency_<name>`` and ``interval_<name>`` in device files.

    ``pipe`` names the issue port (classes of one pipe wait for each other).  ``opcodes`` are those of machine code that
    the model was held to on hardware (tests/data/timing); ``relatives`` were never measured and take the class of their
    nearest relative.  Of both the longest match, opcode and first modifier, counts; micro-ops name their class in
    :mod:`simt.ops`.  ``like`` is the class whose latency and interval it has, if not its own.
    """

    name: str
    unit: Unit
    pipe: str
    opcodes: str = ""
    relatives: str = ""
    like: str = ""

    @property
    def numbers(self) -> str:
        """Name of the class that device files give latency and interval of."""
        return self.like or self.name


CLASSES: tuple[TimingClass, ...] = (
    TimingClass("free", Unit.FREE, "none"),
    TimingClass(
        "alu",
        Unit.FIXED,
        "alu",
        "IADD3 LOP3 SEL PRMT PLOP3 MOV P2R SGXT FCHK CS2R VOTE I2FP LEPC FSEL",
        relatives="IADD LOP IABS BMSK LOP32I IADD32I MOV32I I2I IDP XMAD HSET2 HMNMX2 F2FP VABSDIFF4",
    ),
    # Shifts and comparisons: half the rate of the others on Maxwell and Pascal.
    TimingClass(
        "shift",
        Unit.FIXED,
        "alu",
        "SHF LEA ISETP FSETP FMNMX VIMNMX VIADDMNMX",
        relatives="SHL SHR ISCADD ISCADD32I BFE BFI ICMP ISET IMNMX VIMNMX3 VABSDIFF PSETP FSET"
        " FCMP FMNMX3 HSETP2 DMNMX R2P",
    ),
    TimingClass("imad", Unit.FIXED, "fma_heavy", "IMAD VIADD", relatives="IMUL"),
    TimingClass("imad_wide", Unit.FIXED, "fma_heavy", "IMAD.WIDE IMAD.HI"),
    TimingClass("fma", Unit.FIXED, "fma", "FADD FMUL FFMA", relatives="FADD32I FMUL32I FFMA32I"),
    TimingClass("half", Unit.FIXED, "fma_both", "HFMA2", relatives="HADD2 HMUL2", like="imad"),
    TimingClass("half_matrix", Unit.FIXED, "half", "HFMA2.MMA"),
    TimingClass("fp64", Unit.FIXED, "fp64", "DADD DFMA DMUL DSETP"),
    TimingClass("divide", Unit.FIXED, "xu"),
    TimingClass("mufu", Unit.QUEUED, "xu", "MUFU POPC BREV", relatives="FLO MATCH"),
    TimingClass("convert", Unit.QUEUED, "xu", "I2F F2I", relatives="F2F F2IP FRND"),
    TimingClass(
        "uniform",
        Unit.FIXED,
        "uniform",
        "UMOV UIADD3 UIMAD USHF ULEA ULOP3 UISETP ULDC R2UR UFLO VOTEU",
        relatives="UIADD UVIADD USGXT UBMSK UPLOP3 UP2UR UPRMT USEL UIABS UIMNMX UVIMNMX ELECT UBREV UPOPC UFADD"
        " UFMUL UFFMA UFMNMX UFSEL UFSETP UI2F UI2FP LDCU CS2UR",
    ),
    TimingClass("redux", Unit.QUEUED, "redux", "REDUX", relatives="CREDUX"),
    TimingClass("sreg", Unit.QUEUED, "sreg", "S2R B2R"),
    TimingClass("const", Unit.QUEUED, "const", "LDC"),
    TimingClass("block_number", Unit.QUEUED, "const", "S2UR", like="const"),  # and S2R of one
    TimingClass("shuffle", Unit.QUEUED, "lsu", "SHFL"),
    TimingClass("shared_load", Unit.SHARED, "lsu", "LDS", relatives="LDSM"),
    TimingClass("shared_store", Unit.SHARED, "lsu", "STS"),
    TimingClass("shared_atomic", Unit.SHARED, "lsu", "ATOMS"),
    TimingClass("load", Unit.GLOBAL, "lsu", "LDG LD LDGSTS LDL"),
    TimingClass("store", Unit.GLOBAL, "lsu", "STG ST STL"),
    TimingClass("atomic", Unit.GLOBAL, "lsu", "ATOMG", relatives="ATOM"),
    TimingClass("reduction", Unit.GLOBAL, "lsu", "REDG", relatives="RED"),
    TimingClass("texture", Unit.QUEUED, "tex", "TEX TLD", relatives="TXD TLD4 TXQ SULD SUST SUATOM SURED"),
    TimingClass(
        "branch",
        Unit.BRANCH,
        "branch",
        "BRA BRX CALL RET BMOV BSSY BSYNC BREAK WARPSYNC YIELD BPT ENDCOLLECTIVE NANOSLEEP",
        relatives="JMP SYNC BRK SSY PBK KIL KILL JCAL CAL PCNT CONT",
    ),
    TimingClass("barrier", Unit.BARRIER, "barrier", "BAR", relatives="SYNCS ARRIVES UBLKCP"),
    TimingClass("exit", Unit.EXIT, "branch", "EXIT"),
    TimingClass("fence", Unit.FENCE, "lsu", "MEMBAR ERRBAR CGAERRBAR CCTL", relatives="FENCE CCTLL"),
    TimingClass("nop", Unit.FIXED, "none", "NOP DEPBAR LDGDEPBAR", relatives="QSPC ACQBULK PREEXIT"),
)
"""Every class; its number is its place here."""

NUMBER = {row.name: k for k, row in enumerate(CLASSES)}
PIPES = (*dict.fromkeys(row.pipe for row in CLASSES), "fma_light")
"""Issue ports; ``fma`` is either of ``fma_heavy`` and ``fma_light``, ``fma_both`` occupies the two."""

TIMED = tuple(
    row.name for row in CLASSES if row.unit in (Unit.FIXED, Unit.QUEUED) and row.pipe != "none" and not row.like
)
"""Classes whose latency and interval a device file gives."""

_BY_OPCODE = {opcode: k for k, row in enumerate(CLASSES) for opcode in f"{row.opcodes} {row.relatives}".split()}
_MEASURED = frozenset(opcode for row in CLASSES for opcode in row.opcodes.split())


def of_micro_op(name: str) -> int:
    """Class of a micro-op of the source view."""
    return NUMBER[MICRO_OPS[name].timing]


def of_opcode(opcode: str, modifiers: tuple[str, ...] = ()) -> int:
    """Class of a SASS opcode with its modifiers.  Every opcode of simt.sass has one; KeyError for others."""
    return _BY_OPCODE[_longest(opcode, modifiers)]


def is_measured(opcode: str, modifiers: tuple[str, ...] = ()) -> bool:
    """Whether hardware was measured with this opcode; else it has the class of its nearest relative."""
    return _longest(opcode, modifiers) in _MEASURED


def _longest(opcode: str, modifiers: tuple[str, ...]) -> str:
    """What the table has of an opcode: with its first modifier if that has a row."""
    exact = ".".join((opcode, *modifiers[:1]))
    return exact if exact in _BY_OPCODE else opcode
