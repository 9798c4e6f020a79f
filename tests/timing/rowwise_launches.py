"""Arguments of the launches of rowwise.cu."""

from __future__ import annotations

from typing import Any

import numpy as np

CASES = 15
"""Of a line's loads and stores."""


def rowwise_arguments() -> list[list[Any]]:
    """Arguments of the launches of rowwise.cu, in order.  Memory is as long as it is used."""
    u = np.uint32

    def rows(blocks: int, threads: int, pitch: int, shift: int = 0, bits: int = 32) -> list[Any]:
        kind = np.uint32 if bits == 32 else np.uint64
        words = pitch * 8 // bits
        data = np.zeros(blocks * threads * words + 128, kind)
        return [data, np.uint64(words), u(64 * 32 // bits), np.int64(shift)]

    launches: list[list[Any]] = [[np.zeros(64 * 32, u), u(64)] for _ in range(CASES)]
    for pitch in (4224, 65536):
        launches += [rows(*shape, pitch) for shape in ((1, 32), (1, 256), (32, 256)) for _ in range(3)]
    for pitch in (4224, 65536):
        shifts = (*[0] * 5, 1, 8, 16, 32, 992, 992)
        launches += [rows(32, 256, pitch, shift) for shift in shifts]
        launches += [rows(32, 256, pitch, bits=64) for _ in range(2)]
    launches += [rows(32, 256, pitch) for pitch in (256, 1024, 4096, 8192, 16384, 32768, 65536 + 128)]
    launches += [rows(blocks, 256, 65536) for blocks in (2, 4, 8, 16, 62)]
    for blocks, threads in ((132, 64), (132, 256), (132, 1024), (528, 256)):
        launches += [rows(blocks, threads, 4224) for _ in range(2)]

    def sums(share: int, columns: int) -> list[Any]:
        return [np.zeros(4096 * 128, u), np.zeros(1 << 19, u), u(share), u(columns), u(96)]

    for blocks in (1, 32, 132, 1024):
        for share in (1, 16, 32, 256):
            for columns in (1, blocks)[: 1 if blocks == 1 else 2]:
                launches += [sums(share, columns)] * (2 if share != 16 and blocks != 32 else 1)
    launches += [sums(share, 32) for share in (16, 256)]
    for width in (32, 8, 1):
        columns = max(16 * width, 128)
        launches.append([np.zeros(512 * columns, np.float32), np.zeros(512, np.float32), u(512), u(columns)])
    places = ((1, 1, 1), (8, 8, 1), (32, 32, 1), (1056, 32, 1), (1056, 1024, 1), (1056, 32, 32))
    for _ in range(5):
        launches += [
            [np.zeros(count * apart + 32, u), u(count), u(apart), u(lanes), u(32)] for count, apart, lanes in places
        ]
    return launches
