"""F2FP: two numbers packed or unpacked as float16, bfloat16 or 8-bit floats (E4M3, E5M2); and TF32."""

from __future__ import annotations

import numpy as np

from simt.ops.encoding import rounded
from simt.program import RZ
from simt.sass.architectures import VOLTA
from simt.sass.lowering import Lowering
from simt.sass.modifiers import Eight, Flag, Float, Packing, Round
from simt.sass.opcodes.float import as_float64, rounding_of
from simt.sass.table import Source, opcode

_PRECISION = {Eight.E4M3: 4, Eight.E5M2: 3}
"""Bits of the significand, the hidden one included."""
_LEAST = {Eight.E4M3: -6, Eight.E5M2: -14}
"""Exponent of the least normal number."""
_GREATEST = {Eight.E4M3: 448.0, Eight.E5M2: 57344.0}
_INFINITY = {Eight.E4M3: 0x7E, Eight.E5M2: 0x7C}
"""Bits above which a magnitude is a NaN: E4M3 has no infinity, and one NaN."""
_NAN = 0x7F
_NAN_F16 = 0x7FFF
_NAN_TF32 = 0x7FFFE000
_BELOW_TF32 = 13
"""Bits of a float32's significand that TF32 does not have."""
_E4M3_IN_F16 = 2.0**-8
"""What a number of E4M3 is multiplied by if its bits are read as a float16's: the biases are 7 and 15."""
_NEAREST_F16 = rounded("f16", "rn")


@opcode(
    "F2FP",
    source=Source.H200_VALUES,
    takes=(Float, Eight, Packing, Flag.TF32, Flag.RELU, Flag.SATFINITE, Round),
    since=VOLTA,
)
def pack(x: Lowering) -> None:
    """RELU: negative numbers become zero.  The modifiers of the 8-bit forms come together only."""
    packing = x.modifiers.one(Packing, Packing.PACK_AB)
    eight = x.modifiers.maybe(Eight)
    saturates = packing in (Packing.PACK_AB_MERGE_C, Packing.UNPACK_B_MERGE_C)
    given = eight is not None, Flag.SATFINITE in x.modifiers, Flag.TF32 in x.modifiers
    if given != (saturates or packing is Packing.UNPACK_B, saturates, packing is Packing.PACK_B):
        raise x.unsupported("these modifiers are not supported together")
    if packing is Packing.PACK_AB:
        _to_halves(x)
    elif packing is Packing.PACK_B:
        _to_tf32(x)
    elif packing is Packing.UNPACK_B and eight is not None:
        _from_bytes(x, eight)
    elif eight is not None:
        _to_bytes(x, eight, of_halves=packing is Packing.UNPACK_B_MERGE_C)


def _not_negative(x: Lowering, row: int) -> int:
    """With RELU, a float64 or zero; a NaN stays."""
    if Flag.RELU not in x.modifiers:
        return row
    return x.compute("selp", RZ, row, x.test("le.f64", row, RZ))


def _to_halves(x: Lowering) -> None:
    """Two float32 as float16 or, with BF16, bfloat16: a above b."""
    d = x.take_register()
    rows = [_not_negative(x, as_float64(x, x.take(), Float.F32)) for _ in range(2)]
    x.done()
    form = Float.BF16 if Float.BF16 in x.modifiers else Float.F16
    imm = rounded(form.value.lower(), rounding_of(x))
    high, low = (x.compute("cvt.rnd.f64", row, imm=imm) for row in rows)
    x.emit("prmt.b32", x.destination(d), low, x.constant(0x5410), high)


def _to_bytes(x: Lowering, eight: Eight, of_halves: bool) -> None:
    """Two float32, a above b, or the float16 of one register as bytes, below the lower half of c."""
    d = x.take_register()
    if of_halves:
        source = x.source(x.take())
        halves = x.compute("shr.u64", source, x.constant(16)), x.compute("cvt.u16", source)
        rows = [x.compute("cvt.f64.f32", x.compute("cvt.f32.f16", half)) for half in halves]
    else:
        rows = [as_float64(x, x.take(), Float.F32) for _ in range(2)]
    c = x.source(x.take())
    x.done()
    high, low = (_byte(x, _not_negative(x, row), eight) for row in rows)
    x.emit("prmt.b32", x.destination(d), x.compute("prmt.b32", low, x.constant(0x0040), high), x.constant(0x5410), c)


def _byte(x: Lowering, row: int, eight: Eight) -> int:
    """A float64 as the nearest 8-bit float (ties to even), saturated to the greatest finite one."""
    magnitude = x.compute("min.f64", x.compute("abs.f64", row), _float64(x, _GREATEST[eight]))
    # Next to 2**52 units, float64 has no bits below a unit: adding that rounds.  A unit is the value of the last bit.
    normal = x.compute("max.f64", magnitude, _float64(x, 2.0 ** _LEAST[eight]))
    power = x.compute("and.b64", normal, _float64(x, np.inf))
    shift = x.compute("mul.f64", power, _float64(x, 2.0 ** (53 - _PRECISION[eight])))
    near = x.compute("sub.f64", x.compute("add.f64", magnitude, shift), shift)
    if eight is Eight.E4M3:
        near = x.compute("mul.f64", near, _float64(x, _E4M3_IN_F16))
    upper = x.compute("cvt.rnd.f64", near, imm=_NEAREST_F16)  # exact
    bits = x.compute("shr.u64", upper, x.constant(7 if eight is Eight.E4M3 else 8))
    sign = x.compute("shl.b64", x.compute("shr.u64", row, x.constant(63)), x.constant(7))
    return x.compute("selp", x.compute("or.b64", bits, sign), x.constant(_NAN), x.test("eq.f64", row, row))


def _float64(x: Lowering, value: float) -> int:
    return x.constant(int(np.float64(value).view(np.uint64)))


def _from_bytes(x: Lowering, eight: Eight) -> None:
    """The two bytes in the lower half of a source as float16."""
    d = x.take_register()
    source = x.source(x.take())
    x.done()
    low, high = (
        _half(x, x.compute("cvt.u8", row), eight) for row in (source, x.compute("shr.u64", source, x.constant(8)))
    )
    x.emit("prmt.b32", x.destination(d), low, x.constant(0x5410), high)


def _half(x: Lowering, byte: int, eight: Eight) -> int:
    """An 8-bit float as float16, which holds it exactly."""
    magnitude = x.compute("and.b64", byte, x.constant(0x7F))
    if eight is Eight.E4M3:
        scale = x.constant(int(np.float16(1 / _E4M3_IN_F16).view(np.uint16)))
        upper = x.compute("shl.b64", magnitude, x.constant(7))
        bits = x.compute("mul.rnd", upper, scale, imm=_NEAREST_F16)
    else:
        bits = x.compute("shl.b64", magnitude, x.constant(8))
    is_negative = x.test("lt.s64", magnitude, byte)
    negative = RZ if Flag.RELU in x.modifiers else x.compute("or.b64", bits, x.constant(0x8000))
    bits = x.compute("selp", negative, bits, is_negative)
    return x.compute("selp", x.constant(_NAN_F16), bits, x.test("lt.s64", x.constant(_INFINITY[eight]), magnitude))


def _to_tf32(x: Lowering) -> None:
    """A float32 with the last 13 bits of its significand rounded away."""
    d = x.take_register()
    bits = x.source(x.take())
    x.done()
    unit = 1 << _BELOW_TF32
    if rounding_of(x) == "rn":
        odd = x.compute("and.b64", x.compute("shr.u64", bits, x.constant(_BELOW_TF32)), x.constant(1))
        near = x.compute("add.s64", bits, x.compute("add.s64", odd, x.constant(unit // 2 - 1)))
    else:
        near = bits
    result = x.compute("and.b64", near, x.constant(0x100000000 - unit))
    if Flag.RELU in x.modifiers:
        result = x.compute("selp", RZ, result, x.test("le.f32", bits, RZ))
    x.emit("selp", x.destination(d), result, x.constant(_NAN_TF32), x.test("eq.f32", bits, bits))
