"""Forms of opcodes that everyday code rarely has: scaled products, branches for all lanes, spaces of addresses."""

from __future__ import annotations

import numpy as np
import pytest

from simt.ops.encoding import LOCAL_WINDOW, SHARED_WINDOW
from tests.sass.assembler import LANES, run_lanes, words
from tests.sass.data import DATA

LANE = np.arange(LANES, dtype=np.uint32)


@pytest.mark.parametrize("scale", ["D2", "D4", "D8", "M2", "M4", "M8"])
def test_scaled_product_is_rounded_once(scale: str) -> None:
    """Tiny and huge products: dividing a rounded denormal, or doubling what already was infinite, would differ."""
    a, b = words(1), words(2)
    a[:16] = (a[:16] & 0x80FFFFFF) | 0x20000000  # products about 2^-126
    b[:16] = (b[:16] & 0x807FFFFF) | 0x1F800000
    a[16:24] = (a[16:24] & 0x807FFFFF) | 0x5F800000  # about 2^128
    b[16:24] = (b[16:24] & 0x807FFFFF) | 0x5F000000
    found, _ = run_lanes([f"FMUL.{scale} R8, R4, R5"], {4: a, 5: b}, [8])
    factor = float(scale[1]) if scale[0] == "M" else 1 / float(scale[1])
    with np.errstate(all="ignore"):
        exact = a.view(np.float32).astype(np.float64) * b.view(np.float32).astype(np.float64) * factor
        expected = exact.astype(np.float32)
    got = found[8].view(np.float32)
    assert np.array_equal(np.isnan(got), np.isnan(expected))
    real = ~np.isnan(expected)
    assert got[real].view(np.uint32).tolist() == expected[real].view(np.uint32).tolist()


@pytest.mark.parametrize(
    ("word", "above", "jumps"),
    [
        *[("U.ANY", 31, False), ("U.ANY", 30, True), ("U.ANY", 0, True), ("U.ANY", -1, True)],
        *[("U", 31, False), ("U", 30, False), ("U", 0, False), ("U", -1, True)],
    ],
)
def test_all_lanes_jump_together(word: str, above: int, jumps: bool) -> None:
    """As on an H200: if the guard of one lane is true (ANY), or that of all."""
    lines = [
        f"ISETP.GT.AND P0, PT, R4, {'-' if above < 0 else ''}{abs(above):#x}, PT",
        "MOV R8, 0x1",
        f"@P0 BRA.{word} 0xa0",  # behind the next line: six instructions of the frame come first
        "MOV R8, 0x2",
    ]
    found, _ = run_lanes(lines, {4: LANE}, [8])
    assert found[8].tolist() == [1 if jumps else 2] * LANES


@pytest.mark.parametrize(("word", "kept"), [("", False), (".OR", True)])
def test_which_lanes_have_another_value(word: str, kept: bool) -> None:
    """As on an H200: the lowest lane's value; OR keeps the lanes whose predicate was set before."""
    values = np.where(LANE % 3 == 0, 7, LANE).astype(np.uint32)
    lines = ["ISETP.GT.U32.AND P0, PT, R5, 0x14, PT", f"R2UR{word} P0, UR4, R4", "MOV R8, UR4"]
    found, predicates = run_lanes(lines, {4: values, 5: LANE}, [8], [0])
    assert found[8].tolist() == [7] * LANES
    assert predicates[0].tolist() == [bool(v != 7 or (kept and lane > 0x14)) for lane, v in enumerate(values)]


def test_scaled_products_of_an_h200() -> None:
    """512 pairs, each with every scale, and without and with FTZ and FMZ: bit by bit."""
    with np.load(DATA / "h200" / "scaled_products.npz") as recorded:
        a, b = recorded["a"], recorded["b"]
        forms = [name for name in recorded.files if name.startswith("FMUL")]
        assert len(forms) == 20
        for first in range(0, len(a), LANES):
            rows = slice(first, first + LANES)
            lines = [f"{name} R{10 + k}, R4, R5" for k, name in enumerate(forms)]
            found, _ = run_lanes(lines, {4: a[rows], 5: b[rows]}, [10 + k for k in range(len(forms))])
            for k, name in enumerate(forms):
                assert found[10 + k].tolist() == recorded[name][rows].tolist(), name


@pytest.mark.parametrize("offset", [0, 16, -16])
@pytest.mark.parametrize(("space", "window"), [("S", SHARED_WINDOW), ("D", SHARED_WINDOW), ("L", LOCAL_WINDOW)])
def test_space_of_an_address_with_offset(space: str, window: int, offset: int) -> None:
    """Addresses around the lower end of a window of 2^32 bytes."""
    low = (LANE.astype(np.int64) - 16) * 2
    address = window + low
    query = f"QSPC.E.{space} P0, RZ, [R4{f'+{offset:#x}' if offset >= 0 else f'+-{-offset:#x}'}]"
    inputs = {4: (address & 0xFFFFFFFF).astype(np.uint32), 5: (address >> 32).astype(np.uint32)}
    _, found = run_lanes([query], inputs, [], [0])
    assert found[0].tolist() == (low + offset >= 0).tolist()
