"""Rows of numbers that are kept once: a table of rows, and behind them slots by which a row is found.

A table of *width* columns is int64 [capacity * (width + 2)], its capacity a power of two: the rows, number 0 unused,
and twice as many slots, each the number of a row or 0.
"""

from __future__ import annotations

from simt.ops.scalar import MIXER
from simt.sanitizer.jit import jit


@jit
def _slot(ROW, first, width, TABLE):
    """The slot of a row's number, or the one where it is to stand."""
    capacity = len(TABLE) // (width + 2)
    begin, mask = capacity * width, 2 * capacity - 1
    mixed = ROW[first] * MIXER
    for k in range(1, width):
        mixed = (mixed ^ (mixed >> 32) ^ ROW[first + k]) * MIXER
    at = (mixed ^ (mixed >> 32)) & mask
    while True:
        number = TABLE[begin + at]
        if number == 0:
            return begin + at
        same = True
        for k in range(width):
            same &= TABLE[number * width + k] == ROW[first + k]
        if same:
            return begin + at
        at = (at + 1) & mask


@jit
def interned(ROW, first, width, TABLE, count, HEAD):
    """The number of the row that stands in ROW from *first* on; *count*: the column of HEAD with the rows there are."""
    slot = _slot(ROW, first, width, TABLE)
    if TABLE[slot] == 0:
        number = HEAD[count] + 1
        HEAD[count] = number
        for k in range(width):
            TABLE[number * width + k] = ROW[first + k]
        TABLE[slot] = number
    return TABLE[slot]


@jit
def fill_slots(width, TABLE, count, HEAD):
    """Enter all rows of a table whose slots are empty."""
    for number in range(1, HEAD[count] + 1):
        TABLE[_slot(TABLE, number * width, width, TABLE)] = number
