"""Numba's type and arithmetic rules: the source view against results of a real GPU, stored, bit by bit.

``record_rules.py`` made the results.  What is compared with a tolerance, or not at all, is said here with its
reason.
"""

from __future__ import annotations

import io
import json
import lzma
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
import pytest

import simt
from simt.lang import argument_types
from tests.gpu.expressions import FLOATS, Case, Expression, cases, write_module

DATA = Path(__file__).parent.parent / "data" / "hardware"

LIBRARY_ULPS = {"math.lgamma": 16}
"""Units in the last place by which CUDA's math library differs from the host's, at most, in the stored results;
the other functions and float powers: 2.  lgamma loses digits near its zeros between -11 and -2 (CUDA C++
Programming Guide, "Mathematical Functions")."""

UNDEFINED = {
    ("convert_int16", "-x"): "abs(x) in the same kernel says that x is not the most negative value",
    (
        "constant_uint64_floordiv",
        "x // 2.5",
    ): "x >= 0, so LLVM takes the remainder's sign for known; PTX's may be -",
    ("constant_uint64_mod", "x % 2.5"): "likewise",
    (
        "nested_1",
        "(float64(min(max(y, v), int8(y))) * (((y >> y) // (u / y)) / max(max(y, y), (y if w > 1 else w))))",
    ): ("LLVM folds y >> y to 0: undefined for y >= 64, and 0 below"),
    ("nested_12", "uint32(float64(v))"): "LLVM converts the float32 directly: NaN gives 0, from float64 2**31",
    ("nested_23", "uint8((y >> 65536))"): "a shift by a constant of 64 or more is undefined; LLVM gives 0",
}
"""Results that depend on what the compiler concludes, by case and expression; the source view follows Numba's own
rules there."""

KINDS = (
    "binary",
    "convert",
    "round",
    "constant",
    "math",
    "math2",
    "bits",
    "fma",
    "contract",
    "store",
    "atomic",
    "nested",
)


@cache
def stored() -> tuple[dict[str, Any], dict[str, npt.NDArray[Any]]]:
    """Cases by name, and all arrays."""
    with np.load(io.BytesIO(lzma.decompress((DATA / "numba_rules.npz.xz").read_bytes()))) as archive:
        arrays = {name: archive[name] for name in archive.files}
    listed = json.loads(arrays.pop("cases").tobytes())
    return {entry["name"]: entry for entry in listed}, arrays


def stored_cases(kind: str) -> list[Case]:
    """The cases of one kind, as they were recorded."""
    found = []
    for entry in stored()[0].values():
        if entry["name"].split("_")[0] == kind:
            expressions = tuple(Expression(*expression) for expression in entry["expressions"])
            found.append(Case(entry["name"], tuple(entry["params"]), expressions, entry["inputs"]))
    return found


def test_the_generator_still_makes_the_recorded_expressions() -> None:
    now = {case.name: [[e.text, e.type, e.before] for e in case.expressions] for case in cases()}
    then = {name: entry["expressions"] for name, entry in stored()[0].items()}
    assert now == then, "record the results again: python -m tests.gpu.record_rules"


@pytest.mark.parametrize("kind", KINDS)
def test_source_view_gives_the_gpus_bits(kind: str, tmp_path: Path) -> None:
    chosen = stored_cases(kind)
    assert chosen
    module = write_module(tmp_path / f"rules_{kind}.py", chosen)
    wrong = [message for case in chosen for message in differences(module, case)]
    assert not wrong, f"{len(wrong)} expressions differ:\n" + "\n".join(wrong[:40])


def differences(module: Any, case: Case) -> list[str]:
    """One line for each expression of the case whose results differ from the GPU's."""
    arrays = stored()[1]
    columns = [arrays[f"{case.name}/in{k}"].copy() for k in range(len(case.params))]
    n = len(columns[0])
    ints, floats = case.outputs(n)
    given = [column.copy() for column in columns]
    simt.launch(getattr(module, case.name), -(-n // 128), 128, *columns, ints, floats)
    rows = {False: iter(zip(arrays[f"{case.name}/ints"], ints, strict=True)),
            True: iter(zip(arrays[f"{case.name}/floats"], floats, strict=True))}  # fmt: skip
    found = []
    for expression in case.expressions:
        real, ours = next(rows[expression.floating])
        same = agree(case, expression, real, ours)
        if not same.all() and (case.name, expression.text) not in UNDEFINED:
            where = int(np.flatnonzero(~same)[0])
            operands = ", ".join(repr(column[where].item()) for column in given[:3])
            found.append(
                f"{case.name}: {expression.text} -> {expression.type}, {int((~same).sum())} of {n}, "
                f"first ({operands}): GPU {real[where].item()!r}, simulator {ours[where].item()!r}"
            )
    return found


def agree(case: Case, expression: Expression, real: npt.NDArray[Any], ours: npt.NDArray[Any]) -> npt.NDArray[np.bool_]:
    """Elementwise: the same bits, or within what the reason allows."""
    if not expression.floating:
        # Bits above a narrow type's width are undefined where a conversion to it is out of range: cut them.
        kind = np.dtype(expression.type)
        return real.astype(kind) == ours.astype(kind) if kind.kind != "b" else real == ours
    same = (real.view(np.int64) == ours.view(np.int64)) | (np.isnan(real) & np.isnan(ours))
    if case.name.startswith("contract"):
        # One rounding on the GPU (fused multiply-add), two in the source view: no limit near cancellation.
        return np.ones_like(same)
    if case.name.startswith("math") or uses_power(case, expression):
        return same | (ulps(expression.type, real, ours) <= allowed_ulps(expression.text))
    return same


def uses_power(case: Case, expression: Expression) -> bool:
    """Whether the result may come from CUDA's pow: a floating-point exponent, or a very large one."""
    return "**" in expression.text and expression.type in FLOATS


def allowed_ulps(text: str) -> int:
    """The limit for one expression."""
    return next((limit for name, limit in LIBRARY_ULPS.items() if name in text), 2)


def ulps(kind: str, real: npt.NDArray[Any], ours: npt.NDArray[Any]) -> npt.NDArray[Any]:
    """Distance in units in the last place of type *kind*; huge where only one is finite."""
    bits = np.dtype("int32" if kind == "float32" else "int64")
    with np.errstate(over="ignore", invalid="ignore"):
        ordered = [np.asarray(value).astype(kind).view(bits).astype(object) for value in (real, ours)]
    low = int(np.iinfo(bits).min)
    a, b = (np.array([low - v if v < 0 else v for v in values], dtype=object) for values in ordered)
    mixed = np.isfinite(real) != np.isfinite(ours)
    gap = np.array([abs(x - y) for x, y in zip(a, b, strict=True)], dtype=object)
    return np.where(mixed, 2**62, gap.astype(np.float64))


def test_argument_types_are_numbas() -> None:
    """The differential test relies on it: a column's dtype is the variable's type."""
    assert [str(ty) for ty in argument_types((True, 1, 1.0, np.uint8(1)))] == ["bool", "int64", "float64", "uint8"]
