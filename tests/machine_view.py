"""What tests of the machine view need besides simt: visible reasons to skip where it is not installed."""

from __future__ import annotations

import shutil
from importlib.util import find_spec
from pathlib import Path

import pytest

from simt.check import UnsupportedError
from simt.toolkit.find import find_program

DATA = Path(__file__).parent / "data" / "sass"
PASCAL = [str(DATA / "sm_61" / "kernels.cubin"), "--listing", str(DATA / "sm_61" / "kernels.sass")]
"""Cubin and listing on the command line; needs no disassembler."""


def _has_nvdisasm() -> bool:
    try:
        return Path(shutil.which(find_program("nvdisasm")) or "").is_file()
    except UnsupportedError:
        return False


needs_nvdisasm = pytest.mark.skipif(
    not _has_nvdisasm(), reason="machine view: needs nvdisasm (pip install 'simt[sass]')"
)
needs_numba_cuda = pytest.mark.skipif(
    not (_has_nvdisasm() and find_spec("numba_cuda")),
    reason="machine view of Python kernels: needs numba-cuda (pip install 'simt[sass]')",
)
