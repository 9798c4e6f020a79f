"""Shuffles, votes and matches of a warp."""

from __future__ import annotations

from typing import Any

from numba.core.types import containers

from simt.lang.block_functions import warp_mask
from simt.lang.builder import Builder
from simt.lang.convert import ScalarValue, scalar, truth
from simt.lang.diagnostics import wrong
from simt.lang.intrinsic import Intrinsic, b1, f4, f8, i4, i8, special_register, u4
from simt.lang.ir import PREDICATE, REGISTER, PredRef, VReg
from simt.lang.values import Constant, Scalar, Tuple, Value
from simt.ops.encoding import MEETINGS

_SHUFFLES = {
    "cuda.shfl_sync": ("shfl.idx", 0x1F),
    "cuda.shfl_up_sync": ("shfl.up", 0),
    "cuda.shfl_down_sync": ("shfl.down", 0x1F),
    "cuda.shfl_xor_sync": ("shfl.bfly", 0x1F),
}
_SHUFFLE_MODES = ("shfl.idx", "shfl.up", "shfl.down", "shfl.bfly")
_SHUFFLED = (i4, i8, f4, f8)


def _gather(b: Builder, mask: Value, op: str) -> None:
    """Bring the lanes that *mask* names together before the ``_sync`` operation *op*; free of charge."""
    b.emit("warpsync", None, warp_mask(b, mask), mod=MEETINGS[op], retires=False)


def _emit_shuffle(b: Builder, op: str, value: ScalarValue, lane: ScalarValue, clamp: Value) -> tuple[Scalar, Scalar]:
    dst, in_range = VReg(REGISTER), VReg(PREDICATE)
    b.emit(op, dst, b.operand(value), b.operand(lane), b.operand(clamp), dst2=in_range)
    return Scalar(value.type, dst), Scalar(b1, PredRef(in_range))


def _shuffle(b: Builder, name: str, args: list[Value], _: Any) -> Value:
    mask, value, lane = (scalar(b, arg) for arg in args)
    op, clamp = _SHUFFLES[name]
    _gather(b, mask, op)
    return _emit_shuffle(b, op, value, lane, Constant(i4, clamp))[0]


def _shuffle_intrinsic(b: Builder, name: str, args: list[Value], _: Any) -> Value:
    mask, mode, value, lane, clamp = (scalar(b, arg) for arg in args)
    if not isinstance(mode, Constant) or not 0 <= mode.value < 4:
        wrong(b.place, "the mode of shfl_sync_intrinsic has to be a constant from 0 to 3")
    _gather(b, mask, _SHUFFLE_MODES[mode.value])
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
    _gather(b, args[0], _VOTE_OF[name])
    return _emit_vote(b, _VOTE_OF[name], condition)


def _vote_intrinsic(b: Builder, name: str, args: list[Value], _: Any) -> Value:
    mask, mode, condition = args
    if not isinstance(mode, Constant) or not 0 <= mode.value < 4:
        wrong(b.place, "the mode of vote_sync_intrinsic has to be a constant from 0 to 3")
    condition = truth(b, scalar(b, condition), counted=False)
    _gather(b, mask, _VOTES[mode.value])
    vote = _emit_vote(b, _VOTES[mode.value], condition)
    if vote.type == b1:
        return Tuple((Constant(i4, 0), vote))
    return Tuple((vote, Constant(b1, False)))


def _match_any(b: Builder, name: str, args: list[Value], _: Any) -> Value:
    _gather(b, args[0], "match.any")
    return _signed_mask(b, "match.any", b.operand(args[1]))


def _match_all(b: Builder, name: str, args: list[Value], _: Any) -> Value:
    _gather(b, args[0], "match.all")
    mask, same = VReg(REGISTER), VReg(PREDICATE)
    b.emit("match.all", mask, b.operand(args[1]), dst2=same)
    return Tuple((b.value("cvt.s32", i4, mask, retires=False), Scalar(b1, PredRef(same))))


def _activemask(b: Builder, name: str, args: list[Value], _: Any) -> Value:
    return b.value("activemask", u4)


def _lanemask_lt(b: Builder, name: str, args: list[Value], _: Any) -> Value:
    return special_register(b, "lanemask_lt", u4)


ROWS = [
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
]
