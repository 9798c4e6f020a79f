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


@intrinsic
def _call(typingctx: Any, address: Any, argument: Any) -> Any:
    """Call the function at an address with an address."""

    def codegen(context: Any, builder: Any, signature: Any, args: Any) -> Any:
        function = builder.inttoptr(args[0], ir.FunctionType(_I64, [_I64]).as_pointer())
        return builder.call(function, [args[1]])

    return types.int64(types.int64, types.int64), codegen


def _address_of(array):
    return _address(array)


def _called(address, argument):
    return _call(address, argument)


def _plain_address_of(array):
    return np.int64(array.ctypes.data)


def _plainly_called(address, argument):
    return np.int64(ctypes.CFUNCTYPE(ctypes.c_int64, ctypes.c_int64)(int(address))(int(argument)))


_place = jit(_address_of, inline=True, plain=_plain_address_of)
_enter = jit(_called, inline=True, plain=_plainly_called)


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
