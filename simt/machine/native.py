"""Where the engine calls the native code of a Program: see :mod:`simt.machine.compiled`.

The two talk through ``s.NATIVE`` (int64, columns ``V_...`` of layout.py): the engine says which warp, which micro-op
and how many of them at most; native code, where it stopped and what it retired.  It executes micro-ops of the current
split and changes nothing but registers, predicates, memory and counters: all else the engine does.
"""

from __future__ import annotations

import ctypes
from typing import Any

import numpy as np
from llvmlite import ir
from numba.core import types
from numba.extending import intrinsic
from numba.np.arrayobj import make_array

from simt.machine import layout as L
from simt.ops.jit import jit, jit_part

_I64 = ir.IntType(64)


@intrinsic
def _address(typingctx: Any, array: Any) -> Any:
    """Where the elements of an array stand."""

    def codegen(context: Any, builder: Any, signature: Any, args: Any) -> Any:
        return builder.ptrtoint(make_array(signature.args[0])(context, builder, args[0]).data, _I64)

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
def hand_over(w, n_absent, s):
    """Tell native code where warp *w* has its registers and all else."""
    LAUNCH = s.LAUNCH
    NATIVE = s.NATIVE
    rows = w * LAUNCH[L.LAUNCH_REGISTERS] * 32
    NATIVE[L.V_WARP] = w
    NATIVE[L.V_ABSENT] = n_absent
    NATIVE[L.V_UNIFORM] = _place(s.R)
    NATIVE[L.V_ROWS] = _place(s.R) + 8 * rows
    NATIVE[L.V_ALL_PREDICATES] = _place(s.P)
    NATIVE[L.V_PREDICATES] = _place(s.P) + 8 * w * LAUNCH[L.LAUNCH_PREDICATES]
    NATIVE[L.V_PARTICIPANTS] = _place(s.PARTICIPANTS)
    NATIVE[L.V_WARPS] = _place(s.WARPS)
    NATIVE[L.V_SPLITS] = _place(s.SPLITS)
    NATIVE[L.V_BARRIERS] = _place(s.BARRIERS)
    NATIVE[L.V_LAUNCH] = _place(LAUNCH)


@jit_part
def run_native(pc, active, room, n_exited, s):
    """Run the current split from micro-op *pc* on, at most *room* micro-ops: how many were executed, and retired.

    NATIVE[V_PC] then says at which micro-op the engine goes on (it may be *pc*), or what the last one, of kind CONTROL,
    came to: RESUME or LEAVE (control.py).
    """
    NATIVE = s.NATIVE
    NATIVE[L.V_PC] = pc
    NATIVE[L.V_ACTIVE] = active
    NATIVE[L.V_ROOM] = room
    NATIVE[L.V_EXITED] = n_exited
    NATIVE[L.V_RETIRED] = 0
    executed = _enter(NATIVE[L.V_CODE], _place(NATIVE))
    return executed, NATIVE[L.V_RETIRED]
