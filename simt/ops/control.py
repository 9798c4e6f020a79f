"""Where lanes go on, wait and end: each is executed by the function of its name in :mod:`simt.machine.control`, or
:mod:`simt.machine.converging`.
"""

from __future__ import annotations

from simt.ops.row import Family, Kind, Table

TABLE = Table("control", Family.CONTROL, Kind.CONTROL, 0)

TABLE.declare(
    """
    nop           -     nop      -            nothing; mod = FENCE, COMMIT, AWAIT: what a watch wants to know of
    bra           -p    branch   jumps        exec lanes with predicate a jump to imm, other active lanes fall through
    brx           -r    branch   jumps+fails  exec lanes jump to the code address a + imm (Program.addresses)
    bssy          -     branch   -            convergence barrier imm = active lanes
    bsync         -     branch   jumps        wait at convergence barrier imm for its lanes, then go on
    break         -     branch   jumps        exec lanes leave convergence barrier imm
    yield         -     branch   jumps        another split runs; convergence barriers do not wait for who gave way
    warpsync      -r    branch   jumps+fails  wait for the lanes of mask a that live; mod: COLLECTIVE, MEETINGS
    bar.sync      --rr  barrier  jumps        __syncthreads on barrier imm + c; b = threads expected, 0: all
    bar.red.popc  rprr  barrier  jumps        __syncthreads_count of predicate a
    bar.red.and   pprr  barrier  jumps        __syncthreads_and
    bar.red.or    pprr  barrier  jumps        __syncthreads_or
    bar.arrive    --rr  barrier  jumps        count as arrived at barrier imm + c and go on
    exit          -     exit     jumps        exec lanes end
    trap          -     branch   fails        stop; imm: NULL_CALL, ZERO_DIVISION
    syscall       -rrr  branch  jumps+fails  the host serves Program.syscalls[imm]: see SYSCALL
    bmov.get      r     branch   -            d = participants of convergence barrier imm; mod = 1: which is cleared
    bmov.set      -r    branch   jumps        participants of convergence barrier imm = mask a
    """
)
