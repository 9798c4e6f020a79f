"""What tests of NVIDIA's tools need: visible reasons to skip where it is not installed."""

from __future__ import annotations

import pytest

from simt.check import UnsupportedError
from simt.toolkit.find import find_program, nvrtc_library


def _has_nvrtc() -> bool:
    try:
        return nvrtc_library().is_file()
    except UnsupportedError:
        return False


needs_nvrtc = pytest.mark.skipif(not _has_nvrtc(), reason="CUDA C: needs NVRTC (pip install 'simt[sass]')")


def _has(program: str) -> bool:
    try:
        return bool(find_program(program))
    except UnsupportedError:
        return False


needs_ptxas = pytest.mark.skipif(
    not (_has("ptxas") and _has("nvlink")), reason="PTX: needs ptxas and nvlink (pip install 'simt[sass]')"
)
needs_cuobjdump = pytest.mark.skipif(
    not _has("cuobjdump"), reason="executables: needs cuobjdump (pip install 'simt[sass]')"
)
