"""Unset variables at their use; and where it is stored, is an address or decides a branch, what comes from nowhere.

That is what a shuffle read from nobody, and in machine code what a load read from local memory that nobody has written.
"""

from __future__ import annotations

import numpy as np

from simt.machine import events as V
from simt.ops.memory import LOCAL
from simt.ops.scalar import FULL, lowest
from simt.sanitizer import layout as Z
from simt.sanitizer.jit import jit
from simt.sanitizer.places import found


@jit
def register_at(HEAD, place, w, number):
    """Where a watched register of a warp stands in REGISTERS."""
    return ((place * HEAD[Z.H_WARPS] + w) * HEAD[Z.H_REGISTERS] + number) * Z.N_REGISTER


@jit
def _put(REGISTERS, at, written, mask, by):
    """Some of the lanes that write a register get what has no value; the others have one."""
    REGISTERS[at] = (REGISTERS[at] & ~written) | (mask & written)
    if mask & written:
        REGISTERS[at + 1] = by


@jit
def judge_registers(EVENTS, at, place, HEAD, REGISTERS, USES, FOUND):
    """A micro-op with watched registers; a shuffle's lanes are judged by :func:`judge_shuffled`."""
    pc, block, w = EVENTS[at + V.V_PC], EVENTS[at + V.V_BLOCK], EVENTS[at + V.V_WARP]
    lanes, chosen = EVENTS[at + V.V_LANES], EVENTS[at + V.V_WHAT]
    use = pc * Z.N_USE
    how = USES[use + Z.U_HOW]
    unset = np.int64(0)
    unset_by = np.int64(0)
    undefined = np.int64(0)
    undefined_by = np.int64(0)
    for k in range(Z.U_READS, Z.U_SETS):
        number = USES[use + k]
        if number < 0:
            break
        row = register_at(HEAD, place, w, number)
        if REGISTERS[row + Z.G_UNSET] & lanes:
            unset |= REGISTERS[row + Z.G_UNSET] & lanes
            unset_by = REGISTERS[row + Z.G_UNSET_BY]
        relevant = lanes
        if how & Z.HOW == Z.CHOOSES:
            relevant = lanes & chosen if number == USES[use + Z.U_FIRST] else lanes & ~chosen
        if REGISTERS[row + Z.G_UNDEFINED] & relevant:
            undefined |= REGISTERS[row + Z.G_UNDEFINED] & relevant
            undefined_by = REGISTERS[row + Z.G_UNDEFINED_BY]
    if unset and how & Z.IS_USE:
        for l in range(32):
            if (unset >> l) & 1:
                found(Z.UNSET, pc, block, w, l, -1, -1, -1, 0, 0, 0, unset_by, HEAD, FOUND)
        unset = np.int64(0)
    if undefined:
        lane = lowest(undefined)
        if undefined_by & Z.LOADED:
            if how & Z.HOW == Z.ENDS or how & Z.HOW == Z.DEFINES:
                load, offset = undefined_by & ((1 << Z.PC_BITS) - 1), (undefined_by & ~Z.LOADED) >> Z.PC_BITS
                found(
                    Z.UNWRITTEN, load, block, w, lane, pc, block, w * 32 + lane, offset, 0, LOCAL, 0, HEAD, FOUND
                )  # fmt: skip
        elif how & Z.HOW == Z.ENDS and HEAD[Z.H_TOOLS] & Z.SYNC:
            shuffle, source = undefined_by & 0xFFFFFFFF, undefined_by >> 32
            found(Z.SOURCE_LANE, shuffle, block, w, lane, pc, block, w * 32 + lane, 0, 0, 0, source, HEAD, FOUND)
    if how & Z.IS_UNSET:
        unset, unset_by = lanes, pc
    if how & Z.HOW == Z.DEFINES:
        undefined = np.int64(0)
    elif how & Z.HOW == Z.TO_ALL and undefined:
        undefined = lanes
    written = np.int64(FULL) if how & Z.IS_UNIFORM else lanes
    if how & Z.IS_UNIFORM:
        unset = written if unset else unset
        undefined = written if undefined else undefined
    for k in range(Z.U_SETS, Z.N_USE):
        number = USES[use + k]
        if number < 0:
            break
        row = register_at(HEAD, place, w, number)
        _put(REGISTERS, row + Z.G_UNSET, written, unset, unset_by)
        if how & Z.HOW != Z.SHUFFLES:
            _put(REGISTERS, row + Z.G_UNDEFINED, written, undefined, undefined_by)


@jit
def put_loaded(pc, place, w, l, offset, HEAD, REGISTERS, USES):
    """Lane *l* of a load got what nobody has written."""
    for k in range(Z.U_SETS, Z.N_USE):
        number = USES[pc * Z.N_USE + k]
        if number >= 0:
            row = register_at(HEAD, place, w, number)
            REGISTERS[row + Z.G_UNDEFINED] |= np.int64(1) << l
            REGISTERS[row + Z.G_UNDEFINED_BY] = Z.LOADED | offset << Z.PC_BITS | pc


@jit
def judge_shuffled(pc, place, w, lanes, l, source, HEAD, REGISTERS, USES):
    """Lane *l* of a shuffle reads from lane *source*: whether that gives it something; else where that came from."""
    if not (lanes >> source) & 1:
        return pc | source << 32
    number = USES[pc * Z.N_USE + Z.U_FIRST]
    if number >= 0:
        row = register_at(HEAD, place, w, number)
        if (REGISTERS[row + Z.G_UNDEFINED] >> source) & 1:
            return REGISTERS[row + Z.G_UNDEFINED_BY]
    return np.int64(-1)


@jit
def put_shuffled(pc, place, w, lanes, undefined, by, HEAD, REGISTERS, USES):
    """The result of a shuffle: *undefined* lanes got nothing."""
    for k in range(Z.U_SETS, Z.N_USE):
        number = USES[pc * Z.N_USE + k]
        if number >= 0:
            _put(REGISTERS, register_at(HEAD, place, w, number) + Z.G_UNDEFINED, lanes, undefined, by)
