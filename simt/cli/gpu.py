"""``simt gpu``: the command of the package ``gpu``, the simulator beside a real GPU."""

from __future__ import annotations

import typer

from gpu import cli


def register(app: typer.Typer) -> None:
    """Add the command."""
    app.command("gpu", epilog=cli.EXAMPLES.replace("python -m gpu", "simt gpu"))(cli.run)
