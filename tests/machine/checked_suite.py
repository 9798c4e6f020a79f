"""Both halves of the engine with every index checked: ``NUMBA_BOUNDSCHECK=1 python -m tests.machine.checked_suite``.

Prints one JSON object.  ``armed``: what an array that is too short gives; ``small``: the report of small_programs.py;
``timed``: cycles of timed launches of registry kernels; ``mutants``: outcomes of spoilt programs (tests/fuzz);
``images``: recordings of textures and surfaces that were met; ``called``: what kernels that print, allocate and launch
left.
"""

from __future__ import annotations

import io
import json
import tempfile
from pathlib import Path
from typing import Any

import numpy as np

import simt
from simt.machine.coalescing import SECTOR_SHIFT, count_units
from tests.fuzz.worker import outcome
from tests.machine.small_programs import report
from tests.sass import test_cube_maps, test_textures

MUTANTS = [(kind, number) for kind in ("program", "operand", "control") for number in range(12)]
SYSTEM = Path(__file__).parents[1] / "data" / "system"
CUBES = ("cube_5_point_0_clamp", "cube_5_linear_0_border", "cuberand_linear_1", "gather_cube_0")
TIMED = ("neighbored", "interleaved", "shuffle", "atomic", "complete_unroll_warps8")


def armed() -> str:
    """The name of the error that an index past the end of an array raises: none without bounds checks."""
    try:
        count_units(np.zeros(1, np.int64), SECTOR_SHIFT, np.int64(0), np.int64(0))
    except IndexError as error:
        return type(error).__name__
    return ""


def timed() -> dict[str, Any]:
    """Cycles and results of timed launches."""
    data = np.arange(1500, dtype=np.int32)
    found = {}
    for name in TIMED:
        total, profile = simt.reduce(data, name, 128, timing=True)
        found[name] = [int(total), profile.timing.cycles]
    return found


def images() -> int:
    """How many groups of recordings of an H200 were met, bit by bit: filters, layers, gathers, cube maps, surfaces."""
    groups = ("f", "l1", "l2", "l3", "x12", "g1", "o2", "lod2", "iy2")
    for group in groups:
        test_textures.test_every_recorded_sample_has_the_bits_of_an_h200(group)
    surfaces = test_textures.names("surfaces")
    for group in surfaces:
        test_textures.test_every_recorded_surface_access_has_the_bits_of_an_h200(group)
    for name in CUBES:
        test_cube_maps.test_every_recorded_sample_has_the_bits_of_an_h200(name)
    return len(groups) + len(surfaces) + len(CUBES)


def called() -> list[Any]:
    """What kernels printed, what blocks of the heap they got, and sums of kernels that launch themselves."""
    with simt.Device(stdout=io.StringIO()) as device:
        calls, launches = (device.load(SYSTEM / f"{name}.cubin") for name in ("calls", "launches"))
        device.launch(calls["many"], 2, 48, 2)
        device.launch(calls["fill"], 1, 1, 1000, 20)
        device.launch(calls["empty_heap"], 1, 1, 20)
        device.launch(calls["sizes"], 1, 1)
        device.launch(launches["hello"], 2, 8, 8, 0)
        data, out = device.array(np.ones(1024, np.int32)), device.array(np.zeros(4096, np.int32))
        device.launch(launches["reduce"], 2, 512, data, out, 512)
        counted = calls["fill"].module["counted"].tolist()
        return [device.stdout.getvalue(), counted, np.asarray(out)[:2].tolist()]


def main() -> None:
    """Print the report."""
    with tempfile.TemporaryDirectory() as folder:
        mutants = {f"{kind} {number}": outcome(kind, number, Path(folder))["outcome"] for kind, number in MUTANTS}
    found = {"armed": armed(), "small": report(), "timed": timed(), "mutants": mutants}
    print(json.dumps({**found, "images": images(), "called": called()}))


if __name__ == "__main__":
    main()
