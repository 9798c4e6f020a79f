"""A kernel's code as a Program: every instruction lowered by its row of the table."""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Protocol

from simt.check import KernelError, Location, UnsupportedError
from simt.ops.encoding import GRID_BARRIER, SPECIAL_REGISTERS, SYSCALL
from simt.program import PT, RZ, Instruction, ListingLine, Program, pred
from simt.sass import tokens as token_stack
from simt.sass.architectures import VOLTA
from simt.sass.elf import Parameter
from simt.sass.grammar import SassInstruction
from simt.sass.link import Code
from simt.sass.lowering import Before, Lowering, Place
from simt.sass.modifiers import resolve
from simt.sass.module import CODE_ALIGN, Module
from simt.sass.opcodes import Opcode, find, is_known
from simt.sass.operands import Predicate
from simt.sass.rows import SYMBOL_BANK, Hidden, Rows
from simt.sass.scheduling import machine_code
from simt.system import FUNCTIONS, GRID_SYNC

N_BARRIERS = 16
STACK_POINTER, RETURN_ADDRESS = 1, 20
"""Registers of CUDA's calling convention, as nvcc 13.0 uses them for sm_75 to sm_120, and ptxas 12.9 for sm_61."""


class Lowerable(Protocol):
    """What lowering reads of a :class:`~simt.sass.kernel.SassKernel`, and ``symbols``, which it writes."""

    name: str
    module: Module
    architecture: int
    parameters: list[Parameter] | None
    registers: int | None
    shared_bytes: int
    system_shared_bytes: int
    banks: dict[int, bytes]
    symbols: list[tuple[int, int]]

    @property
    def demangled(self) -> str:
        """Readable name."""

    @property
    def code(self) -> Code:
        """The kernel's instructions and those of the functions that it may call."""

    @property
    def local_bytes(self) -> int:
        """Bytes of local memory per thread."""


def compile_kernel(kernel: Lowerable) -> Program:
    """Lower a kernel.

    Raises UnsupportedError for an external function or an unknown opcode, modifier or operand, before anything
    runs, and KernelError for a branch to nowhere.
    """
    compiler = _Compiler(kernel)
    if kernel.architecture < VOLTA:
        compiler.with_token_stack()
    else:
        compiler.straight()
    return compiler.finish()


_NOT_MODELLED = (
    (re.compile(r"[A-Z]+MMA(SP)?|LDSM|STSM|MOVM|WARPGROUP\w*"), "tensor cores are not modelled"),
    (re.compile(r"UCGABAR_\w+"), "clusters of blocks are not modelled"),
)
"""Opcodes of parts of a GPU that are missing as a whole."""


def row_of(instruction: SassInstruction, place: Place) -> Opcode:
    """The table row of an instruction.  Raises UnsupportedError."""
    row = find(instruction.opcode, place.architecture)
    if row is None:
        why = " on this architecture" if is_known(instruction.opcode) else ""
        for names, sentence in _NOT_MODELLED:
            if names.fullmatch(instruction.opcode):
                why = f": {sentence}"
        raise place.unsupported(instruction, f"opcode {instruction.opcode} is not supported{why}")
    return row


class _Compiler:
    def __init__(self, kernel: Lowerable) -> None:
        self.kernel = kernel
        self.code = kernel.code
        self.rows = Rows()
        self.place = Place(kernel.demangled, kernel.architecture)
        self.instructions: list[Instruction] = []
        self.fixups: list[tuple[int, object]] = []  # micro-op, what its imm is the place of
        self.places: dict[object, int] = {}  # code offset, node or stub -> micro-op
        self.line = 0
        self.n_barriers = N_BARRIERS
        self.syscalls: dict[str, int] = {}

    def add(self, micro_op: Instruction, target: object) -> None:
        """Append a micro-op of the current listing line."""
        if isinstance(target, Before):
            micro_op.imm = len(self.instructions) - target.count
        elif target is not None:
            self.fixups.append((len(self.instructions), target))
        micro_op.line = self.line
        self.instructions.append(micro_op)

    def lower(self, instruction: SassInstruction, add: Callable[[Instruction, object], None]) -> None:
        """Lower one instruction by its row; the last micro-op retires unless the row said another."""
        row = row_of(instruction, self.place)
        modifiers, unknown = resolve(instruction.words, row.modifiers)
        if unknown is not None:
            raise self.place.unsupported(instruction, f"modifier .{unknown} of {row.name} is not supported")
        if instruction.problem:
            raise self.place.unsupported(instruction, instruction.problem)
        context = Lowering(instruction, modifiers, self.rows, self.place, row.uniform, add)
        row.lower(context)
        context.finish()
        if not context.retired:
            self.instructions[-1].retires = True

    def call(self, name: str, returns: tuple[int, int]) -> None:
        """The call of a function of the system; *returns*: rows with the words of the return address."""
        if name == GRID_SYNC:
            self._grid_barrier(returns)
        self._syscall(name, FUNCTIONS[name].rows, returns)

    def _syscall(self, name: str, rows: int, returns: tuple[int, int], guard: int = PT) -> None:
        number = self.syscalls.setdefault(name, len(self.syscalls))
        self._hidden(SYSCALL, 0, self.rows.register(STACK_POINTER), *returns, guard=guard, imm=number, mod=rows)

    def _hidden(
        self, op: str, dst: int = 0, a: int = 0, b: int = 0, c: int = 0, *, guard: int = PT, imm: int = 0, mod: int = 0
    ) -> None:
        """Add a micro-op that counts nothing."""
        self.add(Instruction(op, dst, a, b, c, guard, imm, mod, retires=False), None)

    def _grid_barrier(self, returns: tuple[int, int]) -> None:
        """The block meets, its first thread waits for the other blocks, the block meets again."""
        is_first = Hidden.FIRST_TEMPORARY
        self.rows.most_predicates = max(self.rows.most_predicates, is_first + 1)
        index, axis = self.rows.temporary(0), self.rows.temporary(1)
        self._hidden("bar.sync")
        self._hidden("sreg", index, imm=SPECIAL_REGISTERS.index("tid.x"))
        for name in ("tid.y", "tid.z"):
            self._hidden("sreg", axis, imm=SPECIAL_REGISTERS.index(name))
            self._hidden("or.b64", index, index, axis)
        self._hidden("eq.s64", is_first, index, RZ)
        self._syscall(GRID_BARRIER, 1, returns, guard=pred(is_first))
        self._hidden("bar.sync")

    def straight(self) -> None:
        """Volta and later: instructions in address order."""
        for line, instruction in enumerate(self.code.instructions):
            self.line = line
            self.places[instruction.offset] = len(self.instructions)
            self.lower(instruction, self.add)
        address = self.rows.register(RETURN_ADDRESS), self.rows.register(RETURN_ADDRESS + 1)
        for name, offset in self.code.calls.items():
            self.places[offset] = len(self.instructions)
            self.call(name, address)
            where = self.rows.temporary(0)
            self.add(Instruction("pack.b64", where, *address, retires=False), None)
            self.add(Instruction("brx", a=where, retires=False), None)

    def with_token_stack(self) -> None:
        """Maxwell and Pascal: one lowering per instruction and token stack."""
        flow = token_stack.Flow(self.code, self.kernel.demangled)
        lines = {instruction.offset: k for k, instruction in enumerate(self.code.instructions)}
        nodes = flow.nodes()
        depth = 0
        for k, node in enumerate(nodes):
            offset, stack = node
            depth = max(depth, len(stack) + 1)
            self.line = lines.get(offset, len(lines) - 1)
            self.places[node] = len(self.instructions)
            instruction = flow.by_offset[offset]
            if offset in flow.calls:
                self.call(flow.calls[offset], (self.rows.constant(flow.successors(node)[0][0]), RZ))
            if instruction.opcode in token_stack.OPCODES:
                guard = self._guard(instruction)
                token_stack.lower(flow, node, guard, self.add)
            else:
                self.lower(instruction, self._with_stack(stack))
            following = self._falls_to(flow, node)
            if following is not None and (k + 1 == len(nodes) or nodes[k + 1] != following):
                self.add(Instruction("bra", retires=False), following)
        self._stubs()
        self.n_barriers = max(depth, N_BARRIERS)

    def _with_stack(self, stack: token_stack.Stack) -> Callable[[Instruction, object], None]:
        """Adds micro-ops whose targets are code offsets, reached with the same tokens on the stack."""

        def add(micro_op: Instruction, target: object) -> None:
            self.add(micro_op, None if target is None else (target, stack))

        return add

    @staticmethod
    def _guard(instruction: SassInstruction) -> int:
        guard = instruction.guard
        if guard is None:
            return PT
        return pred(Lowering.predicate_index(Predicate(guard.index)), guard.negated)

    @staticmethod
    def _falls_to(flow: token_stack.Flow, node: token_stack.Node) -> token_stack.Node | None:
        """The node that lanes reach by not jumping, if they can."""
        successors = flow.successors(node)
        instruction = flow.by_offset[node[0]]
        if instruction.opcode in token_stack.PUSHES:
            return successors[0]
        following = flow.after(*node)
        return following if following in successors and _can_fall(instruction) else None

    def _stubs(self) -> None:
        done: set[object] = set()
        while True:
            wanted = [
                target for _, target in self.fixups if isinstance(target, token_stack.Stub) and target not in done
            ]
            if not wanted:
                return
            stub = wanted[0]
            done.add(stub)
            self.places[stub] = len(self.instructions)
            stub.emit(self.add)

    def finish(self) -> Program:
        """Resolve the targets and put the Program together."""
        for pc, target in self.fixups:
            if target not in self.places:
                offset = target if isinstance(target, int) else getattr(target, "stack", target)
                raise KernelError(
                    f"branch to nowhere: {offset:#x} is not in the code of {self.kernel.demangled}"
                    if isinstance(offset, int)
                    else f"branch to nowhere in {self.kernel.demangled}",
                    location=Location("", function=self.kernel.name),
                )
            self.instructions[pc].imm = self.places[target]
        self._check_banks()
        kernel = self.kernel
        kernel.symbols = list(self.rows.symbols)
        return Program(
            name=kernel.demangled,
            view=f"sm_{kernel.architecture}",
            instructions=self.instructions,
            listing=[
                ListingLine(
                    instruction.profiler_text(),
                    instruction.offset,
                    file=kernel.module.path,
                    function=function,
                    source=instruction.source,
                    code=machine_code(instruction),
                )
                for instruction, function in zip(self.code.instructions, self.code.functions, strict=True)
            ],
            n_registers=self.rows.next_row,
            n_predicates=self.rows.most_predicates,
            n_barriers=self.n_barriers,
            uniforms=self.rows.uniforms,
            parameters=[f"parameter {k}" for k in range(len(kernel.parameters or ()))],
            shared_bytes=kernel.shared_bytes,
            system_shared_bytes=kernel.system_shared_bytes,
            local_bytes=kernel.local_bytes,
            registers=kernel.registers,
            syscalls=list(self.syscalls),
            addresses=self._addresses(),
            file=kernel.module.path,
            toolchain=kernel.module.image.tool if kernel.module.image else "",
            symbol=kernel.name,
        )

    def _addresses(self) -> dict[int, int]:
        """Micro-op by code address; code to which pointers may point has a second one (:meth:`Module.function`)."""
        own = {offset: pc for offset, pc in self.places.items() if isinstance(offset, int)}
        found = dict(own)
        module = self.kernel.module
        for name in self.code.pointed:
            base, pointer = self.code.bases[name], module.function(name)
            end = base + module.listing.sizes.get(name, CODE_ALIGN)
            found |= {pointer + offset - base: pc for offset, pc in own.items() if base <= offset < end}
        return found

    def _check_banks(self) -> None:
        known = {0, SYMBOL_BANK, *self.kernel.banks}
        for row in self.rows.uniforms:
            if row.kind in ("bank", "bank_base") and row.value not in known:
                raise UnsupportedError(
                    f"{self.kernel.demangled} reads constant bank {row.value}, whose contents are not in the file",
                    help="a listing has no constants: load the cubin",
                )


def _can_fall(instruction: SassInstruction) -> bool:
    """Whether lanes can go on at the next instruction."""
    stops = {*token_stack.PARKS, *token_stack.CALLS, *token_stack.JUMPS, *token_stack.ENDS, "BRX"}
    return instruction.opcode not in stops or instruction.guard is not None or len(instruction.operands) > 1
