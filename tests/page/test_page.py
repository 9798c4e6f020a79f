"""The text of pages: what is in them, what is said to be left out, and that nothing of a profile becomes a script."""

from __future__ import annotations

import base64
import copy
import hashlib
import json
import re
from dataclasses import replace
from html.parser import HTMLParser
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import simt
from simt.check import LaunchError, UnsupportedError
from simt.metrics import UnknownMetricError
from simt.page import film, write
from simt.page.pictures import pictures
from simt.profile import UnusableProfileError
from simt.reasons import Accesses
from simt.reasons.accesses import Request
from simt.timing.layout import E_SM
from tests.page.pages import HOSTILE, accesses, hostile, hostile_launch, profiled


class Elements(HTMLParser):
    """The elements of a page, and its text outside of scripts and style sheets."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.open: list[str] = []
        self.found: list[tuple[str, dict[str, str | None]]] = []
        self.scripts: list[str] = []
        self.sheets: list[str] = []
        self.text = ""
        self.feed(text)

    VOID = ("meta", "input", "br", "img")

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.found.append((tag, dict(attrs)))
        if tag not in self.VOID:
            self.open.append(tag)

    def handle_endtag(self, tag: str) -> None:
        if tag in self.open:
            while self.open.pop() != tag:
                pass

    def handle_data(self, data: str) -> None:
        inside = self.open[-1] if self.open else ""
        if inside == "script":
            self.scripts.append(data)
        elif inside == "style":
            self.sheets.append(data)
        else:
            self.text += data


def films_of(text: str) -> Any:
    return json.loads(Elements(text).scripts[0])["films"]


def test_one_profile() -> None:
    page = write.page(profiled("neighbored", timing=True), accesses={"a": accesses("neighbored")})
    found = Elements(page)
    for part in (
        "inst_per_warp",
        "if tid % (2 * stride) == 0",
        "passes a warp",
        "strided, lanes are",
        "long scoreboard",
        "theoretical_occupancy",
        "from cycle",
    ):
        assert part in found.text, part
    steps = films_of(page)["a"]["warps"][0]["steps"]
    assert len(steps) == len(profiled("neighbored", timing=True).trace.steps())
    assert "Left out" not in found.text


def test_when_blocks_ran() -> None:
    """A chart of a timed launch has a row for each place that had a block, or the first ones and a word."""
    profile = profiled("neighbored", timing=True)
    assert profile.timing is not None
    places = {(sm, place) for _, sm, place, _, _ in profile.timing.stays.tolist()}
    page = write.page(profile)
    assert "When each block ran, and where: " in page
    for sm, place in places:
        assert f">SM {sm}, place {place}<" in page
    assert "When each block ran" not in write.page(profiled("neighbored"))
    many = copy.copy(profile)
    stays = [(3 * k + j, k, j, 10 * j, 90 - k) for k in range(40) for j in range(3)]
    many.timing = replace(profile.timing, stays=np.array(stays, np.int64))
    page = write.page(many)
    assert "How many blocks each of 40 SMs had, up to 3: " in page
    assert "When each block ran" not in page
    for sm in range(0, 40, 2):
        assert f">SM {sm}<" in page


def test_two_profiles() -> None:
    page = write.page(profiled("neighbored"), profiled("interleaved"))
    assert films_of(page).keys() == {"a", "b"}
    text = Elements(page).text
    assert "B / A" in text
    assert "→" in text
    assert "accesses_of" in text  # what to do for pictures


def test_a_saved_profile_and_what_it_lacks() -> None:
    saved = json.loads(profiled("if_else").to_json())
    text = Elements(write.page(saved)).text
    assert "A saved profile has no trace" in text
    assert "No cycles were recorded" in text
    assert "known of a timed launch" in text
    assert "value = i + 100" in text


def test_views_that_cannot_be_compared_are_said_to_be() -> None:
    machine = {**profiled("if_else").to_dict(), "view": "sm_90"}
    machine["lines"] = [{**line, "offset": 16 * k} for k, line in enumerate(machine["lines"])]
    text = Elements(write.page(profiled("if_else"), machine)).text
    assert "not comparable" in text
    assert "counts operations of the source on one side" in text
    assert "-lineinfo" in text


def test_nothing_of_a_profile_becomes_markup() -> None:
    for page in (write.page(hostile()), write.page(hostile(), profiled("if_else")), write.page(hostile_launch())):
        found = Elements(page)
        assert [dict(attributes).get("type") for tag, attributes in found.found if tag == "script"] == [
            "application/json",
            None,
        ]
        assert "img" not in [tag for tag, _ in found.found]
        assert not [name for _, attributes in found.found for name in attributes if name.startswith("on")]
        assert "alert(1)" in found.text
        assert "alert" not in found.scripts[1]


def test_the_policy_allows_the_pages_own_script_and_no_other() -> None:
    page = write.page(profiled("if_else"))
    found = Elements(page)
    (policy,) = [
        attributes["content"]
        for tag, attributes in found.found
        if tag == "meta" and attributes.get("http-equiv") == "Content-Security-Policy"
    ]
    assert policy is not None
    assert policy.startswith("default-src 'none'")
    for kind, text in (("script", found.scripts[1]), ("style", found.sheets[0])):
        digest = base64.b64encode(hashlib.sha256(text.encode()).digest()).decode()
        assert f"{kind}-src 'sha256-{digest}'" in policy
    assert not re.search(r"""(?:src|href)=["'](?!#)""", page)
    assert "url(http" not in page
    assert "@import" not in page


@given(st.lists(st.integers(0, 2**12), min_size=1, max_size=32), st.sampled_from([1, 2, 4, 8, 16]))
def test_pictures_show_every_byte_once(places: list[int], size: int) -> None:
    """Each lane stands in the words that it uses, each used sector is a row, and rows of one bank are conflicts."""
    addresses = size * np.array(places)
    lanes = np.arange(len(places))
    program = accesses("neighbored").program
    for space, width in (("global", 8), ("shared", 32)):
        request = Request(1, space, "load", size, lanes, addresses, 0)
        (picture,), left_out = pictures(Accesses(program, (0, 0), (request,)))
        assert left_out == 0
        words = {int(address + byte) // 4 for address in addresses for byte in range(size)}
        rows = {word // width for word in words}
        assert len(picture.rows) + picture.rows_left_out == len(rows)
        if not picture.rows_left_out:
            assert sum(bool(cell) for _, cells in picture.rows for cell in cells) == len(words)
        banks = [word % width for word in words]
        conflicts = {bank for bank in banks if banks.count(bank) > 1} if space == "shared" else set()
        assert picture.conflicts == conflicts


def test_of_a_long_trace_the_first_steps_are_there(monkeypatch: pytest.MonkeyPatch) -> None:
    whole = write.page(profiled("neighbored"))
    trace = profiled("neighbored").trace
    assert trace is not None
    short = film.film_of(trace, 2000)
    assert len(json.dumps(short["warps"][0]["steps"])) < 3000
    assert films_of(whole)["a"]["warps"][0]["steps"][: len(short["warps"][0]["steps"])] == short["warps"][0]["steps"]
    (said,) = film.left_out(trace, short)
    assert said.endswith(f"the first {len(short['warps'][0]['steps'])} of {len(trace.steps())} steps")


def test_of_many_warps_the_first_are_there() -> None:
    def copy(out):
        out[0] = 1

    profile = simt.launch(copy, 4, 128, np.zeros(1, np.int32), trace=True)
    assert profile.trace is not None
    short = film.film_of(profile.trace, 1)
    assert film.left_out(profile.trace, short)[-1] == "15 of the 16 traced warps are left out"


def test_of_a_long_listing_the_lines_that_ran_are_there(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("simt.page.content.MOST_ROWS", 3)
    text = Elements(write.page(profiled("neighbored"))).text
    assert re.search(r"Left out: \d+ of \d+ lines", text)


def test_the_timeline_is_of_an_sm_that_issued(monkeypatch: pytest.MonkeyPatch) -> None:
    profile = profiled("if_else", timing=True)
    assert profile.timing is not None
    events = profile.timing.events.copy()
    events[:, E_SM] = 1
    monkeypatch.setattr(profile, "timing", replace(profile.timing, events=events))
    assert "SM 1, from cycle" in Elements(write.page(profile)).text


def test_bad_calls(tmp_path: Path) -> None:
    profile = profiled("if_else")
    with pytest.raises(UnknownMetricError, match="gld_eficiency"):
        profile.report(tmp_path / "page.html", metrics=["gld_eficiency"])
    with pytest.raises(UnusableProfileError, match="this is not a profile"):
        profile.report(tmp_path / "page.html", {"kernel": "x"})
    with pytest.raises(LaunchError, match="cannot be written"):
        profile.report(tmp_path / "absent" / "page.html")
    assert not list(tmp_path.iterdir())


def test_without_the_extra(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(write, "find_spec", lambda name: None if name == "matplotlib" else True)
    with pytest.raises(UnsupportedError, match=r"matplotlib is not installed(?s:.*)simt\[report\]"):
        write.page(profiled("if_else"))


def test_the_label_of_a_hostile_kernel_is_its_name() -> None:
    assert HOSTILE.strip() in Elements(write.page(hostile())).text
