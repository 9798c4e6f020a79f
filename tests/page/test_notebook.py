"""Profiles, traces, timelines and explanations in a notebook that is executed."""

from __future__ import annotations

import pytest

nbclient = pytest.importorskip("nbclient", reason="nbclient is not installed (extra test)")
nbformat = pytest.importorskip("nbformat", reason="nbformat is not installed (extra test)")
pytest.importorskip("ipykernel", reason="ipykernel is not installed (extra test)")

SETUP = """
import numpy as np, simt
from simt import kernels
plan = kernels.get("if_else").plan()
profile = simt.launch(plan.kernel, plan.grid, plan.block, *plan.args, trace=True, timing=True, window=(0, 5000))
"""

CELLS = {
    "profile": "inst_per_warp",
    "profile.trace": "########</span>",
    "profile.timeline()": "scheduler",
    "simt.explain(profile)": "warp instructions / warp",
}


def test_a_notebook_shows_everything() -> None:
    cells = [nbformat.v4.new_code_cell(text) for text in (SETUP, *CELLS)]
    failing = nbformat.v4.new_code_cell(
        "simt.launch(plan.kernel, 0, 32, *plan.args)", metadata={"tags": ["raises-exception"]}
    )
    notebook = nbformat.v4.new_notebook(cells=[*cells, failing])
    done = nbclient.NotebookClient(notebook, timeout=240, kernel_name="python3").execute()
    for cell, expected in zip(done.cells[1:], CELLS.values(), strict=False):
        (output,) = [each for each in cell.outputs if each["output_type"] == "execute_result"]
        html = output["data"]["text/html"]
        assert expected in html, cell.source
        assert "<script" not in html
    (error,) = done.cells[-1].outputs
    shown = "\n".join(error["traceback"])
    assert shown.startswith("LaunchError: the launch is wrong: grid dimension x is 0")
    assert ".py" not in shown  # a message, and no pages of our own code
