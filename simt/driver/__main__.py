"""A server of one process, which the library in that process starts where no other one is named (`simt env`).

``python -m simt.driver NUMBER``: NUMBER is the file descriptor of the connection.  The variables ``SIMT_DEVICE``,
``SIMT_TIMING``, ``SIMT_METRICS``, ``SIMT_CHECK``, ``SIMT_KEEP_GOING``, ``SIMT_SCHEDULE``, ``SIMT_FILL``,
``SIMT_MAX_INSTRUCTIONS``, ``SIMT_SMS``, ``SIMT_MAX_HOST_SECONDS``, ``SIMT_SET``, ``SIMT_LOG`` say what ``simt exec``
says by options; the report goes to the file ``SIMT_LOG`` (added to its end), or to standard error.
"""

from __future__ import annotations

import os
import signal
import socket
import sys
from collections.abc import Sequence

from simt.check import SimtError
from simt.driver.program import check_settings
from simt.driver.report import marked, previewed, report
from simt.driver.server import serve
from simt.driver.session import Session
from simt.driver.settings import Finding, Finished, Settings, checking, is_on, listed, modelling
from simt.metrics import needs_timing
from simt.profile import Profile


def main() -> None:
    """Serve until the process at the other end has ended, and report."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # ctrl-C is the program's affair
    connection = socket.socket(fileno=int(sys.argv[1]))
    metrics = listed("SIMT_METRICS")
    try:
        timing = is_on("SIMT_TIMING") or needs_timing(metrics)
        device = os.environ.get("SIMT_DEVICE") or "h200"
        settings = Settings(
            device, timing=timing, model=modelling(), **checking(), on_finding=_tell, on_preview=_preview
        )
        check_settings(settings)
        serve(connection, settings, lambda session: None, lambda session: _report(session, metrics))
    except SimtError as error:
        _write(marked(str(error)))


def _report(session: Session, metrics: Sequence[str]) -> None:
    if session.began:
        _write(marked(report(Finished(0, [session.device.activities], session.findings), metrics)))


def _tell(finding: Finding) -> None:
    _write(marked(str(finding)))


def _preview(profile: Profile) -> None:
    _write(marked(previewed(profile)))


def _write(text: str) -> None:
    path = os.environ.get("SIMT_LOG")
    if path:
        with open(path, "a", encoding="utf-8") as file:
            file.write(text + "\n")
    else:
        print(text, file=sys.stderr, flush=True)


if __name__ == "__main__":
    main()
