"""Run the generated expressions on a real GPU and store what came out.

``python -m tests.gpu.record_rules FOLDER`` writes ``numba_rules.json`` (device, versions, expressions) and
``numba_rules.npz`` (results by case) there; needs a GPU and numba-cuda.
"""

from __future__ import annotations

import json
import sys
import tempfile
from concurrent.futures import ProcessPoolExecutor
from multiprocessing import get_context
from pathlib import Path
from typing import Any

import numpy as np

from tests.gpu.expressions import Case, cases, write_module

WORKERS = 12
"""Processes that compile kernels at a time, each with a context on the one GPU."""


def evaluate(index: int) -> dict[str, Any]:
    """Compile and run every WORKERS-th case from *index* on, one process's share."""
    from numba import cuda

    chosen = list(cases())[index::WORKERS]
    results: dict[str, Any] = {}
    with tempfile.TemporaryDirectory() as folder:
        module = write_module(Path(folder) / f"generated_{index}.py", chosen)
        for case in chosen:
            results[case.name] = _evaluate(cuda.jit(getattr(module, case.name)), case)
    return results


def _evaluate(kernel: Any, case: Case) -> dict[str, Any]:
    columns = case.columns()
    n = len(columns[0])
    ints, floats = case.outputs(n)
    try:
        kernel[-(-n // 128), 128](*columns, ints, floats)
    except Exception as error:
        # Which expressions Numba refuses is a finding: it is stored, not lost with the whole run.
        return {"error": f"{type(error).__name__}: {error}"}
    (overload,) = kernel.overloads.values()
    typemap = overload.type_annotation.typemap
    kinds = {f"r{k}": str(typemap.get(f"r{k}")) for k in range(len(case.expressions))}
    return {"ints": ints, "floats": floats, "types": kinds}


def main(folder: Path) -> None:
    """Evaluate everything and write both files."""
    from numba import cuda

    with ProcessPoolExecutor(WORKERS, mp_context=get_context("spawn")) as pool:
        shares = list(pool.map(evaluate, range(WORKERS)))
    results = {name: result for share in shares for name, result in share.items()}
    arrays, described = {}, []
    for case in cases():
        result = results[case.name]
        described.append(
            {
                "name": case.name,
                "params": case.params,
                "inputs": case.inputs,
                "expressions": [[e.text, e.type, e.before] for e in case.expressions],
                "types": result.get("types"),
                "error": result.get("error"),
            }
        )
        if "error" not in result:
            arrays[f"{case.name}/ints"], arrays[f"{case.name}/floats"] = result["ints"], result["floats"]
        for k, column in enumerate(case.columns()):
            arrays[f"{case.name}/in{k}"] = column
    folder.mkdir(parents=True, exist_ok=True)
    np.savez_compressed(folder / "numba_rules.npz", **arrays)
    text = json.dumps({"device": str(cuda.get_current_device().name), "cases": described}, indent=1)
    (folder / "numba_rules.json").write_text(text, encoding="utf-8")


if __name__ == "__main__":
    main(Path(sys.argv[1]))
