"""Functions that programs give Numba with ``@overload``: which of several a kernel calls."""

from __future__ import annotations

from typing import Any

import numpy as np
from numba.core import types
from numba.core.errors import TypingError

import simt
from tests.machine_view import needs_numba_cuda


def for_a_target(x):
    raise NotImplementedError


def of_literals(x):
    raise NotImplementedError


def of_numbers(x):
    raise NotImplementedError


def calls(out, x):
    for_a_target(out)
    out[1] = of_literals(1)
    out[2] = of_literals(2)
    out[3] = of_literals(x)
    out[4] = of_numbers(1)
    out[5] = x.scaled(2, by=5)


def _literal_or_not(x: Any) -> Any:
    if isinstance(x, types.IntegerLiteral):
        if x.literal_value != 1:
            raise TypingError("only 1 has a function of its own")
        return lambda x: -1
    return lambda x: x * 100


@needs_numba_cuda
def test_the_most_specific_overload_is_taken() -> None:
    from numba.cuda import types as cuda_types
    from numba.cuda.extending import overload, overload_method

    def store(value: int) -> Any:
        def implementation(x):
            x[0] = value

        return lambda x: implementation

    overload(for_a_target, target="generic")(store(1))
    overload(for_a_target, target="cuda")(store(2))
    overload(of_literals, prefer_literal=True)(_literal_or_not)
    overload(of_numbers)(_literal_or_not)

    @overload_method(cuda_types.Integer, "scaled", target="cuda")
    def _scaled(x: Any, offset: Any, by: Any = 1) -> Any:
        return lambda x, offset, by=1: x * by + offset

    out = np.zeros(6)
    simt.launch(calls, 1, 1, out, 3)
    assert out.tolist() == [2, -1, 200, 300, 100, 17]
