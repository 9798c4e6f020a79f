"""The control-flow graph: order, dominators, natural loops, and clean-up."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass

from simt.lang.ir import Block, Branch, Jump


def order(entry: Block) -> list[Block]:
    """The blocks that *entry* reaches, in reverse postorder; a branch's ``then`` side comes first."""
    done: list[Block] = []
    seen = {entry}
    stack: list[tuple[Block, list[Block]]] = [(entry, list(entry.targets()))]
    while stack:
        block, pending = stack[-1]
        if not pending:
            done.append(block)
            stack.pop()
            continue
        target = pending.pop()
        if target not in seen:
            seen.add(target)
            stack.append((target, list(target.targets())))
    return done[::-1]


def predecessors(blocks: Iterable[Block]) -> dict[Block, list[Block]]:
    """The blocks that lead to each block."""
    blocks = list(blocks)
    table: dict[Block, list[Block]] = {block: [] for block in blocks}
    for block in blocks:
        for target in dict.fromkeys(block.targets()):
            table[target].append(block)
    return table


def dominators(blocks: list[Block]) -> dict[Block, set[Block]]:
    """For each block of *blocks* (in reverse postorder) the blocks on every path to it."""
    before = predecessors(blocks)
    everything = set(blocks)
    table = dict.fromkeys(blocks, everything)
    table[blocks[0]] = {blocks[0]}
    changed = True
    while changed:
        changed = False
        for block in blocks[1:]:
            common = set.intersection(*(table[p] for p in before[block])) | {block}
            if common != table[block]:
                table[block], changed = common, True
    return table


@dataclass(eq=False, slots=True)
class Loop:
    """A natural loop: its header and all of its blocks, header and inner loops included."""

    header: Block
    blocks: set[Block]
    parent: Loop | None = None


def natural_loops(blocks: list[Block]) -> list[Loop]:
    """The loops, outer before inner; every back edge's target dominates its source (structured code)."""
    dominated_by = dominators(blocks)
    before = predecessors(blocks)
    loops: dict[Block, Loop] = {}
    for block in blocks:
        for target in block.targets():
            if target in dominated_by[block]:
                loop = loops.setdefault(target, Loop(target, {target}))
                pending = [block]
                while pending:
                    member = pending.pop()
                    if member not in loop.blocks:
                        loop.blocks.add(member)
                        pending += before[member]
    ordered = sorted(loops.values(), key=lambda loop: -len(loop.blocks))
    for position, loop in enumerate(ordered):
        enclosing = [outer for outer in ordered[:position] if loop.header in outer.blocks]
        loop.parent = enclosing[-1] if enclosing else None
    return ordered


def retarget(block: Block, old: Block, new: Block) -> None:
    """Let *block* go to *new* where it went to *old*."""
    if isinstance(block.end, Jump):
        block.end.target = new
    elif isinstance(block.end, Branch):
        if block.end.then is old:
            block.end.then = new
        if block.end.other is old:
            block.end.other = new


def simplify(entry: Block, keep: Callable[[Block], bool] = lambda block: False) -> None:
    """Skip empty blocks (but those to *keep*) and join straight lines.

    A branch whose two sides become the same block stays: it is counted.
    """
    for block in order(entry):
        for target in block.targets():
            final, seen = target, {block}
            while not final.ops and isinstance(final.end, Jump) and final not in seen and not keep(final):
                seen.add(final)
                final = final.end.target
            retarget(block, target, final)
    before = predecessors(order(entry))
    for block in order(entry):
        while isinstance(block.end, Jump):
            target = block.end.target
            if target is entry or target is block or len(before[target]) != 1:
                break
            block.ops += target.ops
            block.end = target.end
            for successor in target.targets():
                before[successor] = [block if p is target else p for p in before[successor]]
