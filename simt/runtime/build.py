"""Run as a program, this compiles the engine for the cache: what :mod:`simt.ops.early` leaves to another process."""

from __future__ import annotations

from simt.machine import Launch
from simt.machine.early import ENGINE
from simt.program import Instruction, ListingLine, Program
from simt.runtime.context import run

NOTHING = Program("nothing", "source", [Instruction("exit")], [ListingLine("return", 1)], 1, 1, 0, registers=16)
"""A kernel that does nothing."""
LAUNCH = Launch((1, 1, 1), (32, 1, 1), ())

if __name__ == "__main__":
    ENGINE.elsewhere = False
    run(NOTHING, LAUNCH)
