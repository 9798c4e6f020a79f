"""What every Python of a program does first under ``--view source``: this folder is on its PYTHONPATH.

When the process imports ``numba.cuda``, kernels run in the source view from then on.  The folder then leaves the path,
and a ``sitecustomize`` of the user's, which this one hides, runs as if it were not there.
"""

from __future__ import annotations

import importlib.util
import os
import sys
from importlib.machinery import ModuleSpec, PathFinder
from typing import Any

_WATCHED = "numba.cuda"


class _Watch:
    """A finder of modules that finds only one, and has it followed by the launches of the source view."""

    def find_spec(self, name: str, path: object = None, target: object = None) -> ModuleSpec | None:
        if name != _WATCHED:
            return None
        sys.meta_path.remove(self)
        spec = importlib.util.find_spec(name)
        if spec is not None and spec.loader is not None:
            _follow(spec.loader)
        return spec


def _follow(loader: Any) -> None:
    execute = loader.exec_module

    def execute_and_begin(module: object) -> None:
        execute(module)
        try:
            from simt.driver.python_program import begin
        except ImportError:  # a Python without simt: its kernels run as machine code
            return
        begin()

    loader.exec_module = execute_and_begin


def _leave_path() -> None:
    here = os.path.dirname(os.path.abspath(__file__))
    sys.path[:] = [each for each in sys.path if os.path.abspath(each) != here]
    spec = PathFinder.find_spec(__name__)
    if spec is not None and spec.loader is not None:
        module = sys.modules[__name__] = importlib.util.module_from_spec(spec)
        spec.loader.exec_module(module)


sys.meta_path.insert(0, _Watch())
_leave_path()
