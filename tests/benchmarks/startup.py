"""How long a user waits: for help, the first launch ever, the compiled engine, and a launch from the cache."""

from __future__ import annotations

import os
import subprocess
import sys
import tempfile
import time


def seconds(arguments: list[str], environment: dict[str, str]) -> float:
    """Wall time of a module run as a program."""
    start = time.perf_counter()
    subprocess.run([sys.executable, "-m", *arguments], env=environment, check=True, stdout=subprocess.DEVNULL)
    return time.perf_counter() - start


def main() -> None:
    with tempfile.TemporaryDirectory() as cache:
        # Every place where a compiled engine may be cached moves to an empty folder.
        environment = {**os.environ, "NUMBA_CACHE_DIR": cache, "XDG_CACHE_HOME": cache, "LOCALAPPDATA": cache}
        trace, reduce = ["simt", "trace", "if_else"], ["simt", "reduce", "--size", "2^16"]
        for what, arguments, repeats in (
            ("simt --help", ["simt", "--help"], 5),
            ("simt trace if_else, first ever", trace, 1),
            ("until the engine is compiled", ["simt.runtime.build"], 1),
            ("simt reduce --size 2^16, from cache", reduce, 3),
        ):
            best = min(seconds(arguments, environment) for _ in range(repeats))
            print(f"{what:36}{best:6.2f} s")


if __name__ == "__main__":
    main()
