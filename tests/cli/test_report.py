"""``simt report``, pictures as SVG, and output for narrow terminals."""

from __future__ import annotations

import json
import re
import xml.etree.ElementTree as ElementTree
from pathlib import Path
from typing import Any

import pytest

from tests.machine_view import needs_numba_cuda

SMALL = ("--size", "2^10", "--block", "64")


def films(page: Path) -> Any:
    found = re.search(r'<script type="application/json" id="data">(.*?)</script>', page.read_text(encoding="utf-8"))
    assert found is not None
    return json.loads(found[1])["films"]


def test_a_page_of_two_kernels(run: Any, tmp_path: Path) -> None:
    page = tmp_path / "page.html"
    found = run("report", "neighbored", "interleaved", *SMALL, "--timing", "--warp", "1", "-o", str(page))
    assert (found.code, found.err) == (0, "")
    assert str(page) in found.out
    text = page.read_text(encoding="utf-8")
    assert {key: film["warps"][0]["warp"] for key, film in films(page).items()} == {"a": 1, "b": 1}
    for part in ("strided, lanes are", "from cycle", "What warps that did not issue waited for", "inst_per_warp"):
        assert part in text


def test_a_page_of_a_saved_profile(run: Any, tmp_path: Path) -> None:
    saved, page = tmp_path / "saved.json", tmp_path / "page.html"
    saved.write_text(run("run", "if_else", "--json").out, encoding="utf-8")
    assert run("report", str(saved), "if_else", "-o", str(page)).code == 0
    assert list(films(page)) == ["b"]


@needs_numba_cuda
def test_a_page_of_machine_code_has_its_source(run: Any, tmp_path: Path) -> None:
    page = tmp_path / "page.html"
    assert run("report", "if_else@sm_90", "-o", str(page)).code == 0
    text = page.read_text(encoding="utf-8")
    assert "value = i + 100" in text
    assert "STG.E" in text


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (["if_else", "-o", "absent/page.html"], "no folder absent"),
        (["if_else", "-o", "page.html", "--metric", "gld_eficiency"], "did you mean gld_efficiency"),
        (["if_else", "-o", "page.html", "--warp", "9"], "no block 0 with a warp 9"),
        (["if_els", "-o", "page.html"], "did you mean if_else"),
    ],
)
def test_bad_reports(
    run: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, arguments: list[str], words: str
) -> None:
    monkeypatch.chdir(tmp_path)
    found = run("report", *arguments)
    assert found.code == 2
    assert words in found.err
    assert not list(tmp_path.iterdir())


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (["trace", "if_else"], "########"),
        (["timeline", "if_else"], "scheduler"),
        (["explain", "if_else"], "inst_per_warp"),
    ],
)
def test_pictures(run: Any, tmp_path: Path, arguments: list[str], words: str) -> None:
    file = tmp_path / "picture.svg"
    assert run(*arguments, "--svg", str(file)).code == 0
    text = file.read_text(encoding="utf-8")
    shown = "".join(ElementTree.fromstring(text).itertext()).replace("\xa0", " ")
    assert words in shown
    assert not re.search(r"url\((?!#)|@import|href=", text)
    assert run(*arguments, "--svg", str(tmp_path / "absent" / "picture.svg")).code == 2


NARROW = [
    ["trace", "if_else"],
    ["trace", "if_else", "--values"],
    ["trace", "neighbored", "--values", *SMALL],
    ["timeline", "neighbored", *SMALL],
    ["explain", "neighbored", "interleaved", *SMALL],
    ["diff", "neighbored", "interleaved", *SMALL],
    ["run", "neighbored", *SMALL],
    ["run", "neighbored", *SMALL, "--timing"],
    ["metrics"],
    ["metrics", "inst_per_warp"],
    ["kernels"],
    ["devices", "h200"],
    ["occupancy"],
]


@pytest.mark.parametrize("arguments", NARROW, ids=" ".join)
def test_eighty_columns_are_enough(run: Any, monkeypatch: pytest.MonkeyPatch, arguments: list[str]) -> None:
    """Lines longer than 80 columns are single words, such as the profiler's names; no word is cut in two."""
    monkeypatch.setattr("simt.cli.output.sys.stdout.isatty", lambda: True, raising=False)
    monkeypatch.setenv("NO_COLOR", "1")
    monkeypatch.setenv("COLUMNS", "400")
    wide = set(run(*arguments).out.split())
    monkeypatch.setenv("COLUMNS", "80")
    found = run(*arguments)
    assert found.code == 0
    shown = re.sub(r"\x1b\[[\d;]*m", "", found.out)
    assert [line for line in shown.splitlines() if len(line) > 80 and len(line.split()) > 1] == []
    words = {word for word in wide if re.fullmatch(r"[a-z_]{4,}", word)}
    missing = words - set(re.findall(r"[\w.]+", shown))
    assert len(missing) <= len(words) / 4, missing  # code may be cut off, and some columns are left out


def test_what_a_person_would_ask_first_is_asked_first(run: Any) -> None:
    file = Path(__file__).parents[1] / "data" / "sass" / "sm_90" / "kernels_O3.cubin"
    assert "reduceNeighbored" in run("profile", str(file), "--kernel", "reduceNeighbord").err
    assert "--grid" in run("profile", str(file), "--kernel", "reduceNeighbored").err
