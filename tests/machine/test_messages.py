"""The messages of the machine's errors, word for word: files in goldens/, rewritten by ``pytest --bless``."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from simt.check import SimtError
from simt.program import RZ, pred
from tests.machine.harness import Builder, launch, type_number

GOLDENS = Path(__file__).parent / "goldens"

CASES: dict[str, Callable[[], Any]] = {}


def case(function: Callable[[], Any]) -> Callable[[], Any]:
    """Register a launch that fails; its name is that of the golden file."""
    CASES[function.__name__] = function
    return function


def _store(offset: int, data: np.ndarray, *, odd_lanes: bool = False, block: int = 40) -> None:
    b = Builder()
    base = b.array(0, "uint32", name="data")
    thread = b.thread()
    address = b.value("add.s64", b.element(base, thread, 4), b.const(offset))
    odd = pred(b.truth(b.value("and.b64", thread, b.const(1))))
    b.emit("st.global", a=address, b=thread, mod=type_number("u32"), guard=odd if odd_lanes else 0)
    launch(b, data, grid=(2, 1, 1), block=block, threads=1)


@case
def out_of_bounds_past_the_end() -> None:
    _store(0, np.zeros(70, np.uint32))


@case
def out_of_bounds_before_the_start() -> None:
    _store(-8, np.zeros(80, np.uint32), odd_lanes=True)


@case
def misaligned() -> None:
    _store(2, np.zeros(100, np.uint32))


@case
def read_only() -> None:
    data = np.zeros(100, np.uint32)
    data.flags.writeable = False
    _store(0, data)


@case
def index_out_of_range() -> None:
    b = Builder()
    base = b.array(0, ndim=2, name="matrix")
    b.value("index", base, b.special("tid.y"), imm=1)
    launch(b, np.zeros((8, 6)), block=(4, 8, 1))


@case
def out_of_bounds_of_shared_memory() -> None:
    b = Builder()
    b.shared_bytes = 128
    thread = b.special("tid.x")
    b.emit("st.shared", a=b.value("mul.s64", thread, b.const(4)), b=thread, mod=type_number("u32"))
    launch(b, block=48)


@case
def no_array_at_all() -> None:
    b = Builder()
    b.emit("st.global", a=RZ, b=RZ, mod=type_number("u32"))
    launch(b)


@case
def out_of_bounds_in_machine_code() -> None:
    b = Builder(view="sm_90")
    b.emit("ld.generic", b.reg(), b.const(0x1234), mod=type_number("u32"))
    launch(b, block=1)


@case
def deadlock() -> None:
    b = Builder()
    warp = b.value("shr.u64", b.special("tid.x"), b.const(5))
    low = pred(b.value("lt.s64", b.special("laneid"), b.const(5)))
    b.bra("first", pred(b.value("eq.s64", warp, RZ)))
    b.emit("bar.sync", imm=1)
    b.label("first")
    b.bra("low", low)
    b.emit("warpsync", a=b.const(0xFFFFFFFF))
    b.label("low")
    b.emit("bar.sync")
    launch(b, grid=(2, 2, 1), block=70, threads=1)


@case
def deadlock_at_a_warp_mask() -> None:
    b = Builder()
    low = pred(b.value("lt.s64", b.special("laneid"), b.const(5)))
    b.emit("bssy", imm=0)
    b.bra("end", low)
    b.emit("warpsync", a=b.const(0xFFFFFFFF))
    b.label("end")
    b.emit("bsync", imm=0)
    launch(b)


@case
def warp_mask_without_the_lane() -> None:
    b = Builder()
    b.emit("warpsync", a=b.const(0xFF))
    launch(b)


@case
def trap() -> None:
    b = Builder()
    b.emit("trap", guard=pred(b.value("lt.s64", b.special("laneid"), b.const(3))))
    launch(b)


@case
def budget() -> None:
    b = Builder()
    b.label("head")
    b.bra("head")
    launch(b, max_instructions=1000)


@case
def branch_to_no_instruction() -> None:
    b = Builder(view="sm_90")
    b.addresses[0x10] = 0
    b.emit("brx", a=b.const(0x30))
    launch(b)


@case
def too_much_shared_memory() -> None:
    b = Builder()
    b.shared_bytes = 1024
    launch(b, shared_bytes=300_000)


@case
def unknown_order() -> None:
    launch(Builder(), order="else_last")


@case
def no_host_thread() -> None:
    launch(Builder(), threads=0)


@pytest.mark.parametrize("name", CASES)
def test_message(name: str, request: pytest.FixtureRequest) -> None:
    with pytest.raises(SimtError) as caught:
        CASES[name]()
    message = f"{type(caught.value).__name__}\n{caught.value}\n"
    path = GOLDENS / f"{name}.txt"
    if request.config.getoption("--bless"):
        path.write_text(message, encoding="utf-8")
    assert path.read_text(encoding="utf-8") == message


def test_no_golden_is_left_over() -> None:
    assert {path.stem for path in GOLDENS.glob("*.txt")} == set(CASES)
