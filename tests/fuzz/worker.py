"""Tries mutants, one after the other, in a process of its own.

Reads lines ``KIND NUMBER`` and answers each with two lines of JSON: what is tried, before it is, and what came of it.
So whoever started the process knows which mutant it was on when the process died.
"""

from __future__ import annotations

import json
import signal
import sys
import tempfile
import traceback
import warnings
from pathlib import Path
from typing import Any

import simt.toolkit.nvdisasm
from simt.check import SimtError
from simt.disk_cache import DiskCache
from tests.fuzz.trials import mutant, warm_up

ADDRESS_SPACE = 1 << 39
"""Bytes that a worker may map: an input that asks for more must be refused, not served.  Device memory reserves 2**36,
that of each cubin with variables, which are kept, too."""
CPU_SECONDS = 30.0
"""A mutant that computes for longer hangs: the process is ended by a signal."""


def outcome(kind: str, number: int, folder: Path) -> dict[str, Any]:
    """Try one mutant: ``result``, ``refused`` (an error of simt, with a message) or ``inside`` (any other error)."""
    made = mutant(kind, number)
    path = folder / f"mutant{made.suffix}"
    path.write_bytes(made.data)
    try:
        made.trial(path)
    except SimtError as error:
        said = str(error)
        return {"outcome": "refused", "message": said} if error.title else {"outcome": "inside", "message": repr(error)}
    except Exception as error:
        frames = traceback.extract_tb(error.__traceback__)
        ours = [frame for frame in frames if "/simt/" in frame.filename] or list(frames)
        where = f"{Path(ours[-1].filename).name}:{ours[-1].lineno} {ours[-1].name}"
        return {
            "outcome": "inside",
            "message": f"{type(error).__name__}: {error} at {where}"[:500],
            "traceback": traceback.format_exc(),
        }
    return {"outcome": "result"}


def main() -> None:
    """Serve until standard input ends."""
    warnings.simplefilter("ignore")  # what is spoilt may well overflow
    warm_up()
    if sys.platform == "linux":
        import resource

        resource.setrlimit(resource.RLIMIT_AS, (ADDRESS_SPACE, ADDRESS_SPACE))
    with tempfile.TemporaryDirectory() as folder:
        # Those of mutants are not worth keeping, but they must not push out those of the sound ones.
        simt.toolkit.nvdisasm.LISTINGS = DiskCache("listings", Path(folder) / "listings", most=64)
        for line in sys.stdin:
            kind, number = line.split()
            if hasattr(signal, "setitimer"):
                signal.setitimer(signal.ITIMER_PROF, CPU_SECONDS)
            print(json.dumps({"kind": kind, "number": int(number)}), flush=True)
            print(json.dumps(outcome(kind, int(number), Path(folder))), flush=True)


if __name__ == "__main__":
    main()
