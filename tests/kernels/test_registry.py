"""The registry: every entry can say how to launch it; wrong names and choices say what there is."""

from __future__ import annotations

import numpy as np
import pytest

import simt
from simt import kernels
from simt.check import LaunchError
from simt.kernels import registry


@pytest.mark.parametrize("name", [name for name in kernels.names() if kernels.get(name).group != "published"])
def test_every_kernel_runs_as_its_entry_says(name: str) -> None:
    entry = kernels.get(name)
    plan = entry.plan(size=300)
    profile = simt.launch(plan.kernel, plan.grid, plan.block, *plan.args)
    assert name.startswith(profile.kernel)
    assert profile.metrics["inst_executed"] > 0
    assert entry.summary.endswith(".")


def test_the_same_arguments_give_the_same_function() -> None:
    """Compiled programs are cached per function."""
    entry = kernels.get_reduction("complete_unroll")
    assert entry.make(256) is entry.make(256)
    assert entry.make(256) is not entry.make(512)


def test_grid_covers_every_element() -> None:
    entry = kernels.get_reduction("unrolling4")
    assert [entry.grid(n, 512) for n in (0, 1, 2048, 2049, 2**24)] == [0, 1, 1, 2, 8192]


@pytest.mark.parametrize("kernel", ["neighbored", "atomic"])
def test_a_plan_copies_the_data(kernel: str) -> None:
    data = np.arange(10, dtype=np.int64)
    plan = kernels.get_reduction(kernel).plan_for(data, 4, "max")
    g_idata, g_odata, n = plan.args
    assert not np.shares_memory(g_idata, data)
    assert n == 10
    assert (g_odata == np.iinfo(np.int64).min).all()


def test_wrong_choices_name_the_right_ones() -> None:
    with pytest.raises(LaunchError, match=r"no kernel 'neighboured'(?s:.*)neighbored"):
        kernels.get("neighboured")
    with pytest.raises(LaunchError, match=r"'even_odd' is not a reduction(?s:.*)interleaved"):
        kernels.get_reduction("even_odd")
    with pytest.raises(LaunchError, match=r"no kernel 'sum'(?s:.*)one of neighbored, (?s:.*)published_off_by_one$"):
        kernels.get_reduction("sum")
    with pytest.raises(LaunchError, match=r"atomic cannot do operation 'product'(?s:.*)sum, max, min"):
        kernels.get_reduction("atomic").make(op="product")
    with pytest.raises(LaunchError, match=r"cannot do dtype 'int8'"):
        kernels.get_reduction("shared").make(dtype="int8")
    with pytest.raises(LaunchError, match=r"no operation 'mean'"):
        kernels.operation("mean")
    with pytest.raises(LaunchError, match=r"no sample data of dtype 'int8'"):
        kernels.sample(3, "int8")
    with pytest.raises(LaunchError, match=r"at least 1 element, not 0"):
        kernels.get("collatz").plan(size=0)


def test_agrees_tells_rounding_from_a_mistake() -> None:
    data = np.random.default_rng(0).random(10_000).astype(np.float32)
    exact = data.sum(dtype=np.float64)
    assert kernels.agrees(np.float32(exact), data)[1]
    assert not kernels.agrees(np.float32(exact - data[17]), data)[1]
    assert not kernels.agrees(np.float32(np.nan), data)[1]
    infinite = np.append(data, np.float32(np.inf))
    assert kernels.agrees(np.float32(np.inf), infinite)[1]


@pytest.mark.parametrize("dtype", ["int32", "int64", "float32", "float64"])
def test_a_sample_does_not_hang_on_its_pieces(dtype: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(registry, "_PIECE", 10)
    rng = np.random.default_rng(3)
    whole = rng.random(99) if dtype.startswith("f") else rng.integers(-128, 128, 99)
    np.testing.assert_array_equal(kernels.sample(99, dtype, 3), whole.astype(dtype))
    np.testing.assert_array_equal(kernels.sample(99, dtype, 3, np.empty(99, dtype)), whole.astype(dtype))
