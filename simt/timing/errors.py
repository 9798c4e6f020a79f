"""How far off a prediction is expected to be."""

from __future__ import annotations

from dataclasses import dataclass
from math import hypot

from simt.devices import Gpu
from simt.timing.kinds import ANY, COVERED, ERRORS, HOST, IMBALANCE, RACES
from simt.timing.sample import Sample

_WORDS = {ANY: "of any kind", IMBALANCE: "whose blocks differ"}


@dataclass(frozen=True)
class Expected:
    """The expected error of a prediction of one kind of launch, in percent of the cycles.

    Two of three predictions of the kind were off by no more than ``percent`` on the device; None where nobody has
    compared any.  ``sampling`` is what leaving out SMs, or blocks of the functional run, may add to that; ``source``
    says where the figure comes from.
    """

    kind: str
    percent: float | None
    sampling: float
    source: str

    @property
    def total(self) -> float | None:
        """Both together, as errors that have nothing to do with each other add up."""
        return None if self.percent is None else (self.percent**2 + self.sampling**2) ** 0.5

    def __str__(self) -> str:
        if self.kind == RACES:
            return "no error known, races between threads decide how much is executed"
        if self.kind == HOST:
            return "no error known, memory of the host is used: its bus decides, and that of one host was measured"
        if self.percent is None:
            return "estimated, no error known"
        of = _WORDS.get(self.kind, f"limited by {self.kind}")
        return f"± {self.total:.0f} %, met by two of three launches {of} ({self.source})"

    def to_dict(self) -> dict[str, object]:
        """For JSON."""
        return {
            "kind": self.kind,
            "percent": self.total,
            "model_percent": self.percent,
            "sampling_percent": self.sampling,
            "covered_share": None if self.percent is None else float(COVERED),
            "source": self.source,
        }


def expected(gpu: Gpu, compared: bool, kind: str, sample: Sample) -> Expected:
    """The expected error of a prediction on *gpu*.

    *compared*: of the sort that was compared with hardware, machine code with the device's own numbers.
    """
    sampling = 100 * hypot(sample.uncertainty or 0.0, sample.unknown)
    if kind == RACES:
        return Expected(kind, None, sampling, "races decide how much such launches execute")
    if kind == HOST:
        return Expected(kind, None, sampling, "memory of the host is as far away as its bus is")
    known = {name: number for name, number in gpu.sections.get(ERRORS, {}).items() if not number.estimated}
    found = known.get(kind, known.get(ANY))
    if found is None or not compared:
        return Expected(kind, None, sampling, "nobody has compared such predictions with the device")
    return Expected(kind, float(found.value), sampling, found.source)
