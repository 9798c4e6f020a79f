"""Every option of every command does what its help promises: given with a valid value, the command succeeds."""

from __future__ import annotations

import json
import os
from pathlib import Path
from typing import Any

import pytest
from typer.main import get_command

from simt.cli import application
from tests.machine_view import PASCAL

COMMANDS: dict[str, Any] = get_command(application()).commands

LAUNCH = [
    "--kernel", "reduceNeighbored", "--grid", "1", "--block", "32", "--arg", "random:int32:32",
    "--arg", "zeros:int32:1", "--arg", "32",
]  # fmt: skip

BASE = {
    "reduce": ["--size", "64", "--block", "32", "--kernel", "neighbored"],
    "trace": ["if_else"],
    "run": ["if_else"],
    "profile": [*PASCAL, *LAUNCH],
    "sweep": ["vector_add", "--size", "64", "--blocks", "32"],
    "timeline": ["if_else"],
    "diff": ["if_else", "even_odd"],
    "kernels": [],
    "metrics": [],
    "devices": [],
    "occupancy": ["--registers", "32"],
    "report": ["if_else", "--output", os.devnull],
}
"""Arguments of a launch that succeeds; what the tests give stands behind them, and the last one counts."""

VALUES = {
    "--size": "64", "--block": "64", "--blocks": "64", "--dtype": "float32", "--op": "max", "--seed": "3",
    "--view": "source", "--order": "random:4", "--engine": "compiled", "--predicate": "4",
    "--threads": "2", "--device": "h200",
    "--sms": "1", "--max-host-seconds": "100", "--set": "l1_latency=60", "--column": "inst_executed",
    "--block-index": "0", "--warp": "0", "--by": "listing", "--cycles": "0:9000", "--sm": "0",
    "--kernel": "interleaved", "--registers": "40", "--shared": "1024", "--grid": "1,1", "--arch": "sm_61",
    "--trace": "0,0", "--check": "racecheck", "--max-instructions": "1000000", "--schedule": "random:2",
    "--fill": "0xCD", "--metric": "inst_per_warp", "--executor": "processes:1",
    "--devices": "h200,t4",
}  # fmt: skip
"""A value of each option that takes one."""

OF_THE_CUBIN = {"--block": "32,1", "--device": "quadro_p2000"}
"""Values that the launch of ``simt profile`` needs instead."""

TOGETHER = {
    "--values": ["--trace", "0,0"],
    "--sms": ["--timing"],
    "--set": ["--timing"],
    "--max-host-seconds": ["--timing"],
}
"""What an option's help asks for beside it, where the command has that."""

OTHERS = {"gpu", "check", "exec", "explain", "nvprof", "ncu", "nvcc", "env"}
"""Commands that need a GPU or a program, or two kernels, or options first: tests/gpu, tests/driver, test_profilers.py,
test_explain.py and test_check.py have them."""

ELSEWHERE = {
    ("profile", "--kernel"), ("profile", "--listing"), ("profile", "--arg"), ("profile", "--arch"),
    ("profile", "--parameters"), ("profile", "--symbol"), ("profile", "--nvrtc"),
    *((command, option) for command in ("trace", "run", "sweep", "timeline", "diff", "report")
      for option in ("--grid", "--arg", "--shared", "--nvrtc")),
    ("sweep", "--grids"), ("sweep", "--constants"),
}  # fmt: skip
"""In ``BASE``, or about another kind of file: tests/cli/test_machine.py, test_symbols.py, test_cuda.py and
test_sweep.py have them."""


def options() -> list[tuple[str, str]]:
    """Each option of each command, ``--no-`` forms included."""
    found = []
    for command, arguments in COMMANDS.items():
        if command in OTHERS:
            continue
        for parameter in arguments.params:
            if parameter.param_type_name == "option":
                for name in [*parameter.opts, *parameter.secondary_opts]:
                    if name != "--help" and (command, name) not in ELSEWHERE:
                        found.append((command, name))
    return found


@pytest.mark.parametrize(("command", "option"), options())
def test_every_option_works(run, command: str, option: str, tmp_path: Path) -> None:
    values = VALUES | (OF_THE_CUBIN if command == "profile" else {})
    files = {"--out": f"0={tmp_path / 'a.npy'}", "--svg": str(tmp_path / "a.svg")}
    files |= dict.fromkeys(("--output", "-o"), str(tmp_path / "output"))
    parameter = next(p for p in COMMANDS[command].params if option in [*p.opts, *p.secondary_opts])
    given = [option] if parameter.is_flag else [option, {**values, **files}[option]]
    beside = TOGETHER.get(option, [])
    if not any(beside[:1] == [name] for p in COMMANDS[command].params for name in p.opts):
        beside = []
    found = run(command, *BASE[command], *beside, *given)
    assert found.code == 0, found.err
    if option == "--json":
        json.loads(found.out)
    if option in files:
        assert Path(files[option].removeprefix("0=")).stat().st_size > 0


@pytest.mark.parametrize(
    ("arguments", "option"),
    [
        ([*PASCAL, "--grid", "1"], "--grid"),
        ([*PASCAL, "--arg", "1"], "--arg"),
        ([*PASCAL, "--out", "0=a.npy"], "--out"),
        ([*PASCAL, "--trace", "0,0"], "--trace"),
        ([*PASCAL, *LAUNCH, "--values"], "--values"),
    ],
)
def test_options_of_a_profile_that_nothing_would_heed(run, arguments: list[str], option: str) -> None:
    found = run("profile", *arguments)
    assert found.code == 2
    assert option in found.err


def test_a_profile_of_machine_code_has_no_option_for_races(run) -> None:
    assert run("profile", *PASCAL, "--check", "racecheck").code == 2
