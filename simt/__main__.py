"""The console command ``simt``, also as ``python -m simt``: the simulator's commands, and that of the package ``gpu``.

Here the two packages meet; neither command line imports the other's.
"""

from __future__ import annotations

import sys
from pathlib import Path

from simt.cli import main as run

_HERE = Path(__file__).resolve().parent


def other_checkout(folder: Path) -> Path | None:
    """The checkout of simt that *folder* is in, if it is not the one that runs."""
    for each in (folder, *folder.parents):
        if (each / "simt" / "__main__.py").is_file() and (each / "pyproject.toml").is_file():
            return None if (each / "simt").resolve() == _HERE else each
    return None


def main() -> None:
    """Entry point of the console command."""
    checkout = other_checkout(Path.cwd())
    if checkout is not None:
        print(
            f"note: this is the simt of {_HERE.parent}; `pip install -e {checkout}` runs the checkout", file=sys.stderr
        )
    run({"gpu": "gpu.cli"})


if __name__ == "__main__":
    main()
