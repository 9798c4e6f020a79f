"""Initcheck's memory: what counts as written, what ``fill`` puts there, and several launches one after the other."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numba import cuda, int32

import simt
from simt.check import RaceError, UninitializedError
from simt.machine.device_memory import DeviceMemory
from simt.machine.layout import ADDRESS_BASE
from simt.machine.services import SystemCall
from simt.program import RZ, pred
from simt.sanitizer.sanitizer import Sanitizer
from tests.machine.harness import Builder, launch, type_number


def even(out):
    t = cuda.threadIdx.x
    if t % 2 == 0:
        out[t] = t


def double(out):
    t = cuda.threadIdx.x
    out[t] = out[t] * 2


def copy_shared(out):
    s = cuda.shared.array(64, int32)
    out[cuda.threadIdx.x] = s[cuda.threadIdx.x]


def test_what_a_checked_launch_writes_is_written_for_the_next_one():
    out = simt.uninitialized(64, np.int32)
    simt.launch(even, 1, 64, out, check="initcheck")
    with pytest.raises(UninitializedError, match=r"`out\[1\]`, which nobody has written"):
        simt.launch(double, 1, 64, out, check="initcheck")
    out[1::2] = 0
    simt.launch(double, 1, 64, out, check="initcheck")


def test_a_launch_without_the_check_counts_as_writing_everything():
    out = simt.uninitialized(64, np.int32)
    simt.launch(even, 1, 64, out)
    simt.launch(double, 1, 64, out, check="initcheck")


@given(st.integers(0, 63), st.integers(0, 63), st.integers(1, 5))
def test_assignments_through_views_are_writes(first: int, end: int, step: int):
    out = simt.uninitialized((8, 8), np.int16)
    flat = out.reshape(-1)
    flat[first:end:step] = 1
    written = np.zeros(64, bool)
    written[first:end:step] = True
    assert out.unwritten is not None
    np.testing.assert_array_equal(out.unwritten.reshape(64, 2) == 0, np.stack([written, written], 1))


def test_arrays_of_a_device():
    gpu = simt.Device()
    out = gpu.empty(64, np.int32)
    gpu.launch(even, 1, 64, out, check="initcheck")
    with pytest.raises(UninitializedError):
        gpu.launch(double, 1, 64, out, check="initcheck")
    gpu.recover()
    out.write(7)
    gpu.launch(double, 1, 64, out, check="initcheck")
    assert (out.numpy() == 14).all()


def test_fill_is_what_nobody_has_written():
    out = simt.uninitialized(64, np.int32)
    simt.launch(even, 1, 64, out, fill=0xCD)
    assert out[1] == np.frombuffer(b"\xcd" * 4, np.int32)[0]
    assert out[2] == 2
    found = np.zeros(64, np.int32)
    simt.launch(copy_shared, 1, 64, found, fill=0xCD)
    assert (found == np.frombuffer(b"\xcd" * 4, np.int32)[0]).all()
    simt.launch(copy_shared, 1, 64, found, fill="random:1")
    again = found.copy()
    simt.launch(copy_shared, 1, 64, again, fill="random:1")
    np.testing.assert_array_equal(found, again)
    assert len(set(found.tolist())) > 60


def set_on_a_path(out, n, number):
    if n > 5:
        v = number
    out[0] = abs(v)


@pytest.mark.parametrize("number", [1.5, 1.5 + 2j])
def test_variables_that_a_path_does_not_set(number: complex):
    simt.launch(set_on_a_path, 1, 32, np.zeros(1), 6, number, check="initcheck")
    with pytest.raises(UninitializedError, match="`v` is used by lanes whose path has not set it"):
        simt.launch(set_on_a_path, 1, 32, np.zeros(1), 5, number, check="initcheck")


@pytest.mark.parametrize("fill", [256, -1, "random:x", "zeros", 1.5])
def test_fills_that_there_are_not(fill: object):
    with pytest.raises(simt.LaunchError, match="it must be a byte or random:SEED"):
        simt.launch(copy_shared, 1, 64, np.zeros(64, np.int32), fill=fill)


def speculation(uses: str) -> Builder:
    """Machine code whose lanes load local memory, of which the upper ones have written nothing, and use it afterwards.

    *uses*: whether the lower lanes alone choose it, or all store it, go by it, or load from where it says.
    """
    b = Builder("sm_90")
    out, b.local_bytes, u32 = b.array(0, "uint32"), 16, type_number("u32")
    lane = b.special("laneid")
    lower = pred(b.value("lt.s64", lane, b.const(16)))
    b.emit("st.local", a=RZ, b=lane, mod=u32, guard=lower)
    loaded = b.value("ld.local", RZ, mod=u32)
    address = b.element(out, lane, 4)
    if uses == "choose":
        loaded = b.value("selp", b.value("add.s64", loaded, b.const(1)), b.const(7), lower)
    if uses == "branch":
        b.bra("end", pred(b.value("eq.s64", loaded, b.const(3))))
    if uses == "address":
        loaded = b.value("ld.global", b.element(out, b.value("and.b64", loaded, b.const(31)), 4), mod=u32)
    if uses != "branch":
        b.emit("st.global", a=address, b=loaded, mod=u32)
    b.label("end")
    return b


@pytest.mark.parametrize("uses", ["choose", "store", "branch", "address"])
def test_what_machine_code_loads_from_local_memory_is_judged_where_it_is_used(uses: str):
    def run():
        return launch(speculation(uses), np.zeros(32, np.uint32), watch=Sanitizer(["initcheck"]))

    if uses == "choose":
        assert run().findings == ()
        return
    with pytest.raises(UninitializedError, match="of local memory, which nobody has written") as caught:
        run()
    assert [(side.what, side.lanes) for side in caught.value.findings[0].sides] == [
        ("read", 1 << 16),
        ("use", 1 << 16),
    ]


class System:
    """Serves one function: it writes, or gives, the first bytes of an array."""

    def __init__(self, gives: bool, address: int) -> None:
        self.gives, self.address = gives, address

    def serve(self, call: SystemCall) -> None:
        if self.gives:
            call.gave(call.lanes[0], self.address, 32)
        else:
            call.store(call.lanes[0], self.address, bytes(32))

    def room(self, functions: Sequence[str]) -> int:
        return 0

    def finish(self, memory: DeviceMemory) -> None: ...
    def cut(self, block: int) -> None: ...
    def rehearsal(self) -> System:
        return self


@pytest.mark.parametrize("gives", [True, False])
def test_what_a_system_call_writes_is_written_and_what_it_gives_is_not(gives: bool):
    """Afterwards the lanes read eight words, and the next eight."""
    b = Builder()
    base, lane, u32 = b.array(0, "uint32"), b.special("laneid"), type_number("u32")
    b.emit("syscall", a=lane, mod=1, imm=0, retires=False, guard=pred(b.value("eq.s64", lane, RZ)))
    b.emit("ld.global", b.reg(), b.element(base, lane, 4), mod=u32)
    program = b.build()
    program.syscalls.append("system")
    given = np.zeros(16, np.uint32) if gives else simt.uninitialized(16, np.uint32)
    system = System(gives, int(ADDRESS_BASE) + (1 << 16))
    with pytest.raises(UninitializedError) as caught:
        launch(program, given, block=16, services=system, watch=Sanitizer(["initcheck"]))
    assert caught.value.findings[0].sides[0].lanes == (0xFF if gives else 0xFF00)


@pytest.mark.parametrize("gives", [True, False])
def test_memory_that_the_system_gives_again_is_no_race(gives: bool):
    """Both blocks write their number; in between the system gives the memory to the second, or leaves it as it is."""
    b = Builder()
    base, block = b.array(0, "uint32"), b.special("ctaid.x")
    b.emit("syscall", a=block, mod=1, imm=0, retires=False, guard=pred(b.value("ne.s64", block, RZ)))
    b.emit("st.global", a=base, b=b.value("add.s64", block, b.const(1)), mod=type_number("u32"))
    program = b.build()
    program.syscalls.append("system")
    system, check = System(True, int(ADDRESS_BASE) + (1 << 16 if gives else 1 << 12)), Sanitizer(["racecheck"])
    if gives:
        launch(program, np.zeros(16, np.uint32), grid=2, block=1, services=system, watch=check)
        return
    with pytest.raises(RaceError):
        launch(program, np.zeros(16, np.uint32), grid=2, block=1, services=system, watch=check)
