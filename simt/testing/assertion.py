"""A kernel against its reference, on launches that Hypothesis draws and shrinks: :func:`assert_kernel`."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from simt.api import SOURCE, launch
from simt.check import KernelError, LaunchError, SimtError, UnsupportedError
from simt.dispatcher import signatures_of
from simt.testing.case import Case
from simt.testing.errors import KernelTestError, ReferenceFailedError
from simt.testing.exploring import names
from simt.testing.judge import Agrees, Judge, expected_of
from simt.testing.snippet import kernel_name, parameter_names, snippet
from simt.testing.strategies import Shapes, arrays, length, scalars  # first: the message where Hypothesis is missing

from hypothesis import Phase, find, settings  # isort: skip
from hypothesis.errors import Flaky, NoSuchExample  # isort: skip
from hypothesis.strategies import SearchStrategy  # isort: skip

MAX_INSTRUCTIONS = 2**22
"""Warp instructions of a block of a test: so that endless kernels are found quickly."""

STEADY = settings(
    deadline=None, database=None, derandomize=True, phases=(Phase.generate, Phase.shrink)
)  # find() leaves out the health checks
"""The same launches in every run, however slow the machine is."""

LENGTHS = ("n", "size", "length")
"""Integer parameters of these names are the number of elements, where a declared signature is all that is known."""


def assert_kernel(
    kernel: object,
    reference: Callable[..., object],
    launches: SearchStrategy[Case] | Shapes,
    *,
    check: str | Sequence[str] = "all",
    schedules: int | Sequence[str] = 1,
    views: Sequence[str] = (SOURCE,),
    rtol: float | None = None,
    atol: float | None = None,
    agrees: Agrees | None = None,
    examples: int | None = None,
    max_instructions: int = MAX_INSTRUCTIONS,
) -> None:
    """Hold a kernel to a reference: every launch leaves the same arrays, and nothing is found wrong with it.

    The launches are the same ones in every run, whatever the time they take; nothing is stored.

    Parameters:
        kernel: what :func:`simt.launch` takes.
        reference: a function of the kernel's arguments.  It changes its arrays as the kernel should, and returns None;
            or it returns what the arguments made by :func:`~simt.testing.outputs` should hold, and changes none.
        launches: what :func:`simt.testing.launches` makes.
        check, max_instructions: as for :func:`simt.launch`.
        schedules: under how many schedules each launch runs, or their names.
        views: the views in which each runs.
        rtol, atol: how far floats may be off (default: by dtype, those of ``torch.testing.assert_close``).
        agrees: a function of an array and the expected one that says whether they agree, instead of tolerances.
        examples: how many launches are tried (default: ``max_examples`` of Hypothesis's profile, 100).

    Raises :class:`~simt.testing.KernelTestError` with the smallest launch found that the kernel fails,
    :class:`~simt.testing.ReferenceFailedError` where the reference raises, :class:`simt.UnsupportedError` for what a
    view cannot do.
    """
    trial = _Trial(
        kernel, reference, check, _schedules(schedules), tuple(views), Judge(rtol, atol, agrees), max_instructions
    )
    strategy = launches.cases(_declared(kernel)) if isinstance(launches, Shapes) else launches
    first: list[tuple[object, ...]] = []

    def fails(case: Case) -> bool:
        """Whether the kernel fails as it did the first time: shrinking stays with one bug."""
        failure = trial.failure(case)
        if failure is None:
            return False
        if not first:
            first.append(failure.sort)
        return failure.sort == first[0]

    count = settings().max_examples if examples is None else examples
    try:
        smallest = find(strategy, fails, settings=settings(STEADY, max_examples=count))
    except NoSuchExample:
        return
    except Flaky as error:
        raise _changes(kernel) from error
    found = trial.failure(smallest)
    if found is None or not trial.is_steady(smallest, found):
        raise _changes(kernel)
    raise trial.error(smallest, found)


@dataclass(frozen=True)
class _Failure:
    """How a launch went wrong: with an error, or with a wrong result in words."""

    view: str
    schedule: str | None
    complaint: str
    cause: SimtError | None
    expected: Sequence[object] | None

    @property
    def sort(self) -> tuple[object, ...]:
        """What tells one bug from another."""
        where = self.cause.location if self.cause is not None else None
        return self.view, type(self.cause), where.number if where is not None else ""


@dataclass(frozen=True)
class _Trial:
    """A kernel to try, and how."""

    kernel: object
    reference: Callable[..., object]
    check: str | Sequence[str]
    schedules: Sequence[str | None]
    views: Sequence[str]
    judge: Judge
    max_instructions: int

    def options(self, view: str, schedule: str | None) -> dict[str, Any]:
        """The options of a launch that are not simt.launch's own defaults."""
        given: dict[str, Any] = {"check": self.check}
        if view != SOURCE:
            given["view"] = view
        if schedule is not None:
            given["schedule"] = schedule
        return given

    def failure(self, case: Case) -> _Failure | None:
        """Run a case in every view and under every schedule; returns the first failure."""
        try:
            expected = expected_of(self.reference, self.kernel, case)
        except ReferenceFailedError as error:
            return _Failure("", None, "", error, None)
        names = parameter_names(self.kernel, len(case.arguments))
        for view in self.views:
            for schedule in self.schedules:
                actual = case.copy_of_arguments()
                try:
                    launch(
                        self.kernel,
                        case.extent.grid,
                        case.extent.block,
                        *actual,
                        shared_bytes=case.shared_bytes,
                        max_instructions=self.max_instructions,
                        **self.options(view, schedule),
                    )
                except SimtError as error:
                    return _Failure(view, schedule, "", error, expected)
                complaint = self.judge.complaint(names, actual, expected)
                if complaint:
                    return _Failure(view, schedule, complaint, None, expected)
        return None

    def is_steady(self, case: Case, failure: _Failure) -> bool:
        """Whether the reference says the same again, several times."""
        if failure.expected is None:
            return True
        again = [expected_of(self.reference, self.kernel, case) for _ in range(5)]
        return not any(self.judge.differs(*pair) for each in again for pair in zip(failure.expected, each, strict=True))

    def error(self, case: Case, failure: _Failure) -> SimtError:
        """The failure as the error to raise."""
        cause = failure.cause
        if isinstance(cause, ReferenceFailedError | UnsupportedError):
            return cause
        options = self.options(failure.view, failure.schedule)
        code = snippet(self.kernel, case, options, failure.expected if cause is None else None)
        where = f"{case}" + (f", {failure.view}" if failure.view != SOURCE else "")
        name = kernel_name(self.kernel)
        if cause is None:
            error = KernelTestError(
                f"{name} is wrong with {where}: {failure.complaint}",
                case, code, location=None, details=(), help="",
            )  # fmt: skip
            return error
        error = KernelTestError(
            f"{name} fails with {where}: {cause.title}",
            case, code, location=cause.location, details=cause.details, help=cause.help,
        )  # fmt: skip
        error.__cause__ = cause
        return error


def _changes(kernel: object) -> KernelError:
    return LaunchError(
        f"{kernel_name(kernel)} and its reference do not do the same twice",
        details=["a launch that failed passes when it is repeated"],
        help="a reference, a strategy or `agrees` must not depend on random numbers or on what ran before",
    )


def _schedules(wanted: int | Sequence[str]) -> list[str | None]:
    """The schedules to run each launch under; None: without one."""
    if not isinstance(wanted, int):
        return list(wanted)
    if wanted < 1:
        raise LaunchError(f"schedules is {wanted}; a launch runs under at least 1")
    return list(names(wanted))


def _declared(kernel: object) -> list[object]:
    """What a kernel's declared signature says of its arguments.  Raises LaunchError if it declares none."""
    signatures = signatures_of(kernel)
    if not signatures:
        raise LaunchError(
            f"the launches have no arguments, and {kernel_name(kernel)} declares no signature",
            help="launches(arrays('float32'), length()): one for each parameter",
        )
    made: list[object] = []
    types = signatures[0].args
    for name, ty in zip(parameter_names(kernel, len(types)), types, strict=True):
        dtype = np.dtype(str(getattr(ty, "dtype", ty)))
        if getattr(ty, "ndim", 0):
            made.append(arrays(dtype))
        else:
            made.append(length(dtype=dtype) if name in LENGTHS and dtype.kind in "iu" else scalars(dtype))
    return made
