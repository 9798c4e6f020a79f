"""Vectors of words in LLVM's terms, for what :mod:`simt.timing.ready` and :mod:`simt.timing.ways` ask at once."""

from __future__ import annotations

from typing import Any

from llvmlite import ir
from numba.core import cgutils, types
from numba.extending import intrinsic

from simt.machine.vectors import I64, in_all_lanes, mask_of, slots, spread
from simt.ops.arrays import load_some
from simt.timing.layout import NEVER


def reduced(builder: Any, how: str, words: Any, lanes: int) -> Any:
    """One word of all: ``how`` is LLVM's name of what two become one by."""
    kind = ir.FunctionType(I64, [slots(lanes)])
    function = cgutils.get_or_insert_function(builder.module, kind, f"llvm.vector.reduce.{how}.v{lanes}i64")
    return builder.call(function, [words])


def comparison(how: str, lanes: int) -> Any:
    """An intrinsic (words, first, word): which of so many words from number *first* on are *how* as *word*: bits."""

    @intrinsic
    def found(typingctx: Any, words: Any, first: Any, word: Any) -> Any:
        def codegen(context: Any, builder: Any, sig: Any, args: Any) -> Any:
            those = load_some(context, builder, sig.args[0], args[0], args[1], lanes)
            return mask_of(builder, builder.icmp_signed(how, those, in_all_lanes(builder, args[2], lanes)), lanes)

        return types.int64(words, types.int64, types.int64), codegen

    return found


def least_of(lanes: int) -> Any:
    """An intrinsic (words, first, bits): the least of those of so many words whose *bits* are set, or NEVER."""

    @intrinsic
    def found(typingctx: Any, words: Any, first: Any, bits: Any) -> Any:
        def codegen(context: Any, builder: Any, sig: Any, args: Any) -> Any:
            those = load_some(context, builder, sig.args[0], args[0], args[1], lanes)
            chosen = builder.select(spread(builder, args[2], lanes), those, in_all_lanes(builder, I64(NEVER), lanes))
            return reduced(builder, "smin", chosen, lanes)

        return types.int64(words, types.int64, types.int64), codegen

    return found
