"""Textures of a program: what it may ask for."""

from __future__ import annotations

import pytest

from simt.driver.codes import Code, CudaError
from simt.driver.textures import DeviceImage, image_of
from simt.runtime import Context

PITCH, SIDE, FLOAT = 16, 4, 0x20


def cube_map(depth: int, layered: bool) -> DeviceImage:
    """A cube map of float32 texels, with *depth* faces in all."""
    memory = Context()
    allocation = memory.allocate(PITCH * SIDE * 64, "texels")
    shape = allocation.start, PITCH, SIDE, SIDE, depth, int(layered), 1
    return image_of(memory, *shape, FLOAT, 1, 0, 0, 1, 0, 0, 1, 1, 1, 0.0, 0.0, 0.0, 0.0)


@pytest.mark.parametrize(("depth", "layered"), [(6, False), (6, True), (18, True)])
def test_a_cube_has_six_faces(depth: int, layered: bool) -> None:
    assert cube_map(depth, layered)


@pytest.mark.parametrize("layered", [False, True])
@pytest.mark.parametrize("depth", [0, 1, 5, 7, 20])
def test_a_cube_of_other_faces_is_an_invalid_value(depth: int, layered: bool) -> None:
    with pytest.raises(CudaError) as error:
        cube_map(depth, layered)
    assert error.value.code is Code.INVALID_VALUE
