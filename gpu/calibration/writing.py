"""A device file of what was fitted."""

from __future__ import annotations

import datetime
import json
from collections.abc import Sequence
from dataclasses import dataclass

from gpu.calibration.fitting import BORNE_OUT, Fitted
from gpu.calibration.native import Native
from simt.devices import Gpu
from simt.devices.device import LIMITS, TIMING, parse
from simt.timing.parameters import parameters

DIGITS = 4
"""Of the numbers that are written."""


@dataclass(frozen=True)
class Product:
    """What the driver says of a GPU."""

    name: str
    driver: str
    capability: str
    limits: tuple[tuple[str, int], ...]
    numbers: tuple[tuple[str, float, str], ...]

    @classmethod
    def of(cls, native: Native) -> Product:
        """Ask the driver."""
        ask = native.attribute
        return cls(
            native.name,
            native.driver,
            f"{ask('major')}.{ask('minor')}",
            (("multiprocessors", ask("multiprocessors")), ("clock_mhz", round(ask("clock_khz") / 1000))),
            (
                ("memory_bytes", native.memory_bytes, "bytes"),
                ("memory_clock_mhz", ask("memory_clock_khz") / 1000, "MHz"),
                ("memory_bus_bits", ask("memory_bus_bits"), "bits"),
                ("l2_cache_bytes", ask("l2_cache_bytes"), "bytes"),
            ),
        )

    @property
    def architecture(self) -> str:
        """``sm_90``."""
        return "sm_" + self.capability.replace(".", "")


def most_of(product: Product, base: Gpu) -> dict[str, float]:
    """Numbers bounded by what the driver says: a device file with more, in the digits written, is refused."""
    peak = parse(device_file(product, base, []), "calibrated").memory_bytes_per_cycle
    return {} if peak is None else {"dram_read_bytes_per_cycle": peak * (1 - 0.5 * 10 ** (1 - DIGITS))}


def device_file(product: Product, base: Gpu, fitted: Sequence[Fitted]) -> str:
    """The TOML of a device like *base* with the numbers that were measured.

    Raises DeviceError, with all of them, if the numbers contradict each other.
    """
    today = datetime.date.today().isoformat()
    lines = [f"name = {_text(product.name)}", f"like = {_text(base.key)}"]
    if base.compute_capability != product.capability:
        lines += [f"architecture = {_text(product.architecture)}", f"compute_capability = {_text(product.capability)}"]
    elif (on_the_sm := sum(each.value is None for each in fitted)) and all(
        each.is_borne_out for each in fitted if each.value is None
    ):
        said = f"the {base.key}'s number; simt calibrate found {on_the_sm} figures of the SM within {BORNE_OUT:.0%}"
        lines += [f"confirmed = {_text(said)}"]
    lines += ["", "[sources]", f"driver = {_text(f'the driver, CUDA {product.driver}, {today}')}", "", "[limits]"]
    lines += [_entry(name, value, LIMITS[name], "driver") for name, value in product.limits]
    told = [each for each in product.numbers if each[1]]  # a driver says 0 where it does not know
    lines += ["", "[product]", *(_entry(name, value, unit, "driver") for name, value, unit in told)]
    lines += ["", f"[{TIMING}]"]
    units = base.sections[TIMING]
    for each in fitted:
        name = each.measured.figure.parameter
        if name is not None and each.value is not None and each.holds:
            lines.append(_entry(name, float(f"{each.value:.{DIGITS}g}"), units[name].unit, _source(each, today)))
    text = "\n".join(lines) + "\n"
    parameters(parse(text, "calibrated"))
    return text


def _source(each: Fitted, today: str) -> str:
    measured = each.measured
    return (
        f"simt calibrate, {today}: ± {each.uncertainty:.2g}; {measured.figure.name} take {measured.cycles:.4g} "
        f"cycles a step at {measured.mhz:.0f} MHz, {each.after:.4g} in the model"
    )


def _entry(name: str, value: float, unit: str, source: str) -> str:
    return f"{name} = {{ value = {value:.12g}, unit = {_text(unit)}, source = {_text(source)} }}"


def _text(value: str) -> str:
    """A TOML string: JSON's escapes are TOML's."""
    return json.dumps(value, ensure_ascii=False)
