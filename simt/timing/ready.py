"""What a scheduler asks of a GROUP of its warps at once: vectors of the host, which LLVM does not find by itself."""

from __future__ import annotations

from typing import Any

from llvmlite import ir
from numba.core import types
from numba.extending import intrinsic

from simt.machine.vectors import I64, in_all_lanes, mask_of, slots, spread
from simt.ops.arrays import load_some, store_some
from simt.ops.jit import jit
from simt.timing.gates import GROUP
from simt.timing.jit import FOLDER
from simt.timing.layout import KEY_TURN, NEVER
from simt.timing.vectors import comparison, least_of, reduced

_compared, _least = comparison("<=", GROUP), least_of(GROUP)


@intrinsic
def _either(typingctx: Any, words: Any, first: Any, bits: Any) -> Any:
    def codegen(context: Any, builder: Any, sig: Any, args: Any) -> Any:
        found = load_some(context, builder, sig.args[0], args[0], args[1], GROUP)
        chosen = builder.select(spread(builder, args[2], GROUP), found, ir.Constant(slots(GROUP), [0] * GROUP))
        return reduced(builder, "or", chosen, GROUP)

    return types.int64(words, types.int64, types.int64), codegen


@intrinsic
def _smallest(typingctx: Any, numbers: Any, first: Any, bits: Any, turn: Any) -> Any:
    def codegen(context: Any, builder: Any, sig: Any, args: Any) -> Any:
        found = load_some(context, builder, sig.args[0], args[0], args[1], GROUP)
        own = builder.add(ir.Constant(slots(GROUP), list(range(GROUP))), in_all_lanes(builder, args[3], GROUP))
        sign = builder.ashr(own, in_all_lanes(builder, I64(63), GROUP))
        late = builder.and_(sign, in_all_lanes(builder, I64(1 << KEY_TURN), GROUP))
        keys = builder.add(found, builder.add(own, late))
        keys = builder.select(spread(builder, args[2], GROUP), keys, in_all_lanes(builder, I64(NEVER), GROUP))
        least = in_all_lanes(builder, reduced(builder, "smin", keys, GROUP), GROUP)
        return mask_of(builder, builder.icmp_signed("==", keys, least), GROUP)

    return types.int64(numbers, types.int64, types.int64, types.int64), codegen


@intrinsic
def _counted(typingctx: Any, numbers: Any, first: Any, bits: Any) -> Any:
    def codegen(context: Any, builder: Any, sig: Any, args: Any) -> Any:
        before = load_some(context, builder, sig.args[0], args[0], args[1], GROUP)
        after = builder.add(before, builder.zext(spread(builder, args[2], GROUP), slots(GROUP)))
        store_some(context, builder, sig.args[0], args[0], args[1], after)
        return context.get_dummy_value()

    return types.none(numbers, types.int64, types.int64), codegen


def _no_later(TIMES, first, now):
    return _compared(TIMES, first, now)


def _soonest(TIMES, first, left_out):
    return _least(TIMES, first, ~left_out)


def _joined(WORDS, first, bits):
    return _either(WORDS, first, bits)


def _foremost(KEYS, first, bits, turn):
    return _smallest(KEYS, first, bits, turn)


def _count(NUMBERS, first, bits):
    _counted(NUMBERS, first, bits)


def _plain_no_later(TIMES, first, now):
    mask = 0
    for k in range(GROUP):
        mask |= int(TIMES[first + k] <= now) << k
    return mask


def _plain_soonest(TIMES, first, left_out):
    return min((TIMES[first + k] for k in range(GROUP) if not (left_out >> k) & 1), default=NEVER)


def _plain_joined(WORDS, first, bits):
    found = 0
    for k in range(GROUP):
        found |= int(WORDS[first + k]) * ((bits >> k) & 1)
    return found


def _plain_foremost(KEYS, first, bits, turn):
    chosen = [k for k in range(GROUP) if (bits >> k) & 1]
    return 1 << min(chosen, key=lambda k: KEYS[first + k] + turn + k + (int(turn + k < 0) << KEY_TURN))


def _plain_count(NUMBERS, first, bits):
    for k in range(GROUP):
        NUMBERS[first + k] += (bits >> k) & 1


no_later = jit(_no_later, inline=True, folder=FOLDER, plain=_plain_no_later)
"""``no_later(TIMES, first, now)``: which of a GROUP of times from number *first* on are no later than *now*: bits."""
soonest = jit(_soonest, inline=True, folder=FOLDER, plain=_plain_soonest)
"""``soonest(TIMES, first, left_out)``: the least of a GROUP of times but for those *left_out* (bits); NEVER: none."""
joined = jit(_joined, inline=True, folder=FOLDER, plain=_plain_joined)
"""``joined(WORDS, first, bits)``: the bits of those of a GROUP of words whose bits are set, together."""
foremost = jit(_foremost, inline=True, folder=FOLDER, plain=_plain_foremost)
"""``foremost(KEYS, first, bits, turn)``: of a GROUP of keys whose *bits* are set the least, each with its turn: a bit.

*turn* is that of the first of the group, each behind it has one more; negative ones come after all others.
"""
count = jit(_count, inline=True, folder=FOLDER, plain=_plain_count)
"""``count(NUMBERS, first, bits)``: add one to those of a GROUP of numbers whose bits are set."""
