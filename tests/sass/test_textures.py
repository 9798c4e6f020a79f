"""Textures and surfaces: every recorded bit of an H200, every architecture, and what is refused."""

from __future__ import annotations

import json
import zipfile
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import simt
from simt.check import KernelError, LaunchError, MisalignedError, OutOfBoundsError
from simt.machine.images import ADDRESS_MODES, FILTERS, HANDLE_STEP, HANDLES, READS, Texture
from tests.machine_view import DATA, needs_nvdisasm

pytestmark = needs_nvdisasm

RECORDED = DATA / "h200"
ULP_OFF = {"s3_wide"}
"""Floats of exponents from -14 to 13 in three dimensions: 96 of 48,000 sums of all texels are one unit off."""


@cache
def kernels() -> Any:
    return simt.load_cubin(DATA / "sm_90" / "textures.cubin")


@cache
def recorded(name: str) -> tuple[dict[str, Any], Any]:
    file = np.load(RECORDED / f"{name}.npz")
    return json.loads(file["index"].tobytes()), file


def names(name: str) -> list[str]:
    """Groups of recorded cases, by the first part of their names."""
    return sorted({case.split("_")[0] for case in recorded(name)[0]})


def texels(case: dict[str, Any], file: Any) -> Any:
    """The array of a texture: stored, or one that counts."""
    if case["data"] == "grid":
        height, width, _ = case["shape"]
        return np.stack(np.meshgrid(np.arange(width), np.arange(height)), -1).astype(np.float32)
    if case["data"] == "arange":
        return np.arange(case["shape"][0]).astype(case["dtype"])[:, None]
    if case["data"] == "bits":
        size = np.dtype(case["dtype"]).itemsize
        return np.arange(case["shape"][0]).astype(f"u{size}").view(case["dtype"])[:, None]
    return file[case["data"]]


def recorded_texture(case: dict[str, Any], data: Any) -> Texture:
    """The texture object of a case; with addressing that :func:`simt.texture` refuses, too."""
    border = case["border"]
    if data.dtype.kind in "iu" and not case["read"]:  # CUDA takes the bits of the colour's four floats
        border = np.array(border, np.float32).view(np.uint32).tolist()
    return Texture(
        data if data.shape[-1] > 1 else data[..., 0],
        bool(case["layered"]),
        data.shape[-1],
        FILTERS[case["filter"]],
        tuple(ADDRESS_MODES[mode] for mode in case["address"]),
        bool(case["normalized"]),
        READS[case["read"]],
        tuple(border),
    )


@pytest.mark.parametrize("group", names("textures"))
def test_every_recorded_sample_has_the_bits_of_an_h200(group: str) -> None:
    index, file = recorded("textures")
    for name, case in index.items():
        if name.split("_")[0] != group:
            continue
        x = file[f"{name}.x"]
        others = [file[f"{name}.{k}"] if f"{name}.{k}" in file else np.zeros(len(x), x.dtype) for k in "yz"]
        layer = file[f"{name}.layer"] if f"{name}.layer" in file else np.zeros(len(x), np.int32)
        out = np.zeros((len(x), 4), np.uint32)
        image = recorded_texture(case, texels(case, file))
        simt.launch(kernels()[case["kernel"]], -(-len(x) // 128), 128, image, np.int32(len(x)), x, *others, layer, out)
        wrong = out != file[name]
        if name in ULP_OFF:
            assert np.abs(out.astype(np.int64) - file[name])[wrong].max(initial=0) <= 1
            assert wrong.mean() < 0.01
        else:
            assert not wrong.any(), f"{name}: {wrong.any(1).sum()} samples, first at {np.flatnonzero(wrong.any(1))[0]}"


@pytest.mark.parametrize("group", names("surfaces"))
def test_every_recorded_surface_access_has_the_bits_of_an_h200(group: str) -> None:
    index, file = recorded("surfaces")
    for name, case in index.items():
        if name.split("_")[0] != group:
            continue
        data = file[f"{name}.data"].copy()
        x, y, z = (row.copy() for row in file[f"{name}.at"])
        image = simt.surface(
            data if data.shape[-1] > 1 else data[..., 0], layered=bool(case["layered"]), channels=data.shape[-1]
        )
        kernel = kernels()[case["kernel"]]
        if case["kernel"].startswith("read"):
            expected = file[name]
            out = np.zeros_like(expected)
            simt.launch(kernel, -(-len(x) // 128), 128, image, np.int32(len(x)), x, y, z, out)
        else:
            expected, out = file[name], data
            values = np.ascontiguousarray(file[f"{name}.values"])
            simt.launch(kernel, -(-len(x) // 128), 128, image, np.int32(len(x)), x, y, z, values)
        assert out.tobytes() == expected.tobytes(), name


@pytest.mark.parametrize("architecture", [75, 80, 86, 89, 100, 120])
def test_other_architectures_read_the_same(architecture: int, tmp_path: Path) -> None:
    with zipfile.ZipFile(DATA / "textures.zip") as archive:
        (tmp_path / "textures.cubin").write_bytes(archive.read(f"sm_{architecture}.cubin"))
    others = simt.load_cubin(tmp_path / "textures.cubin")
    assert sorted(others) == sorted(kernels())
    rng = np.random.default_rng(architecture)
    data = rng.random((3, 5, 6, 4)).astype(np.float32)
    x, y, z = (rng.uniform(-2, 8, 64).astype(np.float32) for _ in range(3))
    layer = rng.integers(-1, 4, 64).astype(np.int32)
    for name in others:
        if not name.startswith(("tex", "gather")):
            others[name].program  # noqa: B018 - it lowers
            continue
        layered = "layered" in name
        dims = 1 if "fetch" in name else int(name.partition("d")[0][-1]) if "gather" not in name else 2
        view = data[(0,) * (3 - dims - layered)]
        image = simt.texture(view, "point" if "texel" in name else "linear", layered=layered, channels=4)
        results = []
        for kernel in (others[name], kernels()[name]):
            out = np.zeros((64, 4), np.uint32)
            simt.launch(kernel, 2, 32, image, np.int32(64), x, y, z, layer, out)
            results.append(out)
        assert (results[0] == results[1]).all(), name
        assert results[0].any(), name


def test_handle_in_memory_and_kernels_of_everyday_use() -> None:
    rng = np.random.default_rng(2)
    picture = rng.random((64, 100)).astype(np.float32)
    out = np.zeros_like(picture)
    simt.launch(kernels()["blur"], (4, 16), (32, 4), simt.texture(picture), np.int32(100), np.int32(64), out)
    padded = np.pad(picture, 1, "edge").astype(np.float64)
    expected = sum(padded[dy : dy + 64, dx : dx + 100] for dy in range(3) for dx in range(3)) / 9
    assert np.allclose(out, expected, rtol=1e-6)
    pixels = rng.integers(0, 256, (64, 100, 4)).astype(np.uint8)
    inverted = pixels.copy()
    simt.launch(kernels()["invert"], (4, 16), (32, 4), simt.surface(inverted, channels=4), np.int32(100), np.int32(64))
    assert (inverted[..., :3] == 255 - pixels[..., :3]).all()
    assert (inverted[..., 3] == pixels[..., 3]).all()


def test_sizes_can_be_asked_for() -> None:
    sizes = np.zeros(3, np.uint32)
    cases = (
        (simt.texture(np.zeros(7, np.float32)), [7, 1, 0]),
        (simt.texture(np.zeros((6, 7, 4), np.uint8), channels=4), [7, 6, 0]),
        (simt.texture(np.zeros((5, 6, 7), np.float32)), [7, 6, 5]),
        (simt.texture(np.zeros((5, 6, 7), np.float32), layered=True), [7, 6, 5]),
        (simt.texture(np.zeros((5, 7), np.float32), layered=True), [7, 5, 0]),
    )
    for image, expected in cases:  # as an H200 answers
        simt.launch(kernels()["query_texture"], 1, 1, image, sizes)
        assert sizes.tolist() == expected


def test_a_texture_and_an_array_argument_share_memory() -> None:
    data = np.arange(40, dtype=np.int32)
    fetch, n = kernels()["sum_bytes"], np.int32(10)
    simt.launch(fetch, 1, 32, simt.texture(data.view(np.uint8).reshape(40, 4), channels=4), n, data[:10])
    assert (data[:10] == np.arange(10)).all()
    assert (data[10:] == np.arange(10, 40)).all()


def test_every_row_of_a_divergent_loop_counts_as_on_an_h200() -> None:
    """Splits meet at texture instructions as they do at loads."""
    file = np.load(RECORDED / "textures_march.npz")
    out = np.zeros(512, np.float32)
    profile = simt.launch(kernels()["march"], 4, 128, simt.texture(file["picture"]), file["trips"], out)
    assert (out == file["values"]).all()
    names = ("inst_executed", "thread_inst_executed", "pred_on_thread_inst_executed")
    assert [[line.counters[name] for name in names] for line in profile.lines] == file["counts"].tolist()


def test_timing_takes_textures() -> None:
    trips = np.arange(128, dtype=np.int32) % 5
    image, out = simt.texture(np.ones((64, 100), np.float32)), np.zeros(128, np.float32)
    profile = simt.launch(kernels()["march"], 1, 128, image, trips, out, timing=True, device="h200")
    assert (out == trips).all()
    assert profile.timing is not None


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"array": [1, 2]}, "a texture of a list"),
        ({"array": np.zeros(4, np.float64)}, "a texture of float64"),
        ({"array": np.zeros((2, 2, 2, 2), np.float32)}, "channels=4 makes the last axis the components"),
        ({"array": np.zeros((2, 2, 2, 2), np.float32), "layered": True}, "it has one or two, and the layer first;"),
        ({"array": np.zeros((4, 3), np.float32), "channels": 3}, "of 3 channels"),
        ({"array": np.zeros((4, 3), np.float32), "channels": 4}, "on an array of shape (4, 3)"),
        ({"array": np.zeros(0, np.float32)}, "without texels"),
        ({"array": np.zeros(4, np.int32), "filter": "linear"}, "a linear filter on a texture of int32"),
        ({"array": np.zeros(4, np.float32), "read": "normalized"}, "a texture of float32 has no normalised reads"),
        ({"array": np.zeros(4, np.float32), "address": "wrap"}, "require normalised coordinates"),
        ({"array": np.zeros(4, np.float32), "address": "repeat"}, "address mode is 'repeat'"),
        ({"array": np.zeros(4, np.float32), "filter": "cubic"}, "a texture's filter is 'cubic'"),
        ({"array": np.zeros(4, np.float32), "border": (1, 2)}, "border has 2 components"),
        ({"array": np.zeros(4, np.float32), "border": "red"}, "a texture's border is 'red'"),
        ({"array": np.zeros(4, np.float32), "border": [[1], [2, 3]]}, "a texture's border is [[1], [2, 3]]"),
    ],
)
def test_what_no_texture_can_be_is_refused(arguments: dict[str, Any], message: str) -> None:
    with pytest.raises(LaunchError) as caught:
        simt.texture(**arguments)
    assert message in str(caught.value)


@pytest.mark.parametrize("layered", [False, True])
@pytest.mark.parametrize("channels", [1, 2, 4])
@pytest.mark.parametrize("dims", [1, 2, 3])
def test_one_address_mode_for_each_dimension(dims: int, channels: int, layered: bool) -> None:
    array = np.zeros((*[2] * (dims + layered), *[channels] * (channels > 1)), np.float32)
    if dims == 3 and layered:
        with pytest.raises(LaunchError, match="of 3 dimensions"):
            simt.texture(array, layered=layered, channels=channels)
        return
    modes = ("wrap", "mirror", "border")[:dims]
    image = simt.texture(array, address=modes, normalized=True, layered=layered, channels=channels)
    assert image.address == (*modes, *["clamp"] * (3 - dims))
    for wrong in (modes[:-1], (*modes, *["clamp"] * (4 - dims))):
        with pytest.raises(LaunchError, match=f"{len(wrong)} address modes for {dims} dimensions"):
            simt.texture(array, address=wrong, normalized=True, layered=layered, channels=channels)


def test_a_border_that_no_texel_can_have_is_the_nearest_but_infinity_stays() -> None:
    most = np.finfo(np.float32).max
    image = simt.texture(np.zeros((4, 4), np.float32), address="border", channels=4, border=(np.inf, 1e39, -1e300, 2))
    assert outside(image).view(np.float32).tolist() == [np.inf, most, -most, 2]


def outside(image: Texture, handle: int | None = None) -> Any:
    """What a kernel reads left of a texture, or left of the one with this handle; it gets another one beside it."""
    one, out = np.float32([-5]), np.zeros((1, 4), np.uint32)
    other = simt.texture(np.zeros(4, np.float32), address="border", border=9)
    given = image if handle is None else np.uint64(handle)
    simt.launch(kernels()["tex_1d"], 1, 1, given, np.int32(1), one, other, image, one, out)
    return out[0]


def test_handles_are_those_of_the_launch_and_no_others() -> None:
    image = simt.texture(np.zeros((4, 4), np.float32), address="border", channels=4, border=(1, 2, 3, 4))
    first = HANDLES + HANDLE_STEP
    assert outside(image, first).view(np.float32)[0] == 9
    assert outside(image, first + HANDLE_STEP).view(np.float32).tolist() == [1, 2, 3, 4]
    for wrong in (0, HANDLES, first + 1, first + HANDLE_STEP // 2, *(first + k * HANDLE_STEP for k in (-1, 2, 3, 40))):
        with pytest.raises(KernelError, match="no texture has the handle"):
            outside(image, wrong)


def test_arrays_where_textures_are_wanted_and_the_reverse_are_told() -> None:
    x, out = np.zeros(32, np.float32), np.zeros((32, 4), np.uint32)
    layer, n, image = np.zeros(32, np.int32), np.int32(32), simt.texture(np.ones(8, np.float32))
    tex = kernels()["tex_1d"]
    with pytest.raises(KernelError, match=r"(?s)no texture has the handle.*the address of argument 0, an array"):
        simt.launch(tex, 1, 32, x, n, x, x, x, layer, out)
    with pytest.raises(OutOfBoundsError, match="that is the handle of a texture or surface"):
        simt.launch(tex, 1, 32, image, n, image, x, x, layer, out)
    with pytest.raises(KernelError, match="no texture has the handle"):
        simt.launch(tex, 1, 32, simt.surface(np.ones(8, np.float32)), n, x, x, x, layer, out)
    with pytest.raises(LaunchError, match="which Python kernels do not support"):
        simt.launch(lambda a: None, 1, 1, image)
    surface = simt.surface(np.zeros((4, 8), np.uint32))
    places, values = np.full(32, 2, np.int32), np.zeros(32, np.uint32)
    with pytest.raises(MisalignedError):
        simt.launch(kernels()["read_2d_uint_zero"], 1, 32, surface, n, places, layer, layer, values)
    with pytest.raises(OutOfBoundsError, match="of a surface"):
        simt.launch(kernels()["write_2d_uint_trap"], 1, 32, surface, n, 40 * places, layer, layer, values)


def test_profile_takes_a_texture_as_an_argument(tmp_path: Path, capsys: Any) -> None:
    from simt.cli import arguments

    np.save(tmp_path / "picture.npy", np.ones((4, 6), np.float32))
    text = f"texture:{tmp_path}/picture.npy,filter=linear,address=wrap/clamp,normalized=true"
    (image,) = arguments.parse([text], [8])
    assert (image.filter, image.address[:2], image.normalized) == ("linear", ("wrap", "clamp"), True)
    for wrong, message in (
        (f"texture:{tmp_path}/picture.npy,filter=cubic", "a texture's filter is 'cubic'"),
        (f"texture:{tmp_path}/picture.npy,colour=1", "a texture has no option"),
        (f"texture:{tmp_path}/picture.npy,layered=1", "write true or false"),
        (f"surface:{tmp_path}/nothing.npy", "there is no such file"),
    ):
        with pytest.raises(LaunchError, match=message):
            arguments.parse([wrong], [8])
