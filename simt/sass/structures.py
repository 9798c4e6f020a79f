"""Arguments that hold pointers or handles: structures passed by value, and arrays of textures and surfaces.

A structure is a tuple, a dictionary or a NumPy record.  The first two have the layout that C gives their members in
order, each at a multiple of its alignment: an array is a pointer to its data, None the null pointer, a texture or
surface its handle, a NumPy scalar itself, a tuple or dictionary a structure of its own.  A NumPy record has its dtype's
offsets (``align=True`` gives those of C), with arrays in its fields of dtype object.  A list of textures and surfaces
is an array of their handles in device memory.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import numpy as np
import numpy.typing as npt

from simt.check import LaunchError
from simt.machine.images import Image, handle
from simt.text import counted

_POINTER = 8


def is_structure(value: object) -> bool:
    """Whether an argument is one of these: it may hold pointers."""
    return isinstance(value, tuple | dict) or (isinstance(value, np.void) and value.dtype.hasobject)


def inner_arrays(arguments: Sequence[object]) -> list[npt.NDArray[Any] | Image]:
    """The arrays, textures and surfaces in structures, in the order in which :func:`structure_bytes` meets them."""
    return [array for value in arguments if is_structure(value) for array in _arrays(value)]


def handle_arrays(arguments: Sequence[object]) -> tuple[list[object], list[Image]]:
    """The arguments with lists as arrays (uint64) of handles, and the textures and surfaces that were in the lists.

    These come last among the arguments of the launch: behind what :func:`inner_arrays` finds.  Raises LaunchError for a
    list of anything else.
    """
    listed: list[Image] = []
    first = sum(isinstance(value, Image) for value in [*arguments, *inner_arrays(arguments)])
    changed: list[object] = []
    for number, value in enumerate(arguments):
        if isinstance(value, list):
            for k, member in enumerate(value):
                if not isinstance(member, Image):
                    raise LaunchError(
                        f"argument {number} is a list with a {type(member).__name__} at position {k}",
                        help="a list is an array of textures or surfaces; for numbers give a NumPy array",
                    )
            at = first + len(listed)
            listed += value
            value = np.array([handle(at + k) for k in range(len(value))], np.uint64)
        changed.append(value)
    return changed, listed


def structure_bytes(value: object, addresses: Iterator[int], name: str) -> bytes:
    """The bytes of a structure; ``addresses``: those of its arrays, and handles of its textures, in order.

    Raises LaunchError, which calls the argument *name*, for a member that has no size of its own.
    """
    if isinstance(value, np.void):
        return _record(value, addresses, name)
    return _laid_out(_members(value), addresses, name)[0]


def _members(value: object) -> Sequence[object]:
    """The members of a tuple or dictionary."""
    assert isinstance(value, tuple | dict)
    return value if isinstance(value, tuple) else list(value.values())


def _arrays(value: object) -> Iterator[npt.NDArray[Any] | Image]:
    if isinstance(value, np.ndarray | Image):
        yield value
    elif is_structure(value):
        fields = [value[name] for name in value.dtype.names or ()] if isinstance(value, np.void) else _members(value)
        for member in fields:
            yield from _arrays(member)


def _laid_out(members: Sequence[object], addresses: Iterator[int], name: str) -> tuple[bytes, int]:
    """Bytes and alignment of a structure with these members."""
    data = bytearray()
    widest = 1
    for k, member in enumerate(members):
        own, align = _member(member, addresses, f"{name}[{k}]")
        widest = max(widest, align)
        data += bytes(-len(data) % align) + own
    return bytes(data + bytes(-len(data) % widest)), widest


def _member(member: object, addresses: Iterator[int], name: str) -> tuple[bytes, int]:
    """Bytes and alignment of one member."""
    if member is None or isinstance(member, np.ndarray | Image):
        return _pointer(member, addresses), _POINTER
    if isinstance(member, tuple | dict):
        return _laid_out(_members(member), addresses, name)
    if isinstance(member, np.void) and member.dtype.hasobject:
        return _record(member, addresses, name), member.dtype.alignment
    if isinstance(member, np.generic):
        return member.tobytes(), member.dtype.alignment
    raise LaunchError(
        f"{name} is a {type(member).__name__}, whose size in a structure is unknown",
        help="give NumPy scalars such as np.int32(n), arrays, textures, None, tuples or dictionaries",
    )


def _pointer(value: object, addresses: Iterator[int]) -> bytes:
    return (0 if value is None else next(addresses)).to_bytes(_POINTER, "little")


def _record(value: np.void, addresses: Iterator[int], name: str) -> bytes:
    data = bytearray(value.dtype.itemsize)
    fields: Mapping[str, Any] = value.dtype.fields or {}
    for field in value.dtype.names or ():
        kind, at = fields[field][:2]
        member = value[field]
        if kind.hasobject:
            own = _member(member, addresses, f"{name}[{field!r}]")[0]
            if len(own) != kind.itemsize:
                raise LaunchError(f"{name}[{field!r}] has {counted(len(own), 'byte')}; its field has {kind.itemsize}")
        else:
            own = member.tobytes()
        data[at : at + kind.itemsize] = own
    return bytes(data)
