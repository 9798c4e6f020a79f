"""nvprof's CSV of metrics and events, as ``nvprof --csv --log-file FILE --metrics ... --events ...`` prints it."""

from __future__ import annotations

import re
from collections.abc import Iterator

from simt.profile.ncu_pages import Report, check_width, parse_number, rows_of

_NAMES = ("Metric Name", "Event Name")
_VALUE = re.compile(r"(?P<number>[+-]?[\d.,]+(?:e[+-]?\d+)?)(?P<unit>%|[KMGT]?B/s)?")
_SCALES = {"B/s": 1.0, "KB/s": 1e3, "MB/s": 1e6, "GB/s": 1e9, "TB/s": 1e12}


def parse(text: str) -> list[Report]:
    """A report for each device and kernel, with the averages over its launches.

    Raises UnusableCsvError for a file that was cut off.
    """
    found: dict[tuple[str, str], Report] = {}
    for number, header, row in _rows(text):
        check_width(number, row, header)
        cells = dict(zip(header, row, strict=False))
        name = next(cells[each] for each in _NAMES if each in cells)
        key = cells["Device"], cells["Kernel"]
        about = {"device": re.sub(r" \(\d+\)$", "", key[0]), "launches": cells["Invocations"]}
        report = found.setdefault(key, Report(key[1], {}, version="nvprof", about=about))
        value = value_of(cells["Avg"])
        if value is not None:
            report.metrics[name] = value
    return list(found.values())


def _rows(text: str) -> Iterator[tuple[int, list[str], list[str]]]:
    """Line number, header and cells; what the program and nvprof say besides is left out."""
    header: list[str] = []
    for number, row in rows_of(text):
        if row[:2] == ["Device", "Kernel"] and any(name in row for name in _NAMES):
            header = row
        elif header and row and row[0].startswith("=="):
            header = []
        elif header and row:
            yield number, header, row


def value_of(text: str) -> float | None:
    """A number with its unit: ``25.02%``, ``71.861GB/s`` (in bytes per second), ``412.000000``; None if it is none."""
    found = _VALUE.fullmatch(text.strip())
    if found is None:
        return None
    value = parse_number(found["number"])
    return None if value is None else value * _SCALES.get(found["unit"] or "", 1.0)
