"""Loading and checking device files.

A device file is TOML: ``name``, ``architecture``, ``compute_capability``, and sections whose every entry is
``{ value = …, unit = "…", source = "…" }``.  The source is a key of the section ``sources`` (documents and
measurements, written out once), a text of its own, or the word "estimated".  The section ``limits`` is
required; it and ``product`` are checked here, ``timing`` and ``errors`` by the timing model.

``like = "rtx_4090"`` takes every number that the file does not give from another one: a limit with its source if both
have one compute capability, any other number as an estimate.  With ``confirmed = "..."`` what is measured there counts
as measured here, too: the text says which measurements on this device bear it out.
"""

from __future__ import annotations

import re
import sys
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from functools import cache
from importlib import resources
from pathlib import Path
from typing import Any

from simt.check import SimtError, check_file, either, suggestion

if sys.version_info >= (3, 11):
    import tomllib
else:
    import tomli as tomllib

WARP_SIZE = 32
DEFAULT = "h200"
"""Key of the device where nothing else decides."""

TIMING = "timing"
"""The section that the timing model takes its numbers from."""

DEFAULTS = ("quadro_p2000", "t4", "a100", "rtx_3080", "rtx_4090", DEFAULT, "b200", "rtx_5090")
"""The devices that launches which name none are for; a new file changes no default, unless it is put here."""


class DeviceError(SimtError):
    """A device is unknown, or its file contradicts itself."""

    kind = "the device is wrong"


@dataclass(frozen=True)
class Quantity:
    """A number of a device file with its unit and its source (``"estimated"`` if it has none)."""

    value: int | float
    unit: str
    source: str

    @property
    def estimated(self) -> bool:
        """Whether the number is neither documented nor measured."""
        return self.source.startswith("estimated")


@dataclass(frozen=True)
class Gpu:
    """The numbers of one GPU.  ``limits`` and ``sections`` keep every number with its source."""

    key: str
    name: str
    architecture: str
    compute_capability: str
    limits: Mapping[str, Quantity]
    sections: Mapping[str, Mapping[str, Quantity]]

    def limit(self, name: str) -> int:
        """The value of a limit of :data:`LIMITS`."""
        return int(self.limits[name].value)

    @property
    def measured(self) -> tuple[int, int]:
        """How many numbers of the section ``timing`` are measured or documented, and how many there are."""
        numbers = self.sections.get(TIMING, {}).values()
        return sum(not number.estimated for number in numbers), len(numbers)

    @property
    def is_measured(self) -> bool:
        """Whether most of its timing numbers are measured or documented, as those of a device that was at hand are."""
        known, numbers = self.measured
        return 2 * known > numbers

    @property
    def memory_bytes_per_cycle(self) -> float | None:
        """Bytes that the memory moves at most in a cycle of the SMs: bus and clock, twice a cycle; None: not known."""
        product = self.sections.get("product", {})
        if not {"memory_clock_mhz", "memory_bus_bits"} <= product.keys():
            return None
        return 2 * product["memory_clock_mhz"].value * product["memory_bus_bits"].value / 8 / self.limit("clock_mhz")

    def runs(self, view: str) -> bool:
        """Whether it executes this view: any source, and machine code of its own generation that is not newer.

        That is binary compatibility as the CUDA C++ Programming Guide has it: ``sm_86`` code runs on 8.9, not on 8.0
        or 9.0.
        """
        if view == "source":
            return True
        code = re.match(r"sm_(\d+)(\d)", view)
        major, minor = (int(part) for part in self.compute_capability.split("."))
        return code is not None and int(code[1]) == major and int(code[2]) <= minor

    def to_dict(self) -> dict[str, Any]:
        """All numbers with unit and source, for JSON."""
        tables = {"limits": self.limits, **self.sections}
        return {
            "device": self.key,
            "name": self.name,
            "architecture": self.architecture,
            "compute_capability": self.compute_capability,
            **{
                section: {name: {"value": q.value, "unit": q.unit, "source": q.source} for name, q in table.items()}
                for section, table in tables.items()
            },
        }


LIMITS: dict[str, str] = {
    "multiprocessors": "SMs",
    "warps_per_sm": "warps",
    "threads_per_sm": "threads",
    "blocks_per_sm": "blocks",
    "threads_per_block": "threads",
    "block_x": "threads",
    "block_y": "threads",
    "block_z": "threads",
    "grid_x": "blocks",
    "grid_y": "blocks",
    "grid_z": "blocks",
    "registers_per_sm": "32-bit registers",
    "registers_per_block": "32-bit registers",
    "registers_per_thread": "32-bit registers",
    "register_unit": "32-bit registers per warp",
    "warp_unit": "warps",
    "shared_per_sm": "bytes",
    "shared_per_block": "bytes",
    "shared_per_block_optin": "bytes",
    "shared_reserved_per_block": "bytes",
    "shared_unit": "bytes",
    "clock_mhz": "MHz",
}
"""The limits that every device file gives, with their units."""

PRODUCT: dict[str, str] = {
    "memory_bytes": "bytes",
    "memory_clock_mhz": "MHz",
    "memory_bus_bits": "bits",
    "l2_cache_bytes": "bytes",
}
"""What a device file may say of the product, with units."""

SECTIONS: dict[str, Mapping[str, str] | None] = {"limits": LIMITS, "product": PRODUCT, TIMING: None, "errors": None}
"""The sections of a device file, with the unit of each number; :func:`simt.timing.parameters` knows the others'."""

LARGEST = 1e15
"""No number of a device is larger; floats up to there are exact."""

_MAY_BE_ZERO = {"shared_reserved_per_block"}

_AT_MOST: tuple[tuple[str, str], ...] = (
    ("threads_per_block", "threads_per_sm"),
    ("block_x", "threads_per_block"),
    ("block_y", "threads_per_block"),
    ("block_z", "threads_per_block"),
    ("blocks_per_sm", "warps_per_sm"),
    ("registers_per_block", "registers_per_sm"),
    ("registers_per_thread", "registers_per_block"),
    ("shared_per_block", "shared_per_block_optin"),
    ("shared_per_block_optin", "shared_per_sm"),
)
"""Pairs (smaller, larger) that a consistent file keeps."""


def parse(text: str, key: str, find: Callable[[str], Gpu] | None = None) -> Gpu:
    """The device that a TOML text describes; *find* gives the device that it is ``like`` (default: :func:`get`).

    Raises :class:`DeviceError` with every problem found if the text is incomplete or contradicts itself.
    """
    try:
        data = tomllib.loads(text)
    except tomllib.TOMLDecodeError as error:
        raise DeviceError(f"device file {_file_of(key)} is not TOML: {error}") from None
    problems: list[str] = []
    like = data.pop("like", None)
    other = "" if like is None else _text(like, "like", problems)
    base = (find or get)(other) if other else None
    if base is not None:
        data = {"architecture": base.architecture, "compute_capability": base.compute_capability, **data}
    confirmed = data.pop("confirmed", None)
    borne_out = "" if confirmed is None else _text(confirmed, "confirmed", problems)
    if borne_out and base is None:
        problems.append("confirmed says that numbers of another device hold here; like says of which")
    name, architecture, capability = (
        _text(data.pop(field, None), field, problems) for field in ("name", "architecture", "compute_capability")
    )
    sources = data.pop("sources", {})
    if not isinstance(sources, dict):
        raise DeviceError(f"device file {_file_of(key)} is rejected", details=["sources is not a section"])
    problems += [f"{title} is not a section that simt knows: {', '.join(SECTIONS)}" for title in data.keys() - SECTIONS]
    sections = {title: _section(title, table, sources, problems) for title, table in data.items() if title in SECTIONS}
    own_reads = sections.get(TIMING, {}).get("dram_read_bytes_per_cycle")
    if base is not None:
        for title, table in {"limits": base.limits, **base.sections}.items():
            sections[title] = _inherited(base, title, table, capability, borne_out) | sections.get(title, {})
    limits = sections.pop("limits", {})
    problems += [f"limits.{limit} is missing" for limit in LIMITS if limit not in limits]
    device = Gpu(key, name, architecture, capability, limits, sections)
    problems = problems or _contradictions(device, own_reads)
    if problems:
        raise DeviceError(
            f"device file {_file_of(key)} is rejected",
            details=problems,
            help="`simt devices h200 --json` shows all numbers, each with value, unit and source",
        )
    return device


def _file_of(key: str) -> str:
    return key if key.endswith(".toml") else f"{key}.toml"


def _inherited(
    base: Gpu, section: str, table: Mapping[str, Quantity], capability: str, confirmed: str
) -> dict[str, Quantity]:
    """The numbers of *base* as a device like it has them: estimates there, unless *confirmed* bears them out."""
    known = section == "limits" and capability == base.compute_capability
    prefix = f"as {base.key}" if known else f"estimated, as {base.key}"
    return {
        name: replace(
            number,
            source=f"{confirmed}: {number.source}"
            if confirmed and section == TIMING and not number.estimated
            else f"{prefix}: {number.source}",
        )
        for name, number in table.items()
    }


def _text(value: object, name: str, problems: list[str]) -> str:
    if not isinstance(value, str) or not value:
        problems.append(f"{name} is missing or not a text")
        return ""
    return value


def _section(section: str, table: object, sources: Mapping[str, str], problems: list[str]) -> dict[str, Quantity]:
    if not isinstance(table, dict):
        problems.append(f"{section} is not a section")
        return {}
    quantities = {}
    units = SECTIONS[section]
    for name, entry in table.items():
        where = f"{section}.{name}"
        if units is not None and name not in units:
            problems.append(f"{where} is not a number that simt knows; {suggestion(name, units, either(tuple(units)))}")
        elif not isinstance(entry, dict) or set(entry) != {"value", "unit", "source"}:
            problems.append(f"{where} needs exactly value, unit and source")
        elif problem := _problem(where, entry, section == "limits", units is None or name in _MAY_BE_ZERO):
            problems.append(problem)
        elif units is not None and entry["unit"] != units[name]:
            problems.append(f"{where} is in {entry['unit']!r}, not in {units[name]!r}")
        else:
            source = entry["source"]
            quantities[name] = Quantity(entry["value"], entry["unit"], sources.get(source, source))
    return quantities


def _problem(where: str, entry: Mapping[str, object], whole: bool, may_be_zero: bool) -> str:
    """What is wrong with a number and its texts, if anything."""
    value, unit, source = (entry[part] for part in ("value", "unit", "source"))
    if not isinstance(value, int | float) or isinstance(value, bool) or not abs(value) <= LARGEST:  # NaN, too
        return f"{where}: {value!r} is not a number of at most {LARGEST:g}"
    if value < 0 or (value == 0 and not may_be_zero):
        return f"{where}: {value} is not positive"
    if whole and value != int(value):
        return f"{where}: {value} is not a whole number"
    if not isinstance(unit, str) or not unit:
        return f"{where} has no unit"
    if not isinstance(source, str) or not source:
        return f'{where} has no source; write "estimated" if there is none'
    return ""


def _contradictions(device: Gpu, reads: Quantity | None) -> list[str]:
    """What does not fit together; *reads*: the file's own bandwidth of memory, which that of the product bounds."""
    limit = device.limit
    found = [
        f"{small} = {limit(small)} exceeds {large} = {limit(large)}"
        for small, large in _AT_MOST
        if limit(small) > limit(large)
    ]
    if limit("threads_per_sm") != WARP_SIZE * limit("warps_per_sm"):
        found.append(f"threads_per_sm = {limit('threads_per_sm')} is not 32 x warps_per_sm = {limit('warps_per_sm')}")
    if limit("shared_per_block_optin") + limit("shared_reserved_per_block") > limit("shared_per_sm"):
        found.append("shared_per_block_optin and shared_reserved_per_block together exceed shared_per_sm")
    most = device.memory_bytes_per_cycle
    if reads is not None and most is not None and reads.value > most:
        clocks = f"memory's clock and bus at {limit('clock_mhz')} MHz"
        found.append(f"dram_read_bytes_per_cycle = {reads.value:g} exceeds the {most:g} of the {clocks}")
    if re.fullmatch(r"\d+\.\d", device.compute_capability) is None:
        found.append(f"compute_capability {device.compute_capability!r} is not of the form 9.0")
    elif device.architecture != "sm_" + device.compute_capability.replace(".", ""):
        found.append(f"{device.architecture} is not compute capability {device.compute_capability}")
    return found


@cache
def names() -> tuple[str, ...]:
    """Keys of the devices that come with simt, sorted."""
    files = (path.name for path in resources.files(__package__).iterdir())
    return tuple(sorted(name.removesuffix(".toml") for name in files if name.endswith(".toml")))


def get(key: str | Path) -> Gpu:
    """The device with this key (``"h200"``), or that of a file of one's own (``"my.toml"``).

    A file of one's own may be ``like`` another one, whose path counts from its own folder.

    Raises :class:`DeviceError` if there is none, or if the file is wrong.
    """
    key = str(key)
    return _from_file(Path(key), ()) if key.endswith(".toml") else _named(key)


@cache
def _named(key: str) -> Gpu:
    if key not in names():
        choices = f"choose {either(names())}, or give a file: my.toml"
        raise DeviceError(f"there is no device {key!r}", help=suggestion(key, names(), choices))
    return _read(key, ())


def _from_file(path: Path, likes: tuple[str, ...]) -> Gpu:
    """The device of a file of one's own; *likes* as for :func:`_read`."""
    _check_likes(str(path), likes)
    check_file(path)
    try:
        text = path.read_text(encoding="utf-8")
    except (OSError, UnicodeDecodeError) as error:
        raise DeviceError(f"{path} cannot be read: {error}") from None

    def find(other: str) -> Gpu:
        return _from_file(path.parent / other, (*likes, str(path))) if other.endswith(".toml") else _named(other)

    return parse(text, str(path), find)


def _check_likes(key: str, likes: tuple[str, ...]) -> None:
    if key in likes:
        raise DeviceError(f"device file {_file_of(likes[0])} refers to itself: {' like '.join((*likes, key))}")


def _read(key: str, likes: tuple[str, ...]) -> Gpu:
    """The device of a file of simt's; *likes* are the files that are like it, directly or by another."""
    _check_likes(key, likes)
    file = resources.files(__package__).joinpath(f"{key}.toml")
    if not file.is_file():
        raise DeviceError(f"device file {_file_of(likes[-1])} is like {key!r}, for which there is no file")
    return parse(file.read_text(encoding="utf-8"), key, lambda other: _read(other, (*likes, key)))


@cache
def default_for(view: str) -> Gpu:
    """The device of a launch that names none: of :data:`DEFAULTS` the nearest that runs the code, else the default.

    ``view`` is ``"source"`` or an architecture such as ``"sm_90"``.
    """
    able = [device for device in map(get, DEFAULTS) if device.runs(view)]
    if view == "source" or not able:
        return get(DEFAULT)
    return min(able, key=lambda device: (float(device.compute_capability), device.key != DEFAULT))
