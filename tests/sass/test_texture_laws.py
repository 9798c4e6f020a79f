"""Laws of textures: indexing, constants, address modes, scaled coordinates, a filter in NumPy."""

from __future__ import annotations

from functools import cache
from typing import Any

import numpy as np
import numpy.typing as npt
from hypothesis import given, settings
from hypothesis import strategies as st

import simt
from simt.machine.images import ADDRESS_MODES
from tests.machine_view import DATA, needs_nvdisasm

pytestmark = needs_nvdisasm

Floats = npt.NDArray[np.float32]
SEEDS = st.integers(0, 2**32 - 1)
SIZES = st.integers(1, 40)
FEW = settings(max_examples=40, deadline=None)


@cache
def kernels(name: str) -> Any:
    return simt.load_cubin(DATA / "sm_90" / f"{name}.cubin")


def read(image: Any, x: Any, y: Any, kernel: str = "tex_2d", z: Any = None) -> Floats:
    """The first component at coordinates (x, y), or of directions (x, y, z)."""
    x, y = (np.ascontiguousarray(np.broadcast_to(v, np.shape(x)), np.float32) for v in (x, y))
    z = np.zeros_like(x) if z is None else np.ascontiguousarray(z, np.float32)
    out = np.zeros((len(x), 4), np.float32)
    cubin = "cubes" if kernel == "cube" else "textures"
    layer = np.zeros(len(x), np.int32)
    simt.launch(
        kernels(cubin)[kernel], -(-len(x) // 128), 128, image, np.int32(len(x)), x, y, z, layer, out.view(np.uint32)
    )
    first: Floats = out[:, 0].copy()
    return first


def picture(seed: int, width: int, height: int) -> tuple[np.random.Generator, Floats]:
    random = np.random.default_rng(seed)
    return random, random.standard_normal((height, width)).astype(np.float32)


@FEW
@given(SEEDS, SIZES, SIZES, st.booleans())
def test_point_sampling_is_indexing(seed: int, width: int, height: int, normalized: bool) -> None:
    random, texels = picture(seed, width, height)
    i, j = random.integers(0, width, 50), random.integers(0, height, 50)
    inside = random.uniform(0.01, 0.99, 50)
    x, y = (i + inside, j + inside) if not normalized else ((i + inside) / width, (j + inside) / height)
    assert (read(simt.texture(texels, normalized=normalized), x, y) == texels[j, i]).all()


@FEW
@given(SEEDS, SIZES, SIZES, st.sampled_from(("clamp", "wrap", "mirror")), st.floats(-(2.0**100), 2.0**100, width=32))
def test_a_linear_filter_of_a_constant_is_the_constant(
    seed: int, width: int, height: int, mode: str, value: float
) -> None:
    random = np.random.default_rng(seed)
    texels = np.full((height, width), value, np.float32)
    x, y = random.uniform(-3, 4, (2, 60))
    expected = np.where(np.abs(texels[0, 0]) < 2.0**-126, np.float32(0), texels[0, 0])  # denormals are cut
    assert (read(simt.texture(texels, "linear", mode, normalized=True), x, y) == expected).all()


@FEW
@given(SEEDS, SIZES, SIZES, st.sampled_from(("point", "linear")))
def test_clamping_is_clipping(seed: int, width: int, height: int, filter_: str) -> None:
    random, texels = picture(seed, width, height)
    x, y = random.uniform(-50, 90, (2, 80)).astype(np.float32)
    image = simt.texture(texels, filter_)
    clipped = np.clip(x, 0.5, width - 0.5), np.clip(y, 0.5, height - 0.5)
    assert (read(image, x, y) == read(image, *clipped)).all()


@FEW
@given(SEEDS, SIZES, SIZES, st.sampled_from(("point", "linear")), st.integers(-9, 9), st.integers(-9, 9))
def test_whole_turns_change_nothing(seed: int, width: int, height: int, filter_: str, m: int, n: int) -> None:
    """Wrapping repeats after 1, mirroring after 2; a mirror image is itself at -x."""
    random, texels = picture(seed, width, height)
    x, y = random.integers(-4096, 4096, (2, 60)) / 4096
    wrapped = simt.texture(texels, filter_, "wrap", normalized=True)
    assert (read(wrapped, x, y) == read(wrapped, x + m, y + n)).all()
    mirrored = simt.texture(texels, filter_, "mirror", normalized=True)
    assert (read(mirrored, x, y) == read(mirrored, x + 2 * m, y + 2 * n)).all()


@FEW
@given(SEEDS, st.integers(0, 5), st.integers(0, 5), st.sampled_from(("clamp", "border")), st.booleans())
def test_normalised_coordinates_are_scaled_ones(seed: int, width: int, height: int, mode: str, linear: bool) -> None:
    """Exactly, where the scaling is: sizes that are powers of two, coordinates of few bits."""
    random, texels = picture(seed, 2**width, 2**height)
    x, y = random.integers(-3000, 9000, (2, 60)) / 4096
    filter_ = "linear" if linear else "point"
    scaled = read(simt.texture(texels, filter_, mode, border=3), x * 2**width, y * 2**height)
    assert (read(simt.texture(texels, filter_, mode, normalized=True, border=3), x, y) == scaled).all()


@FEW
@given(SEEDS, SIZES, SIZES, st.sampled_from(ADDRESS_MODES))
def test_the_linear_filter_is_that_of_numpy(seed: int, width: int, height: int, mode: str) -> None:
    """Within what fractions of 8 bits and weights of 8 bits leave."""
    random, texels = picture(seed, width, height)
    x, y = random.uniform(-2, 3, (2, 80)).astype(np.float32)
    image = simt.texture(texels, "linear", mode, normalized=True)
    u, v = x.astype(np.float64) * width - 0.5, y.astype(np.float64) * height - 0.5
    i, j = np.floor(u).astype(int), np.floor(v).astype(int)

    def at(column: Any, row: Any) -> Any:
        if mode == "border":
            padded = np.pad(texels, 1)
            return padded[np.clip(row + 1, 0, height + 1), np.clip(column + 1, 0, width + 1)]
        pad: Any = {"clamp": "edge", "wrap": "wrap", "mirror": "symmetric"}[mode]
        padded = np.pad(texels, ((3 * height + 1,) * 2, (3 * width + 1,) * 2), pad)
        return padded[row + 3 * height + 1, column + 3 * width + 1]

    a, b = u - i, v - j
    expected = (1 - b) * ((1 - a) * at(i, j) + a * at(i + 1, j)) + b * ((1 - a) * at(i, j + 1) + a * at(i + 1, j + 1))
    spread = np.abs(texels).max() * 4
    assert np.abs(read(image, x, y) - expected).max() <= spread * 2 / 256


@FEW
@given(SEEDS, st.integers(1, 12), st.booleans(), st.integers(-20, 20))
def test_a_cube_map_sees_the_direction_only(seed: int, size: int, seamless: bool, exponent: int) -> None:
    random = np.random.default_rng(seed)
    faces = random.standard_normal((6, size, size)).astype(np.float32)
    image = simt.texture(faces, "linear", cube=True, seamless=seamless)
    x, y, z = random.standard_normal((3, 60)).astype(np.float32)
    a, b, c = (v * np.float32(2.0**exponent) for v in (x, y, z))
    assert (read(image, x, y, "cube", z) == read(image, a, b, "cube", c)).all()
    constant = simt.texture(np.full((6, size, size), 2.5, np.float32), "linear", cube=True, seamless=seamless)
    assert (read(constant, x, y, "cube", z) == 2.5).all()
    axes = np.array([[1, 0, 0], [-1, 0, 0], [0, 1, 0], [0, -1, 0], [0, 0, 1], [0, 0, -1]], np.float32)
    if size % 2:  # the middle of a face is the centre of a texel
        x, y, z = axes.T
        assert (read(image, x, y, "cube", z) == faces[:, size // 2, size // 2]).all()
