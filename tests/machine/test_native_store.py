"""What native code refuses, and where it is kept: a damaged or foreign cache, other processes."""

from __future__ import annotations

import pickle
from collections.abc import Callable
from pathlib import Path
from typing import Any

import llvmlite.binding as llvm
import numpy as np
import pytest

from simt import disk_cache
from simt.machine import Launch
from simt.machine.compiled import code, segment
from simt.machine.compiled.lanes import lane_module
from simt.program import pred
from simt.runtime import run
from tests.machine.engines import check, left_by
from tests.machine.harness import Builder, launch
from tests.machine.test_compiled import counting
from tests.slow import few


@pytest.mark.parametrize("option", [{"order": "interleaved"}, {"order": "random:3"}, {"trace": True}])
def test_what_native_code_cannot_run_is_not_compiled(option: dict[str, Any], monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delattr(code, "native_code")
    check(counting(5), [np.zeros(32, np.uint64)], **option)


def test_what_llvm_refuses_is_interpreted(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    def refused(text: Any) -> bytes:
        llvm.parse_assembly("nonsense")
        raise AssertionError

    disk_cache._said.clear()
    monkeypatch.setattr(code, "_object", refused)
    out = [np.zeros(32, np.uint64)]
    expected = left_by("interpreter", counting(17), out, grid=(1, 1, 1), block=(32, 1, 1))
    assert left_by("compiled", counting(17), out, grid=(1, 1, 1), block=(32, 1, 1)) == expected
    assert "kernel is interpreted: LLVM refuses its code" in capsys.readouterr().err


def test_a_function_of_predicates_with_branches_is_interpreted(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    disk_cache._said.clear()
    monkeypatch.setattr(segment, "lane_module", lambda *_: lane_module("pow.s64"))
    b = Builder()
    b.emit("plop", b.predicate(), pred(0), pred(0), pred(0), imm=7)
    launch(b, engine="compiled")
    assert "kernel is interpreted: a function of predicates has a loop" in capsys.readouterr().err


def test_a_program_that_is_too_large_is_interpreted(capsys: pytest.CaptureFixture[str]) -> None:
    b = Builder()
    for _ in range(code.MOST_MICRO_OPS):
        b.emit("nop")
    disk_cache._said.clear()
    launch(b, engine="compiled")
    assert f"the most are {code.MOST_MICRO_OPS}" in capsys.readouterr().err


DAMAGES: dict[str, Callable[[bytes], bytes]] = {
    "empty": lambda whole: b"",
    "truncated": lambda whole: whole[:100],
    "a bit of the code": lambda whole: whole[:200] + bytes([whole[200] ^ 16]) + whole[201:],
    "a bit of the sum": lambda whole: bytes([whole[0] ^ 1]) + whole[1:],
    "longer": lambda whole: whole + b"\0",
}


@pytest.mark.parametrize("damage", few(DAMAGES, ["truncated", "a bit of the code"]))
def test_a_damaged_cache_is_made_anew(
    damage: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(code, "STORE", disk_cache.DiskCache("native code", tmp_path))
    monkeypatch.setattr(code, "_helpers", {})
    check(counting(19), [np.zeros(32, np.uint64)])
    kept = {path: path.read_bytes() for path in tmp_path.iterdir()}
    assert len(kept) > 1  # the Program's and the functions that it calls
    for path, whole in kept.items():
        path.write_bytes(DAMAGES[damage](whole))
    code._helpers.clear()
    capsys.readouterr()
    check(counting(19), [np.zeros(32, np.uint64)])
    assert {path: path.read_bytes() for path in tmp_path.iterdir()} == kept
    assert capsys.readouterr().err.count("is damaged; it is made again") == len(kept)


def test_a_cache_that_cannot_be_written_is_said_once(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "file").touch()
    monkeypatch.setattr(code, "STORE", disk_cache.DiskCache("native code", tmp_path / "file/native"))
    for rounds in (21, 22):
        check(counting(rounds), [np.zeros(32, np.uint64)])
    assert capsys.readouterr().err.count("cannot keep native code in") == 1


def test_native_code_stays_in_its_process() -> None:
    """A Program travels (in a profile, to a worker) without what belongs to this process, and runs there as it did."""
    program, here, there = counting(), np.zeros(32, np.uint64), np.zeros(32, np.uint64)
    run(program, Launch((1, 1, 1), (32, 1, 1), [here], engine="compiled"))
    assert program.native is not None
    travelled = pickle.loads(pickle.dumps(program))
    assert (travelled, travelled.native, travelled.encoded) == (program, None, None)
    run(travelled, Launch((1, 1, 1), (32, 1, 1), [there], engine="interpreter"))
    assert there.tolist() == here.tolist()


@pytest.mark.parametrize("change", ["processor", "LLVM", "a source", "the engine"])
def test_code_that_was_made_with_something_else_is_not_loaded(change: str, monkeypatch: pytest.MonkeyPatch) -> None:
    mine = code._made_with()
    code._made_with.cache_clear()
    if change == "processor":
        monkeypatch.setattr(code, "processor", lambda: ("another", ""))
    elif change == "LLVM":
        monkeypatch.setattr(code.llvmlite, "__version__", "0.0")
    elif change == "a source":
        read = Path.read_text
        monkeypatch.setattr(Path, "read_text", lambda path, *how: read(path, *how) + "#" * (path.name == "emit.py"))
    else:
        monkeypatch.setattr(code, "FOLDER", Path("other"))
    try:
        assert len({code.digest(*parts) for parts in (mine, code._made_with())}) == 2
    finally:
        code._made_with.cache_clear()
