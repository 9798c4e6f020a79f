"""What a test of a kernel can end with.  All are AssertionErrors, too, so that pytest calls them failures."""

from __future__ import annotations

from collections.abc import Sequence

from simt.check import KernelError, Location, SimtError
from simt.testing.case import Case


class KernelTestError(KernelError, AssertionError):
    """A kernel does other than its reference, or went wrong.

    ``case`` is the smallest launch that shows it, ``snippet`` Python code that runs it.
    """

    def __init__(
        self, title: str, case: Case, snippet: str, *, location: Location | None, details: Sequence[str], help: str
    ) -> None:
        text = ["", "the smallest launch that shows it:", "", *(f"  {line}" for line in snippet.splitlines())]
        super().__init__(title, location=location, details=[*details, *text], help=help)
        self.case = case
        self.snippet = snippet


class ReferenceFailedError(SimtError, AssertionError):
    """The reference function raised, or did not return what it should: the kernel was not judged."""

    kind = "the reference is wrong"


class OverBudgetError(SimtError, AssertionError):
    """A launch counted more than its budget allows, or has none."""

    kind = "over budget"
