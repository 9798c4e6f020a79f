"""Nsight Compute's CSV pages and messages, without Nsight Compute."""

from __future__ import annotations

import os
import stat
from pathlib import Path

import numpy as np
import pytest

import gpu
from gpu import jobs, ncu
from gpu.hardware import Device
from gpu.profiling import HardwareProfile
from simt import kernels
from simt.profile import UnknownMetricError
from simt.profile.ncu_pages import parse

DEVICE = Device(0, "Test GPU", "sm_90", 1, 2**30, 10**6, 1024, (1024, 1024, 64), (2**31 - 1, 65535, 65535), 49152, "")

RAW = """"ID","Process ID","Process Name","Host Name","Kernel Name","Context","Stream","Block Size","Grid Size","Device","CC","smsp__inst_executed.sum","thread_inst_executed","thread_inst_executed_true","l1tex__t_sectors_pipe_lsu_mem_global_op_ld.sum","l1tex__t_requests_pipe_lsu_mem_global_op_ld.sum","smsp__sass_branch_targets_threads_divergent.sum","gpu__time_duration.sum"
"","","","","","","","","","","","inst","inst","inst","sector","","","ns"
"0","1","python","127.0.0.1","first(int)","1","7","(64, 1, 1)","(2, 1, 1)","0","9.0","12","384","380.000000","1,040","8","2","2,500"
"1","1","python","127.0.0.1","second","1","7","(32, 1, 1)","(1, 1, 1)","0","9.0","1","32","32","0","0","0","1,000"
"""

SASS = """"Kernel Name","first(int)"
"Address","Source","# Samples","Instructions Executed","Thread Instructions Executed","Predicated-On Thread Instructions Executed","Divergent Branches","Address Space","L2 Theoretical Sectors Global","L2 Theoretical Sectors Global Ideal"
"0x7f0000001000","      LDC R1, c[0x0][0x28]","3","4","128","128","0","-","0","0"
"0x7f0000001010","@P0   BRA 0x7f0000001000","0","8","256","252","2","-","16","4"
"Kernel Name","second"
"Address","Source","# Samples","Instructions Executed","Thread Instructions Executed","Predicated-On Thread Instructions Executed","Divergent Branches","Address Space","L2 Theoretical Sectors Global","L2 Theoretical Sectors Global Ideal"
"0x7f0000002000","      EXIT","0","1","32","32","0","-","0","0"
"""

LINES = """"File Path","kernels.py"
"Function Name","first(int)"
"Line No","Source","Address","Source","# Samples"
"12","x = a[i]","-","-","3"
"","","0x7f0000001000","      LDC R1, c[0x0][0x28]","3"
"","","...","...","-"
"13","if x > 1, or so:","-","-","0"
"","","0x7f0000001010","@P0   BRA 0x7f0000001000","0"
"""


def test_pages_become_reports() -> None:
    first, second = parse(RAW, SASS, LINES)
    assert first.kernel == "first(int)"
    assert first.metrics["l1tex__t_sectors_pipe_lsu_mem_global_op_ld.sum"] == 1040
    assert [row.offset for row in first.instructions] == [0, 0x10]
    assert first.instructions[1].text == "@P0 BRA 0x7f0000001000"
    assert first.instructions[1].source == ("kernels.py", 13)
    assert second.instructions[0].values["Instructions Executed"] == 1
    assert second.instructions[0].source is None


def test_a_profile_has_the_simulators_names() -> None:
    first = parse(RAW, SASS, LINES)[0]
    profile = HardwareProfile("first", first, (2, 1, 1), (64, 1, 1), DEVICE, {})
    assert profile.counters["inst_executed"] == 12
    assert profile.counters["pred_on_thread_inst_executed"] == 380
    assert profile.counters["warps_launched"] == 4
    assert profile.metrics["inst_per_warp"] == 3
    assert profile.metrics["gld_transactions"] == profile.metrics["l1tex__t_sectors_pipe_lsu_mem_global_op_ld.sum"]
    assert profile.metrics["gld_transactions_per_request"] == 130
    assert profile.metrics["divergent_branch"] == 2
    assert profile.metrics["shared_efficiency"] is None
    assert "shared_efficiency" not in list(profile.metrics)
    assert profile.milliseconds == 0.0025
    assert sum(line.counters["inst_executed"] for line in profile.lines) == 12
    assert profile.lines[1].counters["global_sectors"] == 16
    with pytest.raises(UnknownMetricError):
        profile.metrics["gld_transaktions"]
    assert "@P0 BRA" in profile.annotate()
    assert "inst_per_warp" in str(profile)
    assert profile.to_dict()["lines"][1]["source"] == ["kernels.py", 13]


@pytest.mark.parametrize(
    ("output", "title"),
    [
        ("==ERROR== ERR_NVGPUCTRPERM - The user does not have permission", "performance counters"),
        ("==ERROR== Failed to initialize the profiler: LibraryNotLoaded", "driver does not fit"),
        ("==ERROR== Cuda driver is not compatible with Nsight Compute", "driver does not fit"),
        ("==WARNING== No kernels were profiled.", "nothing was profiled"),
        ("Segmentation fault", "profiled process failed"),
    ],
)
def test_what_ncu_says_becomes_an_error_with_a_remedy(output: str, title: str) -> None:
    error = ncu.explain(output)
    assert title in error.title
    assert error.help
    assert output.replace("==ERROR==", "").strip()[:20] in str(error)


def test_no_ncu(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PATH", "")
    monkeypatch.setattr(ncu, "USUAL_PLACES", ())
    with pytest.raises(gpu.ProfilerError, match="was not found"):
        ncu.find()


@pytest.mark.skipif(os.name != "posix", reason="the stand-in for ncu is a shell script")
def test_forbidden_counters_end_to_end(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A stand-in for ncu that refuses, as the real one does for an ordinary user."""
    stand_in = tmp_path / "ncu"
    stand_in.write_text("#!/bin/sh\necho '==ERROR== ERR_NVGPUCTRPERM - The user does not have permission'\nexit 1\n")
    stand_in.chmod(stand_in.stat().st_mode | stat.S_IXUSR)
    monkeypatch.setattr(ncu, "find", lambda: str(stand_in))
    plan = kernels.get_reduction("interleaved").plan(64, 32)
    with pytest.raises(gpu.ProfilerError, match="NVreg_RestrictProfilingToAdminUsers"):
        ncu.collect([jobs.Job(plan.kernel, plan.grid, plan.block, plan.args)])


def test_kernels_travel() -> None:
    """A closure with device functions, as a function again, in bytes that another process can read."""
    import pickle

    plan = kernels.get_reduction("shuffle").plan(100, 32)
    (job,) = pickle.loads(jobs.dump([jobs.Job(plan.kernel, plan.grid, plan.block, plan.args)]))
    assert job.kernel.__name__ == "shuffle"
    np.testing.assert_array_equal(job.args[0], plan.args[0])
