"""The kinds of access that native code executes: those of one row, to memory that is not generic or local."""

from __future__ import annotations

from simt.ops.encoding import MEMORY_TYPES
from simt.ops.memory import ACCESS_SHIFT, CONST, GLOBAL, LOAD, SHARED, STORE

SIMPLE_TYPES = {
    number: (name, size) for name, (number, size) in MEMORY_TYPES.items() if name[0] in "usb" and name[1:].isdigit()
}
"""Access types of one row: name and bytes."""

_PLACES = ((LOAD, GLOBAL), (LOAD, SHARED), (LOAD, CONST), (STORE, GLOBAL), (STORE, SHARED))

ACCESSES = {
    (f"memory.{access << ACCESS_SHIFT | space}", mod): (access << ACCESS_SHIFT | space, mod)
    for access, space in _PLACES
    for mod in SIMPLE_TYPES
}
"""The function of each kind, as :data:`context.HELPERS` names it: micro-op and access type."""

FUNCTIONS = {kind: function for function, kind in ACCESSES.items()}
"""The same the other way round."""
