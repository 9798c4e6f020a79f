"""Words whose bytes were accessed apart: what racecheck remembers of each byte.

Where the bytes have all in common the cell of the word says it.  Else it holds a pattern: what bytes of a word have,
with threads and times that count from those in the cell.  Most words of a kernel have one of few patterns: a kernel
that stores bytes leaves four threads that follow each other; one with pixels of three colours has three patterns.
"""

from __future__ import annotations

import numpy as np

from simt.sanitizer import layout as Z
from simt.sanitizer.interning import interned
from simt.sanitizer.jit import jit

_READ = (Z.ONE | Z.LIST) << Z.READ_SHIFT


@jit
def is_whole(cell, CELLS):
    """Whether the bytes of a word have all in common: it is as a word of a kernel without smaller accesses."""
    return CELLS[cell + Z.C_MORE] & Z.SPLIT == 0


@jit
def expand(cell, CELLS, PATTERNS, BYTES):
    """The cells of the bytes of a word, to BYTES."""
    write, read, more = CELLS[cell + Z.C_WRITE], CELLS[cell + Z.C_READ], CELLS[cell + Z.C_MORE]
    row = (more >> Z.NUMBER_SHIFT & (1 << Z.NUMBER_BITS) - 1) * Z.N_PATTERN
    for byte in range(0, Z.N_PATTERN, Z.N_CELL):
        if more & Z.SPLIT:
            of_byte = PATTERNS[row + byte + Z.C_MORE]
            BYTES[byte + Z.C_WRITE] = write + PATTERNS[row + byte + Z.C_WRITE] if of_byte & Z.WRITTEN else 0
            BYTES[byte + Z.C_READ] = read + PATTERNS[row + byte + Z.C_READ] if of_byte & _READ else 0
            BYTES[byte + Z.C_MORE] = of_byte & ~Z.WRITTEN
        else:
            BYTES[byte + Z.C_WRITE] = write
            BYTES[byte + Z.C_READ] = read
            BYTES[byte + Z.C_MORE] = more


@jit
def _first(column, BYTES):
    """The record of the first byte that has one; 0: none has."""
    for byte in range(0, Z.N_PATTERN, Z.N_CELL):
        if BYTES[byte + column]:
            return BYTES[byte + column]
    return np.int64(0)


@jit
def compress(cell, HEAD, CELLS, PATTERNS, BYTES, SCRATCH):
    """Put what the cells of its bytes say into the cell of a word."""
    same = True
    for byte in range(Z.N_CELL, Z.N_PATTERN, Z.N_CELL):
        for k in range(Z.N_CELL):
            same &= BYTES[byte + k] == BYTES[k]
    if same:
        for k in range(Z.N_CELL):
            CELLS[cell + k] = BYTES[k]
        return
    write, read = _first(Z.C_WRITE, BYTES), _first(Z.C_READ, BYTES)
    for byte in range(0, Z.N_PATTERN, Z.N_CELL):
        wrote, has_read, more = BYTES[byte + Z.C_WRITE], BYTES[byte + Z.C_READ], BYTES[byte + Z.C_MORE]
        SCRATCH[byte + Z.C_WRITE] = wrote - write if wrote else 0
        SCRATCH[byte + Z.C_READ] = has_read - read if has_read else 0
        SCRATCH[byte + Z.C_MORE] = more | (Z.WRITTEN if wrote else 0)
    CELLS[cell + Z.C_WRITE] = write
    CELLS[cell + Z.C_READ] = read
    number = interned(SCRATCH, 0, Z.N_PATTERN, PATTERNS, Z.H_PATTERNS, HEAD)
    CELLS[cell + Z.C_MORE] = Z.SPLIT | number << Z.NUMBER_SHIFT


@jit
def forget_all(first, size, HEAD, CELLS):
    """Bytes of the arena that another block gets as its shared memory: nobody has touched them yet."""
    granule = HEAD[Z.H_GRANULE]
    for unit in range(first >> granule, (first + size + (1 << granule) - 1) >> granule):
        for k in range(Z.N_CELL):
            CELLS[unit * Z.N_CELL + k] = 0
