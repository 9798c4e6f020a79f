"""Blocks that one block stands for: all counts are those of a launch whose every block is run."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numba import cuda

import simt
from simt.check import OutOfBoundsError
from simt.machine import Launch, affine, alike, team
from simt.machine.affine import COMPARISONS, LINEAR, MONOTONE
from simt.machine.alike import Group
from simt.ops.encoding import SPECIAL_REGISTERS
from simt.ops.table import MICRO_OPS, Kind
from simt.program import Instruction, ListingLine, Program, Uniform, pred
from simt.runtime import run
from tests.machine_view import needs_numba_cuda

MOST = 2**31 - 1


class Seen:
    """Looks at every launch, however small, and keeps what was found."""

    def __init__(self, patch: pytest.MonkeyPatch) -> None:
        self.found: list[Group] = []
        self.patch = patch

    def looking(self, how: bool, launch: Callable[[], Any]) -> Any:
        """The launch, with or without a look."""
        self.patch.setattr(alike, "MANY_BLOCKS", 1 if how else 1 << 40)
        self.patch.setattr(alike, "SHORT", 0)
        self.patch.setattr(team, "groups", self._groups)
        return launch()

    def _groups(self, prepared: Any) -> list[Group]:
        self.found = alike.groups(prepared)
        first, end = prepared.launch.span
        blocks = sorted(k for group in self.found for span in group.spans() for k in range(*span))
        assert blocks == list(range(first, end))
        return self.found

    @property
    def blocks(self) -> int:
        """Blocks that were not run."""
        return sum(each.blocks for each in self.found if each.like is not None)


@pytest.fixture
def seen(monkeypatch: pytest.MonkeyPatch) -> Seen:
    return Seen(monkeypatch)


def empty(x, n):
    pass


def guarded(x, n):
    i = cuda.grid(1)
    if i >= n:
        return
    x[i] += 1


def plane(x, n):
    i, j = cuda.grid(2)
    if i < 7 and j < 5:
        x[i + 7 * j] += 1


def small_types(x, n):
    """Numbers that wrap within few blocks."""
    i = np.int8(cuda.grid(1))
    if i == n:
        x[0] = 1


def unsigned(x, n):
    if np.uint64(cuda.grid(1)) - np.uint64(n) > np.uint64(1 << 62):
        x[cuda.grid(1)] = 2


def shifted(x, n):
    if cuda.grid(1) >> 9 == 3 and cuda.threadIdx.x == n:
        x[cuda.blockIdx.x % 8] = 1


def loops(x, n):
    total = 0
    for k in range(cuda.threadIdx.x % 5):
        total += k * cuda.blockIdx.x
    if total < -n:
        x[0] = 1


def remainders(x, n):
    if cuda.grid(1) % 100 == n:
        x[cuda.grid(1) % 64] = cuda.grid(1) % 100


def in_between(x, n):
    """The first and the last blocks do the same."""
    if cuda.blockIdx.x == 100:
        x[0] = 1


def product(x, n):
    if (cuda.blockIdx.x - 20) * (cuda.blockIdx.x - 200) < 0:
        x[0] = 1


def meets(x, n):
    cuda.syncthreads()
    if cuda.shfl_sync(0xFFFFFFFF, cuda.grid(1), 3) < n:
        x[0] = 1


def cube(x, n):
    i, j, k = cuda.grid(3)
    if i < 9 and j < 6 and k < 1:
        x[i + 9 * j] += 1


def half_of_the_warps(x, n):
    """Warps of a block that do not do the same."""
    if cuda.threadIdx.x < 64:
        return
    if cuda.threadIdx.x * 3 + cuda.blockIdx.x == n:
        x[0] = 1


KERNELS = [
    cube,
    half_of_the_warps,
    empty,
    guarded,
    plane,
    small_types,
    unsigned,
    shifted,
    loops,
    remainders,
    in_between,
    product,
    meets,
]
UNKNOWN = {unsigned, remainders, product}
"""With micro-ops of which nothing is known, and numbers from 2**63 on: few blocks are found to be alike."""


def both(seen: Seen, kernel: Any, grid: Any, block: Any, n: int) -> None:
    """The launch with every block run, and with a look: the same."""
    x = np.zeros((2, 1 << 15), np.int64)
    every, some = (
        seen.looking(how, lambda how=how: simt.launch(kernel, grid, block, x[int(how)], n, threads=1))
        for how in (False, True)
    )
    np.testing.assert_array_equal(every.result.counters, some.result.counters)
    np.testing.assert_array_equal(x[0], x[1])


@pytest.mark.parametrize("kernel", KERNELS, ids=lambda kernel: kernel.__name__)
@pytest.mark.parametrize(
    ("grid", "block", "n"),
    [
        ((300, 1, 1), 64, 70),
        ((40, 3, 2), (8, 5, 2), -3),
        ((257, 1, 1), 1, 200),
        ((2, 1, 1), 32, 1),
        ((30, 5, 4), (20, 8, 1), 310),
        ((5, 40, 3), 200, 400),
        ((3, 5, 30), (16, 4, 2), 9),
    ],
)
def test_counts_and_memory(seen: Seen, kernel: Any, grid: Any, block: Any, n: int) -> None:
    both(seen, kernel, grid, block, n)
    if grid[0] > 200 and block == 64:
        assert seen.blocks == 0 if kernel is meets else seen.blocks > (0 if kernel in UNKNOWN else 100)


@pytest.mark.parametrize("kernel", [empty, guarded])
@pytest.mark.parametrize("view", ["source", pytest.param("sm_90", marks=needs_numba_cuda)])
def test_the_largest_grid(kernel: Any, view: str) -> None:
    """Each further block counts what the last one of a small grid counts."""
    x = np.zeros(1000)
    few = [simt.launch(kernel, blocks, 64, x, 1000, view=view).result.counters for blocks in (100, 101)]
    many = simt.launch(kernel, MOST, 64, x, 1000, view=view)
    assert (x == (3 if kernel is guarded else 0)).all()
    if view == "source":  # in machine code the words of addresses wrap
        np.testing.assert_array_equal(many.result.counters, few[0] + (MOST - 100) * (few[1] - few[0]))
    assert many.counters["thread_inst_executed"] >= MOST * 64


def test_timing_and_errors(seen: Seen) -> None:
    def timed() -> Any:
        return simt.launch(guarded, 2000, 64, np.zeros(100), 100, timing=True).timing

    every, some = (seen.looking(how, timed) for how in (False, True))
    assert every.totals == some.totals
    assert every.sample == some.sample
    with pytest.raises(OutOfBoundsError, match=r"index 100 [\s\S]*block \(1, 0, 0\)"):
        seen.looking(True, lambda: simt.launch(guarded, 300, 64, np.zeros(100), 1000))
    assert seen.blocks > 200


def test_parts_of_a_launch(seen: Seen) -> None:
    """Only the blocks of the part are looked at."""

    def part(how: bool) -> Any:
        made = straight([Instruction("lt.s64", 1, R0, R1), Instruction("add.s64", R0, R0, R1, guard=pred(1))], [7, 3])
        return seen.looking(how, lambda: run(made, Launch((1000, 1, 1), (32, 1, 1), [], part=(100, 300))).counters)

    np.testing.assert_array_equal(part(False), part(True))
    assert seen.blocks == 200


R0, R1, R2, R3, CONSTANTS = 3, 4, 5, 6, 7
PLACES = {R0: "tid.x", R1: "ctaid.x", R2: "ctaid.y", R3: "tid.y"}


def straight(code: list[Instruction], numbers: list[int]) -> Program:
    """A Program whose first rows are the thread and the block; constants come after them."""
    start = [Instruction("sreg", row, imm=SPECIAL_REGISTERS.index(name)) for row, name in PLACES.items()]
    whole = [*start, *code, Instruction("exit")]
    for k, instruction in enumerate(whole):
        instruction.line = k
    uniforms = [Uniform(CONSTANTS + k, "const", number) for k, number in enumerate(numbers)]
    listing = [ListingLine(str(each), k) for k, each in enumerate(whole)]
    return Program("straight", "source", whole, listing, 40, 4, 1, uniforms)


NUMBERS = st.sampled_from(
    [0, 1, -1, 2, 3, 31, 32, 33, 63, 64, 255, 2**31 - 40, 2**31, 2**32 - 100, 2**32, 2**33 + 7, 2**61, 2**62, -(2**63),
     2**32 // 30 + 1, -(2**32 // 90)]
) | st.integers(-300, 300)  # fmt: skip
ORS = ["or.b64", "lop3.b32"] * 5
KNOWN = sorted(LINEAR | MONOTONE) * 3
OTHERS = [
    name for name, op in MICRO_OPS.items() if op.kind is Kind.ROW and op.name.endswith(("b64", "s64", "s32", "u32"))
]
TESTS = sorted(COMPARISONS)


@st.composite
def programs(draw: st.DrawFn) -> Program:
    """Micro-ops on numbers of threads and blocks; then branches and guards by what came of them."""
    numbers = draw(st.lists(NUMBERS, min_size=2, max_size=5))
    rows = [*PLACES, R1, R1, *range(CONSTANTS, CONSTANTS + len(numbers))]
    code: list[Instruction] = []
    free = CONSTANTS + len(numbers)
    for _ in range(draw(st.integers(1, 8))):
        op = MICRO_OPS[draw(st.sampled_from(KNOWN + ORS + OTHERS + TESTS * 2))]
        operands = [
            draw(st.sampled_from(rows)) if letter == "r" else draw(st.integers(0, 7)) if letter == "p" else 0
            for letter in op.operands[1:]
        ]
        guard = draw(st.sampled_from([0, 0, 0, 2, 3, 4, 5]))
        if op.kind is Kind.MASK:
            code.append(Instruction(op.name, draw(st.integers(1, 3)), *operands, guard=guard))
            if draw(st.booleans()):
                code.append(Instruction("exit", guard=draw(st.integers(2, 7))))
        else:
            table = draw(st.sampled_from([0xFE, 0xFE, 0xFE, 0xC0])) if op.name == "lop3.b32" else 0
            code.append(Instruction(op.name, free, *operands, guard=guard, imm=table))
            rows.append(free)
            free += 1
    return straight(code, numbers)


GRIDS = st.sampled_from([(700, 1, 1), (300, 1, 1), (20, 15, 1), (3, 90, 2), (1, 7, 40)]) | st.tuples(
    st.integers(2, 40), st.integers(1, 6), st.integers(1, 3)
)
BLOCKS = st.sampled_from([(1, 1, 1), (40, 1, 1), (128, 1, 1), (32, 4, 1), (16, 6, 1), (8, 5, 3)])


@given(programs(), GRIDS, BLOCKS)
@settings(max_examples=40)
def test_any_straight_code(program: Program, grid: tuple[int, int, int], block: tuple[int, int, int]) -> None:
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(affine, "_WIDE", 1)  # also where what drifts is wide
        seen = Seen(patch)
        every, some = (
            seen.looking(how, lambda: run(program, Launch(grid, block, [], per_block=True))) for how in (False, True)
        )
    np.testing.assert_array_equal(every.counters, some.counters)
    np.testing.assert_array_equal(every.work, some.work)


TRAPS = {
    "an OR that is zero in one block": (
        [
            Instruction("sub.u32", 10, R1, CONSTANTS),
            Instruction("lop3.b32", 11, 10, 0, 10, imm=0xFE),
            Instruction("eq.s64", 1, 11, 0),
        ],
        [100],
        (250, 1, 1),
    ),
    "an OR of more than a word": (
        [
            Instruction("mul.s64", 10, R1, CONSTANTS),
            Instruction("or.b64", 10, 10, 0),
            Instruction("cvt.u32", 11, 10),
            Instruction("eq.s64", 1, 11, CONSTANTS + 1),
        ],
        [(1 << 32) + 1, 77],
        (250, 1, 1),
    ),
    "an OR that lanes leave out": (
        [
            Instruction("mov", 10, R1),
            Instruction("lt.s64", 2, R0, CONSTANTS),
            Instruction("or.b64", 10, R1, CONSTANTS, guard=pred(2)),
            Instruction("eq.s64", 1, 10, 0),
        ],
        [3],
        (250, 1, 1),
    ),
    "an OR with something negative": (
        [
            Instruction("sub.s64", 10, CONSTANTS, R1),
            Instruction("or.b64", 10, 10, R2),
            Instruction("lt.s64", 1, 10, 0),
        ],
        [3],
        (250, 3, 1),
    ),
    # b (b - 1) 2**30 modulo 2**32 is 0 for b = 401, 400 and 1, and 2**31 for others between
    "a product of two numbers that change": (
        [
            Instruction("add.s64", 10, R1, CONSTANTS),
            Instruction("mul.s64", 10, 10, CONSTANTS + 1),
            Instruction("mad.u32", 11, R1, 10, 0),
            Instruction("eq.s64", 1, 11, CONSTANTS + 2),
        ],
        [-1, 1 << 30, 1 << 31],
        (402, 1, 1),
    ),
    "a shift by a number that changes, 0 from 64 on": (
        [Instruction("shl.b64", 10, CONSTANTS, R1), Instruction("eq.s64", 1, 10, CONSTANTS + 1)],
        [1, 1 << 7],
        (200, 1, 1),
    ),
    "a corner of the grid": (
        [Instruction("add.s64", 10, R1, R2), Instruction("lt.s64", 1, 10, CONSTANTS)],
        [9],
        (30, 20, 1),
    ),
    "a corner, as a number that grows": (
        [
            Instruction("add.s64", 10, R1, R2),
            Instruction("neg.s64", 10, 10),
            Instruction("lt.s64", 1, 10, CONSTANTS),
        ],
        [-9],
        (30, 20, 1),
    ),
    "rows and columns": (
        [Instruction("mul.s64", 10, R1, R2), Instruction("eq.s64", 1, 10, CONSTANTS)],
        [9 * 13],
        (30, 20, 1),
    ),
    "threads and blocks": (
        [Instruction("mad.s64", 10, R0, CONSTANTS, R1), Instruction("eq.s64", 1, 10, CONSTANTS + 1)],
        [-1, 11],
        (300, 1, 1),
    ),
}


@pytest.mark.parametrize("trap", TRAPS)
def test_what_ends_a_proof(seen: Seen, trap: str) -> None:
    """The ends of the grid do the same, and blocks between do not."""
    code, numbers, grid = TRAPS[trap]
    made = straight([*code, Instruction("exit", guard=pred(1)), Instruction("nop")], numbers)
    every, some = (seen.looking(how, lambda: run(made, Launch(grid, (96, 1, 1), [])).counters) for how in (False, True))
    np.testing.assert_array_equal(every, some)
    assert 0 < every[-1, 1] < every[0, 1]  # lanes


@pytest.mark.parametrize(
    ("grid", "block"), [((MOST, 1, 1), 1024), ((1 << 15, 1 << 15, 2), (32, 8, 1)), ((2048, 1024, 1023), (8, 8, 8))]
)
def test_few_blocks_are_run(seen: Seen, monkeypatch: pytest.MonkeyPatch, grid: Any, block: Any) -> None:
    """Whatever the shape, of the blocks that do nothing only a few are looked at."""
    looks = []
    at = alike._Looks.at

    def counted(self: Any, *place: int) -> Any:
        looks.append(place)
        return at(self, *place)

    monkeypatch.setattr(alike._Looks, "at", counted)
    x = np.zeros(1000)
    large = simt.launch(cube, grid, block, x, 1000)
    assert large.counters["inst_executed"] > MOST // 32
    assert x.max() == 1
    assert 0 < len(looks) < 300


def test_the_first_block_of_all_axes(seen: Seen) -> None:
    """As compilers write it: the OR of the block's three numbers is zero."""
    code = [
        Instruction("sreg", 12, imm=SPECIAL_REGISTERS.index("ctaid.z")),
        Instruction("lop3.b32", 13, R1, R2, 12, imm=0xFE),
        Instruction("or.b64", 13, R0, 13),
        Instruction("ne.s64", 1, 13, 0),
        Instruction("exit", guard=pred(1)),
    ]
    made = straight([*code, Instruction("nop")], [])
    huge = run(made, Launch((1 << 20, 1 << 10, 2), (1000, 1, 1), []))  # else it would take an hour
    assert huge.counters[-1, 1] == 1
    for grid in ((50, 20, 7), (3, 900, 1), (1, 1, 1000)):
        every, some = (
            seen.looking(how, lambda grid=grid: run(made, Launch(grid, (96, 1, 1), [])).counters)
            for how in (False, True)
        )
        np.testing.assert_array_equal(every, some)
        assert seen.blocks == grid[0] * grid[1] * grid[2]


def test_numbers_that_wrap(seen: Seen) -> None:
    """A number of 32 bits comes back after 2**16 blocks of a step of 2**16, and each period has a block that works."""
    numbers = [1 << 16, 5 << 16]
    code = [
        Instruction("mad.u32", 10, R1, CONSTANTS, R0),
        Instruction("eq.s64", 1, 10, CONSTANTS + 1),
        Instruction("exit", guard=pred(1)),
    ]
    made = straight([*code, Instruction("nop")], numbers)
    result = seen.looking(True, lambda: run(made, Launch((20 << 16, 1, 1), (64, 1, 1), [])))
    assert seen.blocks == 20 << 16
    assert len(seen.found) < 10
    exits = result.counters[-1]
    assert exits[1] == (20 << 16) * 64 - 20


def test_what_is_known_is_declared() -> None:
    assert MICRO_OPS.keys() >= LINEAR | MONOTONE | COMPARISONS
    assert all(MICRO_OPS[name].kind is Kind.MASK for name in COMPARISONS)
    assert all(MICRO_OPS[name].kind is Kind.ROW for name in LINEAR | MONOTONE)
