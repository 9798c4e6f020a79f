"""Print the model's error on everything that was measured, as Markdown: python report.py [PROGRAM ...] > tables.

Programs are ``reductions``, ``validation``, ``unseen`` (nothing is fitted to them), ``cold``, ``loops``, ``stores`` and
``loaded`` (constants are), ``latency``, ``pipes``, ``memory``, ``mixed``, ``slots``, ``spread``, ``together``,
``beside`` and ``phases`` (kernels that read their own clock).  Without any: all of them.  ``errors``: the error bar of
each kind of launch, on both measured devices, and the launches of others' programs, the validation set among them.
"""

from __future__ import annotations

import json
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np

sys.path.insert(0, str(Path(__file__).parents[3]))
from tests.benchmarks.microbenchmarks.collect import CLOCKED, PROFILED
from tests.timing import microbenchmarks
from tests.timing.launches import (
    DATA,
    bars,
    blind_errors,
    error,
    measured,
    measured_cycles,
    plain,
    runs,
    simulate_all,
    stranger_error,
    validation_set,
)

PARTS = "ABCDEFGHIJKLMNOPQR"
"""Of the validation set."""


def launches(program: str) -> None:
    """One row a launch: cycles, the spread of repeated runs, occupancy, hit rates, the largest stall."""
    print(f"\n### {program}\n")
    print(
        "| kernel | grid x block | cycles, model | H200 | error % | H200 spread % | occupancy % | ipc | largest stall |"
    )
    print("| --- | --- | --- | --- | --- | --- | --- | --- | --- |")
    errors = []
    for entry, result in simulate_all(program, most_threads=1 << 24):
        c, m = entry["counters"], result.metrics
        errors.append(error(entry, result))
        cycles = runs(entry)
        spread = f"{100 * (max(cycles) - min(cycles)) / np.median(cycles):.1f}" if len(cycles) > 1 else ""
        stalls = {k.removeprefix("stall_"): v for k, v in c.items() if k.startswith("stall_")}
        waits = {k: v for k, v in stalls.items() if k not in ("selected", "not_selected")}
        largest = max(waits, key=lambda name: waits[name])
        print(
            f"| {plain(entry['kernel'])} | {_shape(entry)} | {result.cycles:.0f} | {measured_cycles(entry):.0f}"
            f" | {errors[-1]:+.1f} | {spread} | {100 * m['achieved_occupancy']:.1f} / {c['achieved_occupancy_pct']:.1f}"
            f" | {m['ipc']:.2f} / {c['ipc']:.2f} | {result.dominant_stall} / {largest} |"
        )
    print(f"\nMean absolute error {np.mean(np.abs(errors)):.1f} %, largest {np.max(np.abs(errors)):.1f} %.")


def clocked(program: str) -> None:
    """One row a figure that is more than 2 % off, and how many are within 5 %."""
    hardware = microbenchmarks.figures(program)
    found = dict(getattr(microbenchmarks, program)())
    off = {name: 100 * (value / hardware[name] - 1) for name, value in found.items()}
    print(f"\n### {program}: {sum(abs(e) <= 5 for e in off.values())} of {len(off)} figures within 5 %\n")
    print("| figure more than 2 % off | model | H200 | error % |\n| --- | --- | --- | --- |")
    for name, e in off.items():
        if abs(e) > 2:
            print(f"| {name} | {found[name]:.2f} | {hardware[name]:.2f} | {e:+.1f} |")


def errors() -> None:
    """The error bar of each kind of launch on each device, as the sections ``errors`` of their files give it."""
    print("\n### errors by kind of launch\n")
    print("| device | kind | launches | two of three within % |\n| --- | --- | --- | --- |")
    for device in ("h200", "h100"):
        for kind, (bar, count) in bars(blind_errors(device)).items():
            print(f"| {device} | {kind} | {count} | {bar:.1f} |")
    print("\n### launches of others' programs\n")
    print("| author | kernel | grid x block | cycles, model | H200 | error % | SMs | kind | largest stall |")
    print("| --- | --- | --- | --- | --- | --- | --- | --- | --- |")
    for entry in measured("strangers"):
        model = entry["predicted"]
        print(
            f"| {entry['author']} | {entry['kernel']} | {_shape(entry)} | {model['cycles']:.0f}"
            f" | {measured_cycles(entry):.0f} | {stranger_error(entry):+.1f} | {model['sms']} | {model['kind']}"
            f" | {model['largest_stall']} / {entry['largest_stall']} |"
        )
    validation()


def validation() -> None:
    """The validation set: its parts on both devices, first in sum, then launch by launch; what stands apart last."""
    print("\n### validation set: launches of public programs\n")
    print(json.loads((DATA / "timing" / "h200" / "programs.json").read_text())["rule"] + ".")
    print(
        "\n| device | half | launches | mean error % | median | bias | worst | within 5 % | 10 %"
        " | DRAM bytes within 10 % | occupancy within 5 points | largest stall right |"
    )
    print("| --- | --- | --- | --- | --- | --- | --- | --- | --- | --- | --- | --- |")
    for device, how, words in (
        ("h200", "predicted", "H200"),
        ("h200", "by_calibrate", "H200, by simt calibrate"),
        ("h100", "predicted", "H100, by its file"),
        ("h100", "by_calibrate", "H100, by simt calibrate"),
    ):
        for half in PARTS:
            entries = [entry for entry in validation_set(device, half) if how in entry]
            if entries:
                print(f"| {words} | {half} | {' | '.join(_in_sum(entries, how))} |")
    print(
        "\n| half | author | program: kernel | grid x block | cycles, model | H200 | error % | DRAM MB | occupancy %"
        " | kind | largest stall | H100 error %, file | calibrated |"
    )
    print("| --- | --- | --- | --- | --- | --- | --- | --- | --- | --- | --- | --- | --- |")
    on_h100 = {_identity(entry): entry for half in PARTS for entry in validation_set("h100", half)}
    for half in PARTS:
        for entry in validation_set("h200", half):
            other = on_h100.get(_identity(entry), {})
            others = [f"{_off(other, how):+.1f}" if how in other else "" for how in ("predicted", "by_calibrate")]
            print(
                f"| {half} | {entry['author']} | {entry['program']}: {entry['kernel']} | {_shape(entry)}"
                f" | {_predicted(entry)} | {' | '.join(others)} |"
            )

    on_h200 = {(entry["half"], *_identity(entry)) for entry in measured("programs")}
    alone = [
        entry
        for part in "IJKLMNOPQR"
        for entry in validation_set("h100", part)
        if (part, *_identity(entry)) not in on_h200
    ]
    print("\nLaunches of parts I to R that the H100 alone has run:\n")
    print(
        "| half | author | program: kernel | grid x block | cycles, model | H100 | error % | DRAM MB | occupancy %"
        " | kind | largest stall | calibrated, error % |"
    )
    print("| --- | --- | --- | --- | --- | --- | --- | --- | --- | --- | --- | --- |")
    for entry in alone:
        calibrated = f"{_off(entry, 'by_calibrate'):+.1f}" if "by_calibrate" in entry else ""
        print(
            f"| {entry['half']} | {entry['author']} | {entry['program']}: {entry['kernel']} | {_shape(entry)}"
            f" | {_predicted(entry)} | {calibrated} |"
        )

    print("\nLaunches that stand apart, and are in no sum:\n")
    print("| half | author | program: kernel | grid x block | cycles, model | H200 | error % | why |")
    print("| --- | --- | --- | --- | --- | --- | --- | --- |")
    for entry in measured("programs"):
        if "apart" in entry:
            print(
                f"| {entry['half']} | {entry['author']} | {entry['program']}: {entry['kernel']} | {_shape(entry)}"
                f" | {entry['predicted']['cycles']:.0f} | {entry['counters']['cycles']:.0f} | {_off(entry):+.1f}"
                f" | {entry['apart']} |"
            )


def _predicted(entry: Mapping[str, Any]) -> str:
    """Cells from cycles to stall, as predicted beside as measured."""
    model, c = entry["predicted"], entry["counters"]
    return (
        f"{model['cycles']:.0f} | {c['cycles']:.0f} | {_off(entry):+.1f}"
        f" | {_dram(model) / 1e6:.2f} / {_dram(c) / 1e6:.2f}"
        f" | {model['achieved_occupancy_percent']:.0f} / {c['achieved_occupancy_pct']:.0f} | {model['kind']}"
        f" | {model['largest_stall']} / {entry['largest_stall']}"
    )


def _in_sum(entries: Sequence[Mapping[str, Any]], how: str) -> list[str]:
    """Cells for several launches predicted in one way."""
    off = np.array([_off(entry, how) for entry in entries])
    moved = [entry for entry in entries if _dram(entry["counters"]) > 1e6]
    right = sum(abs(_dram(entry[how]) / _dram(entry["counters"]) - 1) <= 0.1 for entry in moved)
    points = [
        abs(entry[how]["achieved_occupancy_percent"] - entry["counters"]["achieved_occupancy_pct"]) for entry in entries
    ]
    stalls = sum(entry[how]["largest_stall"] == entry["largest_stall"] for entry in entries)
    return [
        f"{len(off)}", f"{np.abs(off).mean():.1f}", f"{np.median(np.abs(off)):.1f}", f"{off.mean():+.1f}",
        f"{off[np.abs(off).argmax()]:+.1f}", f"{(np.abs(off) <= 5).sum()}", f"{(np.abs(off) <= 10).sum()}",
        f"{right} of {len(moved)}", f"{sum(each <= 5 for each in points)}", f"{stalls}",
    ]  # fmt: skip


def _off(entry: Mapping[str, Any], how: str = "predicted") -> float:
    """Error of the cycles, in percent."""
    return float(100 * (entry[how]["cycles"] / measured_cycles(entry) - 1))


def _dram(values: Mapping[str, Any]) -> float:
    """Bytes read and written."""
    return float(values["dram_read_bytes"] + values["dram_write_bytes"])


def _identity(entry: Mapping[str, Any]) -> tuple[str, ...]:
    return entry["program"], entry["kernel"], str(entry["grid"]), str(entry["block"])


def _shape(entry: Mapping[str, Any]) -> str:
    """Grid and block of a launch."""
    return f"{'x'.join(str(d) for d in entry['grid'] if d > 1) or 1} x {int(np.prod(entry['block']))}"


def main(programs: list[str]) -> None:
    """The tables, with what they were measured on."""
    origin = json.loads((DATA / "timing" / "h200" / "reductions.json").read_text())
    print(f"Measured {origin['date']} on {origin['device']} (name, driver, SM clock now, at most, memory clock);")
    print(f"{origin['nvcc']}; Nsight Compute {origin['profiler']}.  Pairs are model / H200.")
    for program in programs:
        if program == "errors":
            errors()
        else:
            (clocked if program in CLOCKED else launches)(program)


if __name__ == "__main__":
    there = [name for name in PROFILED if (DATA / "timing" / "h200" / f"{name}.json").exists()]
    main(sys.argv[1:] or [*there, *CLOCKED, "errors"])
