"""Kernel arguments as they are written on the command line of ``simt profile``."""

from __future__ import annotations

import re
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
import typer

from simt.check import LaunchError
from simt.cli.numbers import parse_size
from simt.demangle import parameter_types
from simt.machine.images import Image, surface, texture
from simt.text import counted

_HOW = "`simt profile --help` shows how arguments are written"

_SUFFIX = {
    np.dtype(name).kind + str(8 * np.dtype(name).itemsize): np.dtype(name)
    for name in (
        *("int8", "int16", "int32", "int64", "uint8", "uint16", "uint32", "uint64"),
        *("float16", "float32", "float64"),
    )
}
_LITERAL = re.compile(
    r"(?P<integer>[+-]?(?:0x[0-9a-f]+|\d[\d_]*(?:\^\d+)?))(?P<type>[iuf]\d+)?"
    r"|(?P<float>[+-]?(?:(?:\d[\d_]*\.\d*|\.\d+|\d[\d_]*(?=e))(?:e[+-]?\d+)?|inf|nan))(?P<float_type>f\d+)?",
    re.IGNORECASE,
)
_ARRAYS = ("zeros", "arange", "random")
_GENERATED = re.compile(r"(?P<how>zeros|arange|random):(?P<dtype>\w+):(?P<size>[^:]+)(?::(?P<seed>\d+))?")


_KINDS = {"half": "f", "float": "f", "double": "f", "bool": "i", "char": "i", "short": "i", "int": "i", "long": "i"}
"""What a number of a C++ type is, by the last word of its name: a float, or an integer."""


def parse(texts: Sequence[str], sizes: Sequence[int], name: str = "") -> list[Any]:
    """The arguments of a kernel whose parameters have these *sizes* (bytes).

    ``name``: its mangled name, which may say which parameters are floats.  Arrays are contiguous NumPy arrays, numbers
    NumPy scalars of the parameter's size.  Raises LaunchError.
    """
    if len(texts) != len(sizes):
        wanted = ", ".join(map(str, sizes)) or "none"
        raise LaunchError(
            f"the kernel takes {len(sizes)} arguments, not {len(texts)}",
            details=[f"bytes of its parameters: {wanted}"],
            help=_HOW,
        )
    types = parameter_types(name) or []
    if len(types) != len(sizes):
        types = [""] * len(sizes)
    return [_argument(number, *each) for number, each in enumerate(zip(texts, sizes, types, strict=True))]


def set_variable(variable: np.ndarray, name: str, text: str) -> None:
    """Write what *text* says to a variable of a module.  Raises LaunchError if it does not have the variable's size."""
    size = variable.nbytes
    try:
        value = np.ascontiguousarray(_value(text.strip(), size, "variable"))
    except ValueError as error:
        raise LaunchError(f"symbol {name}, {text!r}: {error}", help=_HOW) from None
    if value.nbytes != size:
        raise LaunchError(
            f"symbol {name}, {text!r}, has {counted(value.nbytes, 'byte')}; the variable has {size}", help=_HOW
        )
    variable.view(np.uint8)[:] = value.reshape(-1).view(np.uint8)


def _argument(number: int, text: str, size: int, declared: str) -> Any:
    try:
        value = _value(text.strip(), size, "parameter", declared)
    except ValueError as error:
        raise LaunchError(f"argument {number}, {text!r}: {error}", help=_HOW) from None
    if isinstance(value, np.ndarray | Image) and size != 8:
        what = "an array" if isinstance(value, np.ndarray) else f"a {value.word}"
        raise LaunchError(
            f"argument {number}, {text!r}, is {what}, but parameter {number} has {counted(size, 'byte')}, not 8"
        )
    if isinstance(value, np.generic) and value.nbytes != size:
        raise LaunchError(
            f"argument {number}, {text!r}, has {counted(value.nbytes, 'byte')}; parameter {number} takes {size}",
            help=_HOW,
        )
    return value


def _value(text: str, size: int, target: str, declared: str = "") -> Any:
    """What *text* says, for a *target* ("parameter") of so many bytes, of a known type.  Raises ValueError."""
    if text.startswith("bytes:"):
        return _bytes(text.removeprefix("bytes:"))
    if text.startswith(("texture:", "surface:")):
        return _image(*text.split(":", 1))
    if text.endswith(".npy"):
        return _saved(text)
    how, colon, _ = text.partition(":")
    if colon and how in _ARRAYS:
        generated = _GENERATED.fullmatch(text)
        if generated is None:
            raise ValueError(f"an array is written {how}:TYPE:SIZE, such as {how}:int32:2^20")
        return _generated(**generated.groupdict())
    return _number(text, size, target, declared)


def _bytes(text: str) -> Any:
    try:
        return np.void(bytes.fromhex(text))
    except ValueError:
        raise ValueError("bytes are written as pairs of hexadecimal digits, such as bytes:01ff") from None


_WORDS = {"true": True, "false": False}
_IMAGE_OPTIONS = {
    "texture": ("filter", "address", "normalized", "read", "layered", "channels", "border"),
    "surface": ("layered", "channels"),
}


def _image(kind: str, text: str) -> Image:
    """``FILE.npy,filter=linear,address=wrap/clamp``: a texture or surface on a saved array."""
    file, *options = text.split(",")
    given: dict[str, Any] = {}
    for option in options:
        name, equals, value = option.partition("=")
        if name not in _IMAGE_OPTIONS[kind] or not equals:
            raise ValueError(
                f"a {kind} has no option {option!r}; choose {', '.join(_IMAGE_OPTIONS[kind])}, each with =VALUE"
            )
        given[name] = _image_option(name, value)
    array = np.asarray(_saved(file))
    try:
        return texture(array, **given) if kind == "texture" else surface(array, **given)
    except LaunchError as error:
        raise ValueError(f"{error.title}; {error.help}" if error.help else error.title) from None


def _image_option(name: str, value: str) -> Any:
    if name in ("normalized", "layered"):
        if value not in _WORDS:
            raise ValueError(f"{name}={value}: write true or false")
        return _WORDS[value]
    if name == "address":
        return tuple(value.split("/")) if "/" in value else value
    if name in ("channels", "border"):
        try:
            return int(value) if name == "channels" else [float(part) for part in value.split("/")]
        except ValueError:
            raise ValueError(f"{name}={value}: write numbers") from None
    return value


def _saved(text: str) -> Any:
    if not Path(text).is_file():
        raise ValueError("there is no such file")
    try:
        array = np.load(text, allow_pickle=False)
    except (OSError, EOFError) as error:
        raise ValueError(f"it is not an array that NumPy saved ({error})") from None
    except ValueError:
        raise ValueError("it holds Python objects or is damaged; save an array of numbers with numpy.save") from None
    if array.dtype.kind not in "iufbc":
        raise ValueError(f"an array of {array.dtype} cannot be used on a GPU")
    return array[()] if array.ndim == 0 else np.ascontiguousarray(array)


def _generated(how: str, dtype: str, size: str, seed: str | None) -> Any:
    try:
        kind = np.dtype(dtype)
    except TypeError:
        kind = np.dtype(object)
    if kind.kind not in "iuf" or kind.itemsize > 8:
        raise ValueError(f"there is no type {dtype}; choose int8 to int64, uint8 to uint64 or float16 to float64")
    try:
        count = parse_size(size)
    except typer.BadParameter as error:
        raise ValueError(error.message) from None
    if seed is not None and how != "random":
        raise ValueError(f"{how} takes no seed")
    if how == "zeros":
        return np.zeros(count, kind)
    if how == "arange":
        return np.arange(count, dtype=np.int64).astype(kind)
    generator = np.random.default_rng(int(seed or 0))
    if kind.kind == "f":
        return generator.random(count).astype(kind)
    return generator.integers(-128 if kind.kind == "i" else 0, 128 if kind.kind == "i" else 256, count).astype(kind)


def _number(text: str, size: int, target: str, declared: str) -> Any:
    if text.lower() in ("true", "false"):
        text = str(int(text.lower() == "true"))
    found = _LITERAL.fullmatch(text)
    if found is None:
        raise ValueError("this is not a number, an array or a file.npy")
    suffix = (found["type"] or found["float_type"] or "").lower()
    if suffix and suffix not in _SUFFIX:
        raise ValueError(f"there is no type {suffix}; the types are {', '.join(_SUFFIX)}")
    is_float = found["float"] is not None
    wanted = _KINDS.get(declared.rsplit(" ", 1)[-1])
    if is_float and wanted == "i" and not suffix:
        raise ValueError(f"the {target} is of type {declared}; write a number without point and exponent")
    if suffix:
        kind = _SUFFIX[suffix]
    elif size in (2, 4, 8) or (size == 1 and not is_float):
        kind = np.dtype(f"{'f' if is_float else wanted or 'i'}{size}")
    else:
        given = "float" if is_float else "number"
        raise ValueError(f"a {target} of {counted(size, 'byte')} takes no {given}; write bytes:... or FILE.npy")
    if is_float or kind.kind == "f":
        return kind.type(float(found["float"] or _integer(found["integer"])))
    return _fitting(_integer(found["integer"]), kind, signed_or_not=not suffix)


def _integer(text: str) -> int:
    base, _, exponent = text.partition("^")
    # More than 2^64 fits nowhere, and a large power would take long to work out.
    value: int = int(base, 16 if "x" in base.lower() else 10) ** min(int(exponent or 1), 64)
    return value


def _fitting(value: int, kind: np.dtype[Any], signed_or_not: bool) -> Any:
    """The integer in that type, or, where the type was not given, in the unsigned one of the same width."""
    kinds = [kind, np.dtype(f"u{kind.itemsize}")] if signed_or_not else [kind]
    for each in kinds:
        limits = np.iinfo(each)
        if limits.min <= value <= limits.max:
            return each.type(value)
    raise ValueError(
        f"it does not fit in {counted(kind.itemsize, 'byte')}" if signed_or_not else f"it does not fit in {kind}"
    )
