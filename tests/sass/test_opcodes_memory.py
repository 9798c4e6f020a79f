"""Memory, warp and control instructions."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

import simt
from simt.sass import load_cubin
from tests.sass.assembler import LANES, MASK, listing, run_lanes, s32, words


@pytest.mark.parametrize("width", [8, 16, 32, 64, 128])
def test_shared_memory(width: int) -> None:
    """Each lane stores its own and loads its neighbour's; addresses wrap at 32 bits."""
    registers, step = max(width // 32, 1), width // 8
    inputs = {4 + k: words(k) for k in range(4)}
    store = {8: ".U8", 16: ".U16", 32: "", 64: ".64", 128: ".128"}[width]
    load = {8: ".S8", 16: ".S16"}.get(width, store)
    lines = [
        f"IMAD R9, R200, {hex(step)}, -0x10",
        f"STS{store} [R9+0x10], R4",
        "BAR.SYNC.DEFER_BLOCKING 0x0",
        "LOP3.LUT R10, R200, 0x1, RZ, 0x3c, !PT",
        f"IMAD R10, R10, {hex(step)}, RZ",
        f"LDS{load} R12, [R10]",
    ]
    outputs = list(range(12, 12 + registers))
    found, _ = run_lanes(lines, inputs, outputs, shared_bytes=LANES * step)
    for k in range(registers):
        expected = inputs[4 + k][np.arange(LANES) ^ 1]
        if width < 32:
            expected = expected.astype(f"u{step}").view(f"i{step}").astype(np.int32).view(np.uint32)
        assert found[12 + k].tolist() == expected.tolist()


@pytest.mark.parametrize("zeros", ["", ".ZFILL"])
def test_copies_to_shared_memory(zeros: str) -> None:
    """LDGSTS (cp.async): where the predicate is false, zeros are stored."""
    inputs = {4: words(8)}
    lines = [
        "LDC.64 R202, c[0x0][0x210]",
        "IMAD.WIDE.U32 R202, R200, 0x4, R202",
        "SHF.L.U32 R9, R200, 0x2, RZ",
        "LOP3.LUT R10, R200, 0x1, RZ, 0xc0, !PT",
        "ISETP.EQ.U32.AND P0, PT, R10, 0x1, PT",
        f"LDGSTS.E{zeros} [R9], [R202.64], P0",
        "LDGDEPBAR",
        "DEPBAR.LE SB0, 0x0",
        "LDS R8, [R9]",
    ]
    found, _ = run_lanes(lines, inputs, [8], shared_bytes=4 * LANES)
    assert found[8].tolist() == np.where(np.arange(LANES) & 1, inputs[4], 0).tolist()


def test_shared_atomics() -> None:
    lines = [
        "MOV R8, RZ",
        "ATOMS.ADD R9, [R8], R4",
        "ATOMS.MAX.S32 R10, [R8+0x4], R4",
        "ATOMS.CAS R11, [R8+0x8], RZ, R4",
        "ATOMS.POPC.INC.32 RZ, [R8+0xc]",
        "LDS.128 R12, [R8]",
    ]
    a = words(3) | np.uint32(1)
    found, _ = run_lanes(lines, {4: a}, [9, 10, 11, 12, 13, 14, 15], shared_bytes=16)
    sums = np.cumsum(np.concatenate([np.zeros(1, np.uint64), a.astype(np.uint64)])) & np.uint64(MASK)
    assert found[9].tolist() == sums[:-1].tolist()
    signed = a.view(np.int32).tolist()
    assert found[10].view(np.int32).tolist() == [max(0, *signed[:k]) if k else 0 for k in range(LANES)]
    assert found[11].tolist() == [0] + [int(a[0])] * (LANES - 1)
    assert [int(found[r][0]) for r in (12, 13, 14, 15)] == [
        int(sums[-1]),
        max(0, *signed),
        int(a[0]),
        LANES,
    ]


def test_generic_constants_and_indexing() -> None:
    lines = ["LDC R4, c[0x0][0x0]", "MOV R5, 0x8", "LDC.64 R6, c[0x0][R5]", "ULDC UR4, c[0x0][0xc]", "MOV R8, UR4"]
    found, _ = run_lanes(lines, {}, [4, 6, 7, 8])
    assert {r: set(v.tolist()) for r, v in found.items()} == {4: {32}, 6: {1}, 7: {1}, 8: {1}}


def test_warp_operations() -> None:
    a = words(1)
    lines = [
        "SHFL.BFLY P1, R8, R4, 0x3, 0x1f",
        "SHFL.UP P0, R9, R4, 0x4, RZ",
        "ISETP.LT.AND P2, PT, R4, RZ, PT",
        "VOTE.ANY R10, PT, P2",
        "VOTE.ALL P3, P2",
        "REDUX.MAX.S32 UR4, R4",
        "MOV R11, UR4",
        "R2UR UR5, R4",
        "IADD3 R12, RZ, UR5, RZ",
        "MATCH.ANY R13, R4",
    ]
    found, predicates = run_lanes(lines, {4: a}, [8, 9, 10, 11, 12, 13], [0, 1, 3])
    values = [int(x) for x in a]
    assert found[8].tolist() == [values[k ^ 3] for k in range(LANES)]
    assert found[9].tolist() == [values[k - 4] if k >= 4 else values[k] for k in range(LANES)]
    assert predicates[0].tolist() == [k >= 4 for k in range(LANES)]
    assert set(found[10].tolist()) == {sum(1 << k for k in range(LANES) if s32(values[k]) < 0)}
    assert predicates[3].tolist() == [all(s32(v) < 0 for v in values)] * LANES
    assert set(found[11].tolist()) == {max(map(s32, values)) & MASK}
    assert set(found[12].tolist()) == {values[0]}
    assert found[13].tolist() == [sum(1 << j for j in range(LANES) if values[j] == v) for v in values]


def test_branches_converge_and_indirect_branches_find_their_way() -> None:
    lines = [
        "MOV R9, RZ",
        "ISETP.GE.AND P0, PT, R200, 0x8, PT",
        "BSSY B0, `(.L_end)",
        "@P0 BRA `(.L_else)",
        "MOV R9, 0x1",
        "BRA `(.L_sync)",
        "MOV R9, 0x2",
        "BSYNC B0",
        "VOTE.ANY R10, PT, PT",
    ]
    # The frame is 8 instructions long without inputs (S2R, LDC, IMAD, LDC, IMAD): targets by offset.
    start = 5 * 16
    places = {"`(.L_else)": 6, "`(.L_sync)": 7, "`(.L_end)": 8}
    for label, index in places.items():
        lines = [line.replace(label, hex(start + 16 * index)) for line in lines]
    found, _ = run_lanes(lines, {}, [9, 10])
    assert found[9].tolist() == [1] * 8 + [2] * 24
    assert set(found[10].tolist()) == {MASK}


def test_calls_return_to_where_they_came_from() -> None:
    start = 5 * 16
    lines = [
        f"MOV R20, {hex(start + 16 * 3)}",
        "MOV R21, RZ",
        f"CALL.REL.NOINC {hex(start + 16 * 6)}",
        f"MOV R20, {hex(start + 16 * 8)}",
        f"CALL.REL.NOINC {hex(start + 16 * 6)}",
        "BPT.TRAP 0x1",
        "IADD3 R9, R9, 0x5, RZ",
        "RET.REL.NODEC R20 0x0",
        "NOP",
    ]
    found, _ = run_lanes(lines, {}, [9])
    assert set(found[9].tolist()) == {10}


@pytest.mark.parametrize("index", ["", "R6+"])
@pytest.mark.parametrize("typ", ["U8", "S8", "U16", "S16"])
def test_constants_of_less_than_a_word(typ: str, index: str, tmp_path: Path) -> None:
    """From constant bank 0, where a parameter is; with an index in a register, too."""
    size = int(typ[1:]) // 8
    places = range(0, 8, size)
    lines = ["LDC.64 R2, c[0x0][0x210]", "MOV R6, 0x8"]
    for k in places:
        lines.append(f"LDC.{typ} R8, c[0x0][{index}{hex(0x218 + k - 8 * bool(index))}]")
        lines.append(f"STG.E [R2.64+{hex(4 * (k // size))}], R8")
    path = tmp_path / "k.sass"
    path.write_text(listing([*lines, "EXIT"]))
    value, out = np.uint64(0x807F01FE_C0DE8001), np.zeros(len(places), np.int32)
    simt.launch(load_cubin(path, parameters={"k": [8, 8]})["k"], 1, 1, out, value)
    assert out.tolist() == np.array([value]).view(f"{'i' if typ[0] == 'S' else 'u'}{size}").tolist()


@pytest.mark.parametrize("window", ["0x7e00", "0x7e01", "RZ"], ids=["shared", "local", "global"])
@pytest.mark.parametrize("text", ["LD.E R8, [R4.64]", "ST.E [R4.64], R6", "ATOM.E.ADD PT, R8, [R4.64], R6"])
def test_a_generic_access_is_only_made_where_its_guard_holds(text: str, window: str, tmp_path: Path) -> None:
    """Lanes 0 to 3 access a sound address, then those without the guard hold one that lies outside of every space."""
    if window == "0x7e01" and text.startswith("ATOM"):
        return  # there are no atomics on local memory
    sound = ["MOV R4, RZ", f"MOV R5, {window}"] if window != "RZ" else ["LDC.64 R4, c[0x0][0x210]"]
    lines = [
        *sound,
        "MOV R6, 0x7",
        "S2R R0, SR_TID.X",
        "ISETP.LT.AND P0, PT, R0, 0x4, PT",
        text,
        "@!P0 MOV R4, 0xfffffff0",
        "@!P0 MOV R8, 0x5",
        f"@P0 {text}",
        "LDC.64 R2, c[0x0][0x218]",
        "IMAD.WIDE.U32 R2, R0, 0x4, R2",
        "STG.E [R2.64], R8",
        "EXIT",
    ]
    path = tmp_path / "k.sass"
    path.write_text(listing(lines))
    kernel = load_cubin(path, parameters={"k": [8, 8]})["k"]
    kernel.frame_bytes = 64
    out = np.zeros(LANES, np.int32)
    simt.launch(kernel, 1, LANES, np.zeros(4, np.int32), out, shared_bytes=64)
    if not text.startswith("ST"):
        assert out[4:].tolist() == [5] * 28


@pytest.mark.parametrize("width", [64, 128])
def test_zeros_for_a_whole_vector(width: int, tmp_path: Path) -> None:
    """RZ stands for as many zeros as are stored, or added in one reduction of packed floats."""
    words = width // 32
    lines = [
        *(f"MOV R{k}, 0x41100000" for k in range(4)),  # 9.0: the registers that follow RZ's number
        "LDC.64 R6, c[0x0][0x210]",
        f"STG.E.{width} [R6.64], RZ",
        f"REDG.E.ADD.F32x{words}.FTZ.RN.STRONG.GPU [R6.64+0x10], RZ",
        "EXIT",
    ]
    path = tmp_path / "k.sass"
    path.write_text(listing(lines))
    data = np.arange(1, 9, dtype=np.float32)
    simt.launch(load_cubin(path, parameters={"k": [8]})["k"], 1, 1, data)
    assert data.tolist() == [*[0] * words, *range(words + 1, 9)]


@pytest.mark.parametrize(("mask", "jumps"), [(MASK, True), (0xFFFF, False), (0x1FFFF, True), (0x10000, True)])
def test_a_guarded_branch_on_divergence(mask: int, jumps: bool) -> None:
    """All lanes go where some lane of the mask does not fulfil the guard, here those from 16 on (H200)."""
    start = 5 * 16  # behind the frame
    lines = [
        f"UMOV UR4, {mask:#x}",
        "ISETP.LT.AND P0, PT, R200, 0x10, PT",
        "MOV R8, 0x1",
        f"@P0 BRA.DIV UR4, {hex(start + 16 * 5)}",
        "MOV R8, 0x2",
        "NOP",
    ]
    assert run_lanes(lines, {}, [8])[0][8].tolist() == [1 if jumps else 2] * LANES
