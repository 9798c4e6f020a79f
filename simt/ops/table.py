"""Every micro-op by name, and the tables that they stand in."""

from __future__ import annotations

from simt.ops import (
    bits,
    compare,
    control,
    convert,
    division,
    float32,
    float64,
    image,
    integer,
    mathematics,
    mbarrier,
    memory,
    predicate,
    rounding,
    warp,
)
from simt.ops.row import KIND_SHIFT, NUMBER_MASK, Effect, Family, Kind, MicroOp, Table

__all__ = ["MICRO_OPS", "TABLES", "Effect", "Family", "Kind", "MicroOp", "Table"]

TABLES: tuple[Table, ...] = (
    integer.TABLE,
    integer.SELECT,
    integer.ELEMENT,
    division.TABLE,
    bits.TABLE,
    rounding.TABLE,
    float64.TABLE,
    mathematics.TABLE,
    float32.TABLE,
    convert.TABLE,
    compare.TABLE,
    predicate.TABLE,
    predicate.VOTES,
    warp.SHUFFLES,
    warp.REDUCTIONS,
    warp.MASKS,
    warp.OTHERS,
    memory.TABLE,
    image.TABLE,
    control.TABLE,
    mbarrier.TABLE,
)


def _by_name() -> dict[str, MicroOp]:
    found: dict[str, MicroOp] = {}
    numbers: dict[int, str] = {}
    for row in (row for table in TABLES for row in table.rows):
        if row.name in found or row.code in numbers:
            raise AssertionError(f"micro-op {row.name} is declared twice, or its number is that of another one")
        if row.code >> KIND_SHIFT > max(Kind) or row.number > NUMBER_MASK:
            raise AssertionError(f"micro-op {row.name} has no room in its code")
        found[row.name] = row
        numbers[row.code] = row.name
    return found


MICRO_OPS: dict[str, MicroOp] = _by_name()
"""Every micro-op by name; nothing depends on their order."""
