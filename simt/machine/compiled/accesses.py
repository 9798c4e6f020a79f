"""The kinds of memory access, and which of them native code has a faster function for."""

from __future__ import annotations

from simt.ops.encoding import ATOMIC_TYPES, ATOMICS, MEMORY_TYPES
from simt.ops.memory import ACCESS_SHIFT, ATOMIC, CONST, GLOBAL, LOAD, SHARED, STORE, TABLE
from simt.ops.row import NUMBER_BITS

TYPES = {number: (name, size) for name, (number, size) in MEMORY_TYPES.items()}
"""Name and bytes of an access type, by its number."""

_PLACES = ((LOAD, GLOBAL), (LOAD, SHARED), (LOAD, CONST), (STORE, GLOBAL), (STORE, SHARED))

_KINDS = [(access << ACCESS_SHIFT | space, mod) for access, space in _PLACES for mod in TYPES]

FUNCTIONS = {kind: (f"memory.{kind[0]}", kind[1]) for kind in _KINDS}
"""The faster functions, as :data:`context.HELPERS` names them, of micro-op and access type: of memory that is not
generic or local."""

TELLING = {kind: (f"request.{kind[0]}", kind[1]) for kind in _KINDS}
"""The same for who asks what memory was asked for: they leave that in X and ADDRESSES, as the interpreter does."""

ACCESSES = {function: kind for functions in (FUNCTIONS, TELLING) for kind, function in functions.items()}
"""Micro-op and access type of all of these."""

WHOLE = "access"
"""The name of the function that executes an access of any kind: the interpreter's."""
ANY = (WHOLE, -1)
"""It, as :data:`context.HELPERS` names it."""


def whole(number: int, mod: int) -> tuple[str, int]:
    """The same, but made for one micro-op and access type."""
    return WHOLE, mod << NUMBER_BITS | number


_ATOMICS = [operation << 4 | kind for operation in range(len(ATOMICS)) for kind in range(len(ATOMIC_TYPES))]
WHOLES = [
    whole(row.number, mod)
    for row in TABLE.rows
    for mod in (_ATOMICS if row.number >> ACCESS_SHIFT == ATOMIC else TYPES)
    if (row.number, mod) not in FUNCTIONS
]
"""Those of kinds that have no faster function."""
