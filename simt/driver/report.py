"""What a program did, for the user: a line per kernel and shape, what failed, and what is not supported."""

from __future__ import annotations

import signal
import textwrap
from collections import Counter
from collections.abc import Sequence
from dataclasses import asdict
from pathlib import Path
from typing import Any

from simt.check import KernelError
from simt.driver.program import RELINK, STATIC
from simt.driver.settings import Finished
from simt.metrics import METRICS
from simt.profile import Profile
from simt.profile.activity import Activities, Launched
from simt.text import counted, quantity_texts

METRICS_SHOWN = ("inst_executed", "warp_execution_efficiency", "branch_efficiency", "gld_efficiency", "gst_efficiency")
TIMED_SHOWN = ("duration", "achieved_occupancy_percent")
STATIC_RUNTIME = "cuGetExportTable"
"""What NVIDIA's own runtime calls first; Python's cuda.bindings does, too, and goes on without an answer."""
CONTEXT = "cuDevicePrimaryCtxRetain"
"""What it calls only if it has got one."""
TIED = "\N{NO-BREAK SPACE}"
"""Between what must stand in one line."""
WIDTH = 80
"""Characters of a line, "==simt== " included."""


UNUSED = "the program did not use the GPU: it made no CUDA call that needs a device"


def marked(text: str) -> str:
    """Each line marked as ours, as NVIDIA's profilers mark theirs."""
    return "\n".join(f"==simt== {line}".rstrip() for line in text.splitlines())


def report(finished: Finished, metrics: Sequence[str] = ()) -> str:
    """The report of a program: *metrics* of each kernel (default: a choice), and what did not work."""
    found = finished.activities
    ended = _ended(finished)
    if found is None:
        return "\n".join([*ended, UNUSED])
    lines = [*ended, *_heading(found, len(finished.processes)), *_unfinished(found)]
    if found.launched:
        timed = any(each.profile.timing is not None for each in found.launched)
        shown = list(metrics) or [*METRICS_SHOWN, *(TIMED_SHOWN if timed else ())]
        lines += ["", *_kernels(found.launched, shown)]
        if not timed:
            lines.append("not timed: events tell this computer's time (--timing models the GPU's)")
    for name, why in finished.machine_code.items():
        lines += _wrapped(f"{name} ran as machine code, because the source view does not: {why}", "", "  ")
    missed = unsupported(found)
    if STATIC_RUNTIME in missed:
        lines += ["", *_wrapped(f"the program contains {STATIC}; {RELINK}", "", "  ")]
    if missed:
        lines += ["", 'not supported, and answered with CUDA\'s "operation not supported":']
        lines += [f"  {name}, {counted(number, 'call')}" for name, number in missed.items()]
    if finished.findings:
        lines += ["", f"{counted(len(finished.findings), 'error')}, each told above where it came up"]
        lines += places(finished)
    return "\n".join(lines)


def _unfinished(found: Activities) -> list[str]:
    """The launches in whose middle the program ended."""
    lines = []
    for cut in found.unfinished:
        what = f"{cut.kernel}, {_shape(cut.grid, cut.block)}"
        lines += _wrapped(f"it ended in the middle of a launch of {what}", "", "  ")
    return lines


def _ended(finished: Finished) -> list[str]:
    """What ended a program before its end, as a shell would say it; nothing of ctrl-C, which its user typed."""
    returncode = finished.returncode
    if finished.ended_after is not None:
        return _wrapped(late(finished.ended_after), "", "  ")
    if returncode >= 0 or -returncode == signal.SIGINT:
        return []
    said = signal.strsignal(-returncode) or "unknown signal"
    return [f"the program was ended by signal {-returncode}: {said}"]


def previewed(profile: Profile) -> str:
    """What is known of a launch that takes long, while it goes on."""
    timing = profile.timing
    assert timing is not None  # only such launches have a preview
    what = f"{profile.kernel}, {_shape(profile.grid, profile.block)}"
    lines = _wrapped(f"{what}, takes long: about {timing.cycles:,.0f} cycles, {timing.expected_error}", "", "  ")
    return "\n".join([*lines, *_wrapped(f"{profile.in_part}; the launch goes on", "  ", "  ")])


def late(seconds: float) -> str:
    """That a program was ended after so long."""
    return f"the program was ended after {seconds:g} s (--max-seconds); what it had not done by then is not reported"


def unsupported(found: Activities) -> dict[str, int]:
    """How often a program called each entry point that is not supported, but for one that it went on without."""
    went_on = CONTEXT in {each.name for each in found.called}
    return {name: n for name, n in sorted(found.unsupported.items()) if not (went_on and name == STATIC_RUNTIME)}


def places(finished: Finished) -> list[str]:
    """A line for each place where a check found something and went on, with how often."""
    lines = []
    for each in finished.findings:
        if each.checked is not None:
            first = each.checked.sides[0]
            at = first.location
            where = f"{Path(at.file).name}:{at.line}" if at.offset is None else first.instruction
            text = f"{each.checked.tool}: {each.checked.kind} in {each.subject}, {where}"
            lines += _wrapped(f"{text}: {counted(each.checked.count, 'time')}", "  ", "    ")
    return lines


def checks(finished: Finished) -> str:
    """What the checks of a program found, and how many findings there are."""
    found = finished.activities
    lines = [*_ended(finished), *(_unfinished(found) if found else []), *places(finished)]
    if finished.findings:
        lines.append(counted(len(finished.findings), "finding"))
    else:
        lines += ["nothing found"] if found else _wrapped(f"nothing was checked: {UNUSED}", "", "  ")
    return "\n".join(lines)


def _heading(found: Activities, processes: int) -> list[str]:
    kernels = len({each.profile.kernel for each in found.launched})
    copied = [each.bytes for each in found.copied if each.kind != "memset"]
    many = f" by {processes} processes" if processes > 1 else ""
    text = (
        f"{found.device.name} (modelled): {counted(len(found.launched), 'launch')} of {counted(kernels, 'kernel')}"
        f"{_by_device(found.launched)}, "
        f"{counted(len(copied), 'copy')} of {counted(sum(copied), 'byte')} together{many}"
    )
    return _wrapped(text, "", "  ")


def _by_device(launched: Sequence[Launched]) -> str:
    """How many launches were those of kernels, if there are any."""
    of_kernels = sum(each.by_device for each in launched)
    return f" ({len(launched) - of_kernels} by the host, {of_kernels} by the device)" if of_kernels else ""


def _kernels(launched: Sequence[Launched], shown: Sequence[str]) -> list[str]:
    """For each kernel and shape, in the order of their first launches, a heading and its metrics."""
    groups: dict[tuple[str, str], list[Launched]] = {}
    for each in launched:
        profile = each.profile
        shape = _shape(profile.grid, profile.block)
        groups.setdefault((profile.kernel, shape), []).append(each)
    lines = []
    for (name, shape), group in groups.items():
        lines += _wrapped(f"{name}, {shape}, {counted(len(group), 'launch')}{_by_device(group)}", "", "    ")
        profiles = [each.profile for each in group]
        lines += _wrapped(", ".join(_value(metric, profiles) for metric in shown), "  ", "  ")
        lines += [line for each in profiles if each.in_part for line in _wrapped(each.in_part, "  ", "  ")]
    return lines


def _wrapped(text: str, first: str, others: str) -> list[str]:
    width = WIDTH - len("==simt== ")
    lines = textwrap.wrap(text, width, initial_indent=first, subsequent_indent=others, break_on_hyphens=False)
    return [line.replace(TIED, " ") for line in lines]


def _value(metric: str, profiles: Sequence[Profile]) -> str:
    """What launches have for a metric, with its name and unit; a range if they differ."""
    known = [value for profile in profiles if (value := profile.metrics.get(metric)) is not None]
    low, high, unit = quantity_texts([min(known, default=None), max(known, default=None)], METRICS[metric].unit)
    text = low if low == high else f"{low} to {high}"
    words = [metric, *text.split(), *(unit.split() if known and unit != METRICS["inst_executed"].unit else ())]
    return TIED.join(words)


def _shape(grid: Sequence[int], block: Sequence[int]) -> str:
    """``8 blocks of (16, 16) threads``."""
    return f"{_dims(grid, 'block')} of {_dims(block, 'thread')}"


def _dims(dims: Sequence[int], what: str) -> str:
    """``8 blocks`` or ``(4, 4) threads``."""
    sizes = list(dims)
    while len(sizes) > 1 and sizes[-1] == 1:
        sizes.pop()
    return counted(sizes[0], what) if len(sizes) == 1 else f"({', '.join(map(str, sizes))}) {what}s"


def _end(finished: Finished) -> dict[str, Any]:
    """How a program ended, for JSON."""
    return {"returncode": finished.returncode, "ended_after_seconds": finished.ended_after}


def to_dict(finished: Finished) -> dict[str, Any]:
    """The same and more, for JSON: every launch with all of its metrics, copies, calls, errors."""
    found = finished.activities
    if found is None:
        return {**_end(finished), "device": None, "launches": [], "unfinished": [], "copies": [], "calls": {}}
    calls: Counter[str] = Counter(each.name for each in found.called)
    return {
        **_end(finished),
        "device": found.device.key,
        "launches": [
            {"start": each.start, "stream": each.stream, "by_device": each.by_device, **each.profile.to_dict()}
            for each in found.launched
        ],
        "unfinished": [asdict(each) for each in found.unfinished],
        "copies": [{"kind": each.kind, "bytes": each.bytes, "stream": each.stream} for each in found.copied],
        "calls": dict(calls),
        "not_supported": unsupported(found),
        "errors": [str(each) for each in finished.findings],
        "findings": [each.to_dict() for each in finished.findings if isinstance(each.error, KernelError)],
    }
