"""malloc, free and printf by few and many warps: cycles of an H100 (calls.cu)."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from tests.machine_view import needs_nvdisasm

GIVES = {0: 16, 4: 16, 8: 256, 16: 1024, 18: 4096, 22: 4096, 24: 65536, 32: 64, 36: 64, 38: 64, 42: 64}
GIVES |= {40: 64, 56: 1024, 60: 4096, 66: 4096, 70: 4096, 72: 64, 74: 4096, 76: 64, 78: 4096}
"""Launches of malloc, and bytes of each block; what follows each gives the blocks back."""
LANES = {4: 32, 8: 8, 16: 32, 22: 32, 42: 32, 56: 32, 70: 32, 76: 0, 78: 0}
PAIRS = {82: (1, 64), 83: (1, 64), 84: (32, 64), 85: (1, 4096), 86: (1, 4096), 87: (32, 4096)}
"""Launches that give back what they have got, four times: lanes of each warp, and bytes."""
PRINTS = {88: 1, 89: 8, 90: 32, 91: 1, 92: 1, 93: 1, 94: 1, 95: 32, 96: 0, 97: 1, 98: 1, 99: 1, 101: 32, 102: 32}
"""Launches of printf: lanes of each warp, 0: one of the block."""


class _Program:
    """The kernels with a heap of their own."""

    def __init__(self) -> None:
        from simt.sass import load_cubin
        from tests.timing.launches import CUBINS

        self.kernels = load_cubin(CUBINS["calls"])

    def off(self, launch: int, name: str, *args: Any) -> float:
        """By how many per cent the model is off."""
        import simt
        from tests.timing.launches import measured

        entry = measured("calls", "h100")[launch]
        kernel = self.kernels[next(full for full in self.kernels if name in full)]
        profile = simt.launch(kernel, tuple(entry["grid"]), tuple(entry["block"]), *args, timing=True, device="h100")
        assert profile.timing is not None
        return float(100 * (profile.timing.cycles / entry["counters"]["cycles"] - 1))


@needs_nvdisasm
@pytest.mark.parametrize("launch", GIVES)
def test_malloc_and_free(launch: int) -> None:
    """By one thread, by some lanes, and by 8 to 1056 warps that wait for each other.

    Without a time for the calls 99 % are missing.  Frees by eight warps of an SM are 20 % off.
    """
    from tests.timing.launches import measured

    entry = measured("calls", "h100")[launch]
    program, lanes = _Program(), np.uint32(LANES.get(launch, 1))
    given = np.zeros(entry["grid"][0] * entry["block"][0], np.uint64)
    assert abs(program.off(launch, "give", given, lanes, np.uint32(GIVES[launch]))) < (
        23 if entry["block"][0] == 256 else 14
    )
    assert abs(program.off(launch + 1, "take", given, lanes)) < (23 if entry["block"][0] == 256 else 18)


@needs_nvdisasm
@pytest.mark.parametrize("launch", PAIRS)
def test_who_waits_for_blocks_takes_those_that_are_given_back(launch: int) -> None:
    """If each free took its time, 132 warps would be 2.8 times as slow as measured."""
    from tests.timing.launches import measured

    lanes, size = PAIRS[launch]
    threads = measured("calls", "h100")[launch]["grid"][0] * 32
    given = np.zeros(threads, np.uint64)
    assert abs(_Program().off(launch, "pairs", given, np.uint32(lanes), np.uint32(size), np.uint32(4))) < 36


@needs_nvdisasm
@pytest.mark.parametrize("launch", PRINTS)
def test_printf(launch: int, capsys: pytest.CaptureFixture[str]) -> None:
    """By one thread, by lanes of a warp, and by up to 1056 warps, none of which goes on before all have printed."""
    kind = {97: 0, 98: 2, 99: 3, 101: 2, 102: 3}.get(launch, 1)
    off = _Program().off(launch, f"saysILi{kind}E", np.uint32(PRINTS[launch]), 1.5)
    capsys.readouterr()
    assert abs(off) < 13
