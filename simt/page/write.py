"""From content to a file."""

from __future__ import annotations

import base64
import hashlib
import json
from collections.abc import Mapping, Sequence
from importlib.util import find_spec
from pathlib import Path
from typing import Any

from simt.check import MissingError, write_file
from simt.check.short import ends_here
from simt.metrics import METRICS
from simt.page.content import Column, Content
from simt.reasons import Accesses
from simt.reasons.facts import SideLoops
from simt.trace.render import LANE_MARKS

_HERE = Path(__file__).parent
_TEMPLATE, _SHEET, _SCRIPT = "page.html.jinja", "page.css", "page.js"


@ends_here
def write_page(
    path: str | Path,
    profile: Any,
    other: Any = None,
    *,
    metrics: Sequence[str] = (),
    accesses: Mapping[str, Accesses] | None = None,
    loops: SideLoops | None = None,
) -> Path:
    """Write one HTML page of a profile, or of two side by side; it needs nothing from elsewhere.

    Profiles are those of :func:`simt.launch` or of the hardware, or what one of them saved.  A launch with ``trace=``
    has its lanes in the page, one with ``timing=True`` its stalls, with ``window=``, too, its timeline.  ``metrics``:
    which to take apart, besides those that are worth it.  ``accesses``: by side (``"a"``, ``"b"``) what
    :func:`simt.reasons.accesses_of` found; without it there are no pictures of memory accesses.  ``loops``: likewise
    what :func:`simt.reasons.rounds_of` found.  Returns the path.

    Raises MissingError without the extra ``report``, UnknownMetricError, UnusableProfileError for what is no
    profile, and LaunchError where the file cannot be written.
    """
    text = page(profile, other, metrics=metrics, accesses=accesses, loops=loops)
    write_file(Path(path), text)
    return Path(path)


def page(
    profile: Any,
    other: Any = None,
    *,
    metrics: Sequence[str] = (),
    accesses: Mapping[str, Accesses] | None = None,
    loops: SideLoops | None = None,
) -> str:
    """The text of the page; see :func:`write_page`."""
    check_installed()
    from jinja2 import Environment, FileSystemLoader, StrictUndefined

    environment = Environment(
        loader=FileSystemLoader(_HERE),
        autoescape=True,  # whatever the template does not call safe
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    given = {"a": profile} if other is None else {"a": profile, "b": other}
    columns = tuple(Column(key, each, (accesses or {}).get(key)) for key, each in given.items())
    content = Content(columns, tuple(METRICS[name].name for name in metrics), loops or {})
    script, sheet = (_file(name) for name in (_SCRIPT, _SHEET))
    policy = (
        f"default-src 'none'; script-src {_hash(script)}; style-src {_hash(sheet)}; style-src-attr 'unsafe-inline'; "
        "img-src data:; base-uri 'none'; form-action 'none'"
    )
    text: str = environment.get_template(_TEMPLATE).render(
        content=content, policy=policy, script=script, sheet=sheet, data=_data(content), marks=LANE_MARKS
    )
    return text


def check_installed() -> None:
    """Raises MissingError without the extra ``report``."""
    for module in ("jinja2", "matplotlib"):
        if find_spec(module) is None:
            raise MissingError(f"{module} is not installed, and a report needs it", help="pip install 'simt[report]'")


def _file(name: str) -> str:
    return (_HERE / name).read_text(encoding="utf-8")


def _hash(text: str) -> str:
    """What a content security policy calls an inline script or style sheet with this text."""
    digest = base64.b64encode(hashlib.sha256(text.encode()).digest()).decode()
    return f"'sha256-{digest}'"


def _data(content: Content) -> str:
    """What the script reads: JSON that ends no element of the page, whatever is in it."""
    films = {column.key: column.film for column in content.columns if column.film}
    marks = {state: mark for state, (mark, _, _) in LANE_MARKS.items()}
    words = {state: meaning.removeprefix("idle: ") for state, (_, _, meaning) in LANE_MARKS.items()}
    data = {"films": films, "marks": marks, "words": words}
    return json.dumps(data, separators=(",", ":")).replace("<", "\\u003c")
