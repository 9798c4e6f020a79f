"""The loop over the events of a launch that marks who wrote and who read each piece of global memory."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from simt.machine.events import (
    ACCESS,
    HAS_VALUES,
    MATCHES,
    N_EVENT,
    N_HEADER,
    V_BLOCK,
    V_KIND,
    V_LANES,
    V_PC,
    V_VALUES,
    V_WHAT,
)
from simt.ops.jit import cache_folder
from simt.ops.jit import jit as engine_jit
from simt.ops.memory import GLOBAL, LOAD, STORE

MANY = -1
"""In the place of a reader: several blocks, or anyone."""

PAGE_SHIFT = 12
"""log2 of the granules of a page: only pages that were touched are looked at in the end."""

_FOLDER = cache_folder("simt.calls.executors")


def jit(function: Callable[..., Any]) -> Any:
    """Compile *function* as the engine's are (see :mod:`simt.ops.jit`)."""
    return engine_jit(function, folder=_FOLDER)


@jit
def touch(EVENTS, shift, REDUCES, WRITER, READER, PAGES, FOUND):
    """Note who wrote and read each granule.  True if two blocks met: granule, block, the other and micro-op in FOUND.

    REDUCES: for each micro-op how it changes a word whose old value nobody gets, so that the order of blocks does not
    matter; 0 for any other.  A granule that has only been changed so has the negative of that in WRITER, and in READER
    who did it.  PAGES has a mark for each page of granules that was touched.
    """
    at = 0
    while at < len(EVENTS):
        kind = EVENTS[at + V_KIND]
        what = EVENTS[at + V_WHAT]
        if kind == ACCESS and (what >> 4) & 15 == GLOBAL:
            access = what & 15
            size = what >> 8
            me = EVENTS[at + V_BLOCK] + 1
            reduces = REDUCES[EVENTS[at + V_PC]]
            for lane in range(32):
                if not (EVENTS[at + V_LANES] >> lane) & 1:
                    continue
                offset = EVENTS[at + V_VALUES + lane] & (MATCHES - 1)
                for k in range(offset >> shift, ((offset + size - 1) >> shift) + 1):
                    if k >= len(WRITER):  # what the launch has for itself; it is read-only
                        break
                    PAGES[k >> PAGE_SHIFT] = 1
                    writer = WRITER[k]
                    reader = READER[k]
                    if reduces != 0 and (writer == -reduces or (writer == 0 and reader == 0)):
                        WRITER[k] = -reduces
                        READER[k] = me if reader == 0 or reader == me else MANY
                        continue
                    if writer < 0:  # so far nothing else has been done here
                        writer = reader
                    met = writer if writer != me else 0
                    if access != LOAD and reader != 0 and reader != me:
                        met = reader
                    if access != LOAD or WRITER[k] < 0:
                        WRITER[k] = me
                    if access != STORE:
                        READER[k] = me if reader == 0 or reader == me else MANY
                    if met != 0:
                        FOUND[0] = k
                        FOUND[1] = me - 1
                        FOUND[2] = met - 1 if met != MANY else MANY
                        FOUND[3] = EVENTS[at + V_PC]
                        return True
        at += N_EVENT if (HAS_VALUES >> kind) & 1 else N_HEADER
    return False
