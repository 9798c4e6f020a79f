"""The machine view where one of its packages is not installed: exit code 2, and what to install."""

from __future__ import annotations

import os
import subprocess
import sysconfig
import venv
from importlib import metadata
from pathlib import Path

import pytest

from tests.machine_view import needs_numba_cuda

ROOT = Path(__file__).parents[2]
SITE = Path(sysconfig.get_path("purelib"))

pytestmark = pytest.mark.skipif(os.name == "nt", reason="links need a privilege on Windows")


def _installed(package: str) -> bool:
    try:
        metadata.version(package)
    except metadata.PackageNotFoundError:
        return False
    return True


needs_ptxas_wheel = pytest.mark.skipif(
    not _installed("nvidia-cuda-nvcc"), reason="ptxas of a CUDA toolkit is hidden: needs the package nvidia-cuda-nvcc"
)

COMMAND = "import sys; sys.argv = ['simt', 'run', 'if_else', '--view', 'sm_90']; from simt.__main__ import main; main()"
FUNCTION = """
import numpy as np, simt
from simt import kernels
plan = kernels.get('if_else').plan()
try:
    simt.launch(plan.kernel, plan.grid, plan.block, *plan.args, view='sm_90')
except simt.UnsupportedError as error:
    raise SystemExit(f'{error}')
"""


def link_all_but(hidden: set[Path], source: Path, target: Path) -> None:
    """Fill *target* with links to what is in *source*, except for the files in *hidden*."""
    folders = {folder for path in hidden for folder in path.parents}
    for entry in source.iterdir():
        if entry in folders:
            link_all_but(hidden, entry, target / entry.name)
        elif entry not in hidden:
            target.mkdir(parents=True, exist_ok=True)  # not earlier: nothing stays of a folder that is all hidden
            (target / entry.name).symlink_to(entry)


def run_without(package: str, code: str, folder: Path) -> subprocess.CompletedProcess[str]:
    """Run Python code in an environment with all that is installed here but for one package and any CUDA toolkit."""
    try:
        hidden = {Path(os.path.normpath(str(file.locate()))) for file in metadata.files(package) or ()}
    except metadata.PackageNotFoundError:
        hidden = set()
    venv.create(folder, symlinks=True)
    link_all_but(hidden, SITE, Path(sysconfig.get_path("purelib", vars={"base": str(folder)})))
    environment = {key: value for key, value in os.environ.items() if not key.startswith(("CUDA", "SIMT_"))}
    environment |= {"PATH": "", "PYTHONPATH": str(ROOT), "XDG_CACHE_HOME": str(folder / "cache")}
    return subprocess.run(
        [folder / "bin" / "python", "-c", code],
        capture_output=True, text=True, check=False, env=environment, cwd=folder,
    )  # fmt: skip


@pytest.mark.parametrize(
    ("package", "message"),
    [
        ("numba-cuda", "the machine view of a Python kernel needs the package numba-cuda"),
        pytest.param("nvidia-cuda-nvcc", "ptxas is not installed", marks=needs_numba_cuda),
        # Without nvidia-nvvm it is the same error, unless Numba finds the libNVVM of a CUDA toolkit: not hidden here.
        pytest.param(
            "nvidia-cuda-nvrtc", "Numba does not find libNVVM or NVRTC", marks=[needs_numba_cuda, needs_ptxas_wheel]
        ),
        pytest.param("nvidia-cuda-nvdisasm", "nvdisasm is not installed", marks=[needs_numba_cuda, needs_ptxas_wheel]),
    ],
)
@pytest.mark.parametrize("way", [COMMAND, FUNCTION], ids=["command", "function"])
def test_a_missing_package(package: str, message: str, way: str, tmp_path: Path) -> None:
    done = run_without(package, way, tmp_path)
    assert done.returncode == (2 if way == COMMAND else 1), done.stderr
    assert message in done.stderr
    assert "something is missing: " in done.stderr
    assert "pip install 'simt[sass]'" in done.stderr
    assert "Traceback" not in done.stderr
    assert not done.stdout
