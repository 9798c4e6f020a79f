"""CUDA C to a cubin through NVRTC: :func:`compile_kernels`."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from simt.check import KernelError, UnsupportedError, check_source
from simt.disk_cache import DiskCache, cache_root, digest
from simt.toolkit import nvrtc
from simt.toolkit.diagnostics import refusal
from simt.toolkit.find import identity, include_folder, nvrtc_library
from simt.toolkit.headers import PRELUDE, standard_headers
from simt.toolkit.host_code import DeviceCode, device_code

CUBINS = DiskCache("compiled CUDA C", cache_root() / "cuda", most=256)
"""What NVRTC made, by the device's part of the sources and the options."""

TEXTS = DiskCache("CUDA C", cache_root() / "cuda-texts", most=256)
"""Sources that were given as texts."""

_ALWAYS = ("-lineinfo", "-default-device", f"-include={PRELUDE}")
"""Options of every compilation.  What the host's functions were left out of may be the device's: constants, members."""

_INCLUDE = re.compile(r'^[ \t]*#[ \t]*include[ \t]*["<]([^">\n]+)[">]', re.MULTILINE)
_OF_DEVICE_RUNTIME = re.compile(r'device-side kernel launch could not be processed|identifier "cuda\w+" is undefined')
"""What NVRTC says where device code calls the CUDA runtime, which is declared in relocatable code only."""


@dataclass(frozen=True)
class Compiled:
    """A cubin.  ``names``: mangled names of the instances asked for; ``templates``: kernels that need template
    arguments."""

    cubin: bytes
    names: dict[str, str]
    templates: tuple[str, ...]


@dataclass
class _Sources:
    """The device's part of a source and of the headers that it includes, as far as they are the user's."""

    name: str
    main: DeviceCode
    headers: dict[str, str] = field(default_factory=standard_headers)
    seen: set[Path] = field(default_factory=set)


def compile_kernels(
    source: str | Path, architecture: str = "sm_90", options: Sequence[str] = (), instances: Sequence[str] = ()
) -> Compiled:
    """Compile the kernels of a ``.cu`` file, or of a text, for an architecture; with line information, cached.

    The host's functions are left out (:mod:`simt.toolkit.host_code`).  *options* are those of NVRTC, such as
    ``-DN=4`` or ``-I folder``; *instances* are template kernels with their arguments, such as ``reduce<512>``.

    Raises KernelError with the compiler's messages, LaunchError for a missing file, UnsupportedError
    without NVRTC and for an architecture that it does not know.
    """
    if architecture not in nvrtc.architectures():
        raise UnsupportedError(
            f"NVRTC {nvrtc.version()} does not compile for {architecture}",
            help=f"choose --arch {nvrtc.architectures()[0]} to {nvrtc.architectures()[-1]}; "
            "code for others runs from a cubin of an older nvcc",
        )
    sources = _read(source, options)
    arguments = [f"-arch={architecture}", *_ALWAYS, *_include_options(), *options]
    key = digest(
        nvrtc.version(), identity(str(nvrtc_library())), sources.name, sources.main.text,
        json.dumps([arguments, list(instances), sources.headers]),
    )  # fmt: skip
    packed = CUBINS.get_or_make(key, lambda: _packed(_compile(sources, arguments, instances)))
    names, cubin = packed.split(b"\n", 1)
    return Compiled(cubin, json.loads(names), sources.main.templates)


def _packed(result: nvrtc.Result) -> bytes:
    return json.dumps(dict(result.names)).encode() + b"\n" + (result.cubin or b"")


def _compile(sources: _Sources, arguments: Sequence[str], instances: Sequence[str]) -> nvrtc.Result:
    text, name, headers = sources.main.text, sources.name, sources.headers
    result = nvrtc.compile_source(text, name, arguments, headers, instances)
    if result.cubin is None and _OF_DEVICE_RUNTIME.search(result.log):
        result = nvrtc.compile_source(text, name, [*arguments, "-rdc=true"], headers, instances)
    if result.cubin is None:
        raise _refusal(name, result)
    return result


def _include_options() -> Iterator[str]:
    folder = include_folder()
    if folder is not None:
        yield f"-I{folder}"
        if (folder / "cccl").is_dir():
            yield f"-I{folder / 'cccl'}"


def _read(source: str | Path, options: Sequence[str]) -> _Sources:
    if isinstance(source, Path):
        check_source(source)
        path, folder = source.resolve(), source.resolve().parent
    else:
        path, folder = _file_of(source), Path.cwd()
    sources = _Sources(str(path), device_code(path.read_text(encoding="utf-8", errors="replace")))
    _add_headers(sources, sources.main.text, folder, _folders(options))
    return sources


def _file_of(source: str) -> Path:
    """A file with the text: listings and messages show its lines."""

    def write(folder: Path) -> None:
        (folder / "source.cu").write_text(source, encoding="utf-8")

    return TEXTS.folder_of(digest(source), write) / "source.cu"


def _folders(options: Sequence[str]) -> list[Path]:
    """The folders of the options ``-I folder`` and ``-Ifolder``."""
    given = iter(options)
    return [
        Path(next(given, "") if option in ("-I", "--include-path") else option[2:])
        for option in given
        if option.startswith("-I") or option == "--include-path"
    ]


def _add_headers(sources: _Sources, text: str, folder: Path, folders: Sequence[Path]) -> None:
    """Read the user's headers that *text*, of a file in *folder*, includes; they name themselves in line numbers."""
    for name in _INCLUDE.findall(text):
        path = next((each / name for each in (folder, *folders) if (each / name).is_file()), None)
        if path is None or path.resolve() in sources.seen:
            continue
        path = path.resolve()
        sources.seen.add(path)
        code = device_code(path.read_text(encoding="utf-8", errors="replace"))
        shown = str(path).replace("\\", "\\\\")
        sources.headers[name] = f'#line 1 "{shown}"\n{code.text}'
        _add_headers(sources, code.text, path.parent, folders)


def _refusal(name: str, result: nvrtc.Result) -> KernelError | UnsupportedError:
    """NVRTC's reason."""
    if not result.is_about_source:
        return UnsupportedError(
            "NVRTC refuses the options", details=result.log.splitlines()[:5], help="nvcc has others"
        )
    error = refusal(name, result.log, "--nvrtc -Ifolder, or options=['-Ifolder']")
    if not error.help and re.search(r"\bstd\b", result.log):
        error.help = (
            "NVRTC has no C++ standard library: use cuda::std, or compile with a host compiler: "
            "nvcc -cubin -arch=sm_90 -lineinfo FILE.cu"
        )
    return error
