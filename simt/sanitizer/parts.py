"""Words whose bytes were accessed apart: what racecheck remembers of each byte, in the cell of the word where it fits.

It fits if one thread, or lanes that follow each other, made the last write of the bytes in one execution, and so the
last read: then the cell has the thread of the first byte, which bytes are left out, and how the threads of the others
follow.  Else the word has a row of BYTES, with a cell for each byte, until they agree again.
"""

from __future__ import annotations

import numpy as np

from simt.sanitizer import layout as Z
from simt.sanitizer.jit import jit
from simt.sanitizer.races import WRITE_PART, forget, new_reader

_ONE, _LIST = Z.ONE << Z.READ_SHIFT, Z.LIST << Z.READ_SHIFT
_READ_PART = (1 << Z.WRITE_BYTES) - 1 & ~WRITE_PART
_BYTES, _FOLLOWS = 15, 4
"""In the bits from WRITE_BYTES and READ_BYTES on: the bytes that are left out, and above them how threads follow."""


@jit
def _step(follows, byte):
    """How many threads after that of byte 0 the one of another byte is: none, one for two bytes, one for each."""
    return (np.int64(0), np.int64(byte >> 1), np.int64(byte))[follows]


@jit
def _first(left_out):
    """The first byte that is not left out."""
    for k in range(4):
        if not (left_out >> k) & 1:
            return k
    return 0


@jit
def is_whole(cell, CELLS):
    """Whether the bytes of a word have all in common: it is as a word of a kernel without smaller accesses."""
    return CELLS[cell + Z.C_MORE] >> Z.WRITE_BYTES == 0


@jit
def _of_byte(record, bits, byte):
    """The write or read of a byte, of a word's: 0 if it is left out."""
    if (bits >> byte) & 1 or record == 0:
        return np.int64(0)
    follows = bits >> _FOLLOWS
    return record + ((_step(follows, byte) - _step(follows, _first(bits & _BYTES))) << Z.TIME_BITS)


@jit
def _copied(row, HEAD, READERS):
    """A copy of a list of readers."""
    first = np.int64(0)
    last = np.int64(0)
    while row:
        at = row * Z.N_READER
        copy = new_reader(READERS[at + Z.Q_WARP], READERS[at + Z.Q_LANES], READERS[at + Z.Q_WHEN], HEAD, READERS)
        if last:
            READERS[last * Z.N_READER + Z.Q_NEXT] = copy
        else:
            first = copy
        last = copy
        row = READERS[at + Z.Q_NEXT]
    return first


@jit
def expand(cell, HEAD, CELLS, READERS, BYTES):
    """Give a word a row of BYTES, if it has none: its number."""
    more, write, read = CELLS[cell + Z.C_MORE], CELLS[cell + Z.C_WRITE], CELLS[cell + Z.C_READ]
    if more & Z.SPLIT:
        return write
    row = HEAD[Z.H_FREE_ROW]
    if row:
        HEAD[Z.H_FREE_ROW] = BYTES[row * 4 * Z.N_CELL]
    else:
        row = HEAD[Z.H_ROWS] + 1
        HEAD[Z.H_ROWS] = row
    for k in range(4):
        byte = (row * 4 + k) * Z.N_CELL
        BYTES[byte + Z.C_WRITE] = _of_byte(write, (more >> Z.WRITE_BYTES) & 63, k)
        BYTES[byte + Z.C_MORE] = more & WRITE_PART if BYTES[byte + Z.C_WRITE] else 0
        if more & _LIST:
            BYTES[byte + Z.C_READ] = read if k == 0 else _copied(read, HEAD, READERS)
        else:
            BYTES[byte + Z.C_READ] = _of_byte(read, (more >> Z.READ_BYTES) & 63, k)
        if BYTES[byte + Z.C_READ]:
            BYTES[byte + Z.C_MORE] |= more & _READ_PART
    CELLS[cell + Z.C_WRITE] = row
    CELLS[cell + Z.C_READ] = 0
    CELLS[cell + Z.C_MORE] = Z.SPLIT
    return row


@jit
def _common(row, column, part, BYTES):
    """The bits by which bytes have a write (or read) in common; -1: they have not.  *part*: what C_MORE says of it."""
    left_out = np.int64(0)
    for k in range(4):
        left_out |= np.int64(BYTES[(row * 4 + k) * Z.N_CELL + column] == 0) << k
    if left_out == _BYTES:
        return np.int64(0)
    low = _first(left_out)
    at = (row * 4 + low) * Z.N_CELL
    first, more = BYTES[at + column], BYTES[at + Z.C_MORE] & part
    for follows in range(3):
        agree = True
        for k in range(low + 1, 4):
            byte = (row * 4 + k) * Z.N_CELL
            if not (left_out >> k) & 1:
                after = (_step(follows, k) - _step(follows, low)) << Z.TIME_BITS
                agree &= BYTES[byte + column] == first + after and BYTES[byte + Z.C_MORE] & part == more
        if agree:
            return left_out | np.int64(follows) << _FOLLOWS
    return np.int64(-1)


@jit
def _same_lists(row, BYTES, READERS):
    """Whether all bytes have the same list of readers."""
    for k in range(1, 4):
        a, b = BYTES[row * 4 * Z.N_CELL + Z.C_READ], BYTES[(row * 4 + k) * Z.N_CELL + Z.C_READ]
        while a and b:
            for column in (Z.Q_WARP, Z.Q_LANES, Z.Q_WHEN):
                if READERS[a * Z.N_READER + column] != READERS[b * Z.N_READER + column]:
                    return False
            a, b = READERS[a * Z.N_READER + Z.Q_NEXT], READERS[b * Z.N_READER + Z.Q_NEXT]
        if a or b:
            return False
    return True


@jit
def compress(cell, row, HEAD, CELLS, READERS, BYTES):
    """Put what a row of BYTES says into the cell of its word, if it fits; the row is free then."""
    lists = np.int64(0)
    for k in range(4):
        lists += np.int64(BYTES[(row * 4 + k) * Z.N_CELL + Z.C_MORE] & _LIST != 0)
    wrote = _common(row, Z.C_WRITE, WRITE_PART, BYTES)
    if lists:
        same = lists == 4 and _same_lists(row, BYTES, READERS)
        read = np.int64(0) if same else np.int64(-1)
    else:
        read = _common(row, Z.C_READ, _READ_PART, BYTES)
    if wrote < 0 or read < 0:
        return
    first = row * 4 * Z.N_CELL
    low = _first(wrote & _BYTES) * Z.N_CELL
    low_read = _first(read & _BYTES) * Z.N_CELL
    if lists:
        for k in range(1, 4):
            forget(first + k * Z.N_CELL, HEAD, BYTES, READERS)
    CELLS[cell + Z.C_WRITE] = BYTES[first + low + Z.C_WRITE]
    CELLS[cell + Z.C_READ] = BYTES[first + low_read + Z.C_READ]
    more = BYTES[first + low + Z.C_MORE] & WRITE_PART | BYTES[first + low_read + Z.C_MORE] & _READ_PART
    CELLS[cell + Z.C_MORE] = more | wrote << Z.WRITE_BYTES | read << Z.READ_BYTES
    _free(row, HEAD, BYTES)


@jit
def _free(row, HEAD, BYTES):
    BYTES[row * 4 * Z.N_CELL] = HEAD[Z.H_FREE_ROW]
    HEAD[Z.H_FREE_ROW] = row


@jit
def forget_all(first, size, HEAD, CELLS, READERS, BYTES):
    """Bytes of the arena that another block gets as its shared memory: nobody has touched them yet."""
    granule = HEAD[Z.H_GRANULE]
    for unit in range(first >> granule, (first + size + (1 << granule) - 1) >> granule):
        cell = unit * Z.N_CELL
        more = CELLS[cell + Z.C_MORE]
        if more & Z.SPLIT:
            row = CELLS[cell + Z.C_WRITE]
            for k in range(4):
                forget((row * 4 + k) * Z.N_CELL, HEAD, BYTES, READERS)
            _free(row, HEAD, BYTES)
        elif more & _LIST:
            forget(cell, HEAD, CELLS, READERS)
        CELLS[cell + Z.C_WRITE] = 0
        CELLS[cell + Z.C_READ] = 0
        CELLS[cell + Z.C_MORE] = 0
