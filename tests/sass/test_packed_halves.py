"""float16 and bfloat16 of CUDA C (packed_halves.cu) against an H200, bit for bit."""

from __future__ import annotations

import numpy as np
import pytest

from tests.sass.data import DATA, cubin, launch

STORED = np.load(DATA / "h200" / "packed_halves.npz")
THREADS = 2048
KERNELS = ("half2_ops", "bf162_ops", "half_ops", "bf16_ops", "convert_ops")


@pytest.mark.parametrize("name", KERNELS)
def test_results(name: str) -> None:
    inputs = {int(key.partition(".in")[2]): STORED[key] for key in STORED.files if key.startswith(f"{name}.in")}
    outputs = {int(key.partition(".out")[2]): STORED[key] for key in STORED.files if key.startswith(f"{name}.out")}
    arrays = [inputs[k].copy() if k in inputs else np.zeros_like(outputs[k]) for k in sorted(inputs | outputs)]
    launch(cubin("sm_90/packed_halves")[name], (THREADS // 128, 1, 1), (128, 1, 1), [*arrays, np.int32(THREADS)], 0)
    for k, expected in outputs.items():
        integers = f"u{expected.itemsize}"
        np.testing.assert_array_equal(arrays[k].view(integers), expected.view(integers), f"argument {k}")
