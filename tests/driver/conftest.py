"""Programs for the tests: tests/driver/program.c, compiled with the user's C compiler."""

from __future__ import annotations

import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from tests.machine_view import needs_nvdisasm

SOURCE = Path(__file__).parent / "program.c"


@pytest.fixture(scope="session")
def program(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The executable; skipped where programs cannot run."""
    if sys.platform != "linux" or shutil.which("cc") is None:
        pytest.skip("programs run on Linux, and these need a C compiler")
    from simt.driver import libraries

    made, folder = tmp_path_factory.mktemp("program") / "program", libraries()
    options = [f"-L{folder}", "-l:libcudart.so.13", f"-Wl,-rpath-link,{folder}", "-lpthread"]
    subprocess.run(["cc", "-Wall", "-Werror", str(SOURCE), "-o", str(made), *options], check=True)
    return made


__all__ = ["needs_nvdisasm", "program"]
