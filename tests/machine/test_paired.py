"""Both engines on the launches that others' tests make: an H200's, failing ones, random ones; on other processors."""

from __future__ import annotations

import copy
import re
from pathlib import Path
from typing import Any

import llvmlite.binding as llvm
import numpy as np
import pytest
from numba.core import config

from simt import disk_cache, kernels
from simt.check import SimtError
from simt.lang import argument_types, compile
from simt.machine import Launch
from simt.machine.compiled import code
from simt.machine.compiled.emit import Emitter
from simt.machine.compiled.plan import Plan
from tests.machine.engines import check, launches_with
from tests.machine.pairs import differs
from tests.machine.test_messages import CASES
from tests.sass.data import cubin, launch
from tests.sass.launches import specs

pytestmark = pytest.mark.skipif(bool(config.DISABLE_JIT), reason="nothing is compiled")

SPECS = specs()


@pytest.mark.parametrize("name", sorted(SPECS))
def test_launches_of_an_h200(name: str) -> None:
    group, kernel, grid, block, shared, args = SPECS[name]
    sass = cubin(f"sm_90/{group}_O3")[kernel]
    left = []
    for engine in ("interpreter", "compiled"):
        given = copy.deepcopy(args)
        with launches_with(engine=engine):
            result = launch(sass, grid, block, given, shared)
        arrays = [one.tobytes() for one in given if isinstance(one, np.ndarray)]
        left.append((arrays, result.counters.tolist()))
    assert left[0] == left[1]
    assert sass.program.native is not None


def said(name: str) -> str:
    with pytest.raises(SimtError) as caught:
        CASES[name]()
    return f"{type(caught.value).__name__}: {caught.value}"


@pytest.mark.parametrize("name", CASES)
def test_messages(name: str) -> None:
    with launches_with(engine="interpreter"):
        expected = said(name)
    with launches_with(engine="compiled"):
        assert said(name) == expected


@pytest.mark.parametrize("first", range(0, 24, 8))
def test_random_kernels_whose_threads_talk_to_each_other(first: int) -> None:
    assert [found for seed in range(first, first + 8) if (found := differs(seed))] == []


@pytest.mark.skipif("x86_64" not in llvm.get_process_triple(), reason="names of x86 processors")
@pytest.mark.parametrize("cpu", ["haswell", "x86-64"])
def test_processors_with_narrower_vectors(cpu: str, monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """AVX2, and what every 64-bit processor has."""
    monkeypatch.setattr(code, "processor", lambda: (cpu, ""))
    monkeypatch.setattr(code, "STORE", disk_cache.DiskCache("native code", tmp_path))
    code._made_with.cache_clear()
    monkeypatch.setattr(code, "_helpers", {})
    try:
        for name in ("neighbored", "shuffle", "collatz", "even_odd"):
            plan = kernels.get(name).plan(size=700)
            program = compile(plan.kernel, argument_types(plan.args))
            program.native = None
            check(program, plan.args, grid=(plan.grid, 1, 1), block=(plan.block, 1, 1), threads=1)
            program.native = None
        assembly = assembly_of(program, code.machine())
        assert "%zmm" not in assembly
        assert ("%ymm" in assembly) == (cpu == "haswell")
    finally:
        code._made_with.cache_clear()


def test_code_for_arm() -> None:
    """It is made, with vectors; nothing runs it here."""
    llvm.initialize_all_targets()
    llvm.initialize_all_asmprinters()
    target = llvm.Target.from_triple("aarch64-unknown-linux-gnu").create_target_machine(opt=2)
    plan = kernels.get("shuffle").plan(size=700)
    program = compile(plan.kernel, argument_types(plan.args))
    assert re.search(r"\sadd\s+v\d+\.2d,", assembly_of(program, target))


def assembly_of(program: Any, machine: Any) -> str:
    """What LLVM makes of a Program."""
    return str(machine.emit_assembly(code.optimised(code.module_of(Emitter(Plan(program)).emit()), machine)))


def test_a_launch_that_must_be_compiled_is() -> None:
    """Else all of these tests would compare the interpreter with itself."""
    with launches_with(engine="compiled"):
        assert Launch((1, 1, 1), (32, 1, 1), []).engine == "compiled"
