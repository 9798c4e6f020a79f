"""What ``simt sweep`` tries: block sizes, grids, constants of the kernel's file and devices, all combinations."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from itertools import product
from typing import TypeVar

import typer

from simt.cli.asked import Shape
from simt.cli.numbers import parse_shape

Value = TypeVar("Value")

_CONSTANT = re.compile(r"\s*([A-Za-z_]\w*)\s*=\s*(.*)")


@dataclass(frozen=True)
class Trial:
    """One launch of a sweep: what it has that others may not have; None is as the kernel or the command line says."""

    block: Shape | None = None
    grid: Shape | None = None
    constants: tuple[tuple[str, str], ...] = ()
    device: str | None = None

    @property
    def axes(self) -> Mapping[str, Shape | str]:
        """The value of each thing that the sweep sets, by its name: ``{"block": 128, "UNROLL": "4"}``."""
        found = {"block": self.block, "grid": self.grid, **dict(self.constants), "device": self.device}
        return {name: value for name, value in found.items() if value is not None}

    @property
    def texts(self) -> Mapping[str, str]:
        """:attr:`axes` as a table shows them."""
        return {
            name: "x".join(map(str, value)) if isinstance(value, tuple) else str(value)
            for name, value in self.axes.items()
        }

    def __str__(self) -> str:
        texts = self.texts
        if texts.keys() == {"block"}:
            return f"{texts['block']} threads per block"
        named = dict(self.constants)
        return ", ".join(f"{name}={text}" if name in named else f"{name} {text}" for name, text in texts.items())


def trials(
    blocks: str | None, grids: str | None, constants: Sequence[str], devices: str | None, sizes: str
) -> list[Trial]:
    """All combinations of what the options of ``simt sweep`` say, block sizes first.

    *sizes*: the block sizes of a sweep that names nothing to try.  Raises ``typer.BadParameter``.
    """
    if blocks is None and not (grids or constants or devices):
        blocks = sizes
    of_constants = dict(_constant(text) for text in constants)
    if len(of_constants) < len(constants):
        raise typer.BadParameter("each constant is named once, with all its values", param_hint="--constants")
    names = [[(name, value) for value in values] for name, values in of_constants.items()]
    listed = product(
        _listed(blocks, "--blocks", "128,256,512 or 16x16,32x8", parse_shape),
        _listed(grids, "--grids", "132,264 or 16x16,32x32", parse_shape),
        list(product(*names)),
        _listed(devices, "--devices", "h200,h100,my.toml", str),
    )
    return [Trial(block, grid, values, device) for block, grid, values, device in listed]


def _listed(text: str | None, option: str, form: str, parse: Callable[[str], Value]) -> Sequence[Value | None]:
    """The values between commas, each once; [None] where the option was not given."""
    if text is None:
        return [None]
    parts = [part.strip() for part in text.split(",")]
    try:
        if all(parts):
            return list(dict.fromkeys(map(parse, parts)))
    except typer.BadParameter:
        pass
    raise typer.BadParameter(f"{text!r} is not of the form {form}", param_hint=option)


def _constant(text: str) -> tuple[str, list[str]]:
    found = _CONSTANT.fullmatch(text)
    values = [value.strip() for value in found[2].split(",")] if found else []
    if found is None or not all(values):
        raise typer.BadParameter(f"{text!r} is not of the form UNROLL=1,2,4", param_hint="--constants")
    return found[1], list(dict.fromkeys(values))
