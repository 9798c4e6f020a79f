"""Kernels whose lanes part ways: what a warp does with if/else, loops and guards.

``a = b = 0.0`` followed by ``a += 100.0`` stands where CUDA C courses write ``a = 100.0f``: the result is the
same, and each side of the branch has an operation that can be counted (a plain move is free).
"""

from __future__ import annotations

from numba import cuda


def if_else(out):
    """Lanes 0-23 of each warp take one side and 24-31 the other, then all go on together: two passes."""
    i = cuda.grid(1)
    if cuda.laneid < 24:
        value = 2 * i
    else:
        value = i + 100
    out[i] = value + 1


def loop_trips(trips, out):
    """Each lane takes its own number of trips; the warp stays in the loop until the last lane is done."""
    i = cuda.grid(1)
    total = 0
    for trip in range(trips[i]):
        total += trip * i
    out[i] = total


def vector_add(a, b, c):
    """``c = a + b``; the guard diverges in a warp that holds both the last element and threads past it."""
    i = cuda.grid(1)
    if i < c.size:
        c[i] = a[i] + b[i]


def picture_guard(picture, gray):
    """An RGB picture ``[height, width, 3]`` to gray ``[height, width]``, one thread per pixel.

    The guard takes two branches: ``x < w`` (``and`` stops there) and the ``if`` on the whole condition.
    """
    x, y = cuda.grid(2)
    inside = x < gray.shape[1] and y < gray.shape[0]
    if inside:
        red = picture[y, x, 0]
        green = picture[y, x, 1]
        blue = picture[y, x, 2]
        gray[y, x] = 0.21 * red + 0.71 * green + 0.07 * blue


def even_odd(c):
    """Even threads take one side, odd threads the other: every warp diverges."""
    tid = cuda.grid(1)
    a = b = 0.0
    if tid % 2 == 0:
        a += 100.0
    else:
        b += 200.0
    c[tid] = a + b


def whole_warp(c):
    """The same work, but whole warps take one side or the other: no warp diverges."""
    tid = cuda.grid(1)
    a = b = 0.0
    if (tid // cuda.warpsize) % 2 == 0:
        a += 100.0
    else:
        b += 200.0
    c[tid] = a + b


def two_ifs(c):
    """Two separate ifs instead of if/else: each of them diverges."""
    tid = cuda.grid(1)
    a = b = 0.0
    even = tid % 2 == 0
    if even:
        a += 100.0
    if not even:
        b += 200.0
    c[tid] = a + b


def c_precedence(c):
    """What C makes of ``itid & 0x01 == 0``: ``itid & (0x01 == 0)``, which is 0, so every thread takes else.

    Python reads the same spelling as ``(itid & 0x01) == 0``.  Here C's parentheses are written out.
    """
    tid = cuda.grid(1)
    a = b = 0.0
    itid = tid >> 5
    if itid & (0x01 == 0):
        a += 100.0
    else:
        b += 200.0
    c[tid] = a + b


def collatz(start, steps):
    """Halve even numbers, take odd ones to 3 v + 1, until 1: each lane takes its own path and time."""
    i = cuda.grid(1)
    if i < steps.size:
        value = start[i]
        count = 0
        while value > 1:
            if value % 2 == 0:
                value //= 2
            else:
                value = 3 * value + 1
            count += 1
        steps[i] = count
