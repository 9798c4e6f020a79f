"""Launches of the kernels on images in tests/data/sass/corpus/algorithms.cu."""

from __future__ import annotations

import numpy as np

from tests.sass.corpus_data import Launch, floats, ints, zeros


def images(launches: list[Launch]) -> None:
    launches.append(
        Launch(
            "algorithms",
            "mandelbrot",
            (3, 3),
            (16, 8),
            [zeros(40 * 20, "u1"), np.int32(40), np.int32(20), np.int32(50)],
        )
    )
    launches.append(
        Launch(
            "algorithms",
            "julia_f64",
            (3, 3),
            (16, 8),
            [zeros(40 * 20), np.int32(40), np.int32(20), np.float64(-0.8), np.float64(0.156)],
        )
    )
    w, h = 50, 21
    world = ints(16, w * h, 0, 2, "u1")
    g = world.reshape(h, w)
    around = sum(np.roll(g, (y, x), (0, 1)) for y in (-1, 0, 1) for x in (-1, 0, 1) if x or y)
    launches.append(
        Launch(
            "algorithms",
            "life",
            (4, 3),
            (16, 8),
            [world, zeros(w * h, "u1"), np.int32(w), np.int32(h)],
            {1: ((around == 3) | ((around == 2) & (g == 1))).astype("u1").ravel()},
        )
    )
    colours = ints(17, 3 * 300, 0, 256, "u1")
    launches.append(Launch("algorithms", "rgb_to_gray", (3,), (128,), [colours, zeros(300, "u1"), np.int32(300)]))
    launches.append(
        Launch(
            "algorithms",
            "bilinear",
            (4, 4),
            (16, 8),
            [
                ints(18, 20 * 16, 0, 256, "u1"),
                zeros(50 * 30, "u1"),
                np.int32(20),
                np.int32(16),
                np.int32(50),
                np.int32(30),
            ],
        )
    )
    a = floats(19, 70 * 20)
    edge = np.pad(a.reshape(20, 70).astype("f8"), 1, mode="edge")
    blurred = 0.5 * edge[1:-1, 1:-1] + 0.125 * (edge[1:-1, :-2] + edge[1:-1, 2:] + edge[:-2, 1:-1] + edge[2:, 1:-1])
    launches.append(
        Launch(
            "algorithms",
            "stencil_2d",
            (3, 3),
            (32, 8),
            [a, zeros(1400, "f4"), np.int32(70), np.int32(20)],
            {1: blurred.ravel().astype("f4")},
            tolerance=1e-6,
        )
    )
    n = 10
    v = floats(20, n**3, "f8").reshape(n, n, n)
    inner = (
        v[1:-1, 1:-1, :-2]
        + v[1:-1, 1:-1, 2:]
        + v[1:-1, :-2, 1:-1]
        + v[1:-1, 2:, 1:-1]
        + v[:-2, 1:-1, 1:-1]
        + v[2:, 1:-1, 1:-1]
    ) / 6
    result = np.zeros_like(v)
    result[1:-1, 1:-1, 1:-1] = inner - v[1:-1, 1:-1, 1:-1]
    launches.append(
        Launch(
            "algorithms",
            "stencil_3d",
            (n, n),
            (n,),
            [v.ravel().copy(), zeros(n**3, "f8"), np.int32(n)],
            {1: result.ravel()},
            tolerance=1e-12,
        )
    )
    f = np.array([0.05, 0.1, 0.2, 0.3, 0.2, 0.1, 0.05], "f4").astype("f8")
    s = floats(21, 300)
    smooth = np.convolve(s.astype("f8"), f, "same") * f[np.arange(300) % 7]
    launches.append(
        Launch(
            "algorithms",
            "convolution",
            (3,),
            (128,),
            [s, zeros(300, "f4"), np.int32(300)],
            {1: smooth.astype("f4")},
            tolerance=1e-6,
        )
    )
