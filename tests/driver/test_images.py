"""The linker and the compiler of a program: what they are told, and what they say of wrong code."""

from __future__ import annotations

import struct

import pytest
from numba import cuda

from simt import devices
from simt.check import LaunchError
from simt.driver.codes import Code, code_of
from simt.driver.images import kernels_of, link
from simt.runtime import Context
from simt.toolkit.ptxas import PtxError
from tests.machine_view import needs_nvdisasm
from tests.toolkit.needs import needs_ptxas

pytestmark = [needs_ptxas, needs_nvdisasm]

_HEAD = ".version 8.0\n.target {}\n.address_size 64\n"
FUNCTION = _HEAD + ".visible .func (.reg .b32 r) twice(.reg .b32 x) {{ add.s32 r, x, x; ret; }}\n"
CALLER = (
    _HEAD
    + """.extern .func (.reg .b32 r) twice(.reg .b32 x);
.visible .entry kernel(.param .u64 out) {{
  .reg .b64 to; .reg .b32 v;
  ld.param.u64 to, [out]; mov.u32 v, %tid.x; call (v), twice, (v); st.global.u32 [to], v; ret;
}}
"""
)


def _sums(n: int) -> str:
    """A kernel that needs about *n* registers: it loads that many values and sums them twice, in both directions."""
    names = [f"v{k}" for k in range(n)]
    loads = [f"ld.volatile.global.u32 v{k}, [from + {4 * k}];" for k in range(n)]
    sums = [f"mad.lo.s32 s, s, s, {name};" for name in [*names, *reversed(names)]]
    return _HEAD + "\n".join(
        [
            ".visible .entry kernel(.param .u64 data) {{",
            f".reg .b64 from; .reg .b32 s, {', '.join(names)};",
            "ld.param.u64 from, [data]; mov.u32 s, 1;",
            *loads,
            *sums,
            "st.global.u32 [from], s; ret;",
            "}}",
        ]
    )


def inputs(*texts: str) -> bytes:
    """What the library sends: kind 1 (PTX) and size, then the bytes."""
    return b"".join(struct.pack("=QQ", 1, len(text)) + text.encode() for text in texts)


def linked(*texts: str, registers: int = 0, level: int = 4) -> int:
    """Registers of the kernel that the linker makes."""
    cubin = link(inputs(*texts), "sm_90", registers, level)
    (kernels,) = kernels_of(cubin, "test", devices.get("h200"), Context())
    return kernels["kernel"].registers or 0


@pytest.mark.parametrize(("first", "second"), [("sm_90", "sm_90"), ("sm_90a", "sm_90"), ("sm_90", "sm_90a")])
def test_accelerated_code_links_with_plain_code(first: str, second: str) -> None:
    assert linked(FUNCTION.format(first), CALLER.format(second))


def test_the_program_limits_registers() -> None:
    many = linked(_sums(64).format("sm_90"))
    assert many > 64
    assert linked(_sums(64).format("sm_90"), registers=40) <= 40
    assert linked(FUNCTION.format("sm_90"), _sums(64).format("sm_90"), registers=40) <= 40


@pytest.mark.filterwarnings("ignore:debug=True with opt=True")
def test_code_for_a_debugger_links_at_every_level() -> None:
    def kernel(x):
        x[0] = 1

    ptx, _ = cuda.compile(kernel, "void(int32[::1])", device=False, abi="numba", debug=True, cc=(9, 0))
    assert ", debug" in ptx
    for level in (0, 4):
        assert link(inputs(ptx), "sm_90", 0, level)


def test_what_is_missing_is_told() -> None:
    with pytest.raises(LaunchError, match="nvlink refuses") as caught:
        linked(CALLER.format("sm_90"), _HEAD.format("sm_90"))
    assert "twice" in str(caught.value)
    assert code_of(caught.value) is Code.INVALID_VALUE


def test_wrong_ptx_has_its_own_code() -> None:
    with pytest.raises(PtxError) as caught:
        linked(CALLER.format("sm_90").replace("ret;", "return;"))
    assert code_of(caught.value) is Code.INVALID_PTX
