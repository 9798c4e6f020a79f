"""The tables of nvprof over what a program did: summary, trace, metrics and events.

Layouts are those that nvprof of CUDA 10 and 11 prints, so that what reads its output reads this.  What was not timed
has ``-`` for its times, as nvprof has for what does not apply.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass

from simt.demangle import NVPROF, signature
from simt.metrics import METRICS, Metric, Number
from simt.profile.activity import Activities, Launched
from simt.profile.nvprof_quantities import AUTO, NOTHING, UNITS, size_text, time_text, unit_of_column
from simt.profile.profile import Profile

_TITLES = {
    "inst_executed": "Instructions Executed",
    "inst_per_warp": "Instructions per warp",
    "thread_inst_executed": "Thread Instructions Executed",
    "warp_execution_efficiency": "Warp Execution Efficiency",
    "warp_nonpred_execution_efficiency": "Warp Non-Predicated Execution Efficiency",
    "branch_efficiency": "Branch Efficiency",
    "global_load_requests": "Total number of global load requests",
    "global_store_requests": "Total number of global store requests",
    "gld_transactions": "Global Load Transactions",
    "gld_transactions_per_request": "Global Load Transactions Per Request",
    "gld_efficiency": "Global Memory Load Efficiency",
    "gst_transactions": "Global Store Transactions",
    "gst_transactions_per_request": "Global Store Transactions Per Request",
    "gst_efficiency": "Global Memory Store Efficiency",
    "shared_load_transactions": "Shared Load Transactions",
    "shared_load_transactions_per_request": "Shared Memory Load Transactions Per Request",
    "shared_store_transactions": "Shared Store Transactions",
    "shared_store_transactions_per_request": "Shared Memory Store Transactions Per Request",
    "shared_efficiency": "Shared Memory Efficiency",
    "local_load_transactions": "Local Load Transactions",
    "local_load_transactions_per_request": "Local Memory Load Transactions Per Request",
    "local_store_transactions": "Local Store Transactions",
    "local_store_transactions_per_request": "Local Memory Store Transactions Per Request",
    "atomic_transactions": "Atomic Transactions",
    "atomic_transactions_per_request": "Atomic Transactions Per Request",
    "ipc": "Executed IPC",
    "issue_slot_utilization": "Issue Slot Utilization",
    "eligible_warps_per_cycle": "Eligible Warps Per Active Cycle",
    "achieved_occupancy": "Achieved Occupancy",
    "gld_throughput": "Global Load Throughput",
    "gld_requested_throughput": "Requested Global Load Throughput",
    "gst_throughput": "Global Store Throughput",
    "gst_requested_throughput": "Requested Global Store Throughput",
    "dram_read_bytes": "Total bytes read from DRAM to L2 cache",
    "dram_read_throughput": "Device Memory Read Throughput",
    "dram_write_bytes": "Total bytes written from L2 cache to DRAM",
    "dram_write_throughput": "Device Memory Write Throughput",
    "stall_exec_dependency": "Issue Stall Reasons (Execution Dependency)",
    "stall_memory_dependency": "Issue Stall Reasons (Data Request)",
    "stall_sync": "Issue Stall Reasons (Synchronization)",
    "stall_inst_fetch": "Issue Stall Reasons (Instructions Fetch)",
    "stall_constant_memory_dependency": "Issue Stall Reasons (Immediate constant)",
    "stall_pipe_busy": "Issue Stall Reasons (Pipe Busy)",
    "stall_memory_throttle": "Issue Stall Reasons (Memory Throttle)",
    "stall_other": "Issue Stall Reasons (Other)",
    "stall_not_selected": "Issue Stall Reasons (Not Selected)",
}
"""nvprof's words for its metrics (CUDA Profiler User's Guide); others are named by their name."""

_OF_NOTHING = {"branch_efficiency": 100.0}
"""What nvprof gives for a share of nothing: of branches, in a kernel without any."""
_DEVICE_WIDTH = 15
"""Characters of the device's name that a trace shows."""


# Quantities


def value_text(value: Number | None, unit: str) -> str:
    """A metric as nvprof writes it: ``83.33%``, ``132.875000``, ``6.4101GB/s``, ``4194304``."""
    if value is None:
        return NOTHING
    if unit == "%":
        return f"{value:.2f}%"
    if unit == "bytes/s":
        return f"{size_text(value, whole=False)}/s"
    return str(value) if isinstance(value, int) else f"{value:.6f}"


def kernel_name(profile: Profile) -> str:
    """The kernel with its parameters, as nvprof writes it."""
    return signature(profile.program.symbol or profile.kernel, NVPROF)


def title_of(metric: Metric) -> str:
    """What a table of metrics calls it."""
    return _TITLES.get(metric.name, metric.name.replace("_", " ").capitalize())


class Bare(str):
    """Text that CSV has without quotation marks: numbers, with their units if they have some."""


def _csv(cells: Iterable[object]) -> str:
    """A line of CSV as nvprof writes it: texts in quotation marks, numbers without, nothing for None."""

    def text(cell: object) -> str:
        if cell is None:
            return ""
        if isinstance(cell, float):
            return f"{cell:.6f}"
        return str(cell) if isinstance(cell, Bare | int) else '"' + str(cell).replace('"', '""') + '"'

    return ",".join(map(text, cells))


# Summary


def _grouped(launched: Iterable[Launched]) -> dict[str, list[Launched]]:
    """Launches by kernel, in the order of their names."""
    found: dict[str, list[Launched]] = {}
    for each in launched:
        found.setdefault(kernel_name(each.profile), []).append(each)
    return dict(sorted(found.items()))


SummaryRow = tuple[str, int, "int | None", list["float | None"]]
"""Name, calls by the host, calls by the device, the time of each."""


def _summary_rows(activities: Activities) -> list[SummaryRow]:
    """One for each kernel and each kind of copy, those that take longest first."""
    rows: list[SummaryRow] = []
    for name, launches in _grouped(activities.launched).items():
        by_device = sum(each.by_device for each in launches)
        rows.append((name, len(launches) - by_device, by_device, [each.seconds for each in launches]))
    kinds = dict.fromkeys(each.kind for each in activities.copied)
    for kind in kinds:
        copies = [each.seconds for each in activities.copied if each.kind == kind]
        rows.append((copy_name(kind), len(copies), None, copies))
    return sorted(rows, key=lambda row: -sum(time or 0 for time in row[3]))


def copy_name(kind: str) -> str:
    """What nvprof calls a copy or fill."""
    return "[CUDA memset]" if kind == "memset" else f"[CUDA memcpy {kind}]"


def _times(times: Sequence[float | None]) -> tuple[float | None, float | None, float | None, float | None]:
    """Sum, average, least and most; None if not all are known."""
    known = [time for time in times if time is not None]
    if len(known) < len(times) or not known:
        return None, None, None, None
    return sum(known), sum(known) / len(known), min(known), max(known)


def summary(activities: Activities, as_csv: bool = False, unit: str = AUTO) -> list[str]:
    """Time by kernel and kind of copy; *unit* of times: one of UNITS, ``auto`` or ``col``."""
    rows = _summary_rows(activities)
    total = sum(time or 0 for row in rows for time in row[3])
    heads = ("Type", "Time(%)", "Time", "Calls (host)", "Calls (device)", "Avg", "Min", "Max", "Name")
    spent = [_times(row[3]) for row in rows]
    units = [unit_of_column(unit, [times[k] for times in spent]) for k in range(4)]
    if as_csv:
        return _summary_csv(rows, spent, total, heads, units)
    cells: list[Sequence[str]] = [heads]
    for k, ((name, host, device, _), times) in enumerate(zip(rows, spent, strict=True)):
        share = NOTHING if times[0] is None or not total else f"{100 * times[0] / total:.2f}%"
        calls = str(host), NOTHING if device is None else str(device)
        texts = [time_text(time, each) for time, each in zip(times, units, strict=True)]
        cells.append(("GPU activities:" if k == 0 else "", share, texts[0], *calls, *texts[1:], name))
    return _aligned(cells, (16, 7, 8, 12, 14, 8, 8, 8, 0))


def _aligned(rows: Sequence[Sequence[str]], least: Sequence[int]) -> list[str]:
    """Lines of a table whose columns have at least these widths; the last one is the name, and as wide as it is."""
    widths = [max(low, *map(len, column)) for low, column in zip(least, zip(*rows, strict=True), strict=True)]
    widths[-1] = 0
    return ["  ".join(f"{cell:>{width}}" for cell, width in zip(row, widths, strict=True)) for row in rows]


def _summary_csv(
    rows: Sequence[SummaryRow],
    spent: Sequence[Sequence[float | None]],
    total: float,
    heads: Sequence[str],
    units: Sequence[str],
) -> list[str]:
    units = [_csv_unit(each) for each in units]
    lines = [_csv(heads), ",%,{},,,{},{},{},".format(*units)]
    for (name, host, device, _), times in zip(rows, spent, strict=True):
        share = None if times[0] is None or not total else 100 * times[0] / total
        first, *rest = (_in_unit(time, each) for time, each in zip(times, units, strict=True))
        lines.append(_csv(["GPU activities", share, first, host, device, *rest, name]))
    return lines


def _csv_unit(unit: str) -> str:
    """A column of CSV has one unit."""
    return "us" if unit == AUTO else unit


def _in_unit(seconds: float | None, unit: str) -> float | None:
    return None if seconds is None else seconds / UNITS[unit]


# Metrics and events


def metric_result(activities: Activities, names: Sequence[str], as_csv: bool = False) -> list[str]:
    """Least, most and average of each metric over the launches of each kernel."""
    return _result(activities, names, ("Min", "Max", "Avg"), as_csv, is_event=False)


def event_result(activities: Activities, names: Sequence[str], as_csv: bool = False) -> list[str]:
    """Least, most, average and sum of each event over the launches of each kernel."""
    return _result(activities, names, ("Min", "Max", "Avg", "Total"), as_csv, is_event=True)


def _result(
    activities: Activities, names: Sequence[str], statistics: Sequence[str], as_csv: bool, is_event: bool
) -> list[str]:
    """A table of metrics, which have descriptions, or events."""
    kind = "Event Name" if is_event else "Metric Name"
    described = [] if is_event else ["Metric Description"]
    width = max(40, *(len(title_of(METRICS[name])) for name in names)) + 2
    device = f"{activities.device.name} (0)"

    def row(calls: str, name: str, descriptions: Iterable[str], values: Iterable[str]) -> str:
        middle = "".join(f"{text:>{width}}" for text in descriptions)
        return f"{calls:>11}{name:>42}{middle}{''.join(f'{value:>12}' for value in values)}"

    lines = [row("Invocations", kind, described, statistics), f'Device "{device}"']
    if as_csv:
        lines = [_csv(["Device", "Kernel", "Invocations", kind, *described, *statistics])]
    for kernel, launches in _grouped(activities.launched).items():
        if not as_csv:
            lines.append(f"    Kernel: {kernel}")
        for name in names:
            metric = METRICS[name]
            values = [_value(each, metric) for each in launches]
            found = _statistics([value for value in values if value is not None])[: len(statistics)]
            titles = [] if is_event else [title_of(metric)]
            if as_csv:
                cells = [_csv_value(value, metric.unit) for value in found]
                lines.append(_csv([device, kernel, len(launches), name, *titles, *cells]))
            else:
                lines.append(row(str(len(launches)), name, titles, [value_text(each, metric.unit) for each in found]))
    return lines


def _value(launch: Launched, metric: Metric) -> Number | None:
    """A metric of a launch, as nvprof has it."""
    found = launch.profile.metrics.get(metric.name)
    return _OF_NOTHING.get(metric.name) if found is None else found


def _statistics(values: Sequence[Number]) -> list[Number | None]:
    """Least, most, average and sum; whole for whole numbers, as nvprof has them."""
    if not values:
        return [None] * 4
    total = sum(values)
    whole = all(isinstance(value, int) for value in values)
    return [min(values), max(values), total // len(values) if whole else total / len(values), total]


def _csv_value(value: Number | None, unit: str) -> Bare | None:
    """As nvprof writes metrics there: ``25.020000%``, ``1.974902GB/s``, ``4194304``."""
    if value is None:
        return None
    if unit == "%":
        return Bare(f"{value:.6f}%")
    if unit == "bytes/s":
        return Bare(f"{value / 2**30:.6f}GB/s")
    return Bare(str(value) if isinstance(value, int) else f"{value:.6f}")


def metric_trace(activities: Activities, names: Sequence[str], as_csv: bool = False) -> list[str]:
    """Metrics and events of each launch in a line of its own, in the order of their starts."""
    metrics = [METRICS[name] for name in names]
    heads = ["Device", "Context", "Stream", "Kernel", *names]
    numbered = sorted(enumerate(activities.launched, start=1), key=lambda each: each[1].start)
    lines = [_csv(heads)] if as_csv else []
    rows = [heads]
    for number, launch in numbered:
        values = [_value(launch, metric) for metric in metrics]
        where = str(launch.context), str(launch.stream), f"{kernel_name(launch.profile)} [{number}]"
        if as_csv:
            cells = [_csv_value(value, metric.unit) for value, metric in zip(values, metrics, strict=True)]
            lines.append(_csv([f"{activities.device.name} (0)", *where, *cells]))
        else:
            texts = [value_text(value, metric.unit) for value, metric in zip(values, metrics, strict=True)]
            rows.append([activities.device.name[:_DEVICE_WIDTH], *where, *texts])
    if as_csv:
        return lines
    widths = [max(_DEVICE_WIDTH if k < 3 else 0, *map(len, column)) for k, column in enumerate(zip(*rows, strict=True))]
    return ["  ".join(f"{cell:>{width}}" for cell, width in zip(row, widths, strict=True)) for row in rows]


# Trace

_TRACE = (
    ("Start", 8), ("Duration", 8), ("Grid Size", 19), ("Block Size", 14), ("Regs*", 8), ("SSMem*", 8), ("DSMem*", 8),
    ("Size", 8), ("Throughput", 10), ("SrcMemType", 10), ("DstMemType", 10), ("Device", 15), ("Context", 8),
    ("Stream", 8), ("Name", 0),
)  # fmt: skip
_OF_COPIES = {"Size", "Throughput", "SrcMemType", "DstMemType"}
_NOTES = (
    "",
    "Regs: Number of registers used per CUDA thread. This number includes registers used internally by the CUDA driver "
    "and/or tools and can be more than what the compiler shows.",
    "SSMem: Static shared memory allocated per CUDA block.",
    "DSMem: Dynamic shared memory allocated per CUDA block.",
)
_NOTES_OF_COPIES = (
    "SrcMemType: The type of source memory accessed by memory operation/copy",
    "DstMemType: The type of destination memory accessed by memory operation/copy",
)
_TRACE_CSV = (
    "Start", "Duration", "Grid X", "Grid Y", "Grid Z", "Block X", "Block Y", "Block Z", "Registers Per Thread",
    "Static SMem", "Dynamic SMem", "Size", "Throughput", "SrcMemType", "DstMemType", "Device", "Context", "Stream",
    "Name",
)  # fmt: skip
_TRACE_UNITS = ",,,,,,,KB,KB,KB,GB/s,,,,,,"
_MEMORY = {"H": "Pageable", "D": "Device"}


@dataclass(frozen=True)
class _Entry:
    """A launch or a copy in the trace; None for what it does not have, sizes in bytes, times in seconds."""

    start: float
    seconds: float | None
    context: int
    stream: int
    name: str
    grid: tuple[int, int, int] | None = None
    block: tuple[int, int, int] | None = None
    registers: int | None = None
    static: int | None = None
    dynamic: int | None = None
    size: int | None = None
    source: str | None = None
    target: str | None = None

    @property
    def rate(self) -> float | None:
        """Bytes per second of a copy."""
        return self.size / self.seconds if self.size is not None and self.seconds else None


def gpu_trace(activities: Activities, as_csv: bool = False, unit: str = AUTO) -> list[str]:
    """Every launch and copy in the order of their starts; *unit* as for :func:`summary`."""
    entries = sorted(_entries(activities), key=lambda entry: entry.start)
    timed = any(entry.seconds is not None for entry in entries)
    device = activities.device.name
    units = [
        unit_of_column(unit, [entry.start if timed else None for entry in entries]),
        unit_of_column(unit, [entry.seconds for entry in entries]),
    ]
    if as_csv:
        units = [_csv_unit(each) for each in units]
        heads = [_csv(_TRACE_CSV), ",".join([*units, _TRACE_UNITS])]
        return [*heads, *(_trace_csv(entry, timed, device, units) for entry in entries)]
    columns = [each for each in _TRACE if activities.copied or each[0] not in _OF_COPIES]
    rows = [dict(_trace_cells(entry, timed, device, units)) for entry in entries]
    cells = [[head for head, _ in columns], *([row[head] for head, _ in columns] for row in rows)]
    lines = _aligned(cells, [width for _, width in columns])
    return [*lines, *_NOTES, *(_NOTES_OF_COPIES if activities.copied else ())]


def _entries(activities: Activities) -> Iterator[_Entry]:
    for number, launch in enumerate(activities.launched, start=1):
        profile, program = launch.profile, launch.profile.program
        yield _Entry(
            launch.start,
            launch.seconds,
            launch.context,
            launch.stream,
            f"{kernel_name(profile)} [{number}]",
            profile.grid,
            profile.block,
            program.registers,
            program.shared_bytes,
            launch.dynamic_shared,
        )
    for copy in activities.copied:
        source, _, target = copy.kind.partition("to")
        places = ("Device", None) if copy.kind == "memset" else (_MEMORY.get(source), _MEMORY.get(target))
        yield _Entry(
            copy.start, copy.seconds, copy.context, copy.stream, copy_name(copy.kind),
            size=copy.bytes, source=places[0], target=places[1],
        )  # fmt: skip


def _trace_cells(entry: _Entry, timed: bool, device: str, units: Sequence[str]) -> Iterator[tuple[str, str]]:
    yield "Start", time_text(entry.start if timed else None, units[0])
    yield "Duration", time_text(entry.seconds, units[1])
    for head, dims in (("Grid Size", entry.grid), ("Block Size", entry.block)):
        yield head, NOTHING if dims is None else f"({dims[0]} {dims[1]} {dims[2]})"
    yield "Regs*", NOTHING if entry.registers is None else str(entry.registers)
    for head, size in (("SSMem*", entry.static), ("DSMem*", entry.dynamic), ("Size", entry.size)):
        yield head, NOTHING if size is None else size_text(size)
    yield "Throughput", NOTHING if entry.rate is None else f"{size_text(entry.rate, whole=False)}/s"
    yield "SrcMemType", entry.source or NOTHING
    yield "DstMemType", entry.target or NOTHING
    yield "Device", device[:_DEVICE_WIDTH]
    yield "Context", str(entry.context)
    yield "Stream", str(entry.stream)
    yield "Name", entry.name


def _trace_csv(entry: _Entry, timed: bool, device: str, units: Sequence[str]) -> str:
    sizes = [None if size is None else size / 1024 for size in (entry.static, entry.dynamic, entry.size)]
    return _csv(
        [
            _in_unit(entry.start if timed else None, units[0]),
            _in_unit(entry.seconds, units[1]),
            *(entry.grid or (None,) * 3),
            *(entry.block or (None,) * 3),
            entry.registers,
            *sizes,
            None if entry.rate is None else entry.rate / 2**30,
            entry.source,
            entry.target,
            f"{device} (0)",
            str(entry.context),
            str(entry.stream),
            entry.name,
        ]
    )
