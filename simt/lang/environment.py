"""Local variables: what each is worth on a path, and how paths that meet agree.

Every variable has one virtual register per storage class (integer, float32, float64, boolean), so paths that
agree on the class agree on the register and joining them costs nothing.  Where the types differ, the variable
takes Numba's unified type, and the paths convert.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

from numba.core import types

from simt.lang import numba_types as nt
from simt.lang.builder import Builder
from simt.lang.convert import convert
from simt.lang.ir import PREDICATE, REGISTER, Block, PredRef, VReg
from simt.lang.values import Conflict, Constant, Scalar, Tuple, Undefined, Value, describe

Environment = dict[str, Value]
"""The value of every local variable at some point of a function."""

Kind = Any
"""What joined values share: a Numba type, a tuple of kinds, or the compile-time value itself."""


def kind_of(value: Value) -> Kind:
    """The kind of a value."""
    if isinstance(value, Scalar | Constant):
        return nt.plain(value.type)
    if isinstance(value, Tuple):
        return tuple(kind_of(item) for item in value.items)
    return value


def unify_kinds(kinds: Sequence[Kind]) -> Kind | None:
    """The kind that all *kinds* convert to; None if there is none."""
    first = kinds[0]
    if all(kind == first for kind in kinds):
        return first
    if all(isinstance(kind, types.Type) for kind in kinds):
        return nt.unify_all(kinds)
    if all(isinstance(kind, tuple) and len(kind) == len(first) for kind in kinds):
        items = tuple(unify_kinds(column) for column in zip(*kinds, strict=True))
        return None if None in items else items
    return None


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
            return Tuple(tuple(self.assign(name, item, (*path, i)) for i, item in enumerate(value.items)))
        if not isinstance(value, Scalar | Constant):
            return value
        register = self.register(name, path, value.type)
        operation = self.b.move(register, value)
        operation.variable, operation.dtype = register.name, nt.dtype_name(value.type)
        return _in_register(value.type, register)

    def move(self, name: str, value: Value, kind: Kind, path: tuple[int, ...] = ()) -> Value:
        """Bring *value* of variable *name* to *kind* in the variable's register; free of charge."""
        if isinstance(kind, tuple):
            if isinstance(value, Undefined):
                value.touch()
                return Tuple(tuple(self.move(name, value, k, (*path, i)) for i, k in enumerate(kind)))
            assert isinstance(value, Tuple)
            pairs = enumerate(zip(value.items, kind, strict=True))
            return Tuple(tuple(self.move(name, item, k, (*path, i)) for i, (item, k) in pairs))
        if not isinstance(kind, types.Type):
            return value
        if isinstance(value, Undefined):
            value.touch()
            value = Constant(kind, nt.cast_constant(0, kind))
        assert isinstance(value, Scalar | Constant)
        register = self.register(name, path, kind)
        result = _in_register(kind, register)
        converted = convert(self.b, value, kind, counted=False)
        if isinstance(converted, Constant) or converted.operand != result.operand:
            self.b.move(register, converted)
        return result

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
            elif isinstance(kind, tuple | types.Type):
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
