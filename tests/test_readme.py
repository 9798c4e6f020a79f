"""The README's commands are the ones that CI runs, and its links lead somewhere."""

from __future__ import annotations

import os
import re
import shlex
import subprocess
import sys
import xml.etree.ElementTree as ElementTree
from pathlib import Path

import pytest

from simt.lang.dialect import NAMES
from simt.lang.intrinsics import INTRINSICS
from simt.profile import STALLS
from tests.machine_view import needs_numba_cuda, needs_nvdisasm

ROOT = Path(__file__).resolve().parents[1]
README = (ROOT / "README.md").read_text(encoding="utf-8")


def test_ci_runs_the_commands_of_the_readme() -> None:
    script = (ROOT / ".ci" / "run").read_text(encoding="utf-8")
    ci = script.split("<<'COMMANDS'\n")[1].split("COMMANDS\n")[0].splitlines()
    shown = re.findall(r"^```bash\n(.*?)^```", README, flags=re.MULTILINE | re.DOTALL)
    readme = [line for block in shown[:2] for line in block.splitlines()]
    assert ci == readme


def test_the_table_of_commands_has_those_that_there_are() -> None:
    table = README.split("\n## Commands\n")[1].split("\n## ")[0]
    told = {name for row in table.splitlines() for name in re.findall(r"`simt (\w+)", row.split(" | ")[0])}
    command = [sys.executable, "-m", "simt", "--help"]
    wide = os.environ | {"COLUMNS": "200"}
    shown = subprocess.run(command, capture_output=True, text=True, check=True, env=wide).stdout
    assert told == set(re.findall(r"^│ (\w+) ", shown, flags=re.MULTILINE))


ENTRANCES = ("README.md", "ARCHITECTURE.md", "CONTRIBUTING.md")
PAGES = [*(ROOT / name for name in ENTRANCES), *ROOT.glob("docs/*.md"), *ROOT.glob("tests/**/*.md")]


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.relative_to(ROOT).as_posix())
def test_links_lead_somewhere(page: Path) -> None:
    """Files exist, and so do the headings that links into pages name."""
    links = re.findall(r"\]\((?!https?:)([^)#]*)(?:#([^)]+))?\)", page.read_text(encoding="utf-8"))
    for target, heading in links:
        file = (page.parent / target) if target else page
        assert file.exists(), target
        if heading:
            assert heading in _anchors(file.read_text(encoding="utf-8")), heading


def _anchors(text: str) -> list[str]:
    """The names that GitHub gives to a page's headings."""
    headings = re.findall(r"^#+ (.*)$", text, flags=re.MULTILINE)
    return [re.sub(r"[^\w\- ]", "", heading.lower()).replace(" ", "-") for heading in headings]


def test_the_dialect_page_lists_what_a_kernel_may_call() -> None:
    """Every name of the dialect and of math, and no other."""
    page = (ROOT / "docs" / "dialect.md").read_text(encoding="utf-8")
    section = page.split("# What a kernel may use\n")[1].split("\n## ")[0]
    listed = set()
    for kind, names in re.findall(r"^\|[^|`]*`([\w.]+\.)`[^|]*\|(.*)\|$", section, flags=re.MULTILINE):
        listed |= {kind + name for name in re.findall(r"`(.+?)`", names)}
    whole = {f"cuda.{name}" for name in NAMES if name not in ("shared", "local", "const", "atomic", "cg")}
    assert listed == whole | {name for name in INTRINSICS if name.startswith("math.")}


def _shown(command: str) -> tuple[list[str], str]:
    """The words and the output of the command in the README that starts so."""
    blocks = re.findall(r"^```console\n\$ (.*?)^```", README, flags=re.MULTILINE | re.DOTALL)
    (block,) = [block for block in blocks if block.startswith(command)]
    typed, output = block.replace("\\\n", " ").split("\n", 1)
    return shlex.split(typed), output


@pytest.mark.parametrize("command", ["simt trace", pytest.param("simt profile", marks=needs_nvdisasm)])
def test_the_output_shown_is_the_real_one(command: str) -> None:
    words, output = _shown(command)
    assert _printed(words) == output.splitlines()


def test_the_picture_shown_is_the_real_one(tmp_path: Path) -> None:
    """The command in the sentence before it draws it."""
    (words, picture) = re.findall(r"^`(simt trace .*)`:\n\n!\[.*\]\((.*)\)$", README, flags=re.MULTILINE)[0]
    _printed([*words.split(), "--svg", str(tmp_path / "picture.svg")])
    drawn, shown = (
        [text.text for text in ElementTree.parse(file).iter("{http://www.w3.org/2000/svg}text")]
        for file in (tmp_path / "picture.svg", ROOT / picture)
    )
    assert drawn == shown


def _printed(words: list[str]) -> list[str]:
    done = subprocess.run(
        [sys.executable, "-m", *words], capture_output=True, text=True, check=True, cwd=ROOT, encoding="utf-8"
    )
    return done.stdout.splitlines()


TIMED = [pytest.param("simt reduce --size 2^22 --view", marks=needs_numba_cuda), "simt run interleaved"]


@pytest.mark.parametrize("command", TIMED)
def test_the_timing_shown_has_the_shape_of_the_real_one(command: str) -> None:
    """Predictions and compilers change: figures and reasons may differ, all other words not."""
    reasons = "|".join(reason.replace("_", " ") for reason in STALLS)

    def words_of(lines: list[str]) -> list[str]:
        return re.sub(rf"(?m)^>|{reasons}|[─\d.,]+", " ", "\n".join(lines)).split()

    typed, output = _shown(command)
    end = typed.index("|") if "|" in typed else len(typed)
    tail = int(typed[-1].lstrip("-")) if "|" in typed else 0
    assert words_of(_printed(typed[:end])[-tail:]) == words_of(output.splitlines())
