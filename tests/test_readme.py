"""The README's commands are the ones that CI runs, and its links lead somewhere."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[1]
README = (ROOT / "README.md").read_text(encoding="utf-8")


def test_ci_runs_the_commands_of_the_readme() -> None:
    script = (ROOT / ".ci" / "run").read_text(encoding="utf-8")
    ci = script.split("<<'COMMANDS'\n")[1].split("COMMANDS\n")[0].splitlines()
    shown = re.findall(r"^```bash\n(.*?)^```", README, flags=re.MULTILINE | re.DOTALL)
    readme = [line for block in shown[:2] for line in block.splitlines()]
    assert ci == readme


@pytest.mark.parametrize("page", ["README.md", "ARCHITECTURE.md"])
def test_relative_links_exist(page: str) -> None:
    text = (ROOT / page).read_text(encoding="utf-8")
    targets = re.findall(r"\]\((?!https?:)([^)#]+)", text)
    missing = [target for target in targets if not (ROOT / target).exists()]
    assert not missing
