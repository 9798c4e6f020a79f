"""Convergence barriers: where lanes that part meet again.

A branch's lanes meet at its immediate post-dominator.  It is computed region by region, a region being the
body of one loop (an iteration) or the whole kernel, with inner loops as single nodes:

* lanes that leave the loop, or that return, do not come back, so they do not count: the others meet as soon
as
  they can (:func:`_meeting_points`);
* the lanes of a loop that leave it at different trips, or through ``break``, meet where its ways out meet.

``bssy`` stands before the branch (before the loop), ``bsync`` in front of the meeting point.  Lanes that
jump past the ``bsync`` of a barrier leave it with ``break``.  A region that ends where an enclosing one
ends needs no barrier of its own.  Barriers are numbered by nesting depth.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from numba.core import types

from simt.lang import cfg
from simt.lang import numba_types as nt
from simt.lang.ir import Block, Branch, Exit, Jump, Op, Place, UniformRef
from simt.ops.table import MICRO_OPS, Family
from simt.program import FULL_MASK

EVERY_LANE = UniformRef("const", nt.constant_bits(FULL_MASK, types.uint32))
"""The mask of all lanes, as an operand."""


@dataclass(eq=False, slots=True)
class Barrier:
    """Lanes that go on from the end of ``start`` meet in front of ``meeting``."""

    start: Block
    meeting: Block
    number: int = -1


def place_barriers(entry: Block) -> int:
    """Insert the convergence micro-ops into the graph of *entry*; the number of barriers it needs."""
    _add_latches_and_preheaders(entry)
    wanted = _wanted(entry)
    count = _insert(entry, wanted)
    cfg.simplify(entry)
    return count


def _place_of(block: Block) -> Place:
    assert block.end is not None
    return block.end.place


def _add_latches_and_preheaders(entry: Block) -> None:
    """Give every loop one block before its header and one block that all its trips end in."""
    for loop in cfg.natural_loops(cfg.order(entry)):
        before = cfg.predecessors(cfg.order(entry))[loop.header]
        inside = [block for block in before if block in loop.blocks]
        outside = [block for block in before if block not in loop.blocks]
        for name, sources in (("latch", inside), ("preheader", outside)):
            if len(sources) == 1 and isinstance(sources[0].end, Jump):
                continue
            extra = Block(f"{name}_{loop.header}", [], Jump(loop.header, _place_of(loop.header)))
            for source in sources:
                cfg.retarget(source, loop.header, extra)


def _wanted(entry: Block) -> dict[Block, Block]:
    """Where the lanes of each branch and loop meet: block at whose end they may part -> meeting block."""
    blocks = cfg.order(entry)
    loops = cfg.natural_loops(blocks)
    before = cfg.predecessors(blocks)
    wanted: dict[Block, Block] = {}
    for region in (None, *loops):
        inner = [loop for loop in loops if loop.parent is region]
        members = set(blocks) if region is None else region.blocks
        node_of = {block: loop.header for loop in inner for block in loop.blocks}
        graph: dict[Block, list[Block]] = {}
        for block in (block for block in blocks if block in members):
            node = node_of.get(block, block)
            ways = graph.setdefault(node, [])
            for target in block.targets():
                back = region is not None and target is region.header
                if target in members and not back and node_of.get(target, target) is not node:
                    ways.append(node_of.get(target, target))
        headers = {loop.header: loop for loop in inner}
        for node, meeting in _meeting_points(graph, headers).items():
            if node in headers:
                (start,) = (p for p in before[node] if p not in headers[node].blocks)
            else:
                start = node
            wanted[start] = meeting
    return wanted


def _meeting_points(graph: dict[Block, list[Block]], loops: Iterable[Block]) -> dict[Block, Block]:
    """Immediate post-dominators, in the acyclic *graph* in topological order, of nodes whose lanes may part.

    The graph has an end for each way out of the region.  Nodes that reach the last end (in the source) are
    one layer, those left that reach the end before it the next, and so on; edges between layers are the
    lanes that do not come back.
    """
    position = {node: i for i, node in enumerate(graph)}
    before: dict[Block, list[Block]] = {node: [] for node in graph}
    for node, targets in graph.items():
        for target in targets:
            before[target].append(node)
    layer: dict[Block, Block] = {}
    ends = [node for node in graph if not graph[node]]
    ends.sort(key=lambda end: (isinstance(end.end, Exit), _place_of(end).line, position[end]), reverse=True)
    for end in ends:
        pending = [end]
        while pending:
            node = pending.pop()
            if node not in layer:
                layer[node] = end
                pending += before[node]
    post: dict[Block, Block] = {}
    for node in reversed(list(graph)):
        ways = [target for target in graph[node] if layer[target] is layer[node]]
        for target in ways:
            post[node] = _common(post, position, post.get(node, target), target)
    parting = set(loops)
    return {
        node: meeting
        for node, meeting in post.items()
        if node in parting
        or (
            isinstance(node.end, Branch) and len([target for target in graph[node] if layer[target] is layer[node]]) > 1
        )
    }


def _common(post: dict[Block, Block], position: dict[Block, int], a: Block, b: Block) -> Block:
    """The nearest node on the post-dominator paths of both *a* and *b*."""
    while a is not b:
        if position[a] < position[b]:
            a = post[a]
        else:
            b = post[b]
    return a


def _insert(entry: Block, wanted: dict[Block, Block]) -> int:
    """Insert ``bssy``, ``bsync`` and ``break``; the number of barriers used."""
    blocks = cfg.order(entry)
    before = cfg.predecessors(blocks)
    position = {block: i for i, block in enumerate(blocks)}
    leaving: dict[Block, list[Barrier]] = {}
    edges: dict[tuple[Block, Block], list[Barrier]] = {}
    count = 0
    for block in blocks:
        armed = _kept(block, before, edges, position)
        meeting = wanted.get(block)
        if meeting is not None and all(barrier.meeting is not meeting for barrier in armed):
            used = {barrier.number for barrier in armed}
            barrier = Barrier(block, meeting, next(n for n in range(len(used) + 1) if n not in used))
            count = max(count, barrier.number + 1)
            block.ops.append(Op("bssy", _place_of(block), imm=barrier.number, retires=False))
            armed = [*armed, barrier]
        leaving[block] = armed
        for target in block.targets():
            edges[block, target] = [b for b in armed if _reaches(target, b.meeting, b.start)]
    kept = {block: _kept(block, before, edges, position) for block in blocks}
    for block in blocks:
        block.ops = [each for op in block.ops for each in (*_freed(op, kept[block]), op)]
    meetings: dict[Barrier, Block] = {}
    for source, target in edges:
        _cross(source, target, leaving[source], kept[target], meetings)
    return count


def _freed(op: Op, barriers: list[Barrier]) -> list[Op]:
    """What lanes do before *op* that take part in *barriers*.

    A ``syncwarp()`` for all lanes waits for those, too, that are at a meeting point: their lanes are let go on.
    """
    if op.op != "warpsync" or op.a != EVERY_LANE:
        return []
    return [Op("break", op.place, imm=barrier.number, retires=False) for barrier in barriers]


def _kept(
    block: Block,
    before: dict[Block, list[Block]],
    edges: dict[tuple[Block, Block], list[Barrier]],
    position: dict[Block, int],
) -> list[Barrier]:
    """The barriers that all lanes entering *block* take part in, but those that meet there."""
    arriving = [edges[p, block] for p in before[block] if position[p] < position[block]]
    first = arriving[0] if arriving else []
    return [b for b in first if b.meeting is not block and all(b in other for other in arriving)]


def _cross(
    source: Block, target: Block, armed: list[Barrier], kept: list[Barrier], meetings: dict[Barrier, Block]
) -> None:
    """Insert what lanes have to do between *source* and *target*: leave barriers, and meet there.

    ``meetings`` holds the block with the ``bsync`` of each barrier, which all of its lanes go through.
    """
    assert all(barrier in armed for barrier in kept), "a loop ends with a barrier that it did not begin with"
    ending = [barrier for barrier in armed if barrier not in kept]
    meets = any(barrier.meeting is target for barrier in ending)
    if not ending or (_only_exits(target) and not meets):
        return
    place = _place_of(source)
    way = target
    for barrier in ending:
        if barrier.meeting is target:
            if barrier not in meetings:
                sync = Op("bsync", place, imm=barrier.number, retires=False)
                meetings[barrier] = Block(f"sync_{target}", [sync], Jump(way, place))
            way = meetings[barrier]
    breaks = [
        Op("break", place, imm=barrier.number, retires=False)
        for barrier in reversed(ending)
        if barrier.meeting is not target
    ]
    if breaks:
        way = Block(f"leave_{source}", breaks, Jump(way, place))
    cfg.retarget(source, target, way)


def _reaches(block: Block, goal: Block, barred: Block) -> bool:
    """True if control can go from *block* to *goal* without passing *barred*."""
    seen = {barred}
    pending = [block]
    while pending:
        block = pending.pop()
        if block is goal:
            return True
        if block not in seen:
            seen.add(block)
            pending += block.targets()
    return False


def _only_exits(block: Block) -> bool:
    """True for a block whose lanes end without waiting for anybody: they leave their barriers by ending."""
    return isinstance(block.end, Exit) and not any(
        op.op.startswith(("bar.", "warpsync")) or MICRO_OPS[op.op].family is Family.WARP for op in block.ops
    )
