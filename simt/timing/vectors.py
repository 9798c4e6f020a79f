"""Vectors of words in LLVM's terms, for what :mod:`simt.timing.ready` and :mod:`simt.timing.ways` ask at once."""

from __future__ import annotations

from typing import Any

from llvmlite import ir
from numba.core import cgutils, types
from numba.extending import intrinsic

from simt.ops.arrays import load_some
from simt.timing.layout import NEVER

WORD = ir.IntType(64)


def of_words(lanes: int) -> Any:
    """The type of so many words."""
    return ir.VectorType(WORD, lanes)


def each(builder: Any, value: Any, lanes: int) -> Any:
    """A vector of the same word."""
    one = builder.insert_element(ir.Constant(of_words(lanes), ir.Undefined), value, ir.IntType(32)(0))
    return builder.shuffle_vector(one, one, ir.Constant(ir.VectorType(ir.IntType(32), lanes), [0] * lanes))


def spread(builder: Any, bits: Any, lanes: int) -> Any:
    """A truth value for each of the bits of a word."""
    return builder.bitcast(builder.trunc(bits, ir.IntType(lanes)), ir.VectorType(ir.IntType(1), lanes))


def gathered(builder: Any, truths: Any, lanes: int) -> Any:
    """A word with a bit for each of so many truth values."""
    return builder.zext(builder.bitcast(truths, ir.IntType(lanes)), WORD)


def reduced(builder: Any, how: str, words: Any, lanes: int) -> Any:
    """One word of all: ``how`` is LLVM's name of what two become one by."""
    kind = ir.FunctionType(WORD, [of_words(lanes)])
    function = cgutils.get_or_insert_function(builder.module, kind, f"llvm.vector.reduce.{how}.v{lanes}i64")
    return builder.call(function, [words])


def comparison(how: str, lanes: int) -> Any:
    """An intrinsic (words, first, word): which of so many words from number *first* on are *how* as *word*: bits."""

    @intrinsic
    def found(typingctx: Any, words: Any, first: Any, word: Any) -> Any:
        def codegen(context: Any, builder: Any, sig: Any, args: Any) -> Any:
            those = load_some(context, builder, sig.args[0], args[0], args[1], lanes)
            return gathered(builder, builder.icmp_signed(how, those, each(builder, args[2], lanes)), lanes)

        return types.int64(words, types.int64, types.int64), codegen

    return found


def least_of(lanes: int) -> Any:
    """An intrinsic (words, first, bits): the least of those of so many words whose *bits* are set, or NEVER."""

    @intrinsic
    def found(typingctx: Any, words: Any, first: Any, bits: Any) -> Any:
        def codegen(context: Any, builder: Any, sig: Any, args: Any) -> Any:
            those = load_some(context, builder, sig.args[0], args[0], args[1], lanes)
            chosen = builder.select(spread(builder, args[2], lanes), those, each(builder, WORD(NEVER), lanes))
            return reduced(builder, "smin", chosen, lanes)

        return types.int64(words, types.int64, types.int64), codegen

    return found
