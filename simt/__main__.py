"""The console command ``simt``, also as ``python -m simt``: the simulator's commands, and that of the package ``gpu``.

Here the two packages meet; neither command line imports the other's.
"""

from __future__ import annotations

from gpu.cli import register
from simt.cli import main as run


def main() -> None:
    """Entry point of the console command."""
    run(register)


if __name__ == "__main__":
    main()
