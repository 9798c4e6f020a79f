"""What names mean: read anew for a plain function, frozen for a dispatcher as it compiles.

Numba reads globals, closure variables and module attributes when it compiles a dispatcher for the types of its
arguments, and never again for those types.  A plain function is compiled at each launch.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any
from weakref import WeakKeyDictionary

import numpy as np

from simt.dispatcher import is_dispatcher
from simt.program import Program

Path = tuple[str, ...]
"""The way from a function to a value: names inside functions, items of tuples, attributes."""


@dataclass(slots=True)
class Names:
    """The values that one function, and the plain functions that it calls, reach through names.

    ``depth`` is how much of a path leads to the function itself; ``values`` go by the rest of it.
    """

    depth: int = 0
    values: dict[Path, Any] = field(default_factory=dict)

    def read(self, path: Path, found: Any, copies: dict[int, tuple[Any, Any]]) -> Any:
        """The value at *path*: as it was when first read, else *found*, an array as it is now.

        *copies* keeps one copy of each array for a whole kernel.
        """
        key = path[self.depth :]
        if key not in self.values:
            if isinstance(found, np.ndarray):
                _, found = copies.setdefault(id(found), (found, found.copy()))
            self.values[key] = found
        return self.values[key]


@dataclass(slots=True)
class Compiled:
    """What a dispatcher has been compiled to: names by types of arguments, Programs by these and ``predicate``."""

    names: dict[Any, dict[Path, Any]] = field(default_factory=dict)
    programs: dict[tuple[Any, int], Program] = field(default_factory=dict)


_COMPILED: WeakKeyDictionary[Any, Compiled] = WeakKeyDictionary()


def compiled(dispatcher: Any) -> Compiled:
    """The record of a dispatcher; it lives as long as the dispatcher."""
    return _COMPILED.setdefault(dispatcher, Compiled())


def names_of(callee: Any, argtypes: Any, path: Path, caller: Names) -> Names:
    """Where a called function reads its names: those of its dispatcher, for a plain function those of its caller."""
    if not is_dispatcher(callee):
        return caller
    return Names(len(path), dict(compiled(callee).names.get(argtypes, {})))
