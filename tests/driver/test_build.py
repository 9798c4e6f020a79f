"""The libraries in the place of NVIDIA's: those of a wheel, or compiled."""

from __future__ import annotations

import ctypes
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from simt.check import UnsupportedError
from simt.driver import build, libraries, protocol, sources
from simt.toolkit.programs import build_program, find_nvcc

needs_compiler = pytest.mark.skipif(
    sys.platform != "linux" or shutil.which("cc") is None, reason="programs run on Linux, and this needs a C compiler"
)


@pytest.fixture
def wheel(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder of libraries as a wheel has it, for the present sources."""
    monkeypatch.delenv("CC", raising=False)
    monkeypatch.setattr(build, "PREBUILT", tmp_path)
    (tmp_path / sources.STAMP).write_text(sources.stamp(build._sources()))
    return tmp_path


@pytest.mark.skipif(sys.platform != "linux", reason="programs run on Linux")
def test_a_wheel_s_libraries_need_no_compiler(wheel: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PATH", "")
    assert libraries() == wheel
    (wheel / sources.STAMP).write_text("libraries of other sources")
    with pytest.raises(UnsupportedError, match="need a C compiler"):
        libraries()


@needs_compiler
def test_a_compiler_that_the_user_names_is_used(wheel: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("CC", "cc")
    assert libraries() != wheel
    assert (libraries() / sources.DRIVER).is_file()


@pytest.mark.parametrize(
    ("lines", "told", "helps"),
    [
        (["driver.c:1:12: error: expected"], "expected", "CC"),
        (["ld: final link failed: No space left on device", "collect2: error: ld returned 1"], "No space", "make room"),
    ],
)
def test_why_the_libraries_are_not_compiled(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path, lines: list[str], told: str, helps: str
) -> None:
    def refuse(*_: object) -> None:
        raise sources.NotCompiledError("libcuda.so.1", lines)

    monkeypatch.setattr(build, "compile_libraries", refuse)
    with pytest.raises(UnsupportedError) as caught:
        build._build("cc", tmp_path)
    assert told in caught.value.details[0]
    assert helps in caught.value.help


@needs_compiler
def test_a_compiler_s_refusal_is_told() -> None:
    broken = {"driver.c": "int simt = ;", "runtime.c": ""}
    with pytest.raises(sources.NotCompiledError) as caught:
        sources.compile_libraries("cc", broken, Path("nowhere"))
    name, lines = caught.value.args
    assert name == sources.DRIVER
    assert any("error" in line for line in lines)


def test_the_sources_are_made_without_the_package(tmp_path: Path) -> None:
    """Wheels are built where nothing is installed: no import of those two files may lead into the package."""
    code = (
        "import importlib.util, sys\n"
        "for file in sys.argv[1:]:\n"
        "    spec = importlib.util.spec_from_file_location(f'_{len(file)}', file)\n"
        "    sys.modules[spec.name] = module = importlib.util.module_from_spec(spec)\n"
        "    spec.loader.exec_module(module)\n"
        "assert 'simt' not in sys.modules, 'the package was imported'\n"
    )
    files = [module.__file__ or "" for module in (protocol, sources)]
    done = subprocess.run([sys.executable, "-S", "-c", code, *files], cwd=tmp_path, capture_output=True, check=False)
    assert not done.returncode, done.stderr.decode()


def test_the_stamp_depends_on_every_source_and_not_on_their_order() -> None:
    files = {"a.c": "1", "b.c": "2"}
    assert sources.stamp(files) == sources.stamp(dict(reversed(files.items())))
    assert sources.stamp(files) != sources.stamp({**files, "b.c": "3"})


@needs_compiler
def test_every_version_of_the_runtime_is_compiled() -> None:
    folder = libraries()
    driver = ctypes.CDLL(str(folder / sources.DRIVER))
    assert driver.cuDriverGetVersion
    for version in sources.RUNTIMES:
        assert (folder / f"libcudart.so.{version}").is_file()


@needs_compiler
def test_programs_link_beside_a_driver_of_nvidia(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The linker finds another libcuda first, which lacks what our runtime needs."""
    try:
        find_nvcc()
    except UnsupportedError as error:
        pytest.skip(str(error))
    made = ["cc", "-shared", "-Wl,-soname,libcuda.so.1", "-xc", "/dev/null", "-o", str(tmp_path / "libcuda.so.1")]
    subprocess.run(made, check=True)
    monkeypatch.setenv("LD_LIBRARY_PATH", str(tmp_path))
    source = tmp_path / "program.cu"
    source.write_text(f"__global__ void nothing() {{}}\nint main() {{ nothing<<<1, 1>>>(); }}  // {tmp_path}\n")
    assert build_program(source, "sm_90", libraries()).is_file()
