"""``simt kernels``, ``simt metrics``, ``simt devices``, ``simt occupancy``: what there is, explained."""

from __future__ import annotations

from itertools import groupby
from typing import TYPE_CHECKING, Annotated, Any

import typer

from simt.cli.options import Json, metric_names
from simt.cli.output import columns, console, print_json, show, table

if TYPE_CHECKING:
    from simt.devices import Gpu
    from simt.profile import Metric

OCCUPANCY_EXAMPLE = "Example: [bold]simt occupancy --device a100 --block 512 --registers 40[/bold]"

_SIDE_BY_SIDE = 140
"""Columns that the table of metrics needs."""

_ACROSS = {True: "; comparable across them", False: "; not comparable across them"}


def register(app: typer.Typer) -> None:
    """Add the commands."""
    app.command()(kernels)
    app.command(epilog="Example: [bold]simt metrics gld_efficiency[/bold]")(metrics)
    app.command(epilog="Example: [bold]simt devices h200[/bold]")(devices)
    app.command(epilog=OCCUPANCY_EXAMPLE)(occupancy)


def kernels(as_json: Json = False) -> None:
    """List the kernels that come with simt."""
    import simt.kernels

    entries = [simt.kernels.get(name) for name in simt.kernels.names()]
    if as_json:
        print_json([{"name": e.name, "group": e.group, "summary": e.summary} for e in entries])
        return
    rows = table("", "kernel", "group", "summary", left=("kernel", "group", "summary"), wrap=("summary",))
    for entry in entries:
        rows.add_row(entry.name, entry.group, entry.summary)
    show(rows)


def metrics(
    name: Annotated[
        str | None, typer.Argument(autocompletion=metric_names, help="A metric by its nvprof or ncu name.")
    ] = None,
    as_json: Json = False,
) -> None:
    """List the metrics, or explain one."""
    from simt.profile import METRICS

    chosen = list(METRICS.values()) if name is None else [METRICS[name]]
    if as_json:
        described = [_describe(metric) for metric in chosen]
        print_json(described if name is None else described[0])
    elif name is not None:
        _explain(chosen[0])
    else:
        _list(chosen)


def _list(chosen: list[Metric]) -> None:
    from rich.text import Text

    width = columns()
    if width is not None and width < _SIDE_BY_SIDE:
        _list_stacked(chosen, width)
        return
    rows = table(
        "", "metric", "unit", "Nsight Compute", left=("metric", "unit", "Nsight Compute"), wrap=("Nsight Compute",)
    )
    group = ""
    for metric in chosen:
        if metric.group != group:
            group = metric.group
            rows.add_row(Text(group, style="bold"))
        rows.add_row(f"  {metric.name}", metric.unit, ", ".join(metric.ncu) or "-")
    show(rows)


def _list_stacked(chosen: list[Metric], width: int) -> None:
    """Where columns are scarce: the profiler's long names below those of simt."""
    from simt.text import filled

    out = console()
    for group, metrics in groupby(chosen, key=lambda metric: metric.group):
        out.print(group, style="bold")
        for metric in metrics:
            out.print(filled(f"  {metric.name}  [{metric.unit}]", width), soft_wrap=True)
            for name in metric.ncu:
                out.print(filled(f"    {name}", width), style="dim", soft_wrap=True)


def _describe(metric: Metric) -> dict[str, Any]:
    return {
        "name": metric.name,
        "nvprof": metric.name if metric.nvprof else None,
        "ncu": list(metric.ncu),
        "unit": metric.unit,
        "formula": str(metric.formula),
        "explanation": metric.explanation,
        "group": metric.group,
        "views": list(metric.views),
        "same_in_every_view": metric.same_in_every_view,
    }


def _explain(metric: Metric) -> None:
    from rich.text import Text

    text = Text()
    text.append(metric.name, "bold").append(f"  [{metric.unit}]\n\n{metric.explanation}\n\n")
    facts = {
        "formula": str(metric.formula),
        "nvprof": metric.name if metric.nvprof else "no such metric",
        "ncu": ", ".join(metric.ncu) or "no such metric",
        "views": f"{', '.join(metric.views)}{_ACROSS[metric.same_in_every_view]}",
    }
    for label, fact in facts.items():
        text.append(f"{label:<8} ", "dim").append(f"{fact}\n")
    console().print(text, end="")


def devices(
    name: Annotated[str | None, typer.Argument(help="A device or my.toml: shows every number with its source.")] = None,
    as_json: Json = False,
) -> None:
    """List the modelled GPUs, or show one with the source of every number.

    The timing numbers are those that --set replaces.
    """
    import simt.devices

    found = [simt.devices.get(key) for key in (simt.devices.names() if name is None else [name])]
    if as_json:
        described = [device.to_dict() for device in found]
        print_json(described if name is None else described[0])
    elif name is not None:
        _check_timing(found[0])
        _show_device(found[0])
    else:
        _list_devices(found)


def _list_devices(found: list[Gpu]) -> None:
    columns = (
        "device",
        "name",
        "arch",
        "SMs",
        "warps\nper SM",
        "blocks\nper SM",
        "registers\nper SM",
        "shared KiB\nper SM",
        "MHz",
        "numbers\nestimated",
        "timing",
    )
    rows = table("", *columns, left=(*columns[:3], "timing"))
    for device in found:
        shown = ("multiprocessors", "warps_per_sm", "blocks_per_sm", "registers_per_sm")
        numbers = [device.limit(key) for key in shown]
        numbers += [device.limit("shared_per_sm") // 1024, device.limit("clock_mhz")]
        timing = "measured" if device.is_measured else "estimated"
        rows.add_row(device.key, device.name, device.architecture, *map(str, numbers), _estimated(device), timing)
    optional = ("numbers\nestimated", "MHz", "blocks\nper SM", "registers\nper SM", "shared KiB\nper SM")
    show(rows, optional=optional)


def _check_timing(device: Gpu) -> None:
    """Raises DeviceError if the timing model would refuse the device's numbers."""
    from simt.timing import SECTION, parameters

    if SECTION in device.sections:
        parameters(device)


def _estimated(device: Gpu) -> str:
    known, numbers = device.measured
    return f"{numbers - known} of {numbers}"


def _show_device(device: Gpu) -> None:
    from rich.text import Text

    title = f"{device.name} ({device.architecture}); {_estimated(device)} timing numbers are estimated"
    rows = table(title, "number", "value", "unit", "source", left=("number", "unit", "source"), wrap=("unit", "source"))
    for name, section in (("limits", device.limits), *device.sections.items()):
        rows.add_row(Text(name, style="bold"))
        for key, quantity in section.items():
            style = "yellow" if quantity.estimated else ""
            rows.add_row(f"  {key}", f"{quantity.value:,}", quantity.unit, Text(quantity.source, style=style))
    show(rows)


def occupancy(
    block: Annotated[int, typer.Option(metavar="N", help="Threads per block.")] = 512,
    registers: Annotated[int | None, typer.Option(metavar="N", help="Registers per thread.")] = None,
    shared: Annotated[int, typer.Option(metavar="BYTES", help="Shared memory per block, static and dynamic.")] = 0,
    device: Annotated[str, typer.Option(help="A name of [bold]simt devices[/bold].")] = "h200",
    as_json: Json = False,
) -> None:
    """How many blocks fit on a multiprocessor, and which resource limits them."""
    import simt.devices

    gpu = simt.devices.get(device)
    found = simt.devices.occupancy(gpu, block, registers, shared)
    if as_json:
        print_json(found.to_dict())
        return
    rows = table("", "resource", "blocks per SM", "limits", left=("resource", "limits"))
    for resource, blocks in found.limits.items():
        rows.add_row(resource, str(blocks), "<- the limit" if resource in found.limited_by else "")
    out = console()
    out.print(
        f"{gpu.name}: {found.percent:.2f} % occupancy, {found.blocks_per_sm} blocks of "
        f"{found.warps_per_block} warps, {found.warps_per_sm} of {found.max_warps_per_sm} warps"
    )
    show(rows)
    if registers is None:
        out.print("registers per thread not given (--registers): they are not considered")
