"""The only way into the engine refuses what the Program does not have, before anything runs."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from simt.check import LaunchError
from simt.machine.encode import MOST_ROWS, encode
from simt.machine.launch import dimensions
from simt.machine.prepare import MAX_LOCAL_BYTES
from simt.ops.encoding import MEMORY_TYPES
from simt.ops.table import MICRO_OPS
from simt.program import Program
from tests.machine.harness import Builder, launch, type_number

V4 = type_number("v4")


def program(op: str, dst: int = 0, a: int = 0, b: int = 0, c: int = 0, **fields: Any) -> Program:
    """One micro-op of a Program with rows 0 to 8 (1 is a constant), 3 predicates, 2 barriers and one array axis."""
    made = Builder()
    made.array(0)
    made.reg(7)
    made.predicate()
    made.predicate()
    made.barrier()
    made.barrier()
    made.emit(op, dst, a, b, c, **fields)
    return made.build()


@pytest.mark.parametrize(
    ("fields", "message"),
    [
        ({"op": "mov", "dst": 9, "a": 2}, "register row 9 of 9"),
        ({"op": "mov", "dst": 2, "a": 4001}, "register row 4001 of 9"),
        ({"op": "mov", "dst": 2, "a": -1}, "register row -1 of 9"),
        ({"op": "mov", "dst": 1, "a": 2}, "a result in register row 1, which is a constant"),
        ({"op": "ld.global", "dst": 6, "a": 2, "mod": V4}, "register rows 6 to 9 of 9"),
        ({"op": "st.shared", "a": 2, "b": 7, "mod": V4}, "register rows 7 to 10 of 9"),
        ({"op": "st.shared", "a": 2, "b": 1, "mod": V4}, "register rows 1 to 4, of which some are constants"),
        ({"op": "atom.global", "dst": 7, "a": 2, "b": 2, "mod": 9}, "register rows 7 to 10 of 9"),
        ({"op": "atom.global", "dst": 2, "a": 2, "b": 2, "mod": 13 << 4}, "atomic operation 13 on type 0"),
        ({"op": "atom.global", "dst": 2, "a": 2, "b": 2, "mod": 15}, "atomic operation 0 on type 15"),
        ({"op": "ld.local", "dst": 2, "a": 2, "mod": 9}, "an access of type 9"),
        ({"op": "mov", "dst": 2, "a": 2, "guard": 400000000}, "guard predicate 200000000 of 3"),
        ({"op": "eq.s64", "dst": 1000000, "a": 2, "b": 2}, "predicate 1000000 of 3"),
        ({"op": "selp", "dst": 2, "a": 2, "b": 2, "c": 6}, "predicate 3 of 3"),
        ({"op": "shfl.up", "dst": 2, "a": 2, "b": 2, "c": 2, "mod": 3}, "predicate 3 of 3"),
        ({"op": "bmov.set", "a": 2, "imm": 2000}, "convergence barrier 2000 of 2"),
        ({"op": "bssy", "imm": 9999999}, "convergence barrier 9999999 of 2"),
        ({"op": "bar.sync", "imm": 0x63}, "block barrier 99 of 16"),
        ({"op": "index", "dst": 2, "a": 2, "b": 2, "imm": 1}, "dimension 1 of 1"),
        ({"op": "within", "dst": 2, "a": 2, "b": 2, "imm": 1}, "array 1 of 1"),
        ({"op": "bra", "imm": 4}, "a branch to micro-op 4"),
        ({"op": "sreg", "dst": 2, "imm": 99}, "the number 99 in sreg"),
        ({"op": "mov", "dst": 2, "a": 2, "imm": 1 << 63}, f"the number {1 << 63} in mov"),
        ({"op": "mov", "dst": 2, "a": 2, "b": 1 << 63}, f"operand {1 << 63}, which the micro-op does not take"),
        ({"op": "st.global", "dst": 9, "a": 2, "b": 3, "mod": V4}, "operand 9, which the micro-op does not take"),
        ({"op": "mov", "dst": 2, "a": 2, "line": 7}, "it belongs to line 7 of 2"),
        ({"op": "mov", "dst": 2, "a": 2, "line": -1}, "it belongs to line -1 of 2"),
    ],
)
def test_what_cannot_be(fields: dict[str, Any], message: str) -> None:
    with pytest.raises(LaunchError, match="invalid instruction") as caught:
        launch(program(**fields), np.zeros(4))
    assert f": {message}\n" in str(caught.value)
    assert f"micro-op 0: {fields['op']}" in str(caught.value)
    assert (caught.value.location is None) == ("line" in fields)


def test_what_can_be() -> None:
    """Results that nobody reads need no rows; the last branch target stops code that runs past its end."""
    for each in (program("ld.shared", 0, 2, mod=V4), program("st.shared", 0, 2, 0, mod=V4), program("bra", imm=2)):
        assert len(encode(each).code) == 3


def test_too_much_local_memory() -> None:
    made = program("nop")
    made.local_bytes = 0x7FFFFFFF
    with pytest.raises(
        LaunchError, match=f"2147483647 bytes of local memory per thread; the limit is {MAX_LOCAL_BYTES}"
    ):
        launch(made, np.zeros(4))


@pytest.mark.parametrize("name", ["n_registers", "n_predicates", "n_barriers"])
@pytest.mark.parametrize("number", [MOST_ROWS + 1, 1 << 31, 1 << 64])
def test_more_rows_than_a_warp_can_have(name: str, number: int) -> None:
    made = program("nop")
    setattr(made, name, number)
    with pytest.raises(LaunchError, match=f"{name} = {number}; the limit is {MOST_ROWS}"):
        launch(made, np.zeros(4))


number = st.one_of(st.integers(-3, 40), st.integers(-(2**70), 2**70))


@given(op=st.sampled_from(sorted(MICRO_OPS)), numbers=st.lists(number, min_size=7, max_size=7))
def test_any_number_is_refused_or_inside_of_the_tables(op: str, numbers: list[int]) -> None:
    dst, a, b, c, guard, imm, mod = numbers
    made = program(op, dst, a, b, c, guard=guard, imm=imm, mod=mod)
    try:
        encoded = encode(made)
    except LaunchError:
        return
    row = encoded.code[0]
    for letter, value in zip(MICRO_OPS[op].operands, row[1:5].tolist(), strict=True):
        if letter == "r":
            assert 0 <= value < 32 * encoded.n_registers
        elif letter == "-":
            assert value == 0
    assert 0 <= row[5] < 2 * encoded.n_predicates


def test_every_type_of_access_has_a_number_of_its_own() -> None:
    assert [number for number, _ in MEMORY_TYPES.values()] == list(range(len(MEMORY_TYPES)))
    sizes = {"b64": 8, "v2": 8, "v4": 16}
    assert all(size == sizes.get(name) or 8 * size == int(name[1:]) for name, (_, size) in MEMORY_TYPES.items())


@given(st.tuples(*[st.integers(1, 64) | st.sampled_from((128, 512, 1024))] * 3))
def test_a_block_has_1024_threads_at_most(block: tuple[int, int, int]) -> None:
    fits = block[2] <= 64 and block[0] * block[1] * block[2] <= 1024
    if fits:
        assert dimensions(block, "block") == block
    else:
        with pytest.raises(LaunchError, match=r"threads per block|block dimension z"):
            dimensions(block, "block")
