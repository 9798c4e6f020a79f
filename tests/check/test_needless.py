"""What the judges need not be told: nothing that they would find is lost by that."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from numba import cuda

import simt
from simt.lang import argument_types, compile
from simt.sanitizer import sanitizer as module
from simt.sanitizer.needless import arrays_of
from tests.check.truth import barriers, blocks, buffers, idioms, lanes, memory, samples, tiles

Array = Any
CASES = [
    case for file in (barriers, blocks, buffers, idioms, lanes, memory, samples, tiles) for case in file.SUITE.cases
]


def found(case: Any, check: str) -> Any:
    try:
        findings = case.launch(check=check, keep_going=True, threads=1).findings
    except simt.SimtError as error:
        findings = error.findings
    return [(each.text, each.count, [side.place for side in each.sides]) for each in findings]


@pytest.mark.parametrize("check", ["initcheck", "racecheck", "all"])
def test_the_same_is_found_if_all_is_told(check: str, monkeypatch: pytest.MonkeyPatch) -> None:
    less = [found(case, check) for case in CASES]
    monkeypatch.setattr(module, "needless", lambda *_: np.zeros(0, np.int64))
    assert less == [found(case, check) for case in CASES]


def scaled(x: Array, y: Array, z: Array) -> None:
    i = cuda.grid(1)
    y[i] = x[i] + y[i]
    if i < z.shape[0]:
        z[i, 0] += z[i, 1]


def told(check: str, *args: Any) -> set[tuple[str, str]]:
    """The accesses that a launch tells of: load or store, and the argument."""
    quiet: list[Any] = []
    plain = module.needless

    def needless(prepared: Any, *rest: Any) -> Any:
        quiet.append((prepared.program, plain(prepared, *rest)))
        return quiet[-1][1]

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(module, "needless", needless)
        simt.launch(scaled, 1, 32, *args, check=check, keep_going=True)
    ((program, silent),) = quiet
    arrays = arrays_of(program)
    return {(program.instructions[pc].op[:2], "xyz"[arrays[pc] or 0]) for pc in arrays if pc not in set(silent)}


def test_what_is_told_of() -> None:
    x, y, z = np.zeros(32), np.zeros(32), np.zeros((32, 2))
    assert told("initcheck", x, y, z) == set()
    assert told("initcheck", x, simt.uninitialized(32, np.float64), z) == {("ld", "y"), ("st", "y")}
    written = {("ld", "y"), ("st", "y"), ("ld", "z"), ("st", "z")}
    assert told("racecheck", x, y, z) == written
    whole = np.zeros(64)  # x and y overlap
    assert told("racecheck", whole[:32], whole[16:48], z) == written | {("ld", "x")}
    assert told("all", x, y, z) == written


def chosen(x: Array, y: Array, z: Array) -> None:
    i = cuda.grid(1)
    y[i] = x[i] if z[i] > 0 else y[i]


def test_the_array_of_an_access() -> None:
    program = compile(chosen, argument_types((np.zeros(4), np.zeros(4), np.zeros(4))))
    found = {program.instructions[pc].op: set() for pc in arrays_of(program)}
    for pc, argument in arrays_of(program).items():
        found[program.instructions[pc].op].add(argument)
    assert found == {"ld.global": {0, 1, 2}, "st.global": {1}}
