"""The commands that execute machine code: ``simt profile``, and ``--view`` of the others."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest

from simt.check import LaunchError
from simt.cli.arguments import parse
from tests.machine_view import DATA, PASCAL, needs_numba_cuda, needs_nvdisasm

NEIGHBORED = ["--kernel", "reduceNeighbored", "--grid", "8", "--block", "512"]
ARGUMENTS = ["--arg", "random:int32:2^12:5", "--arg", "zeros:int32:8", "--arg", "2^12"]
RANDOM = np.random.default_rng(5).integers(-128, 128, 2**12).astype(np.int32)


@pytest.mark.parametrize(
    ("text", "size", "expected"),
    [
        ("3", 4, np.int32(3)),
        ("3", 8, np.int64(3)),
        ("-1", 1, np.int8(-1)),
        ("255", 1, np.uint8(255)),
        ("4294967295", 4, np.uint32(2**32 - 1)),
        ("0x10", 2, np.int16(16)),
        ("0xffffffff", 4, np.uint32(2**32 - 1)),
        ("0x1f32", 4, np.int32(0x1F32)),
        ("0x10u32", 4, np.uint32(16)),
        ("1_000", 4, np.int32(1000)),
        ("2^24", 4, np.int32(2**24)),
        ("2^63u64", 8, np.uint64(2**63)),
        ("true", 1, np.int8(1)),
        ("7u32", 4, np.uint32(7)),
        ("-1i64", 8, np.int64(-1)),
        ("2.5", 4, np.float32(2.5)),
        ("2.5", 8, np.float64(2.5)),
        (".5", 2, np.float16(0.5)),
        ("1e-3", 8, np.float64(1e-3)),
        ("-inf", 4, np.float32(-np.inf)),
        ("3f32", 4, np.float32(3)),
        ("2.5f64", 8, np.float64(2.5)),
        ("1e3f32", 4, np.float32(1000)),
    ],
)
def test_numbers(text: str, size: int, expected: np.generic) -> None:
    (value,) = parse([text], [size])
    assert (type(value), value) == (type(expected), expected)


def test_numbers_of_the_types_that_the_name_tells() -> None:
    """void k(float, double, half, int, unsigned, long long, float*, two of E); a name without types says nothing."""
    name, sizes = "_Z1kfdDhijxPf1ES0_", [4, 8, 2, 4, 4, 8, 8, 4, 4]
    types = ["float32", "float64", "float16", "int32", "int32", "int64", "int64", "int32", "float32"]
    found = parse(["1"] * 8 + ["1.0"], sizes, name)
    assert [value.dtype for value in found] == types
    assert all(value == 1 for value in found)
    assert parse(["1.5f32"], [4], "_Z1kj")[0].dtype == "float32"
    assert parse(["1"], [4], "k")[0].dtype == "int32"
    assert parse(["1", "2"], [4, 4], "_Z1kf")[0].dtype == "int32"
    with pytest.raises(LaunchError, match="the parameter is of type unsigned int; write a number without point"):
        parse(["1.5"], [4], "_Z1kj")


def test_nan_and_structures() -> None:
    nan, structure = parse(["nan", "bytes:0100000002000000000000ff"], [4, 12])
    assert np.isnan(nan)
    assert nan.dtype == np.float32
    assert structure.tobytes() == bytes([1, 0, 0, 0, 2, 0, 0, 0, 0, 0, 0, 255])


def test_arrays(tmp_path: Path) -> None:
    saved = np.asfortranarray(np.arange(6, dtype=np.float64).reshape(2, 3))
    np.save(tmp_path / "a.npy", saved)
    np.save(tmp_path / "n.npy", np.uint16(7))
    texts = [
        *("zeros:float16:4", "arange:int8:130", "random:uint8:1K", "random:float32:9:3"),
        *(str(tmp_path / "a.npy"), str(tmp_path / "n.npy")),
    ]
    zeros, counting, octets, floats, loaded, scalar = parse(texts, [8, 8, 8, 8, 8, 2])
    assert zeros.tolist() == [0] * 4
    assert zeros.dtype == np.float16
    assert counting[127:].tolist() == [127, -128, -127]
    assert octets.shape == (1024,)
    assert octets.max() > 128
    assert floats.tolist() == np.random.default_rng(3).random(9).astype(np.float32).tolist()
    assert loaded.tolist() == saved.tolist()
    assert loaded.flags.c_contiguous
    assert (type(scalar), scalar) == (np.uint16, 7)


@pytest.mark.parametrize(
    ("text", "size", "message"),
    [
        ("256", 1, "does not fit in 1 byte"),
        ("-1u32", 4, "does not fit in uint32"),
        ("2^64", 8, "does not fit"),
        ("9^999999999", 8, "does not fit"),
        ("7u33", 4, "no type u33"),
        ("2.5i32", 4, "not a number"),
        ("3", 12, "bytes:..."),
        ("2.5", 1, "takes no float"),
        ("7i64", 4, "has 8 bytes; parameter 0 takes 4"),
        ("zeros:int32:4", 4, "is an array"),
        ("zeros:int33:4", 8, "there is no type int33; choose int8"),
        ("zeros:complex64:4", 8, "there is no type complex64"),
        ("zeros:int32:0", 8, "at least 1"),
        ("zeros:int32:4:7", 8, "takes no seed"),
        ("absent.npy", 8, "no such file"),
        ("bytes:0x", 8, "pairs of hexadecimal digits, such as bytes:01ff"),
        ("bytes:00", 8, "has 1 byte;"),
        ("bytes:0g", 8, "pairs of hexadecimal digits"),
        ("random:x", 8, "an array is written random:TYPE:SIZE, such as random:int32:2^20"),
        ("zeros:float32", 8, "an array is written zeros:TYPE:SIZE"),
        ("zeros:float99:100", 8, "there is no type float99"),
        ("seven", 4, "not a number, an array or a file.npy"),
        ("", 4, "not a number"),
    ],
)
def test_arguments_that_are_wrong(text: str, size: int, message: str) -> None:
    with pytest.raises(LaunchError) as caught:
        parse([text], [size])
    assert message in str(caught.value)


def test_files_that_are_no_arrays(tmp_path: Path) -> None:
    (tmp_path / "text.npy").write_text("hello")
    (tmp_path / "empty.npy").write_text("")
    np.save(tmp_path / "objects.npy", np.array([None, {}]), allow_pickle=True)
    np.save(tmp_path / "names.npy", np.array(["a", "b"]))
    for name, message in {
        "text": "holds Python objects or is damaged",
        "empty": "not an array that NumPy saved",
        "objects": "holds Python objects or is damaged",
        "names": "cannot be used on a GPU",
    }.items():
        with pytest.raises(LaunchError, match=message):
            parse([str(tmp_path / f"{name}.npy")], [8])


def test_profile_lists_the_kernels(run) -> None:
    code, out, _ = run("profile", *PASCAL)
    assert code == 0
    row = next(line.split() for line in out.splitlines() if "reduceNeighbored " in line)
    assert row[:5] == ["reduceNeighbored", "sm_61", "8", "8", "4"]
    assert "reduceCompleteUnroll<512>" in out
    entries = run("profile", *PASCAL, "--json").json()
    (entry,) = [entry for entry in entries if entry["name"] == "reduceNeighbored"]
    assert entry["parameters"] == [8, 8, 4]
    assert entry["mangled"] == "_Z16reduceNeighboredPiS_j"
    assert entry["registers"] > 0


def test_profile_counts_what_nvprof_counted(run) -> None:
    profile = run("profile", *PASCAL, *NEIGHBORED, *ARGUMENTS, "--json").json()
    assert profile["view"] == "sm_61"
    assert profile["metrics"]["inst_per_warp"] == 412.0
    offsets = [line["offset"] for line in profile["lines"]]
    assert offsets == sorted(set(offsets))
    executed = sum(line["counters"].get("inst_executed", 0) for line in profile["lines"])
    assert executed == profile["counters"]["inst_executed"] == 412 * 128


def test_profile_saves_outputs(run, tmp_path: Path) -> None:
    target = tmp_path / "sums"  # the name stays as it was given
    code, out, _ = run("profile", *PASCAL, *NEIGHBORED, *ARGUMENTS, "--out", f"1={target}")
    assert code == 0
    assert "inst_per_warp" in out
    assert "IMAD" not in out  # the listing only if asked for
    assert np.load(target).tolist() == RANDOM.reshape(8, 512).sum(axis=1).tolist()


def test_profile_annotates_and_traces(run) -> None:
    listed = run("profile", *PASCAL, *NEIGHBORED, *ARGUMENTS, "--annotate").out
    assert "0x0008  MOV R1, c[0x0][0x20]" in listed
    assert "> " in listed
    traced = run("profile", *PASCAL, *NEIGHBORED, *ARGUMENTS, "--trace", "7,3").out
    assert "block 7, warp 3 (sm_61 view)" in traced
    assert "#..." in traced
    code, _, err = run("profile", *PASCAL, *NEIGHBORED, *ARGUMENTS, "--trace", "8,0")
    assert code == 2
    assert "8 blocks of 16 warps" in err


def test_a_listing_alone_needs_the_sizes_of_the_parameters(run) -> None:
    listing = PASCAL[2]
    code, _, err = run("profile", listing, *NEIGHBORED, *ARGUMENTS)
    assert code == 2
    assert "--parameters" in err
    code, out, _ = run("profile", listing, *NEIGHBORED, *ARGUMENTS, "--parameters", "8,8,4")
    assert code == 0
    assert "412.00" in out


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (["--kernel", "reduce", "--grid", "1", "--block", "32"], "reduceNeighboredLess"),
        (["--kernel", "reduceNeighbored"], "--grid and --block"),
        (["--kernel", "reduceNeighbored", "--grid", "1", "--block", "1,2,3,4"], "--block"),
        (["--kernel", "reduceNeighbored", "--grid", "one", "--block", "32"], "--grid"),
        (["--kernel", "reduceNeighbored", "--grid", "0", "--block", "32", *ARGUMENTS], "grid"),
        ([*NEIGHBORED, "--arg", "3"], "takes 3 arguments, not 1"),
        ([*NEIGHBORED, *ARGUMENTS, "--arg", "1"], "takes 3 arguments, not 4"),
        ([*NEIGHBORED, "--arg", "1i32", *ARGUMENTS[2:]], "has 4 bytes; parameter 0 takes 8"),
        ([*NEIGHBORED, *ARGUMENTS, "--out", "2=n.npy"], "argument 2 is not an array"),
        ([*NEIGHBORED, *ARGUMENTS, "--out", "9=n.npy"], "argument 9 is not an array"),
        ([*NEIGHBORED, *ARGUMENTS, "--out", "n.npy"], "INDEX=FILE.npy"),
        ([*NEIGHBORED, *ARGUMENTS, "--out", "1=absent/n.npy"], "no folder absent"),
        ([*NEIGHBORED, *ARGUMENTS, "--trace", "1"], "BLOCK,WARP"),
        ([*NEIGHBORED, *ARGUMENTS, "--column", "nothing", "--annotate"], "nothing"),
        ([*NEIGHBORED, *ARGUMENTS, "--order", "sideways"], "sideways"),
        ([*NEIGHBORED, *ARGUMENTS, "--shared", "1000000"], "shared"),
    ],
)
def test_wrong_use_is_exit_code_2(run, options: list[str], message: str) -> None:
    code, _, err = run("profile", *PASCAL, *options)
    assert code == 2
    assert message in err
    assert "Traceback" not in err


def test_files_that_are_no_machine_code(run, tmp_path: Path) -> None:
    (tmp_path / "noise.cubin").write_bytes(bytes(range(256)))
    (tmp_path / "short.cubin").write_bytes(b"\x7fELF")
    (tmp_path / "text.sass").write_text("hello\n")
    (tmp_path / "empty.sass").write_text("")
    for name in ("noise.cubin", "short.cubin", "text.sass", "empty.sass", "absent.cubin"):
        code, out, err = run("profile", str(tmp_path / name))
        assert code == 2, name
        assert name in err
        assert "Traceback" not in err
        assert not out
    code, _, err = run("profile", PASCAL[0], "--listing", str(tmp_path / "absent.sass"))
    assert code == 2
    assert "no file" in err


@needs_nvdisasm
def test_a_kernel_that_is_not_there(run) -> None:
    cubin = str(DATA / "sm_90" / "external_O3.cubin")
    code, out, err = run(
        "profile", cubin, "--kernel", "absent", "--grid", "1", "--block", "32", "--arg", "zeros:int32:32"
    )
    assert (code, out) == (2, "")
    assert "it has plain" in err


def test_elf_files_that_are_not_for_this(run, tmp_path: Path) -> None:
    """A cubin for an architecture that is not supported; an ELF file for a host without any code for a GPU."""
    data = bytearray((DATA / "sm_90" / "external_O3.cubin").read_bytes())
    flags = int.from_bytes(data[48:52], "little")
    version = 8 if data[8] >= 8 else 0  # where e_flags has the architecture depends on the ABI
    data[48:52] = (flags & ~(0xFF << version) | 70 << version).to_bytes(4, "little")
    (tmp_path / "volta.cubin").write_bytes(data)
    data[18:20] = (62).to_bytes(2, "little")  # x86-64
    (tmp_path / "program").write_bytes(data)
    for name, message in (("volta.cubin", "is for sm_70; supported are"), ("program", "an ELF file for machine 62")):
        code, out, err = run("profile", str(tmp_path / name))
        assert (code, out) == (2, "")
        assert message in err


MATH = ["--kernel", "mathKernel1", "--grid", "1", "--block", "32", "--arg", "zeros:float32:32"]


def test_pascal_without_its_listing(run) -> None:
    code, _, err = run("profile", PASCAL[0], *MATH)
    assert code == 2
    assert "listing" in err


@needs_nvdisasm
def test_a_cubin_alone(run) -> None:
    cubin = str(DATA / "sm_90" / "kernels_O3.cubin")
    code, out, _ = run("profile", cubin, *NEIGHBORED, *ARGUMENTS, "--json")
    assert code == 0
    assert json.loads(out)["metrics"]["inst_per_warp"] == 293.875


def test_a_missing_disassembler_says_what_to_install(run, monkeypatch: pytest.MonkeyPatch) -> None:
    from simt.toolkit import find

    def nothing(_: str) -> None:
        raise find.metadata.PackageNotFoundError

    monkeypatch.delenv("SIMT_NVDISASM", raising=False)
    monkeypatch.setattr(find.metadata, "files", nothing)
    monkeypatch.setenv("PATH", "")
    path = str(DATA / "sm_90" / "kernels_O3.cubin")
    assert run("profile", path)[0] == 0  # to list kernels takes no disassembler
    code, _, err = run(
        "profile", path, "--kernel", "mathKernel1", "--grid", "1", "--block", "32", "--arg", "zeros:f4:32"
    )
    assert code == 2
    assert "simt[sass]" in err


@needs_numba_cuda
def test_reduce_in_the_machine_view(run) -> None:
    options = ["--size", "5000", "--block", "128", "--kernel", "neighbored", "--view", "sm_90"]
    data = run("reduce", *options, "--json").json()
    assert data["view"] == "sm_90"
    assert "release 13" in data["toolchain"]
    (result,) = data["results"]
    assert result["correct"] is True
    assert result["metrics"]["branch_instructions"] > 0
    code, out, _ = run("reduce", *options)
    assert code == 0
    assert "sm_90 instructions" in out


@needs_numba_cuda
def test_run_and_trace_in_the_machine_view(run) -> None:
    folded = run("run", "if_else", "--view", "sm_90").out.splitlines()
    source = next(index for index, line in enumerate(folded) if "out[i] = value + 1" in line)
    assert any("STG" in line for line in folded[source:])
    flat = run("run", "if_else", "--view", "sm_90", "--no-fold").out
    assert "out[i]" not in flat
    assert "0x0000  LDC R1, c[0x0][0x28]" in flat
    traced = run("trace", "if_else", "--view", "sm_90").out
    assert "(sm_90 view)" in traced
    assert "pppppppp" in traced  # the compiler predicates what the source branches around
    step = run("trace", "if_else", "--view", "sm_90", "--json").json()["steps"][0]
    assert step["source"][0].endswith("divergence.py")


@needs_numba_cuda
def test_diff_of_the_views(run) -> None:
    data = run("diff", "vector_add", "vector_add@sm_90", "--json").json()
    assert data["by"] == "line"
    metrics = {row["metric"]: row for row in data["metrics"]}
    assert metrics["inst_executed"]["comparable"] is False
    assert metrics["inst_executed"]["ratio"] is None
    assert metrics["gld_transactions"]["comparable"] is True
    assert metrics["gld_transactions"]["ratio"] == 1
    body = next(row for row in data["lines"] if row["a"] and "a[i] + b[i]" in row["a"]["text"])
    assert body["a"]["counters"]["global_sectors"] == body["b"]["counters"]["global_sectors"] > 0
