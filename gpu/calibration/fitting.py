"""Timing numbers such that the model takes as long as the GPU for the same machine code."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import partial

import simt
from gpu.calibration.figures import Figure
from gpu.calibration.measuring import Measured
from simt.devices import Gpu
from simt.devices.device import TIMING

ROUNDS = 4
"""A number is changed so often; the one with which the model came nearest stays."""

BORNE_OUT = 0.02
"""Figures of the SM that differ from the model's by no more bear its numbers out."""


FOLLOWS = 0.05
"""A number counts as fitted if the model then comes so near; else something else limits the figure there."""


@dataclass(frozen=True)
class Fitted:
    """A measured figure beside the model's, before and after the fit; ``value`` of its number, if it has one."""

    measured: Measured
    before: float
    after: float
    value: float | None

    @property
    def uncertainty(self) -> float:
        """Of ``value``: from the spread of the measurement, and what the fit has left."""
        if self.value is None:
            return 0.0
        off = self.measured.spread + abs(self.after - self.measured.cycles)
        return off if self.measured.figure.is_latency else self.value * off / self.measured.cycles

    @property
    def holds(self) -> bool:
        """Whether the model, with ``value``, takes as long as the GPU."""
        return abs(self.after / self.measured.cycles - 1) <= FOLLOWS

    @property
    def is_borne_out(self) -> bool:
        """Whether the model had it right before."""
        return abs(self.before / self.measured.cycles - 1) <= BORNE_OUT


def fit(
    kernels: Mapping[str, object],
    base: Gpu,
    measured: Sequence[Measured],
    progress: Callable[[str], None],
    most: Mapping[str, float],
) -> list[Fitted]:
    """Fit the numbers of *base* to what was measured; *kernels*: the same machine code, for the model.

    ``most``: what some numbers cannot exceed, whatever the model would need to be as fast as the GPU.  A share of
    another number is fitted once that one is: until then both change its figure.
    """
    shares = [each for each in measured if (each.figure.parameter or "").endswith("_share")]
    fitted: dict[str, Fitted] = {}
    for together in ([each for each in measured if each not in shares], shares):
        values = {each.measured.figure.parameter or "": each.value for each in fitted.values()}
        settled = {name: value for name, value in values.items() if value is not None}
        found = _together(partial(_modelled, kernels, base), base, together, settled, progress, most)
        fitted |= {each.measured.figure.name: each for each in found}
    return [fitted[each.figure.name] for each in measured]


def _together(
    model: Callable[[Figure, Mapping[str, float]], float],
    base: Gpu,
    measured: Sequence[Measured],
    settled: Mapping[str, float],
    progress: Callable[[str], None],
    most: Mapping[str, float],
) -> list[Fitted]:
    """Fit numbers at the same time, beside those that are *settled*."""
    names = [each.figure.parameter for each in measured]
    tried: list[list[float]] = [[_number(base, each.figure)] for each in measured]
    found: list[list[float]] = [[] for _ in measured]
    for rounds in range(ROUNDS + 1 if measured else 0):
        progress(f"the model of {len(measured)} figures, round {rounds + 1} of {ROUNDS + 1}")
        numbers = {name: values[-1] for name, values in zip(names, tried, strict=True) if name}
        for each, values, cycles in zip(measured, tried, found, strict=True):
            cycles.append(model(each.figure, {**settled, **numbers}))
            better = _better(each, list(zip(values, cycles, strict=True)))
            values.append(min(better, _most(each, most)))
    return [
        _nearest(each, list(zip(values, cycles, strict=False)), _most(each, most))
        for each, values, cycles in zip(measured, tried, found, strict=True)
    ]


def _most(measured: Measured, most: Mapping[str, float]) -> float:
    """What the number of a figure cannot exceed."""
    return most.get(measured.figure.parameter or "", math.inf)


def _nearest(measured: Measured, tried: Sequence[tuple[float, float]], most: float) -> Fitted:
    """The best of what was tried: (value, what the model said), of values up to *most*; the first is the base's."""
    value, after = min((one for one in tried if one[0] <= most), key=lambda one: abs(one[1] - measured.cycles))
    return Fitted(measured, tried[0][1], after, value if measured.figure.parameter else None)


def _number(base: Gpu, figure: Figure) -> float:
    """What *base* has for the number that a figure tells."""
    return float(base.sections[TIMING][figure.parameter].value) if figure.parameter else 0.0


def _better(measured: Measured, tried: Sequence[tuple[float, float]]) -> float:
    """A value with which the model comes nearer than with those *tried*: (value, what the model said).

    A latency adds to its figure.  Time by bandwidth is in proportion to its inverse, perhaps beside other time: what
    two tries tell apart.
    """
    value, modelled = tried[-1]
    if measured.figure.is_latency:
        return max(value + measured.cycles - modelled, 0.0)
    for before, cycles in tried[-2:-1]:
        apart = 1 / value - 1 / before
        in_proportion = (modelled - cycles) / apart if apart else 0.0
        inverse = 1 / value + (measured.cycles - modelled) / in_proportion if in_proportion > 0 else 0.0
        if 0.2 < value * inverse < 5:
            return 1 / inverse
    return value * modelled / measured.cycles


def _modelled(kernels: Mapping[str, object], base: Gpu, figure: Figure, values: Mapping[str, float]) -> float:
    """The figure in the timing model."""
    if figure.profiled:
        return values[figure.parameter or ""]
    cycles = []
    for steps in figure.steps:
        profile = simt.launch(
            kernels[figure.kernel],
            figure.blocks_of(steps),
            figure.threads,
            *figure.arguments(steps),
            device=base.key,
            timing=True,
            sms="one",
            overrides=dict(values),
        )
        assert profile.timing is not None
        cycles.append(profile.timing.mean_sm_cycles)
    return figure.per_step(cycles)
