"""Listings from instruction texts: tests of single instructions run through the whole path."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from tempfile import TemporaryDirectory

import numpy as np
import numpy.typing as npt

from simt.sass import load_cubin
from tests.sass.data import launch

Words = npt.NDArray[np.uint32]
LANES = 32
MASK = 0xFFFFFFFF
EXTREMES = [
    0,
    1,
    2,
    31,
    32,
    33,
    63,
    64,
    0x7FFFFFFF,
    0x80000000,
    0x80000001,
    0xFFFFFFFF,
    0xFFFFFFFE,
    0x10000,
    0xFFFF,
]


def words(seed: int) -> Words:
    """One value per lane, half of them extremes."""
    random = np.random.RandomState(seed)
    values = random.randint(0, 2**32, LANES).astype(np.uint32)
    some = random.rand(LANES) < 0.5
    values[some] = random.choice(np.array(EXTREMES, np.uint32), some.sum())
    return values


def s32(x: int) -> int:
    return (x & MASK) - ((x & 0x80000000) << 1)


def s64(x: int) -> int:
    return (x & (1 << 64) - 1) - ((x >> 63 & 1) << 64)


COMPARISONS = {
    "EQ": lambda a, b: a == b,
    "NE": lambda a, b: a != b,
    "LT": lambda a, b: a < b,
    "LE": lambda a, b: a <= b,
    "GT": lambda a, b: a > b,
    "GE": lambda a, b: a >= b,
}


def listing(lines: Sequence[str], architecture: int = 90) -> str:
    """A listing of one kernel ``k`` as nvdisasm prints it."""
    step = 16 if architecture >= 70 else 8
    text = [f"\t.target\tsm_{architecture}", '\t.section\t.text.k,"ax",@progbits', "k:"]
    offset = 0
    for line in lines:
        if step == 8 and offset % 32 == 0:
            offset += 8
        text.append(f"        /*{offset:04x}*/                   {line} ;")
        offset += step
    return "\n".join(text) + "\n"


def run_lanes(
    lines: Sequence[str],
    inputs: Mapping[int, Words],
    outputs: Sequence[int],
    predicates: Sequence[int] = (),
    architecture: int = 90,
    shared_bytes: int = 0,
) -> tuple[dict[int, Words], dict[int, npt.NDArray[np.bool_]]]:
    """Run instructions on one warp: registers *inputs* before, *outputs* and *predicates* after.

    Registers above R200 and P6 belong to the frame around the instructions.
    """
    data = np.zeros((max(len(inputs), 1), LANES), np.uint32)
    for k, values in enumerate(inputs.values()):
        data[k] = values
    results = np.zeros((len(outputs) + len(predicates), LANES), np.uint32)
    base = {61: 0x140, 75: 0x160, 90: 0x210, 100: 0x380}[architecture]
    code = ["S2R R200, SR_TID.X", *_address(architecture, 202, base), *_address(architecture, 204, base + 8)]
    pair = ".64" if architecture >= 80 else ""
    for k, register in enumerate(inputs):
        code.append(f"LDG.E R{register}, [R202{pair}+{hex(128 * k)}]" if k else f"LDG.E R{register}, [R202{pair}]")
    code += lines
    stores = [f"STG.E [R204{pair}+{hex(128 * k)}], R{register}" for k, register in enumerate(outputs)]
    for k, predicate in enumerate(predicates, len(outputs)):
        stores += [f"SEL R206, RZ, 0x1, !P{predicate}", f"STG.E [R204{pair}+{hex(128 * k)}], R206"]
    with TemporaryDirectory() as folder:
        path = Path(folder) / "k.sass"
        path.write_text(listing([*code, *stores, "EXIT"], architecture))
        kernel = load_cubin(path, parameters={"k": [8, 8]})["k"]
        launch(kernel, (1, 1, 1), (LANES, 1, 1), [data, results], shared_bytes)
    found = dict(zip(outputs, results, strict=False))
    return found, {p: results[len(outputs) + k] != 0 for k, p in enumerate(predicates)}


def _address(architecture: int, register: int, offset: int) -> list[str]:
    """Address of a lane's word in the array whose address is in constant bank 0."""
    if architecture < 70:
        return [
            f"ISCADD R{register}.CC, R200, c[0x0][{hex(offset)}], 0x2",
            f"IADD.X R{register + 1}, RZ, c[0x0][{hex(offset + 4)}]",
        ]
    return [
        f"LDC.64 R{register}, c[0x0][{hex(offset)}]",
        f"IMAD.WIDE.U32 R{register}, R200, 0x4, R{register}",
    ]
