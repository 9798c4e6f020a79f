"""What the libraries in the place of NVIDIA's are compiled from, and how.

Imports nothing of the package: wheels are built with it where no other package is installed (``hatch_build.py``).
"""

from __future__ import annotations

import hashlib
import platform
import subprocess
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from importlib.abc import Traversable

RUNTIMES = (12, 13)
"""Versions of CUDA whose runtime there is: ``cudaDeviceProp`` is another structure in each."""
DRIVER = "libcuda.so.1"
FLAGS = ("-std=gnu11", "-D_GNU_SOURCE", "-O2", "-fPIC", "-fvisibility=hidden", "-shared", "-Wall", "-Wno-parentheses")
STAMP = "SOURCES"
"""The file beside libraries of a wheel that says what they were compiled from (:func:`stamp`)."""


class NotCompiledError(Exception):
    """The compiler refused a library; ``args``: its name and what the compiler printed, in lines."""


def stamp(sources: dict[str, str]) -> str:
    """A name for libraries that are compiled from *sources* for this kind of processor."""
    parts = (platform.machine(), " ".join(FLAGS), *(part for item in sorted(sources.items()) for part in item))
    return hashlib.sha256("\0".join(parts).encode()).hexdigest()


def sources(folder: Traversable, header: str) -> dict[str, str]:
    """Every file that is compiled, by name: those of *folder* (``native``), and those that are made from its tables.

    *header*: the protocol in C (:func:`simt.driver.protocol.header`).
    """
    found = {file.name: file.read_text(encoding="utf-8") for file in folder.iterdir() if file.name[-2:] in (".c", ".h")}
    errors, driver, runtime = (
        _rows(folder.joinpath(name).read_text(encoding="utf-8"))
        for name in ("errors.txt", "driver_names.txt", "runtime_names.txt")
    )
    found["protocol.h"] = header
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


def compile_libraries(compiler: str, sources: dict[str, str], folder: Path) -> None:
    """Compile all libraries into *folder*.  Raises :class:`NotCompiledError`."""
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
    command = [compiler, *FLAGS, *names, f"-Wl,-soname,{made.name}", "-o", str(made), *options, "-lpthread"]
    done = subprocess.run(command, cwd=place, capture_output=True, text=True, check=False)
    if done.returncode:
        raise NotCompiledError(made.name, done.stderr.splitlines())
