"""Textures and surfaces of a program: CUDA's descriptions become those of :mod:`simt.machine.images`."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

from simt.driver.codes import Code, CudaError
from simt.machine.images import ADDRESS_MODES, FILTERS, DeviceImage, surface, texture
from simt.runtime import Context

_FORMATS = {
    0x01: np.uint8,
    0x02: np.uint16,
    0x03: np.uint32,
    0x08: np.int8,
    0x09: np.int16,
    0x0A: np.int32,
    0x10: np.float16,
    0x20: np.float32,
}
"""``CUarray_format``."""
FACES = 6
"""Of a cube map."""


def image_of(
    memory: Context,
    address: int,
    pitch: int,
    width: int,
    height: int,
    depth: int,
    layered: int,
    cube: int,
    format: int,
    channels: int,
    is_surface: int,
    filter: int,
    normalized: int,
    read: int,
    seamless: int,
    *rest: float,
) -> DeviceImage:
    """The texture or surface on *memory* that ``image`` of :mod:`simt.driver.protocol` describes.

    Raises CudaError for unmapped memory, LaunchError for an invalid texture.
    """
    modes, border = [int(mode) for mode in rest[:3]], list(rest[3:7])
    if format not in _FORMATS or any(not 0 <= mode < len(ADDRESS_MODES) for mode in modes) or filter >= len(FILTERS):
        raise CudaError(Code.INVALID_VALUE)
    if cube and (not depth or depth % FACES):
        raise CudaError(Code.INVALID_VALUE)
    array = _texels(memory, address, pitch, [depth, height, width], np.dtype(_FORMATS[format]), channels)
    if is_surface:  # of a cube map the faces are layers
        return DeviceImage(surface(array, bool(layered or cube), channels), address)
    if cube and layered:
        array = array.reshape(-1, FACES, *array.shape[1:])
    dims = array.ndim - bool(layered) - (channels > 1)
    names = [ADDRESS_MODES[mode] for mode in modes[:dims]]
    if not normalized:  # nothing repeats then: the programming guide has them as clamp
        names = [name if name == "border" else "clamp" for name in names]
    integers = array.dtype.kind in "iu"
    fractions = bool(read) and integers and array.dtype.itemsize < 4
    linear = bool(filter) and (fractions or not integers)
    image = texture(
        array,
        FILTERS[linear],
        names,
        bool(normalized),
        "normalized" if fractions else "element",
        bool(layered),
        channels,
        border,
        bool(cube),
        bool(cube and seamless),
    )
    return DeviceImage(image, address)


def _texels(
    memory: Context, address: int, pitch: int, sizes: list[int], dtype: np.dtype[np.generic], channels: int
) -> npt.NDArray[Any]:
    """The texels in device memory as an array; *sizes* are depth or layers, height and width, 0 for missing axes."""
    texel = dtype.itemsize * channels
    depth, height, width = sizes
    shape = [size for size in sizes if size]
    strides = [pitch * max(height, 1), pitch, texel]
    steps = [stride for stride, size in zip(strides, sizes, strict=True) if size]
    found = memory.find(address)
    last = address + (max(depth, 1) * max(height, 1) - 1) * pitch + width * texel
    if found is None or not width or last > found.end:
        raise CudaError(Code.INVALID_VALUE)
    if channels > 1:
        shape.append(channels)
        steps.append(dtype.itemsize)
    made: npt.NDArray[Any] = np.ndarray(
        tuple(shape), dtype, memory.bytes_of(found).data, address - found.start, tuple(steps)
    )
    return made
