"""Where the engine calls the native code of a Program: see :mod:`simt.machine.compiled`.

The two talk through ``s.NATIVE`` (int64, columns ``V_...`` of layout.py): the engine says which warp, which micro-op
and how many of them at most; native code, where it stopped and what it retired.
"""

from __future__ import annotations

import ctypes
from typing import Any

import numpy as np
from llvmlite import ir
from numba.core import types
from numba.extending import intrinsic

from simt.machine import layout as L
from simt.ops.arrays import address
from simt.ops.jit import jit, jit_part

_I64 = ir.IntType(64)


@intrinsic
def _address(typingctx: Any, array: Any) -> Any:
    """Where the elements of an array stand."""

    def codegen(context: Any, builder: Any, signature: Any, args: Any) -> Any:
        return builder.ptrtoint(address(context, builder, array, args[0]), _I64)

    return types.int64(array), codegen


def _calling(builder: Any, address: Any, arguments: Any) -> Any:
    """Call the function of slots at an address."""
    kind = ir.FunctionType(_I64, [_I64] * len(arguments))
    return builder.call(builder.inttoptr(address, kind.as_pointer()), arguments)


@intrinsic
def _call(typingctx: Any, address: Any, context: Any) -> Any:
    """Call the function at an address with a context."""
    return types.int64(types.int64, types.int64), lambda _, builder, __, args: _calling(builder, args[0], args[1:])


@intrinsic
def _call_run(typingctx: Any, address: Any, context: Any, warp: Any, active: Any) -> Any:
    """The same with a warp and its active lanes."""
    kind = types.int64(types.int64, types.int64, types.int64, types.int64)
    return kind, lambda _, builder, __, args: _calling(builder, args[0], args[1:])


def _address_of(array):
    return _address(array)


def _called(address, context):
    return _call(address, context)


def _called_run(address, context, warp, active):
    return _call_run(address, context, warp, active)


def _plain_address_of(array):
    return np.int64(array.ctypes.data)


def _plainly_called(address, *arguments):
    kind = ctypes.CFUNCTYPE(ctypes.c_int64, *[ctypes.c_int64] * len(arguments))
    return np.int64(kind(int(address))(*map(int, arguments)))


_place = jit(_address_of, inline=True, plain=_plain_address_of)
_enter = jit(_called, inline=True, plain=_plainly_called)
_enter_run = jit(_called_run, inline=True, plain=_plainly_called)

RETIRED, EXECUTED = 32, 48
"""Where the result of a run has its instructions, and its micro-ops; below them stands the micro-op that follows."""


@jit_part
def run_native(pc, active, end, executed, retired, s):
    """Run the current split of warp V_WARP from micro-op *pc* on, in a turn of *end* micro-ops.

    *executed* and *retired* say what that turn has come to; V_LEFT and V_RETIRED what it comes to, and V_PC the
    micro-op at which native code stopped.  Returns what the engine goes on with: that micro-op, what a control
    micro-op came to (RESUME or LEAVE), or ENDED.  In between others may have run: see :func:`simt.machine.turns.turn`.
    """
    NATIVE = s.NATIVE
    NATIVE[L.V_PC] = pc
    NATIVE[L.V_ACTIVE] = active
    NATIVE[L.V_END] = end
    NATIVE[L.V_LEFT] = end - executed
    NATIVE[L.V_RETIRED] = retired
    return _enter(NATIVE[L.V_CODE], _place(NATIVE))


@jit_part
def left_by_native(NATIVE):
    """Where native code stopped: warp and micro-op, active lanes, how many lanes have exited and are absent."""
    return NATIVE[L.V_WARP], NATIVE[L.V_PC], NATIVE[L.V_ACTIVE], NATIVE[L.V_EXITED], NATIVE[L.V_ABSENT]


@jit_part
def turn_of_native(NATIVE):
    """The turn in which it stopped: its micro-ops at most, those executed, and instructions retired."""
    return NATIVE[L.V_END], NATIVE[L.V_END] - NATIVE[L.V_LEFT], NATIVE[L.V_RETIRED]


@jit_part
def run_stretch(code, w, active, s):
    """Run native code of some micro-ops of warp *w*: the micro-op that follows, micro-ops and instructions executed.

    *code* is where it stands; V_CODE does not matter.
    """
    found = _enter_run(code, _place(s.NATIVE), w, active)
    below = (1 << RETIRED) - 1
    return found & below, found >> EXECUTED, (found >> RETIRED) & ((1 << (EXECUTED - RETIRED)) - 1)
