"""How host threads tell each other how far they are, by words of memory, written and read in order; and a hint."""

from __future__ import annotations

import platform
from typing import Any

from llvmlite import ir
from numba.core import cgutils, config, types
from numba.extending import intrinsic

from simt.ops.arrays import address, kept_window
from simt.ops.jit import jit_part

_I32, _I64 = ir.IntType(32), ir.IntType(64)
_REST = "llvm.x86.sse2.pause" if platform.machine().lower() in ("x86_64", "amd64") else ""
"""LLVM's name of the instruction of a processor for a loop that waits; other than on x86 there is none in use."""


def _word(context: Any, builder: Any, sig: Any, args: Any) -> Any:
    return builder.gep(address(context, builder, sig.args[0], args[0]), [args[1]])


@intrinsic
def _load(typingctx: Any, array: Any, index: Any) -> Any:
    def codegen(context: Any, builder: Any, sig: Any, args: Any) -> Any:
        return builder.load_atomic(_word(context, builder, sig, args), "acquire", 8)

    return types.int64(array, types.int64), codegen


@intrinsic
def _store(typingctx: Any, array: Any, index: Any, value: Any) -> Any:
    def codegen(context: Any, builder: Any, sig: Any, args: Any) -> Any:
        builder.store_atomic(args[2], _word(context, builder, sig, args), "release", 8)
        return context.get_dummy_value()

    return types.none(array, types.int64, types.int64), codegen


@intrinsic
def _count(typingctx: Any, array: Any, index: Any) -> Any:
    def codegen(context: Any, builder: Any, sig: Any, args: Any) -> Any:
        return builder.atomic_rmw("add", _word(context, builder, sig, args), ir.Constant(_I64, 1), "acq_rel")

    return types.int64(array, types.int64), codegen


@intrinsic
def _exchange(typingctx: Any, array: Any, index: Any, before: Any, value: Any) -> Any:
    def codegen(context: Any, builder: Any, sig: Any, args: Any) -> Any:
        word = _word(context, builder, sig, args)
        return builder.extract_value(builder.cmpxchg(word, args[2], args[3], "seq_cst"), 1)

    return types.boolean(array, types.int64, types.int64, types.int64), codegen


@intrinsic
def _rest(typingctx: Any) -> Any:
    def codegen(context: Any, builder: Any, sig: Any, args: Any) -> Any:
        if _REST:
            kind = ir.FunctionType(ir.VoidType(), [])
            builder.call(cgutils.get_or_insert_function(builder.module, kind, _REST), [])
        return context.get_dummy_value()

    return types.none(), codegen


@intrinsic
def _hint(typingctx: Any, array: Any, index: Any) -> Any:
    def codegen(context: Any, builder: Any, sig: Any, args: Any) -> Any:
        word = builder.bitcast(_word(context, builder, sig, args), ir.IntType(8).as_pointer())
        kind = ir.FunctionType(ir.VoidType(), [word.type, _I32, _I32, _I32])
        fetch = builder.module.declare_intrinsic("llvm.prefetch", [word.type], kind)
        builder.call(fetch, [word, *(_I32(k) for k in (1, 3, 1))])  # to write; to stay; data
        return context.get_dummy_value()

    return types.none(array, types.int64), codegen


def _own(group, s, t):
    return s, t


def _kept(group, s, t):
    return kept_window(s, t.STATES, group), kept_window(t, t.CLOCKS, group)


def _published(words, k):
    return _load(words, k)


def _publish(words, k, value):
    _store(words, k, value)


def _counted(words, k):
    return _count(words, k)


def _exchanged(words, k, before, value):
    return _exchange(words, k, before, value)


def _wanted(words, k):
    _hint(words, k)


def _pause():
    _rest()


def _plain_published(words, k):
    return words[k]


def _plain_publish(words, k, value):
    words[k] = value


def _plain_counted(words, k):
    words[k] += 1
    return words[k] - 1


def _plain_exchanged(words, k, before, value):
    words[k] = value
    return True


def _plain_wanted(words, k):
    pass


def _plain_pause():
    pass


member = jit_part(_own if config.BOUNDSCHECK else _kept, plain=_own)
"""State and Clock of a group of SMs (:mod:`simt.timing.crew`)."""
published = jit_part(_published, plain=_plain_published)
"""Word *k*: what its thread wrote before the word is there, too."""
publish = jit_part(_publish, plain=_plain_publish)
"""Set word *k*, after all that this thread wrote before."""
counted = jit_part(_counted, plain=_plain_counted)
"""Add one to word *k*, all that this thread wrote before being there: what it was.  No two threads get the same."""
exchanged = jit_part(_exchanged, plain=_plain_exchanged)
"""Set word *k* if it is what it was *before*; whether it was."""
wanted = jit_part(_wanted, plain=_plain_wanted)
"""Tell the processor that word *k* is wanted soon: other threads, or nobody, had it last."""
pause = jit_part(_pause, plain=_plain_pause)
"""Rest for a moment, in a loop that waits."""
