"""Ctrl-C in a long launch: it ends promptly and the arrays stay as they were."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]

SCRIPT = """
import signal
import numpy as np
from simt.program import RZ
from tests.machine.harness import Builder, launch

short = Builder()
short.array(0)
launch(short, np.zeros(1))  # the engine is loaded now
b = Builder()
thread = b.thread()
b.store(b.array(0), thread, b.const(1))
b.label("head")
b.bra("head", retires={retires})
found = np.zeros(32 * 64, np.uint64)
signal.signal(signal.SIGINT, signal.default_int_handler)  # a shell's background jobs ignore it
print("running", flush=True)
try:
    launch(b, found, grid=64, order={order!r}, max_instructions=2**50)
except KeyboardInterrupt:
    print("interrupted", found.any(), flush=True)
"""


@pytest.mark.skipif(os.name == "nt", reason="Windows sends no SIGINT to one process")
@pytest.mark.parametrize(("order", "retires"), [("then_first", True), ("interleaved", False)])
def test_interrupt(order: str, retires: bool) -> None:
    process = subprocess.Popen(
        [sys.executable, "-c", SCRIPT.format(order=order, retires=retires)],
        cwd=ROOT,
        stdout=subprocess.PIPE,
        text=True,
    )
    try:
        assert process.stdout is not None
        assert process.stdout.readline() == "running\n"
        time.sleep(0.3)
        start = time.perf_counter()
        process.send_signal(signal.SIGINT)
        output, _ = process.communicate(timeout=20)
        assert output == "interrupted False\n"
        assert time.perf_counter() - start < 2
        assert process.returncode == 0
    finally:
        process.kill()
        process.wait()
