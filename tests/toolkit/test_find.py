"""Where tools are looked for, and what is said if they are nowhere."""

from __future__ import annotations

from importlib import metadata
from pathlib import Path

import pytest

from simt.check import UnsupportedError
from simt.toolkit import find


@pytest.fixture
def nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    """No wheel, an empty PATH, no variable."""

    def missing(name: str) -> None:
        raise metadata.PackageNotFoundError(name)

    monkeypatch.setattr(find.metadata, "files", missing)
    monkeypatch.setattr(find.shutil, "which", lambda name: None)
    for name in ("SIMT_NVCC", "SIMT_PTXAS", "SIMT_NVRTC", "CUDA_HOME", "CUDA_PATH"):
        monkeypatch.delenv(name, raising=False)
    find.nvrtc_library.cache_clear()
    find.include_folder.cache_clear()
    yield
    find.nvrtc_library.cache_clear()
    find.include_folder.cache_clear()


@pytest.mark.usefixtures("nothing")
def test_what_is_nowhere_says_how_to_get_it() -> None:
    with pytest.raises(UnsupportedError, match="ptxas is not installed") as caught:
        find.find_program("ptxas")
    assert caught.value.help == "pip install 'simt[sass]'"
    with pytest.raises(UnsupportedError, match="NVRTC, which is not installed") as caught:
        find.nvrtc_library()
    assert "pip install 'simt[sass]'" in caught.value.help
    assert "nvcc -cubin" in caught.value.help
    assert find.include_folder() is None


@pytest.mark.usefixtures("nothing")
def test_the_environment_goes_first(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("SIMT_PTXAS", "/opt/ptxas")
    monkeypatch.setenv("SIMT_NVRTC", "/opt/libnvrtc.so")
    assert find.find_program("ptxas") == "/opt/ptxas"
    assert find.nvrtc_library() == Path("/opt/libnvrtc.so")


def test_ones_own_nvcc_goes_before_the_wheel_and_other_tools_do_not(
    nothing: None, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    class File:
        def __init__(self, name: str) -> None:
            self.name = name

        def locate(self) -> Path:
            return tmp_path / self.name

    for name in ("nvcc", "ptxas"):
        (tmp_path / name).touch()
    monkeypatch.setattr(find.metadata, "files", lambda wheel: [File("nvcc"), File("ptxas")])
    assert find.find_program("nvcc") == str(tmp_path / "nvcc")
    monkeypatch.setattr(find.shutil, "which", lambda name: f"/usr/bin/{name}")
    assert find.find_program("nvcc") == "/usr/bin/nvcc"
    assert find.find_program("ptxas") == str(tmp_path / "ptxas")


@pytest.mark.usefixtures("nothing")
def test_nvrtc_and_headers_of_a_toolkit(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    for file in ("lib64/libnvrtc-builtins.so.13", "lib64/libnvrtc.so.13", "include/cuda_runtime.h"):
        (tmp_path / file).parent.mkdir(exist_ok=True)
        (tmp_path / file).touch()
    monkeypatch.setenv("CUDA_HOME", str(tmp_path))
    assert find.nvrtc_library() == tmp_path / "lib64" / "libnvrtc.so.13"
    assert find.include_folder() == tmp_path / "include"
