"""Whether a launch left what its reference says."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from simt.testing.case import Case
from simt.testing.errors import ReferenceFailedError
from simt.testing.snippet import number, snippet

Array = npt.NDArray[Any]
Agrees = Callable[[Array, Array], bool]

TOLERANCES = {"float16": (1e-3, 1e-5), "float32": (1.3e-6, 1e-5), "float64": (1e-7, 1e-7)}
"""Relative and absolute, by dtype: those of ``torch.testing.assert_close``.  Complex numbers have those of their parts;
everything else must be equal."""


@dataclass(frozen=True)
class Judge:
    """How results are compared: *rtol* and *atol*, where given, instead of TOLERANCES, or a function of one's own."""

    rtol: float | None = None
    atol: float | None = None
    agrees: Agrees | None = None

    def differing(self, actual: Array, expected: Array) -> npt.NDArray[np.bool_]:
        """Which elements do not agree.  NaN agrees with NaN."""
        if self.agrees is not None:
            return np.full(actual.shape, not self.agrees(actual, expected))
        if actual.dtype.kind not in "fc":
            return np.asarray(actual != expected)
        part = f"float{8 * actual.dtype.itemsize // (2 if actual.dtype.kind == 'c' else 1)}"
        usual = TOLERANCES[part]
        rtol = usual[0] if self.rtol is None else self.rtol
        atol = usual[1] if self.atol is None else self.atol
        with np.errstate(all="ignore"):
            return ~np.isclose(actual, expected, rtol=rtol, atol=atol, equal_nan=True)

    def differs(self, actual: object, expected: object) -> bool:
        """Whether two arrays do not agree."""
        if not isinstance(actual, np.ndarray) or not isinstance(expected, np.ndarray):
            return False
        return bool(self.differing(actual, expected).any())

    def complaint(self, names: Sequence[str], actual: Sequence[object], expected: Sequence[object]) -> str:
        """What the first wrong element is and should be; empty if all agree."""
        for name, is_now, should in zip(names, actual, expected, strict=True):
            if not isinstance(is_now, np.ndarray) or not isinstance(should, np.ndarray):
                continue
            wrong = self.differing(is_now, should)
            if not wrong.any():
                continue
            if self.agrees is not None:
                return f"{name} does not agree with the reference"
            index = tuple(int(k) for k in np.unravel_index(int(np.argmax(wrong)), wrong.shape))
            place = f"{name}[{', '.join(map(str, index))}]"
            more = int(wrong.sum()) - 1
            others = f", and {more} more of {wrong.size} elements differ" if more else ""
            return f"{place} is {number(is_now[index])} and should be {number(should[index])}{others}"
        return ""


def expected_of(reference: Callable[..., object], kernel: object, case: Case) -> list[object]:
    """What the reference makes of the arguments: all of them, arrays as they must be after the launch.

    Raises ReferenceFailedError if it raises, or returns arrays that the outputs are not.
    """
    given = case.copy_of_arguments()
    try:
        with np.errstate(all="ignore"):  # wrap-around and NaN are meant
            returned = reference(*given)
    except Exception as error:
        raise _failed(f"it raised {type(error).__name__}: {error}", kernel, case) from error
    if returned is None:
        return given
    results = returned if isinstance(returned, tuple) else (returned,)
    if len(results) != len(case.outputs):
        raise _failed(
            f"it returned {len(results)} results, and {len(case.outputs)} arguments are outputs()", kernel, case
        )
    expected = case.copy_of_arguments()
    for position, result in zip(case.outputs, results, strict=True):
        output: Any = case.arguments[position]
        found = np.asarray(result)
        if found.shape != output.shape:
            raise _failed(f"it returned an array of shape {found.shape} for one of {output.shape}", kernel, case)
        with np.errstate(all="ignore"):
            expected[position] = found.astype(output.dtype)
    return expected


def _failed(what: str, kernel: object, case: Case) -> ReferenceFailedError:
    code = snippet(kernel, case, {})
    return ReferenceFailedError(
        f"{what}; the kernel was not judged",
        details=[f"the smallest launch: {case}", "", *(f"  {line}" for line in code.splitlines())],
        help="a reference takes the kernel's arguments; it changes its arrays in place and returns None, or returns "
        "what the outputs should hold",
    )
