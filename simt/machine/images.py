"""Textures and surfaces as kernel arguments: :func:`texture`, :func:`surface`, and their table for the engine."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from simt.check import LaunchError
from simt.machine.layout import ADDRESS_BASE

FORMATS = ("uint8", "int8", "uint16", "int16", "uint32", "int32", "float16", "float32")
"""Types of a texel's components in order of their number."""
ADDRESS_MODES = ("wrap", "clamp", "mirror", "border")
"""What happens to coordinates outside a texture, in order of their number (cudaTextureAddressMode)."""
FILTERS = ("point", "linear")
READS = ("element", "normalized")
MAX_CHANNELS = 4

HANDLES = 0x7D0000000000
"""Handles are numbers from here on.  Instructions read only their low 32 bits; an address of this size, below those
of the arena, is a handle that was used as a pointer."""

HANDLE_STEP = 256
"""Distance between two handles: they are aligned like pointers, so that using one as a pointer is reported as such."""

# A row of the engine's table of textures and surfaces (int64).
(
    X_BASE,  # position of the first texel in the arena
    X_WIDTH,
    X_HEIGHT,
    X_DEPTH,
    X_LAYERS,  # 0: not layered
    X_STRIDE_X,  # bytes from texel to texel, row to row, slice to slice, layer to layer, component to component
    X_STRIDE_Y,
    X_STRIDE_Z,
    X_STRIDE_LAYER,
    X_STRIDE_CHANNEL,
    X_DIMS,
    X_FORMAT,
    X_CHANNELS,
    X_SURFACE,  # 1: a surface, 0: a texture
    X_FILTER,
    X_NORMALIZED,  # 1: coordinates count from 0 to 1
    X_READ,  # 1: integers read as fractions
    X_CUBE,  # 1: a cube map, 2: one whose edges a linear filter crosses; its faces are its slices
    X_ADDRESS,  # address modes of x, y, z
) = range(19)
X_BORDER = X_ADDRESS + 3  # bits of the border's four components
N_IMAGE = X_BORDER + MAX_CHANNELS


@dataclass(frozen=True, repr=False)
class Image:
    """A NumPy array that a kernel sees as a surface: texels of ``channels`` components in ``dims`` dimensions.

    The axes are, from the last: components (if there are several), x, y, z, and the layer if ``layered``.
    """

    array: npt.NDArray[Any]
    layered: bool = False
    channels: int = 1

    word = "surface"

    def __repr__(self) -> str:
        return f"<{self.word} on {self.array.dtype}, shape {self.array.shape}>"

    @property
    def dims(self) -> int:
        """Dimensions of one layer."""
        return self.array.ndim - self.layered - (self.channels > 1)

    def rows_contiguous(self) -> bool:
        """Whether the texels of a row stand side by side: surfaces are addressed by bytes."""
        row = self.array.strides[-2:] if self.channels > 1 else self.array.strides[-1:]
        size = self.array.itemsize
        return row in ((size,), (size * self.channels, size))

    def row(self, base: int) -> list[int]:
        """The row of the engine's table; *base* is the arena position of the array's first element."""
        shape, strides = list(self.array.shape), list(self.array.strides)
        channel = strides.pop() if self.channels > 1 else self.array.itemsize
        del shape[len(strides) :]
        layers, layer_stride = (shape.pop(0), strides.pop(0)) if self.layered else (0, 0)
        missing = 3 - len(shape)
        whole = [*shape[::-1], *[1] * missing]
        steps = [*strides[::-1], *[0] * missing]
        sizes = [base, *whole, layers, *steps, layer_stride, channel]
        return [*sizes, self.dims, FORMATS.index(self.array.dtype.name), self.channels, *self._sampler()]

    def _sampler(self) -> list[int]:
        return [1, *[0] * (N_IMAGE - X_SURFACE - 1)]


@dataclass(frozen=True, repr=False)
class Texture(Image):
    """A NumPy array that a kernel samples as a texture; see :func:`texture`."""

    filter: str = "point"
    address: tuple[str, ...] = ("clamp",) * 3
    normalized: bool = False
    read: str = "element"
    border: tuple[float, ...] = (0.0,) * MAX_CHANNELS

    cube: bool = False
    seamless: bool = False

    word = "texture"

    @property
    def dims(self) -> int:
        """Dimensions of one layer, those of a face for a cube map."""
        return 2 if self.cube else super().dims

    def _sampler(self) -> list[int]:
        modes = [ADDRESS_MODES.index(mode) for mode in self.address]
        if not (self.normalized or self.cube):  # as on hardware: nothing repeats
            modes = [mode if mode == ADDRESS_MODES.index("border") else ADDRESS_MODES.index("clamp") for mode in modes]
        sampler = [0, FILTERS.index(self.filter), int(self.normalized), READS.index(self.read)]
        return [*sampler, self.cube + (self.cube and self.seamless), *modes, *self._border()]

    def _border(self) -> list[int]:
        """The border's components as texels have them in memory."""
        typ = self.array.dtype
        if typ.kind == "f":
            limit = float(np.finfo(typ).max)
            colours = np.array([c if np.isinf(c) else np.clip(c, -limit, limit) for c in self.border]).astype(typ)
            return [int(bits) for bits in colours.view(f"u{typ.itemsize}")]
        if self.read == "element":
            return [int(np.array([int(c) & 0xFFFFFFFF], np.uint32).astype(typ)[0]) for c in self.border]
        most = int(np.iinfo(typ).max)
        least = 0.0 if typ.kind == "u" else -1.0
        return [int(np.rint(np.float32(np.clip(c, least, 1.0)) * np.float32(most))) for c in self.border]


def texture(
    array: npt.NDArray[Any],
    filter: str = "point",
    address: str | Sequence[str] = "clamp",
    normalized: bool = False,
    read: str = "element",
    layered: bool = False,
    channels: int = 1,
    border: float | Sequence[float] = 0,
    cube: bool = False,
    seamless: bool = False,
) -> Texture:
    """An array as a texture: an argument of :func:`simt.launch` in the machine view, for a ``cudaTextureObject_t``.

    Parameters:
        array: texels of int8 to int32, uint8 to uint32, float16 or float32; axes (z, y, x), (y, x) or (x), with the
            layer before them if ``layered`` and the components behind them if there are several ``channels``.  It
            also stands for linear and pitched memory (``tex1Dfetch``).
        filter: ``"point"``, the texel that a coordinate falls into; or ``"linear"``, between the two nearest in each
            dimension, for floats and normalised reads.
        address: what lies outside: ``"clamp"`` the texel at the edge, ``"border"`` the border's colour, ``"wrap"`` and
            ``"mirror"`` the texture again (with normalised coordinates only, as in CUDA); one for all or one per
            dimension, x first.
        normalized: coordinates go from 0 to 1 instead of counting texels.
        read: ``"normalized"``: integers of 8 and 16 bits read as float32 from 0 or -1 to 1.
        channels: 1, 2 or 4 components of a texel.
        border: colour of the border, one component or one for each of four.
        cube: a cube map: six square faces (x, -x, y, -y, z, -z), the axis before y; coordinates are a direction.
        seamless: a linear filter takes texels of the next face at the edges of a cube map.

    Raises LaunchError for arguments that describe no texture.
    """
    _check_image("texture", array, layered, channels, cube)
    if seamless and not cube:
        raise LaunchError("a seamless texture must be a cube map", help="pass cube=True and six faces")
    for name, value, choices in (("filter", filter, FILTERS), ("read", read, READS)):
        if value not in choices:
            raise LaunchError(f"a texture's {name} is {value!r}", help=f"choose {' or '.join(choices)}")
    integers = array.dtype.kind in "iu"
    if read == "normalized" and not (integers and array.dtype.itemsize < 4):
        raise LaunchError(
            f"a texture of {array.dtype} has no normalised reads", help="int8, uint8, int16 and uint16 have them"
        )
    if filter == "linear" and integers and read == "element":
        raise LaunchError(
            f"a linear filter on a texture of {array.dtype} that is read as integers",
            help='pass filter="point", or read="normalized" for 8 and 16 bits, or an array of floats',
        )
    dims = array.ndim - layered - (channels > 1)
    modes = _modes(address, dims)
    if not (normalized or cube) and {"wrap", "mirror"} & set(modes):
        raise LaunchError(
            "the address modes wrap and mirror require normalised coordinates",
            help="pass normalized=True and divide the coordinates by the size, or choose clamp or border",
        )
    return Texture(array, layered, channels, filter, modes, normalized, read, _colour(border), cube, seamless)


def _colour(border: float | Sequence[float]) -> tuple[float, ...]:
    """The four components of a border.  Raises LaunchError."""
    try:
        given = np.asarray(border, np.float64)
    except (TypeError, ValueError):
        raise LaunchError(f"a texture's border is {border!r}", help="pass one number, or four") from None
    if given.size not in (1, MAX_CHANNELS):
        raise LaunchError(f"a texture's border has {given.size} components", help="pass one number, or four")
    return tuple(float(component) for component in np.broadcast_to(given.reshape(-1), MAX_CHANNELS))


def surface(array: npt.NDArray[Any], layered: bool = False, channels: int = 1) -> Image:
    """An array as a surface: an argument of :func:`simt.launch` in the machine view, for a ``cudaSurfaceObject_t``.

    The kernel changes the array in place.  For the parameters and errors see :func:`texture`.
    """
    _check_image("surface", array, layered, channels)
    if not Image(array, layered, channels).rows_contiguous():
        raise LaunchError("the texels of a surface must be contiguous", help="pass a copy: array.copy()")
    if not array.flags.writeable:
        raise LaunchError("a surface on a read-only array", help="pass a writable array (array.flags.writeable)")
    return Image(array, layered, channels)


def _check_image(word: str, array: object, layered: bool, channels: int, cube: bool = False) -> None:
    """Raise LaunchError for an array that cannot be a texture or surface."""
    if not isinstance(array, np.ndarray):
        raise LaunchError(f"a {word} of a {type(array).__name__}", help="pass a NumPy array")
    if array.dtype.name not in FORMATS or not array.dtype.isnative:
        raise LaunchError(f"a {word} of {array.dtype}", help=f"use {', '.join(FORMATS)}, in native byte order")
    if channels not in (1, 2, 4):
        raise LaunchError(f"a {word} of {channels} channels", help="a texel has 1, 2 or 4 components")
    if channels > 1 and (array.ndim == 0 or array.shape[-1] != channels):
        raise LaunchError(
            f"a {word} of {channels} channels on an array of shape {array.shape}",
            help=f"the components are its last axis: its size must be {channels}",
        )
    dims = array.ndim - layered - (channels > 1)
    faces = array.shape[layered : layered + 3]
    if cube and not (dims == 3 and faces[0] == 6 and faces[1] == faces[2]):
        raise LaunchError(
            f"a cube map of an array of shape {array.shape}",
            help="it has six square faces: axes (face, y, x), with the layer before them and the components behind",
        )
    if not (cube or 1 <= dims <= (2 if layered else 3)):
        most = "one or two, and the layer first" if layered else "one to three"
        raise LaunchError(
            f"a {word} of {dims} dimensions: an array of shape {array.shape}"
            + (f" with {channels} channels" if channels > 1 else ""),
            help=f"it has {most}" + ("" if channels > 1 else "; channels=4 makes the last axis the components"),
        )
    if array.size == 0:
        raise LaunchError(f"a {word} without texels: an array of shape {array.shape}")
    if not array.flags.aligned or any(stride % array.itemsize for stride in array.strides):
        raise LaunchError(f"a {word} on an array that is not aligned", help="pass a copy: array.copy()")


def _modes(address: str | Sequence[str], dims: int) -> tuple[str, ...]:
    """The address mode of each of three dimensions.  LaunchError."""
    modes = (address,) * dims if isinstance(address, str) else tuple(address)
    unknown = [mode for mode in modes if mode not in ADDRESS_MODES]
    if unknown:
        raise LaunchError(f"a texture's address mode is {unknown[0]!r}", help=f"choose {', '.join(ADDRESS_MODES)}")
    if not dims <= len(modes) <= 3:
        raise LaunchError(f"{len(modes)} address modes for {dims} dimensions", help="pass one, or one per dimension")
    return (*modes, *["clamp"] * 3)[:3]


@dataclass(frozen=True)
class DeviceImage:
    """A texture or surface whose array is in device memory, from *address* on."""

    image: Image
    address: int


def handle(number: int) -> int:
    """The handle of a launch's texture or surface with this number, counted from 0 in the order of the arguments."""
    return HANDLES + HANDLE_STEP * (1 + number)


def handles(arguments: Sequence[object]) -> dict[int, int]:
    """The handle of each argument that is a texture or surface, by its position."""
    places = [k for k, value in enumerate(arguments) if isinstance(value, DeviceImage)]
    return {k: handle(number) for number, k in enumerate(places)}


def table(arguments: Sequence[object]) -> npt.NDArray[np.int64]:
    """The engine's table (int64, flat) of a launch's textures and surfaces, in the order of their handles."""
    images = [value for value in arguments if isinstance(value, DeviceImage)]
    return np.array([each.image.row(each.address - int(ADDRESS_BASE)) for each in images], np.int64).reshape(-1)
