"""The opcodes, a file for each family.  Importing a family fills the table, so ask for opcodes here."""

from simt.sass.opcodes import (  # noqa: F401  # for their rows of the table
    bits,
    control,
    convert,
    float,
    half,
    integer,
    mbarrier,
    memory,
    narrow,
    packed,
    pascal,
    predicates,
    texture,
    uniform,
    warp,
)
from simt.sass.table import OPCODES, Opcode, find, is_known

__all__ = ["OPCODES", "Opcode", "find", "is_known"]
