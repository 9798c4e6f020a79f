"""A program of numba.cuda whose kernels run in the source view."""

from __future__ import annotations

import json
import os
import sys
from pathlib import Path

import pytest

from simt.driver import Settings, run_program
from tests.machine_view import needs_numba_cuda

PROGRAM = """
import json, math, sys, warnings
import numpy as np
from numba import cuda, guvectorize, vectorize
from numba.cuda.random import create_xoroshiro128p_states, xoroshiro128p_uniform_float64
from numba.cuda.extending import intrinsic
from numba.cuda import types

warnings.simplefilter("ignore")
sys.stdout = open(sys.argv[2], "w")
found = {}

@cuda.jit
def add(a, x):
    i = cuda.grid(1)
    if i < a.size:
        a[i] += x

held = cuda.pinned_array(4)  # and freed: its addresses are the next allocation's
del held
cuda.current_context().memory_manager.deallocations.clear()
add[1, 32](np.zeros(0), 3)  # nothing is copied
a = cuda.to_device(np.arange(10.0))
add[1, 32](a, 3)
found["added"] = a.copy_to_host().tolist()
found["transposed"] = cuda.to_device(np.arange(6).reshape(2, 3)).T.copy_to_host().tolist()
total = cuda.reduce(lambda x, y: x + y)
found["sums"] = [float(total(np.arange(float(n)))) for n in (100, 1000)]

@vectorize(["float32(float32, float32)", "float64(float64, float64)"], target="cuda")
def hypotenuse(x, y):
    return math.sqrt(x * x + y * y)

x = np.linspace(0, 9, 50, dtype=np.float32).reshape(5, 10)
close = np.testing.assert_allclose
close(hypotenuse(x, x[:1]), np.hypot(x, x[:1]), rtol=1e-6)

@guvectorize(["(float64[:, :], float64[:, :], float64[:, :])"], "(m,n),(n,p)->(m,p)", target="cuda")
def product(a, b, out):
    for i in range(out.shape[0]):
        for j in range(out.shape[1]):
            out[i, j] = 0
            for k in range(b.shape[0]):
                out[i, j] += a[i, k] * b[k, j]

a3, b3 = np.random.default_rng(1).random((2, 4, 3, 3))
close(product(a3, b3), a3 @ b3)

@cuda.jit
def rolls(states, out):
    i = cuda.grid(1)
    out[i] = xoroshiro128p_uniform_float64(states, i)

rolled = np.zeros(64)
rolls[2, 32](create_xoroshiro128p_states(64, seed=7), rolled)
found["rolled"] = [len(set(rolled)), bool((rolled >= 0).all() and (rolled < 1).all())]

reached = cuda.to_device(np.arange(8.0).reshape(2, 4))[:, ::2]

@cuda.jit(device=True)
def read(i, j):
    return reached[i, j]

@cuda.jit
def through_a_name(out):
    i = cuda.threadIdx.x
    out[i] = read(i, 1) + reached[i, 0]
    reached[i, 0] = -1

sums = np.zeros(2)
through_a_name[1, 2](sums)
found["reached"] = [sums.tolist(), reached.copy_to_host().tolist()]

@cuda.jit
def in_turn(a):
    i = cuda.grid(1)
    grid = cuda.cg.this_grid()
    for row in range(1, a.shape[0]):
        a[row, i] = a[row - 1, a.shape[1] - i - 1] + 1
        grid.sync()

rows = np.zeros((4, 96))
in_turn[3, 32](rows)
found["rows"] = rows[:, 5].tolist()

@cuda.jit(launch_bounds=32)
def bounded():
    print("bounded", cuda.threadIdx.x)

bounded[1, 2]()
try:
    bounded[1, 64]()
except Exception as error:
    found["error"] = [str(error)[:24], *(each.__name__ for each in type(error).__mro__)]

@intrinsic
def seven(context):
    return types.int64(), lambda context, builder, signature, args: context.get_constant(types.int64, 7)

@cuda.jit
def refused(a):
    a[0] = seven()

refused[1, 1](a)
found["machine code"] = float(a.copy_to_host()[0])
sys.stdout.close()
open(sys.argv[1], "w").write(json.dumps(found))
"""


@needs_numba_cuda
def test_a_program_of_numba(tmp_path: Path) -> None:
    script, output, printed = tmp_path / "program.py", tmp_path / "found.json", tmp_path / "printed"
    script.write_text(PROGRAM)
    finished = run_program([str(script), str(output), str(printed)], Settings(view="source"))
    found = json.loads(output.read_text())
    assert found["added"] == [3.0 + i for i in range(10)]
    assert found["transposed"] == [[0, 3], [1, 4], [2, 5]]
    assert found["sums"] == [4950, 499500]
    assert found["rows"] == [0, 1, 2, 3]
    assert found["reached"] == [[2, 10], [[-1, 2], [-1, 6]]]
    assert found["rolled"] == [64, True]
    assert printed.read_text().splitlines() == ["bounded 0", "bounded 1"]
    assert found["error"][0] == "CUDA_ERROR_INVALID_VALUE"
    assert {"LaunchError", "CUDAError"} <= set(found["error"])
    assert found["machine code"] == 7
    assert list(finished.machine_code) == ["refused"]
    assert not finished.findings


FAMILY = """
import multiprocessing, os, subprocess, sys
import numpy as np

def fill(first):
    from numba import cuda

    @cuda.jit
    def values(a, first):
        i = cuda.grid(1)
        a[i] = first + i

    a = np.zeros(4)
    values[1, 4](a, first)
    return a.tolist()

if __name__ == "__main__":
    if len(sys.argv) == 3:
        print(fill(float(sys.argv[2])), os.environ["OF_THE_USER"], file=open(sys.argv[1], "a"))
    else:
        subprocess.run([sys.executable, __file__, sys.argv[1], "10"], check=True)
        subprocess.run(["/bin/sh", "-c", f"{sys.executable} {__file__} {sys.argv[1]} 20"], check=True)
        with multiprocessing.get_context("spawn").Pool(1) as pool:
            print(pool.apply(fill, (30.0,)), file=open(sys.argv[1], "a"))
"""


@needs_numba_cuda
def test_python_children_run_in_the_source_view(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Whatever starts them; and a sitecustomize of the user's still runs."""
    script, output, site = tmp_path / "family.py", tmp_path / "output", tmp_path / "site"
    script.write_text(FAMILY)
    site.mkdir()
    (site / "sitecustomize.py").write_text('import os\nos.environ["OF_THE_USER"] = "sitecustomize"\n')
    monkeypatch.setenv("PYTHONPATH", os.pathsep.join([str(site), *sys.path]))
    finished = run_program([str(script), str(output)], Settings(view="source"))
    assert finished.returncode == 0
    assert output.read_text().splitlines() == [
        "[10.0, 11.0, 12.0, 13.0] sitecustomize",
        "[20.0, 21.0, 22.0, 23.0] sitecustomize",
        "[30.0, 31.0, 32.0, 33.0]",
    ]
    launched = [each.profile for process in finished.processes for each in process.launched]
    assert [profile.view for profile in launched] == ["source"] * 3
    assert not finished.machine_code
