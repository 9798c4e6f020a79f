"""A and B of ``simt diff`` and ``simt explain``: profiles that are saved, or kernels that are run now."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from simt.cli.options import LAUNCH_IN_FILE, KernelOptions

SIDE = "A profile saved as .json, or KERNEL or KERNEL@VIEW to run."
SIDES_HELP = f"""A and B are each a profile saved as .json (by [bold]simt run --json[/bold],
[bold]simt profile --json[/bold], Profile.to_json() or a profile of the hardware), or KERNEL or KERNEL@VIEW, which is
run now; KERNEL as in [bold]simt run[/bold].

{LAUNCH_IN_FILE}"""


@dataclass(frozen=True)
class Runs:
    """How the kernels among them are run."""

    size: int | None
    block: int | None
    order: str | None
    threads: int | None
    seed: int
    keywords: Mapping[str, Any] = field(default_factory=dict)

    def side(self, text: str) -> Any:
        """The profile that *text* names: of a file, or of a kernel that is run now."""
        if Path(text).suffix == ".json":
            from simt.profile.compare import load

            return load(text)
        kernel, _, view = text.partition("@")
        launch = KernelOptions(kernel, self.size, view or "source", self.order, seed=self.seed)
        return launch.launch(self.block, threads=self.threads, **self.keywords)
