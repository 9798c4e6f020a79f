"""Running the command in the test's own process."""

from __future__ import annotations

import json
import sys
from typing import Any, NamedTuple

import pytest

from simt.__main__ import main


class Outcome(NamedTuple):
    """What a command left behind."""

    code: int
    out: str
    err: str

    def json(self) -> Any:
        return json.loads(self.out)


@pytest.fixture
def run(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]):
    """Run ``simt`` with arguments, in this process."""

    def run(*arguments: str) -> Outcome:
        monkeypatch.setattr(sys, "argv", ["simt", *arguments])
        with pytest.raises(SystemExit) as caught:
            main()
        code = caught.value.code
        return Outcome(int(code or 0), *capsys.readouterr())

    return run
