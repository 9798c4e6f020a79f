"""``simt trace``: one warp, lane by lane."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated

import typer

from simt.check import LaunchError
from simt.cli.launches import find
from simt.cli.options import (
    LAUNCH_IN_FILE,
    Json,
    KernelArgument,
    OptionalBlock,
    OptionalSize,
    Order,
    Predicate,
    Races,
    Seed,
    View,
)
from simt.cli.output import print_json

if TYPE_CHECKING:
    from simt.profile import Profile

EXAMPLES = f"""Examples:

  [bold]simt trace if_else --values[/bold]

  [bold]simt trace neighbored --size 128 --block 64 --warp 1[/bold]

  [bold]simt trace if_else --view sm_90[/bold]

  [bold]simt trace my_kernels.py:saxpy[/bold]

{LAUNCH_IN_FILE}"""


def register(app: typer.Typer) -> None:
    """Add the command."""
    app.command(epilog=EXAMPLES)(trace)


def trace(
    kernel: KernelArgument,
    size: OptionalSize = None,
    block: OptionalBlock = None,
    block_index: Annotated[int, typer.Option(min=0, help="Which block: its linear index.")] = 0,
    warp: Annotated[int, typer.Option(min=0, help="Which warp of the block.")] = 0,
    values: Annotated[bool, typer.Option("--values", help="Show what each lane assigns, too.")] = False,
    view: View = "source",
    order: Order = None,
    predicate: Predicate = 0,
    races: Races = False,
    seed: Seed = 0,
    as_json: Json = False,
) -> None:
    """Show what one warp does: line or machine instruction, pass, and its 32 lanes, active or idle and why."""
    import simt

    launch = find(kernel, size, block, seed)
    profile = simt.launch(
        launch.kernel, launch.grid, launch.block, *launch.args,
        view=view, order=order, predicate=predicate, races=races, trace=(block_index, warp), **launch.options,
    )  # fmt: skip
    show(profile, block_index, warp, values, as_json)


def show(profile: Profile, block_index: int, warp: int, values: bool, as_json: bool) -> None:
    """Print what one warp of a traced launch did.  Raises LaunchError if there is no such warp."""
    found = profile.trace
    if found is None or (block_index, warp) not in found.warps:
        shape = profile.launches[0]
        raise LaunchError(
            f"there is no block {block_index} with a warp {warp} in this launch",
            details=[f"it has {shape.blocks} blocks of {shape.warps // shape.blocks} warps, counted from 0"],
        )
    if as_json:
        head = {"kernel": profile.kernel, "view": profile.view, "grid": profile.grid, "block": profile.block}
        print_json({**head, **found.to_dict(block_index, warp, values=values)})
    else:
        typer.echo(found.render(block_index, warp, values=values))
