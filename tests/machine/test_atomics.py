"""Atomics: data and counters against a model, access by access."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from simt.ops.encoding import ATOMIC_BYTES, ATOMIC_TYPES, ATOMICS
from tests.machine.memory_model import (
    SENTINEL,
    SIZE,
    Access,
    execute,
    expected_counters,
    masks,
    memory_counters,
)
from tests.machine.operands import words
from tests.machine.patterns import M32, M64, f32, f64, signed, total


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
