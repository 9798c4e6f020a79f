"""A and B of ``simt diff`` and ``simt explain``: profiles that are saved, or kernels that are run now."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import typer

from simt.cli.options import (
    LAUNCH_IN_FILE,
    Arguments,
    Grid,
    KernelOptions,
    Nvrtc,
    OptionalBlock,
    OptionalSize,
    Order,
    Predicate,
    Seed,
    Shared,
    Threads,
)

SIDE = "A profile saved as .json, or KERNEL or KERNEL@VIEW to run."
PREDICATE = "predicate="
SIDES_HELP = f"""A and B are each a profile saved as .json (by [bold]simt run --json[/bold],
[bold]simt profile --json[/bold], Profile.to_json() or a profile of the hardware), or KERNEL or KERNEL@VIEW, which is
run now; KERNEL as in [bold]simt run[/bold]. [bold]KERNEL@predicate=N[/bold] is the source view as --predicate N has it.

{LAUNCH_IN_FILE}"""


@dataclass(frozen=True)
class SideOptions:
    """How those are run that are kernels."""

    size: OptionalSize = None
    block: OptionalBlock = None
    grid: Grid = None
    arg: Arguments = None
    shared: Shared = 0
    nvrtc: Nvrtc = None
    order: Order = None
    predicate: Predicate = 0
    threads: Threads = None
    seed: Seed = 0

    def side(self, text: str, keywords: Mapping[str, Any]) -> Any:
        """The profile that *text* names; *keywords* are more options of :func:`simt.launch`."""
        if Path(text).suffix == ".json":
            from simt.profile.compare import load

            return load(text)
        kernel, _, view = text.partition("@")
        predicate = 0 if view else self.predicate
        if view.startswith(PREDICATE):
            view, predicate = "", _most(view.removeprefix(PREDICATE), text)
        launch = KernelOptions(
            kernel, self.size, view or "source", self.order, predicate,
            seed=self.seed, grid=self.grid, arg=self.arg, shared=self.shared, nvrtc=self.nvrtc,
        )  # fmt: skip
        return launch.launch(self.block, threads=self.threads, **keywords)


def _most(text: str, side: str) -> int:
    if not text.isdecimal():
        raise typer.BadParameter(f"{side}: write a number of instructions after {PREDICATE}, such as {PREDICATE}8")
    return int(text)
