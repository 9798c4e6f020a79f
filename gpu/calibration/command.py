"""``simt calibrate``: measure the GPU of this machine, and write its device file."""

from __future__ import annotations

from importlib import resources
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from gpu.errors import EXIT_NO_GPU, NoGpuError
from simt.check import LaunchError, render, write_file
from simt.cli.output import EXIT_WRONG, check_writable, show, table

if TYPE_CHECKING:
    from importlib.abc import Traversable

    from gpu.calibration.figures import Figure
    from gpu.calibration.fitting import Fitted
    from gpu.calibration.measuring import Measured
    from gpu.calibration.writing import Product
    from simt.devices import Gpu

EXAMPLES = """Examples:

  [bold]simt calibrate -o my_gpu.toml[/bold], then [bold]simt run my.cu:kernel --timing --device my_gpu.toml[/bold]

  [bold]simt calibrate --like rtx_4090 -o my_gpu.toml[/bold]"""


def register(app: typer.Typer) -> None:
    """Add the command."""
    app.command(epilog=EXAMPLES)(calibrate)


def calibrate(
    output: Annotated[Path, typer.Option("-o", "--output", metavar="FILE.toml", help="The device file to write.")],
    like: Annotated[
        str | None,
        typer.Option(metavar="NAME", help="Device with the numbers that are not measured. Default: the nearest."),
    ] = None,
    device: Annotated[int, typer.Option(min=0, metavar="N", help="Number of the GPU.")] = 0,
    measurements: Annotated[
        Path | None, typer.Option(metavar="FILE.json", help="Keep what was measured, for [bold]--from[/bold].")
    ] = None,
    source: Annotated[
        Path | None,
        typer.Option("--from", metavar="FILE.json", help="Fit what was measured then. No GPU is needed."),
    ] = None,
) -> None:
    """Measure this machine's GPU and write a device file that predictions can be made with.

    Kernels that read the SM's clock run on the GPU, and in the timing model with the numbers of the nearest known
    device; latencies and bandwidths are changed until both agree. What a launch costs takes Nsight Compute. Takes a
    minute. Needs the extra sass.

    Exit code 0: all was measured; 1: something could not be, which the file leaves as estimated; 2: a wrong command
    line, or numbers that contradict each other (nothing is written); 3: no GPU.
    """
    import simt
    from gpu.calibration.fitting import fit
    from gpu.calibration.keeping import keep, kept
    from gpu.calibration.writing import device_file, most_of
    from simt import devices

    check_writable(output, measurements)
    if source is not None:
        if measurements is not None:
            raise LaunchError("--measurements keeps what is measured, but --from measures nothing")
        product, found = kept(source)
    else:
        product, found = _measured(device)
        if measurements is not None:
            keep(measurements, product, found)
    base = devices.get(like) if like else nearest(product.capability, product.name)
    typer.echo(f"{product.name}, CUDA {product.driver}; like {base.key}", err=True)
    with resources.as_file(_kernels()) as path:
        kernels = simt.load_cuda(path, product.architecture)
    fitted = fit(kernels, base, [each for each in found if not each.problem], _say, most_of(product, base))
    _report(fitted, base)
    write_file(output, device_file(product, base, fitted))
    typer.echo(f"wrote {output}")
    missing = [_missing(each.figure, each.problem) for each in found if each.problem]
    missing += [_missing(each.measured.figure, "the model does not follow") for each in fitted if not each.holds]
    for line in missing:
        typer.echo(line, err=True)
    if missing:
        raise typer.Exit(EXIT_WRONG)


def _measured(device: int) -> tuple[Product, list[Measured]]:
    """The GPU of this number, and all figures of it."""
    from gpu.calibration.figures import figures
    from gpu.calibration.measuring import measure, other_processes
    from gpu.calibration.native import Native
    from gpu.calibration.writing import Product
    from simt.toolkit.kernels import compile_kernels

    try:
        native = Native(device)
    except NoGpuError as error:
        typer.echo(render(error), err=True)
        raise typer.Exit(EXIT_NO_GPU) from None
    product = Product.of(native)
    beside = other_processes(native.place)
    if beside:
        typer.echo(f"note: others use the GPU, which may spoil the figures: {beside}", err=True)
    with resources.as_file(_kernels()) as path:
        native.load(compile_kernels(path, product.architecture).cubin)
    return product, list(measure(native, figures(dict(product.limits)["multiprocessors"]), _say))


def _kernels() -> Traversable:
    return resources.files("gpu.calibration") / "kernels.cu"


def nearest(capability: str, name: str = "") -> Gpu:
    """The known device of this compute capability, or of the next lower one; of this name, or else measured best."""
    from simt import devices

    def number(gpu: Gpu) -> int:
        return int(gpu.compute_capability.replace(".", ""))

    wanted = int(capability.replace(".", ""))
    known = [devices.get(key) for key in devices.names()]
    return min(
        known,
        key=lambda gpu: (
            number(gpu) > wanted, abs(number(gpu) - wanted), not gpu.name.startswith(name), -gpu.measured[0],
        ),
    )  # fmt: skip


def _say(what: str) -> None:
    typer.echo(f"  {what}", err=True)


def _missing(figure: Figure, why: str) -> str:
    what = figure.parameter or "no number"
    return f"not fitted: {figure.name} ({what} is the other device's): {why}"


def _report(fitted: list[Fitted], base: Gpu) -> None:
    grid = table(
        "cycles a step, and the numbers fitted to them", "figure", "GPU", "±", base.key, "fitted", "number", "value",
        "± ", left=("figure", "number"),
    )  # fmt: skip
    for each in fitted:
        measured = each.measured
        cells = [measured.figure.name, f"{measured.cycles:.4g}", f"{measured.spread:.2g}", f"{each.before:.4g}"]
        if each.value is None:
            grid.add_row(*cells, "", "", "", "")
        else:
            number = measured.figure.parameter or ""
            grid.add_row(*cells, f"{each.after:.4g}", number, f"{each.value:.4g}", f"{each.uncertainty:.2g}")
    show(grid)
