"""Loads, stores and atomics: data and counters against a model, access by access."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from simt.machine.layout import ADDRESS_BASE
from simt.ops.encoding import ATOMIC_BYTES, ATOMIC_TYPES, ATOMICS, LOCAL_WINDOW, MEMORY_TYPES, SHARED_WINDOW
from simt.program import COUNTERS, pred
from tests.machine.harness import Builder, launch, type_number
from tests.machine.operands import words
from tests.machine.patterns import M32, M64, f32, f64, signed, total

SIZE = {"global": 2048, "shared": 2048, "local": 64}
"""Bytes of the memory that the accesses go to; local: of each thread."""


@dataclass
class Access:
    """One execution of a memory micro-op by a warp; ``offsets`` bytes from the start of the memory."""

    op: str
    mod: int
    offsets: list[int]
    mask: int
    values: np.ndarray  # uint64 [4, 32]: rows to store; operand b is row 0 and c row 1 of an atomic
    initial: np.ndarray  # uint8 [SIZE], local memory [32, SIZE]
    imm: int = 0

    @property
    def space(self) -> str:
        """The space that the micro-op reaches (``via`` for generic ones)."""
        return self.op.split(".")[1]


@dataclass
class Result:
    """What an access left: loaded rows, the memory, and its counters by name."""

    rows: np.ndarray
    memory: np.ndarray
    counters: dict[str, int]


SENTINEL = 0x5555555555555555


def execute(access: Access, via: str = "") -> Result:
    """Fill the memory, do the access, read the memory back.  ``via``: the space of a generic access."""
    space = via or access.space
    per_thread = access.initial.shape[-1] // 4 if space == "local" else access.initial.size // 4 // 32
    b = Builder()
    home, operands, loaded = b.array(0), b.array(1, ndim=2), b.array(2, ndim=2)
    if space == "shared":
        b.shared_bytes = access.initial.size
    if space == "local":
        b.local_bytes = access.initial.shape[-1]
    lane = b.special("tid.x")
    at = b.element(operands, lane)
    offset, guard = (b.value("ld.global", at, mod=type_number("b64"), imm=k * 256) for k in (0, 1))
    sources = b.reg(4)
    for k in range(4):
        b.emit("ld.global", sources + k, at, mod=type_number("b64"), imm=(2 + k) * 256)

    # Copies between global memory and the space, a word at a time: word k of a thread, or word 32k + lane.
    def word(k: int, of_thread: bool) -> int:
        if space == "local":
            return b.const(4 * k) if of_thread else b.value("mad.s64", lane, b.const(4 * per_thread), b.const(4 * k))
        return b.value("mad.s64", lane, b.const(4), b.const(128 * k))

    def copy(inwards: bool) -> None:
        for k in range(per_thread):
            there = word(k, True)
            here = b.value("add.s64", home, word(k, False))
            if inwards:
                b.emit(f"st.{space}", a=there, b=b.value("ld.global", here, mod=4), mod=4)
            else:
                b.emit("st.global", a=here, b=b.value(f"ld.{space}", there, mod=4), mod=4)

    if space != "global":
        copy(inwards=True)
    window = {"global": home, "shared": b.const(SHARED_WINDOW), "local": b.const(LOCAL_WINDOW)}[space]
    address = b.value("add.s64", offset, window) if via or space == "global" else offset
    results = b.reg(4)
    for k in range(4):
        b.emit("mov", results + k, b.const(SENTINEL))
    if access.op.startswith("ld."):
        fields: dict[str, Any] = {"dst": results}
    else:
        fields = {"b": sources, "c": sources + 1, "dst": results} if access.op.startswith("atom") else {"b": sources}
    pc = len(b.instructions)
    b.emit(access.op, a=address, guard=pred(b.truth(guard)), mod=access.mod, imm=access.imm, **fields)
    pc = len(b.instructions) - 1
    out = b.element(loaded, lane)
    for k in range(4):
        b.emit("st.global", a=out, b=results + k, mod=type_number("b64"), imm=k * 256)
    if space != "global":
        copy(inwards=False)
    guards = [access.mask >> k & 1 for k in range(32)]
    given_rows = np.array([access.offsets, guards, *access.values.tolist()], np.uint64)
    memory, rows = access.initial.copy(), np.zeros((4, 32), np.uint64)
    result = launch(b, memory, given_rows, rows)
    return Result(rows, memory, dict(zip(COUNTERS, result.counters[pc].tolist(), strict=True)))


def extend(data: np.ndarray, name: str) -> int:
    """A loaded value of up to 8 bytes in its 64-bit slot."""
    value = int.from_bytes(data.tobytes(), "little")
    return signed(value, 8 * len(data)) & M64 if name[0] == "s" else value


def model(access: Access, name: str, space: str) -> tuple[np.ndarray, np.ndarray]:
    """Loaded rows and memory after a load or store, lane by lane.

    Of lanes that store to one address the lowest one of the last 128 bytes that the warp asks for stays, as on an H200
    (test_same_address.py).
    """
    size = MEMORY_TYPES[name][1]
    group = min(32, 128 // size)
    memory, rows = access.initial.copy(), np.full((4, 32), SENTINEL, np.uint64)
    parts = {"v2": 2, "v4": 4}.get(name, 1)
    width = size // parts
    for lane in sorted(range(32), key=lambda lane: (lane // group, -lane)):
        if access.mask >> lane & 1:
            mine = memory[lane] if space == "local" else memory
            for part in range(parts):
                start = access.offsets[lane] + access.imm + part * width
                if access.op.startswith("ld."):
                    rows[part, lane] = extend(mine[start : start + width], name)
                else:
                    value = int(access.values[part, lane]) & (2 ** (8 * width) - 1)
                    mine[start : start + width] = np.frombuffer(value.to_bytes(width, "little"), np.uint8)
    return rows, memory


def served_together(offsets: dict[int, int], size: int) -> list[range]:
    """The lanes that one pass through shared memory may serve, as measured on an H200 (test_shared_wavefronts.py)."""
    if size <= 4:
        return [range(32)]
    width = 32 if size == 8 else 16
    groups = []
    for start in range(0, 32, width):
        lanes = [lane for lane in range(start, start + width) if lane in offsets]
        paired = any(all(offsets.get(lane ^ k, offsets[lane]) == offsets[lane] for lane in lanes) for k in (1, 2))
        step = width if paired else width // 2
        groups += [range(first, first + step) for first in range(start, start + width, step)]
    return groups


def wavefronts(offsets: dict[int, int], size: int) -> tuple[int, int]:
    """Passes through shared memory of the executing lanes' accesses, and the least possible."""
    total = ideal = 0
    for lanes in served_together(offsets, size):
        words_of_bank: dict[int, set[int]] = {}
        for lane in lanes:
            if lane in offsets:
                for word in range(offsets[lane] // 4, (offsets[lane] + size + 3) // 4):
                    words_of_bank.setdefault(word % 32, set()).add(word)
        if words_of_bank:
            total += max(len(found) for found in words_of_bank.values())
            ideal += 1
    return total, ideal


def expected_counters(access: Access, size: int, space: str) -> dict[str, int]:
    """The memory counters of one execution, by brute force over bytes."""
    offsets = {k: access.offsets[k] + access.imm for k in range(32) if access.mask >> k & 1}
    counters = dict.fromkeys(COUNTERS[COUNTERS.index("requests") :], 0)
    if not offsets or space == "const":
        return counters
    counters |= {"requests": 1, "bytes": len(offsets) * size}
    if space == "shared":
        counters["wavefronts"], counters["wavefronts_ideal"] = wavefronts(offsets, size)
        return counters
    if space == "local":  # words are interleaved over the lanes, each a request of its own
        counters["requests"] = max(size // 4, 1)
        touched = {(o + byte) // 4 * 128 + lane * 4 for lane, o in offsets.items() for byte in range(size)}
    else:
        touched = {o + byte for o in offsets.values() for byte in range(size)}
    counters["sectors"] = len({byte // 32 for byte in touched})
    counters["sectors_ideal"] = -(-len(offsets) * size // 32)
    if space == "global":  # lanes may share bytes
        counters["sectors_ideal"] = min(counters["sectors_ideal"], counters["sectors"])
        if access.op.startswith("atom"):
            counters["updates"] = updates(offsets)
    return counters


def updates(offsets: dict[int, int]) -> int:
    """Sectors of an atomic, each as often as lanes meet at one of its addresses (H200)."""
    meeting = Counter(offsets.values())
    sectors = {offset // 32 for offset in meeting}
    return sum(max(lanes for offset, lanes in meeting.items() if offset // 32 == sector) for sector in sectors)


def memory_counters(result: Result) -> dict[str, int]:
    """The part of the counters that belongs to memory."""
    return {name: result.counters[name] for name in COUNTERS[COUNTERS.index("requests") :]}


masks = st.one_of(st.integers(0, M32), st.sampled_from([0, 1, 1 << 31, M32, M32, 0xFFFF, 0xFFFF0000, 0x55555555]))


@st.composite
def offset_patterns(draw: st.DrawFn, size: int, limit: int) -> list[int]:
    """Aligned offsets of 32 lanes: strided, permuted, all the same, or anything."""
    count = limit // size
    kind = draw(st.sampled_from(["strided", "same", "pairs", "random"]))
    if kind == "strided":
        start, stride = draw(st.integers(0, count - 1)), draw(st.integers(-33, 33))
        elements = [(start + stride * lane) % count for lane in range(32)]
    elif kind == "same":
        elements = [draw(st.integers(0, count - 1))] * 32
    elif kind == "pairs":
        elements = [(lane ^ 1) % count for lane in range(32)]
    else:
        elements = draw(st.lists(st.integers(0, count - 1), min_size=32, max_size=32))
    return [element * size for element in elements]


@st.composite
def accesses(draw: st.DrawFn, op: str, name: str, space: str) -> Access:
    """A load or store of a type in a space."""
    size = MEMORY_TYPES[name][1]
    rng = np.random.default_rng(draw(st.integers(0, 2**32)))
    shape = (32, SIZE["local"]) if space == "local" else (SIZE[space],)
    imm = size * draw(st.sampled_from([0, 0, 1]))
    return Access(
        op,
        type_number(name),
        draw(offset_patterns(size, SIZE[space] - imm)),
        draw(masks),
        rng.integers(0, M64, (4, 32), np.uint64, endpoint=True),
        rng.integers(0, 256, shape, np.uint8),
        imm,
    )


@pytest.mark.parametrize("name", MEMORY_TYPES)
@pytest.mark.parametrize("space", ["global", "shared", "local"])
@settings(max_examples=12)
@given(data=st.data())
def test_loads_and_stores(space: str, name: str, data: st.DataObject) -> None:
    for kind in ("ld", "st"):
        for op, via in ((f"{kind}.{space}", ""), (f"{kind}.generic", space)):
            access = data.draw(accesses(op, name, space))
            result = execute(access, via)
            rows, memory = model(access, name, space)
            np.testing.assert_array_equal(result.rows, rows)
            np.testing.assert_array_equal(result.memory, memory)
            assert memory_counters(result) == expected_counters(access, MEMORY_TYPES[name][1], space)


@pytest.mark.parametrize("name", MEMORY_TYPES)
def test_constant_memory(name: str) -> None:
    size = MEMORY_TYPES[name][1]
    contents = np.random.default_rng(1).integers(0, 256, 512, np.uint8)
    offsets = [(7 * lane) % (512 // size) * size for lane in range(32)]
    b = Builder()
    base, sink, lane_offsets = b.constant_array(contents), b.array(0, ndim=2), b.array(1)
    lane, results = b.special("tid.x"), b.reg(4)
    address = b.value("add.s64", base, b.load(lane_offsets, lane))
    pc = len(b.instructions)
    b.emit("ld.const", results, address, mod=type_number(name))
    for k in range(4):
        b.store(sink, lane, results + k, imm=k * 256)
    found = np.zeros((4, 32), np.uint64)
    counters = launch(b, found, np.array(offsets)).counters[pc]
    access = Access("ld.const", 0, offsets, M32, np.zeros((4, 32)), contents)
    expected = model(access, name, "const")[0]
    expected[expected == SENTINEL] = 0
    np.testing.assert_array_equal(found, expected)
    assert not counters[COUNTERS.index("requests") :].any()


@pytest.mark.parametrize("bytes_of_thread", [4, 12, 20, 36])
def test_local_memory_of_any_size(bytes_of_thread: int) -> None:
    """Threads' memories must not overlap, nor may 64-bit accesses miss, when a thread has no multiple of 8."""
    rng = np.random.default_rng(2)
    for name in ("u32", "b64") if bytes_of_thread >= 8 else ("u32",):
        size = MEMORY_TYPES[name][1]
        access = Access(
            "st.local",
            type_number(name),
            [(lane * size) % (bytes_of_thread // size * size) for lane in range(32)],
            M32,
            rng.integers(0, M64, (4, 32), np.uint64),
            rng.integers(0, 256, (32, bytes_of_thread), np.uint8),
        )
        np.testing.assert_array_equal(execute(access).memory, model(access, name, "local")[1])


def flushed(x: np.float32) -> np.float32:
    """A denormal replaced by zero of its sign."""
    return x * np.float32(0) if abs(x) < np.finfo(np.float32).smallest_normal else x


def atomic_model(kind: str, name: str, space: str, old: int, operand: int, compare: int) -> int:
    """New contents after an atomic; patterns of the operand's width."""
    if name in PACKED:
        low, high = (total(old >> shift & 0xFFFF, operand >> shift & 0xFFFF, PACKED[name], "rn") for shift in (0, 16))
        return low | high << 16
    width = int(name[1:])
    limit = 2**width - 1
    old, operand, compare = old & limit, operand & limit, compare & limit
    if kind == "exch":
        return operand
    if kind == "cas":
        return operand if old == compare else old
    if kind in ("and", "or", "xor"):
        return {"and": old & operand, "or": old | operand, "xor": old ^ operand}[kind]
    if name[0] == "f":
        x, y = (f32(old), f32(operand)) if width == 32 else (f64(old), f64(operand))
        with np.errstate(all="ignore"):
            if kind in ("add", "sub"):
                if name == "f32" and space == "global" and kind == "add":  # flushes denormals (PTX ISA, atom)
                    z = flushed(flushed(x) + flushed(y))
                else:
                    z = x + y if kind == "add" else x - y
            elif kind in ("min", "max"):
                better = y < x if kind == "min" else y > x  # False if either is NaN
                z = y if better else x
            else:
                better = np.isnan(x) or (y < x if kind == "nanmin" else y > x)
                z = y if better else x
        return int(z.view(np.uint32 if width == 32 else np.uint64))
    if kind in ("add", "sub"):
        return (old + operand if kind == "add" else old - operand) & limit
    if kind == "inc":
        return 0 if old >= operand else old + 1
    if kind == "dec":
        return operand if old == 0 or old > operand else old - 1
    key = (lambda v: signed(v, width)) if name[0] == "s" else (lambda v: v)
    pick = min if kind.endswith("min") else max
    return pick(old, operand, key=key)


def same_pattern(x: int, y: int, name: str) -> bool:
    """Equal, or two NaN."""
    if name == "f32":
        return x == y or bool(np.isnan(f32(x)) and np.isnan(f32(y)))
    return x == y or (name == "f64" and bool(np.isnan(f64(x)) and np.isnan(f64(y))))


PACKED = {"f16x2": "f16", "bf16x2": "bf16"}
VECTORS = {"f32x2": 2, "f32x4": 4}
FLOAT_KINDS = ("add", "min", "max", "exch", "cas", "sub", "nanmin", "nanmax", "and", "or", "xor")


@pytest.mark.parametrize("space", ["global", "shared"])
@pytest.mark.parametrize("name", [name for name in ATOMIC_TYPES if name not in VECTORS])
@settings(max_examples=8)
@given(data=st.data())
def test_atomics(space: str, name: str, data: st.DataObject) -> None:
    """Lanes in ascending order, each seeing what the one before left."""
    size = ATOMIC_BYTES[ATOMIC_TYPES.index(name)]
    pool = data.draw(st.lists(words, min_size=2, max_size=12))
    rng = np.random.default_rng(data.draw(st.integers(0, 2**32)))
    mask = data.draw(masks)
    for kind in ("add",) if name in PACKED else FLOAT_KINDS if name[0] == "f" else ATOMICS:
        initial = rng.choice(np.array(pool, np.uint64), SIZE[space] // 8).view(np.uint8)
        values = rng.choice(np.array(pool, np.uint64), (4, 32))
        if name == "f32":
            values &= np.uint64(M32)
        offsets = (rng.integers(0, 5, 32) * size).tolist()
        mod = ATOMICS.index(kind) << 4 | ATOMIC_TYPES.index(name)
        for op, via in ((f"atom.{space}", ""), ("atom.generic", space)):
            access = Access(op, mod, offsets, mask, values, initial)
            result = execute(access, via)
            cells = initial.view(f"u{size}").tolist()
            for lane in range(32):
                found = int(result.rows[0, lane])
                if not mask >> lane & 1:
                    assert found == SENTINEL
                    continue
                cell = offsets[lane] // size
                old = cells[cell]
                shown = signed(old, 32) & M64 if name == "s32" else old
                assert same_pattern(found, shown, name), (kind, name, lane)
                cells[cell] = atomic_model(kind, name, space, old, int(values[0, lane]), int(values[1, lane]))
            for found, expected in zip(result.memory.view(f"u{size}").tolist(), cells, strict=True):
                assert same_pattern(found, expected, name), (kind, name)
            assert memory_counters(result) == expected_counters(access, size, space)


@pytest.mark.parametrize("name", VECTORS)
@settings(max_examples=8)
@given(data=st.data())
def test_vector_atomics(name: str, data: st.DataObject) -> None:
    """Additions of two or four float32 at once: one request, each number added as a float32 atomic adds it."""
    parts = VECTORS[name]
    rng = np.random.default_rng(data.draw(st.integers(0, 2**32)))
    mask = data.draw(masks)
    initial = rng.integers(-99, 99, SIZE["global"] // 4).astype("f4").view(np.uint8)
    numbers = rng.integers(-99, 99, (4, 32)).astype("f4")
    offsets = (rng.integers(0, 5, 32) * 4 * parts).tolist()
    mod = ATOMICS.index("add") << 4 | ATOMIC_TYPES.index(name)
    access = Access("atom.global", mod, offsets, mask, numbers.view("u4").astype(np.uint64), initial)
    result = execute(access)
    cells = initial.view("f4").copy()
    for lane in range(32):
        first = offsets[lane] // 4
        for part in range(parts):
            if mask >> lane & 1:
                assert f32(int(result.rows[part, lane])) == cells[first + part]
                cells[first + part] += numbers[part, lane]
            else:
                assert int(result.rows[part, lane]) == SENTINEL
    np.testing.assert_array_equal(result.memory.view("f4"), cells)
    assert memory_counters(result) == expected_counters(access, 4 * parts, "global")


def test_shared_memory_starts_at_zero_in_every_block() -> None:
    b = Builder()
    b.shared_bytes = 256
    sink = b.array(0)
    lane, thread = b.special("tid.x"), b.thread()
    own = b.value("mul.s64", lane, b.const(8))
    before = b.value("ld.shared", own, mod=type_number("b64"))
    b.emit("st.shared", a=own, b=b.const(M64), mod=type_number("b64"))
    b.store(sink, thread, before)
    found = np.full(32 * 7, 9, np.uint64)
    launch(b, found, grid=7, threads=1)
    assert not found.any()


def test_local_memory_is_private_and_starts_at_zero_in_every_block() -> None:
    b = Builder()
    b.local_bytes = 8
    sink = b.array(0, ndim=2)
    thread = b.thread()
    before = b.value("ld.local", 0, mod=type_number("b64"))
    b.emit("st.local", a=0, b=thread, mod=type_number("b64"))
    b.emit("bar.sync")
    b.store(sink, thread, before)
    b.store(sink, thread, b.value("ld.local", 0, mod=type_number("b64")), imm=8 * 64 * 5)
    found = np.full((2, 64 * 5), 9, np.uint64)
    launch(b, found, grid=5, block=64, threads=1)
    assert not found[0].any()
    np.testing.assert_array_equal(found[1], np.arange(64 * 5))


@pytest.mark.parametrize(("first", "second"), [((0, 40), (8, 64)), ((8, 64), (0, 40)), ((0, 64), (4, 64))])
def test_overlapping_host_arrays_overlap_on_the_device(first: tuple[int, int], second: tuple[int, int]) -> None:
    values = np.arange(64, dtype=np.uint64)
    expected = values.copy()
    b = Builder()
    one, other = b.array(0), b.array(1)
    lane = b.special("tid.x")
    b.store(one, lane, b.const(7))
    b.store(other, lane, b.value("add.s64", b.load(other, lane), b.const(100)))
    launch(b, values[slice(*first)], values[slice(*second)], block=16)
    expected[slice(*first)][:16] = 7
    expected[slice(*second)][:16] += np.uint64(100)
    np.testing.assert_array_equal(values, expected)


def test_arrays_are_placed_as_cuda_malloc_does() -> None:
    b = Builder()
    rows = [b.array(k) for k in range(3)]
    sink, lane = b.array(3, ndim=2), b.special("tid.x")
    for k, row in enumerate(rows):
        b.store(sink, lane, row, imm=256 * k)
    found = np.zeros((3, 32), np.uint64)
    launch(b, np.zeros(3, np.int8), np.zeros(0, np.float64), np.zeros((5, 5), np.float32)[1:, 2:], found)
    assert (found % 256 == 0).all()
    assert (found >= int(ADDRESS_BASE)).all()
    assert len({int(row[0]) for row in found}) == 3
