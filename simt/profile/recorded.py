"""Profiles that a profiler recorded, from its CSV: the mapping that a profile saves as JSON."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from simt.check import check_no_pipe, suggestion
from simt.devices import get, names
from simt.metrics.table import METRICS
from simt.profile import ncu_pages, nvprof_pages
from simt.profile.compare import opcode_of
from simt.profile.hardware import HardwareLine, HardwareMetrics, counters_of, lines_of
from simt.profile.ncu_pages import HOW_TO_PRINT, Report, UnusableCsvError

SUFFIX = ".csv"
_LAUNCH = re.compile(r"(?P<kernel>.*?)(?:#(?P<number>\d+))?")


def is_recorded(text: str) -> bool:
    """Whether *text* names a profile in CSV: ``ncu.csv``, ``ncu.csv:KERNEL``, ``raw.csv+source.csv:KERNEL#2``."""
    return _split(text)[0][0].endswith(SUFFIX)


def load_recorded(text: str) -> Mapping[str, Any]:
    """The launch that *text* names, as in :func:`is_recorded`; ``#2`` is the second launch of that kernel.

    Raises UnusableCsvError for a file that is none or was cut off, and where it holds other launches.
    """
    files, wanted = _split(text)
    reports = read_reports([Path(file) for file in files])
    return _saved(_chosen(reports, wanted, text), text)


def read_reports(files: Sequence[Path]) -> list[Report]:
    """The launches of one CSV file, or of the pages ``raw`` and ``source`` of one report."""
    pages = {"raw": "", "source": ""}
    for file in files:
        check_no_pipe(file)
        try:
            content = file.read_text(encoding="utf-8-sig")
        except OSError as error:
            raise UnusableCsvError(f"{file} cannot be read: {error.strerror}") from None
        except UnicodeDecodeError:
            raise UnusableCsvError(f"{file} is no text", help=HOW_TO_PRINT) from None
        kind = _kind(content)
        if kind == "nvprof":
            return _parsed(file, lambda content=content: nvprof_pages.parse(content))
        if not kind or pages[kind]:
            what = f"a second page {kind}" if kind else "no table of ncu or nvprof in CSV"
            raise UnusableCsvError(f"{file} holds {what}", help=HOW_TO_PRINT)
        pages[kind] = content
    return _parsed(files[0], lambda: ncu_pages.parse(pages["raw"], "", pages["source"]))


def _parsed(file: Path, parse: Any) -> list[Report]:
    try:
        reports: list[Report] = parse()
    except UnusableCsvError as error:
        raise UnusableCsvError(f"{file}, {error.title}", help=error.help) from None
    if not reports:
        raise UnusableCsvError(f"{file} holds no launch", help=HOW_TO_PRINT)
    return reports


def _kind(content: str) -> str:
    if re.search(r'^"?Device"?,"?Kernel"?,"?Invocations"?', content, re.MULTILINE):
        return "nvprof"
    if re.search(r'^"ID",.*"Kernel Name"', content, re.MULTILINE):
        return "raw"
    return "source" if '"Address","Source"' in content else ""


def _split(text: str) -> tuple[list[str], str]:
    """Files, and what stands behind the colon after them."""
    found = re.fullmatch(rf"(.*?{re.escape(SUFFIX)})(?::(.*))?", text, re.DOTALL)
    return (found[1].split("+"), found[2] or "") if found else ([text], "")


def _plain(kernel: str) -> str:
    """``reduce<512>`` of ``void reduce<512>(int *, int)``."""
    return kernel.partition("(")[0].removeprefix("void ").strip()


def _chosen(reports: Sequence[Report], wanted: str, text: str) -> Report:
    launch = _LAUNCH.fullmatch(wanted)
    assert launch is not None  # it matches any text
    kernel, number = launch["kernel"], launch["number"]
    known = list(dict.fromkeys(_plain(report.kernel) for report in reports))
    if not kernel and len(known) > 1:
        raise UnusableCsvError(f"{text} holds {len(known)} kernels", help=f"write {text}:KERNEL: {', '.join(known)}")
    found = [report for report in reports if not kernel or kernel in (report.kernel, _plain(report.kernel))]
    if not found:
        raise UnusableCsvError(
            f"no launch of {kernel!r} is in {text.partition(':')[0]}",
            help=suggestion(kernel, known, f"there are {', '.join(known)}"),
        )
    if number is None and len(found) > 1:
        name = _plain(found[0].kernel)
        raise UnusableCsvError(
            f"{name} was launched {len(found)} times", help=f"say which: {name}#1 to {name}#{len(found)}"
        )
    number = number or "1"
    if not 1 <= int(number) <= len(found):
        raise UnusableCsvError(f"there are {len(found)} launches of {kernel}, no number {number}")
    return found[int(number) - 1]


def _saved(report: Report, text: str) -> dict[str, Any]:
    lines = lines_of(report)
    grid, block = (_dims(report.about.get(name, "")) for name in ("Grid Size", "Block Size"))
    counters = _totals(report, lines, grid, block)
    device = report.about.get("device__attribute_display_name") or report.about.get("device") or "a GPU"
    return {
        "kernel": _plain(report.kernel),
        "view": _architecture(report, device),
        "device": {"name": device},
        "profiler": report.version or "Nsight Compute",
        "grid": list(grid),
        "block": list(block),
        "counters": counters,
        "metrics": {**_under_own_names(report), **HardwareMetrics(report.metrics, counters)},
        "lines": [_line(line) for line in lines],
        "sources": [[*place, text] for place, text in report.sources.items()],
    }


def _under_own_names(report: Report) -> dict[str, float]:
    """What the profiler calls as simt does: nvprof's metrics and events."""
    return {name: value for name, value in report.metrics.items() if name in METRICS and METRICS[name].name == name}


def _totals(
    report: Report, lines: Sequence[HardwareLine], grid: tuple[int, ...], block: tuple[int, ...]
) -> dict[str, int]:
    """Totals; from the lines where the page has no others."""
    found = counters_of(report.metrics, grid, block) if grid else {}
    if lines and not found:
        for name in lines[0].counters:
            found[name] = sum(line.counters[name] for line in lines)
        # Every warp executes the first instruction once.
        found["warps_launched"] = lines[0].counters["inst_executed"]
    # What ncu counts as executed contains the replays that the simulator counts apart.
    return found and {"replays": 0, **found}


def _line(line: HardwareLine) -> dict[str, Any]:
    """A saved line; sectors are of the direction that its opcode has."""
    saved = line.to_dict()
    direction = {"LDG": "load", "STG": "store"}.get(opcode_of(line.text).partition(".")[0])
    for name in ("sectors", "sectors_ideal"):
        if direction and line.counters[f"global_{name}"]:
            saved["counters"][f"global_{direction}_{name}"] = line.counters[f"global_{name}"]
    return saved


def _architecture(report: Report, device: str) -> str:
    """``sm_90`` of the compute capability; nvprof says only what the device is called."""
    capability = re.fullmatch(r"(\d+)[.,](\d)", report.about.get("CC", ""))
    if capability:
        return f"sm_{capability[1]}{capability[2]}"
    known = {get(name).name.removeprefix("NVIDIA "): get(name).architecture for name in names()}
    return next((architecture for name, architecture in known.items() if name in device), "machine code")


def _dims(text: str) -> tuple[int, ...]:
    return tuple(map(int, re.findall(r"\d+", text)))
