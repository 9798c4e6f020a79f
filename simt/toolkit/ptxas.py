"""Runs NVIDIA's assembler: PTX to a cubin."""

from __future__ import annotations

import re
import subprocess
import tempfile
from pathlib import Path

from simt.check import LaunchError, UnsupportedError
from simt.toolkit.find import find_program


class PtxError(UnsupportedError):
    """ptxas refuses PTX."""


def assemble(ptx: bytes, architecture: str, *options: str) -> bytes:
    """The cubin that ptxas makes, with line information; *options*: more of ptxas.

    Raises LaunchError for too much static shared memory, UnsupportedError if ptxas is missing, PtxError if it refuses.
    """
    with tempfile.TemporaryDirectory() as folder:
        source, result = Path(folder) / "kernel.ptx", Path(folder) / "kernel.cubin"
        source.write_bytes(ptx)
        command = [find_program("ptxas"), f"-arch={architecture}", "--generate-line-info", *options]
        done = subprocess.run([*command, str(source), "-o", str(result)], capture_output=True, text=True, check=False)
        too_much = re.search(r"uses too much shared data \((0x\w+) bytes, (0x\w+) max\)", done.stderr)
        if too_much:
            size, limit = (int(number, 16) for number in too_much.groups())
            raise LaunchError(
                f"{size} bytes of static shared memory; the limit is {limit}",
                help="use dynamic shared memory: shape 0, and shared_bytes at the launch",
            )
        if done.returncode:
            raise PtxError(
                f"ptxas does not compile this kernel for {architecture}", details=done.stderr.splitlines()[-5:]
            )
        return result.read_bytes()
