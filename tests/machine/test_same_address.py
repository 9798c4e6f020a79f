"""Lanes of a warp that store to one address, or update it, against an H200 (tests/data/hardware/same_address.json)."""

from __future__ import annotations

import json
import lzma
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import numpy.typing as npt
import pytest
from numba import cuda

import simt
from simt.ops.encoding import ATOMIC_TYPES, ATOMICS, SHARED_WINDOW
from simt.program import pred
from tests.machine.engines import launches_with
from tests.machine.harness import Builder, launch, type_number
from tests.sass.assembler import run_lanes

Bytes = npt.NDArray[np.uint8]
FOLDER = Path(__file__).parents[1] / "data" / "hardware"
NONE = 255
EVERY = 5
"""Of the recorded cases every fifth is run here: a fifth of each family of addresses; all were, once."""
KINDS = {"u8": "u8", "u16": "u16", "u32": "u32", "u64": "b64", "v2.u32": "v2", "v4.u32": "v4", "v2.u64": "v4"}
"""PTX's types of stores, and the machine's."""
BYTES = {"u8": 1, "u16": 2, "u32": 4, "b64": 8, "v2": 8, "v4": 16}


@pytest.fixture(params=["interpreter", "compiled"], autouse=True)
def _engine(request: pytest.FixtureRequest) -> Iterator[None]:
    """Native code has its own way of choosing who stores last."""
    with launches_with(engine=request.param):
        yield


def evidence() -> tuple[npt.NDArray[np.void], dict[str, Bytes]]:
    """The cases, and the results of each kernel: uint8 [cases, 32]."""
    names = json.loads((FOLDER / "same_address.json").read_text())["kernels"]
    with lzma.open(FOLDER / "same_address.npz.xz") as file, np.load(file) as data:
        tables = data["results"][:, ::EVERY]
        return data["cases"][::EVERY], {name: tables[k] for name, k in zip(names, data["kernels"], strict=True)}


CASES, RESULTS = evidence()


def lanes_of(case: npt.NDArray[np.void], late: bool) -> int:
    """The mask of the lanes that store early, or late."""
    present = int(case["mask"]) & (1 << int(case["threads"])) - 1
    return present & (int(case["late"]) if late else ~int(case["late"]))


def masks() -> npt.NDArray[np.uint64]:
    """Who stores early and who late: uint64 [2, cases, 32], 1 for lanes that do."""
    words = np.array([[lanes_of(case, late) for case in CASES] for late in (False, True)], np.uint64)
    return words[..., None] >> np.arange(32, dtype=np.uint64) & np.uint64(1)


def winners(space: str, kind: str) -> Bytes:
    """The lane whose value stays in each slot, of every case: a block of one warp each."""
    size = BYTES[kind]
    b = Builder()
    slots, out = b.array(0), b.array(1, "uint8")
    early, late = b.array(2), b.array(3)
    b.shared_bytes = 32 * size
    tid, thread = b.special("tid.x"), b.thread()
    slot = b.load(slots, thread)
    number = b.value("mul.s64", b.value("add.s64", tid, b.const(1)), b.const(0x0101010101010101))
    values = b.reg(4)
    for k in range(4):
        b.emit("mov", values + k, number)
    region = b.value("mul.s64", b.special("ctaid.x"), b.const(32 * size))
    in_shared = "shared" in space
    home = b.value("add.s64", out, region)
    start = b.const(SHARED_WINDOW if space == "generic to shared" else 0) if in_shared else home
    address = b.value("mad.s64", slot, b.const(size), start)
    op = "st.generic" if "generic" in space else f"st.{space.removeprefix('volatile ')}"
    for who in (early, late):
        b.emit(op, a=address, b=values, mod=type_number(kind), guard=pred(b.truth(b.load(who, thread))))
    if in_shared:
        for k in range(size):
            at = b.value("add.s64", tid, b.const(32 * k))
            there = b.value("add.s64", at, home)
            b.emit("st.global", a=there, b=b.value("ld.shared", at, mod=type_number("u8")), mod=type_number("u8"))
    found = np.zeros((len(CASES), 32, size), np.uint8)
    launch(b, CASES["slot"].astype(np.uint64), found.reshape(-1), *masks(), grid=len(CASES))
    assert (found == found[:, :, :1]).all()  # never bytes of several lanes
    return found[:, :, 0] - np.uint8(1)


@pytest.mark.parametrize("space", ["global", "shared", "generic to global", "generic to shared", "volatile global"])
@pytest.mark.parametrize("kind", KINDS)
def test_the_lane_that_stays_is_the_hardware_s(space: str, kind: str) -> None:
    np.testing.assert_array_equal(winners(space, KINDS[kind]), RESULTS[f"{space} {kind}"])


@pytest.mark.parametrize("space", ["global", "shared"])
@pytest.mark.parametrize(("name", "type"), [("exch.b32", "u32"), ("exch.b64", "u64")])
def test_atomics_take_the_lanes_in_ascending_order(space: str, name: str, type: str) -> None:
    b = Builder()
    slots, start, out, active = b.array(0), b.array(1), b.array(2), b.array(3)
    tid, thread = b.special("tid.x"), b.thread()
    b.shared_bytes = 256
    b.emit("st.shared", a=b.value("mul.s64", tid, b.const(8)), b=b.const(NONE), mod=type_number("b64"))
    base = b.const(0) if space == "shared" else b.value("mad.s64", b.special("ctaid.x"), b.const(256), start)
    address = b.value("mad.s64", b.load(slots, thread), b.const(8), base)
    before = b.reg()
    b.emit("mov", before, b.const(NONE))
    number = ATOMICS.index("exch") << 4 | ATOMIC_TYPES.index(type)
    guard = pred(b.truth(b.load(active, thread)))
    b.emit(f"atom.{space}", before, address, tid, tid, mod=number, guard=guard)
    b.store(out, thread, before)
    everyone = np.array([int(case["mask"]) & (1 << int(case["threads"])) - 1 for case in CASES], np.uint64)
    active_lanes = everyone[:, None] >> np.arange(32, dtype=np.uint64) & np.uint64(1)
    found, memory = np.zeros((len(CASES), 32), np.uint64), np.full(len(CASES) * 32, NONE, np.uint64)
    launch(b, CASES["slot"].astype(np.uint64), memory, found, active_lanes, grid=len(CASES))
    np.testing.assert_array_equal(found, RESULTS[f"{space} {name}"])


def test_local_addresses_are_each_lane_s_own() -> None:
    """Handed the address of another lane's variable, a lane of an H200 stores into its own."""
    table = RESULTS["local"]
    lanes = np.broadcast_to(np.arange(32, dtype=np.uint8), table.shape)
    assert np.isin(table[table != NONE], lanes).all()
    assert (table[table != NONE] == lanes[table != NONE]).all()


def eighth(out):
    out[cuda.threadIdx.x // 8] = cuda.threadIdx.x


@pytest.mark.parametrize(
    ("dtype", "expected"),
    [("int8", [0, 8, 16, 24]), ("int32", [0, 8, 16, 24]), ("float64", [0, 8, 16, 24])],
)
def test_in_the_source_view(dtype: str, expected: list[int]) -> None:
    out = np.zeros(4, dtype)
    simt.launch(eighth, 1, 32, out)
    assert out.tolist() == expected


def every_fourth(out):
    out[cuda.threadIdx.x % 4] = cuda.threadIdx.x


@pytest.mark.parametrize(("dtype", "first"), [("int16", 0), ("float32", 0), ("int64", 16), ("float64", 16)])
def test_of_eight_bytes_the_second_half_of_the_warp_stays(dtype: str, first: int) -> None:
    out = np.zeros(4, dtype)
    simt.launch(every_fourth, 1, 32, out)
    assert out.tolist() == [first, first + 1, first + 2, first + 3]


@pytest.mark.parametrize(("width", "first"), [("", 0), (".64", 16), (".128", 24)])
def test_in_machine_code(width: str, first: int) -> None:
    lines = ["S2R R4, SR_TID.X", "MOV R5, R4", "MOV R6, R4", "MOV R7, R4", f"STS{width} [RZ], R4", "LDS R8, [RZ]"]
    found, _ = run_lanes(lines, {}, [8], shared_bytes=16)
    assert found[8].tolist() == [first] * 32
