"""Across the lanes of a warp: special registers, shuffles, votes, matches, reductions."""

from __future__ import annotations

from simt.ops.encoding import LOCAL_WINDOW, SHARED_WINDOW, SPECIAL_REGISTERS
from simt.program import RZ
from simt.sass.architectures import BLACKWELL, VOLTA
from simt.sass.lowering import Lowering
from simt.sass.modifiers import Combine, Flag, Hint, Integer, Lane, MinMax, Vote, Width
from simt.sass.operands import Register, Special
from simt.sass.table import Source, opcode

_SPECIAL = {
    "SR_TID.X": "tid.x",
    "SR_TID.Y": "tid.y",
    "SR_TID.Z": "tid.z",
    "SR_CTAID.X": "ctaid.x",
    "SR_CTAID.Y": "ctaid.y",
    "SR_CTAID.Z": "ctaid.z",
    "SR_NTID.X": "ntid.x",
    "SR_NTID.Y": "ntid.y",
    "SR_NTID.Z": "ntid.z",
    "SR_NCTAID.X": "nctaid.x",
    "SR_NCTAID.Y": "nctaid.y",
    "SR_NCTAID.Z": "nctaid.z",
    "SR_LANEID": "laneid",
    "SR_EQMASK": "lanemask_eq",
    "SR_LTMASK": "lanemask_lt",
    "SR_LEMASK": "lanemask_le",
    "SR_GTMASK": "lanemask_gt",
    "SR_GEMASK": "lanemask_ge",
    "SR_VIRTUALSMID": "smid",
}
_CLOCKS = {"SR_CLOCK": "clock", "SR_GLOBALTIMER": "globaltimer"}
"""Special registers of 64 bits: LO and HI are their halves."""
_FIXED = {
    "SRZ": 0,
    "SR_VIRTCFG": 1 << 20 | 64 << 8,  # %nsmid and %nwarpid: one multiprocessor with room for 64 warps
    "SR_CgaCtaId": 0,  # no clusters: each block is its own
    "SR_LMEMHIOFF": 0,  # the stack may grow down to here
    "SR_SWINHI": SHARED_WINDOW >> 32,
    "SR_LWINHI": LOCAL_WINDOW >> 32,
}


def _special(x: Lowering, d: int, operand: Special) -> None:
    name = operand.name
    if name in _FIXED:
        x.emit("mov", d, x.constant(_FIXED[name]))
    elif name in _SPECIAL:
        x.emit("sreg", d, imm=SPECIAL_REGISTERS.index(_SPECIAL[name]))
    elif name[:-2] in _CLOCKS:
        time = _clock(x, name)
        half = x.compute("shr.u64", time, x.constant(32)) if name.endswith("HI") else time
        x.emit("cvt.u32", d, half)
    elif name == "SR_VIRTID":  # bits 8 to 14: warp within the multiprocessor
        warp = x.compute("sreg", imm=SPECIAL_REGISTERS.index("warpid"))
        x.emit("shl.b32", d, warp, x.constant(8))
    else:
        raise x.unsupported(f"special register {name} is not supported")


def _clock(x: Lowering, name: str) -> int:
    """Row with the 64 bits of a clock."""
    return x.compute("sreg", imm=SPECIAL_REGISTERS.index(_CLOCKS[name[:-2]]))


def _take_special(x: Lowering) -> Special:
    operand = x.take()
    if not isinstance(operand, Special):
        raise x.unsupported(f"operand {operand} where a special register is expected")
    return operand


@opcode("S2R", source=Source.H200)
@opcode("S2UR", source=Source.H200, since=VOLTA, uniform=True)
def read_special(x: Lowering) -> None:
    d = x.take_register()
    _special(x, x.destination(d), _take_special(x))
    x.done()


@opcode("CS2R", source=Source.LISTINGS, takes=(Width,), since=VOLTA)
@opcode("CS2UR", source=Source.LISTINGS, takes=(Width,), since=VOLTA, uniform=True)
def read_special_wide(x: Lowering) -> None:
    """64 bits unless ``.32``: a clock, or a register whose upper word is zero."""
    d = x.take_register()
    special = _take_special(x)
    x.done()
    wide = x.modifiers.one(Width, Width.W64) is Width.W64
    if wide and special.name[:-2] in _CLOCKS and special.name.endswith("LO"):
        x.write_pair(d, _clock(x, special.name))
        return
    if wide:
        x.emit("mov", x.destination(d.next()), RZ)
    _special(x, x.destination(d), special)


@opcode("SHFL", source=Source.PTX, takes=(Lane,))
def shuffle(x: Lowering) -> None:
    """``p, d, a, b, c`` as PTX shfl.sync: p says whether the source lane is in range."""
    p = x.take_predicate()
    d = x.take_register()
    rows = x.source(x.take()), x.source(x.take()), x.source(x.take())
    x.done()
    kind = x.modifiers.one(Lane, Lane.IDX).value.lower()
    x.emit(f"shfl.{kind}", x.destination(d), *rows, mod=x.predicate_index(p))


@opcode("VOTE", source=Source.PTX, takes=(Vote,))
@opcode("VOTEU", source=Source.PTX, takes=(Vote,), since=VOLTA, uniform=True)
def vote(x: Lowering) -> None:
    """``[d,] p, a``: d = mask of the executing lanes where a is true; p = all, any or equal."""
    kind = x.modifiers.one(Vote, Vote.ALL)
    d = x.take_register() if isinstance(x.next(), Register) else None
    p = x.take_predicate()
    a = x.predicate(x.take_predicate())
    x.done()
    if p.index is not None:
        x.set_predicate(p, x.test(f"vote.{kind.value.lower()}", a))
    if d is not None:
        x.emit("ballot", x.destination(d), a)


@opcode("MATCH", source=Source.PTX, takes=(Vote, Integer.U64), since=VOLTA)
def match(x: Lowering) -> None:
    p = x.take_predicates()
    d = x.take_register()
    a = x.source64(x.take()) if x.modifiers.maybe(Integer) else x.source(x.take())
    x.done()
    kind = x.modifiers.one(Vote, Vote.ANY).value.lower()
    x.emit(f"match.{kind}", x.destination(d), a, mod=x.predicate_index(p[0]) if p else 0)


_REDUX = (Flag.SUM, Combine, MinMax, Integer.S32, Integer.U32)


@opcode("REDUX", source=Source.PTX, takes=_REDUX, since=80, uniform=True)
@opcode("CREDUX", source=Source.PTX, takes=_REDUX, since=BLACKWELL, uniform=True)
def reduce(x: Lowering) -> None:
    """Reduction over the executing lanes; without a name it is AND."""
    d = x.take_register()
    a = x.source(x.take())
    x.done()
    extreme = x.modifiers.maybe(MinMax)
    if Flag.SUM in x.modifiers:
        name = "add"
    elif extreme is not None:
        typ = x.modifiers.one(Integer, Integer.U32)
        name = f"{extreme.value.lower()}.{typ.value.lower()}"
    else:
        name = x.modifiers.one(Combine, Combine.AND).value.lower()
    x.emit(f"redux.{name}", x.destination(d), a)


@opcode("B2R", source=Source.LISTINGS, takes=(Flag.RESULT, Hint))
def barrier_result(x: Lowering) -> None:
    """``d [, p]``: what the BAR.RED before it found."""
    d = x.take_register()
    p = x.take_predicates()
    x.done()
    x.emit("mov", x.destination(d), x.rows.barrier_result())
    for predicate in p:
        x.set_predicate(predicate, x.barrier_predicate())
