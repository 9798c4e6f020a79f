"""Loads, stores and atomics.  The name says what is done, and in which space; the number of a row holds both."""

from __future__ import annotations

from simt.ops.row import Effect, Family, Kind, Table

ACCESSES = ("ld", "st", "atom")
LOAD, STORE, ATOMIC = range(len(ACCESSES))
SPACES = ("global", "shared", "local", "const", "generic")
GLOBAL, SHARED, LOCAL, CONST, GENERIC = range(len(SPACES))

ACCESS_SHIFT = 3
SPACE_MASK = (1 << ACCESS_SHIFT) - 1


class _Accesses(Table):
    def number_of(self, name: str) -> int:
        access, _, space = name.partition(".")
        return ACCESSES.index(access) << ACCESS_SHIFT | SPACES.index(space)


TABLE = _Accesses("memory", Family.MEMORY, Kind.MEMORY, 0, effects=Effect.FAILS)

TABLE.declare(
    """
    ld.global     rr    load           loads         d = memory[a + imm]; mod = MEMORY_TYPES
    ld.shared     rr    shared_load    loads         d = shared memory[a + imm]
    ld.local      rr    load           loads         d = local memory[a + imm] of the thread
    ld.const      rr    const          loads         d = constant memory[a + imm]; not counted as a global access
    ld.generic    rr    load           loads         d = memory[a + imm], the space found from the address
    st.global     -rr   store          stores        memory[a + imm] = b
    st.shared     -rr   shared_store   stores        shared memory[a + imm] = b
    st.local      -rr   store          stores        local memory[a + imm] = b
    st.generic    -rr   store          stores        memory[a + imm] = b, the space found from the address
    atom.global   rrrr  atomic         loads+stores  d = m; m = ATOMICS[mod >> 4](m, b, c) at a + imm; mod & 15 = type
    atom.shared   rrrr  shared_atomic  loads+stores  the same in shared memory
    atom.generic  rrrr  atomic         loads+stores  the same, the space found from the address
    """
)
