"""The libraries that stand in the place of NVIDIA's: compiled once with the user's C compiler, and kept."""

from __future__ import annotations

import os
import platform
import shutil
import subprocess
import sys
from functools import cache
from importlib import resources
from pathlib import Path
from tempfile import TemporaryDirectory

from simt.check import UnsupportedError
from simt.disk_cache import DiskCache, cache_root, digest
from simt.driver import protocol

RUNTIMES = (12, 13)
"""Versions of CUDA whose runtime there is: ``cudaDeviceProp`` is another structure in each."""
DRIVER = "libcuda.so.1"
_FLAGS = ("-std=gnu11", "-D_GNU_SOURCE", "-O2", "-fPIC", "-fvisibility=hidden", "-shared", "-Wall", "-Wno-parentheses")


def libraries() -> Path:
    """The folder with ``libcuda.so.1`` and ``libcudart.so.*``; compiled if it is not there yet.

    Raises UnsupportedError where there is no C compiler, and on other systems than Linux.
    """
    if sys.platform != "linux":
        raise UnsupportedError(
            f"programs run on Linux, not on {platform.system()}",
            help="launch their kernels one by one with simt run, or use a container or WSL",
        )
    compiler = _compiler()
    sources = _sources()
    name = digest(compiler, platform.machine(), " ".join(_FLAGS), *(f"{k}\0{v}" for k, v in sources.items()))
    cache = DiskCache("libraries", cache_root() / "libraries", most=8)
    return cache.folder_of(name, lambda folder: _build(compiler, sources, folder), "compiling the CUDA libraries")


def _compiler() -> str:
    """The user's C compiler."""
    wanted = os.environ.get("CC", "cc").split()
    found = shutil.which(wanted[0]) or shutil.which("gcc") or shutil.which("clang")
    if found is None:
        raise UnsupportedError(
            "programs need a C compiler once, and there is none",
            help="install one (apt install gcc), or name it in the environment variable CC",
        )
    return found


@cache
def _sources() -> dict[str, str]:
    """Every file that is compiled, by name: those of the folder ``native``, and those that are made from its tables."""
    folder = resources.files(__package__).joinpath("native")
    found = {file.name: file.read_text(encoding="utf-8") for file in folder.iterdir() if file.name[-2:] in (".c", ".h")}
    errors, driver, runtime = (
        _rows(folder.joinpath(name).read_text(encoding="utf-8"))
        for name in ("errors.txt", "driver_names.txt", "runtime_names.txt")
    )
    found["protocol.h"] = protocol.header()
    found["errors.h"] = _errors(errors)
    found["driver_stubs.c"] = _driver_stubs(driver)
    found["runtime_stubs.c"] = _stubs([row[0] for row in runtime], "simt_runtime_unsupported")
    return found


def _rows(text: str) -> list[list[str]]:
    """Lines of words, without comments."""
    return [line.split(" ", 3) for line in text.splitlines() if line and not line.startswith("#")]


def _errors(rows: list[list[str]]) -> str:
    """CUDA's error codes in C: names, and a table with their texts."""
    names = [f"{name} = {code}" for code, driver, runtime, _ in rows for name in (driver, runtime) if name != "-"]
    table = [f'  {{{code}, "{driver}", "{runtime}", "{text}"}},' for code, driver, runtime, text in rows]
    return "\n".join(
        [
            "#pragma once",
            f"enum {{ {', '.join(names)} }};",
            "struct simt_error { int code; const char *driver, *runtime, *text; };",
            "__attribute__((unused)) static const struct simt_error simt_errors[] = {",
            *table,
            "  {0, 0, 0, 0}\n};\n",
        ]
    )


def _stubs(names: list[str], missing: str) -> str:
    """Every entry point that is defined nowhere else: it says that it is not supported.

    Those for the default stream of each thread (``_ptsz``, ``_ptds``) are the others: streams make no difference here.
    """
    known = set(names)
    lines = [f"int {missing}(const char *);"]
    for name in names:
        base, _, suffix = name.rpartition("_")
        if suffix in ("ptsz", "ptds") and base in known:
            jump = "jmp " if platform.machine() in ("x86_64", "AMD64", "i686") else "b "
            plt = "@PLT" if jump == "jmp " else ""
            lines.append(f'__asm__(".weak {name}\\n.type {name},%function\\n{name}: {jump}{base}{plt}");')
        else:
            lines.append(
                f'__attribute__((weak, visibility("default"))) int {name}(void) {{ return {missing}("{name}"); }}'
            )
    return "\n".join(lines) + "\n"


def _driver_stubs(rows: list[list[str]]) -> str:
    """Stubs of the driver, and its table of entry points by name and version."""
    symbols = sorted({row[2] for row in rows})
    lines = [
        _stubs(symbols, "simt_unsupported"),
        "struct entry { const char *base; int version; const char *symbol; void *function; };",
        *(f"int {name}(void);" for name in symbols if name.endswith(("_ptsz", "_ptds"))),
        "const struct entry simt_entries[] = {",
        *(f'  {{"{base}", {version}, "{symbol}", (void *){symbol}}},' for base, version, symbol in rows),
        "  {0, 0, 0, 0}\n};\n",
    ]
    return "\n".join(lines)


def _build(compiler: str, sources: dict[str, str], folder: Path) -> None:
    """Compile all libraries into *folder*."""
    with TemporaryDirectory() as place:
        for name, text in sources.items():
            Path(place, name).write_text(text, encoding="utf-8")
        runtime = sorted(name for name in sources if name.endswith(".c") and name.startswith("runtime"))
        driver = sorted(name for name in sources if name.endswith(".c") and name not in runtime)
        _compile(compiler, place, driver, folder / DRIVER, [])
        (folder / "libcuda.so").symlink_to(DRIVER)
        for version in RUNTIMES:
            name = f"libcudart.so.{version}"
            # The name of the version is NVIDIA's: programs linked with theirs ask for it.
            Path(place, "map").write_text(f"{name} {{ global: cuda*; __cuda*; local: *; }};", encoding="utf-8")
            options = [f"-DRUNTIME={version}", "-Wl,--version-script=map", "-Wl,-rpath,$ORIGIN", str(folder / DRIVER)]
            _compile(compiler, place, runtime, folder / name, options)
        (folder / "libcudart.so").symlink_to(f"libcudart.so.{RUNTIMES[-1]}")


def _compile(compiler: str, place: str, names: list[str], made: Path, options: list[str]) -> None:
    command = [compiler, *_FLAGS, *names, f"-Wl,-soname,{made.name}", "-o", str(made), *options, "-lpthread"]
    done = subprocess.run(command, cwd=place, capture_output=True, text=True, check=False)
    if done.returncode:
        raise UnsupportedError(
            f"{compiler} cannot compile {made.name}",
            details=[line for line in done.stderr.splitlines() if "error" in line][:5] or done.stderr.splitlines()[:5],
            help="name another C compiler in the environment variable CC",
        )
