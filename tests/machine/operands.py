"""Operands that break things: the edges of integers and floating-point formats."""

from __future__ import annotations

import numpy as np
from hypothesis import strategies as st

from simt.ops.table import Family
from tests.machine.patterns import M32, M64, bits

INTEGERS = [
    *range(5),
    *(k & M64 for k in (-1, -2, -3, -7)),
    *(7, 31, 32, 33, 63, 64, 65, 127, 128, 255, 32767, 32768, 65535),
    *(2**k + d for k in (31, 32, 33, 53, 62, 63) for d in (-1, 0, 1)),
    *(-(2**31) + d & M64 for d in (-1, 0, 1)),
    2**64 - 2**32,
    0x0123456789ABCDEF,
    0x8080808080808080,
]
DOUBLES = [
    bits(np.float64(x) * sign)
    for x in (
        *(0.0, 0.5, 1.0, 1.5, 2.0, 2.5, 3.0, 0.1, np.inf, np.nan, 5e-324, 2.225073858507201e-308),
        *(2.2250738585072014e-308, 1.7976931348623157e308, 2.0**31 - 1, 2.0**31, 2.0**32, 2.0**53 + 2),
        *(2.0**63, 2.0**64, 171.65, 1e306, 0.49999999999999994, 16777217.0, 65520.0),
    )
    for sign in (np.float64(1), np.float64(-1))
]
SINGLES = [
    bits(np.float32(x) * sign)
    for x in (
        *(0.0, 0.5, 1.0, 1.5, 2.0, 2.5, 3.0, 0.1, np.inf, np.nan, 1e-45, 1.1754942e-38, 1.1754944e-38),
        *(3.4028235e38, 16777215.0, 16777216.0, 65504.0, 65519.996, 65520.0, 2.0**-24, 2.0**-25, 6.1e-5),
        *(6.097555e-05, 2.0**31, 2.0**63, 1e10, 7.0),
    )
    for sign in (np.float32(1), np.float32(-1))
]
HALVES = [0, 1, 0x3FF, 0x400, 0x3C00, 0x3C01, 0x7BFF, 0x7C00, 0x7E01, 0x8000, 0x8001, 0xBC00, 0xFBFF, 0xFC00]

EXTREMES: dict[Family, list[int]] = {
    Family.INT: INTEGERS,
    Family.BITS: [*INTEGERS[::2], *HALVES, *SINGLES[::4], *DOUBLES[::4]],
    Family.F64: [*DOUBLES, *INTEGERS[::2], 65536, 65537, 2**63],
    Family.F32: [*SINGLES, *INTEGERS[::2], 65536, 65537, 2**63],
    Family.CONVERT: [*INTEGERS, *DOUBLES, *SINGLES, *HALVES],
    Family.COMPARE: [*INTEGERS[::2], *DOUBLES[:28], *SINGLES[:28]],
    Family.PREDICATE: [0, 1],
    Family.WARP: INTEGERS,
}
"""By family, the operands of which all pairs are tried."""

words = st.one_of(
    st.sampled_from(INTEGERS),
    st.sampled_from(DOUBLES),
    st.sampled_from(SINGLES),
    st.integers(0, M64),
    st.integers(0, M32),
    st.integers(-64, 64).map(lambda x: x & M64),
    st.floats(width=64).map(lambda x: bits(np.float64(x))),
    st.floats(width=32).map(lambda x: bits(np.float32(x))),
)
"""A 64-bit register slot."""


def rows_of(values: list[int]) -> np.ndarray:
    """uint64 [3, n]: three times the same values, padded to a multiple of 32."""
    return np.array([values + values[:1] * (-len(values) % 32)] * 3, np.uint64)


def rows_of_pairs(values: list[int]) -> np.ndarray:
    """uint64 [3, n]: all pairs as rows a and b, row c a value that goes with neither; n a multiple of 32."""
    pairs = [(x, y) for x in values for y in values]
    third = [values[(7 * k + k // len(values)) % len(values)] for k in range(len(pairs))]
    table = [(x, y, z) for (x, y), z in zip(pairs, third, strict=True)]
    table += [table[0]] * (-len(table) % 32)
    return np.array(table, dtype=np.uint64).T.copy()
