"""Special registers, uniform rows and the addresses of array elements."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from simt.check import OutOfBoundsError
from simt.machine.launch import CLOCK_STEP
from simt.ops.encoding import SPECIAL_REGISTERS
from simt.program import Uniform
from tests.machine.harness import Builder, launch, type_number


def test_special_registers() -> None:
    grid, block = (3, 2, 2), (5, 4, 3)
    threads, blocks = 60, 12
    b = Builder()
    sink = b.array(0, ndim=2)
    rows = [b.special(name) for name in SPECIAL_REGISTERS]
    at = dict(zip(SPECIAL_REGISTERS, rows, strict=True))
    place = at["tid.z"]
    for name, size in (("tid.y", block[1]), ("tid.x", block[0])):
        place = b.value("mad.s64", place, b.const(size), at[name])
    index = at["ctaid.z"]
    for name, size in (("ctaid.y", grid[1]), ("ctaid.x", grid[0])):
        index = b.value("mad.s64", index, b.const(size), at[name])
    place = b.value("mad.s64", index, b.const(threads), place)
    for k, row in enumerate(rows):
        b.store(sink, place, row, imm=k * blocks * threads * 8)
    found = np.full((len(rows), blocks, threads), -1, np.int64)
    launch(b, found, grid=grid, block=block, threads=2)
    for cta in range(blocks):
        for thread in range(threads):
            lane, warp = thread % 32, thread // 32
            expected = {
                "tid.x": thread % 5,
                "tid.y": thread // 5 % 4,
                "tid.z": thread // 20,
                **{f"ntid.{axis}": size for axis, size in zip("xyz", block, strict=True)},
                "ctaid.x": cta % 3,
                "ctaid.y": cta // 3 % 2,
                "ctaid.z": cta // 6,
                **{f"nctaid.{axis}": size for axis, size in zip("xyz", grid, strict=True)},
                "laneid": lane,
                "warpid": warp,
                "nwarpid": 2,
                "smid": 0,
                "lanemask_eq": 1 << lane,
                "lanemask_lt": (1 << lane) - 1,
                "lanemask_le": (2 << lane) - 1,
                "lanemask_gt": 2**32 - (2 << lane),
                "lanemask_ge": 2**32 - (1 << lane),
                "clock": 2 * CLOCK_STEP * warp,
                "globaltimer": (2 * warp + 1) * CLOCK_STEP // 32 * 32,
            }
            assert dict(zip(SPECIAL_REGISTERS, found[:, cta, thread].tolist(), strict=True)) == expected


def test_uniform_rows() -> None:
    arguments = (np.int32(-3), np.float32(1.5), np.float64(-2.5), np.uint32(2**32 - 1), np.bool_(True))
    b = Builder()
    sink = b.array(0, ndim=2)
    rows = [b.argument(k + 1) for k in range(len(arguments))]
    for kind, axis in (("shape", 0), ("shape", 1), ("size", 0)):
        rows.append(b.reg())
        b.uniforms.append(Uniform(rows[-1], kind, 0, axis))
    thread = b.thread()
    for k, row in enumerate(rows):
        b.store(sink, thread, row, imm=k * 256)
    found = np.zeros((len(rows), 32), np.int64)
    launch(b, found, *arguments)
    expected = [
        -3,
        int(np.float32(1.5).view(np.int32)),
        int(np.float64(-2.5).view(np.int64)),
        2**32 - 1,
        1,
        *(len(rows), 32, 32 * len(rows)),
    ]
    assert (found == np.array(expected)[:, None]).all()


def gather(array: np.ndarray, rows: list[int], columns: list[int], wraps: bool = False) -> np.ndarray:
    """Elements [rows, columns] of a two-dimensional int64 array, read by 32 lanes."""
    b = Builder()
    base, indices, sink = b.array(0, ndim=2, name="matrix"), b.array(1, ndim=2), b.array(2)
    thread = b.thread()
    i = b.load(indices, thread)
    j = b.load(indices, b.value("add.s64", thread, b.const(32)))
    address = b.value("index", base, i, imm=0, mod=int(wraps))
    address = b.value("index", address, j, imm=1, mod=int(wraps))
    b.store(sink, thread, b.value("ld.global", address, mod=type_number("b64")))
    found = np.zeros(32, np.int64)
    launch(b, array, np.array([rows, columns], np.int64), found)
    return found


def layouts() -> dict[str, np.ndarray]:
    """Arrays of shape (6, 7) in every kind of layout."""
    values = np.arange(6 * 7 * 6, dtype=np.int64)
    return {
        "C": values[:42].reshape(6, 7),
        "F": np.asfortranarray(values[:42].reshape(6, 7)),
        "sliced": values.reshape(12, 21)[::2, 1:21:3],
        "negative": values[:42].reshape(6, 7)[::-1, ::-1],
        "mixed": values.reshape(12, 21)[10::-2, 3:10],
        "broadcast": np.broadcast_to(values[:7], (6, 7)),
    }


@pytest.mark.parametrize("layout", layouts())
@settings(max_examples=10)
@given(data=st.data())
def test_elements_of_any_layout(layout: str, data: st.DataObject) -> None:
    array = layouts()[layout]
    rows = data.draw(st.lists(st.integers(0, 5), min_size=32, max_size=32))
    columns = data.draw(st.lists(st.integers(0, 6), min_size=32, max_size=32))
    np.testing.assert_array_equal(gather(array, rows, columns), array[rows, columns])


def test_negative_indices_wrap_where_asked() -> None:
    array = layouts()["mixed"]
    rows, columns = [-1, 2] * 16, [-7, -1] * 16
    np.testing.assert_array_equal(gather(array, rows, columns, wraps=True), array[rows, columns])


@pytest.mark.parametrize(
    ("row", "column", "wraps", "axis", "index"),
    [
        (6, 0, False, 0, 6),
        (-1, 0, False, 0, -1),
        (0, 7, True, 1, 7),
        (-7, 0, True, 0, -7),
        (2**62, 0, False, 0, 2**62),
    ],
)
def test_an_index_outside_of_its_axis(row: int, column: int, wraps: bool, axis: int, index: int) -> None:
    rows, columns = [0] * 32, [0] * 32
    rows[5] = rows[9] = row
    columns[5] = columns[9] = column
    with pytest.raises(OutOfBoundsError) as caught:
        gather(layouts()["C"], rows, columns, wraps)
    message = str(caught.value)
    assert f"index {index} is out of bounds for `matrix` of axis {axis}" in message
    assert "lanes 5, 9 " in message


def positions(indices: list[int], sizes: list[int], wraps: bool = False) -> list[int]:
    """What ``within`` makes of an index and a size in each lane."""
    b = Builder()
    given, sink = b.array(0, ndim=2, name="given"), b.array(1)
    thread = b.thread()
    i = b.load(given, thread)
    size = b.load(given, b.value("add.s64", thread, b.const(32)))
    b.store(sink, thread, b.value("within", i, size, imm=0, mod=int(wraps)))
    found = np.zeros(32, np.int64)
    launch(b, np.array([indices, sizes], np.int64), found)
    return found.tolist()


@settings(max_examples=10)
@given(st.lists(st.tuples(st.integers(1, 2**40), st.integers(0, 2**60)), min_size=32, max_size=32), st.booleans())
def test_positions_within_a_size(pairs: list[tuple[int, int]], wraps: bool) -> None:
    sizes = [size for size, _ in pairs]
    inside = [number % size for size, number in pairs]
    indices = [i - size if wraps and i % 2 else i for i, size in zip(inside, sizes, strict=True)]
    assert positions(indices, sizes, wraps) == inside


@pytest.mark.parametrize(("index", "wraps"), [(4, False), (4, True), (-1, False), (-5, True)])
def test_a_position_outside_of_its_size(index: int, wraps: bool) -> None:
    with pytest.raises(OutOfBoundsError) as caught:
        positions([0] * 5 + [index] + [0] * 26, [4] * 32, wraps)
    message = str(caught.value)
    assert f"index {index} is out of bounds for a part of `given`, whose size is 4" in message
    assert "lane 5 " in message


def test_stores_reach_strided_arrays() -> None:
    values = np.zeros(100, np.int64)
    view = values[90:10:-3]
    b = Builder()
    base, thread = b.array(0), b.special("tid.x")
    b.emit("st.global", a=b.value("index", base, thread), b=thread, mod=type_number("b64"))
    launch(b, view, block=len(view))
    expected = np.zeros(100, np.int64)
    expected[90:10:-3] = np.arange(len(view))
    np.testing.assert_array_equal(values, expected)
