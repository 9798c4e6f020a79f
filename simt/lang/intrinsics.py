"""Functions that a kernel may call, each declared once: Numba's CUDA dialect, builtins, math, NumPy scalars.

A row of :data:`INTRINSICS` names the function, the signatures that Numba's CUDA target declares for it (empty
where the types are free), and what it becomes.  Every call counts one instruction unless the row's function
says otherwise.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numba.core import types
from numba.core.types import containers

from simt.lang import numba_types as nt
from simt.lang.arrays import element_of
from simt.lang.builder import Builder
from simt.lang.convert import ScalarValue, convert, scalar, truth
from simt.lang.diagnostics import unsupported, wrong
from simt.lang.dialect import DIMENSIONS
from simt.lang.ir import PREDICATE, REGISTER, ZERO, PredRef, UniformRef, VReg
from simt.lang.numeric import absolute, minmax, rounded
from simt.lang.operators import BINARY, COMPARISONS, binary, compare, float64_op
from simt.lang.values import Constant, Object, Scalar, Tuple, Value
from simt.ops.encoding import ATOMIC_TYPES, ATOMICS, FENCE, SPECIAL_REGISTERS
from simt.program import FULL_MASK

i4, i8, u4, u8 = types.int32, types.int64, types.uint32, types.uint64
f4, f8, b1 = types.float32, types.float64, types.boolean
_INTEGERS = (types.int8, types.int16, i4, i8, types.uint8, types.uint16, u4, u8)
"""In Numba's order of preference."""

NONE = Object(None)
"""The value of a call that returns nothing."""

Emit = Callable[[Builder, str, list[Value], Any], Value]


@dataclass(frozen=True, slots=True)
class Intrinsic:
    """A callable: ``emit(builder, name, args, signature)`` lowers it.

    ``counts`` are the allowed numbers of arguments; ``cases`` Numba's signatures, to which the arguments are
    converted before ``emit`` sees them.
    """

    name: str
    emit: Emit
    counts: tuple[int, ...]
    cases: tuple[Any, ...] = ()


def call(b: Builder, intrinsic: Intrinsic, args: list[Value]) -> Value:
    """Lower a call of *intrinsic*; KernelError for a wrong number or type of arguments."""
    if len(args) not in intrinsic.counts:
        expected = " or ".join(str(count) for count in intrinsic.counts)
        wrong(b.place, f"{intrinsic.name} takes {expected} arguments, not {len(args)}")
    signature = None
    if intrinsic.cases:
        scalars = [scalar(b, arg) for arg in args]
        argtypes = tuple(value.type for value in scalars)
        signature = nt.overload(intrinsic.name, intrinsic.cases, argtypes)
        if signature is None:
            given = ", ".join(str(ty) for ty in argtypes)
            wrong(b.place, f"{intrinsic.name} does not take ({given})", help="convert the arguments first")
        args = [convert(b, value, ty) for value, ty in zip(scalars, signature.args, strict=True)]
    return intrinsic.emit(b, intrinsic.name, args, signature)


def special_register(b: Builder, name: str, ty: Any = i4) -> Scalar:
    """Read a special register, by its PTX name: one instruction."""
    return b.value("sreg", ty, imm=SPECIAL_REGISTERS.index(name))


# Grid


def _grid(b: Builder, name: str, args: list[Value], _: Any) -> Value:
    (ndim,) = args
    if not isinstance(ndim, Constant) or ndim.value not in (1, 2, 3):
        wrong(b.place, f"{name} takes the constant 1, 2 or 3")
    items = []
    for axis in "xyz"[: ndim.value]:
        if name == "cuda.grid":
            tid, ctaid, ntid = (special_register(b, f"{reg}.{axis}").operand for reg in ("tid", "ctaid", "ntid"))
            items.append(b.value("mad.s64", i8, ctaid, ntid, tid))
        else:
            ntid, nctaid = (special_register(b, f"{reg}.{axis}").operand for reg in ("ntid", "nctaid"))
            items.append(b.value("mul.s64", i8, ntid, nctaid))
    return items[0] if ndim.value == 1 else Tuple(tuple(items))


# Barriers and fences


def _fence(b: Builder, name: str, args: list[Value], _: Any) -> Value:
    b.emit("nop", mod=FENCE)
    return NONE


def _nanosleep(b: Builder, name: str, args: list[Value], _: Any) -> Value:
    b.emit("nop")
    return NONE


def _syncthreads(b: Builder, name: str, args: list[Value], _: Any) -> Value:
    b.emit("bar.sync")
    return NONE


def _syncthreads_vote(b: Builder, name: str, args: list[Value], _: Any) -> Value:
    value = scalar(b, args[0])
    if nt.storage_class(value.type) != nt.INT:
        wrong(b.place, f"{name} takes an integer, not {value.type}", help="convert it first, e.g. int32(x > 0)")
    condition = b.operand(truth(b, convert(b, value, i4), counted=False))
    if name == "cuda.syncthreads_count":
        return b.value("bar.red.popc", i4, condition)
    result = b.value(f"bar.red.{name.rsplit('_')[-1]}", b1, condition)
    return convert(b, result, i4, counted=False)


def _warp_mask(b: Builder, mask: Value) -> VReg | UniformRef:
    operand = b.operand(convert(b, scalar(b, mask), u4, counted=False))
    assert isinstance(operand, VReg | UniformRef)
    return operand


def _syncwarp(b: Builder, name: str, args: list[Value], _: Any) -> Value:
    b.emit("warpsync", None, _warp_mask(b, args[0] if args else Constant(u4, FULL_MASK)))
    return NONE


def _gather(b: Builder, mask: Value) -> None:
    """Bring the lanes that *mask* names together before a ``_sync`` operation; free of charge."""
    b.emit("warpsync", None, _warp_mask(b, mask), retires=False)


# Warp-level operations

_SHUFFLES = {
    "cuda.shfl_sync": ("shfl.idx", 0x1F),
    "cuda.shfl_up_sync": ("shfl.up", 0),
    "cuda.shfl_down_sync": ("shfl.down", 0x1F),
    "cuda.shfl_xor_sync": ("shfl.bfly", 0x1F),
}
_SHUFFLE_MODES = ("shfl.idx", "shfl.up", "shfl.down", "shfl.bfly")
_SHUFFLED = (i4, i8, f4, f8)


def _emit_shuffle(b: Builder, op: str, value: ScalarValue, lane: ScalarValue, clamp: Value) -> tuple[Scalar, Scalar]:
    dst, in_range = VReg(REGISTER), VReg(PREDICATE)
    b.emit(op, dst, b.operand(value), b.operand(lane), b.operand(clamp), dst2=in_range)
    return Scalar(value.type, dst), Scalar(b1, PredRef(in_range))


def _shuffle(b: Builder, name: str, args: list[Value], _: Any) -> Value:
    mask, value, lane = (scalar(b, arg) for arg in args)
    op, clamp = _SHUFFLES[name]
    _gather(b, mask)
    return _emit_shuffle(b, op, value, lane, Constant(i4, clamp))[0]


def _shuffle_intrinsic(b: Builder, name: str, args: list[Value], _: Any) -> Value:
    mask, mode, value, lane, clamp = (scalar(b, arg) for arg in args)
    if not isinstance(mode, Constant) or not 0 <= mode.value < 4:
        wrong(b.place, "the mode of shfl_sync_intrinsic has to be a constant from 0 to 3")
    _gather(b, mask)
    return Tuple(_emit_shuffle(b, _SHUFFLE_MODES[mode.value], value, lane, clamp))


_VOTES = ("vote.all", "vote.any", "vote.eq", "ballot")
_VOTE_OF = {
    "cuda.all_sync": "vote.all",
    "cuda.any_sync": "vote.any",
    "cuda.eq_sync": "vote.eq",
    "cuda.ballot_sync": "ballot",
}


def _signed_mask(b: Builder, op: str, operand: Any) -> Scalar:
    """A lane mask as Numba types it (int32, so lane 31 is the sign)."""
    mask = b.value(op, u4, operand, retires=False)
    return b.value("cvt.s32", i4, mask.operand)


def _emit_vote(b: Builder, op: str, condition: Value) -> Scalar:
    operand = b.operand(condition)
    return _signed_mask(b, op, operand) if op == "ballot" else b.value(op, b1, operand)


def _vote(b: Builder, name: str, args: list[Value], _: Any) -> Value:
    condition = truth(b, scalar(b, args[1]), counted=False)
    _gather(b, args[0])
    return _emit_vote(b, _VOTE_OF[name], condition)


def _vote_intrinsic(b: Builder, name: str, args: list[Value], _: Any) -> Value:
    mask, mode, condition = args
    if not isinstance(mode, Constant) or not 0 <= mode.value < 4:
        wrong(b.place, "the mode of vote_sync_intrinsic has to be a constant from 0 to 3")
    condition = truth(b, scalar(b, condition), counted=False)
    _gather(b, mask)
    vote = _emit_vote(b, _VOTES[mode.value], condition)
    if vote.type == b1:
        return Tuple((Constant(i4, 0), vote))
    return Tuple((vote, Constant(b1, False)))


def _match_any(b: Builder, name: str, args: list[Value], _: Any) -> Value:
    _gather(b, args[0])
    return _signed_mask(b, "match.any", b.operand(args[1]))


def _match_all(b: Builder, name: str, args: list[Value], _: Any) -> Value:
    _gather(b, args[0])
    mask, same = VReg(REGISTER), VReg(PREDICATE)
    b.emit("match.all", mask, b.operand(args[1]), dst2=same)
    return Tuple((b.value("cvt.s32", i4, mask, retires=False), Scalar(b1, PredRef(same))))


def _activemask(b: Builder, name: str, args: list[Value], _: Any) -> Value:
    return b.value("activemask", u4)


def _lanemask_lt(b: Builder, name: str, args: list[Value], _: Any) -> Value:
    return special_register(b, "lanemask_lt", u4)


# Bits


def _zero_extended(b: Builder, value: Value) -> Any:
    value = scalar(b, value)
    if value.type.bitwidth < 64 and value.type.signed:
        value = convert(b, value, getattr(types, f"uint{value.type.bitwidth}"))
    return b.operand(value)


def _popc(b: Builder, name: str, args: list[Value], signature: Any) -> Value:
    return b.value("popc.b64", signature.return_type, _zero_extended(b, args[0]))


def _clz(b: Builder, name: str, args: list[Value], signature: Any) -> Value:
    result = signature.return_type
    operand = _zero_extended(b, args[0])
    if result.bitwidth == 64:
        return b.value("clz.b64", result, operand)
    zeros = b.value("clz.b32", result, operand)
    if result.bitwidth == 32:
        return zeros
    extra = UniformRef("const", 32 - result.bitwidth)
    return b.value("sub.s64", result, zeros.operand, extra, retires=False)


def _brev(b: Builder, name: str, args: list[Value], signature: Any) -> Value:
    result = signature.return_type
    return b.value(f"brev.b{result.bitwidth}", result, b.operand(args[0]))


def _ffs(b: Builder, name: str, args: list[Value], signature: Any) -> Value:
    return b.value("ffs.b64", u4, b.operand(args[0]))


def _fma(b: Builder, name: str, args: list[Value], signature: Any) -> Value:
    ty = signature.return_type
    return b.value(f"fma.{nt.storage_class(ty)}", ty, *(b.operand(arg) for arg in args))


def _selp(b: Builder, name: str, args: list[Value], _: Any) -> Value:
    test, yes, no = (scalar(b, arg) for arg in args)
    if yes.type != no.type or nt.storage_class(yes.type) == nt.BOOL:
        wrong(b.place, f"{name} takes two numbers of one type, not {yes.type} and {no.type}")
    condition = truth(b, test, counted=False)
    return b.value("selp", yes.type, b.operand(yes), b.operand(no), b.operand(condition))


# Atomics


def _atomic(b: Builder, name: str, args: list[Value], _: Any) -> Value:
    operation = name.rsplit(".", 1)[1].rstrip("_")
    if operation == "compare_and_swap":
        operation, args = "cas", [args[0], Constant(i8, 0), *args[1:]]
    element = element_of(b, args[0], args[1], name)
    if element.space not in ("global", "shared"):
        unsupported(b.place, f"{name} on a {element.space} array", help="use a global or shared array")
    if element.readonly:
        wrong(b.place, f"array {element.name} is read-only, and {name} changes it")
    ty = element.type
    allowed = {"inc": (u4, u8), "dec": (u4, u8)}.get(
        operation,
        (i4, u4, i8, u8) if operation in ("and", "or", "xor", "exch", "cas") else tuple(nt.ATOMIC_TYPE),
    )
    if ty not in allowed:
        names = ", ".join(str(item) for item in allowed)
        wrong(b.place, f"{name} on elements of type {ty}", help=f"Numba has it for {names}")
    values = [convert(b, scalar(b, arg), ty) for arg in args[2:]]
    if operation == "cas":
        values.reverse()
    operands = [b.operand(value) for value in values]
    mod = ATOMICS.index(operation) << 4 | ATOMIC_TYPES.index(nt.ATOMIC_TYPE[ty])
    return b.value(f"atom.{element.space}", ty, element.base, *operands, mod=mod)


# Builtins


def _operator(text: str) -> Emit:
    """A function of the operator module: ``operator.add(a, b)`` is ``a + b``."""
    apply = binary if text in BINARY else compare

    def emit(b: Builder, name: str, args: list[Value], _: Any) -> Value:
        return apply(b, text, scalar(b, args[0]), scalar(b, args[1]))

    return emit


# math

_UNARY = tuple(ret(arg) for ret, arg in ((f8, i8), (f8, u8), (f4, f4), (f8, f8)))
_BINARY = (f4(f4, f4), f8(f8, f8))
_BINARY_INT = (f8(i8, i8), f8(u8, u8), *_BINARY)
_TEST = tuple(b1(arg) for arg in (i8, u8, f4, f8))


def _fold_math(name: str, args: Sequence[Value], ty: Any) -> Constant | None:
    """A math function of constants, where Python can say."""
    function = getattr(math, name.rsplit(".", 1)[1], None)
    if function is None or not all(isinstance(arg, Constant) for arg in args):
        return None
    try:
        value = function(*(arg.value for arg in args if isinstance(arg, Constant)))
        return Constant(ty, nt.cast_constant(value, ty))
    except (ArithmeticError, TypeError, ValueError):
        return None


def _math(stem: str) -> Emit:
    """A function computed by one float micro-op; integers are converted first, which counts."""

    def emit(b: Builder, name: str, args: list[Value], signature: Any) -> Value:
        ty = signature.return_type
        folded = _fold_math(name, args, ty)
        if folded is not None:
            return folded
        values = [scalar(b, arg) for arg in args]
        if nt.storage_class(ty) == nt.F32 and stem in ("sqrt", "abs"):
            return b.value(f"{stem}.f32", ty, b.operand(values[0]))
        if name == "math.pow" and nt.storage_class(values[1].type) == nt.INT:
            values[1] = convert(b, values[1], f8, counted=False)
        return float64_op(b, stem, ty, *(convert(b, value, ty) if value.type != f8 else value for value in values))

    return emit


def _scaled(factor: float) -> Emit:
    """degrees and radians: a multiplication."""

    def emit(b: Builder, name: str, args: list[Value], signature: Any) -> Value:
        ty = signature.return_type
        value = convert(b, scalar(b, args[0]), ty)
        if isinstance(value, Constant):
            return Constant(ty, nt.cast_constant(value.value * factor, ty))
        return b.value(f"mul.{nt.storage_class(ty)}", ty, b.operand(value), b.operand(Constant(ty, factor)))

    return emit


def _float_test(b: Builder, name: str, args: list[Value], signature: Any) -> Value:
    value = scalar(b, args[0])
    if nt.storage_class(value.type) == nt.INT:
        return Constant(b1, name == "math.isfinite")
    if isinstance(value, Constant):
        return Constant(b1, bool(getattr(math, name.removeprefix("math."))(value.value)))
    if name == "math.isnan":
        return compare(b, "!=", value, value)
    wide = b.operand(convert(b, value, f8, counted=False))
    if name == "math.isinf":
        return b.value("isinf.f64", b1, wide)
    difference = b.value("sub.f64", f8, wide, wide, retires=False)  # 0, or NaN if not finite
    return b.value("eq.f64", b1, difference.operand, ZERO)


def _modf(b: Builder, name: str, args: list[Value], signature: Any) -> Value:
    ty = args[0].type if isinstance(args[0], Scalar | Constant) else f8
    value = convert(b, scalar(b, args[0]), f8, counted=False)
    whole = b.value("trunc.f64", f8, b.operand(value), retires=False)
    remainder = b.value("sub.f64", f8, b.operand(value), whole.operand, retires=False)
    infinite = b.value("isinf.f64", b1, b.operand(value), retires=False)
    finite = b.value("selp", f8, ZERO, remainder.operand, infinite.operand, retires=False)
    fraction = b.value("copysign.f64", f8, finite.operand, b.operand(value))
    return Tuple((convert(b, fraction, ty, counted=False), convert(b, whole, ty, counted=False)))


def _ldexp(b: Builder, name: str, args: list[Value], signature: Any) -> Value:
    exponent = convert(b, scalar(b, args[1]), f8, counted=False)
    power = b.value("pow.f64", f8, b.operand(Constant(f8, 2.0)), b.operand(exponent), retires=False)
    return float64_op(b, "mul", signature.return_type, scalar(b, args[0]), power)


_MATH_UNARY = {
    "sqrt": "sqrt", "exp": "exp", "expm1": "expm1", "log": "log", "log2": "log2", "log10": "log10",
    "log1p": "log1p", "sin": "sin", "cos": "cos", "tan": "tan", "asin": "asin", "acos": "acos",
    "atan": "atan", "sinh": "sinh", "cosh": "cosh", "tanh": "tanh",
    "asinh": "asinh", "acosh": "acosh", "atanh": "atanh",
    "erf": "erf", "erfc": "erfc", "gamma": "gamma", "lgamma": "lgamma",
    "floor": "floor", "ceil": "ceil", "trunc": "trunc", "fabs": "abs",
}  # fmt: skip

_NUMPY = {
    "sqrt": "sqrt", "exp": "exp", "expm1": "expm1", "log": "log", "log2": "log2", "log10": "log10",
    "log1p": "log1p", "sin": "sin", "cos": "cos", "tan": "tan", "arcsin": "asin", "arccos": "acos",
    "arctan": "atan", "sinh": "sinh", "cosh": "cosh", "tanh": "tanh", "arcsinh": "asinh", "arccosh": "acosh",
    "arctanh": "atanh", "floor": "floor", "ceil": "ceil", "trunc": "trunc", "fabs": "fabs",
}  # fmt: skip
"""NumPy functions on scalars and the math function each is."""


def _rows() -> list[Intrinsic]:
    return [
        Intrinsic("cuda.grid", _grid, (1,)),
        Intrinsic("cuda.gridsize", _grid, (1,)),
        Intrinsic("cuda.syncthreads", _syncthreads, (0,)),
        *(Intrinsic(f"cuda.syncthreads_{kind}", _syncthreads_vote, (1,)) for kind in ("count", "and", "or")),
        Intrinsic("cuda.syncwarp", _syncwarp, (0, 1)),
        *(Intrinsic(f"cuda.threadfence{scope}", _fence, (0,)) for scope in ("", "_block", "_system")),
        Intrinsic("cuda.nanosleep", _nanosleep, (1,)),
        *(Intrinsic(name, _shuffle, (3,), tuple(t(i4, t, i4) for t in _SHUFFLED)) for name in _SHUFFLES),
        Intrinsic(
            "cuda.shfl_sync_intrinsic",
            _shuffle_intrinsic,
            (5,),
            tuple(containers.Tuple((t, b1))(i4, i4, t, i4, i4) for t in _SHUFFLED),
        ),
        *(Intrinsic(name, _vote, (2,)) for name in _VOTE_OF),
        Intrinsic("cuda.vote_sync_intrinsic", _vote_intrinsic, (3,)),
        Intrinsic("cuda.match_any_sync", _match_any, (2,), tuple(i4(i4, t) for t in _SHUFFLED)),
        Intrinsic("cuda.match_all_sync", _match_all, (2,), tuple(containers.Tuple((i4, b1))(i4, t) for t in _SHUFFLED)),
        Intrinsic("cuda.activemask", _activemask, (0,)),
        Intrinsic("cuda.lanemask_lt", _lanemask_lt, (0,)),
        Intrinsic("cuda.popc", _popc, (1,), tuple(t(t) for t in _INTEGERS)),
        Intrinsic("cuda.clz", _clz, (1,), tuple(t(t) for t in _INTEGERS)),
        Intrinsic("cuda.ffs", _ffs, (1,), tuple(u4(t) for t in _INTEGERS)),
        Intrinsic("cuda.brev", _brev, (1,), (u4(u4), u8(u8))),
        Intrinsic("cuda.fma", _fma, (3,), (f4(f4, f4, f4), f8(f8, f8, f8))),
        Intrinsic("cuda.selp", _selp, (3,)),
        *(
            Intrinsic(f"cuda.atomic.{name}", _atomic, (3,))
            for name in [
                "add",
                "sub",
                "and_",
                "or_",
                "xor",
                "inc",
                "dec",
                "exch",
                "max",
                "min",
                "nanmax",
                "nanmin",
                "compare_and_swap",
            ]
        ),
        Intrinsic("cuda.atomic.cas", _atomic, (4,)),
        Intrinsic("min", minmax, tuple(range(1, 65))),
        Intrinsic("max", minmax, tuple(range(1, 65))),
        *(
            Intrinsic(f"operator.{row.function.__name__}", _operator(text), (2,))
            for text, row in (BINARY | COMPARISONS).items()
        ),
        Intrinsic("abs", absolute, (1,)),
        Intrinsic("round", rounded, (1, 2)),
        Intrinsic("pow", _operator("**"), (2,)),
        *(Intrinsic(f"math.{name}", _math(stem), (1,), _UNARY) for name, stem in _MATH_UNARY.items()),
        Intrinsic("math.atan2", _math("atan2"), (2,), _BINARY_INT),
        Intrinsic("math.hypot", _math("hypot"), (2,), _BINARY_INT),
        Intrinsic("math.copysign", _math("copysign"), (2,), _BINARY),
        Intrinsic("math.fmod", _math("fmod"), (2,), _BINARY),
        Intrinsic("math.pow", _math("pow"), (2,), (*_BINARY, f4(f4, i4), f8(f8, i4))),
        Intrinsic("math.degrees", _scaled(180.0 / math.pi), (1,), _UNARY),
        Intrinsic("math.radians", _scaled(math.pi / 180.0), (1,), _UNARY),
        *(Intrinsic(f"math.{name}", _float_test, (1,), _TEST) for name in ("isnan", "isinf", "isfinite")),
        Intrinsic("math.modf", _modf, (1,), tuple(containers.UniTuple(t, 2)(t) for t in (f8, f4))),
        Intrinsic("math.ldexp", _ldexp, (2,), (f4(f4, i4), f8(f8, i4))),
    ]


INTRINSICS = {row.name: row for row in _rows()}
"""Every callable by name: ``cuda.atomic.add``, ``math.sqrt``, ``min``."""


def _by_object() -> dict[Any, Intrinsic]:
    table: dict[Any, Intrinsic] = {function: INTRINSICS[function.__name__] for function in (min, max, abs, round, pow)}
    for name, intrinsic in INTRINSICS.items():
        if name.startswith("math."):
            table[getattr(math, name.removeprefix("math."))] = intrinsic
    operations = [row.function for row in BINARY.values()] + [row.function for row in COMPARISONS.values()]
    for function in operations:
        table[function] = INTRINSICS[f"operator.{function.__name__}"]
    for name, equivalent in _NUMPY.items():
        table[getattr(np, name)] = INTRINSICS[f"math.{equivalent}"]
    table[np.abs] = INTRINSICS["abs"]
    return table


_OBJECTS = _by_object()


def find(value: Object) -> Intrinsic | None:
    """The intrinsic that *value* is, by its dialect name or as a Python object."""
    if value.symbol is not None:
        return INTRINSICS.get(f"cuda.{value.symbol}")
    try:
        return _OBJECTS.get(value.value)
    except TypeError:
        return None


def attribute_register(b: Builder, symbol: str) -> Value | None:
    """The value of a name that is a register: ``threadIdx.x``, ``laneid``, ``warpsize``; else None."""
    if symbol == "laneid":
        return special_register(b, "laneid")
    if symbol == "warpsize":
        return Constant(i4, 32)
    base, _, axis = symbol.partition(".")
    if base in DIMENSIONS and axis in ("x", "y", "z"):
        return special_register(b, f"{DIMENSIONS[base]}.{axis}")
    return None
