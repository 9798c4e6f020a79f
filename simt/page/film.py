"""The steps of traced warps as data for the page's player."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

from simt.text import indentation
from simt.trace import Step, Trace
from simt.trace.values import Value, value_text

MOST_BYTES = 1_200_000
"""So much JSON a profile's trace may take in the page; what is more is left out, and the page says so."""

DIVERGES, ENDS = 1, 2
"""Flags of a step."""

Film = Mapping[str, Any]
"""``code``: the lines that steps name, each [position, text, function, row of the listing]; ``warps``: each with
``block``, ``warp``, ``total`` (how many steps it has) and ``steps``: [line, pass, active, executed, exited, absent,
flags, values].  Values: by variable a text, or 32 of them with null where the lane did not execute."""


def film_of(trace: Trace, most: int = MOST_BYTES) -> Film:
    """The first steps of the first warps, as many as *most* bytes hold; of the first warp at least one."""
    in_source = trace.program.view == "source"
    code: dict[int, int] = {}
    texts: list[tuple[str, str, str, int]] = []
    warps: list[dict[str, Any]] = []
    room = most
    for block, warp in trace.warps:
        if room <= 0:
            break
        steps: list[Any] = []
        warps.append({"block": block, "warp": warp, "total": trace.step_count(block, warp), "steps": steps})
        for step in trace.walk(block, warp):
            if step.line not in code:
                code[step.line] = len(texts)
                entry = step.entry
                texts.append((step.position(in_source), entry.text.rstrip(), entry.function, step.line))
            made = _step(step, code[step.line], in_source)
            steps.append(made)
            room -= len(json.dumps(made))
            if room <= 0:
                break
    common = indentation(text for _, text, *_ in texts)
    return {"code": [(at, text[common:], *rest) for at, text, *rest in texts], "warps": warps}


def _step(step: Step, code: int, in_source: bool) -> list[Any]:
    flags = DIVERGES * step.divergent + ENDS * step.is_end(in_source)
    values = {name: _lanes(lanes, step.executed) for name, lanes in step.values.items() if step.executed}
    return [code, step.pass_number, step.active, step.executed, step.exited, step.absent, flags, values]


def _lanes(lanes: list[Value], executed: int) -> Any:
    shown = [value_text(value) if executed >> lane & 1 else None for lane, value in enumerate(lanes)]
    distinct = {value for value in shown if value is not None}
    return distinct.pop() if len(distinct) == 1 else shown


def left_out(trace: Trace, film: Film) -> list[str]:
    """What of the trace is not in the film, in sentences."""
    said = []
    warps = film["warps"]
    last = warps[-1]
    if len(last["steps"]) < last["total"]:
        said.append(
            f"of block {last['block']}, warp {last['warp']} the page has the first {len(last['steps']):,} of "
            f"{last['total']:,} steps"
        )
    if len(warps) < len(trace.warps):
        said.append(f"{len(trace.warps) - len(warps):,} of the {len(trace.warps):,} traced warps are left out")
    return said
