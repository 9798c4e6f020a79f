"""Charts as SVG that takes its colours from the page, so that one drawing serves light, dark and print."""

from __future__ import annotations

import io
import re
import xml.etree.ElementTree as ElementTree
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from matplotlib.axes import Axes

Bars = Mapping[str, Sequence[float]]
"""Name of a bar, or of a part of each bar: a value for every profile."""

_SVG = "http://www.w3.org/2000/svg"
_XLINK = "http://www.w3.org/1999/xlink"

_INK, _GRID, _PAPER = "#010203", "#010204", "#010205"
_SERIES = ("#010210", "#010211")
_PARTS = {
    "active": ("#010220", ""),
    "other path": ("#010221", "////"),
    "predicated off": ("#010222", "...."),
    "exited": ("#010223", "xxxx"),
    "no thread": ("#010224", "----"),
    "inactive": ("#010225", "\\\\\\\\"),
}
"""Parts of lane-slots: colour and pattern; those of the lanes in the player."""

_VARIABLES = {
    _INK: "--ink",
    _GRID: "--line",
    _PAPER: "--paper",
    _SERIES[0]: "--series-a",
    _SERIES[1]: "--series-b",
    **{color: f"--lane-{name.replace(' ', '-')}" for name, (color, _) in _PARTS.items()},
}
"""Colours that stand in a drawing for a variable of the page's style sheet."""

_STYLE: dict[str, Any] = {
    "svg.fonttype": "none",
    "font.size": 9,
    "font.family": ["DejaVu Sans"],
    "text.color": _INK,
    "axes.labelcolor": _INK,
    "axes.edgecolor": _GRID,
    "axes.facecolor": "none",
    "axes.spines.top": False,
    "axes.spines.right": False,
    "axes.axisbelow": True,
    "xtick.color": _INK,
    "ytick.color": _INK,
    "grid.color": _GRID,
    "hatch.color": _PAPER,
    "hatch.linewidth": 0.7,
    "legend.frameon": False,
    "figure.facecolor": "none",
}

_WIDTH = 7.0
"""Inches; the page scales it."""

PARTS_OF_TIME = 100
"""Points of an area over time: more would not be seen, and make the page large."""


def bars(name: str, title: str, values: Bars, labels: Sequence[str], unit: str, limit: float | None = None) -> str:
    """Horizontal bars, one for each name and profile.  *labels* are the profiles'; *limit* is drawn as a line."""
    from matplotlib.figure import Figure

    count = len(labels)

    def draw() -> Figure:
        figure = Figure((_WIDTH, 0.75 + 0.2 * len(values) * max(count, 1.4)), layout="constrained")
        axes = figure.add_subplot()
        for k, label in enumerate(labels):
            places = [row + (k - (count - 1) / 2) * 0.8 / count for row in range(len(values))]
            widths = [each[k] for each in values.values()]
            drawn = axes.barh(places, widths, 0.75 / count, color=_SERIES[k], label=label, hatch="////" if k else "")
            axes.bar_label(drawn, [f"{width:,.4g}" for width in widths], padding=3, fontsize=8)
        axes.set_yticks(range(len(values)), list(values))
        axes.invert_yaxis()
        axes.margins(x=0.1)
        if limit is not None:
            axes.axvline(limit, color=_INK, linestyle="--", linewidth=1)
        _finish(axes, unit, count > 1)
        return figure

    return _svg(name, title, draw)


def shares(name: str, title: str, parts: Bars, labels: Sequence[str]) -> str:
    """One bar of 100 % for each profile, made of parts."""
    from matplotlib.figure import Figure

    def draw() -> Figure:
        figure = Figure((_WIDTH, 1.05 + 0.34 * len(labels)), layout="constrained")
        axes = figure.add_subplot()
        done = [0.0] * len(labels)
        for part, values in parts.items():
            color, hatch = _PARTS[part]
            axes.barh(range(len(labels)), values, 0.6, done, color=color, hatch=hatch, label=part)
            done = [before + value for before, value in zip(done, values, strict=True)]
        axes.set_yticks(range(len(labels)), list(labels))
        axes.invert_yaxis()
        axes.set_xlim(0, 100)
        _finish(axes, "%", True)
        return figure

    return _svg(name, title, draw)


def spans(name: str, title: str, rows: Mapping[str, Sequence[tuple[int, int]]], unit: str) -> str:
    """Lines of time: for each row the spans, from when to when, in which it was taken."""
    from matplotlib.figure import Figure

    def draw() -> Figure:
        figure = Figure((_WIDTH, 0.6 + 0.16 * len(rows)), layout="constrained")
        axes = figure.add_subplot()
        for row, taken in enumerate(rows.values()):
            lengths = [(start, end - start) for start, end in taken]
            axes.broken_barh(lengths, (row - 0.4, 0.8), facecolor=_SERIES[0], edgecolor=_PAPER, linewidth=0.5)
        axes.set_yticks(range(len(rows)), list(rows))
        axes.invert_yaxis()
        axes.set_xlim(0)
        _finish(axes, unit, False)
        return figure

    return _svg(name, title, draw)


def residents(name: str, title: str, rows: Mapping[str, Sequence[tuple[int, int]]], unit: str) -> str:
    """How many of its spans, from when to when, each row has at a time: the more, the higher its area.

    A point is the mean over a part of the time, of which there are :data:`PARTS_OF_TIME`.
    """
    import numpy as np
    from matplotlib.figure import Figure

    whole = max(end for taken in rows.values() for _, end in taken)
    edges = np.linspace(0, whole, PARTS_OF_TIME + 1)
    counts = []
    for taken in rows.values():
        starts, ends = np.array(taken, float).T[:, :, None]
        inside = np.minimum(ends, edges[1:]) - np.maximum(starts, edges[:-1])
        counts.append(np.maximum(inside, 0).sum(axis=0) * PARTS_OF_TIME / whole)
    most = max(float(count.max()) for count in counts)

    def draw() -> Figure:
        figure = Figure((_WIDTH, 0.6 + 0.055 * len(rows)), layout="constrained")
        axes = figure.add_subplot()
        for row, count in enumerate(counts):
            heights = row + 0.45 - 0.9 * np.array([0, *count, 0]) / most
            axes.fill([0, *(edges[1:] + edges[:-1]) / 2, whole], heights, color=_SERIES[0], linewidth=0)
        every = range(0, len(rows), max(1, len(rows) // 16))
        axes.set_yticks(every, [list(rows)[row] for row in every])
        axes.invert_yaxis()
        axes.set_xlim(0)
        _finish(axes, unit, False)
        return figure

    return _svg(name, title, draw)


def _finish(axes: Axes, unit: str, legend: bool) -> None:
    axes.set_xlabel(unit)
    axes.tick_params(length=0)
    axes.grid(axis="x", linewidth=0.6)
    if legend:
        axes.legend(
            loc="lower left", bbox_to_anchor=(0, 1), ncols=6, borderaxespad=0, handlelength=1.4, columnspacing=1
        )


def _svg(name: str, title: str, draw: Any) -> str:
    """What *draw* draws, as SVG for the inside of a page; *name* is what its identifiers are hashed with."""
    from matplotlib import rc_context

    buffer = io.StringIO()
    style: Any = {**_STYLE, "svg.hashsalt": name}
    with rc_context(style):
        figure = draw()
        figure.savefig(buffer, format="svg", metadata={"Date": None, "Creator": None, "Format": None, "Type": None})
    return _for_page(buffer.getvalue(), title)


def _for_page(text: str, title: str) -> str:
    """Without what the page has itself (a style sheet, a size), identifiers that nothing names, and fixed colours."""
    ElementTree.register_namespace("", _SVG)
    ElementTree.register_namespace("xlink", _XLINK)
    root = ElementTree.fromstring(text)
    named = set(re.findall(r"url\(#([^)]+)\)", text)) | set(re.findall(r'href="#([^"]+)"', text))
    for parent in root.iter():
        for child in [child for child in parent if child.tag in (f"{{{_SVG}}}style", f"{{{_SVG}}}metadata")]:
            parent.remove(child)
        if parent.get("id", "") not in named:
            parent.attrib.pop("id", None)
        if "d" in parent.attrib:  # a hundredth of a point is fine enough
            parent.set("d", re.sub(r"(\.\d\d)\d+", r"\1", parent.attrib["d"]))
    for attribute in ("width", "height", "version"):
        root.attrib.pop(attribute, None)
    root.set("class", "chart")
    root.set("role", "img")
    root.set("aria-label", title)
    made = ElementTree.tostring(root, encoding="unicode")
    return re.sub("|".join(_VARIABLES), lambda found: f"var({_VARIABLES[found[0]]})", made)
