"""From blocks to a Program: order, rows, micro-op numbers, listing."""

from __future__ import annotations

from dataclasses import dataclass

from simt.lang import cfg, registers
from simt.lang.builder import Builder
from simt.lang.ir import TRUE, ZERO, Block, Branch, Exit, Jump, Op, Operand, Place, UniformRef, VReg
from simt.lang.source import FunctionSource
from simt.program import RZ, Instruction, ListingLine, Program, Uniform, pred


def emit(b: Builder, entry: Block, kernel: FunctionSource, parameters: list[str], n_barriers: int) -> Program:
    """The Program of the graph of *entry*; convergence micro-ops are in it already."""
    registers.propagate_uniforms(entry)
    blocks = cfg.order(entry)
    rows: dict[UniformRef, int] = {ZERO: RZ}
    for block in blocks:
        for op in block.ops:
            for operand in (op.a, op.b, op.c, *op.args):
                if isinstance(operand, UniformRef):
                    rows.setdefault(operand, len(rows))
    numbers = registers.allocate(entry, len(rows), 1)
    cfg.simplify(entry)
    listing, index = _listing([kernel, *(source for source in b.sources.values() if source is not kernel)])
    predicates = [number for register, number in numbers.items() if register.kind == "p"]
    plain = [number for register, number in numbers.items() if register.kind == "r"]
    used = max([len(rows) - 1, *plain]) + 1
    writer = _Writer(rows, numbers, index, used, [])
    writer.write(cfg.order(entry))
    return Program(
        name=kernel.name,
        view="source",
        instructions=writer.instructions,
        listing=listing,
        n_registers=used + max((len(op.args) for block in blocks for op in block.ops), default=0),
        n_predicates=max([0, *predicates]) + 1,
        n_barriers=n_barriers,
        uniforms=[Uniform(row, ref.kind, ref.value, ref.axis) for ref, row in rows.items() if row != RZ],
        arrays=b.finished_arrays(),
        parameters=parameters,
        shared_bytes=b.shared_bytes,
        local_bytes=b.local_bytes,
        syscalls=list(b.syscalls),
        strings=list(b.texts),
        file=kernel.file,
        toolchain="",
    )


def _listing(sources: list[FunctionSource]) -> tuple[list[ListingLine], dict[tuple[str, int], int]]:
    """A listing line for each source line of the kernel and of the device functions, and where each is."""
    listing: list[ListingLine] = []
    index: dict[tuple[str, int], int] = {}
    for source in sources:
        for offset, text in enumerate(source.lines):
            number = source.first_line + offset
            if (source.file, number) not in index:
                index[source.file, number] = len(listing)
                listing.append(ListingLine(text, number, source.file, source.name))
    return listing, index


@dataclass(slots=True)
class _Writer:
    """Numbers operands and appends instructions; ``free`` is the first row that no register has."""

    rows: dict[UniformRef, int]
    numbers: dict[VReg, int]
    index: dict[tuple[str, int], int]
    free: int
    instructions: list[Instruction]

    def write(self, blocks: list[Block]) -> None:
        """Lay the blocks out one after the other and resolve the jumps between them."""
        starts: dict[Block, int] = {}
        jumps: list[tuple[Instruction, Block]] = []
        for block, following in zip(blocks, [*blocks[1:], None], strict=True):
            starts[block] = len(self.instructions)
            for op in block.ops:
                self._append(op)
            end = block.end
            if isinstance(end, Exit):
                self._append(Op("exit", end.place))
            elif isinstance(end, Jump) and end.target is not following:
                jumps.append((self._append(Op("bra", end.place, a=TRUE, retires=False)), end.target))
            elif isinstance(end, Branch):
                inverse = end.other is following or end.then is not following
                condition = end.condition if end.other is following else end.condition.inverted()
                target = end.then if end.other is following else end.other
                jumps.append((self._append(Op("bra", end.place, a=condition)), target))
                if inverse and end.other is not following:
                    jumps.append((self._append(Op("bra", end.place, a=TRUE, retires=False)), end.then))
        for instruction, target in jumps:
            instruction.imm = starts[target]

    def _append(self, op: Op) -> Instruction:
        for offset, argument in enumerate(op.args):
            move = Instruction("mov", self.free + offset, self._operand(argument), guard=self._operand(op.guard))
            move.line, move.column, move.retires = self._line(op.place), op.place.column, False
            self.instructions.append(move)
        instruction = Instruction(
            op=op.op,
            dst=0 if op.dst is None else self.numbers[op.dst],
            a=self.free if op.args else self._operand(op.a),
            b=self._operand(op.b),
            c=self._operand(op.c),
            guard=self._operand(op.guard),
            imm=op.imm,
            mod=len(op.args) or op.mod if op.dst2 is None else self.numbers[op.dst2],
            line=self._line(op.place),
            retires=op.retires,
            column=op.place.column,
            variable=op.variable,
            dtype=op.dtype,
            unset=op.unset,
        )
        self.instructions.append(instruction)
        return instruction

    def _operand(self, operand: Operand) -> int:
        if operand is None:
            return 0
        if isinstance(operand, UniformRef):
            return self.rows[operand]
        if isinstance(operand, VReg):
            return self.numbers[operand]
        index = 0 if operand.reg is None else self.numbers[operand.reg]
        return pred(index, operand.negated)

    def _line(self, place: Place) -> int:
        return self.index[place.file, place.line]
