"""A few hundred spoilt inputs of every kind; and that the harness sees what it is there to see."""

from __future__ import annotations

import itertools
import sys
import time
from collections import Counter

import pytest

from tests.fuzz.run import SHARES, fuzz, mixed, until
from tests.fuzz.trials import KINDS, mutant

MUTANTS = 300
STAND_IN = """
import json, os, sys, time
for line in sys.stdin:
    kind, number = line.split()
    print(json.dumps({"kind": kind, "number": int(number)}), flush=True)
    if number == "3":
        print("the stack smashed", file=sys.stderr, flush=True)
        os.abort()
    if number == "5":
        time.sleep(60)
    print(json.dumps({"outcome": "inside" if number == "6" else "refused", "message": "IndexError"}), flush=True)
"""


def test_spoilt_inputs_give_a_result_or_an_error_of_simt() -> None:
    report = fuzz(mixed(MUTANTS, 0, list(SHARES)), jobs=1)
    assert report.wrong == []
    assert {kind for kind, _ in report.counts} == set(KINDS)


def test_crashes_hangs_and_inner_errors_are_put_down_to_their_mutant() -> None:
    mutants = iter([("elf", number) for number in range(10)])
    report = fuzz(mutants, command=(sys.executable, "-c", STAND_IN), seconds=2, start_seconds=20)
    found = {(number, message.split()[0]) for _, number, message in report.wrong}
    assert found == {(3, "crash"), (5, "hang"), (6, "inside")}
    assert any("the stack smashed" in message for _, _, message in report.wrong)
    assert sum(report.counts.values()) == 10


@pytest.mark.parametrize("kind", KINDS)
def test_a_mutant_is_the_same_in_every_process(kind: str) -> None:
    made = [mutant(kind, number).data for number in (1, 1, 2)]
    assert made[0] == made[1]
    assert made[0] != made[2]


def test_shares_add_up() -> None:
    mutants = list(mixed(1000, 7, list(SHARES)))
    assert sum(SHARES.values()) == 100
    assert Counter(kind for kind, _ in mutants) == {kind: 10 * share for kind, share in SHARES.items()}
    assert set(mutants) == {(kind, number) for kind, share in SHARES.items() for number in range(7, 7 + 10 * share)}


@pytest.mark.parametrize("tried", [100, 350])
def test_a_part_of_the_mutants_has_the_shares_of_all(tried: int) -> None:
    counts = Counter(kind for kind, _ in itertools.islice(mixed(1000, 0, list(SHARES)), tried))
    assert all(abs(counts[kind] - tried * share / 100) <= 1 for kind, share in SHARES.items())


def test_no_mutant_begins_after_the_time() -> None:
    ended = time.perf_counter()
    assert next(until(ended, mixed(1000, 0, list(SHARES))), None) is None
    assert next(until(ended + 60, mixed(1000, 0, list(SHARES))), None) is not None
