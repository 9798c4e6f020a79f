"""Errors of simt end in their message: what a user sees of the way to it is the user's own code."""

from __future__ import annotations

import functools
import os
from collections.abc import Callable
from typing import ParamSpec, TypeVar

from simt.check.errors import SimtError

VARIABLE = "SIMT_TRACEBACK"
"""Set to ``full`` in the environment, it keeps the frames of simt, for those who work on it."""

P = ParamSpec("P")
Result = TypeVar("Result")


def ends_here(function: Callable[P, Result]) -> Callable[P, Result]:
    """A function for users: the traceback of an error of simt that it raises ends with the call of it."""

    @functools.wraps(function)
    def call(*args: P.args, **kwargs: P.kwargs) -> Result:
        try:
            return function(*args, **kwargs)
        except SimtError as error:
            if os.environ.get(VARIABLE) == "full":
                raise
            raise error.with_traceback(None)  # noqa: B904  # it is the same error

    return call
