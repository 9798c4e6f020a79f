"""Programs compiled to native vector code, which the engine runs in legs between the micro-ops that it executes itself.

Every micro-op is declared once, in :mod:`simt.ops` and :mod:`simt.machine.control`: lanes.py has Numba compile its
function, widen.py makes one of several lanes of it; plan.py (with liveness.py), segment.py, memory.py and control.py
put a Program together from them; emit.py and entry.py add counting, branches and turns, parting.py lanes that part for
a moment; stretches.py writes runs of micro-ops for the timing model instead, with the same steps.py; code.py has LLVM
compile it, keeps and loads it; choice.py decides which launches run it, and when another process makes it (build.py).
What native code does not execute (see :class:`plan.Plan`), or not just then, it leaves to the interpreter.
"""
