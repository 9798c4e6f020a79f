"""Nsight Compute's CSV pages, as ``ncu --csv --page raw``, ``--page details`` and ``--page source`` print them."""

from __future__ import annotations

import csv
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field

from simt.check import SimtError
from simt.profile.ncu_sections import SECTIONS

HOW_TO_PRINT = (
    "print it with `ncu --import report.ncu-rep --csv --page raw` (or details), or `--page source --print-source "
    "cuda,sass`"
)


class UnusableCsvError(SimtError):
    """A CSV file of a profiler cannot be read."""

    kind = "the profiler's file cannot be used"


@dataclass
class InstructionRow:
    """One SASS instruction: byte offset, text, the values of ncu's columns, the source line where known."""

    offset: int
    text: str
    values: dict[str, int]
    source: tuple[str, int] | None = None


@dataclass
class Report:
    """One profiled launch: ncu's metrics by name in base units, and the instructions in address order.

    ``about`` are the texts of the raw page: ``"Grid Size"``, ``"Block Size"``, ``"CC"``, the device's name; ``sources``
    the text of each (file, line) of the source page.
    """

    kernel: str
    metrics: dict[str, float]
    instructions: list[InstructionRow] = field(default_factory=list)
    version: str = ""
    about: dict[str, str] = field(default_factory=dict)
    sources: dict[tuple[str, int], str] = field(default_factory=dict)


def parse(raw: str, source: str, lines: str = "") -> list[Report]:
    """Reports from the CSV text of ncu's pages ``raw`` and ``source``; either may be empty.

    *raw* may also be the page ``details``, a line for each metric, which has the metrics of :data:`SECTIONS` and those
    that were asked for by name.  *source* is the page printed with ``--print-source sass``, *lines* with ``cuda,sass``,
    which has line numbers and may stand for both.  Addresses of different kernels of one process differ as long as all
    stay loaded.  Raises UnusableCsvError for a file that was cut off.
    """
    tables = list(_tables(source or lines))
    known, texts = _line_numbers(lines or source)
    reports = list(_launches(raw))
    if not reports:
        reports = [Report(name, {}) for name, _ in tables]
    for report, (_, rows) in zip(reports, tables, strict=False):
        start = rows[0][0] if rows else 0
        report.instructions = [
            InstructionRow(address - start, text, values, known.get(address)) for address, text, values in rows
        ]
        used = {row.source for row in report.instructions}
        report.sources = {place: text for place, text in texts.items() if place in used}
    return reports


def rows_of(text: str) -> Iterator[tuple[int, list[str]]]:
    """Rows of a page with their line numbers.  What the profiled program prints is among them."""
    return enumerate(csv.reader(text.splitlines()), start=1)


def check_width(number: int, row: Sequence[str], header: Sequence[str]) -> None:
    """Raises UnusableCsvError for a row that is shorter than its header."""
    if len(row) < len(header):
        raise UnusableCsvError(
            f"line {number} has {len(row)} cells of {len(header)}: the file was cut off",
            help="let the profiler finish, and print the page again",
        )


# The pages ``raw`` and ``details``

_Value = tuple[str, str, str]
"""Name, unit and value of a metric."""
_NAME, _METRIC, _VALUE = "Kernel Name", "Metric Name", "Metric Value"
_UNITS = re.compile(r"(?P<prefix>[KMGT]?)(?P<unit>byte|hz|inst|cycle)(?P<rest>[^ ]*)", re.IGNORECASE)
_PREFIXES = {"": 1.0, "K": 1e3, "M": 1e6, "G": 1e9, "T": 1e12}
_NANOSECONDS = {
    **dict.fromkeys(("ns", "nsecond"), 1.0),
    **dict.fromkeys(("us", "usecond"), 1e3),
    **dict.fromkeys(("ms", "msecond"), 1e6),
    **dict.fromkeys(("s", "second"), 1e9),
}


def scale_of(unit: str) -> float:
    """What a value in *unit* is multiplied by for the base unit, as ``ncu --print-units base`` prints it."""
    found = _UNITS.fullmatch(unit)
    return _PREFIXES[found["prefix"].upper()] if found else _NANOSECONDS.get(unit, 1.0)


def _launches(raw: str) -> Iterator[Report]:
    """The launches of the page ``raw`` or ``details``."""
    rows = [(number, row) for number, row in rows_of(raw) if row]
    comma = decimal_comma([cell for _, row in rows for cell in row])
    found: dict[str, Report] = {}
    for launch, texts, metrics in _values(rows):
        report = found.setdefault(launch, Report(texts[_NAME], {}, about=texts))
        for name, unit, text in metrics:
            value = parse_number(text, comma)
            if name and value is not None:
                report.metrics[name] = value * scale_of(unit)
    yield from found.values()


def _values(rows: Sequence[tuple[int, list[str]]]) -> Iterator[tuple[str, dict[str, str], Iterable[_Value]]]:
    """Each row with values: what tells its launch from others, its cells by column, and its metrics.

    In the page ``raw`` that is a row for each launch, after one of names and one of units; in ``details`` a row for
    each metric, whose last columns (of rules) may be left out, with other tables in between.
    """
    header: list[str] = []
    units: list[str] = []
    for number, row in rows:
        if row[0] == "ID" and _NAME in row:
            header, units = row, []
        elif _METRIC in header:
            needed = header[: header.index(_VALUE) + 1]
            if row[0].isdigit() and (len(row) >= len(needed) or number == rows[-1][0]):
                check_width(number, row, needed)
                texts = dict(zip(header, row, strict=False))
                yield f"{texts.get('Process ID')} {texts['ID']}", texts, [_labelled(texts)]
        elif header and not units:
            check_width(number, row, header)
            units = row
        elif header and row[0].isdigit():
            check_width(number, row, header)
            yield str(number), dict(zip(header, row, strict=False)), zip(header, units, row, strict=False)


_OWN_NAMES = {(each.title, label): name for each in SECTIONS for label, _, name in each.entries}


def _labelled(texts: Mapping[str, str]) -> _Value:
    """The metric of a row of the page ``details``, by simt's name where the page has a label instead of ncu's name."""
    name = texts[_METRIC]
    own = _OWN_NAMES.get((texts.get("Section Name", ""), name), name if "__" in name else "")
    return own, texts["Metric Unit"], texts[_VALUE]


_COMMA = re.compile(r"[+-]?\d{1,3}(?:[.\u00a0\u202f ]\d{3})+,\d+|[+-]?\d+,(?:\d{1,2}|\d{4,})")


def decimal_comma(cells: Sequence[str]) -> bool:
    """Whether numbers are written as ``1.234,5``: some locales do; ncu itself writes ``1,234.5``."""
    return any(_COMMA.fullmatch(cell) for cell in cells)


def parse_number(text: str, comma: bool = False) -> float | None:
    """A number as a profiler prints it (``1,234.5``; with *comma* ``1.234,5``); None if it is none."""
    cleaned = re.sub(r"(?<=\d)[\u00a0\u202f ](?=\d{3})", "", text)
    cleaned = cleaned.replace(".", "").replace(",", ".") if comma else cleaned.replace(",", "")
    try:
        return float(cleaned)
    except ValueError:
        return None


# The page ``source``

Table = list[tuple[int, str, dict[str, int]]]
"""Address, text and numeric columns of each instruction."""


def _tables(source: str) -> Iterator[tuple[str, Table]]:
    """Kernel and SASS of each launch.

    ncu prints the table of SASS alone twice for each launch; beside source, each instruction twice, and a table for
    every source file.
    """
    sections: list[tuple[str, dict[int, tuple[str, dict[str, int]]]]] = []
    header: list[str] = []
    for number, row in rows_of(source):
        if row[:1] in (["Kernel Name"], ["Function Name"]):
            sections.append((row[1], {}))
            header = []
        elif "Address" in row and "Instructions Executed" in row:
            header = row
        elif header and (at := header.index("Address")) < len(row) and row[at].startswith("0x"):
            check_width(number, row, header)
            cells = zip(header[at + 2 :], row[at + 2 :], strict=False)
            values = {name: int(value) for name, text in cells if (value := parse_number(text)) is not None}
            sections[-1][1].setdefault(int(row[at], 16), (" ".join(row[at + 1].split()), values))
    launches: list[tuple[str, dict[int, tuple[str, dict[str, int]]]]] = []
    for name, found in sections:
        if launches and launches[-1][0] == name and not launches[-1][1].keys() & found.keys():
            launches[-1][1].update(found)
        else:
            launches.append((name, found))
    if launches[0::2] == launches[1::2]:
        launches = launches[0::2]
    for name, found in launches:
        yield name, [(address, *found[address]) for address in sorted(found)]


def _line_numbers(page: str) -> tuple[dict[int, tuple[str, int]], dict[tuple[str, int], str]]:
    """Address to (file, line), and the texts of those: the row of a line is followed by those of its instructions."""
    place = ("", 0)
    known: dict[int, tuple[str, int]] = {}
    texts: dict[tuple[str, int], str] = {}
    for _, row in rows_of(page):
        if row[:1] in (["File Path"], ["File Name"]):
            place = (row[1], 0)
        elif row and row[0].isdigit():
            place = (place[0], int(row[0]))
            texts[place] = row[1]
        elif place[0] and len(row) > 2 and row[2].startswith("0x"):
            known[int(row[2], 16)] = place
    return known, texts
