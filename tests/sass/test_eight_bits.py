"""8-bit floats and TF32: against an H200, bit for bit, and against exact fractions."""

from __future__ import annotations

from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from simt.check import UnsupportedError
from tests.sass.assembler import LANES, run_lanes
from tests.sass.data import DATA, cubin, launch

STORED = np.load(DATA / "h200" / "eight_bits.npz")
FORMATS = {"E4M3": (3, 7), "E5M2": (2, 15)}
"""Bits of the significand that are stored, and the bias of the exponent."""
NAN = 0x7F
WORDS = {"from32": 8, "from16": 4, "to16": 4}
"""Words of results that a thread of each kernel has room for."""


@pytest.mark.parametrize("name", WORDS)
def test_results_of_an_h200(name: str) -> None:
    given_, expected = STORED[f"{name}.in"], STORED[f"{name}.out"]
    results = np.zeros((len(given_), WORDS[name]), np.uint32)
    launch(cubin("sm_90/eight_bits")[name], (len(given_) // 128, 1, 1), (128, 1, 1), [given_.copy(), results], 0)
    np.testing.assert_array_equal(results[:, : expected.shape[1]], expected)


def value(byte: int, form: str) -> Fraction | None:
    """What an 8-bit float stands for; None: infinity or NaN."""
    stored, bias = FORMATS[form]
    exponent, significand = (byte & 0x7F) >> stored, byte & (1 << stored) - 1
    if (byte & 0x7F) == NAN or (form == "E5M2" and exponent == 31):
        return None
    if exponent:
        significand |= 1 << stored
    return Fraction(significand) * Fraction(2) ** (max(exponent, 1) - bias - stored) * (-1 if byte & 0x80 else 1)


def nearest(x: float, form: str) -> int:
    """The finite 8-bit float nearest to *x*, of two the one whose last bit is 0."""
    if np.isnan(x):
        return NAN
    sign = 0x80 if np.signbit(x) else 0
    held = {byte: exact for byte in range(0x80) if (exact := value(byte, form)) is not None}
    if np.isinf(x):
        return sign | max(held)
    exact = abs(Fraction(float(x)))
    return sign | min(held, key=lambda byte: (abs(held[byte] - exact), byte & 1))


BITS = st.integers(0, 2**32 - 1) | st.integers(0x3A000000, 0x48000000) | st.integers(0xB5000000, 0xC8000000)


@given(bits=st.lists(BITS, min_size=2, max_size=2), form=st.sampled_from(sorted(FORMATS)))
def test_float32_to_bytes(bits: list[int], form: str) -> None:
    inputs = {4 + k: np.full(LANES, each, np.uint32) for k, each in enumerate([*bits, 0xABCD1234])}
    found, _ = run_lanes([f"F2FP.SATFINITE.{form}.F32.PACK_AB_MERGE_C R8, R4, R5, R6"], inputs, [8])
    high, low = (nearest(np.uint32(each).view(np.float32), form) for each in bits)
    assert int(found[8][0]) == 0x12340000 | high << 8 | low


@pytest.mark.parametrize("form", FORMATS)
def test_bytes_to_float16_and_back(form: str) -> None:
    """Every byte, in both halves; what float16 holds comes back, and NaN and infinities as documented."""
    for first in range(0, 256, LANES):
        bytes_ = np.arange(first, first + LANES, dtype=np.uint32)
        packed = bytes_ << 24 | (255 - bytes_) << 16
        lines = [f"F2FP.F16.{form}.UNPACK_B R8, R4.H1", f"F2FP.SATFINITE.{form}.F16.UNPACK_B_MERGE_C R9, R8, RZ"]
        found, _ = run_lanes(lines, {4: packed}, [8, 9])
        halves = found[8].view(np.float16).reshape(-1, 2)
        for lane in range(LANES):
            for byte, half, back in zip(
                (255 - int(bytes_[lane]), int(bytes_[lane])),
                halves[lane],
                (int(found[9][lane]) & 0xFF, int(found[9][lane]) >> 8),
                strict=True,
            ):
                exact = value(byte, form)
                assert exact == Fraction(float(half)) if exact is not None else not np.isfinite(half)
                assert back == nearest(float(half), form)


@pytest.mark.parametrize(
    "line",
    [
        "F2FP.E4M3.F32.PACK_AB_MERGE_C R8, R4, R5, RZ",
        "F2FP.SATFINITE.F32.PACK_AB_MERGE_C R8, R4, R5, RZ",
        "F2FP.SATFINITE.F16.F32.PACK_AB R8, R4, R5",
        "F2FP.F16.UNPACK_B R8, R4",
        "F2FP.E5M2.F16.F32.PACK_AB R8, R4, R5",
        "F2FP.F32.PACK_B R8, R4",
    ],
)
def test_forms_that_do_not_exist(line: str) -> None:
    with pytest.raises(UnsupportedError, match="not supported together"):
        run_lanes([line], {4: np.zeros(LANES, np.uint32)}, [8])
