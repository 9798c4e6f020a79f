"""Wrong accesses: the right error, naming lanes and the nearest allocation, and no array changed."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from simt.check import KernelError, MisalignedError, OutOfBoundsError, SimtError
from simt.machine import Launch
from simt.ops.encoding import ATOMIC_TYPES, LOCAL_WINDOW, MEMORY_TYPES, SHARED_WINDOW
from simt.program import RZ, pred
from simt.runtime import run
from tests.machine.harness import Builder, launch, type_number


def touch(
    op: str,
    offsets: list[int],
    name: str = "u32",
    *,
    base: int | None = None,
    mask: int = 0xFFFFFFFF,
    arrays: tuple[np.ndarray, ...] = (),
    shared_bytes: int = 0,
    local_bytes: int = 0,
) -> None:
    """All lanes first store to `log`; those of the mask then access argument 0 (or *base*) + their offset."""
    data = arrays[0] if arrays else np.zeros(64, np.uint32)
    before = data.copy()
    log = np.zeros(32, np.uint64)
    b = Builder()
    b.shared_bytes, b.local_bytes = shared_bytes, local_bytes
    first, log_row, lane_offsets = b.array(0, name="data"), b.array(1, name="log"), b.array(2, name="offsets")
    for k in range(1, len(arrays)):
        b.array(2 + k, name=f"other{k}")
    lane = b.special("tid.x")
    b.store(log_row, lane, b.const(1))
    start = first if base is None else b.const(base)
    address = b.value("add.s64", start, b.load(lane_offsets, lane))
    bits = b.value("shr.u64", b.const(mask), lane)
    guard = b.truth(b.value("and.b64", bits, b.const(1)))
    mod = (6 << 4 | 1) if op.startswith("atom") else type_number(name)
    dst = 0 if op.startswith("st") else b.reg(4)
    stored = 0 if op.startswith("ld") else b.reg(4) if name in ("v2", "v4") else lane  # a vector: consecutive rows
    b.emit(op, dst, address, stored, mod=mod, guard=pred(guard))
    try:
        launch(b, data, log, np.array(offsets, np.int64), *arrays[1:])
    except SimtError:
        np.testing.assert_array_equal(data, before)
        assert not log.any()
        raise


ACCESSES = ["ld.global", "st.global", "atom.global", "ld.generic", "st.generic", "atom.generic"]
KINDS = {"ld": "read", "st": "write", "atom": "atomic"}


@pytest.mark.parametrize("op", ACCESSES)
@pytest.mark.parametrize(
    ("offset", "nearest"),
    [
        (256, "right past the end"),
        (260, "4 bytes past the end"),
        (-4, "4 bytes before the start"),
        (4096, "3,840 bytes past the end"),
    ],
)
def test_out_of_bounds(op: str, offset: int, nearest: str) -> None:
    offsets = [4 * lane for lane in range(32)]
    offsets[3] = offsets[17] = offset
    with pytest.raises(OutOfBoundsError) as caught:
        touch(op, offsets)
    message = str(caught.value)
    assert f"out-of-bounds {KINDS[op.split('.')[0]]} of {op.split('.')[1]} memory" in message
    assert "lanes 3, 17 (first: thread (3, 0, 0))" in message
    assert "nearest allocation: `data`, 256 bytes" in message
    assert nearest in message


@pytest.mark.parametrize("name", ["b64", "v2", "v4"])
def test_the_last_bytes_of_an_access_count(name: str) -> None:
    size = MEMORY_TYPES[name][1]
    data = np.zeros(size // 4 * 3 - 1, np.uint32)
    with pytest.raises(OutOfBoundsError, match=r"; the access is 4 bytes past the end"):
        touch("ld.global", [2 * size] * 32, name, arrays=(data,))


def test_a_masked_lane_may_hold_any_address() -> None:
    touch("st.global", [4 * lane if lane < 8 else 2**40 for lane in range(32)], mask=0xFF)
    touch("st.global", [2**40] * 32, mask=0)


@pytest.mark.parametrize("address", [2**63 - 16, 2**63 - 8, -(2**63), -16, 0, 8, 2**62, -(2**62)])
@pytest.mark.parametrize("space", ["global", "shared", "local", "generic"])
def test_addresses_at_the_ends_of_the_address_space(space: str, address: int) -> None:
    for name in ("b64", "v4"):
        aligned = address & ~15
        for op in ("ld", "st"):
            if aligned == 0 and space in ("shared", "local"):
                continue
            with pytest.raises(OutOfBoundsError):
                touch(f"{op}.{space}", [0] * 32, name, base=aligned, shared_bytes=64, local_bytes=64)


@pytest.mark.parametrize("op", ["ld.shared", "st.shared", "atom.shared", "ld.local", "st.local"])
@pytest.mark.parametrize("through_window", [False, True])
def test_out_of_bounds_of_shared_and_local_memory(op: str, through_window: bool) -> None:
    space = op.split(".")[1]
    start = {"shared": SHARED_WINDOW, "local": LOCAL_WINDOW}[space] if through_window else 0
    offsets = [4 * (lane % 16) for lane in range(32)]
    offsets[30] = 64
    with pytest.raises(OutOfBoundsError) as caught:
        touch(op, offsets, base=start, shared_bytes=64, local_bytes=64)
    message = str(caught.value)
    assert "lane 30 " in message
    assert f"address 0x40, 4 bytes; {space} memory has 64 bytes" in message


def test_shared_memory_is_counted_without_what_the_system_keeps() -> None:
    """An H200 keeps the first KiB of a block's shared memory: the kernel asked for the rest."""
    b = Builder()
    b.shared_bytes = 1028
    b.emit("st.shared", a=b.const(1024 + 1028), b=RZ, mod=type_number("u32"))
    program = replace(b.build(), system_shared_bytes=1024)
    with pytest.raises(OutOfBoundsError, match="address 0x804, 4 bytes; shared memory has 1,028 bytes from 0x400 on"):
        run(program, Launch((1, 1, 1), (32, 1, 1), []))


@pytest.mark.parametrize("name", ["b64", "v2", "v4"])
def test_a_wide_load_may_end_beyond_shared_memory(name: str) -> None:
    """ptxas widens loads: 28 bytes of dynamic shared memory are read by LDS.128, twice (numba-cuda's test_sm)."""
    last = 32 - MEMORY_TYPES[name][1]
    touch("ld.shared", [last] * 32, name, base=0, shared_bytes=28)
    for op, first in (("st.shared", last), ("ld.shared", 32)):
        with pytest.raises(OutOfBoundsError):
            touch(op, [first] * 32, name, base=0, shared_bytes=28)


@pytest.mark.parametrize(("address", "said"), [(0, "a null pointer"), (16, "16 bytes past a null pointer")])
def test_a_null_pointer_is_called_so(address: int, said: str) -> None:
    with pytest.raises(OutOfBoundsError) as caught:
        touch("ld.global", [0] * 32, base=address)
    assert f"that is {said}" in str(caught.value)
    assert "nearest" not in str(caught.value)


@pytest.mark.parametrize("address", [0x55DD4EC2B3C0, 0x7FFFFFFFE000, 1 << 44])
def test_an_address_far_from_all_allocations_has_no_nearest_one(address: int) -> None:
    with pytest.raises(OutOfBoundsError, match="no allocation is near it: a pointer to memory of the host") as caught:
        touch("ld.global", [0] * 32, base=address)
    assert "nearest" not in str(caught.value)


def test_between_arrays() -> None:
    data, other = np.zeros(64, np.uint32), np.zeros(64, np.uint32)
    for offset in (2**15, 2**16):
        with pytest.raises(OutOfBoundsError, match="nearest allocation"):
            touch("st.global", [offset] * 32, arrays=(data, other))


def test_an_empty_array_has_no_element() -> None:
    with pytest.raises(OutOfBoundsError, match=r"`data`, 0 bytes at .*; the access is right past the end"):
        touch("ld.global", [0] * 32, arrays=(np.zeros(0, np.uint32),))


@pytest.mark.parametrize("op", ["ld.global", "st.global", "ld.shared", "st.local", "ld.generic"])
@pytest.mark.parametrize("name", ["u16", "u32", "b64", "v2", "v4"])
def test_misaligned(op: str, name: str) -> None:
    size = MEMORY_TYPES[name][1]
    offsets = [0] * 32
    offsets[9] = size // 2
    base = None if op.split(".")[1] in ("global", "generic") else 0
    with pytest.raises(MisalignedError) as caught:
        touch(op, offsets, name, base=base, shared_bytes=64, local_bytes=64)
    message = str(caught.value)
    assert f"an access of {size} bytes" in message
    assert "lane 9 " in message


@pytest.mark.parametrize("space", ["global", "shared"])
@pytest.mark.parametrize("typ", ["u32", "s32", "u64", "s64", "f32", "f64", "f16x2", "bf16x2"])
def test_misaligned_atomics(typ: str, space: str) -> None:
    size = 8 if typ.endswith("64") else 4
    b = Builder()
    base = b.array(0) if space == "global" else b.const(0)
    b.shared_bytes = 64
    b.emit(f"atom.{space}", a=base, b=b.const(0), imm=size // 2, mod=ATOMIC_TYPES.index(typ))
    with pytest.raises(MisalignedError, match=f"an access of {size} bytes"):
        launch(b, np.zeros(4), block=1)


@pytest.mark.parametrize("op", ["st.global", "st.generic", "atom.global"])
def test_read_only_arrays(op: str) -> None:
    data = np.zeros(64, np.uint32)
    data.flags.writeable = False
    with pytest.raises(KernelError, match="write to a read-only array"):
        touch(op, [4 * lane for lane in range(32)], arrays=(data,))
    touch("ld.global", [4 * lane for lane in range(32)], arrays=(data,))


@pytest.mark.parametrize("threads", [1, 2, 3])
def test_the_error_of_the_lowest_block_is_raised(threads: int) -> None:
    """Whichever host thread meets its error first: block 0 takes long to get there."""
    b = Builder()
    data = b.array(0, name="data")
    block, left = b.special("ctaid.x"), b.reg()
    b.emit("selp", left, RZ, b.const(500_000), pred(b.truth(block)))
    b.label("head")
    b.bra("end", pred(b.value("le.s64", left, RZ)))
    b.emit("sub.s64", left, left, b.const(1))
    b.bra("head")
    b.label("end")
    b.emit("st.global", a=b.value("add.s64", data, b.const(2**20)), b=block, mod=type_number("u32"))
    with pytest.raises(OutOfBoundsError, match=r"block \(0, 0, 0\), warp 0, lanes 0-31"):
        launch(b, np.zeros(4, np.uint32), grid=40, threads=threads)
