"""The micro-ops of textures and surfaces: which texture or surface each lane means, and what becomes of it."""

from __future__ import annotations

import numpy as np

from simt.machine import images as I
from simt.machine import layout as L
from simt.machine.atomics import update
from simt.machine.surface import BYTES, SIZES, V2, V4, load, load_formatted, place, store
from simt.machine.texture import query, sample
from simt.machine.tiles import tiled
from simt.ops.encoding import ATOMIC_BYTES, Boundary
from simt.ops.jit import jit
from simt.ops.table import MICRO_OPS

TXQ = MICRO_OPS["txq"].code
SULD = MICRO_OPS["suld"].code
SUST = MICRO_OPS["sust"].code
SUATOM = MICRO_OPS["suatom"].code
_TRAP = Boundary.TRAP.value
_ATOMIC_SIZES = np.array(ATOMIC_BYTES)


@jit
def _image(handle, surface, TEXTURES):
    """Position of the row of a handle in the table, -1 if there is none of this kind."""
    number = (handle & 0xFFFFFFFF) // I.HANDLE_STEP - 1
    if (
        handle % I.HANDLE_STEP != 0
        or number < 0
        or number >= len(TEXTURES) // I.N_IMAGE
        or TEXTURES[number * I.N_IMAGE + I.X_SURFACE] != surface
    ):
        return -1
    return number * I.N_IMAGE


@jit
def _fail(reason, lane, value, extra, ERROR):
    ERROR[L.E_REASON] = reason
    ERROR[L.E_MASK] = np.int64(1) << lane
    ERROR[L.E_LANE] = lane
    ERROR[L.E_ADDRESS] = value
    ERROR[L.E_EXTRA] = extra
    return reason


@jit
def image_access(op, mod, form, a, b, c, exec_mask, s):
    """Execute one micro-op of textures or surfaces for the exec lanes; returns a reason (L.R_NONE if all went well).

    Operands: first coordinate row, handle row, row of offsets or data.  Results are left in rows of ``s.O``.
    The request says which texels these were, as the GPU keeps them.
    """
    ADDRESSES = s.ADDRESSES
    touched = np.int64(0)
    s.X[L.X_BYTES] = 0
    surface = np.int64(op >= SULD)
    if op == SUATOM:
        size = _ATOMIC_SIZES[mod & 15]
    else:
        size = SIZES[mod]
    for lane in range(32):
        ADDRESSES[lane] = 0
        if not (exec_mask >> lane) & 1:
            continue
        handle = s.R[b + np.uint64(lane)]
        at = _image(handle, surface, s.TEXTURES) if op != TXQ else _image(handle, np.int64(0), s.TEXTURES)
        if at < 0 and op == TXQ:
            at = _image(handle, np.int64(1), s.TEXTURES)
        if at < 0:
            return _fail(L.R_HANDLE, lane, handle, surface, s.ERROR)
        if op == TXQ:
            query(lane, form, at, s)
        elif not surface:
            position = sample(lane, op, a, s.R[c + np.uint64(lane)], form, at, s)
            if position >= 0:
                ADDRESSES[lane] = tiled(position, at, s.TEXTURES)
                touched |= np.int64(1) << lane
                s.X[L.X_BYTES] += s.TEXTURES[at + I.X_CHANNELS] * BYTES[s.TEXTURES[at + I.X_FORMAT]]
        else:
            if (form >> 6) & 1:
                size = s.TEXTURES[at + I.X_CHANNELS] * BYTES[s.TEXTURES[at + I.X_FORMAT]]
            position = place(a, lane, size, form, at, s)
            x = s.R[a + np.uint64(lane)]
            if position == -2:
                return _fail(L.R_MISALIGNED, lane, x, size, s.ERROR)
            if position == -1:
                if (form >> 3) & 3 == _TRAP:
                    return _fail(L.R_SURFACE, lane, handle, size, s.ERROR)
                if op == SULD:
                    for part in range(4):
                        s.O[32 * part + lane] = 0
                elif op == SUATOM:
                    s.O[lane] = 0
            else:
                if op == SULD and (form >> 6) & 1:
                    load_formatted(lane, position, at, s)
                elif op == SULD:
                    load(mod, lane, position, s)
                elif op == SUST:
                    store(mod, lane, c, position, form, at, s)
                ADDRESSES[lane] = position if op == SUATOM else tiled(position, at, s.TEXTURES)
                touched |= np.int64(1) << lane
                s.X[L.X_BYTES] += size
    if op == SUATOM and touched != 0:
        # update() leaves old values of its lanes only where they take part
        second = c + np.uint64(32)
        update(mod, s.R, s.O, c, second, ADDRESSES, touched, s.M32, s.M64, s.MF32, s.MF64, s.O32, False)
    _repeat(touched, ADDRESSES)
    return L.R_NONE


@jit
def _repeat(touched, ADDRESSES):
    """Lanes that touched nothing repeat the address of one that did."""
    for lane in range(32):
        if (touched >> lane) & 1:
            for other in range(32):
                if not (touched >> other) & 1:
                    ADDRESSES[other] = ADDRESSES[lane]
            return


@jit
def image_rows(op, mod, form):
    """Rows that a micro-op leaves."""
    if op <= TXQ:
        return (form & 1) + ((form >> 1) & 1) + ((form >> 2) & 1) + ((form >> 3) & 1)
    if op == SULD:
        return 4 if mod == V4 else 2 if mod == V2 else 1
    return 1 if op == SUATOM else 0
