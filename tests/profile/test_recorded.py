"""Profiles from the CSV of Nsight Compute and nvprof: units, locales, files that are cut off, and what they explain."""

from __future__ import annotations

import re
from pathlib import Path

import numpy as np
import pytest

import simt
from simt.profile import compare
from simt.profile.ncu_pages import UnusableCsvError, decimal_comma, parse_number, scale_of
from simt.profile.nvprof_pages import value_of
from simt.profile.recorded import is_recorded, load_recorded
from tests.machine_view import needs_nvdisasm
from tests.sass.data import cubin

NCU = Path(__file__).parent.parent / "data" / "hardware" / "ncu"
BOTH = f"{NCU / 'raw.csv'}+{NCU / 'source.csv'}"

# As nvprof 11 prints it; the figures are those of a published profile of a Quadro P2000.
NVPROF = """==4711== NVPROF is profiling process 4711, command: ./reduceInteger
starting reduction at device 0: Quadro P2000
==4711== Profiling application: ./reduceInteger
==4711== Profiling result:
==4711== Metric result:
"Device","Kernel","Invocations","Metric Name","Metric Description","Min","Max","Avg"
"Quadro P2000 (0)","reduceNeighbored(int*, int*, unsigned int)",1,"inst_per_warp","Instructions per warp",412.000000,412.000000,412.000000
"Quadro P2000 (0)","reduceNeighbored(int*, int*, unsigned int)",1,"gld_efficiency","Global Memory Load Efficiency",25.02%,25.02%,25.02%
"Quadro P2000 (0)","reduceNeighbored(int*, int*, unsigned int)",1,"gld_throughput","Global Load Throughput",71.861GB/s,71.861GB/s,71.861GB/s
"Quadro P2000 (0)","reduceInterleaved(int*, int*, unsigned int)",1,"inst_per_warp","Instructions per warp",117.812500,117.812500,117.812500
"""  # noqa: E501  # nvprof's own lines


def test_the_profilers_own_files_are_explained_as_the_simulators() -> None:
    """The figures that an H200 counted: 162 of 195.75 instructions are the remainder."""
    found = simt.explain(*(load_recorded(f"{BOTH}:{name}") for name in ("reduceNeighbored", "reduceInterleaved")))
    assert (float(found.a), float(found.b or 0)) == (293.875, 98.125)
    assert [(float(term.value), term.cause) for term in found.terms] == [
        (-162.0, "instructions"), (-33.75, "inactive lanes")
    ]  # fmt: skip
    assert [place.number for _, place in found.terms[0].places] == [6, 27]


@needs_nvdisasm
def test_the_simulator_agrees_with_the_file() -> None:
    (kernel,) = (each for each in cubin("sm_90/kernels_lines").values() if "reduceNeighboredPi" in each.name)
    n = 2**20
    data, sums = np.ones(n, np.int32), np.zeros(n // 512, np.int32)
    ours = simt.launch(kernel, n // 512, 512, data, sums, np.uint32(n))
    theirs = load_recorded(f"{BOTH}:reduceNeighbored")
    assert compare(ours, theirs).equal
    for metric in ("inst_per_warp", "gld_efficiency", "divergent_branch", "theoretical_occupancy"):
        row = next(row for row in compare(ours, theirs).metrics if row.metric == metric)
        assert row.equal, metric
    assert simt.explain(ours, theirs).terms == ()
    other = simt.explain(ours, load_recorded(f"{BOTH}:reduceInterleaved"))
    assert float(other.terms[0].value) == -162.0


def test_units_do_not_matter() -> None:
    """ncu scales what it prints (Mbyte, us) unless it is asked for base units, of which it prints fewer digits."""
    scaled, base = (load_recorded(f"{NCU / name}.csv:strided#2")["metrics"] for name in ("raw", "raw_base"))
    assert scaled["duration"] == base["duration"]
    assert scaled.keys() == base.keys()
    for name, value in base.items():
        assert scaled[name] == pytest.approx(value, rel=1e-3, abs=0.01), name


@pytest.mark.parametrize(
    ("unit", "scale"),
    [("Kbyte", 1e3), ("Gbyte/s", 1e9), ("byte", 1), ("us", 1e3), ("usecond", 1e3), ("msecond", 1e6), ("%", 1)],
)
def test_scales(unit: str, scale: float) -> None:
    assert scale_of(unit) == scale


def test_another_locale(tmp_path: Path) -> None:
    file = tmp_path / "ncu.csv"
    swapped = str.maketrans(",.", ".,")
    number = re.compile(r'"\d[\d.,]*"')
    text = (NCU / "raw.csv").read_text(encoding="utf-8")
    file.write_text(number.sub(lambda found: found[0].translate(swapped), text), encoding="utf-8")
    ours, theirs = (load_recorded(f"{path}:reduceNeighbored") for path in (file, NCU / "raw.csv"))
    assert ours["metrics"] == theirs["metrics"]
    assert ours["view"] == "sm_90"


def test_numbers() -> None:
    assert parse_number("1,234.5") == 1234.5
    assert parse_number("1.234,5", comma=True) == 1234.5
    assert parse_number("1\u202f234,5", comma=True) == 1234.5
    assert parse_number("no data") is None
    assert decimal_comma(["2,048", "1.234,5"])
    assert decimal_comma(["0,25"])
    assert not decimal_comma(["2,048", "1,234.5", "(512, 1, 1)"])
    assert value_of("71.861GB/s") == pytest.approx(71.861e9)
    assert value_of("25.02%") == 25.02
    assert value_of("<OVERFLOW>") is None


def test_nvprof(tmp_path: Path) -> None:
    file = tmp_path / "nvprof.csv"
    file.write_text(NVPROF, encoding="utf-8")
    a, b = (load_recorded(f"{file}:{name}") for name in ("reduceNeighbored", "reduceInterleaved"))
    assert a["view"] == "sm_61"
    assert a["metrics"]["gld_throughput"] == pytest.approx(71.861e9)
    found = simt.explain(a, b)
    assert (float(found.a), float(found.explained), found.terms[0].cause) == (412.0, -294.1875, "residual")
    assert "measured on Quadro P2000, nvprof" in " ".join(str(found).split())


def other_gpu(text: str) -> str:
    """The page as a GPU of another architecture prints it."""
    return text.replace('"9.0"', '"8.0"').replace("NVIDIA H200", "NVIDIA A100-SXM4-40GB")


def test_another_gpu_is_said(tmp_path: Path) -> None:
    file = tmp_path / "ncu.csv"
    file.write_text(other_gpu((NCU / "raw.csv").read_text(encoding="utf-8")), encoding="utf-8")
    a, b = (load_recorded(f"{path}:reduceNeighbored") for path in (file, NCU / "raw.csv"))
    assert a["view"] == "sm_80"
    for text in (str(simt.explain(a, b)), compare(a, b).render(width=80)):
        assert "the code is for sm_80 and for sm_90" in " ".join(text.split())
        assert "NVIDIA A100-SXM4-40GB" in " ".join(text.split())
    assert "the code is for" not in str(simt.explain(b, b))


def test_pages_without_lines_are_compared_by_metrics_alone() -> None:
    a, b = (load_recorded(f"{NCU / 'raw.csv'}:{name}") for name in ("reduceNeighbored", "reduceInterleaved"))
    assert compare(a, b).render().endswith("no lines to compare: A and B have no counts of them")
    assert "no lines to compare: B has no counts" in compare(load_recorded(f"{BOTH}:reduceNeighbored"), b).render()


def details(*rows: tuple[str, str, str, str], kernel: str = "reduce(int *)", launch: int = 0) -> str:
    """The page ``details``: section, name, unit and value of each metric of a launch."""
    begin = f'"{launch}","7","reduce","127.0.0.1","{kernel}","1","7","(512, 1, 1)","(16, 1, 1)","0","9.0"'
    return "".join(",".join([begin, *(f'"{cell}"' for cell in row)]) + "\n" for row in rows)


DETAILS = (
    '"ID","Process ID","Process Name","Host Name","Kernel Name","Context","Stream","Block Size","Grid Size",'
    '"Device","CC","Section Name","Metric Name","Metric Unit","Metric Value"\n'
)


def test_the_page_details(tmp_path: Path) -> None:
    """What ncu prints if no page is asked for: a row for each metric; one of --metrics has its own name there."""
    file = tmp_path / "details.csv"
    rows = (
        ("GPU Speed Of Light Throughput", "Duration", "us", "15.61"),
        ("Instruction Statistics", "Executed Instructions", "inst", "75,232"),
        ("Occupancy", "Theoretical Occupancy", "%", "100"),
        ("Occupancy", "Block Limit SM", "block", "32"),
        ("Command line profiler metrics", "dram__bytes_read.sum", "Kbyte", "1.5"),
    )
    second = details(("Occupancy", "Theoretical Occupancy", "%", "50"), launch=1)
    file.write_text("==PROF== Connected\n" + DETAILS + details(*rows) + second, encoding="utf-8")
    found = load_recorded(f"{file}:reduce#1")
    wanted = {"duration": 15610, "inst_per_warp": 293.875, "theoretical_occupancy": 100, "dram_read_bytes": 1500}
    assert {name: found["metrics"][name] for name in wanted} == wanted
    assert (found["grid"], found["block"], found["view"]) == ([16, 1, 1], [512, 1, 1], "sm_90")
    assert load_recorded(f"{file}:reduce#2")["metrics"]["theoretical_occupancy"] == 50


def test_details_of_an_h200() -> None:
    """The figures that the same program has in the README."""
    a, b = (load_recorded(f"{NCU / 'details.csv'}:{name}") for name in ("neighbored", "interleaved"))
    assert (a["metrics"]["inst_per_warp"], b["metrics"]["inst_per_warp"]) == (304.9375, 121.875)
    assert (a["metrics"]["duration"], a["metrics"]["branch_efficiency"]) == (16640, 68.75)
    found = simt.explain(a, b)
    assert [(float(term.value), term.cause) for term in found.terms] == [(-183.0625, "residual")]


def test_other_tables_in_the_page_details(tmp_path: Path) -> None:
    """--print-details all has some between its rows; a last row that is too short is a file that was cut off."""
    file = tmp_path / "details.csv"
    row = details(("Occupancy", "Theoretical Occupancy", "%", "50"))
    other = '"GPU ID","GPU Name"\n"0","NVIDIA H200"\n    no NVLink\n'
    file.write_text(DETAILS + other + row, encoding="utf-8")
    assert load_recorded(str(file))["metrics"]["theoretical_occupancy"] == 50


def test_names_of_files() -> None:
    assert is_recorded("ncu.csv")
    assert is_recorded("a.csv+b.csv:reduce<512>#2")
    assert not is_recorded("kernels.cu:reduce")
    assert not is_recorded("neighbored@sm_90")


def cut(name: str) -> str:
    text = (NCU / name).read_text(encoding="utf-8")
    return text[: int(len(text) * 0.9)]


@pytest.mark.parametrize(
    ("content", "kernel", "message"),
    [
        ("a,b\n1,2\n", "", "no table of ncu or nvprof"),
        ("", "", "no table of ncu or nvprof"),
        (cut("raw.csv"), "reduceNeighbored", r"line 6 has \d+ cells of 65: the file was cut off"),
        (DETAILS + details(("Occupancy", "Theoretical Occupancy", "%", "50"))[:-9], "", "line 2 has 14 cells of 15"),
        (cut("source.csv"), "reduceNeighbored", "the file was cut off"),
        (NVPROF[:-60], "", "the file was cut off"),
        (NVPROF, "reduceNeighbord", "did you mean reduceNeighbored"),
        (NVPROF, "", "write .*:KERNEL: reduceNeighbored, reduceInterleaved"),
        ((NCU / "raw.csv").read_text(encoding="utf-8"), "strided", "say which: strided#1 to strided#3"),
        ((NCU / "raw.csv").read_text(encoding="utf-8"), "strided#4", "there are 3 launches of strided, no number 4"),
    ],
)
def test_bad_files(tmp_path: Path, content: str, kernel: str, message: str) -> None:
    file = tmp_path / "some.csv"
    file.write_text(content, encoding="utf-8")
    with pytest.raises(UnusableCsvError) as caught:
        load_recorded(f"{file}:{kernel}" if kernel else str(file))
    assert re.search(message, str(caught.value)), str(caught.value)


def test_files_that_are_not_there(tmp_path: Path) -> None:
    with pytest.raises(UnusableCsvError, match="cannot be read"):
        load_recorded(str(tmp_path / "missing.csv"))
    (tmp_path / "bytes.csv").write_bytes(b"\xff\xfe\x00\x80")
    with pytest.raises(UnusableCsvError, match="is no text"):
        load_recorded(str(tmp_path / "bytes.csv"))
