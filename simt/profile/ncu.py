"""The pages of Nsight Compute (``ncu``) over what a program did: details, raw, source; and reports in files.

Layouts and units are those of ncu as recorded on an H200.  A page shows the metrics that the launch has: those of time
only if it was timed.
"""

from __future__ import annotations

import json
import math
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from simt.check import LaunchError, check_file, write_file
from simt.demangle import NCU, signature
from simt.metrics import METRICS, Number
from simt.profile.activity import Activities, Launched
from simt.profile.hardware import COLUMNS
from simt.profile.ncu_sections import SECTIONS, Section

FORMAT = "simt ncu report 1"
"""What a report calls itself."""

COMMAND_LINE = "Command line profiler metrics"
"""The section of metrics that were asked for by name."""

_UNITS = {
    "%": "%", "ns": "ns", "bytes/s": "byte/s", "bytes": "byte", "cycles": "cycle", "warps": "warp",
    "warp instructions": "inst", "thread instructions": "inst", "warp instructions / warp": "inst/warp",
    "warp instructions / cycle": "inst/cycle", "sectors": "sector", "sectors / request": "sector",
    "warp-cycles / instruction": "inst", "wavefronts": "", "wavefronts / request": "",
}  # fmt: skip
"""ncu's units for those of :data:`simt.metrics.METRICS`."""

_SCALED = {
    "byte/s": ("byte/s", "Kbyte/s", "Mbyte/s", "Gbyte/s", "Tbyte/s"),
    "byte": ("byte", "Kbyte", "Mbyte", "Gbyte", "Tbyte"),
    "byte/block": ("byte/block", "Kbyte/block"),
    "ns": ("ns", "us", "ms", "s"),
}
"""Units that pages for people scale by 1000."""

Cells = tuple[str, str, str]
"""Name, unit and value, as a page shows them."""


@dataclass(frozen=True)
class Record:
    """What a report has of a launch.

    ``symbol`` is the mangled name.  ``metrics`` and ``facts`` are numbers by the names of :data:`simt.metrics.METRICS`
    and of the sections; ``lines``: offset (None: source view), text and counters.
    """

    symbol: str
    grid: tuple[int, int, int]
    block: tuple[int, int, int]
    context: int
    stream: int
    capability: str
    metrics: Mapping[str, Number | None]
    facts: Mapping[str, Number | None]
    lines: Sequence[tuple[int | None, str, Mapping[str, int]]]

    @property
    def name(self) -> str:
        """The kernel with its parameters, as ncu writes it."""
        return signature(self.symbol, NCU)


def record(launched: Launched) -> Record:
    """What a report keeps of a launch."""
    profile = launched.profile
    program, device = profile.program, profile.device
    threads = math.prod(profile.block)
    blocks = math.prod(profile.grid)
    multiprocessors = device.limit("multiprocessors")
    at_a_time = profile.occupancy.blocks_per_sm * multiprocessors
    facts: dict[str, Number | None] = {
        "block_size": threads,
        "grid_size": blocks,
        "threads": blocks * threads,
        "registers": program.registers,
        "static_shared": program.shared_bytes,
        "dynamic_shared": launched.dynamic_shared,
        "multiprocessors": multiprocessors,
        "waves": blocks / at_a_time if at_a_time else None,
        "resident_warps": profile.occupancy.warps_per_sm,
    }
    lines = [(line.offset, line.text, {key: line.counters[key] for key in COLUMNS}) for line in profile.lines]
    return Record(
        program.symbol or profile.kernel, profile.grid, profile.block, launched.context, launched.stream,
        device.compute_capability, dict(profile.metrics), facts, lines,
    )  # fmt: skip


# Reports in files


def write_report(path: Path, command: str, records: Sequence[Record]) -> None:
    """Write a report that :func:`read_report` reads.  Raises LaunchError where it cannot be written."""
    text = json.dumps({"format": FORMAT, "command": command, "launches": [asdict(each) for each in records]})
    write_file(path, text)


def read_report(path: Path) -> tuple[str, list[Record]]:
    """The command and the launches of a report.  Raises LaunchError for a file that is none."""
    check_file(path)
    try:
        found: dict[str, Any] = json.loads(path.read_text(encoding="utf-8"))
        if found["format"] != FORMAT:
            raise ValueError(found["format"])
        return str(found["command"]), [_restored(each) for each in found["launches"]]
    except (ValueError, KeyError, TypeError, AttributeError, RecursionError) as error:
        raise LaunchError(
            f"{path} is not a report of simt ncu", details=[str(error)[:100]], help="write one with simt ncu -o FILE"
        ) from None


def _restored(found: dict[str, Any]) -> Record:
    made = Record(**found)
    shapes = {"grid": tuple(found["grid"]), "block": tuple(found["block"])}
    return Record(**(found | shapes | {"lines": [(line[0], line[1], line[2]) for line in made.lines]}))


# Values


def quantity(value: Number, unit: str, scaled: bool) -> tuple[str, str]:
    """Unit and value as ncu writes them: ``("Gbyte/s", "256.70")``; not *scaled*, as in CSV, by the basic unit."""
    step = 0
    scales = _SCALED.get(unit, (unit,))
    while scaled and abs(value) >= 1000 and step < len(scales) - 1:
        value, step = value / 1000, step + 1
    text = f"{value:,}" if isinstance(value, int) else f"{value:,.2f}"
    return scales[step], text.removesuffix(".00") if isinstance(value, float) else text


def _metric_rows(each: Record, names: Sequence[str], scaled: bool) -> Iterator[Cells]:
    """The metrics *names* of a launch, sorted; ``n/a`` for those that it does not have."""
    for name in sorted(names):
        metric = METRICS[name]
        value = each.metrics.get(metric.name)
        unit = _UNITS.get(metric.unit, metric.unit)
        yield (name, unit, "n/a") if value is None else (name, *quantity(value, unit, scaled))


def _all_names(each: Record) -> list[str]:
    """ncu's name of each metric that a launch has a value of."""
    rows = [METRICS[name] for name, value in each.metrics.items() if value is not None and name in METRICS]
    return [name for row in rows for name in row.ncu[:1] if " " not in name]


def _sections(
    each: Record, names: Sequence[str] | None, sections: Sequence[Section] | None, scaled: bool
) -> Iterator[tuple[str, list[Cells]]]:
    """Title and rows of each section of the page ``details``."""
    if names is not None:
        yield COMMAND_LINE, list(_metric_rows(each, names, scaled))
    if sections is None:
        sections = SECTIONS if names is None else ()
    known = {**each.metrics, **each.facts}
    for section in sections:
        values = [(label, unit, known.get(key)) for label, unit, key in section.entries]
        rows = [(label, *quantity(value, unit, scaled)) for label, unit, value in values if value is not None]
        if rows:
            yield section.title, rows


# Pages


def _heading(each: Record) -> str:
    return (
        f"  {each.name} {each.grid}x{each.block}, Context {each.context}, Stream {each.stream}, Device 0, "
        f"CC {each.capability}"
    )


def _table(rows: Sequence[Cells], indent: str, least: tuple[int, int, int]) -> Iterator[str]:
    heads = ("Metric Name", "Metric Unit", "Metric Value")
    widths = [max(low, *(len(row[k]) for row in (heads, *rows))) for k, low in enumerate(least)]
    rule = indent + " ".join("-" * width for width in widths)
    line = f"{indent}{{:<{widths[0]}}} {{:>{widths[1]}}} {{:>{widths[2]}}}"
    yield from (rule, line.format(*heads), rule)
    yield from (line.format(*row) for row in rows)
    yield rule


def details(
    records: Sequence[Record], names: Sequence[str] | None, sections: Sequence[Section] | None = None
) -> list[str]:
    """The page ``details``: the metrics *names* and the *sections*, or (both None) all sections."""
    lines = []
    for each in records:
        lines.append(_heading(each))
        for title, rows in _sections(each, names, sections, scaled=True):
            lines.append(f"    Section: {title}")
            lines += [*_table(rows, "    ", (11, 11, 12)), ""]
    return lines


def raw(records: Sequence[Record], names: Sequence[str] | None) -> list[str]:
    """The page ``raw``: the metrics *names*, or (None) all that the launch has."""
    lines = []
    for each in records:
        rows = list(_metric_rows(each, _all_names(each) if names is None else names, scaled=True))
        table = list(_table(rows, "  ", (11, 15, 20)))
        lines += [_heading(each), table[1], table[0], *table[3:], ""]
    return lines


def source(records: Sequence[Record]) -> list[str]:
    """The page ``source``: counters beside each instruction, or each line of Python."""
    lines = []
    for each in records:
        heads = ["Address", "Source", *COLUMNS.values()]
        rows = [_source_cells(line) for line in each.lines]
        widths = [max(len(row[k]) for row in (heads, *rows)) for k in range(len(heads))]
        lines += [f"Kernel Name  {each.name}", ""]
        lines += [
            " ".join(f"{cell:<{width}}" for cell, width in zip(row, widths, strict=True)) for row in (heads, *rows)
        ]
        lines.append("")
    return [line.rstrip() for line in lines]


def _source_cells(line: tuple[int | None, str, Mapping[str, int]]) -> list[str]:
    offset, text, counters = line
    return ["-" if offset is None else f"{offset:#x}", text, *(str(counters[key]) for key in COLUMNS)]


def _csv(cells: Iterable[str]) -> str:
    return ",".join('"' + cell.replace('"', '""') + '"' for cell in cells)


_LAUNCH_COLUMNS = (
    *("ID", "Process ID", "Process Name", "Host Name", "Kernel Name", "Context", "Stream", "Block Size"),
    *("Grid Size", "Device", "CC"),
)


def _launch_cells(number: int, each: Record, process: tuple[int, str]) -> list[str]:
    launch = (str(each.context), str(each.stream), str(each.block), str(each.grid), "0", each.capability)
    return [str(number), str(process[0]), process[1], "127.0.0.1", each.name, *launch]


def details_csv(
    records: Sequence[Record],
    names: Sequence[str] | None,
    process: tuple[int, str],
    sections: Sequence[Section] | None = None,
) -> list[str]:
    """The page ``details`` as CSV, a line for each metric; *process* is its number and name."""
    lines = [_csv([*_LAUNCH_COLUMNS, "Section Name", "Metric Name", "Metric Unit", "Metric Value"])]
    for number, each in enumerate(records):
        for title, rows in _sections(each, names, sections, scaled=False):
            lines += [_csv([*_launch_cells(number, each, process), title, *row]) for row in rows]
    return lines


def raw_csv(records: Sequence[Record], names: Sequence[str] | None, process: tuple[int, str]) -> list[str]:
    """The page ``raw`` as CSV: a line for each launch, after those with names and units."""
    wanted = sorted(names if names is not None else {name: None for each in records for name in _all_names(each)})
    units = [_UNITS.get(METRICS[name].unit, METRICS[name].unit) for name in wanted]
    lines = [_csv([*_LAUNCH_COLUMNS, *wanted]), _csv([*("" for _ in _LAUNCH_COLUMNS), *units])]
    for number, each in enumerate(records):
        values = [row[2] for row in _metric_rows(each, wanted, scaled=False)]
        lines.append(_csv([*_launch_cells(number, each, process), *values]))
    return lines


def source_csv(records: Sequence[Record]) -> list[str]:
    """The page ``source`` as CSV."""
    lines = []
    for each in records:
        lines += [_csv(["Kernel Name", each.name]), _csv(["Address", "Source", *COLUMNS.values()])]
        lines += [_csv(_source_cells(line)) for line in each.lines]
    return lines


def records_of(activities: Activities) -> list[Record]:
    """The launches of a program."""
    return [record(each) for each in activities.launched]
