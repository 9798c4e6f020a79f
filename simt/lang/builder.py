"""Collects blocks, operations, arrays and dependencies while one kernel is lowered."""

from __future__ import annotations

import ast
import math
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from types import FunctionType
from typing import Any

import numpy as np
from numba.core import types

from simt.lang import numba_types as nt
from simt.lang.diagnostics import unsupported, wrong
from simt.lang.frozen import Names
from simt.lang.ir import (
    FALSE,
    PLOP_MOVE,
    PREDICATE,
    REGISTER,
    TRUE,
    Block,
    Branch,
    Jump,
    Op,
    Operand,
    Place,
    PredRef,
    UniformRef,
    VReg,
)
from simt.lang.source import FunctionSource, read_source
from simt.lang.values import Array, Axis, Constant, Record, Scalar, Value, describe
from simt.program import ArrayRef, Space


@dataclass(eq=False, slots=True)
class Builder:
    """State shared by all functions inlined into one kernel.

    ``current`` is the block being filled, None where control cannot arrive.  ``place`` is where the next
    operation comes from.  ``parameters`` are the names of the arguments of a launch.  ``entered`` says how many jumps
    and sides of branches lead to a block.  ``last_branch`` is the block that the latest :meth:`branch` ended, if it
    tests anything.  ``copies`` are the arrays that names
    led to (see :class:`~simt.lang.frozen.Names`), ``frozen`` the names of the dispatchers among the functions, with
    the dispatcher and the types of its arguments.  ``syscalls`` are the functions of the system that are called,
    ``texts`` the strings that such calls name, with their numbers.  ``debug`` says that divisions check their
    divisor.  ``lambdas`` are the functions that those inside of functions stand for.  ``inline`` lowers a call of a
    function of :mod:`simt.lang.library`, or of Numba's own, at the current place.
    """

    predicate: int
    place: Place
    current: Block | None = None
    parameters: list[str] = field(default_factory=list)
    arrays: list[ArrayRef] = field(default_factory=list)
    copies: dict[int, tuple[Any, Any]] = field(default_factory=dict)
    frozen: list[tuple[Any, Any, Names]] = field(default_factory=list)
    sources: dict[FunctionType, FunctionSource] = field(default_factory=dict)
    shared_bytes: int = 0
    local_bytes: int = 0
    entered: Counter[Block] = field(default_factory=Counter)
    last_branch: Block | None = None
    debug: bool = False
    syscalls: dict[str, int] = field(default_factory=dict)
    texts: dict[str, int] = field(default_factory=dict)
    lambdas: dict[ast.Lambda, ast.FunctionDef] = field(default_factory=dict)
    inline: Callable[[Any, list[Value]], Any] = field(init=False)
    _allocations: dict[Any, int] = field(default_factory=dict)
    _slots: int = 0
    _blocks: int = 0

    def source(self, function: FunctionType) -> FunctionSource:
        """The parsed source of *function*, read once."""
        if function not in self.sources:
            self.sources[function] = read_source(function)
        return self.sources[function]

    # Blocks

    def block(self, name: str) -> Block:
        """A new, empty block that nothing enters yet."""
        self._blocks += 1
        return Block(f"{name}{self._blocks}")

    def here(self) -> Block:
        """The block being filled."""
        assert self.current is not None
        return self.current

    def jump(self, target: Block) -> None:
        """End the current block with a jump; control no longer arrives here."""
        self.here().end = Jump(target, self.place)
        self.entered[target] += 1
        self.current = None

    def branch(self, condition: Scalar | Constant, then: Block, other: Block) -> None:
        """End the current block: to *then* where the boolean *condition* holds, else to *other*."""
        if isinstance(condition, Constant):
            self.last_branch = None
            self.jump(then if condition.value else other)
            return
        assert isinstance(condition.operand, PredRef)
        self.last_branch = self.here()
        self.here().end = Branch(condition.operand, then, other, self.place)
        self.entered.update((then, other))
        self.current = None

    # Operations

    def emit(
        self,
        op: str,
        dst: VReg | None = None,
        a: Operand = None,
        b: Operand = None,
        c: Operand = None,
        *,
        imm: int = 0,
        mod: int = 0,
        retires: bool = True,
        dst2: VReg | None = None,
    ) -> Op:
        """Append an operation to the current block."""
        operation = Op(op, self.place, dst, a, b, c, imm=imm, mod=mod, retires=retires, dst2=dst2)
        self.here().ops.append(operation)
        return operation

    def system_call(self, name: str, args: Sequence[Operand]) -> Op:
        """Append a call of the system function *name*, which does not count as an instruction."""
        number = self.syscalls.setdefault(name, len(self.syscalls))
        call = self.emit("syscall", imm=number, retires=False)
        call.args = args
        return call

    def text(self, text: str) -> int:
        """The number that stands for *text* in a system call."""
        return self.texts.setdefault(text, len(self.texts))

    def value(
        self,
        op: str,
        ty: Any,
        a: Operand = None,
        b: Operand = None,
        c: Operand = None,
        *,
        imm: int = 0,
        mod: int = 0,
        retires: bool = True,
    ) -> Scalar:
        """Append an operation whose result is a new temporary of type *ty*."""
        if nt.storage_class(ty) == nt.BOOL:
            dst = VReg(PREDICATE)
            result = Scalar(ty, PredRef(dst))
        else:
            dst = VReg(REGISTER)
            result = Scalar(ty, dst)
        self.emit(op, dst, a, b, c, imm=imm, mod=mod, retires=retires)
        return result

    @contextmanager
    def one_instruction(self) -> Iterator[None]:
        """Count all operations appended inside, in one block, as the one instruction that the last of them is."""
        block = self.here()
        start = len(block.ops)
        yield
        assert self.current is block
        for op in block.ops[start:-1]:
            op.retires = False

    def move(self, dst: VReg, value: Scalar | Constant) -> Op:
        """Copy *value* into *dst*; free of charge, and gone if the registers can be the same one."""
        operand = self.operand(value)
        if dst.kind == PREDICATE:
            return self.emit("plop", dst, operand, imm=PLOP_MOVE, retires=False)
        return self.emit("mov", dst, operand, retires=False)

    def snapshot(self, value: Scalar | Constant) -> Scalar | Constant:
        """*value* kept safe from later assignments to the variable it stands in."""
        if isinstance(value, Constant) or isinstance(value.operand, UniformRef):
            return value
        if isinstance(value.operand, PredRef):
            dst = VReg(PREDICATE)
            self.move(dst, value)
            return Scalar(value.type, PredRef(dst))
        copy = VReg(REGISTER)
        self.move(copy, value)
        return Scalar(value.type, copy)

    def operand(self, value: Value) -> VReg | UniformRef | PredRef:
        """The operand of a scalar value; anything else is an error at the current place."""
        if isinstance(value, Scalar):
            return value.operand
        if isinstance(value, Constant):
            if nt.storage_class(value.type) == nt.BOOL:
                return TRUE if value.value else FALSE
            return UniformRef("const", nt.constant_bits(value.value, value.type))
        wrong(self.place, f"a number is needed here, not {describe(value)}")

    # Arrays

    def argument_array(self, number: int, name: str, ty: Any) -> Array:
        """Declare the array that kernel argument *number* passes."""
        dtype = nt.plain(ty.dtype)
        self._check_element(dtype, f"array {name}")
        alignment = 16 if ty.aligned else 1
        array = self._declare(name, dtype, ty.ndim, Space.GLOBAL, argument=number)
        return replace(array, readonly=not ty.mutable, layout=ty.layout, alignment=_alignment(dtype, alignment))

    def argument_record(self, number: int, name: str, ty: Any) -> Record:
        """Declare the record that kernel argument *number* passes."""
        self._check_element(ty, f"record {name}")
        return Record(self._declare(name, ty, 0, Space.GLOBAL, argument=number))

    def allocate(self, site: Any, name: str, ty: Any, shape: tuple[int, ...], space: Space, alignment: int) -> Array:
        """Declare a shared or local array of static *shape*; the same *site* gives the same memory.

        It starts at a multiple of *alignment* bytes, and of what its elements need.
        """
        self._check_element(ty, f"array {name}")
        key = (site, ty, shape, space)
        if key in self._allocations:
            return self._array(self._allocations[key], ty)
        dtype = nt.as_dtype(ty)
        length = dtype.itemsize * int(np.prod(shape, dtype=np.int64))
        multiple = max(alignment, nt.natural_alignment(ty))
        if space is Space.SHARED and shape == (0,):
            array = self._declare(name, ty, 1, space, shape=(-1,))
        elif space is Space.SHARED:
            offset = _align(self.shared_bytes, multiple)
            self.shared_bytes = offset + length
            array = self._declare(name, ty, len(shape), space, shape=shape, offset=offset)
        else:
            offset = _align(self.local_bytes, multiple)
            self.local_bytes = offset + length
            array = self._declare(name, ty, len(shape), space, shape=shape, offset=offset)
        self._allocations[key] = array.number
        return array

    def constant_array(self, name: str, data: np.ndarray) -> Array:
        """Declare a constant array with the values that *data* has now."""
        ty = nt.element_of(data)
        if ty is None or not nt.is_element(ty):
            unsupported(self.place, f"constant elements of type {data.dtype} (array {name})", help=nt.ELEMENTS)
        key = ("const", id(data))
        if key not in self._allocations:
            frozen = np.ascontiguousarray(data).copy().reshape(data.shape)
            array = self._declare(name, ty, data.ndim, Space.CONST, shape=data.shape, data=frozen)
            self._allocations[key] = array.number
        return self._array(self._allocations[key], ty)

    def device_array(self, name: str, value: Any, view: np.ndarray) -> Array:
        """Declare the array of a device *value*, whose memory *view* is: an argument behind those of the kernel."""
        ty = nt.element_of(view)
        if ty is None or not nt.is_element(ty):
            unsupported(self.place, f"elements of type {view.dtype} (array {name})", help=nt.ELEMENTS)
        key = ("device", id(value))
        if key not in self._allocations:
            number = len(self.parameters)
            self.parameters.append(name)
            array = self._declare(name, ty, view.ndim, Space.GLOBAL, argument=number, data=view)
            self._allocations[key] = array.number
        layout = "C" if view.flags.c_contiguous else "F" if view.flags.f_contiguous else "A"
        return replace(self._array(self._allocations[key], ty), readonly=not view.flags.writeable, layout=layout)

    def _check_element(self, ty: Any, what: str) -> None:
        if not nt.is_element(ty):
            unsupported(self.place, f"elements of type {ty} ({what})", help=nt.ELEMENTS)

    def _declare(
        self,
        name: str,
        ty: Any,
        ndim: int,
        space: Space,
        *,
        argument: int | None = None,
        shape: tuple[int, ...] | None = None,
        offset: int = 0,
        data: Any = None,
    ) -> Array:
        number = len(self.arrays)
        dtype = nt.dtype_name(ty) if nt.storage_class(ty) is not None else f"V{nt.as_dtype(ty).itemsize}"
        self.arrays.append(ArrayRef(name, dtype, ndim, space, self._slots, argument, shape, offset, data))
        self._slots += ndim
        return self._array(number, ty)

    def _array(self, number: int, ty: Any) -> Array:
        ref = self.arrays[number]
        axes = []
        for axis in range(ref.ndim):
            known = ref.shape is not None and ref.shape[axis] >= 0
            row = UniformRef("shape", number, axis)
            size = Constant(types.int64, ref.shape[axis]) if known and ref.shape else Scalar(types.int64, row)
            axes.append(Axis(size, ref.slot + axis))
        base = UniformRef("base", number)
        readonly = ref.space is Space.CONST
        return Array(
            number, ref.name, ty, tuple(axes), ref.space.value, base, alignment=_alignment(ty), readonly=readonly
        )

    def finished_arrays(self) -> list[ArrayRef]:
        """The arrays, dynamic shared memory placed after the static arrays."""
        start = _align(self.shared_bytes, 8)
        return [replace(ref, offset=start) if ref.shape == (-1,) else ref for ref in self.arrays]


def _alignment(ty: Any, start: int = 16) -> int:
    """What the addresses of elements of type *ty* are multiples of, if those of the array's start are of *start*."""
    return math.gcd(nt.as_dtype(ty).itemsize, start) if isinstance(ty, types.Record) else start


def _align(offset: int, size: int) -> int:
    return -(-offset // size) * size
