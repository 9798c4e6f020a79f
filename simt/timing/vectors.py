"""Vectors of words in LLVM's terms, for what :mod:`simt.timing.ready` and :mod:`simt.timing.ways` ask at once."""

from __future__ import annotations

from typing import Any

from llvmlite import ir
from numba.core import cgutils

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
