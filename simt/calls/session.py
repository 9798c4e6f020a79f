"""What every launch of a stretch of code is to have, and who counts them: :class:`Session`."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field, replace

from simt.calls.options import Options
from simt.check import KernelError
from simt.profile import Profile
from simt.sanitizer import names_of


@dataclass
class Session:
    """Defaults of launches: ``check`` adds to what a launch asks for, ``schedule`` and ``trace`` hold where it asks
    for none, ``max_instructions`` where it allows more.  ``kernels``: what the launches of each came to.
    """

    check: Sequence[str] = ()
    schedule: str | None = None
    trace: bool = False
    max_instructions: int | None = None
    profile: Profile | None = None
    """Of the last launch."""
    preemptions: int = 0
    """Of all launches; see :class:`simt.machine.result.RunResult`."""
    kernels: dict[str, KernelCounts] = field(default_factory=dict)

    def add(self, kernel: str, launches: int, instructions: int, findings: int) -> None:
        """Count launches of a kernel."""
        row = self.kernels.setdefault(kernel, KernelCounts())
        row.launches += launches
        row.instructions += instructions
        row.findings += findings


@dataclass
class KernelCounts:
    """What the launches of one kernel came to."""

    launches: int = 0
    instructions: int = 0
    findings: int = 0


_sessions: list[Session] = []


@contextmanager
def session(running: Session) -> Iterator[Session]:
    """Let all launches inside, of all threads, be part of a session."""
    _sessions.append(running)
    try:
        yield running
    finally:
        _sessions.remove(running)


def completed(options: Options) -> Options:
    """Options with what the sessions add."""
    for each in _sessions:
        check = tuple(dict.fromkeys((*names_of(options.check), *names_of(each.check))))
        # An order that was asked for is kept, and a timed launch has no schedule.
        free = options.schedule is None and options.order is None and not options.timing
        schedule = each.schedule if free else options.schedule
        most = min(options.max_instructions, each.max_instructions or options.max_instructions)
        trace = options.trace or each.trace
        options = replace(options, check=check, schedule=schedule, trace=trace, max_instructions=most)
    return options


def launched(profile: Profile) -> None:
    """A launch has ended well."""
    for each in _sessions:
        each.profile = profile
        each.preemptions += profile.result.preemptions
        for one in (profile, *profile.launched):
            each.add(one.kernel, 1, int(one.counters["inst_executed"]), len(one.findings))


def failed(kernel: str, error: KernelError) -> None:
    """A launch has ended with an error."""
    for each in _sessions:
        each.add(kernel, 1, 0, max(1, len(error.findings)))
