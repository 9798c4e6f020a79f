"""Chance that is the same in every run: hashes of what is drawn for."""

from __future__ import annotations

import numpy as np

from simt.timing.jit import jit_inline


@jit_inline
def scramble(x):
    """53 bits of a hash of *x*."""
    z = np.uint64(x) * np.uint64(0x9E3779B97F4A7C15)
    z = (z ^ (z >> np.uint64(29))) * np.uint64(0xBF58476D1CE4E5B9)
    return np.int64((z ^ (z >> np.uint64(32))) >> np.uint64(11))


@jit_inline
def share(x):
    """What is drawn for *x* evenly from 0 up to 1."""
    return scramble(x) / (1 << 53)


@jit_inline
def exponential(x):
    """What is drawn for *x* with an exponential tail, 1 on average."""
    return -np.log((scramble(x) + 1) / (1 << 53))


@jit_inline
def logistic(x):
    """What is drawn for *x* from a logistic distribution about 0, its scale 1, up to about 20."""
    drawn = (scramble(x) + 1) / (1 << 53)
    return np.log(drawn / (1 + 1e-9 - drawn))
