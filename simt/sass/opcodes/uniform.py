"""Between the lanes' registers and the uniform ones.

Uniform registers and predicates hold one value per warp.  They are rows (lane masks) like the others whose 32
lanes are equal: micro-ops of uniform instructions write all lanes, whatever the exec mask.  Their
arithmetic is declared beside the lanes' own, in integer.py and float.py, S2UR and VOTEU in warp.py.
"""

from __future__ import annotations

from simt.sass.architectures import VOLTA
from simt.sass.lowering import OR, Lowering
from simt.sass.modifiers import Combine
from simt.sass.table import Source, opcode


@opcode("R2UR", source=Source.H200, takes=(Combine.OR,), since=VOLTA, uniform=True)
def to_uniform(x: Lowering) -> None:
    """``[p,] d, a``: the value of the lowest executing lane; p says in which lanes a is another one (H200).

    OR: p keeps what it was where a is not another one (H200: a loop over distinct pairs of registers).
    """
    p = x.take_predicates()
    d = x.take_register()
    a = x.source(x.take())
    x.done()
    if not p:
        x.emit("first", x.destination(d), a)
        return
    first = x.compute("first", a)
    x.emit("mov", x.destination(d), first)
    x.uniform = False
    other = x.test("ne.s64", a, first)
    x.set_predicate(p[0], x.logic(other, x.predicate(p[0]), OR) if Combine.OR in x.modifiers else other)
