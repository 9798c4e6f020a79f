"""``simt sweep``: which block size is predicted to be fastest, and why."""

from __future__ import annotations

import re
import threading
from collections.abc import Callable, Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager, nullcontext
from dataclasses import replace
from typing import TYPE_CHECKING, Annotated

import typer

from simt.check import LaunchError, SimtError
from simt.cli.options import LAUNCH_IN_FILE, Json, KernelOptions, ModelOptions, Threads, grouped
from simt.cli.output import print_json, progress, say, show, table

if TYPE_CHECKING:
    from simt.timing import Sweep, TimingResult

SIZE = 2**22
"""Elements of a reduction, if not given: enough to fill every GPU."""

SIZES = "32,64,128,256,512,1024"

EXAMPLES = f"""Examples:

  [bold]simt sweep interleaved --size 2^22 --device h200[/bold]

  [bold]simt sweep vector_add --blocks 128,256,512 --device rtx_4090 --json[/bold]

  [bold]simt sweep my_kernels.py:saxpy --set dram_latency=900[/bold]

  [bold]simt sweep interleaved --executor dask://scheduler:8786[/bold] on the workers of a Dask cluster

{LAUNCH_IN_FILE}"""


def register(app: typer.Typer) -> None:
    """Add the command."""
    app.command(epilog=EXAMPLES)(grouped(sweep))


def sweep(
    *,
    launch: KernelOptions,
    blocks: Annotated[str, typer.Option(metavar="N,N,...", help="Threads per block to try.")] = SIZES,
    threads: Threads = None,
    model: ModelOptions,
    executor: Annotated[
        str | None,
        typer.Option(
            metavar="processes:N|dask://HOST:PORT",
            help="Run the launches at the same time: in N processes, or on the workers of a Dask cluster "
            "(pip install 'simt\\[dask]').",
        ),
    ] = None,
    as_json: Json = False,
) -> None:
    """Time a kernel with several block sizes: the predicted best, and why.

    Sizes that the kernel or the GPU does not allow are listed with the reason. Reductions take 2^22 elements if
    --size is not given.
    """
    from simt import devices, kernels, timing
    from simt.calls.executors.connect import executor_of

    if not re.fullmatch(r"\s*\d+\s*(,\s*\d+\s*)*", blocks):
        raise typer.BadParameter(f"{blocks!r} is not of the form 128,256,512", param_hint="--blocks")
    sizes = [int(size) for size in blocks.split(",")]
    keywords = model.keywords
    device = devices.get(model.device) if model.device else devices.default_for(launch.view)
    timing.parameters(device, keywords["overrides"])
    if launch.size is None and launch.kernel in kernels.names() and kernels.get(launch.kernel).group == "reduction":
        launch = replace(launch, size=SIZE)

    errors: dict[int, SimtError] = {}
    with executor_of(executor) if executor else nullcontext() as workers, progress() as bar:

        def run(block: int, advance: Callable[[int, int], None]) -> TimingResult:
            try:
                found = launch.launch(block, threads=threads, progress=advance, executor=workers, **keywords).timing
            except SimtError as error:
                errors[block] = error
                raise
            assert found is not None  # ModelOptions always ask for timing
            return found

        def alone(block: int) -> TimingResult:
            return run(block, bar.start(f"{launch.kernel}, blocks of {block}"))

        try:
            with _together(run, sizes, bar.start(launch.kernel)) if workers else nullcontext(alone) as one:
                found = timing.sweep(one, sizes)
        except timing.NoSizeRanError as none:
            raise _none_ran(none.errors) from None
    found.refused.update({block: error.title for block, error in errors.items()})
    if as_json:
        head = {"kernel": launch.kernel, "view": launch.view, "device": device.key}
        print_json({**head, **_described(found)})
    else:
        _print(found, f"{launch.kernel} ({launch.view} view)")


@contextmanager
def _together(
    run: Callable[[int, Callable[[int, int], None]], TimingResult],
    sizes: Sequence[int],
    advance: Callable[[int, int], None],
) -> Iterator[Callable[[int], TimingResult]]:
    """Run all launches at the same time; gives what waits for one of them.

    Each has a thread that waits for its workers.  *advance* is told of all of their blocks together.
    """
    stopped = threading.Event()
    done: dict[int, tuple[int, int]] = {}

    def one(size: int) -> TimingResult:
        def tell(blocks: int, total: int) -> None:
            if stopped.is_set():
                raise KeyboardInterrupt
            done[size] = blocks, total
            advance(*(sum(column) for column in zip(*done.copy().values(), strict=True)))

        return run(size, tell)

    with ThreadPoolExecutor(len(sizes)) as waiting:
        found = {size: waiting.submit(one, size) for size in dict.fromkeys(sizes)}
        try:
            yield lambda size: found[size].result()
        finally:
            stopped.set()  # after ctrl-C the threads would wait on


def _none_ran(errors: Mapping[int, SimtError]) -> SimtError:
    """What to raise if no size could run: the one error that all have, or each size with its own."""
    first = next(iter(errors.values()))
    if all(error.title == first.title for error in errors.values()):
        return first
    return LaunchError(
        "the kernel does not run with any of these block sizes",
        details=[f"{block}: {error.title}" for block, error in errors.items()],
    )


def _described(found: Sweep) -> dict[str, object]:
    results = [
        {"block": block, "dominant_stall": result.dominant_stall, **result.metrics}
        for block, result in found.results.items()
    ]
    return {"results": results, "refused": found.refused, "best": found.best, "reason": found.reason()}


def _print(found: Sweep, title: str) -> None:
    from simt.metrics.stalls import words_of
    from simt.profile.summary import timing_text
    from simt.text import number_text

    columns = ("block", "cycles", "time us", "occupancy %", "ipc", "gld GB/s", "mainly waits for")
    rows = table(title, *columns, left=("mainly waits for",), wrap=("mainly waits for",))
    for block, result in found.results.items():
        metrics = result.metrics
        rates = [metrics["achieved_occupancy_percent"], metrics["ipc"], (metrics["gld_throughput"] or 0) / 1e9]
        rows.add_row(
            str(block),
            f"{result.cycles:,.0f}",
            f"{1e6 * result.seconds:,.2f}",
            *map(number_text, rates),
            words_of(result.dominant_stall),
            style="bold" if block == found.best else "",
        )
    for block, why in found.refused.items():
        rows.add_row(str(block), *["-"] * 5, why, style="dim")
    show(rows)
    say(found.reason())
    say(timing_text(found.results[found.best], of_many=True))
