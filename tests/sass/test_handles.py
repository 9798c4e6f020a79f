"""Textures and surfaces whose handles are read from memory or from a structure, at an index that is not constant."""

from __future__ import annotations

from functools import cache
from typing import Any

import numpy as np
import pytest

import simt
from simt.check import LaunchError, OutOfBoundsError
from tests.machine_view import needs_nvdisasm
from tests.toolkit.needs import needs_nvrtc

pytestmark = [needs_nvdisasm, needs_nvrtc]
N = 48
KERNELS = """
struct Three { const float *factors; cudaTextureObject_t handles[3]; int n; };
extern "C" __global__ void pick(const cudaTextureObject_t *t, const int *which, int n, float *out) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) out[i] = tex1Dfetch<float>(t[which[i]], i);
}
extern "C" __global__ void pick_member(Three s, const int *which, float *out) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < s.n) out[i] = s.factors[i] * tex1Dfetch<float>(s.handles[which[i]], i);
}
extern "C" __global__ void put(const cudaSurfaceObject_t *t, cudaTextureObject_t from, const int *which, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) surf1Dwrite<float>(tex1Dfetch<float>(from, i), t[which[i]], 4 * i);
}
"""


@cache
def kernels() -> Any:
    return simt.load_cuda(KERNELS)


def arrays(count: int) -> list[Any]:
    return [np.arange(N, dtype=np.float32) + 100 * k for k in range(count)]


def choice(count: int, seed: int) -> Any:
    return np.random.RandomState(seed).randint(0, count, N).astype(np.int32)


@pytest.mark.parametrize("count", [1, 2, 5])
def test_an_array_of_textures(count: int) -> None:
    texels, which, out = arrays(count), choice(count, 1), np.zeros(N, np.float32)
    simt.launch(kernels()["pick"], 2, 32, [simt.texture(each) for each in texels], which, N, out)
    assert (out == np.stack(texels)[which, np.arange(N)]).all()


def test_textures_in_a_structure() -> None:
    texels, which, factors = arrays(3), choice(3, 2), np.arange(N, dtype=np.float32)
    out = np.zeros(N, np.float32)
    members = (factors, *[simt.texture(each) for each in texels], np.int32(N))
    simt.launch(kernels()["pick_member"], 2, 32, members, which, out)
    assert (out == factors * np.stack(texels)[which, np.arange(N)]).all()


def test_an_array_of_surfaces_beside_a_texture() -> None:
    surfaces, which, source = arrays(4), choice(4, 3), np.arange(N, dtype=np.float32) + 0.5
    expected = np.stack(surfaces)
    expected[which, np.arange(N)] = source
    simt.launch(kernels()["put"], 2, 32, [simt.surface(each) for each in surfaces], simt.texture(source), which, N)
    assert (np.stack(surfaces) == expected).all()


def test_a_list_holds_textures_and_surfaces_only() -> None:
    with pytest.raises(LaunchError, match="argument 0 is a list with a float at position 1"):
        simt.launch(kernels()["pick"], 1, 32, [simt.texture(arrays(1)[0]), 1.0], choice(1, 1), N, np.zeros(N))


def test_an_index_beyond_the_array_of_textures() -> None:
    with pytest.raises(OutOfBoundsError):
        simt.launch(
            kernels()["pick"], 1, 32, [simt.texture(arrays(1)[0])], choice(1, 1) + 1, N, np.zeros(N, np.float32)
        )
