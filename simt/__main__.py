"""The console command ``simt``, also as ``python -m simt``: the simulator's commands, and that of the package ``gpu``.

Here the two packages meet; neither command line imports the other's.
"""

from __future__ import annotations

import os
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
    theirs, ours = _modules(str(package)), _modules(str(_HERE))
    return theirs.keys() == ours.keys() and all(_same(theirs[name], ours[name]) for name in ours)


def _modules(folder: str, place: str = "") -> dict[str, os.DirEntry[str]]:
    """The modules below a folder, by their place in it."""
    found: dict[str, os.DirEntry[str]] = {}
    with os.scandir(folder) as entries:
        for entry in entries:
            if entry.name.endswith(".py"):
                found[place + entry.name] = entry
            elif "." not in entry.name and entry.name != "__pycache__" and entry.is_dir():
                found |= _modules(entry.path, f"{place}{entry.name}/")
    return found


def _same(theirs: os.DirEntry[str], ours: os.DirEntry[str]) -> bool:
    """Whether two modules hold the same; read are only those that were written after the installation."""
    one, other = theirs.stat(), ours.stat()
    if one.st_size != other.st_size:
        return False
    return one.st_mtime <= other.st_mtime or Path(theirs).read_bytes() == Path(ours).read_bytes()


def main() -> None:
    """Entry point of the console command."""
    try:
        checkout = other_checkout(Path.cwd())
    except OSError:  # the folder is gone, or may not be read
        checkout = None
    if checkout is not None:
        print(
            f"note: this is the simt of {_HERE.parent}; `pip install -e {checkout}` runs the checkout", file=sys.stderr
        )
    run(dict.fromkeys(("gpu", "calibrate"), "gpu.cli"))


if __name__ == "__main__":
    main()
