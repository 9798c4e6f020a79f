"""``simt reduce``: every algorithm of the reduction family over the same data, side by side."""

from __future__ import annotations

import tempfile
from dataclasses import dataclass
from typing import TYPE_CHECKING, Annotated, Any

import typer

from simt.cli.options import (
    Block,
    Checks,
    Dtype,
    Engine,
    Json,
    Operation,
    Order,
    Predicate,
    Seed,
    Size,
    Threads,
    TimingOptions,
    View,
    grouped,
    reduction_names,
)
from simt.cli.output import EXIT_WRONG, Progress, console, print_json, progress, say, show, table

if TYPE_CHECKING:
    import numpy as np
    import numpy.typing as npt

    from simt.profile import Profile

EXAMPLES = """Examples:

  [bold]simt reduce --size 2^20[/bold]

  [bold]simt reduce --kernel neighbored --kernel interleaved --block 256[/bold]

  [bold]simt reduce --size 2^20 --view sm_90[/bold]

  [bold]simt reduce --device h200 --timing[/bold]

  [bold]simt reduce --size 2^22 --timing --set l1_latency=60 --set dram_latency=900[/bold]

  [bold]simt reduce --size 1_000_003 --dtype float32 --op max --json[/bold]"""

COLUMNS: tuple[tuple[str, str], ...] = (
    ("inst per\nwarp", "inst_per_warp"),
    ("divergent\nbranches", "divergent_branch"),
    ("branch\neff. %", "branch_efficiency"),
    ("warp\nexec.\neff. %", "warp_execution_efficiency"),
    ("gld\neff. %", "gld_efficiency"),
    ("sectors\nper gld", "gld_transactions_per_request"),
)
"""Metrics of the table: heading and metric."""

TIMED_COLUMNS: tuple[tuple[str, str], ...] = (
    ("cycles", "cycles"),
    ("time\nus", "duration"),
    ("ipc", "ipc"),
    ("occu-\npancy %", "achieved_occupancy_percent"),
    ("gld thr.\nGB/s", "gld_throughput"),
    ("DRAM read\nGB/s", "dram_read_throughput"),
    ("L1\nhit %", "l1_hit_rate"),
)
"""Those of a timed launch."""

OPTIONAL = ("seconds", "grid", "sectors\nper gld", "branch\neff. %")
TIMED_OPTIONAL = ("grid", "L1\nhit %", "DRAM read\nGB/s", "gld thr.\nGB/s", "result", "ipc", "time\nus")
"""Columns that a narrow terminal goes without, the first one first."""

_SCALES = {"duration": 1e-3, "gld_throughput": 1e-9, "dram_read_throughput": 1e-9}
"""From a metric's unit to that of its column."""


@dataclass(frozen=True)
class Row:
    """One kernel's result."""

    kernel: str
    total: Any
    expected: Any
    correct: bool
    profile: Profile

    def to_dict(self) -> dict[str, Any]:
        """For JSON."""
        return {
            "kernel": self.kernel,
            "grid": self.profile.grid[0],
            "sum": self.total.item(),
            "expected": self.expected.item(),
            "correct": self.correct,
            "seconds": self.profile.seconds,
            "counters": self.profile.counters,
            "metrics": dict(self.profile.metrics),
            "idle_lane_slots": self.profile.idle,
            "timing": None if self.profile.timing is None else self.profile.timing.about,
        }


def register(app: typer.Typer) -> None:
    """Add the command."""
    app.command(epilog=EXAMPLES)(grouped(reduce))


def reduce(
    *,
    kernel: Annotated[
        list[str] | None,
        typer.Option(
            metavar="KERNEL",
            autocompletion=reduction_names,
            help="A kernel of the family; may be repeated. Default: all.",
        ),
    ] = None,
    size: Size = 2**24,
    block: Block = 512,
    dtype: Dtype = "int32",
    op: Operation = "sum",
    seed: Seed = 0,
    view: View = "source",
    order: Order = None,
    predicate: Predicate = 0,
    check: Checks = None,
    threads: Threads = None,
    engine: Engine = "auto",
    model: TimingOptions,
    as_json: Json = False,
) -> None:
    """Reduce the same numbers with every algorithm, check the results against NumPy, and compare the counts.

    With --timing, compare how long they take on a GPU, and what their warps wait for.

    The data are integers from -128 to 127, or floats from 0 to 1. Integers wrap around and must be equal to
    NumPy's; float sums may differ by the rounding that another order of additions can cause.

    Exit code 1 if any result is wrong.
    """
    names = _checked(kernel) if kernel else _family(op)
    data = sample(size, dtype, op, seed)
    options = {"view": view, "order": order, "predicate": predicate, "check": check or (), "threads": threads, "op": op}
    options |= {"engine": engine, **model.keywords}
    with progress() as bar:
        rows = [_run(name, data, block, options, bar) for name in names]
    if as_json:
        heading = {"view": view, "toolchain": rows[0].profile.program.toolchain, "size": size, "block": block}
        heading |= {"dtype": dtype, "op": op, "seed": seed, "device": rows[0].profile.device.key}
        print_json({**heading, "results": [row.to_dict() for row in rows]})
    else:
        _print(rows, f"{op} of {size:,} {dtype}, blocks of {block} threads; {rows[0].profile.view_text}")
    if not all(row.correct for row in rows):
        raise typer.Exit(EXIT_WRONG)


def sample(size: int, dtype: str, op: str, seed: int) -> npt.NDArray[Any]:
    """The numbers to reduce: integers from -128 to 127, floats from 0 to 1.

    For products they are odd integers in the same range, and floats within 0.0005 of 1, so that the product
    is neither 0 nor infinite whatever the size.
    """
    from simt import kernels

    data = kernels.sample(size, dtype, seed, _room(size, dtype))
    if op != "product":
        return data
    if data.dtype.kind == "i":
        data |= 1
    else:
        data = (1 + (data - data.dtype.type(0.5)) / 1000).astype(data.dtype)
    return data


IN_FILE = 1 << 30
"""Bytes from which on the data stand in a temporary file, and take memory only while they are looked at."""


def _room(size: int, dtype: str) -> npt.NDArray[Any] | None:
    """Where the numbers are to stand, if there are many."""
    import numpy as np

    from simt import kernels

    if dtype not in kernels.DTYPES or size * np.dtype(dtype).itemsize < IN_FILE:
        return None
    with tempfile.TemporaryFile() as file:  # the mapping outlives it
        return np.memmap(file, dtype, "w+", shape=(size,))


def _checked(names: list[str]) -> list[str]:
    """The same names; raises before anything runs if one of them is not a reduction."""
    from simt import kernels

    for name in names:
        kernels.get_reduction(name)
    return names


def _family(op: str) -> list[str]:
    """The correct reductions that can do *op*."""
    from simt import kernels

    kernels.operation(op)
    entries = [kernels.get(name) for name in kernels.names()]
    family = [entry for entry in entries if isinstance(entry, kernels.ReductionKernel)]
    return [entry.name for entry in family if entry.group == "reduction" and op in entry.ops]


def _run(name: str, data: npt.NDArray[Any], block: int, options: dict[str, Any], bar: Progress) -> Row:
    import simt
    from simt import kernels

    total, profile = simt.reduce(data, name, block, progress=bar.start(name), **options)
    value: np.generic = data.dtype.type(total)
    expected, correct = kernels.agrees(value, data, options["op"])
    return Row(name, value, expected, correct, profile)


def _print(rows: list[Row], title: str) -> None:
    from rich.text import Text

    from simt.profile.summary import timing_text
    from simt.text import number_text

    first = rows[0].profile
    timed = first.timing is not None
    shown = TIMED_COLUMNS if timed else COLUMNS
    more = ("speed-\nup", "mainly waits for") if timed else ("seconds",)
    headings = ("kernel", "grid", "result", "correct", *more, *(heading for heading, _ in shown))
    result = table(title, *headings, left=("kernel", "mainly waits for"))
    for row in rows:
        correct = Text("yes") if row.correct else Text("NO", style="bold red")
        cells = row.kernel, f"{row.profile.grid[0]:,}", _value_text(row.total), correct
        metrics = [number_text(_scaled(row.profile.metrics[name], name)) for _, name in shown]
        result.add_row(*cells, *_more(row.profile, first), *metrics)
    show(result, optional=TIMED_OPTIONAL if timed else OPTIONAL)
    if first.timing is not None:
        say(timing_text(first.timing, of_many=True))
    out = console()
    for row in rows:
        if not row.correct:
            got, wanted = row.total.item(), row.expected.item()
            out.print(f"{row.kernel}: {got} instead of NumPy's {wanted}", style="red")


def _more(profile: Profile, first: Profile) -> tuple[str, ...]:
    """Speed-up over the first kernel and main stall; without timing, seconds of the simulation."""
    if profile.timing is None or first.timing is None:
        return (f"{profile.seconds:.3f}",)
    from simt.metrics.stalls import words_of

    speed_up = first.timing.cycles / profile.timing.cycles
    return f"{speed_up:.2f}", words_of(profile.timing.dominant_stall)


def _scaled(value: int | float | None, metric: str) -> int | float | None:
    if value is None or metric == "cycles":
        return None if value is None else int(value)
    return value * _SCALES[metric] if metric in _SCALES else value


def _value_text(value: np.generic) -> str:
    number = value.item()
    return f"{number:,}" if isinstance(number, int) else f"{number:.9g}"
