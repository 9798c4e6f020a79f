"""The engine's ``jit`` for the timing model: its compiled code goes by its own sources, too."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from simt.ops.jit import cache_folder
from simt.ops.jit import jit as engine_jit

FOLDER = cache_folder("simt.timing")


def jit(function: Callable[..., Any]) -> Any:
    """Compile *function* as the engine's are (see :mod:`simt.ops.jit`).

    Its loops have few rounds: as vectors they were slower, and their code longer.
    """
    return engine_jit(function, scalar=True, folder=FOLDER)


def jit_apart(function: Callable[..., Any]) -> Any:
    """The same, not inlined into its callers."""
    return engine_jit(function, apart=True, scalar=True, folder=FOLDER)


def jit_rare(function: Callable[..., Any]) -> Any:
    """The same, for what runs seldom: code that often runs stands together, apart from what leads here."""
    return engine_jit(function, rare=True, scalar=True, folder=FOLDER)


def jit_inline(function: Callable[..., Any]) -> Any:
    """The same, inlined into its callers."""
    return engine_jit(function, inline=True, scalar=True, folder=FOLDER)
