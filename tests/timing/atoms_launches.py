"""Arguments of the launches of atoms.cu."""

from __future__ import annotations

from typing import Any

import numpy as np

IN_TURN = (1, 2, 3, 4, 5, 6, 7, 8, 10, 12, 16, 20, 24, 32, 48, 64, 100, 128, 1000)
ALIKE = ((2, 8), (2, 16), (2, 32), (4, 8), (4, 16), (4, 32), (8, 4), (8, 8), (16, 2), (16, 8), (32, 32))
APART = ((2, 8), (4, 8), (4, 4), (8, 2), (8, 4), (8, 8), (16, 2), (16, 8), (32, 2), (32, 8), (32, 32))


def atoms_arguments() -> list[list[Any]]:
    """Arguments of the launches of atoms.cu, in order."""
    from tests.timing.launches import values

    u = np.uint32
    data = {kind: np.zeros(1 << 19, kind) for kind in (u, np.float32, np.float64, np.uint64, np.int32)}

    def turns(n: int, kind: type = u, same: int = 1, stride: int = 1, own: int = 0, lanes: int = 32) -> list[Any]:
        return [data[kind], u(same), u(n), u(stride), u(own), u(lanes)]

    def bins(ns: tuple[int, ...], kind: type = u) -> list[list[Any]]:
        return [[data[kind], u(n)] for n in ns]

    def in_turn(ns: tuple[int, ...], kind: type = u) -> list[list[Any]]:
        return [turns(n, kind) for n in ns]

    def of_their_own(own: int, ns: tuple[int, ...], kind: type = u) -> list[list[Any]]:
        return [turns(n, kind, own=own) for n in ns]

    i, f, d, y = np.int32, np.float32, np.float64, np.uint64
    launches = in_turn(IN_TURN) + in_turn((1, 8, 16, 32, 100)) * 6
    launches += [turns(n, same=same) for same, n in ALIKE] + [turns(n, stride=stride) for n, stride in APART]
    launches += [turns(32, lanes=lanes) for lanes in (1, 2, 4, 8, 16, 24)] + [turns(1, lanes=lanes) for lanes in (2, 8)]
    launches += [turns(lanes, stride=32 // lanes, lanes=lanes) for lanes in (4, 8)] + bins((4, 8, 16, 32, 64, 128, 256))
    launches += [[data[u], u(many)] for many in (2, 4, 8, 16, 24)]
    launches += [[values(1 << 20), data[u], u(mask)] for mask in (31, 255, 15)]
    launches += in_turn((1, 2, 4, 8, 10, 16, 24, 32, 64, 100), f)
    launches += [turns(n, f, same=same) for same, n in ((2, 16), (4, 8), (8, 4), (2, 32))]
    launches += [turns(n, f, stride=stride) for n, stride in ((4, 8), (8, 4), (16, 2))]
    launches += bins((4, 8, 16, 32, 64, 256), f) + [[data[f], u(many)] for many in (4, 16)]
    launches += in_turn((1, 4, 8, 16, 32, 64), d) + bins((4, 16, 64), d)
    launches += in_turn((1, 4, 8, 16, 32, 64), y) + bins((16, 64), y) + in_turn((1, 8, 16, 32), i) + bins((16,), i)
    launches += [*in_turn((1, 4, 8, 16, 32, 64, 100)), turns(16, same=2), turns(8, same=4), *bins((8, 32, 256))]
    launches += in_turn((1, 16, 32), f) + bins((32,), f)
    launches += of_their_own(32, (1, 8, 16, 32)) + of_their_own(256, (1, 8, 16, 32))
    return launches + of_their_own(32, (1, 8, 16), f)
