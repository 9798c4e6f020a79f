"""What spares time where Numba compiles the engine, held without a clock."""

from __future__ import annotations

import gc
import operator
import re
from pathlib import Path
from unittest.mock import patch

import numpy as np
import pytest
from numba.core import config, types
from numba.core.analysis import compute_cfg_from_blocks
from numba.core.compiler import run_frontend
from numba.core.postproc import PostProcessor
from numba.core.registry import cpu_target
from numba.core.types.functions import BaseFunction

from simt.ops.jit import compilation, elsewhere, jit, jit_shared
from simt.ops.parts import _as_the_engine_needs, _signatures

pytestmark = pytest.mark.skipif(bool(config.DISABLE_JIT), reason="nothing is compiled")


def test_an_operator_is_resolved_once_for_the_same_types() -> None:
    context = cpu_target.typing_context
    context.refresh()
    plus = context.resolve_value_type(operator.add)
    numbers = types.int16, types.uint16
    counted = patch.object(BaseFunction, "get_call_type", autospec=True, side_effect=BaseFunction.get_call_type)
    with patch.dict(_signatures, clear=True), _as_the_engine_needs(), counted as asked:
        first, second = (context.resolve_function_type(plus, numbers, {}) for _ in range(2))
        assert context.resolve_function_type(plus, (types.float32, types.float32), {}).return_type == types.float32
        assert asked.call_count == 2
    assert first is second
    assert "get_call_type" not in vars(types.Function)
    assert first.args == context.resolve_function_type(plus, numbers, {}).args


def element(array, index):
    return array[index]


def test_an_index_is_not_counted_from_the_end(tmp_path: Path) -> None:
    four = np.arange(4)
    assert jit(element, folder=tmp_path)(four[2:], -1) == 1
    assert element(four[2:], -1) == 3


def add_rows(rows, out, a, b):
    for lane in range(np.uint64(32)):
        out[lane] = rows[a + lane] + rows[b + lane]


def test_loops_over_lanes_become_vectors_and_are_not_unrolled(tmp_path: Path) -> None:
    rows, out = np.arange(64), np.zeros(32, np.int64)
    compiled = jit(add_rows, folder=tmp_path)
    compiled(rows, out, np.uint64(0), np.uint64(32))
    assert out.tolist() == (rows[:32] + rows[32:]).tolist()
    (code,) = compiled.entry.inspect_llvm().values()
    assert len(re.findall(r"store <\d+ x i64>", code)) == 1


def test_variables_of_the_engine_alone_are_not_freed(tmp_path: Path) -> None:
    whole = PostProcessor.run
    with _as_the_engine_needs():
        assert PostProcessor.run is not whole
        with _as_the_engine_needs():
            pass
        assert PostProcessor.run is not whole
    assert PostProcessor.run is whole


def skips(numbers):
    """A loop with two ways back."""
    found = 0
    for number in numbers:
        if number:
            continue
        found += 1
    return found


def test_a_loop_has_one_way_back() -> None:
    with _as_the_engine_needs():
        blocks = run_frontend(skips).blocks
    graph = compute_cfg_from_blocks(blocks)
    (loop,) = graph.loops().values()
    assert len([label for label, _ in graph.predecessors(loop.header) if label in loop.body]) == 1


def fails() -> None:
    """A compilation that does not succeed."""
    assert not gc.isenabled()
    raise ValueError("in between")


def test_no_garbage_is_collected_while_something_is_compiled(tmp_path: Path) -> None:
    with pytest.raises(ValueError, match="in between"), compilation("a test", "nothing", tmp_path):
        fails()
    assert gc.isenabled()


def tripled(number):
    return 3 * number


def test_a_function_is_translated_once_whatever_constants_it_is_given(tmp_path: Path) -> None:
    triple = jit(tripled)

    def calls(number):
        return triple(1) + triple(2) + triple(number)

    assert jit(calls, folder=tmp_path)(4) == 21
    assert [one.args for one in triple._part.nopython_signatures] == [(types.int64,)]


def test_a_function_that_stands_apart_is_called(tmp_path: Path) -> None:
    triple = jit(tripled, apart=True)

    def calls(number):
        return triple(number) + 1

    compiled = jit(calls, folder=tmp_path)
    assert compiled(5) == 16
    (code,) = compiled.entry.inspect_llvm().values()
    assert re.search(r"call .*@\S*tripled", code)


def test_a_function_that_seldom_runs_is_called_and_cold(tmp_path: Path) -> None:
    def seldom(number):
        return 3 * number

    triple = jit(seldom, rare=True)

    def calls(number):
        return triple(number) + 2

    compiled = jit(calls, folder=tmp_path)
    assert compiled(5) == 17
    (code,) = compiled.entry.inspect_llvm().values()
    assert re.search(r"call .*@\S*seldom", code)
    assert re.search(r"attributes #\d+ = \{[^}]*\bcold\b", code)


@pytest.mark.parametrize("scalar", [True, False])
def test_an_entry_with_a_scalar_function_has_no_vectors(tmp_path: Path, scalar: bool) -> None:
    def thrice(number):
        return 3 * number

    triple = jit(thrice, scalar=scalar)

    def each(numbers):
        for k in range(len(numbers)):
            numbers[k] = triple(numbers[k])

    compiled = jit(each, folder=tmp_path)
    numbers = np.arange(100)
    compiled(numbers)
    assert numbers.tolist() == list(range(0, 300, 3))
    (code,) = compiled.entry.inspect_llvm().values()
    assert bool(re.search(r"<\d+ x i64>", code)) != scalar


def test_code_of_another_entry_calls_a_shared_function_by_its_name(tmp_path: Path) -> None:
    shared = jit_shared(tripled)
    calls = elsewhere(shared)

    def begins(number):
        return shared(number) + 1

    def goes_on(number):
        return calls(number) + 2

    first, second = jit(begins, folder=tmp_path), jit(goes_on, folder=tmp_path)
    assert (first(5), second(5)) == (16, 17)
    (code,) = second.entry.inspect_llvm().values()
    (symbol,) = re.findall(r'call i32 @"?([\w.]*tripled\.[0-9a-f]{16})', code)
    assert re.search(rf'^declare .*@"?{symbol}', code, re.MULTILINE)
    assert not re.search(r"mul .* 3$", code, re.MULTILINE)
    assert calls.plain(5) == 15
