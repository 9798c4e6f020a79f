"""Checks of a launch by what it tells of itself: racecheck, initcheck, synccheck (compute-sanitizer's names).

The machine writes events (:mod:`simt.machine.events`); sanitizer.py gives them to judges, jitted functions that are
imported and compiled when a check is first asked for:

* clocks.py, vectors.py: who is ordered before whom; barriers.py: block and warp barriers; races.py: racecheck, with
  readers.py: who has read a word; parts.py: words whose bytes differ; copies.py: asynchronous copies;
* initialised.py: initcheck; barriers.py also has synccheck; report.py makes findings of what they note.
"""

from simt.sanitizer.tools import INITCHECK, names_of

__all__ = ["INITCHECK", "names_of"]
