"""Arrays as compiled functions have them: elements, pieces and lengths are those of NumPy."""

from __future__ import annotations

from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numba.core import config

from simt.ops.arrays import keep_window, kept_window, record_words
from simt.ops.jit import Function, jit

TYPES = (np.int64, np.float64, np.float32, np.uint8, np.uint16, np.uint32, np.bool_)


class Two(NamedTuple):
    """A record."""

    words: Any
    table: Any


def _swapped(array, i, j):
    kept = array[i]
    array[i] = array[j]
    array[j] = kept
    return len(array)


def _moved(two, row, column, at):
    two.words[at] = two.table[row, column]
    two.table[row, column] = len(two.words)
    return len(two.table)


def _piece(array, start, stop, at):
    piece = array[start:stop]
    piece[at] += 1
    return len(piece)


def _windows(two, starts, size, at, kept):
    for k in range(len(starts)):
        keep_window(two, (starts[k],), (size,), kept, k)
    for k in range(len(starts)):
        inside = kept_window(two, kept, k)
        inside.words[at] = inside.table[k, 0]
        size += len(inside.words)
    return size


@pytest.fixture(scope="module", params=[_swapped, _moved, _piece])
def pair(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> tuple[Any, Any]:
    """A function as Python, and compiled."""
    return request.param, jit(request.param, folder=tmp_path_factory.mktemp("code"))


@given(st.data())
def test_compiled_functions_do_to_arrays_what_python_does(pair: tuple[Any, Any], data: st.DataObject) -> None:
    plain, compiled = pair
    n = data.draw(st.integers(2, 9))
    index = st.integers(0, n - 1)
    dtype = data.draw(st.sampled_from(TYPES[:3] if plain is not _swapped else TYPES))
    values = np.arange(1, n + 1).astype(dtype)
    values[::2] = 0

    def given_to(words: Any, table: Any) -> tuple[Any, ...]:
        if plain is _swapped:
            return words, i, np.uint64(j)
        return (Two(words, table), i, j, k) if plain is _moved else (words, i, stop, k % (stop - i))

    i, j, k = data.draw(index), data.draw(index), data.draw(index)
    stop = data.draw(st.integers(i + 1, n))
    ours, theirs = ((values.copy(), np.arange(n * n).reshape(n, n)) for _ in range(2))
    assert compiled(*given_to(*ours)) == plain(*given_to(*theirs))
    for mine, other in zip(ours, theirs, strict=True):
        np.testing.assert_array_equal(mine, other)


@pytest.mark.skipif(bool(config.DISABLE_JIT), reason="only compiled functions have windows")
def test_a_window_is_a_piece_of_the_first_arrays_alone(tmp_path: Path) -> None:
    compiled = jit(_windows, folder=tmp_path)
    assert isinstance(compiled, Function)
    two = Two(np.zeros(10, np.int64), np.array([[7, 0], [8, 0]]))
    kept = np.zeros(2 * record_words(two) + 1, np.int64)
    assert compiled(two, np.array([4, 1]), 3, 2, kept) == 9
    assert two.words.tolist() == [0, 0, 0, 8, 0, 0, 7, 0, 0, 0]
    assert kept[-1] == 0
