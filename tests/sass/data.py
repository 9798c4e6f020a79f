"""Where the machine view's test data are, and how a launch of machine code is run and counted."""

from __future__ import annotations

import csv
import lzma
from collections.abc import Sequence
from functools import cache, partial
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from simt.machine import Launch, RunResult
from simt.program import COUNTERS, Program
from simt.runtime import run
from simt.sass import Kernels, SassKernel, bank_image, inner_arrays, load_cubin

DATA = Path(__file__).parent.parent / "data" / "sass"
COLUMNS = {
    # column of the tables: counter of the machine
    "inst_executed": "inst_executed",
    "thread_inst_executed": "thread_inst_executed",
    "pred_on_thread_inst_executed": "pred_on_thread_inst_executed",
    "divergent_branches": "divergent_branches",
    "global_sectors": "sectors",
    "global_sectors_ideal": "sectors_ideal",
}

PROFILED = ("inst_executed", "thread_inst_executed", "pred_on_thread_inst_executed", "divergent_branches")
"""Columns of the source page that tables of rows have."""


@cache
def cubin(name: str) -> Kernels:
    """Kernels of a cubin of the test data, ``sm_90/kernels_O3`` for instance."""
    path = DATA / f"{name}.cubin"
    listing = path.with_suffix(".sass")
    return load_cubin(path, listing=listing if listing.exists() else None)


def launch(
    kernel: SassKernel,
    grid: tuple[int, int, int],
    block: tuple[int, int, int],
    args: Sequence[Any],
    shared_bytes: int = 0,
    order: str = "profiler",
) -> RunResult:
    """Run a kernel; arrays among the arguments are changed in place.  In the default order rows are a profiler's."""
    return run(
        kernel.program,
        Launch(
            grid,
            block,
            [*args, *inner_arrays(args)],
            shared_bytes=shared_bytes,
            order=order,
            bank_image=partial(bank_image, kernel, grid, block, args),
        ),
        kernel.module.memory.context,
    )


def per_line(program: Program, result: RunResult) -> npt.NDArray[np.int64]:
    """Counters of each listing line: int64 [lines, len(COUNTERS)]."""
    table = np.zeros((len(program.listing), len(COUNTERS)), np.int64)
    memory = COUNTERS.index("requests")
    for pc, instruction in enumerate(program.instructions):
        first = 0 if instruction.retires else memory
        table[instruction.line, first:] += result.counters[pc, first:]
    return table


def executed_rows(program: Program, table: npt.NDArray[np.int64]) -> dict[int, tuple[int, ...]]:
    """The columns PROFILED of each instruction that was executed, by its address; *table*: :func:`per_line`."""
    columns = [COUNTERS.index(column) for column in PROFILED]
    return {
        line.number: tuple(int(row[column]) for column in columns)
        for line, row in zip(program.listing, table, strict=True)
        if row[0]
    }


def totals_of(table: npt.NDArray[np.int64]) -> dict[str, int]:
    """What the counters of the hardware add up to: instructions and threads, further issues among them."""
    column = {counter: int(table[:, COUNTERS.index(counter)].sum()) for counter in COUNTERS}
    return {
        "inst_executed": column["inst_executed"] + column["replays"],
        "thread_inst_executed": column["thread_inst_executed"] + column["replay_threads"],
    }


def read_table(path: Path) -> list[dict[str, str]]:
    """Rows of a hardware table, which may be packed (.xz)."""
    with (lzma.open if path.suffix == ".xz" else open)(path, "rt", newline="") as file:
        return list(csv.DictReader(file))


def differences(
    rows: list[dict[str, str]], program: Program, counts: npt.NDArray[np.int64]
) -> list[tuple[str, str, str, int, int]]:
    """Offset, text, column, hardware's and our value of all that differs; sectors only of global accesses."""
    assert [row["sass"] for row in rows] == [line.text for line in program.listing]
    assert [int(row["offset"], 16) for row in rows] == [line.number for line in program.listing]
    spaces: dict[int, set[str]] = {}
    for instruction in program.instructions:
        spaces.setdefault(instruction.line, set()).add(instruction.op.partition(".")[2])
    found = []
    for line, (row, ours) in enumerate(zip(rows, counts, strict=True)):
        for column, counter in COLUMNS.items():
            expected, got = int(row[column]), int(ours[COUNTERS.index(counter)])
            if counter.startswith("sectors") and not spaces.get(line, set()) & {"global", "generic"}:
                got = 0
            if expected != got:
                found.append((row["offset"], row["sass"], column, expected, got))
    return found
