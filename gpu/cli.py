"""``python -m gpu`` and ``simt gpu``: is what the simulator says true on this machine's GPU?"""

from __future__ import annotations

import sys
from typing import Annotated, Any

import typer

from gpu.calibration import command as calibration
from gpu.errors import EXIT_NO_GPU, NoGpuError
from simt.check import SimtError, render
from simt.cli.options import Block, Dtype, Json, Operation, Seed, Size, View
from simt.cli.output import EXIT_ERROR, EXIT_WRONG, columns, console, print_json, show, table
from simt.text import filled

WITHOUT = (
    "the same checks run without one: `simt reduce` (simulator against NumPy), and `pytest tests/gpu` "
    "(against results stored from an H200, and Numba's CUDA simulator)"
)

EXAMPLES = """Examples:

  [bold]python -m gpu --size 2^22[/bold]

  [bold]python -m gpu --kernel interleaved --kernel shuffle --no-counters --json[/bold]"""

COLUMNS = (
    ("ld sectors", "gld_transactions"),
    ("st sectors", "gst_transactions"),
    ("divergent", "divergent_branch"),
)
"""Counters of the table: heading and metric; simulator and hardware side by side."""


def run(
    kernel: Annotated[
        list[str] | None,
        typer.Option(metavar="KERNEL", help="A name of [bold]simt kernels[/bold]; may be repeated. Default: all."),
    ] = None,
    size: Size = 2**20,
    block: Block = 512,
    dtype: Dtype = "int32",
    op: Operation = "sum",
    seed: Seed = 0,
    view: View = "source",
    device: Annotated[int, typer.Option(min=0, metavar="N", help="Number of the GPU.")] = 0,
    counters: Annotated[bool, typer.Option(help="Read hardware counters with Nsight Compute.")] = True,
    as_json: Json = False,
) -> None:
    """Run the kernels on the GPU and on the simulator: results, times, counters side by side.

    Exit code 0: all equal; 1: something that should agree differs; 2: a wrong launch; 3: no GPU.
    """
    from gpu import driver, family
    from gpu.hardware import device as device_of
    from gpu.hardware import devices, why_not

    missing = why_not()
    if missing is not None:
        _no_gpu(missing, as_json)
    options = family.Options(size, block, dtype, op, seed, view, device, counters)
    chosen = kernel or family.names(op)
    notes: list[str] = []
    where = device_of(device)
    results = list(family.check(chosen, options, notes.append))
    if as_json:
        print_json(
            {
                "device": where.to_dict(),
                "devices": [each.to_dict() for each in devices()],
                "versions": driver.versions(),
                "view": view,
                "size": size,
                "block": block,
                "dtype": dtype,
                "op": op,
                "seed": seed,
                "no_counters": notes,
                "results": [result.to_dict() for result in results],
            }
        )
    else:
        _print(results, f"{where}, {op} of {size:,} {dtype}, blocks of {block}; simulator: {view} view", notes)
    if not all(result.agrees for result in results):
        raise typer.Exit(EXIT_WRONG)


def _no_gpu(error: NoGpuError, as_json: bool) -> None:
    message = f"no GPU: {error.title}; {WITHOUT}"
    if as_json:
        print_json({"device": None, "why": error.title, "details": list(error.details), "results": []})
    typer.echo(filled(message, columns(sys.stderr)), err=True)
    raise typer.Exit(EXIT_NO_GPU)


def _yes(right: bool) -> Any:
    from rich.text import Text

    return Text("yes") if right else Text("NO", style="bold red")


def _print(results: list[Any], title: str, notes: list[str]) -> None:
    from gpu.comparison import FEWER, OTHER_CODE, WHY_OTHER_CODE

    first = next((result.run.milliseconds for result in results if result.total is not None), None)
    shown = [(heading, metric) for heading, metric in COLUMNS if any(result.row(metric) for result in results)]
    pairs = [f"{heading} {side}" for heading, _ in shown for side in ("sim", "GPU")]
    grid = table(title, "kernel", "result", "correct", "ms", "speed-up", *pairs, "agrees", left=("kernel",))
    for result in results:
        time = result.run.milliseconds
        faster = f"{first / time:.2f}" if first and time and result.total is not None else ""
        cells: list[Any] = [
            result.kernel,
            "" if result.total is None else f"{result.total.item():,}",
            _yes(result.correct),
            "" if time is None else f"{time:.4f}",
            faster,
        ]
        for _, metric in shown:
            row = result.row(metric)
            cells += ["", ""] if row is None else [f"{row.simulator:,}", f"{row.hardware:,}"]
        grid.add_row(*cells, _yes(result.agrees))
    show(grid)
    out = console()
    for result in results:
        wrong = [f"argument {o.argument + 1}" for o in result.outputs if o.verdict == "DIFFERENT"]
        wrong += [f"{r.metric} {r.simulator} against {r.hardware}" for r in result.rows if r.verdict == "DIFFERENT"]
        if wrong:
            out.print(f"{result.kernel}: {'; '.join(wrong)}", style="red")
    if any(row.verdict == OTHER_CODE for result in results for row in result.rows):
        out.print(f"{OTHER_CODE}: {WHY_OTHER_CODE}", style="dim")
    for result in results:
        if any(row.verdict == FEWER for row in result.rows):
            for line in result.accesses:
                out.print(f"{result.kernel}: {FEWER}: {line}", style="dim")
    for note in notes:
        out.print(f"no counters: {note}", style="yellow")


def register(app: typer.Typer) -> None:
    """Add the commands ``simt gpu`` and ``simt calibrate``."""
    app.command("gpu", epilog=EXAMPLES.replace("python -m gpu", "simt gpu"))(run)
    calibration.register(app)


def main() -> None:
    """Entry point of ``python -m gpu``."""
    app = typer.Typer(add_completion=False, rich_markup_mode="rich", pretty_exceptions_enable=False)
    app.command(epilog=EXAMPLES)(run)
    try:
        app()
    except SimtError as error:
        typer.echo(render(error), err=True)
        sys.exit(EXIT_NO_GPU if isinstance(error, NoGpuError) else EXIT_ERROR)
