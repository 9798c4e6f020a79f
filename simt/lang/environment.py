"""Local variables: what each is worth on a path, and how paths that meet agree.

Every variable has one virtual register per storage class (integer, float32, float64, boolean), so paths that
agree on the class agree on the register and joining them costs nothing.  Where the types differ, the variable
takes Numba's unified type, and the paths convert.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from typing import Any

from numba.core import types

from simt.lang import arrays
from simt.lang import numba_types as nt
from simt.lang.builder import Builder
from simt.lang.convert import ScalarValue, as_complex, convert
from simt.lang.ir import PREDICATE, REGISTER, Block, PredRef, VReg
from simt.lang.values import (
    Array,
    Axis,
    Complex,
    Conflict,
    Constant,
    Scalar,
    Tuple,
    Undefined,
    Value,
    complex_of,
    describe,
)

Environment = dict[str, Value]
"""The value of every local variable at some point of a function."""

Kind = Any
"""What joined values share: a Numba type, one of the kinds below, or the compile-time value itself."""


@dataclass(frozen=True, slots=True)
class TupleKind:
    """Of tuples: the kinds of their items, and what :class:`~simt.lang.values.Tuple` says of them."""

    items: tuple[Kind, ...]
    names: tuple[str, ...] = ()
    type: Any = None


@dataclass(frozen=True, slots=True)
class ArrayKind:
    """Of arrays: all that code has to know of one; ``number`` is that of the first, which messages name."""

    type: Any
    ndim: int
    space: str
    number: int
    name: str
    alignment: int
    layout: str
    readonly: bool


def kind_of(value: Value) -> Kind:
    """The kind of a value."""
    if isinstance(value, Scalar | Constant | Complex):
        return nt.plain(value.type)
    if isinstance(value, Tuple):
        return TupleKind(tuple(kind_of(item) for item in value.items), value.names, value.type)
    if isinstance(value, Array):
        return ArrayKind(
            value.type,
            value.ndim,
            value.space,
            value.number,
            value.name,
            value.alignment,
            value.layout,
            value.readonly,
        )
    return value


def unify_kinds(kinds: Sequence[Kind]) -> Kind | None:
    """The kind that all *kinds* convert to; None if there is none."""
    first = kinds[0]
    if all(kind == first for kind in kinds):
        return first
    if all(isinstance(kind, types.Type) for kind in kinds):
        return nt.unify_all(kinds)
    if all(isinstance(kind, ArrayKind) for kind in kinds):
        return _unify_arrays(kinds)
    if all(isinstance(kind, TupleKind) and len(kind.items) == len(first.items) for kind in kinds):
        items = tuple(unify_kinds(column) for column in zip(*(kind.items for kind in kinds), strict=True))
        same = all((kind.names, kind.type) == (first.names, first.type) for kind in kinds)
        return None if None in items or not same else TupleKind(items, first.names, first.type)
    return None


def _unify_arrays(kinds: Sequence[ArrayKind]) -> ArrayKind | None:
    if len({(kind.type, kind.ndim, kind.space) for kind in kinds}) > 1:
        return None
    return replace(
        min(kinds, key=lambda kind: kind.number),
        alignment=min(kind.alignment for kind in kinds),
        layout=kinds[0].layout if len({kind.layout for kind in kinds}) == 1 else "A",
        readonly=any(kind.readonly for kind in kinds),
    )


@dataclass(eq=False, slots=True)
class Variables:
    """The virtual registers of the variables of one function instance."""

    b: Builder
    registers: dict[tuple[str, tuple[int, ...], str], VReg] = field(default_factory=dict)

    def register(self, name: str, path: tuple[int, ...], ty: Any) -> VReg:
        """The register of variable *name* (item *path* of it, for tuples) while it has type *ty*."""
        storage = nt.storage_class(ty)
        assert storage is not None
        key = (name, path, storage)
        if key not in self.registers:
            label = ".".join((name, *map(str, path)))
            self.registers[key] = VReg(PREDICATE if storage == nt.BOOL else REGISTER, label)
        return self.registers[key]

    def assign(self, name: str, value: Value, path: tuple[int, ...] = ()) -> Value:
        """Put *value* into variable *name*; the value that the variable then has."""
        if isinstance(value, Tuple):
            items = tuple(self.assign(name, item, (*path, i)) for i, item in enumerate(value.items))
            return replace(value, items=items)
        if isinstance(value, Complex):
            parts = (self.assign(name, part, (*path, i)) for i, part in enumerate((value.real, value.imag)))
            return complex_of(value.type, parts)
        if isinstance(value, Array):
            return self._apart(value)
        if not isinstance(value, Scalar | Constant):
            return value
        register = self.register(name, path, value.type)
        operation = self.b.move(register, value)
        operation.variable, operation.dtype = register.name, nt.dtype_name(value.type)
        return _in_register(value.type, register)

    def _apart(self, array: Array) -> Array:
        """*array*, copied out of the registers of the variable that holds it, which may hold another one later."""

        def apart(value: ScalarValue) -> ScalarValue:
            if isinstance(value, Scalar) and isinstance(value.operand, VReg) and value.operand.name:
                return self.b.snapshot(value)
            return value

        base = apart(Scalar(types.int64, array.base))
        assert isinstance(base, Scalar)
        assert not isinstance(base.operand, PredRef)
        axes = [
            replace(axis, size=apart(axis.size), stride=None if axis.stride is None else apart(axis.stride))
            for axis in array.axes
        ]
        return replace(array, base=base.operand, axes=tuple(axes))

    def move(self, name: str, value: Value, kind: Kind, path: tuple[int, ...] = ()) -> Value:
        """Bring *value* of variable *name* to *kind* in the variable's register; free of charge."""
        if isinstance(value, Undefined):
            value.touch()
        if isinstance(kind, TupleKind):
            given = value.items if isinstance(value, Tuple) else (value,) * len(kind.items)
            pairs = enumerate(zip(given, kind.items, strict=True))
            items = tuple(self.move(name, item, each, (*path, i)) for i, (item, each) in pairs)
            return Tuple(items, kind.names, kind.type)
        if isinstance(kind, ArrayKind):
            return self._move_array(name, value, kind, path)
        if not isinstance(kind, types.Type):
            return value
        if isinstance(kind, types.Complex):
            return self._move_complex(name, value, kind, path)
        unset = name if isinstance(value, Undefined) else None
        if isinstance(value, Undefined):
            value = Constant(kind, nt.cast_constant(0, kind))
        assert isinstance(value, Scalar | Constant)
        register = self.register(name, path, kind)
        result = _in_register(kind, register)
        converted = convert(self.b, value, kind, counted=False)
        if isinstance(converted, Constant) or converted.operand != result.operand:
            self.b.move(register, converted).unset = unset
        return result

    def _move_complex(self, name: str, value: Value, kind: Any, path: tuple[int, ...]) -> Complex:
        part = kind.underlying_float
        given: tuple[Value, Value] = (value, value)
        if not isinstance(value, Undefined):
            assert isinstance(value, Scalar | Constant | Complex)
            whole = as_complex(self.b, value, kind, counted=False)
            given = whole.real, whole.imag
        return complex_of(kind, (self.move(name, item, part, (*path, i)) for i, item in enumerate(given)))

    def _move_array(self, name: str, value: Value, kind: ArrayKind, path: tuple[int, ...]) -> Array:
        """An array in registers: its address, and size and stride of each axis."""
        address: Value = Constant(types.int64, 0)
        axes: list[tuple[Value, Value]] = [(address, address)] * kind.ndim
        if isinstance(value, Array):
            flat = arrays.flattened(self.b, value)
            address = Scalar(types.int64, flat.base)
            axes = [(axis.size, axis.stride or address) for axis in flat.axes]
        base = self.move(name, address, types.int64, (*path, -1))
        assert isinstance(base, Scalar)
        assert isinstance(base.operand, VReg)
        moved = []
        for i, (size, stride) in enumerate(axes):
            own = [self.move(name, item, types.int64, (*path, 2 * i + k)) for k, item in enumerate((size, stride))]
            size, stride = own
            assert isinstance(size, Scalar | Constant)
            assert isinstance(stride, Scalar | Constant)
            moved.append(Axis(size, stride=stride))
        return Array(
            kind.number,
            kind.name,
            kind.type,
            tuple(moved),
            kind.space,
            base.operand,
            alignment=kind.alignment,
            layout=kind.layout,
            readonly=kind.readonly,
        )

    def join(self, arrivals: Sequence[tuple[Block, Environment]]) -> Environment:
        """Let the open blocks of *arrivals* meet; the builder goes on there (nowhere, if there are none)."""
        if not arrivals:
            self.b.current = None
            return {}
        if len(arrivals) == 1:
            self.b.current, environment = arrivals[0]
            return environment
        meeting = self.b.block("join")
        joined: Environment = {}
        moves: list[tuple[str, Kind]] = []
        for name in arrivals[0][1]:
            values = [environment[name] for _, environment in arrivals]
            if all(value == values[0] for value in values):
                joined[name] = values[0]
                continue
            known = [value for value in values if not isinstance(value, Undefined)]
            for value in values:
                if isinstance(value, Undefined):
                    value.touch()
            kind = unify_kinds([kind_of(value) for value in known]) if known else values[0]
            if kind is None or isinstance(kind, Conflict):
                others = [value for value in known if value != known[0]]
                joined[name] = Conflict(name, describe(known[0]), describe(others[0] if others else known[0]))
            elif isinstance(kind, TupleKind | ArrayKind | types.Type):
                moves.append((name, kind))
            else:
                joined[name] = kind
        for block, environment in arrivals:
            self.b.current = block
            for name, kind in moves:
                joined[name] = self.move(name, environment[name], kind)
            self.b.jump(meeting)
        self.b.current = meeting
        return joined


def _in_register(ty: Any, register: VReg) -> Scalar:
    return Scalar(nt.plain(ty), PredRef(register) if register.kind == PREDICATE else register)
