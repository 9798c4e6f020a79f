"""``simt reduce``: its table, JSON, operations and types, and a wrong sum."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from simt.cli import reduce
from simt.cli.reduce import sample

FAMILY_OF_TWO = ["--kernel", "neighbored", "--kernel", "interleaved"]


def test_reduce_prints_a_table(run) -> None:
    found = run("reduce", "--size", "10_000", *FAMILY_OF_TWO)
    assert found.code == 0
    assert "10,000 int32" in found.out
    assert "source view" in found.out
    rows = [line.split() for line in found.out.splitlines() if line.strip().startswith(("neigh", "inter"))]
    assert [(row[0], row[1], row[3]) for row in rows] == [
        ("neighbored", "20", "yes"),
        ("interleaved", "20", "yes"),
    ]
    assert max(map(len, found.out.splitlines())) <= 120
    assert "\x1b" not in found.out


def test_reduce_runs_the_whole_family_by_default(run) -> None:
    results = run("reduce", "--size", "3000", "--block", "128", "--json").json()["results"]
    assert len(results) == 14
    assert all(result["correct"] for result in results)
    assert {result["sum"] for result in results} == {int(sample(3000, "int32", "sum", 0).sum())}


def test_reduce_json(run) -> None:
    data = run("reduce", "--size", "2^12", "--block", "64", "--kernel", "neighbored", "--json").json()
    assert (data["view"], data["toolchain"], data["size"], data["block"]) == ("source", "", 4096, 64)
    (result,) = data["results"]
    assert result["kernel"] == "neighbored"
    assert result["grid"] == 64
    assert result["sum"] == result["expected"]
    assert result["correct"] is True
    assert result["seconds"] > 0
    assert result["metrics"]["divergent_branch"] == result["counters"]["divergent_branches"] > 0
    idle = result["idle_lane_slots"]
    assert set(idle) == {"no_thread", "exited", "other_path", "predicated_off"}
    counters = result["counters"]
    assert counters["pred_on_thread_inst_executed"] + sum(idle.values()) == 32 * counters["inst_executed"]


@pytest.mark.parametrize("dtype", ["int32", "int64", "float32", "float64"])
@pytest.mark.parametrize("op", ["sum", "max", "min", "product"])
def test_operations_and_types(run, dtype: str, op: str) -> None:
    found = run("reduce", "--size", "1003", "--dtype", dtype, "--op", op, "--kernel", "interleaved", "--json")
    (result,) = found.json()["results"]
    assert result["correct"] is True
    assert result["expected"] != 0


def test_the_default_family_leaves_out_kernels_that_cannot_do_the_operation(run) -> None:
    names = [r["kernel"] for r in run("reduce", "--size", "1K", "--op", "product", "--json").json()["results"]]
    assert "interleaved" in names
    assert "atomic" not in names


@pytest.mark.parametrize("dtype", ["int32", "float32"])
def test_products_of_the_sample_say_something(dtype: str) -> None:
    data = sample(2**16, dtype, "product", 0)
    total = np.multiply.reduce(data)
    assert total != 0
    assert np.isfinite(total)


def test_a_wrong_sum_is_exit_code_1(run, monkeypatch: pytest.MonkeyPatch) -> None:
    import simt.api

    right = simt.api.reduce

    def wrong(*arguments: Any, **options: Any) -> Any:
        total, profile = right(*arguments, **options)
        return total + 1, profile

    monkeypatch.setattr(simt.api, "reduce", wrong)
    found = run("reduce", "--size", "1000", "--kernel", "neighbored")
    assert found.code == 1
    assert "NO" in found.out
    assert "instead of NumPy's" in found.out
    assert run("reduce", "--size", "1000", "--kernel", "neighbored", "--json").code == 1


@pytest.mark.parametrize("op", ["sum", "product"])
def test_many_numbers_stand_in_a_file(run, op: str, monkeypatch: pytest.MonkeyPatch) -> None:
    arguments = ["reduce", "--size", "3000", "--kernel", "neighbored", "--op", op, "--json"]
    in_memory = run(*arguments).json()["results"][0]
    monkeypatch.setattr(reduce, "IN_FILE", 12000)
    assert isinstance(reduce.sample(3000, "int32", op, 0), np.memmap)
    in_file = run(*arguments).json()["results"][0]
    assert in_file["correct"]
    assert (in_file["sum"], in_file["counters"]) == (in_memory["sum"], in_memory["counters"])
