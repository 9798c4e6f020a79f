"""The grid, barriers and fences."""

from __future__ import annotations

from typing import Any

from simt.lang import numba_types as nt
from simt.lang.builder import Builder
from simt.lang.convert import convert, scalar, truth
from simt.lang.diagnostics import wrong
from simt.lang.intrinsic import Intrinsic, b1, i4, i8, special_register, u4
from simt.lang.ir import ZERO, PredRef, UniformRef, VReg
from simt.lang.values import NONE, Constant, GridGroup, Tuple, Value
from simt.ops.encoding import FENCE, GRID_BARRIER, MEETINGS, SCOPES, SPECIAL_REGISTERS
from simt.program import FULL_MASK


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


_FENCES = {"": "device", "_block": "block", "_system": "system"}


def _fence(b: Builder, name: str, args: list[Value], _: Any) -> Value:
    b.emit("nop", mod=FENCE, imm=SCOPES.index(_FENCES[name.removeprefix("cuda.threadfence")]))
    return NONE


def _nanosleep(b: Builder, name: str, args: list[Value], _: Any) -> Value:
    b.emit("nop")
    return NONE


def _syncthreads(b: Builder, name: str, args: list[Value], _: Any) -> Value:
    b.emit("bar.sync")
    return NONE


def _this_grid(b: Builder, name: str, args: list[Value], _: Any) -> Value:
    return GridGroup()


def grid_barrier(b: Builder) -> Value:
    """grid.sync(), one instruction: the block meets, its first thread waits for the other blocks, it meets again."""
    b.emit("bar.sync")
    axes = [b.value("sreg", i4, imm=SPECIAL_REGISTERS.index(f"tid.{axis}"), retires=False).operand for axis in "xyz"]
    plane = b.value("or.b64", i4, axes[0], axes[1], retires=False).operand
    index = b.value("or.b64", i4, plane, axes[2], retires=False).operand
    is_first = b.value("eq.s64", b1, index, ZERO, retires=False).operand
    assert isinstance(is_first, PredRef)
    b.system_call(GRID_BARRIER, [ZERO]).guard = is_first
    b.emit("bar.sync", retires=False)
    return Constant(i4, 0)


def _syncthreads_vote(b: Builder, name: str, args: list[Value], _: Any) -> Value:
    value = scalar(b, args[0])
    if nt.storage_class(value.type) != nt.INT:
        wrong(b.place, f"{name} takes an integer, not {value.type}", help="convert it first, e.g. int32(x > 0)")
    condition = b.operand(truth(b, convert(b, value, i4), counted=False))
    if name == "cuda.syncthreads_count":
        return b.value("bar.red.popc", i4, condition)
    result = b.value(f"bar.red.{name.rsplit('_')[-1]}", b1, condition)
    return convert(b, result, i4, counted=False)


def warp_mask(b: Builder, mask: Value) -> VReg | UniformRef:
    operand = b.operand(convert(b, scalar(b, mask), u4, counted=False))
    assert isinstance(operand, VReg | UniformRef)
    return operand


def _syncwarp(b: Builder, name: str, args: list[Value], _: Any) -> Value:
    b.emit("warpsync", None, warp_mask(b, args[0] if args else Constant(u4, FULL_MASK)), mod=MEETINGS["syncwarp"])
    return NONE


ROWS = [
    Intrinsic("cuda.grid", _grid, (1,)),
    Intrinsic("cuda.gridsize", _grid, (1,)),
    Intrinsic("cuda.syncthreads", _syncthreads, (0,)),
    *(Intrinsic(f"cuda.syncthreads_{kind}", _syncthreads_vote, (1,)) for kind in ("count", "and", "or")),
    Intrinsic("cuda.cg.this_grid", _this_grid, (0,)),
    Intrinsic("cuda.syncwarp", _syncwarp, (0, 1)),
    *(Intrinsic(f"cuda.threadfence{scope}", _fence, (0,)) for scope in _FENCES),
    Intrinsic("cuda.nanosleep", _nanosleep, (1,)),
]
