"""Names of kernels with their parameters, as nvprof and Nsight Compute write them."""

from __future__ import annotations

import shutil
import subprocess

import pytest
from hypothesis import given
from hypothesis import strategies as st

from simt.demangle import NCU, NVPROF, PLAIN, demangle, signature


@pytest.mark.parametrize(
    ("mangled", "nvprof", "ncu"),
    [
        # Both columns as the tools print them: nvprof in public listings, ncu on an H200 (version 2025.3).
        (
            "_Z20reduceCompleteUnrollILj512EEvPiS0_j",
            "void reduceCompleteUnroll<unsigned int=512>(int*, int*, unsigned int)",
            "void reduceCompleteUnroll<512>(int *, int *, unsigned int)",
        ),
        (
            "_Z10sum_matrixPKfS0_Pfjj",
            "sum_matrix(float const *, float const *, float*, unsigned int, unsigned int)",
            "sum_matrix(const float *, const float *, float *, unsigned int, unsigned int)",
        ),
        ("_Z10neighboredPiS_j", "neighbored(int*, int*, unsigned int)", "neighbored(int *, int *, unsigned int)"),
        ("_Z23code_without_divergencev", "code_without_divergence(void)", "code_without_divergence()"),
        ("saxpy", "saxpy", "saxpy"),
    ],
)
def test_as_the_tools_write_them(mangled: str, nvprof: str, ncu: str) -> None:
    assert signature(mangled, NVPROF) == nvprof
    assert signature(mangled, NCU) == ncu


NAMES = [
    "_Z1fILi3EEvPiS0_", "_ZN2ns1fEPiS0_", "_Z1fPPiS0_S_", "_Z1fIiiEvT_T0_PS0_PS1_", "_Z1fPFviE",
    "_ZN1a1b1cI3FooEEvT_NS_1dE",
    "_Z1m3FooILi3EfE", "_ZN12_GLOBAL__N_11kEPi", "_ZSt1fPi", "_Z1kN1a1bIiE1cES1_", "_Z1fIiJfdEEvT_", "_Z1fRiOf",
    "_Z1fIXadL_Z1xEEEvv", "_Z1fIL_Z1xEEvv", "_Z1fIXadL_ZN1a1gEiEELi3EEvPi",
    "_ZL1kPi", "_Z1fPA3_iS0_", "_Z1fIN1a1bEEvT_S2_",
]  # fmt: skip


@pytest.mark.skipif(shutil.which("c++filt") is None, reason="needs c++filt")
@pytest.mark.parametrize("mangled", NAMES)
def test_as_another_demangler(mangled: str) -> None:
    expected = subprocess.run(["c++filt", mangled], capture_output=True, text=True, check=True).stdout.strip()
    assert signature(mangled, PLAIN) == expected


def test_a_function_as_an_argument_has_no_type() -> None:
    """As Nsight Compute writes it; the types of the function's own template are not the kernel's."""
    assert demangle("_Z5applyIdXadL_Z7half_ofIdET_S1_EEEvPS1_") == "apply<double, &half_of<double>>"
    assert signature("_Z5applyIfXadL_Z4giveIiET_S1_EEEvPT_", NCU) == "void apply<float, &give<int>>(float *)"


UNKNOWN = ["_Z", "_Z3", "_Z1fIXadL_Z1xEEvv", "_Z1fIXadL_Z1xE", "_Z1fIXadL_Z1xEiEvv", "_Z1fIXcvT_EEvv", "_Z1fS9_", "_ZN"]


@pytest.mark.parametrize("mangled", [*UNKNOWN, "_Z1fDx"])
def test_what_is_not_known_keeps_its_name(mangled: str) -> None:
    assert signature(mangled, PLAIN).startswith(demangle(mangled))


@given(st.text("_ZNEIJLPKRSTBij019afv", max_size=30))
def test_any_text_is_survived(text: str) -> None:
    assert signature(f"_Z{text}", NVPROF)
