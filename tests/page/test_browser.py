"""The page in a real browser: it opens without a complaint, plays, steps, changes its colours and prints."""

from __future__ import annotations

import shutil
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from tests.page.pages import accesses, hostile, profiled

playwright = pytest.importorskip("playwright.sync_api", reason="playwright is not installed (extra test)")

BROWSERS = ("chromium", "chromium-browser", "google-chrome")


@pytest.fixture(scope="module")
def browser() -> Iterator[Any]:
    """Chromium: that of the system, else Playwright's own."""
    on_path = next(filter(None, map(shutil.which, BROWSERS)), None)
    with playwright.sync_playwright() as drivers:
        try:
            made = drivers.chromium.launch(executable_path=on_path, args=["--no-sandbox"])
        except playwright.Error as error:
            pytest.skip(f"there is no Chromium: {str(error).splitlines()[0]}")
        yield made
        made.close()


class Page:
    """A page, and what the browser had to say of it."""

    def __init__(self, page: Any, path: Path) -> None:
        self.page = page
        self.complaints: list[str] = []
        page.on("console", lambda message: self.complaints.append(message.text))
        page.on("pageerror", lambda error: self.complaints.append(str(error)))
        page.on("request", lambda request: self._note(request.url))
        page.on("dialog", lambda dialog: self.complaints.append(dialog.message))
        page.goto(path.as_uri())

    def _note(self, url: str) -> None:
        if not url.startswith("file:"):
            self.complaints.append(url)

    def status(self, side: str = "a") -> str:
        return str(self.page.text_content(f"#player-{side} [data-is=status]"))

    def states(self, side: str = "a") -> list[str]:
        cells = self.page.query_selector_all(f"#player-{side} .grid .lane")
        return [cell.get_attribute("data-state") for cell in cells]

    def values(self, side: str = "a") -> list[str]:
        return [cell.text_content() for cell in self.page.query_selector_all(f"#player-{side} .grid .value")]

    def press(self, *keys: str) -> None:
        for key in keys:
            self.page.keyboard.press(key)


@pytest.fixture(scope="module")
def files(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Path]:
    folder = tmp_path_factory.mktemp("pages")
    one = profiled("if_else", timing=True).report(folder / "one.html", accesses={"a": accesses("if_else")})
    two = profiled("neighbored", timing=True).report(
        folder / "two.html",
        profiled("interleaved", timing=True),
        accesses={"a": accesses("neighbored"), "b": accesses("interleaved")},
    )
    bad = profiled("if_else").report(folder / "bad.html", hostile())
    return {"one": one, "two": two, "bad": bad}


@pytest.fixture
def opened(browser: Any, files: dict[str, Path]) -> Iterator[Any]:
    """Open a page by name, with options of the browser's context; at the end nothing may have been complained of."""
    contexts, pages = [], []

    def open_(name: str, **options: Any) -> Page:
        contexts.append(browser.new_context(**options))
        pages.append(Page(contexts[-1].new_page(), files[name]))
        return pages[-1]

    yield open_
    complaints = [complaint for page in pages for complaint in page.complaints]
    for context in contexts:
        context.close()
    assert complaints == []


def test_the_keys_step_through_the_trace(opened: Any) -> None:
    page = opened("one")
    assert page.status().startswith("Step 1 of 5: 32 of 32 lanes; shown: i")
    assert page.values() == [str(lane) for lane in range(32)]
    page.press("ArrowRight")
    assert "32 of 32 lanes, which diverge here" in page.status()
    page.press("ArrowRight")
    assert page.status().startswith("Step 3 of 5: pass 1, 24 of 32 lanes")
    assert page.states() == ["active"] * 24 + ["other_path"] * 8
    assert page.values() == [str(2 * lane) for lane in range(24)] + [""] * 8
    page.press("ArrowRight")
    assert page.values() == [str(2 * lane) for lane in range(24)] + [str(lane + 100) for lane in range(24, 32)]
    page.press("ArrowLeft", "ArrowLeft")
    assert page.status().startswith("Step 2 of 5")
    page.press("End", "ArrowRight")
    assert page.status().startswith("Step 5 of 5")
    page.press("Home")
    assert page.status().startswith("Step 1 of 5")


def test_shift_goes_pass_by_pass(opened: Any) -> None:
    page = opened("one")
    seen = []
    for _ in range(4):
        seen.append(page.status().split(":")[0])
        page.press("Shift+ArrowRight")
    assert seen == ["Step 1 of 5", "Step 3 of 5", "Step 4 of 5", "Step 5 of 5"]
    page.press("Shift+ArrowLeft")
    assert page.status().startswith("Step 4 of 5")
    page.press("Shift+ArrowLeft", "Shift+ArrowLeft")
    assert page.status().startswith("Step 1 of 5")


def test_space_plays_to_the_end_and_stops(opened: Any) -> None:
    page = opened("one")
    page.page.select_option("#player-a [data-is=speed]", "20")
    page.page.focus("#player-a")
    page.press(" ")
    assert page.page.text_content("#player-a [data-do=play]") == "Stop"
    page.page.wait_for_selector("#player-a [data-do=play] >> text=Play")
    assert page.status().startswith("Step 5 of 5")


def test_a_lane_tells_its_values(opened: Any) -> None:
    page = opened("one")
    page.press("ArrowRight", "ArrowRight")
    page.page.hover("#player-a .grid .lane:nth-child(6)")
    assert page.page.text_content("#player-a [data-is=tip]") == "lane 5: active; i = 5, value = 10"
    page.page.hover("#player-a .grid .lane:nth-child(32)")
    assert page.page.text_content("#player-a [data-is=tip]") == "lane 31: on another path; i = 31"


def test_states_differ_without_colours(opened: Any) -> None:
    """Each has a pattern and a mark of its own."""
    page = opened("one")
    swatches = page.page.query_selector_all(".legend .swatch")
    looks = [swatch.evaluate("each => getComputedStyle(each).backgroundImage") for swatch in swatches]
    marks = [swatch.text_content() for swatch in swatches]
    assert len(set(looks)) == len(set(marks)) == 5


def test_two_profiles_have_a_player_each(opened: Any) -> None:
    page = opened("two", viewport={"width": 1600, "height": 900})
    page.press("ArrowRight", "b", "ArrowRight", "ArrowRight")
    assert page.status("a").startswith("Step 2 of")
    assert page.status("b").startswith("Step 3 of")
    boxes = [page.page.query_selector(f"#player-{side}").bounding_box() for side in "ab"]
    assert boxes[0]["y"] == boxes[1]["y"]
    assert boxes[0]["x"] < boxes[1]["x"]


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_the_page_is_as_the_system_until_it_is_told_otherwise(opened: Any, scheme: str) -> None:
    page = opened("two", color_scheme=scheme)

    def is_dark() -> bool:
        color = page.page.evaluate("getComputedStyle(document.body).backgroundColor")
        return int(color.split("(")[1].split(",")[0]) < 128

    assert is_dark() == (scheme == "dark")
    chart = "getComputedStyle(document.querySelector('.chart text')).fill"
    ink = page.page.evaluate(chart)
    page.press("d")
    assert is_dark() == (scheme != "dark")
    assert page.page.evaluate(chart) != ink
    page.page.click("#theme")
    assert is_dark() == (scheme == "dark")


def test_printed_it_is_light_and_complete(opened: Any, tmp_path: Path) -> None:
    page = opened("two", color_scheme="dark")
    page.page.evaluate("dispatchEvent(new Event('beforeprint'))")
    page.page.emulate_media(media="print")
    assert page.page.evaluate("getComputedStyle(document.body).backgroundColor") == "rgb(255, 255, 255)"
    assert page.page.evaluate("document.querySelectorAll('details:not([open])').length") == 0
    assert not page.page.is_visible(".controls")
    page.page.evaluate("dispatchEvent(new Event('afterprint'))")
    assert page.page.evaluate("document.querySelectorAll('details:not([open])').length") > 0
    assert len(page.page.pdf()) > 10_000


@pytest.mark.parametrize("width", [360, 800, 1600])
def test_nothing_is_wider_than_the_screen(opened: Any, width: int) -> None:
    for name in ("one", "two"):
        page = opened(name, viewport={"width": width, "height": 800})
        assert page.page.evaluate("document.documentElement.scrollWidth") <= width


def test_no_script_of_a_profile_runs(opened: Any) -> None:
    page = opened("bad")
    assert "alert(1)" in page.page.text_content("body")
    assert page.page.evaluate("document.images.length") == 0


def test_it_opens_at_once(opened: Any) -> None:
    """Two seconds are allowed for a launch of 2^24 elements; a page's size does not depend on the size of a launch."""
    start = time.perf_counter()
    opened("two")
    assert time.perf_counter() - start < 10  # a machine of CI may be busy
