"""Spoilt inputs, many of them, each tried in a process that may die of it.

``python -m tests.fuzz.run --mutants 100000 --jobs 2`` prints what became of them by kind, and every one that crashed
the process, hung it, or ended in an error that is not simt's own; exit code 1 if there were any.  ``--seconds 400``
begins none after that time: the kinds are mixed, so what was tried until then has about their shares.
``python -m tests.fuzz.run --try "elf 17"`` tries one, here, and shows its traceback.
``NUMBA_BOUNDSCHECK=1`` or ``NUMBA_DISABLE_JIT=1`` in the environment check every index of the engine.
"""

from __future__ import annotations

import argparse
import itertools
import json
import math
import queue
import signal
import subprocess
import sys
import tempfile
import threading
import time
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import IO

ROOT = Path(__file__).parents[2]
WORKER = (sys.executable, "-m", "tests.fuzz.worker")
SECONDS = 600.0
"""A mutant that takes longer hangs, though it does not compute (worker.CPU_SECONDS); long, for busy computers."""
START_SECONDS = 1800.0
"""The first of a process may have to wait for the engine to be compiled."""
HANG = -getattr(signal, "SIGPROF", 0)
"""Exit code of a process whose mutant computed for too long."""
SHARES = {
    "elf": 26, "cubin": 2, "fatbin": 1, "listing": 10, "operand": 10, "form": 6, "control": 9, "profile": 11,
    "device": 7, "program": 5, "source": 1, "raw": 5, "message": 4, "format": 3,
}  # fmt: skip
"""Shares of the kinds in percent: nvdisasm, cuobjdump and NVRTC, which ``cubin``, ``fatbin`` and ``source`` need, take
their time."""
FINE = ("result", "refused")


@dataclass
class Report:
    """Outcomes by kind, and what was wrong: (kind, number, what)."""

    counts: Counter[tuple[str, str]] = field(default_factory=Counter)
    wrong: list[tuple[str, int, str]] = field(default_factory=list)

    def add(self, kind: str, number: int, outcome: str, message: str = "") -> None:
        """Count one mutant."""
        self.counts[kind, outcome] += 1
        if outcome not in FINE:
            self.wrong.append((kind, number, f"{outcome} {message}".rstrip()))

    def __str__(self) -> str:
        outcomes = [*FINE, "inside", "crash", "hang"]
        rows = [f"{'kind':10}" + "".join(f"{name:>10}" for name in outcomes) + f"{'mutants':>10}"]
        for kind in [*dict.fromkeys(kind for kind, _ in self.counts)]:
            row = [self.counts[kind, name] for name in outcomes]
            rows.append(f"{kind:10}" + "".join(f"{count:10}" for count in [*row, sum(row)]))
        total = [sum(self.counts[key] for key in self.counts if key[1] == name) for name in outcomes]
        rows.append(f"{'all':10}" + "".join(f"{count:10}" for count in [*total, sum(total)]))
        return "\n".join(rows)


class _Worker:
    """A process that tries mutants; its output comes through a queue, so that waiting for it can end."""

    def __init__(self, command: Sequence[str], environment: Mapping[str, str] | None) -> None:
        self.errors = tempfile.TemporaryFile("w+")  # noqa: SIM115  # open as long as the process
        self.process = subprocess.Popen(
            command,
            cwd=ROOT,
            env=environment,
            text=True,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=self.errors,
        )
        assert self.process.stdin is not None
        assert self.process.stdout is not None
        self.stdin: IO[str] = self.process.stdin
        self.lines: queue.Queue[str] = queue.Queue()
        threading.Thread(target=self._read, args=(self.process.stdout,), daemon=True).start()

    def _read(self, stdout: IO[str]) -> None:
        for line in stdout:
            self.lines.put(line)
        self.lines.put("")

    def ask(self, kind: str, number: int, seconds: float) -> tuple[str, str]:
        """Outcome and message of one mutant; ``crash`` or ``hang`` where the process did not answer."""
        try:
            self.stdin.write(f"{kind} {number}\n")
            self.stdin.flush()
            tried, answer = self.lines.get(timeout=seconds), ""
            if tried:
                answer = self.lines.get(timeout=seconds)
        except queue.Empty:
            return "hang", f"no answer in {seconds:g} s"
        except BrokenPipeError:
            answer = ""
        if not answer:
            code = self.process.wait()
            if code == HANG:
                return "hang", "it computes for too long"
            self.errors.seek(0)
            return "crash", f"exit code {code}: {self.errors.read()[-300:]}"
        found = json.loads(answer)
        return found["outcome"], found.get("message", "")

    def close(self) -> None:
        """End the process."""
        self.process.kill()
        self.process.wait()
        self.errors.close()


def fuzz(
    mutants: Iterator[tuple[str, int]],
    *,
    jobs: int = 1,
    command: Sequence[str] = WORKER,
    environment: Mapping[str, str] | None = None,
    seconds: float = SECONDS,
    start_seconds: float = START_SECONDS,
    log: IO[str] | None = None,
) -> Report:
    """Try mutants (kind, number) in *jobs* processes; a process that died or hung is replaced."""
    report = Report()
    lock = threading.Lock()

    def work() -> None:
        worker = None
        while True:
            with lock:
                item = next(mutants, None)
            if item is None:
                break
            fresh = worker is None
            worker = worker or _Worker(command, environment)
            outcome, message = worker.ask(*item, start_seconds if fresh else seconds)
            with lock:
                report.add(*item, outcome, message)
                if outcome not in FINE and log:
                    print(*item, outcome, message.splitlines()[0] if message else "", file=log, flush=True)
                if log and sum(report.counts.values()) % 1000 == 0:
                    print(f"{sum(report.counts.values())} mutants", file=log, flush=True)
            if outcome in ("crash", "hang"):
                worker.close()
                worker = None
        if worker:
            worker.close()

    threads = [threading.Thread(target=work) for _ in range(jobs)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    return report


def mixed(total: int, first: int, kinds: Sequence[str]) -> Iterator[tuple[str, int]]:
    """So many mutants of *kinds* by their shares, the kinds in turn, with numbers from *first* on."""
    share = sum(SHARES[kind] for kind in kinds)
    counts = {kind: -(-total * SHARES[kind] // share) for kind in kinds}
    turns = sorted(((at + 0.5) / count, kind, at) for kind, count in counts.items() for at in range(count))
    return ((kind, first + at) for _, kind, at in turns)


def until(end: float, mutants: Iterator[tuple[str, int]]) -> Iterator[tuple[str, int]]:
    """The mutants that are asked for before that time of ``time.perf_counter``."""
    return itertools.takewhile(lambda _: time.perf_counter() < end, mutants)


def main() -> int:
    """The command line."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--mutants", type=int, default=1000, help="how many in all")
    parser.add_argument("--first", type=int, default=0, help="the number of the first of each kind")
    parser.add_argument("--kinds", default=",".join(SHARES), help="kinds, separated by commas")
    parser.add_argument("--jobs", type=int, default=1, help="processes at once")
    parser.add_argument("--seconds", type=float, default=math.inf, help="begin no mutant after so long")
    parser.add_argument("--hang", type=float, default=SECONDS, help="a mutant without an answer for so long hangs")
    parser.add_argument("--try", dest="one", metavar="'KIND NUMBER'", help="try one mutant here")
    options = parser.parse_args()
    if options.one:
        return _try(options.one)
    start = time.perf_counter()
    mutants = mixed(options.mutants, options.first, options.kinds.split(","))
    report = fuzz(until(start + options.seconds, mutants), jobs=options.jobs, seconds=options.hang, log=sys.stdout)
    print(report)
    print(f"{time.perf_counter() - start:.0f} s")
    return 1 if report.wrong else 0


def _try(mutant: str) -> int:
    from tests.fuzz.worker import outcome

    kind, number = mutant.split()
    with tempfile.TemporaryDirectory() as folder:
        found = outcome(kind, int(number), Path(folder))
    for name, value in found.items():
        print(f"{name}: {value}")
    return int(found["outcome"] not in FINE)


if __name__ == "__main__":
    sys.exit(main())
