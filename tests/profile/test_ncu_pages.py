"""Nsight Compute's pages: what ncu 2025.3 printed on an H200 for a launch, from the figures of that launch."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path

import pytest

from simt.check import LaunchError
from simt.profile import ncu
from tests.profile.activity import NEIGHBORED, timed, untimed

RECORDED = """\
  neighbored(int *, int *, unsigned int) (2048, 1, 1)x(512, 1, 1), Context 1, Stream 7, Device 0, CC 9.0
    Section: Command line profiler metrics
    ------------------------------------------------------------- ----------- ------------
    Metric Name                                                   Metric Unit Metric Value
    ------------------------------------------------------------- ----------- ------------
    dram__bytes_read.sum.per_second                                   Gbyte/s       256.70
    gpu__time_duration.sum                                                 us        16.35
    l1tex__t_bytes_pipe_lsu_mem_global_op_ld.sum.per_second           Tbyte/s         2.05
    sm__warps_active.avg.pct_of_peak_sustained_active                       %        88.57
    smsp__average_inst_executed_per_warp.ratio                      inst/warp       304.94
    smsp__inst_executed.sum                                              inst    9,992,192
    smsp__sass_average_branch_targets_threads_uniform.pct                   %        68.75
    smsp__sass_average_data_bytes_per_sector_mem_global_op_ld.pct           %        25.02
    ------------------------------------------------------------- ----------- ------------
"""
VALUES = {
    "dram_read_throughput": 256.7e9,
    "duration": 16350.0,
    "gld_throughput": 2.05e12,
    "achieved_occupancy_percent": 88.57,
    "inst_per_warp": 304.9375,
    "inst_executed": 9_992_192,
    "branch_efficiency": 68.75,
    "gld_efficiency": 25.02,
}
NAMES = [line.split()[0] for line in RECORDED.splitlines()[5:-1]]
LAUNCH = ncu.Record(NEIGHBORED, (2048, 1, 1), (512, 1, 1), 1, 7, "9.0", VALUES, {}, [(0, "EXIT", {})])


def test_details_of_named_metrics() -> None:
    assert "\n".join(ncu.details([LAUNCH], NAMES)) == RECORDED


def test_details_as_csv() -> None:
    """The header, and the line of one metric, are those of the recorded run."""
    lines = ncu.details_csv([replace(LAUNCH, metrics=VALUES | {"duration": 3968})], NAMES, (2642, "reduce"))
    assert lines[0] == (
        '"ID","Process ID","Process Name","Host Name","Kernel Name","Context","Stream","Block Size","Grid Size",'
        '"Device","CC","Section Name","Metric Name","Metric Unit","Metric Value"'
    )
    assert lines[2] == (
        '"0","2642","reduce","127.0.0.1","neighbored(int *, int *, unsigned int)","1","7","(512, 1, 1)","(2048, 1, 1)",'
        '"0","9.0","Command line profiler metrics","gpu__time_duration.sum","ns","3,968"'
    )


def test_raw() -> None:
    lines = ncu.raw([LAUNCH], NAMES)
    assert lines[1].split() == ["Metric", "Name", "Metric", "Unit", "Metric", "Value"]
    assert set(lines[2].split(" ")) == {"", "-" * 61, "-" * 15, "-" * 20}
    assert lines[3] == f"  {NAMES[0]:<61} {'Gbyte/s':>15} {'256.70':>20}"


def test_raw_as_csv() -> None:
    lines = ncu.raw_csv([LAUNCH, LAUNCH], ["inst_executed", "gpu__time_duration.sum"], (1, "reduce"))
    assert lines[0].endswith('"CC","gpu__time_duration.sum","inst_executed"')
    assert lines[1] == '"",' * 11 + '"ns","inst"'
    assert lines[3].startswith('"1","1","reduce"')
    assert lines[3].endswith(',"9.0","16,350","9,992,192"')


def test_what_a_launch_has_no_value_of() -> None:
    (plain,) = ncu.records_of(untimed())[:1]
    assert "n/a" in ncu.details([plain], ["gpu__time_duration.sum"])[5]
    assert not any("Duration" in line for line in ncu.details([plain], None))
    assert any("Registers Per Thread" in line and line.endswith(" 40") for line in ncu.details([plain], None))


def test_the_usual_sections() -> None:
    (each,) = ncu.records_of(timed())[:1]
    text = "\n".join(ncu.details([each], None))
    for section in ("GPU Speed Of Light Throughput", "Launch Statistics", "Occupancy", "Source Counters"):
        assert f"    Section: {section}\n" in text
    assert "Dynamic Shared Memory Per Block       Kbyte/block            2.05" not in text
    assert any(
        line.split() == ["Dynamic", "Shared", "Memory", "Per", "Block", "Kbyte/block", "2.05"]
        for line in text.splitlines()
    )
    assert any(line.split() == ["Branch", "Efficiency", "%", "83.33"] for line in text.splitlines())
    assert any(line.split()[:2] == ["Duration", "us"] for line in text.splitlines())


def test_source() -> None:
    (each,) = ncu.records_of(timed())[:1]
    lines = ncu.source([each])
    assert lines[0] == "Kernel Name  neighbored(int *, int *, unsigned int)"
    assert lines[2].split()[:3] == ["Address", "Source", "Instructions"]
    assert lines[3].split() == ["0x0", "S2R", "R4,", "SR_LANEID", "4000", "0", "0", "2", "0", "0"]
    csv = ncu.source_csv([each])
    assert csv[0] == '"Kernel Name","neighbored(int *, int *, unsigned int)"'
    assert csv[2] == '"0x0","S2R R4, SR_LANEID","4000","0","0","2","0","0"'


@pytest.mark.parametrize("found", [timed(), untimed()], ids=["timed", "untimed"])
def test_a_report_is_read_as_it_was_written(found, tmp_path: Path) -> None:
    records = ncu.records_of(found)
    path = tmp_path / "report.json"
    ncu.write_report(path, "reduce", records)
    command, read = ncu.read_report(path)
    assert command == "reduce"
    for make in (ncu.details, ncu.raw):
        assert make(read, None) == make(records, None)
    assert ncu.source(read) == ncu.source(records)


@pytest.mark.parametrize(
    "text", ["", "[]", "{}", '{"format": "other"}', json.dumps({"format": ncu.FORMAT}), "[" * 100_000]
)
def test_what_is_no_report(text: str, tmp_path: Path) -> None:
    path = tmp_path / "report.json"
    path.write_text(text)
    with pytest.raises(LaunchError, match="is not a report of simt ncu"):
        ncu.read_report(path)
