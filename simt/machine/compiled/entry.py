"""The function of a Program's native code that is called: it runs one split of a warp after another."""

from __future__ import annotations

from simt.machine import layout as L
from simt.machine.compiled.control import TURN, V_SHAPES
from simt.machine.compiled.text import Text

KERNEL = "kernel"

# What the function of a split takes from the context, by the names of the values.
OF_WARP = {
    "rows": L.V_ROWS,
    "predicates": L.V_PREDICATES,
}
ADDRESSES = {
    "uniform": L.V_UNIFORM,
    "counts": L.V_COUNTS,
    "dims": L.V_DIMS,
    "tid": L.V_TID,
    "participants": L.V_PARTICIPANTS,
    "launch": L.V_LAUNCH,
    "warps": L.V_WARPS,
    "shapes": V_SHAPES,
}
COUNTED = {"%left": L.V_LEFT, "%retired": L.V_RETIRED}
NUMBERS = {
    "pc": L.V_PC,
    "warp": L.V_WARP,
    "active": L.V_ACTIVE,
    "absent": L.V_ABSENT,
    "exited": L.V_EXITED,
}


def entry(split: str) -> list[str]:
    """The lines of ``i64 @kernel(i64 context)``, which calls function *split* for each split of each warp.

    It returns what :func:`simt.machine.native.run_native` does.  As one function LLVM would take both for one loop, and
    keep constants from turn to turn: more than there are registers, which takes LLVM long to find out.
    """
    text = Text()
    text.line("%context = inttoptr i64 %given to ptr")
    text.line("br label %again")
    text.label("again")
    where = text.value(f"call i64 @{split}(i64 %given)")
    text.line(f"br i1 {text.value(f'icmp sge i64 {where}, 0')}, label %out, label %turn")
    text.label("out")
    text.line(f"ret i64 {where}")
    text.label("turn")
    next_pc = text.call((TURN, 0), "%context", "%given", where, "0", "0")
    text.line(f"br i1 {text.value(f'icmp sge i64 {next_pc}, 0')}, label %next, label %engine")
    text.label("next")
    text.store(next_pc, "%context", L.V_PC)
    text.line("br label %again")
    text.label("engine")
    text.line(f"ret i64 {next_pc}")
    return [f"define i64 @{KERNEL}(i64 %given) {{", "entry:", *text.lines, "}"]
