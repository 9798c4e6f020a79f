"""What shells complete: the scripts that ``--show-completion`` prints, and what they are told."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

WORDS = [
    ("simt rep", "report"),
    ("simt explain --met", "--metric"),
    ("simt explain neighbored interl", "interleaved"),
    ("simt explain neighbored --metric gld_e", "gld_efficiency"),
    ("simt run inter", "interleaved"),
    ("simt run if_else --device h2", "h200"),
    ("simt reduce --kernel unroll", "unroll_warps4"),
    ("simt report if_el", "if_else"),
]
SHELLS = {
    "zsh": {"_SIMT_COMPLETE": "complete_zsh"},
    "fish": {"_SIMT_COMPLETE": "complete_fish", "_TYPER_COMPLETE_FISH_ACTION": "get-args"},
}
TRY = """
source "$SCRIPT"
COMP_WORDS=($TYPED)
COMP_CWORD=$((${#COMP_WORDS[@]} - 1))
_simt_completion simt
printf '%s\\n' "${COMPREPLY[@]}"
"""


def simt(environment: dict[str, str], *arguments: str) -> str:
    root = str(Path(__file__).parents[2])
    done = subprocess.run(
        [sys.executable, "-m", "simt", *arguments],
        capture_output=True, text=True, check=False, timeout=120,
        env={**os.environ, "PYTHONPATH": root, "_TYPER_COMPLETE_TEST_DISABLE_SHELL_DETECTION": "1", **environment},
    )  # fmt: skip
    return done.stdout


@pytest.fixture(scope="module")
def commands(tmp_path_factory: pytest.TempPathFactory) -> dict[str, str]:
    """An environment in which bash finds a command ``simt``, and the script that it is told to source."""
    folder = tmp_path_factory.mktemp("bin")
    command = folder / "simt"
    command.write_text(f'#!/bin/sh\nexec "{sys.executable}" -m simt "$@"\n')
    command.chmod(0o755)
    script = folder / "simt.sh"
    script.write_text(simt({}, "--show-completion", "bash"))
    path = os.pathsep.join([str(folder), os.environ["PATH"]])
    return {**os.environ, "PATH": path, "PYTHONPATH": str(Path(__file__).parents[2]), "SCRIPT": str(script)}


@pytest.mark.skipif(shutil.which("bash") is None, reason="needs bash")
@pytest.mark.parametrize(("typed", "wanted"), WORDS)
def test_bash_completes(commands: dict[str, str], typed: str, wanted: str) -> None:
    done = subprocess.run(
        ["bash", "--norc", "-c", TRY], capture_output=True, text=True, check=False, timeout=120,
        env={**commands, "TYPED": typed},
    )  # fmt: skip
    assert wanted in done.stdout.split(), done


@pytest.mark.parametrize("shell", SHELLS)
@pytest.mark.parametrize(("typed", "wanted"), WORDS[1::2])
def test_zsh_and_fish_are_told(shell: str, typed: str, wanted: str) -> None:
    told = simt({**SHELLS[shell], "_TYPER_COMPLETE_ARGS": typed})
    words = told.replace('"', " ").replace("(", " ").split()
    assert wanted in words


@pytest.mark.parametrize("shell", ["bash", "zsh", "fish"])
def test_the_script_of_a_shell_is_installed(shell: str, tmp_path: Path) -> None:
    told = simt({"HOME": str(tmp_path)}, "--install-completion", shell)
    assert f"{shell} completion installed in" in told
    written = {path.name: path.read_text() for path in tmp_path.rglob("*") if path.is_file()}
    assert any(f"complete_{shell}" in text for text in written.values())
    if shell == "bash":
        assert "simt.sh" in written[".bashrc"]


FIRST_TAB = """
fpath=("$HOME/.zfunc")
autoload -Uz _simt
compdef() { print "only defined" }
_arguments() { print -r -- "$@" }
words=(simt rep)
CURRENT=2
_simt
"""


@pytest.mark.skipif(shutil.which("zsh") is None, reason="needs zsh")
def test_zsh_completes_at_the_first_tab(commands: dict[str, str], tmp_path: Path) -> None:
    """The file that zsh loads then is the body of the function that it calls."""
    simt({"HOME": str(tmp_path)}, "--install-completion", "zsh")
    done = subprocess.run(
        ["zsh", "-f", "-c", FIRST_TAB], capture_output=True, text=True, check=False, timeout=120,
        env={**commands, "HOME": str(tmp_path), "_TYPER_COMPLETE_TEST_DISABLE_SHELL_DETECTION": "1"},
    )  # fmt: skip
    assert "report" in done.stdout, done
    assert "only defined" not in done.stdout


def test_the_script_for_zsh_calls_what_it_defines() -> None:
    script = simt({}, "--show-completion", "zsh")
    assert '_simt_completion "$@"' in script
    assert "compdef _simt_completion simt" in script


@pytest.mark.parametrize("lacks", ["_completion_shared", "_completion_shared._completion_scripts"])
def test_a_typer_without_the_scripts_does_no_harm(run: Any, monkeypatch: pytest.MonkeyPatch, lacks: str) -> None:
    """They are private, and later versions of typer are not excluded."""
    monkeypatch.delattr(f"typer.{lacks}")
    found = run("--version")
    assert (found.code, found.err) == (0, "")
    assert found.out.startswith("simt ")


def test_it_is_offered(run: Any) -> None:
    assert "--install-completion" in run("--help").out
