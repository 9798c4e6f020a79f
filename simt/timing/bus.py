"""Memory of the host, which the GPU reaches over its bus."""

from __future__ import annotations

from simt.timing import layout as L
from simt.timing.jit import jit, jit_inline
from simt.timing.servers import SECTOR, serve

HOST_LATENCY = L.PLACE["host_latency"]
HOST_READ = L.PLACE["host_read_bytes_per_cycle"]
HOST_WRITE = L.PLACE["host_write_bytes_per_cycle"]
HOST_QUEUE = L.PLACE["host_write_queue"]
HOST_BESIDE = L.PLACE["host_write_share"]


@jit_inline
def is_hosted(line, t):
    """Whether *line* is memory of the host."""
    found = False
    for k in range(0, len(t.HOSTED), 2):
        found |= t.HOSTED[k] <= line < t.HOSTED[k + 1]
    return found


@jit
def host_read(n, arrival, t):
    """When *n* sectors of the host's memory are there: L2 does not keep them (H200, paths.cu)."""
    t.TOTALS[L.N_L2_SECTORS] += n
    cycles = n * SECTOR / t.NUMBERS[HOST_READ]
    back = serve(t.CHIP, L.C_HOST_READ_FREE, arrival, cycles) + t.NUMBERS[HOST_LATENCY]
    t.CHIP[L.C_HOST_DONE] = max(t.CHIP[L.C_HOST_DONE], back)
    return back


@jit
def host_write(n, arrival, t):
    """When a store of *n* sectors to the host's memory has been taken: as soon as few enough wait for the bus."""
    t.TOTALS[L.N_L2_SECTORS] += n
    t.TOTALS[L.N_L2_HITS] += n
    cycles = n * SECTOR / t.NUMBERS[HOST_WRITE]
    through = serve(t.CHIP, L.C_HOST_WRITE_FREE, arrival, cycles)
    serve(t.CHIP, L.C_HOST_READ_FREE, arrival, cycles * t.NUMBERS[HOST_BESIDE])
    t.CHIP[L.C_HOST_DONE] = max(t.CHIP[L.C_HOST_DONE], through)
    return max(arrival, through - t.NUMBERS[HOST_QUEUE] / t.NUMBERS[HOST_WRITE])
