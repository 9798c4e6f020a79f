"""``simt trace``: one warp, lane by lane."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from simt.check import LaunchError, write_file
from simt.cli.options import LAUNCH_IN_FILE, Json, LaunchOptions, Schedule, Svg, grouped
from simt.cli.output import check_writable, columns, print_json
from simt.text import counted

if TYPE_CHECKING:
    from simt.profile import Profile
    from simt.trace import Trace

EXAMPLES = f"""Examples:

  [bold]simt trace if_else --values[/bold]

  [bold]simt trace neighbored --size 128 --block 64 --warp 1[/bold]

  [bold]simt trace if_else --view sm_90[/bold]

  [bold]simt trace my_kernels.py:saxpy[/bold]

{LAUNCH_IN_FILE}"""


def register(app: typer.Typer) -> None:
    """Add the command."""
    app.command(epilog=EXAMPLES)(grouped(trace))


def trace(
    launch: LaunchOptions,
    schedule: Schedule = None,
    block_index: Annotated[int, typer.Option(min=0, help="Which block: its linear index.")] = 0,
    warp: Annotated[int, typer.Option(min=0, help="Which warp of the block.")] = 0,
    values: Annotated[bool, typer.Option("--values", help="Show what each lane assigns, too.")] = False,
    svg: Svg = None,
    as_json: Json = False,
) -> None:
    """Show what one warp does: line or machine instruction, pass, and its 32 lanes, active or idle and why."""
    check_writable(svg)
    profile = launch.launch(launch.block, schedule=schedule, trace=(block_index, warp))
    show(profile, block_index, warp, values, as_json, svg)


def traced(profile: Profile, block_index: int, warp: int) -> Trace:
    """The trace of a launch that traced this warp.  Raises LaunchError if there is no such warp."""
    found = profile.trace
    if found is None or (block_index, warp) not in found.warps:
        shape = profile.launches[0]
        raise LaunchError(
            f"there is no block {block_index} with a warp {warp} in this launch",
            details=[
                f"it has {counted(shape.blocks, 'block')} of {counted(shape.warps // shape.blocks, 'warp')}; "
                "both are counted from 0"
            ],
        )
    return found


def show(profile: Profile, block_index: int, warp: int, values: bool, as_json: bool, svg: Path | None = None) -> None:
    """Print what one warp of a traced launch did, or write it to *svg*.  LaunchError if there is no such warp."""
    found = traced(profile, block_index, warp)
    if as_json:
        head = {"kernel": profile.kernel, "view": profile.view, "grid": profile.grid, "block": profile.block}
        print_json({**head, **found.to_dict(block_index, warp, values=values)})
    elif svg is not None:
        write_file(svg, found.to_svg(block_index, warp, values=values, width=columns()))
    else:
        typer.echo(found.render(block_index, warp, values=values, width=columns()))
