"""CUDA C to a program: nvcc with what a program needs to run on the modelled GPU."""

from __future__ import annotations

import json
import os
import re
import shutil
import subprocess
import tempfile
from collections.abc import Sequence
from pathlib import Path

from simt.check import KernelError, MissingError, UnsupportedError, check_source
from simt.disk_cache import DiskCache, cache_root, digest
from simt.toolkit.diagnostics import refusal
from simt.toolkit.find import find_program, identity

PROGRAMS = DiskCache("programs", cache_root() / "programs", most=64)
"""What nvcc made, by the contents of the source and of every file that it includes, the options and the compiler."""
INCLUDED = DiskCache("lists of headers", cache_root() / "included", most=256)
"""The files that each source included when it was compiled last."""

_ARCHITECTURE = re.compile(r"-{1,2}(arch|gpu-architecture|gencode|generate-code|code|gpu-code)\b")
_RUNTIME = re.compile(r"-{1,2}cudart\b")
_DEBUG = {"-G", "--device-debug", "-lineinfo", "--generate-line-info"}
_FLAGS_OF_THE_USER = ("NVCC_PREPEND_FLAGS", "NVCC_APPEND_FLAGS")
_RELOCATABLE = "requires separate compilation mode"
"""What nvcc says of kernels that launch kernels."""
_UNKNOWN_ARCHITECTURE = re.compile(r"Unsupported gpu architecture '\w*?_(\w+)'")


def needed_flags(libraries: Path, architecture: str, given: Sequence[str] = ()) -> list[str]:
    """Options of nvcc for programs that the modelled GPU can run, as far as *given* does not have them.

    They link with the shared CUDA runtime in the folder *libraries*, and keep line numbers.
    """
    flags = [] if any(_RUNTIME.match(each) for each in given) else ["-cudart", "shared"]
    # The runtime needs the libcuda beside it, where a driver of NVIDIA's is installed, too.
    flags += [f"-L{libraries}", f"-Xlinker=-rpath-link={libraries}"]
    if not any(_ARCHITECTURE.match(each) for each in given):
        flags.append(f"-arch={architecture}")
    if not _DEBUG & {*given, *_of_environment()}:
        flags.append("-lineinfo")
    return flags


def nvcc_command(libraries: Path, architecture: str, given: Sequence[str] = ()) -> list[str]:
    """The command line of nvcc with :func:`needed_flags` and what was *given*.

    Raises MissingError without nvcc or without a host compiler.
    """
    return [find_nvcc(), *needed_flags(libraries, architecture, given), *given]


def find_nvcc() -> str:
    """The nvcc on PATH, else that of the wheel.  Raises MissingError without it, or without a host compiler."""
    try:
        nvcc = find_program("nvcc")
    except MissingError as error:
        raise MissingError(
            "compiling a CUDA program needs nvcc, which is not installed",
            help=f"{error.help}; kernel by kernel: simt run FILE.cu:KERNEL",
        ) from None
    if not any(shutil.which(name) for name in ("g++", "clang++", "c++", "cl")):
        raise MissingError(
            "nvcc needs a compiler for C++, and there is none",
            help="apt install g++; kernel by kernel it works without: simt run FILE.cu:KERNEL",
        )
    return nvcc


def build_program(source: Path, architecture: str, libraries: Path, options: Sequence[str] = ()) -> Path:
    """The executable that nvcc makes of a ``.cu`` file with a ``main``; cached.

    *libraries* is the folder with the CUDA runtime to link with, *options* are nvcc's.  Sources with kernels that
    launch kernels are compiled with ``-rdc=true``.

    Raises KernelError with the compiler's messages, LaunchError for a missing file, UnsupportedError
    without nvcc and for an architecture that it does not know.
    """
    check_source(source)
    command = [*nvcc_command(libraries, architecture, options), *([] if _optimises(options) else ["-O3"])]
    key = digest(identity(command[0]), json.dumps([command, *_of_environment()]), str(source.resolve()))
    listed = INCLUDED.get(key)
    if listed is not None:
        name = _name(key, json.loads(listed))
        if name is not None and (PROGRAMS.folder / name).exists():
            return PROGRAMS.folder_of(name, lambda _: None) / source.stem
    with tempfile.TemporaryDirectory() as work:
        made, included = _compile(command, source.resolve(), Path(work), architecture)
        INCLUDED.put(key, json.dumps(included).encode())

        def keep(folder: Path) -> None:
            shutil.copy2(made, folder / source.stem)

        return PROGRAMS.folder_of(_name(key, included) or key, keep) / source.stem


def _optimises(options: Sequence[str]) -> bool:
    return any(re.match(r"-{1,2}(O|optimize)", each) for each in (*options, *_of_environment()))


def _of_environment() -> list[str]:
    """Options that nvcc takes from the environment."""
    return [flag for name in _FLAGS_OF_THE_USER for flag in os.environ.get(name, "").split()]


def _name(key: str, files: Sequence[str]) -> str | None:
    """The name of the program made from these files; None if one of them is gone."""
    try:
        return digest(key, *(Path(file).read_bytes() for file in files))
    except OSError:
        return None


def _compile(command: list[str], source: Path, work: Path, architecture: str) -> tuple[Path, list[str]]:
    """The program, in the folder *work*, and the files that it was made from."""
    made, rule = work / source.stem, work / "included.d"
    base = [*command, "-MD", "-MF", str(rule), "-o", str(made), str(source)]
    log = _run(base)
    if _RELOCATABLE in log:
        log = _run([*base, "-rdc=true"])
    if not made.is_file():
        raise _error(source, log, architecture)
    text = rule.read_text(encoding="utf-8").split(":", 1)[1].replace("\\\n", " ")
    return made, [name.replace("\\ ", " ") for name in re.findall(r"(?:\\ |\S)+", text)]


def _run(command: Sequence[str]) -> str:
    """What nvcc says."""
    try:
        done = subprocess.run(command, capture_output=True, check=False)
    except OSError as error:
        raise UnsupportedError(f"nvcc cannot be run: {error}") from None
    return (done.stdout + done.stderr).decode("utf-8", "replace")


def _error(source: Path, log: str, architecture: str) -> KernelError | UnsupportedError:
    unknown = _UNKNOWN_ARCHITECTURE.search(log)
    if unknown:
        return UnsupportedError(
            f"this nvcc does not compile for sm_{unknown[1]}",
            help="choose another with --arch sm_90, or take the nvcc of CUDA 12 for GPUs before sm_75 (SIMT_NVCC=path)",
        )
    return refusal(str(source), log, 'NVCC_APPEND_FLAGS="-Ifolder"')
