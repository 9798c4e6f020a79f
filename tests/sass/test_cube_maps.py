"""Cube maps and formatted reads of surfaces: every recorded bit of an H200, and what is refused."""

from __future__ import annotations

import json
from functools import cache
from typing import Any

import numpy as np
import pytest

import simt
from simt.check import LaunchError
from tests.machine_view import DATA, needs_nvdisasm

pytestmark = needs_nvdisasm

RECORDED = DATA / "h200"
INFINITE_MIRROR = "cube_5_point_0_mirror"
"""Directions with a component that the compiler's division makes infinite: outside of all faces, mirrored."""


@cache
def kernels() -> Any:
    return simt.load_cubin(DATA / "sm_90" / "cubes.cubin")


@cache
def recorded(name: str) -> tuple[dict[str, Any], Any]:
    file = np.load(RECORDED / f"{name}.npz")
    return json.loads(file["index"].tobytes()), file


def counting_faces(size: int, layers: int) -> Any:
    """Texels that hold their column, row and face (of all layers), and one."""
    faces = np.zeros((6 * max(layers, 1), size, size, 4), np.float32)
    faces[..., 0] = np.arange(size)
    faces[..., 1] = np.arange(size)[:, None]
    faces[..., 2] = np.arange(len(faces))[:, None, None]
    faces[..., 3] = 1
    return faces


@pytest.mark.parametrize("name", recorded("cubes")[0])
def test_every_recorded_sample_has_the_bits_of_an_h200(name: str) -> None:
    index, file = recorded("cubes")
    case = index[name]
    faces = file[case["data"]] if "data" in case else counting_faces(case["size"], case["layers"])
    if case["layers"]:
        faces = faces.reshape(case["layers"], 6, *faces.shape[1:])
    image = simt.texture(
        faces,
        case["filter"],
        case["address"],
        case["normalized"],
        case["read"],
        bool(case["layers"]),
        channels=4,
        cube=True,
        seamless=case["seamless"],
    )
    x, y, z = (np.ascontiguousarray(column) for column in file[f"{name}.at"].T)
    layer = file[f"{name}.layer"] if f"{name}.layer" in file else np.zeros(len(x), np.int32)
    out = np.zeros((len(x), 4), np.uint32)
    simt.launch(kernels()[case["kernel"]], -(-len(x) // 128), 128, image, np.int32(len(x)), x, y, z, layer, out)
    wrong = (out != file[name]).any(1)
    if name == INFINITE_MIRROR or (case["seamless"] and case["address"] in ("wrap", "mirror", "border")):
        with np.errstate(all="ignore"):
            divided = file[f"{name}.at"] / np.abs(np.nan_to_num(file[f"{name}.at"])).max(1, keepdims=True)
        tiny = np.abs(np.nan_to_num(file[f"{name}.at"])).max(1) < 2.0**-126
        wrong &= ~(tiny | ~np.isfinite(divided).all(1))
    assert not wrong.any(), f"{wrong.sum()} samples, first {file[f'{name}.at'][np.flatnonzero(wrong)[0]]}"


@pytest.mark.parametrize("name", recorded("formatted_reads")[0])
def test_formatted_reads_convert_as_an_h200(name: str) -> None:
    index, file = recorded("formatted_reads")
    data = file[f"{name}.data"].copy()
    channels = data.shape[-1]
    x, y, z = (np.ascontiguousarray(row) for row in file[f"{name}.at"])
    out = np.zeros((len(x), 4), np.uint32)
    image = simt.surface(data if channels > 1 else data[..., 0], channels=channels)
    simt.launch(kernels()[index[name]["kernel"]], -(-len(x) // 128), 128, image, np.int32(len(x)), x, y, z, out)
    assert (out == file[name]).all()


@pytest.mark.parametrize(
    ("shape", "options", "message"),
    [
        ((6, 4, 5), {}, r"cube map of an array of shape \(6, 4, 5\)"),
        ((5, 4, 4), {}, "six square faces"),
        ((4, 4), {}, "six square faces"),
        ((2, 6, 4, 4), {}, "six square faces"),
        ((6, 4, 4), {"layered": True}, "six square faces"),
        ((6, 4, 4), {"cube": False, "seamless": True}, "seamless texture must be a cube map"),
    ],
)
def test_what_no_cube_map_can_be_is_refused(shape: tuple[int, ...], options: dict[str, Any], message: str) -> None:
    with pytest.raises(LaunchError, match=message):
        simt.texture(np.zeros(shape, np.float32), **{"cube": True, **options})


def test_a_cube_map_and_a_plane_read_zeros_of_each_other() -> None:
    plane, n = simt.texture(np.ones((4, 4, 4), np.float32), channels=4), np.int32(32)
    ones, layer, out = np.ones(32, np.float32), np.zeros(32, np.int32), np.full((32, 4), 7, np.uint32)
    simt.launch(kernels()["cube"], 1, 32, plane, n, ones, ones, ones, layer, out)
    assert not out.any()
