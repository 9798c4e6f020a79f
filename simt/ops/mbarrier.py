"""Barriers in shared memory (PTX mbarrier): each is executed by its function in :mod:`simt.machine.mbarriers`."""

from __future__ import annotations

from simt.ops.row import Family, Kind, Table

DROPS = 1
"""``mod`` of an arrival whose threads do not take part in later phases."""

BULK = 16
"""Bytes of one step of a bulk copy, whose size and addresses are multiples of so many (PTX ISA, cp.async.bulk)."""

TABLE = Table("mbarrier", Family.CONTROL, Kind.CONTROL, 1)

TABLE.declare(
    """
    init.shared   -rr   barrier  fails        the mbarrier at shared address a holds b
    arrive.shared rrrr  barrier  fails        d = what it held; b threads arrive, c more bytes are to come; mod: DROPS
    wait.shared   -rr   barrier  jumps+fails  wait at mbarrier a until its phase is not that of bit 31 of b
    state.shared  rr    barrier  fails        d = what the mbarrier at a holds
    bulk.generic  -rr   barrier  fails        BULK bytes from global address b to shared address a
    """
)
