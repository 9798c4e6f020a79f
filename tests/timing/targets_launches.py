"""Arguments of the launches of targets.cu."""

from __future__ import annotations

from typing import Any

import numpy as np


def targets_arguments() -> list[list[Any]]:
    """Arguments of the launches of targets.cu, in order."""
    i, u = np.int32, np.uint32
    to, source = np.zeros(1 << 19, u), np.zeros(1 << 19, u)
    launches: list[list[Any]] = []
    for _ in (1, 4, 8, 16, 32):
        launches += [[to, i(400)], [to, i(50)]]
    launches += [[to, u(different), i(50)] for different in (1, 2, 3, 4, 8)]
    launches += [[to, u(different), i(50)] for _ in (4, 8, 32) for different in (1, 2, 8)]
    launches += [[to, u(different), i(200)] for different in (1, 2, 4, 8)]
    launches += [[to, u(different), i(100)] for _ in (8, 32) for different in (1, 2, 8)]
    one, other = to.view(np.float32), source.view(np.float32)
    launches += [[one, other, u(different), i(50)] for _ in (1, 4, 8, 16, 32) for different in (1, 2)]
    numbers, others = to.view(i), source.view(i)
    launches += [[numbers, i(8), u(different)] for different in (1, 2, 4)]
    launches += [[numbers, i(7), u(different)] for _ in (4, 8, 32) for different in (1, 4)]
    return launches + [[numbers, others, i(24), i(8)] for _ in (1, 8, 32)]
