"""Register allocation: liveness, removal of copies, and rows for virtual registers.

Liveness is that of one lane: lanes share no row elements, so what is right for a thread is right for a warp.
Operations that read other lanes (shuffles, votes, matches) get a destination row apart from their sources.
"""

from __future__ import annotations

from collections import defaultdict

from simt.lang import cfg
from simt.lang.ir import Block, Branch, Op, Operand, UniformRef, VReg, is_move, source_of
from simt.ops.table import MICRO_OPS, Family

_PURE = {Family.INT, Family.BITS, Family.F64, Family.F32, Family.CONVERT, Family.COMPARE, Family.PREDICATE}


def allocate(entry: Block, first_row: int, first_predicate: int) -> dict[VReg, int]:
    """Give each virtual register of the graph of *entry* a row or predicate number, and drop copies.

    Call :func:`propagate_uniforms` first; rows below *first_row* are taken.
    """
    blocks = cfg.order(entry)
    _remove_dead(blocks)
    _name_results(blocks)
    neighbours = _interference(blocks)
    names = _coalesce(blocks, neighbours)
    numbers: dict[VReg, int] = {}
    for register in neighbours:
        if names.get(register, register) is register:
            taken = {numbers.get(_final(names, n)) for n in neighbours[register]}
            number = first_predicate if register.kind == "p" else first_row
            while number in taken:
                number += 1
            numbers[register] = number
    return {register: numbers[_final(names, register)] for register in neighbours}


def propagate_uniforms(entry: Block) -> None:
    """Replace variables that are only ever one constant, argument or array base by that uniform value."""
    blocks = cfg.order(entry)
    definitions: dict[VReg, list[Op]] = defaultdict(list)
    for block in blocks:
        for op in block.ops:
            for register in op.definitions():
                definitions[register].append(op)
    unset = _live_in(blocks)[entry]
    fixed: dict[VReg, UniformRef] = {}
    for register, ops in definitions.items():
        if len(ops) == 1 and register not in unset and is_move(ops[0]) and isinstance(ops[0].a, UniformRef):
            fixed[register] = ops[0].a

    def replaced(operand: Operand) -> Operand:
        return fixed.get(operand, operand) if isinstance(operand, VReg) else operand

    for block in blocks:
        block.ops = [op for op in block.ops if op.dst not in fixed]
        for op in block.ops:
            op.a, op.b, op.c = replaced(op.a), replaced(op.b), replaced(op.c)
            op.args = [replaced(operand) for operand in op.args]


def _end_uses(block: Block) -> set[VReg]:
    if isinstance(block.end, Branch) and block.end.condition.reg is not None:
        return {block.end.condition.reg}
    return set()


def _live_in(blocks: list[Block]) -> dict[Block, set[VReg]]:
    """The virtual registers whose value at the start of each block is read later."""
    uses: dict[Block, set[VReg]] = {}
    defines: dict[Block, set[VReg]] = {}
    for block in blocks:
        used: set[VReg] = set()
        defined: set[VReg] = set()
        for op in block.ops:
            used |= set(op.uses()) - defined
            defined |= set(op.definitions())
        uses[block], defines[block] = used | (_end_uses(block) - defined), defined
    live: dict[Block, set[VReg]] = {block: set() for block in blocks}
    changed = True
    while changed:
        changed = False
        for block in reversed(blocks):
            after = set().union(*(live[target] for target in block.targets()))
            before = uses[block] | (after - defines[block])
            if before != live[block]:
                live[block], changed = before, True
    return live


def _live_out(block: Block, live: dict[Block, set[VReg]]) -> set[VReg]:
    return set().union(_end_uses(block), *(live[target] for target in block.targets()))


def _remove_dead(blocks: list[Block]) -> None:
    """Remove uncounted operations with an unused result."""
    removed = True
    while removed:
        removed = False
        live = _live_in(blocks)
        for block in blocks:
            alive = _live_out(block, live)
            kept: list[Op] = []
            for op in reversed(block.ops):
                defined = set(op.definitions())
                if not op.retires and defined and not defined & alive and MICRO_OPS[op.op].family in _PURE:
                    removed = True
                    continue
                alive = (alive - defined) | set(op.uses())
                kept.append(op)
            block.ops = kept[::-1]


def _interference(blocks: list[Block]) -> dict[VReg, set[VReg]]:
    """For every virtual register, those of its kind that may not share its row, in order of appearance."""
    live = _live_in(blocks)
    graph: dict[VReg, set[VReg]] = {}
    for block in blocks:
        for op in block.ops:
            for register in (*op.uses(), *op.definitions()):
                graph.setdefault(register, set())

    def apart(a: VReg, b: VReg) -> None:
        if a is not b and a.kind == b.kind:
            graph[a].add(b)
            graph[b].add(a)

    for block in blocks:
        alive = _live_out(block, live)
        for op in reversed(block.ops):
            copied = source_of(op) if is_move(op) else None
            warp = MICRO_OPS[op.op].family is Family.WARP
            for register in op.definitions():
                for other in alive | set(op.definitions()) | (set(op.uses()) if warp else set()):
                    if other is not copied:
                        apart(register, other)
            alive = (alive - set(op.definitions())) | set(op.uses())
    return graph


def _final(names: dict[VReg, VReg], register: VReg) -> VReg:
    while names.get(register, register) is not register:
        register = names[register]
    return register


def _coalesce(blocks: list[Block], graph: dict[VReg, set[VReg]]) -> dict[VReg, VReg]:
    """Let the two sides of a copy share a row where neither disturbs the other; the copy then disappears."""
    names: dict[VReg, VReg] = {}
    for block in blocks:
        kept: list[Op] = []
        for op in block.ops:
            source = source_of(op) if is_move(op) else None
            if source is None or op.dst is None:
                kept.append(op)
                continue
            a, b = _final(names, source), _final(names, op.dst)
            if a is not b and b in graph[a]:
                kept.append(op)
                continue
            if a is not b:
                names[a] = b
                for other in graph[a]:
                    graph[other].add(b)
                    graph[b].add(other)
        block.ops = kept
    return names


def _name_results(blocks: list[Block]) -> None:
    """Let the operations that compute what a copy assigns say which variable it is."""
    operations = [op for block in blocks for op in block.ops]
    definitions: dict[VReg, list[Op]] = defaultdict(list)
    for op in operations:
        if op.dst is not None:
            definitions[op.dst].append(op)
    pending = [op for op in operations if is_move(op) and op.variable is not None]
    while pending:
        copy = pending.pop()
        source = source_of(copy)
        if source is None or any(op.variable is not None for op in definitions[source]):
            continue
        for op in definitions[source]:
            op.variable, op.dtype = copy.variable, copy.dtype
            if is_move(op):
                pending.append(op)
