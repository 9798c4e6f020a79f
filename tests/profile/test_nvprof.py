"""nvprof's tables: the lines that nvprof of CUDA 10 and 11 prints, with the figures of launches made by hand."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from simt.profile import Activities, nvprof, nvprof_quantities
from simt.program import COUNTERS
from tests.profile.activity import launched, timed, untimed

KERNEL = "neighbored(int*, int*, unsigned int)"
TEMPLATE = "void complete_unroll<unsigned int=512>(int*, int*, unsigned int)"


def test_summary() -> None:
    assert nvprof.summary(timed()) == [
        "            Type  Time(%)      Time  Calls (host)  Calls (device)       Avg       Min       Max  Name",
        f" GPU activities:   64.93%  54.355us             1               0  54.355us  54.355us  54.355us  {KERNEL}",
        f"                   32.89%  27.538us             1               1  13.769us  1.3440us  26.194us  {TEMPLATE}",
        "                    1.41%  1.1840us             1               -  1.1840us  1.1840us  1.1840us  "
        "[CUDA memcpy HtoD]",
        "                    0.76%     640ns             1               -     640ns     640ns     640ns  "
        "[CUDA memset]",
        "                        -         -             1               -         -         -         -  "
        "[CUDA memcpy DtoH]",
    ]


def test_a_kernel_without_branches() -> None:
    """All of its branches went one way."""
    activities = timed()
    counters = activities.launched[0].profile.result.counters
    counters[:, [COUNTERS.index("branches"), COUNTERS.index("divergent_branches")]] = 0
    lines = nvprof.metric_result(activities, ["branch_efficiency"])
    assert lines[3].split()[-3:] == ["100.00%"] * 3
    assert nvprof.metric_trace(activities, ["branch_efficiency"])[1].split()[-1] == "100.00%"


def test_summary_without_times() -> None:
    lines = nvprof.summary(untimed())
    assert lines[1].split() == ["GPU", "activities:", "-", "-", "1", "0", "-", "-", "-", *KERNEL.split()]
    assert lines[2].split()[:4] == ["-", "-", "1", "1"]
    assert len(lines) == 6


def test_summary_as_csv() -> None:
    lines = nvprof.summary(timed(), as_csv=True)
    assert lines[:3] == [
        '"Type","Time(%)","Time","Calls (host)","Calls (device)","Avg","Min","Max","Name"',
        ",%,us,,,us,us,us,",
        f'"GPU activities",64.927076,54.355000,1,0,54.355000,54.355000,54.355000,"{KERNEL}"',
    ]
    assert lines[-1] == '"GPU activities",,,1,,,,,"[CUDA memcpy DtoH]"'


@pytest.mark.parametrize(
    ("unit", "times"),
    [
        ("us", ["1.184us", "1.184us", "1.184us", "1.184us"]),
        ("ns", ["1184ns", "1184ns", "1184ns", "1184ns"]),
        ("ms", ["0.001184ms", "0.001184ms", "0.001184ms", "0.001184ms"]),
        ("s", ["0.000001184s", "0.000001184s", "0.000001184s", "0.000001184s"]),
        ("auto", ["1.1840us", "1.1840us", "1.1840us", "1.1840us"]),
        ("col", ["0.001184ms", "0.001184ms", "0.001184ms", "0.001184ms"]),
    ],
)
def test_units_of_times(unit: str, times: list[str]) -> None:
    """The longest kernel takes 2 ms, and so decides the unit of each column."""
    activities = timed()
    activities.launched[0] = launched("_Z10neighboredPiS_j", 1e-5, 4000, 2e-3)
    lines = nvprof.summary(activities, unit=unit)
    cells = next(line for line in lines if line.endswith("[CUDA memcpy HtoD]")).split()
    assert [cells[1], *cells[4:7]] == times
    assert [len(line.split("[CUDA")[0]) for line in lines[3:]] == [lines[0].index("Name")] * 3


def test_units_of_times_in_csv() -> None:
    lines = nvprof.summary(timed(), as_csv=True, unit="ms")
    assert lines[1] == ",%,ms,,,ms,ms,ms,"
    assert lines[2].startswith('"GPU activities",64.927076,0.054355,1,0,0.054355,0.054355,0.054355,')
    lines = nvprof.gpu_trace(timed(), as_csv=True, unit="ns")
    assert lines[1] == "ns,ns,,,,,,,,KB,KB,KB,GB/s,,,,,,"
    assert lines[4].startswith("10000.000000,54355.000000,8,1,1,64,")


def test_units_of_a_trace() -> None:
    """Each of its columns has one: starts go up to 200 us, the first copy starts at 0."""
    lines = nvprof.gpu_trace(timed(), unit="col")
    assert lines[1].split()[:2] == ["0.000us", "1.184us"]
    assert nvprof.gpu_trace(timed(), unit="ms")[1].split()[:2] == ["0.000000ms", "0.001184ms"]


def test_metrics() -> None:
    assert nvprof.metric_result(timed(), ["inst_per_warp", "branch_efficiency", "gld_throughput", "inst_executed"]) == [
        "Invocations                               Metric Name                        Metric Description"
        "         Min         Max         Avg",
        'Device "NVIDIA H200 (0)"',
        f"    Kernel: {KERNEL}",
        "          1                             inst_per_warp                     Instructions per warp"
        "  250.000000  250.000000  250.000000",
        "          1                         branch_efficiency                         Branch Efficiency"
        "      83.33%      83.33%      83.33%",
        "          1                            gld_throughput                    Global Load Throughput"
        "  561.45MB/s  561.45MB/s  561.45MB/s",
        "          1                             inst_executed                     Instructions Executed"
        "        4000        4000        4000",
        f"    Kernel: {TEMPLATE}",
        "          2                             inst_per_warp                     Instructions per warp"
        "   62.500000  187.500000  125.000000",
        "          2                         branch_efficiency                         Branch Efficiency"
        "      83.33%      83.33%      83.33%",
        "          2                            gld_throughput                    Global Load Throughput"
        "  1.1378GB/s  22.174GB/s  11.656GB/s",
        "          2                             inst_executed                     Instructions Executed"
        "        1000        3000        2000",
    ]


def test_a_long_description_makes_its_column_wide() -> None:
    lines = nvprof.metric_result(timed(), ["inst_per_warp", "shared_store_transactions_per_request"])
    assert lines[0].index("Metric Description") - lines[0].index("Metric Name") == 11 + 28
    assert len({len(line) for line in lines if not line.startswith(("Device", "    Kernel"))}) == 1


def test_what_is_not_defined_is_no_number() -> None:
    lines = nvprof.metric_result(timed(), ["gld_efficiency"])
    assert lines[3].split()[-3:] == ["-", "-", "-"]
    line = nvprof.metric_result(timed(), ["gld_efficiency"], as_csv=True)[1]
    assert line.endswith('"Global Memory Load Efficiency",,,')


def test_metrics_as_csv() -> None:
    lines = nvprof.metric_result(timed(), ["branch_efficiency", "inst_executed", "gld_throughput"], as_csv=True)
    device = '"NVIDIA H200 (0)"'
    assert lines[:4] == [
        '"Device","Kernel","Invocations","Metric Name","Metric Description","Min","Max","Avg"',
        f'{device},"{KERNEL}",1,"branch_efficiency","Branch Efficiency",83.333333%,83.333333%,83.333333%',
        f'{device},"{KERNEL}",1,"inst_executed","Instructions Executed",4000,4000,4000',
        f'{device},"{KERNEL}",1,"gld_throughput","Global Load Throughput",0.548290GB/s,0.548290GB/s,0.548290GB/s',
    ]


def test_events() -> None:
    assert nvprof.event_result(timed(), ["branch", "divergent_branch"])[:6] == [
        "Invocations                                Event Name         Min         Max         Avg       Total",
        'Device "NVIDIA H200 (0)"',
        f"    Kernel: {KERNEL}",
        "          1                                    branch          12          12          12          12",
        "          1                          divergent_branch           2           2           2           2",
        f"    Kernel: {TEMPLATE}",
    ]
    assert nvprof.event_result(timed(), ["branch"])[-1].split() == ["2", "branch", "12", "12", "12", "24"]
    assert nvprof.event_result(timed(), ["branch"], as_csv=True)[-1].endswith(',2,"branch",12,12,12,24')


def test_trace() -> None:
    lines = nvprof.gpu_trace(timed())
    assert lines[:7] == [
        "   Start  Duration            Grid Size      Block Size     Regs*    SSMem*    DSMem*      Size  Throughput"
        "  SrcMemType  DstMemType           Device   Context    Stream  Name",
        "     0ns  1.1840us                    -               -         -         -         -  4.0000KB  3.2219GB/s"
        "    Pageable      Device      NVIDIA H200         1         7  [CUDA memcpy HtoD]",
        "5.0000us     640ns                    -               -         -         -         -       64B  95.367MB/s"
        "      Device           -      NVIDIA H200         1         7  [CUDA memset]",
        "10.000us  54.355us              (8 1 1)        (64 1 1)        40  1.0000KB  2.0000KB         -           -"
        f"           -           -      NVIDIA H200         1         7  {KERNEL} [1]",
        "70.000us  1.3440us              (8 1 1)        (64 1 1)        40  1.0000KB  2.0000KB         -           -"
        f"           -           -      NVIDIA H200         1         7  {TEMPLATE} [2]",
        "80.000us  26.194us              (8 1 1)        (64 1 1)        40  1.0000KB  2.0000KB         -           -"
        f"           -           -      NVIDIA H200         1         7  {TEMPLATE} [3]",
        "200.00us         -                    -               -         -         -         -  76.294MB           -"
        "      Device    Pageable      NVIDIA H200         1         7  [CUDA memcpy DtoH]",
    ]
    assert lines[8].startswith("Regs: Number of registers used per CUDA thread.")
    assert lines[-1].startswith("DstMemType: ")


def test_metrics_of_each_launch() -> None:
    names = ["branch", "inst_executed", "branch_efficiency"]
    width = len(TEMPLATE) + 4
    assert nvprof.metric_trace(timed(), names) == [
        f"         Device          Context           Stream  {'Kernel':>{width}}  branch  inst_executed"
        "  branch_efficiency",
        f"    NVIDIA H200                1                7  {KERNEL + ' [1]':>{width}}      12           4000"
        "             83.33%",
        f"    NVIDIA H200                1                7  {TEMPLATE + ' [2]':>{width}}      12           1000"
        "             83.33%",
        f"    NVIDIA H200                1                7  {TEMPLATE + ' [3]':>{width}}      12           3000"
        "             83.33%",
    ]
    assert nvprof.metric_trace(timed(), names, as_csv=True)[:2] == [
        '"Device","Context","Stream","Kernel","branch","inst_executed","branch_efficiency"',
        f'"NVIDIA H200 (0)","1","7","{KERNEL} [1]",12,4000,83.333333%',
    ]


def test_trace_of_launches_alone() -> None:
    found = timed()
    lines = nvprof.gpu_trace(Activities(found.device, found.launched))
    assert lines[0] == (
        "   Start  Duration            Grid Size      Block Size     Regs*    SSMem*    DSMem*           Device"
        "   Context    Stream  Name"
    )
    assert lines[-1].startswith("DSMem: ")


def test_trace_as_csv() -> None:
    lines = nvprof.gpu_trace(timed(), as_csv=True)
    assert lines[0].startswith('"Start","Duration","Grid X","Grid Y","Grid Z","Block X","Block Y","Block Z","Registers')
    assert lines[2:5] == [
        '0.000000,1.184000,,,,,,,,,,4.000000,3.221873,"Pageable","Device","NVIDIA H200 (0)","1","7",'
        '"[CUDA memcpy HtoD]"',
        '5.000000,0.640000,,,,,,,,,,0.062500,0.093132,"Device",,"NVIDIA H200 (0)","1","7","[CUDA memset]"',
        f'10.000000,54.355000,8,1,1,64,1,1,40,1.000000,2.000000,,,,,"NVIDIA H200 (0)","1","7","{KERNEL} [1]"',
    ]
    assert len({line.count(",") for line in lines[:3]}) == 1


@pytest.mark.parametrize(
    ("seconds", "text"),
    [
        (6.4e-7, "640ns"), (1.344e-6, "1.3440us"), (26.194e-6, "26.194us"), (0.54355, "543.55ms"),
        (1.28975, "1.28975s"), (13.3526, "13.3526s"), (None, "-"), (0.0, "0ns"),
    ],
)  # fmt: skip
def test_times_as_nvprof_writes_them(seconds: float | None, text: str) -> None:
    assert nvprof_quantities.time_text(seconds) == text


@pytest.mark.parametrize(
    ("size", "whole", "text"),
    [
        (1, True, "1B"), (4096, True, "4.0000KB"), (16384, True, "16.000KB"), (80_000_000, True, "76.294MB"),
        (2**27, True, "128.00MB"), (0, False, "0.00000B"), (0, True, "0B"),
    ],
)  # fmt: skip
def test_sizes_as_nvprof_writes_them(size: float, whole: bool, text: str) -> None:
    assert nvprof_quantities.size_text(size, whole) == text


@given(st.floats(1e-9, 1e4))
def test_times_keep_four_digits(seconds: float) -> None:
    text = nvprof_quantities.time_text(seconds)
    unit = {"n": 1e-9, "u": 1e-6, "m": 1e-3}.get(text[-2], 1.0)
    number = float(text.rstrip("nums"))
    assert abs(number * unit - seconds) <= max(1e-4 * seconds, 0.5e-9)


@given(st.integers(1, 2**50))
def test_sizes_keep_four_digits(size: int) -> None:
    text = nvprof_quantities.size_text(size)
    unit = 1024 ** ["B", "KB", "MB", "GB", "TB"].index(text.lstrip("0123456789."))
    assert abs(float(text.rstrip("BKMGT")) * unit - size) <= 1e-4 * size


def test_names_that_are_not_mangled_are_as_they_are() -> None:
    assert nvprof.kernel_name(launched("saxpy", 0.0, 1).profile) == "saxpy"
