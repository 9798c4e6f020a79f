"""Builds the wheel: with the libraries for programs, compiled, where that can be done; else without them.

Without them simt compiles them when a program first runs.
"""

from __future__ import annotations

import importlib.util
import os
import shutil
import sys
import sysconfig
import tempfile
from pathlib import Path
from types import ModuleType
from typing import Any

from hatchling.builders.hooks.plugin.interface import BuildHookInterface


class LibrariesHook(BuildHookInterface):
    """Compiles the libraries of simt/driver/native into the wheel."""

    def initialize(self, version: str, build_data: dict[str, Any]) -> None:
        """Before the wheel is packed.  An editable install has none: its sources change."""
        compiler = shutil.which(os.environ.get("CC", "cc").split()[0])
        if version == "editable" or sys.platform != "linux" or compiler is None:
            return
        driver = Path(self.root, "simt", "driver")
        protocol, making = (_load(driver / f"{name}.py") for name in ("protocol", "sources"))
        files = making.sources(driver / "native", protocol.header())
        self._made = tempfile.TemporaryDirectory()
        folder = Path(self._made.name)
        try:
            making.compile_libraries(compiler, files, folder)
        except making.NotCompiledError as error:
            self.app.display_warning(f"without libraries for programs: {compiler} cannot compile {error.args[0]}")
            return
        (folder / making.STAMP).write_text(making.stamp(files), encoding="utf-8")
        build_data["force_include"][str(folder)] = "simt/driver/libraries"
        build_data["pure_python"] = False
        build_data["tag"] = f"py3-none-{sysconfig.get_platform().replace('-', '_').replace('.', '_')}"

    def finalize(self, version: str, build_data: dict[str, Any], artifact_path: str) -> None:
        """The wheel is packed."""
        if hasattr(self, "_made"):
            self._made.cleanup()


def _load(file: Path) -> ModuleType:
    """A module of the package by itself: what the package imports is not installed where wheels are built."""
    spec = importlib.util.spec_from_file_location(f"_simt_{file.stem}", file)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    sys.modules[module.__name__] = module  # dataclasses look themselves up
    spec.loader.exec_module(module)
    return module
