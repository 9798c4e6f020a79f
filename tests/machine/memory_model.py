"""A model of loads, stores and atomics: what an access must do to memory and registers, and how it is counted."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass
from typing import Any

import numpy as np
from hypothesis import strategies as st

from simt.ops.encoding import LOCAL_WINDOW, MEMORY_TYPES, SHARED_WINDOW
from simt.program import COUNTERS, pred
from tests.machine.harness import Builder, launch, type_number
from tests.machine.patterns import M32, M64, signed

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
    apart = len(offsets) if space == "local" else len(set(offsets.values()))  # local memory: each lane has its own
    counters |= {"requests": 1, "bytes": len(offsets) * size, "bytes_distinct": apart * size}
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
    """Aligned offsets of 32 lanes: evenly spaced, strided around the end, permuted, all the same, or anything."""
    count = limit // size
    kind = draw(st.sampled_from(["line", "strided", "same", "pairs", "random"]))
    if kind == "line":
        stride = draw(st.sampled_from([step for step in (1, -1, 2, -2, 4, 8, 12) if 31 * abs(step) < count] or [0]))
        first = draw(st.integers(max(0, -31 * stride), count - 1 - max(0, 31 * stride)))
        return [(first + stride * lane) * size for lane in range(32)]
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
