"""What spares time where Numba compiles the engine, held without a clock."""

from __future__ import annotations

import gc
import operator
from pathlib import Path
from typing import Any

import pytest
from numba.core import config, types
from numba.core.registry import cpu_target

from simt.ops.jit import compilation
from simt.ops.parts import _Typing

pytestmark = pytest.mark.skipif(bool(config.DISABLE_JIT), reason="nothing is compiled")


class Counting:
    """A typing context that counts what it is asked."""

    def __init__(self) -> None:
        self.asked = 0

    def resolve_function_type(self, *call: Any) -> Any:
        """What Numba's context says."""
        self.asked += 1
        return cpu_target.typing_context.resolve_function_type(*call)


def test_an_operator_is_resolved_once_for_the_same_types() -> None:
    cpu_target.typing_context.refresh()
    context = Counting()
    typing: Any = _Typing(context)
    plus = cpu_target.typing_context.resolve_value_type(operator.add)
    numbers = types.int16, types.uint16  # which nothing in the engine adds
    first, second = (typing.resolve_function_type(plus, numbers, {}) for _ in range(2))
    assert context.asked == 1
    assert first is second
    assert first.args == cpu_target.typing_context.resolve_function_type(plus, numbers, {}).args
    assert typing.resolve_function_type(plus, (types.float32, types.float32), {}).return_type == types.float32


def fails() -> None:
    """A compilation that does not succeed."""
    assert not gc.isenabled()
    raise ValueError("in between")


def test_no_garbage_is_collected_while_something_is_compiled(tmp_path: Path) -> None:
    with pytest.raises(ValueError, match="in between"), compilation("a test", "nothing", tmp_path):
        fails()
    assert gc.isenabled()
