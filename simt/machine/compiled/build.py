"""Run as a program, this makes native code of what is pickled in its input, a Program or runs of it: see choice.py."""

from __future__ import annotations

import pickle
import sys

from simt.machine.compiled.code import native_code, stretches_code

if __name__ == "__main__":
    program, runs = pickle.load(sys.stdin.buffer)
    native_code(program) if runs is None else stretches_code(program, runs)
