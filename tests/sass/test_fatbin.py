"""Fat binaries: cubins are taken out by cuobjdump, one architecture is chosen, errors say what to do."""

from __future__ import annotations

import os
import shutil
import sys
from pathlib import Path

import numpy as np
import pytest
from typer.testing import CliRunner

import simt
from simt.check import KernelError, LaunchError, UnsupportedError
from simt.cli import application
from simt.sass import architectures, load_cubin
from simt.toolkit import find
from tests.sass.data import DATA

FAT = DATA / "fat"


@pytest.fixture
def cuobjdump(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A stand-in that "extracts" the stored cubins, as cuobjdump 13.5 named them."""
    if os.name == "nt":
        pytest.skip("the stand-in is a script")
    script = tmp_path / "cuobjdump"
    script.write_text(
        f"#!{sys.executable}\nimport shutil, sys\nfrom pathlib import Path\n"
        f"assert sys.argv[1:3] == ['-xelf', 'all'] and Path(sys.argv[3]).is_file()\n"
        f"for cubin in Path({str(FAT)!r}).glob('*.cubin'):\n    shutil.copy(cubin, '.')\n"
    )
    script.chmod(0o755)
    monkeypatch.setenv("SIMT_CUOBJDUMP", str(script))


def test_one_architecture_is_chosen(cuobjdump: None) -> None:
    assert architectures(FAT / "two.fatbin") == ["sm_80", "sm_90"]
    for architecture in (80, 90):
        kernels = load_cubin(FAT / "two.fatbin", architecture=f"sm_{architecture}")
        found = np.zeros(1, np.int32)
        profile = simt.launch(kernels["which"], 1, 1, found)
        assert (found[0], profile.view) == (architecture, f"sm_{architecture}")


@pytest.mark.parametrize(
    ("architecture", "message"),
    [
        (None, "has machine code for sm_80, sm_90"),
        ("sm_75", "has no machine code for sm_75"),
        ("90", "is not an architecture"),
    ],
)
def test_which_is_not_clear(cuobjdump: None, architecture: str | None, message: str) -> None:
    with pytest.raises(LaunchError, match=message) as caught:
        load_cubin(FAT / "two.fatbin", architecture=architecture)
    assert "sm_90" in caught.value.help


def test_architecture_of_a_cubin() -> None:
    cubin = FAT / "two.2.sm_90.cubin"
    assert load_cubin(cubin, architecture="sm_90").keys() == load_cubin(cubin).keys()
    with pytest.raises(LaunchError, match="is for sm_90, not sm_80"):
        load_cubin(cubin, architecture="sm_80")
    assert architectures(cubin) == []


def test_command_line(cuobjdump: None) -> None:
    listed = CliRunner().invoke(application(), ["profile", str(FAT / "two.fatbin"), "--json"])
    assert listed.exit_code == 0
    assert listed.stdout.count('"name": "doubled"') == 2
    launch = ["--kernel", "doubled", "--grid", "1", "--block", "32", "--arg", "arange:int32:32"]
    chosen = CliRunner().invoke(application(), ["profile", str(FAT / "two.fatbin"), "--arch", "sm_80", *launch])
    assert chosen.exit_code == 0
    assert "sm_80" in chosen.stdout


def test_without_cuobjdump(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("SIMT_CUOBJDUMP", raising=False)
    monkeypatch.setattr(find.metadata, "files", lambda wheel: None)
    monkeypatch.setattr(find.shutil, "which", lambda name: None)
    with pytest.raises(UnsupportedError, match="cuobjdump is not installed") as caught:
        load_cubin(FAT / "two.fatbin", architecture="sm_90")
    assert "simt[sass]" in caught.value.help


def _real() -> str | None:
    try:
        return find.find_program("cuobjdump")
    except UnsupportedError:
        return None


@pytest.mark.skipif(_real() is None, reason="needs cuobjdump (pip install 'simt[sass]')")
def test_with_cuobjdump_itself(tmp_path: Path) -> None:
    assert load_cubin(FAT / "two.fatbin", architecture="sm_90").keys() == {"which", "doubled"}
    program = shutil.which("true") or sys.executable
    with pytest.raises(KernelError, match="holds no machine code for NVIDIA GPUs"):
        load_cubin(Path(program).resolve())
