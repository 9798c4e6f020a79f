"""The console command ``simt``, also as ``python -m simt``: the simulator's commands, and that of the package ``gpu``.

Here the two packages meet; neither command line imports the other's.
"""

from __future__ import annotations

import sys
from pathlib import Path

from simt.cli import main as run

_HERE = Path(__file__).resolve().parent


def other_checkout(folder: Path) -> Path | None:
    """The checkout of simt that *folder* is in, if its modules are not those that run."""
    for each in (folder, *folder.parents):
        if (each / "simt" / "__main__.py").is_file() and (each / "pyproject.toml").is_file():
            return None if _same_modules(each / "simt") else each
    return None


def _same_modules(package: Path) -> bool:
    """Whether *package* is the one that runs, or holds what that holds, as just after ``pip install .``."""
    if package.resolve() == _HERE:
        return True
    names = {file.relative_to(package) for file in package.rglob("*.py")}
    return names == {file.relative_to(_HERE) for file in _HERE.rglob("*.py")} and all(
        (package / name).read_bytes() == (_HERE / name).read_bytes() for name in names
    )


def main() -> None:
    """Entry point of the console command."""
    checkout = other_checkout(Path.cwd())
    if checkout is not None:
        print(
            f"note: this is the simt of {_HERE.parent}; `pip install -e {checkout}` runs the checkout", file=sys.stderr
        )
    run(dict.fromkeys(("gpu", "calibrate"), "gpu.cli"))


if __name__ == "__main__":
    main()
