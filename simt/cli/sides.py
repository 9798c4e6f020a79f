"""A and B of ``simt diff`` and ``simt explain``: profiles that are saved, or kernels that are run now."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

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

if TYPE_CHECKING:
    from simt.reasons import Accesses, Loop

SIDE = "A profile saved as .json, a profiler's .csv:KERNEL, or KERNEL or KERNEL@VIEW to run."
PREDICATE, UNROLL = "predicate=", "unroll="
SIDES_HELP = f"""A and B are each a profile saved as .json (by [bold]simt run --json[/bold],
[bold]simt profile --json[/bold], Profile.to_json() or a profile of the hardware), a launch in CSV of ncu or nvprof, or
KERNEL or KERNEL@VIEW, which is run now; KERNEL as in [bold]simt run[/bold]. [bold]KERNEL@predicate=N[/bold] is the
source view as --predicate N has it, [bold]KERNEL@unroll=N[/bold] the one with N rounds of each innermost loop behind
each other, and [bold]KERNEL@VIEW@unroll=N[/bold] what the compiler makes of that.

[bold]ncu.csv:KERNEL[/bold] is what ncu --csv --page raw, details or source printed, or nvprof --csv --log-file;
[bold]raw.csv+source.csv:KERNEL#2[/bold] both pages of a report, and the second launch of the kernel in it.

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

    def profiles(self, a: str, b: str | None, keywords: Mapping[str, Any]) -> list[Any]:
        """The profiles that *a* and *b* name; *keywords* are more options of :func:`simt.launch`."""
        sides = [self._side(text, keywords) for text in (a, b) if text is not None]
        return [side() for side in sides]  # none runs before all are there

    def _side(self, text: str, keywords: Mapping[str, Any]) -> Callable[[], Any]:
        """What gives the profile that a text names; a kernel is there, but has not run."""
        from simt.profile import recorded
        from simt.profile.compare import load

        if _is_saved(text) or recorded.is_recorded(text):
            found = load(text) if _is_saved(text) else recorded.load_recorded(text)
            return lambda: found
        import simt

        return self._ready(text, simt.launch, threads=self.threads, **keywords)

    def accesses(self, a: str, b: str | None, **options: Any) -> dict[str, Accesses]:
        """How a warp of each side that is a kernel accesses memory, by side, from a second run."""
        from simt.reasons import accesses_of

        return self._of_kernels(accesses_of, a, b, options)

    def loops(self, a: str, b: str | None) -> dict[str, Sequence[Loop]]:
        """How many rounds of their loops the warps of each side that is a kernel make, from a second run."""
        from simt.reasons import rounds_of

        return self._of_kernels(rounds_of, a, b, {})

    def _of_kernels(self, find: Callable[..., Any], a: str, b: str | None, options: Any) -> dict[str, Any]:
        """What *find* gives for each side that is a kernel, by side."""
        from simt.profile.recorded import is_recorded

        return {
            side: self._ready(text, find, **options)()
            for side, text in (("a", a), ("b", b))
            if text is not None and not _is_saved(text) and not is_recorded(text)
        }

    def _ready(self, text: str, how: Callable[..., Any], **options: Any) -> Callable[[], Any]:
        """Ready to call *how*, which takes what :func:`simt.launch` takes, with the kernel that *text* names."""
        kernel, *words = text.split("@")
        predicate: int | None = None
        views = []
        for word in words:
            if word.startswith(PREDICATE):
                predicate = _number(word, PREDICATE, text)
            elif word.startswith(UNROLL):
                how = _unrolling(how, _number(word, UNROLL, text))
            else:
                views.append(word)
        if len(views) > 1:
            raise typer.BadParameter(f"{text}: {' and '.join(views)} are several views: write one")
        view = views[0] if views else "source"
        if predicate is None:
            predicate = 0 if words else self.predicate
        asked = KernelOptions(
            kernel, self.size, view, self.order, predicate,
            seed=self.seed, grid=self.grid, arg=self.arg, shared=self.shared, nvrtc=self.nvrtc,
        )  # fmt: skip
        return asked.ready(how, self.block, **options)


def _unrolling(how: Callable[..., Any], times: int) -> Callable[..., Any]:
    """*how* for a kernel with its loops unrolled."""
    from simt.lang import unrolled

    return lambda kernel, *args, **options: how(unrolled(kernel, times), *args, **options)


def _is_saved(text: str) -> bool:
    return Path(text).suffix == ".json"


def _number(view: str, prefix: str, side: str) -> int:
    """The number in ``predicate=8`` or ``unroll=8``."""
    text = view.removeprefix(prefix)
    if not text.isdecimal():
        raise typer.BadParameter(f"{side}: write a number after {prefix}, such as {prefix}8")
    return int(text)
