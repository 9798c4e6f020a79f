"""When DRAM and L2 have what is asked for: the time of DRAM, the load, and latencies that differ by line and load."""

from __future__ import annotations

import numpy as np

from simt.timing import layout as L
from simt.timing.chance import exponential, scramble, share
from simt.timing.jit import jit, jit_inline
from simt.timing.servers import ASKED, serve_others
from simt.timing.slices import four_of

DRAM_LATENCY = L.PLACE["dram_latency"]
DRAM_TURN = L.PLACE["dram_write_latency"]
DRAM_FAR = L.PLACE["dram_far_latency"]
DRAM_SPREAD = L.PLACE["dram_spread_latency"]
DRAM_QUEUE = L.PLACE["dram_queue_latency"]
L2_SPREAD = L.PLACE["l2_spread_latency"]
L2_LATENCY = L.PLACE["l2_latency"]
L2_QUEUE = L.PLACE["l2_queue_latency"]
LOAD_WINDOW = 1024.0
WRITTEN_WINDOW = 4096.0
"""Cycles over which the load by what L2 writes is averaged: SMs store out of step.

A compromise: transposes by blocks of 1024 threads want 8192 (columns.cu: 17 % slow with 1024, 7 with 4096), the
occupancy of streams by such blocks 1024 (kept.cu, on an H100).
"""
DRAM_WINDOW = 512.0


@jit_inline
def averaged(load, at, cycles, window, arrival, t):
    """Add so many busy cycles to the share of the time that something is busy, averaged over *window* cycles."""
    CHIP = t.CHIP
    since = max(arrival - CHIP[at], 0.0)
    CHIP[load] = CHIP[load] * np.exp(-since / window) + cycles / window
    CHIP[at] = max(CHIP[at], arrival)


@jit_inline
def load_now(load, at, window, arrival, t):
    """What averaged says of the load at *arrival*: it falls while nothing is added."""
    return min(t.CHIP[load] * np.exp(-max(arrival - t.CHIP[at], 0.0) / window), 1.0)


@jit
def dram_time(arrival, cycles, t):
    """Occupy DRAM; returns when the transfer is through.

    Channels and banks are not simulated one by one: that requests meet at them although others are idle shows as
    latency that grows with the load, which is averaged over LOAD_WINDOW cycles.
    """
    asked = t.CHIP[L.C_MEMORY_FREE + ASKED] + cycles
    through = serve_others(L.C_MEMORY_FREE, arrival, cycles, t)
    come = asked - t.CHIP[L.C_MEMORY_FREE + ASKED]
    averaged(L.C_MEMORY_LOAD, L.C_MEMORY_LOAD_AT, come, LOAD_WINDOW, arrival, t)
    return through


@jit_inline
def farther_of(sm, line, t):
    """Cycles that *line* is farther away from *sm* in DRAM than on average: which regions are far is a hash here."""
    region = line >> 5
    return t.NUMBERS[DRAM_FAR] if (scramble(region >> 1) ^ region ^ sm) & 1 else -t.NUMBERS[DRAM_FAR]


@jit
def dram_latency(line, farther, arrival, t):
    """From a miss to the use of *line*, without queues.

    Measured on an H200 (spread.cu): of two neighbouring 4-KiB regions one is about 180 cycles farther, and on either
    side a tail that falls off exponentially follows the shortest latency.  Of lines that are asked for at once, four
    of a KiB come together (together.cu).  What they draw is a hash here.
    """
    tail = exponential(four_of(line) * (1 << 24) + np.int64(arrival / DRAM_WINDOW))
    return t.NUMBERS[DRAM_LATENCY] + farther + t.NUMBERS[DRAM_SPREAD] * (tail - 1.0)


@jit_inline
def l2_latency(sm, line, arrival, t):
    """From L2 to the use of *line*, asked for at *arrival*: slices are near and far, uniformly (latency.cu).

    What misses L2 delays what hits, too (H200, phases.cu): it is less than DRAM_QUEUE.
    """
    queue = t.NUMBERS[L2_QUEUE] * load_now(L.C_MEMORY_LOAD, L.C_MEMORY_LOAD_AT, LOAD_WINDOW, arrival, t) ** 2
    return t.NUMBERS[L2_LATENCY] + t.NUMBERS[L2_SPREAD] * (2.0 * share(line * 256 + sm) - 1.0) + queue


@jit_inline
def queued(line, arrival, t):
    """How long what DRAM sends of *line*, asked for at *arrival*, waits at its channels.

    Reads wait for what L2 writes to DRAM meanwhile: the bus turns round (H200, ends.cu: copies that do not fit in L2).
    How long is drawn for two lines that follow each other: in copies and sums of arrays larger than L2 the times that
    warps of a KiB wait are alike by two (their correlation is 0.97 on an H100, 0.96 on an H200), by four little more
    than any others (0.1 to 0.4), while in reads beside which nothing is written they are by four (0.93).
    """
    written = load_now(L.C_WRITTEN, L.C_WRITTEN_AT, WRITTEN_WINDOW, arrival, t)
    queue = t.NUMBERS[DRAM_QUEUE] * load_now(L.C_MEMORY_LOAD, L.C_MEMORY_LOAD_AT, LOAD_WINDOW, arrival, t) ** 4
    return queue + t.NUMBERS[DRAM_TURN] * written * exponential((line >> 1) + (np.int64(1) << 40))
