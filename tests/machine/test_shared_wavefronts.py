"""Shared-memory wavefronts of whole-warp loads, against an H200 (tests/data/hardware/shared_wavefronts.json)."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest

from simt.machine import Launch
from simt.ops.encoding import MEMORY_TYPES
from simt.program import ArrayRef, Instruction, ListingLine, Program, Space, Uniform, pred
from simt.runtime import run

EVIDENCE = json.loads((Path(__file__).parent.parent / "data/hardware/shared_wavefronts.json").read_text())
TYPES = {4: "u32", 8: "b64", 16: "v4"}


def load_of(size: int) -> Program:
    """Lane *l* loads element ``index[l]`` of shared memory, unless that is negative."""
    rows = {"index": 2, "lane_bytes": 3, "size": 4, "zero": 0}
    code = [
        Instruction("sreg", dst=5),
        Instruction("mad.s64", dst=6, a=5, b=rows["lane_bytes"], c=rows["index"]),
        Instruction("ld.global", dst=7, a=6, mod=MEMORY_TYPES["s32"][0]),
        Instruction("le.s64", dst=1, a=rows["zero"], b=7),
        Instruction("mul.s64", dst=8, a=7, b=rows["size"]),
        Instruction("ld.shared", dst=9, a=8, guard=pred(1), mod=MEMORY_TYPES[TYPES[size]][0]),
        Instruction("exit"),
    ]
    uniforms = [Uniform(2, "base", 0), Uniform(3, "const", 4), Uniform(4, "const", size)]
    arrays = [ArrayRef("index", "int32", 1, Space.GLOBAL, 0, argument=0)]
    return Program(
        "load", "source", code, [ListingLine("load", 1)], 13, 2, 0, uniforms, arrays, ["index"], shared_bytes=64 * size
    )


@pytest.mark.parametrize("size", [4, 8, 16])
@pytest.mark.parametrize("number", range(len(EVIDENCE["patterns"])))
def test_wavefronts_are_those_of_the_hardware(size: int, number: int) -> None:
    pattern = EVIDENCE["patterns"][number]
    index = np.array(pattern["index"], np.int32)
    result = run(load_of(size), Launch((1, 1, 1), (32, 1, 1), [index]))
    assert result.counters[5, 11] == pattern["wavefronts"][str(size)]
