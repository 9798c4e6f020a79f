"""Run as a program, this makes native code of the pickled Program in its input: what choice.py leaves to it."""

from __future__ import annotations

import pickle
import sys

from simt.machine.compiled.code import native_code

if __name__ == "__main__":
    native_code(pickle.load(sys.stdin.buffer))
