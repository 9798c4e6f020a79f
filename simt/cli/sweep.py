"""``simt sweep``: which block size, grid, constants or device is predicted to be fastest, and why."""

from __future__ import annotations

import threading
from collections.abc import Callable, Hashable, Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager, nullcontext
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Annotated

import typer

from simt.check import LaunchError, SimtError
from simt.cli.choices import Trial, trials
from simt.cli.machine_files import is_cuda
from simt.cli.options import LAUNCH_IN_FILE, Json, KernelOptions, ModelOptions, Threads, grouped
from simt.cli.output import print_json, progress, say, show, table

if TYPE_CHECKING:
    from simt.profile import Profile
    from simt.timing import Sweep, TimingResult

SIZE = 2**22
"""Elements of a reduction, if not given: enough to fill every GPU."""

SIZES = "32,64,128,256,512,1024"

LIKE = 1.5
"""Launches that do the same differ by less than so many times, in instructions or in bytes."""

MOST_TOGETHER = 64
"""Launches that wait for an executor's workers at the same time, each in a thread."""

EXAMPLES = f"""Examples:

  [bold]simt sweep interleaved --size 2^22 --device h200[/bold]

  [bold]simt sweep vector_add --blocks 128,256,512 --device rtx_4090 --json[/bold]

  [bold]simt sweep my_kernels.py:saxpy --set dram_latency=900[/bold]

  [bold]simt sweep stencil.cu:step --blocks 16x16,32x8 --grids 64x64 --constants UNROLL=1,2,4 --arg ...[/bold]

  [bold]simt sweep interleaved --blocks 256 --devices h200,h100,a100,my_gpu.toml[/bold]

  [bold]simt sweep interleaved --executor dask://scheduler:8786[/bold] on the workers of a Dask cluster

{LAUNCH_IN_FILE}"""


def register(app: typer.Typer) -> None:
    """Add the command."""
    app.command(epilog=EXAMPLES)(grouped(sweep))


def sweep(
    *,
    launch: KernelOptions,
    blocks: Annotated[
        str | None,
        typer.Option(
            metavar="N,N,...",
            help=f"Threads per block to try: 128,256 or 16x16,32x8. Default: {SIZES}, or the kernel's own if something "
            "else is tried.",
        ),
    ] = None,
    grids: Annotated[
        str | None,
        typer.Option(metavar="N,N,...", help="Grids to try: 132,264 or 64x64,32x128; for kernels in files."),
    ] = None,
    constants: Annotated[
        list[str] | None,
        typer.Option(
            metavar="NAME=V,V,...",
            help="Values of a constant to try, such as UNROLL=1,2,4: a macro that FILE.cu leaves to its compiler, or a "
            "variable that FILE.py sets; may be repeated.",
        ),
    ] = None,
    devices: Annotated[
        str | None,
        typer.Option(metavar="NAME,NAME,...", help="GPUs to try, names of simt devices or files of one's own."),
    ] = None,
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
    """Time a kernel with several block sizes, grids, constants or GPUs: the predicted best, its margin, and why.

    All combinations are tried. Those that the kernel or the GPU does not allow are listed with the reason. Reductions
    take 2^22 elements if --size is not given.
    """
    from simt import devices as known
    from simt import kernels, timing
    from simt.calls.executors.connect import executor_of

    if devices and model.device:
        raise typer.BadParameter("name the GPU with --device or several with --devices", param_hint="--devices")
    if grids and launch.grid is not None:
        raise typer.BadParameter("name the grid with --grid or several with --grids", param_hint="--grids")
    choices = trials(blocks, grids, constants or (), devices, SIZES)
    keywords = model.keywords
    for name in dict.fromkeys(trial.device or model.device for trial in choices):
        timing.parameters(known.get(name) if name else known.default_for(launch.view), keywords["overrides"])
    if launch.size is None and launch.kernel in kernels.names() and kernels.get(launch.kernel).group == "reduction":
        launch = replace(launch, size=SIZE)

    errors: dict[Trial, SimtError] = {}
    works: dict[Trial, Work] = {}
    with executor_of(executor) if executor else nullcontext() as workers, progress() as bar:

        def run(trial: Trial, advance: Callable[[int, int], None]) -> TimingResult:
            device = trial.device or model.device
            asked = launch if trial.grid is None else replace(launch, grid=trial.grid)
            if device and launch.view == "source" and is_cuda(launch.kernel):
                asked = replace(asked, view=known.get(device).architecture)  # what it is compiled for
            try:
                profile = asked.launch(
                    trial.block,
                    trial.constants,
                    threads=threads,
                    progress=advance,
                    executor=workers,
                    **{**keywords, "device": device},
                )
            except SimtError as error:
                errors[trial] = error
                raise
            assert profile.timing is not None  # ModelOptions always ask for timing
            works[trial] = Work.of(profile)
            return profile.timing

        def alone(trial: Trial) -> TimingResult:
            return run(trial, bar.start(f"{launch.kernel}, {trial}"))

        try:
            with _together(run, choices, bar.start(launch.kernel)) if workers else nullcontext(alone) as one:
                found = timing.sweep(one, choices)
        except timing.NoSizeRanError as none:
            raise _none_ran(none.errors) from None
    found.refused.update({trial: error.title for trial, error in errors.items()})
    notes = unlike({trial: works[trial] for trial in found.results})
    if as_json:
        print_json({"kernel": launch.kernel, "view": launch.view, **_described(found), "notes": notes})
    else:
        _print(found, f"{launch.kernel} ({launch.view} view)")
        for note in notes:
            say(note)


@dataclass(frozen=True)
class Work:
    """What a launch did that does not depend on how it was cut into blocks: thread instructions, and bytes of global
    memory that its threads asked for."""

    instructions: int
    bytes: int

    @classmethod
    def of(cls, profile: Profile) -> Work:
        """That of a launch."""
        counts = profile.counters
        asked = sum(counts[f"global_{what}_bytes"] for what in ("load", "store", "atomic"))
        return cls(counts["thread_inst_executed"], asked)

    def times(self, other: Work) -> tuple[float, float]:
        """How many times as many instructions and bytes as another."""
        return self.instructions / max(other.instructions, 1), self.bytes / max(other.bytes, 1)


def unlike(works: Mapping[Trial, Work]) -> list[str]:
    """A note if launches did unlike work: one executes far more *and* accesses far more memory than another.

    Other tiles or unrolling change the one or the other.
    """
    least = min(works, key=lambda trial: works[trial].instructions)
    most = max(works, key=lambda trial: works[trial].instructions)
    instructions, accessed = works[most].times(works[least])
    if instructions < LIKE or (works[most].bytes and accessed < LIKE):
        return []
    memory = f" and accesses {accessed:.1f} times the bytes of global memory" if works[most].bytes else ""
    return [
        f"unlike work: {most} executes {instructions:.1f} times the thread instructions of {least}{memory}; times say "
        "which is best only of launches that do the same"
    ]


@contextmanager
def _together(
    run: Callable[[Trial, Callable[[int, int], None]], TimingResult],
    choices: Sequence[Trial],
    advance: Callable[[int, int], None],
) -> Iterator[Callable[[Trial], TimingResult]]:
    """Run all launches at the same time; gives what waits for one of them.

    Each has a thread that waits for its workers.  *advance* is told of all of their blocks together.
    """
    stopped = threading.Event()
    done: dict[Trial, tuple[int, int]] = {}

    def one(trial: Trial) -> TimingResult:
        def tell(blocks: int, total: int) -> None:
            if stopped.is_set():
                raise KeyboardInterrupt
            done[trial] = blocks, total
            advance(*(sum(column) for column in zip(*done.copy().values(), strict=True)))

        return run(trial, tell)

    with ThreadPoolExecutor(min(len(choices), MOST_TOGETHER)) as waiting:
        found = {trial: waiting.submit(one, trial) for trial in choices}
        try:
            yield lambda trial: found[trial].result()
        finally:
            stopped.set()  # after ctrl-C the threads would wait on


def _none_ran(errors: Mapping[Hashable, SimtError]) -> SimtError:
    """What to raise if nothing could run: the one error that all have, or each trial with its own."""
    first = next(iter(errors.values()))
    if all(error.title == first.title for error in errors.values()):
        return first
    return LaunchError(
        "the kernel does not run with any of these",
        details=[f"{trial}: {error.title}" for trial, error in errors.items()],
    )


def _described(found: Sweep[Trial]) -> dict[str, object]:
    """For JSON; each launch has what was tried, its margin to the best and its expected error, in percent."""
    results = [
        {
            **trial.axes,
            "device": result.numbers.device.key,
            "margin_percent": found.margin(trial),
            "error_percent": result.expected_error.total,
            "dominant_stall": result.dominant_stall,
            **result.metrics,
        }
        for trial, result in found.results.items()
    ]
    return {
        "results": results,
        "refused": [{**trial.axes, "why": why} for trial, why in found.refused.items()],
        "best": dict(found.best.axes),
        "within_error": [dict(trial.axes) for trial in found.within_error],
        "reason": found.reason(),
    }


def _print(found: Sweep[Trial], title: str) -> None:
    from simt.metrics.stalls import words_of
    from simt.profile.summary import timing_text
    from simt.text import number_text

    tried = found.best.texts
    columns = (*tried, "cycles", "time us", "slower %", "error %", "occupancy %", "ipc", "mainly waits for")
    rows = table(title, *columns, left=("mainly waits for",), wrap=("mainly waits for",))
    for trial, result in found.results.items():
        metrics = result.metrics
        off = result.expected_error.total
        rows.add_row(
            *trial.texts.values(),
            f"{result.cycles:,.0f}",
            f"{1e6 * result.seconds:,.2f}",
            f"{found.margin(trial):.1f}",
            "?" if off is None else f"{off:.0f}",
            *map(number_text, [metrics["achieved_occupancy_percent"], metrics["ipc"]]),
            words_of(result.dominant_stall),
            style="bold" if trial == found.best else "",
        )
    for trial, why in found.refused.items():
        rows.add_row(*trial.texts.values(), *["-"] * 6, why, style="dim")
    show(rows, optional=("ipc", "occupancy %", "time us"))
    say(found.reason())
    say(timing_text(found.results[found.best], of_many=True))
