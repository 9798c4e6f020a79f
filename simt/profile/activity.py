"""What a program did on the modelled GPU, in order: its launches, copies and API calls.

The driver fills these records; the tables of ``simt exec``, ``simt nvprof`` and ``simt ncu`` are functions over them.
"""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, field

from simt.devices import Gpu
from simt.profile.profile import Profile


@dataclass(frozen=True)
class Launched:
    """A launch that was profiled.

    ``start``: seconds of modelled time since the program's first activity; where launches are not timed, the number of
    activities before this one.  ``stream`` and ``context`` are numbered from 1 (stream 7 is the default stream of
    context 1, as in NVIDIA's tools).  ``by_device``: a kernel launched it, not the host.
    """

    profile: Profile
    start: float
    stream: int = 7
    context: int = 1
    by_device: bool = False

    @property
    def seconds(self) -> float | None:
        """Modelled time that it took; None where the launch was not timed."""
        timing = self.profile.timing
        return None if timing is None else timing.seconds

    @property
    def dynamic_shared(self) -> int:
        """Bytes of shared memory of a block that the launch asked for."""
        return max(self.profile.result.shared_bytes - self.profile.program.shared_bytes, 0)


@dataclass(frozen=True)
class Unfinished:
    """A launch in whose middle the program ended: blocks of the *grid* and threads of a *block*, by axis."""

    kernel: str
    grid: tuple[int, ...]
    block: tuple[int, ...]


@dataclass(frozen=True)
class Copied:
    """A copy or a fill.

    ``kind``: ``"HtoD"``, ``"DtoH"``, ``"DtoD"``, ``"HtoH"`` or ``"memset"``.  ``bytes``: how many were written.
    ``start`` as in :class:`Launched`.  ``seconds``: modelled time that it took, None where there is none.
    """

    kind: str
    bytes: int
    start: float
    seconds: float | None = None
    stream: int = 7
    context: int = 1


@dataclass(frozen=True)
class Called:
    """A call of the CUDA runtime or driver.  ``start`` and ``seconds`` are time of the host that simulates."""

    name: str
    start: float
    seconds: float


@dataclass(frozen=True)
class Activities:
    """All that a program did.

    ``unsupported``: how often the program called entry points that there are only as stubs.
    """

    device: Gpu
    launched: list[Launched] = field(default_factory=list)
    copied: list[Copied] = field(default_factory=list)
    called: list[Called] = field(default_factory=list)
    unsupported: Counter[str] = field(default_factory=Counter)
    unfinished: list[Unfinished] = field(default_factory=list)
