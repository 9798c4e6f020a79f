"""What was measured as a JSON file, from which numbers can be fitted again, without a GPU and by another model."""

from __future__ import annotations

import json
import math
from collections.abc import Sequence
from dataclasses import asdict
from pathlib import Path
from typing import Any

from gpu.calibration.figures import figures
from gpu.calibration.measuring import Measured
from gpu.calibration.writing import Product
from simt.check import LaunchError, check_no_pipe, write_file

NUMBERS = "cycles", "spread", "mhz"
"""Of a figure; what the GPU refused has none."""


def keep(path: Path, product: Product, found: Sequence[Measured]) -> None:
    """Write what was measured on a GPU.  Raises LaunchError where the operating system refuses."""
    rows = {
        each.figure.name: {"problem": each.problem} | {name: getattr(each, name) for name in NUMBERS if each.mhz > 0}
        for each in found
    }
    write_file(path, json.dumps({"product": asdict(product), "figures": rows}, indent=1, ensure_ascii=False) + "\n")


def kept(path: Path) -> tuple[Product, list[Measured]]:
    """What :func:`keep` wrote, with a problem for each figure that it lacks: another version measured others.

    Raises LaunchError if it is not there, or is something else.
    """
    check_no_pipe(path)
    try:
        said = json.loads(path.read_text(encoding="utf-8"))
        product = _product(said["product"])
        rows, absent = said["figures"], {"problem": "it was not measured then"}
        found = [
            Measured(figure, problem=str(row["problem"]), **{n: float(row.get(n, math.nan)) for n in NUMBERS})
            for figure in figures(dict(product.limits)["multiprocessors"])
            for row in [rows.get(figure.name, absent)]
        ]
    except OSError as error:
        raise LaunchError(f"{path} cannot be read: {error.strerror}") from None
    except (ValueError, KeyError, TypeError, AttributeError, RecursionError) as error:
        details = (f"{type(error).__name__}: {error}",)
        raise LaunchError(f"{path} is not what --measurements writes", details=details) from None
    return product, found


def _product(said: dict[str, Any]) -> Product:
    return Product(
        str(said["name"]),
        str(said["driver"]),
        str(said["capability"]),
        tuple((str(name), int(value)) for name, value in said["limits"]),
        tuple((str(name), float(value), str(unit)) for name, value, unit in said["numbers"]),
    )
