"""Store which lane's value stays where several lanes of a warp store to one address; needs a GPU and nvcc.

``python -m tests.gpu.record_same_address FOLDER`` writes ``same_address.json`` and ``same_address.npz.xz``, those of
``tests/data/hardware``.
"""

from __future__ import annotations

import json
import lzma
import subprocess
import sys
import tempfile
from pathlib import Path

import numpy as np
import numpy.typing as npt

SPACES = ["global", "shared", "generic to global", "generic to shared", "volatile global", "volatile shared"]
KINDS = {"u8": 1, "u16": 2, "u32": 4, "u64": 8, "v2.u32": 8, "v4.u32": 16, "v2.u64": 16}
"""Kinds of stores and their bytes."""
ATOMICS = [f"{space} {name}" for name in ("exch.b32", "add.u32", "exch.b64") for space in ("global", "shared")]
KERNELS = [f"{space} {kind}" for space in SPACES for kind in KINDS] + ["local", *ATOMICS]
"""Kernels in the order of the program's results."""
FORMS = ["full warp", "predicated", "partial warp", "divergent"]
CASES = 1200  # of each form
CASE = np.dtype([("slot", "u1", 32), ("mask", "u4"), ("late", "u4"), ("spread", "u4"), ("threads", "u4")])
WHAT = (
    "cases: as in tests/gpu/same_address.cu, 1200 of each form; results: distinct tables of bytes by case and slot "
    "(the lane whose value stayed, 255 none, 254 bytes of several) or, for local memory and atomics, by case and lane "
    "(local: the lane that stored into this lane's array; exchange: the lane before, 255 none; add: how many came "
    "before); kernels: for each kernel the number of its table"
)


def make_cases(seed: int = 13) -> npt.NDArray[np.void]:
    """Random addresses in families in which lanes meet often, far apart, in pairs, and in halves of the warp."""
    rng = np.random.default_rng(seed)
    lanes = np.arange(32)
    cases = np.zeros(len(FORMS) * CASES, CASE)
    for i, case in enumerate(cases):
        form, family = divmod(i, CASES)[0], i % 8
        few = int(rng.integers(1, 33))
        slot = rng.integers(0, few, 32)
        if family == 1:
            slot = lanes // few
        elif family == 2:
            slot = lanes % few
        elif family == 3:
            slot = slot[lanes & ~(1 << int(rng.integers(0, 5)))]  # pairs
        elif family == 4:
            slot = slot[rng.permutation(32) % max(few // 2, 1)]
        elif family == 5:
            slot = np.full(32, rng.integers(0, 32))
        elif family == 6:
            slot = (lanes * few) % 32
        elif family == 7:
            slot = np.sort(slot)[:: rng.choice([-1, 1])]
        mask, late, threads = 2**32 - 1, 0, 32
        if form == 1:
            mask = int(rng.integers(0, 2**32)) | (int(rng.integers(0, 2**32)) if i & 1 else 0)
        elif form == 2:
            threads = 1 + (i - 2 * CASES) * 31 // CASES
        elif form == 3:
            late = int(rng.integers(0, 2**32))
            mask = int(rng.integers(0, 2**32)) | late if i & 1 else mask
        case["slot"], case["mask"], case["late"], case["threads"] = slot, mask, late, threads
        case["spread"] = rng.integers(0, 7)
    return cases


def run(program: Path, cases: npt.NDArray[np.void], folder: Path) -> npt.NDArray[np.uint8]:
    """Results of all kernels, uint8 [kernels, cases, 32]."""
    given, found = folder / "cases", folder / "results"
    given.write_bytes(np.uint32(len(cases)).tobytes() + cases.tobytes())
    subprocess.run([str(program), str(given), str(found)], check=True)
    return np.fromfile(found, np.uint8).reshape(len(KERNELS), len(cases), 32)


def main(folder: Path) -> None:
    """Record all kernels, twice: what differs between two runs is no rule."""
    from tests.gpu.provenance import provenance  # needs Numba's CUDA target

    cases = make_cases()
    with tempfile.TemporaryDirectory() as scratch:
        program = Path(scratch) / "same_address"
        source = Path(__file__).with_name("same_address.cu")
        subprocess.run(["nvcc", "-arch=native", "-o", str(program), str(source)], check=True)
        results, again = (run(program, cases, Path(scratch)) for _ in range(2))
    unstable = [name for name, a, b in zip(KERNELS, results, again, strict=True) if (a != b).any()]
    tables, which = np.unique(results, axis=0, return_inverse=True)
    with lzma.open(folder / "same_address.npz.xz", "wb", preset=9 | lzma.PRESET_EXTREME) as file:
        np.savez(file, cases=cases, results=tables, kernels=which.reshape(-1))
    facts = {**provenance("tests.gpu.record_same_address FOLDER"), "kernels": KERNELS, "unstable": unstable}
    (folder / "same_address.json").write_text(json.dumps({**facts, "what": WHAT}, indent=1) + "\n")


if __name__ == "__main__":
    main(Path(sys.argv[1]))
