"""Statements: assignments, branches, loops, and calls of device functions, lowered to blocks."""

from __future__ import annotations

import ast
from collections.abc import Callable
from dataclasses import dataclass, field, replace
from typing import Any

from numba.core import types

from simt.lang import aggregates, arrays, attributes, elements, library, operators, predication
from simt.lang import numba_types as nt
from simt.lang.builder import Builder
from simt.lang.calls import RESULT, Calls, stored_names
from simt.lang.convert import ScalarValue, convert, scalar
from simt.lang.diagnostics import unsupported, wrong
from simt.lang.environment import Environment, Kind, kind_of, unify_kinds
from simt.lang.frozen import Names
from simt.lang.ir import PLOP_MOVE, PREDICATE, REGISTER, ZERO, Block, Exit, Place, PredRef, VReg
from simt.lang.source import FunctionSource
from simt.lang.values import (
    NONE,
    Array,
    Complex,
    Constant,
    Object,
    Record,
    Scalar,
    Tuple,
    Undefined,
    Value,
    describe,
)


@dataclass(slots=True)
class Loop:
    """Where ``continue`` and ``break`` of a loop arrive from."""

    continues: list[tuple[Block, Environment]] = field(default_factory=list)
    breaks: list[tuple[Block, Environment]] = field(default_factory=list)


class Function(Calls):
    """Lowers one function instance: the kernel (no ``caller``), or one inlined call of a device function."""

    def __init__(
        self,
        b: Builder,
        source: FunctionSource,
        names: Names,
        path: tuple[str, ...] = (),
        caller: Calls | None = None,
    ) -> None:
        super().__init__(b, source, names, path, caller)
        self.loops: list[Loop] = []

    def body(self) -> None:
        """Lower the function's statements; a kernel then ends at its last line."""
        self.statements(self.source.tree.body)
        if self.b.current is None:
            return
        if self.caller is not None:
            self.returns.append((self.b.current, self.env))
            self.b.current = None
            return
        end = self.source.tree.end_lineno or self.source.tree.lineno
        self._exit(Place(self.source.file, self.source.name, end, 0))

    def statements(self, nodes: list[ast.stmt]) -> None:
        """Lower *nodes* in order, up to where control cannot arrive."""
        for node in nodes:
            if self.b.current is None:
                return
            method = getattr(self, f"_do_{type(node).__name__.lower()}", None)
            if method is None:
                self.refuse(node)
            self.mark(node)
            method(node)

    # Simple statements

    def _do_pass(self, node: ast.Pass) -> None:
        pass

    def _do_expr(self, node: ast.Expr) -> None:
        if not isinstance(node.value, ast.Constant):
            self.evaluate(node.value)

    def _do_assign(self, node: ast.Assign) -> None:
        value = self.evaluate(node.value)
        for target in node.targets:
            self.assign(target, value)

    def _do_annassign(self, node: ast.AnnAssign) -> None:
        if node.value is not None:
            self.assign(node.target, self.evaluate(node.value))

    def assign(self, target: ast.expr, value: Value) -> None:
        """``target = value`` for a name, an element or a tuple of targets."""
        if isinstance(target, ast.Name):
            self.mark(target)
            self.env[target.id] = self.variables.assign(target.id, value)
        elif isinstance(target, ast.Subscript):
            self._store(self._element(target), value)
        elif isinstance(target, ast.Attribute):
            self._store(self._field(target), value)
        elif isinstance(target, ast.Tuple | ast.List):
            self._unpack(target, value)
        else:
            self.refuse(target)

    def _store(self, element: Array, value: Value) -> None:
        """Store into an element; into each of a part of an array."""
        if not element.ndim:
            elements.store(self.b, element, value)
            return
        if element.ndim > len(library.FILL) or (isinstance(value, Array) and value.ndim not in (0, element.ndim)):
            unsupported(self.b.place, f"{describe(value)} assigned to {describe(element)}", help="use a loop")
        functions = library.COPY if isinstance(value, Array) and value.ndim else library.FILL
        self.b.inline(functions[element.ndim - 1], [element, value])

    def _unpack(self, target: ast.Tuple | ast.List, value: Value) -> None:
        if isinstance(value, Array) and value.ndim:
            value = self._unpacked(value, len(target.elts))
        if not isinstance(value, Tuple):
            wrong(
                self.place(target),
                f"cannot unpack {describe(value)}",
                help="the right side has to be a tuple",
            )
        if any(isinstance(item, ast.Starred) for item in target.elts):
            unsupported(self.place(target), "* in an assignment", help="name every item")
        if len(target.elts) != len(value.items):
            wrong(self.place(target), f"cannot unpack {len(value.items)} values into {len(target.elts)} names")
        items = [self._kept(item) for item in value.items] if len(value.items) > 1 else value.items
        for element, item in zip(target.elts, items, strict=True):
            self.assign(element, item)

    def _kept(self, value: Value) -> Value:
        """*value*, copied if it stands in a variable that another target of the statement may change."""
        if isinstance(value, Tuple):
            return replace(value, items=tuple(self._kept(item) for item in value.items))
        if isinstance(value, Complex):
            return Complex(value.type, self._kept(value.real), self._kept(value.imag))  # type: ignore[arg-type]
        if isinstance(value, Scalar):
            register = value.operand.reg if isinstance(value.operand, PredRef) else value.operand
            if isinstance(register, VReg) and register.name:
                return self.b.snapshot(value)
        return value

    def _unpacked(self, value: Array, count: int) -> Tuple:
        """The items of an array with as many positions along its first axis as there are targets."""
        positions = (Constant(types.int64, position) for position in range(count))
        return Tuple(tuple(elements.load(self.b, arrays.subscript(self.b, value, at)) for at in positions))

    def _element(self, target: ast.Subscript) -> Array:
        base = self.evaluate(target.value)
        if not isinstance(base, Array | Record):
            wrong(self.place(target), f"cannot assign to an item of {describe(base)}")
        index = self.evaluate(target.slice)
        self.mark(target)
        return self.part(base, index)

    def _field(self, target: ast.Attribute) -> Array:
        base = self.evaluate(target.value)
        self.mark(target)
        found = attributes.field(self.b, base, target.attr)
        if found is None:
            wrong(self.place(target), f"cannot assign to attribute .{target.attr} of {describe(base)}")
        return found

    def _do_augassign(self, node: ast.AugAssign) -> None:
        if isinstance(node.target, ast.Subscript | ast.Attribute):
            is_item = isinstance(node.target, ast.Subscript)
            element = self._element(node.target) if is_item else self._field(node.target)  # type: ignore[arg-type]
            old = elements.load(self.b, element)
            right = self.evaluate(node.value)
            self.mark(node)
            self._store(element, self.binary(node, node.op, old, right))
            return
        left = self._name(ast.copy_location(ast.Name(node.target.id, ast.Load()), node.target))
        right = self.evaluate(node.value)
        self.mark(node)
        self.assign(node.target, self.binary(node, node.op, left, right))

    def _do_assert(self, node: ast.Assert) -> None:
        holds, fails = self.b.block("holds"), self.b.block("fails")
        self.condition(node.test, holds, fails)
        if fails in self.b.entered:
            self.b.current = fails
            self._trap(node)
        self.b.current = holds if holds in self.b.entered else None

    def _do_raise(self, node: ast.Raise) -> None:
        self._trap(node)

    def _trap(self, node: ast.stmt) -> None:
        self.mark(node)
        self.b.emit("trap")
        self._exit(self.place(node))

    def _exit(self, place: Place) -> None:
        self.b.here().end = Exit(place)
        self.b.current = None

    def _do_return(self, node: ast.Return) -> None:
        value = self.evaluate(node.value) if node.value is not None else NONE
        self.mark(node)
        if self.caller is None:
            if value != NONE:
                wrong(
                    self.place(node),
                    "a kernel returns a value",
                    help="store results into an array; use plain return",
                )
            self._exit(self.place(node))
            return
        self.env[RESULT] = self.variables.assign(RESULT, value)
        self.returns.append((self.b.here(), self.env))
        self.b.current = None

    # Branches

    def _do_if(self, node: ast.If) -> None:
        before = dict(self.env)
        then, other = self.b.block("then"), self.b.block("else")
        self.condition(node.test, then, other)
        head = self.b.last_branch
        arrivals = []
        for block, nodes in ((then, node.body), (other, node.orelse)):
            if block in self.b.entered:
                self.b.current, self.env = block, dict(before)
                self.statements(nodes)
                if self.b.current is not None:
                    arrivals.append((self.b.current, self.env))
        self.env = self.variables.join(arrivals)
        if self.b.predicate and head is not None and self.b.current is not None:
            predication.convert_arms(head, then, other, self.b.current, self.b.predicate, self.b.entered)

    # Loops

    def _do_while(self, node: ast.While) -> None:
        def test(inside: Block, outside: Block) -> None:
            self.condition(node.test, inside, outside)

        self._loop(node, stored_names(node.body), test, lambda: None, lambda: None)

    def _do_for(self, node: ast.For) -> None:
        items = None if self._is_range(node.iter) else self._kept(self.evaluate(node.iter))
        start, stop, step, ty = self._range(node) if items is None else self._positions(node, items)
        self.mark(node)
        counter = VReg(REGISTER)
        position = Scalar(ty, counter)
        self.b.move(counter, start)
        compare = self._range_test(position, start, stop, step)

        def test(inside: Block, outside: Block) -> None:
            self.mark(node)
            self.b.branch(compare(), inside, outside)

        def enter() -> None:
            self.mark(node)
            self.assign(node.target, position if items is None else self._item(items, position))

        def advance() -> None:
            self.mark(node)
            self.b.emit("add.s64", counter, counter, self.b.operand(step))

        self._loop(node, stored_names([node]), test, enter, advance)

    def _boolean(self, value: ScalarValue) -> Scalar:
        """A condition as a run-time predicate, even if constant."""
        if isinstance(value, Scalar):
            return value
        register = VReg(PREDICATE)
        self.b.emit("plop", register, self.b.operand(value), imm=PLOP_MOVE)
        return Scalar(types.boolean, PredRef(register))

    def _range_test(
        self, position: Scalar, start: ScalarValue, stop: ScalarValue, step: ScalarValue
    ) -> Callable[[], Scalar]:
        """What emits the test of each trip: one comparison.

        Where the sign of the step is known at run time only, complementing both sides turns the order around.
        A step of 0 makes no trip.
        """
        if isinstance(step, Constant):
            text = "<" if step.value > 0 else ">"
            return lambda: self._boolean(operators.compare(self.b, text, position, stop))
        zero = self.b.value("eq.s64", types.boolean, self.b.operand(step), ZERO, retires=False)
        bounds = self.b.operand(start), self.b.operand(stop)
        stop = self.b.value("selp", position.type, *bounds, zero.operand, retires=False)
        if not position.type.signed:
            return lambda: self._boolean(operators.compare(self.b, "<", position, stop))
        sign_shift = self.b.operand(Constant(types.int64, 63))
        flip = self.b.value("shr.s64", types.int64, self.b.operand(step), sign_shift, retires=False)
        limit = self.b.value("xor.b64", types.int64, stop.operand, flip.operand, retires=False)

        def compare() -> Scalar:
            turned = self.b.value("xor.b64", types.int64, position.operand, flip.operand, retires=False)
            return self.b.value("lt.s64", types.boolean, turned.operand, limit.operand)

        return compare

    def _is_range(self, node: ast.expr) -> bool:
        function = self.evaluate(node.func) if isinstance(node, ast.Call) else None
        return isinstance(function, Object) and function.value is range

    def _positions(self, node: ast.For, items: Value) -> tuple[ScalarValue, ScalarValue, ScalarValue, Any]:
        """Start, stop and step of the positions in an array or tuple that is iterated over, and their type."""
        zero, one = (Constant(types.int64, value) for value in (0, 1))
        if isinstance(items, Array) and items.ndim:
            return zero, arrays.axis_size(items, 0), one, types.int64
        if not isinstance(items, Tuple):
            unsupported(
                self.place(node.iter), f"a for loop over {describe(items)}", help="use for i in range(len(...))"
            )
        kinds = {kind_of(item) for item in items.items}
        if len(kinds) != 1 or nt.storage_class(*kinds) in (None, nt.BOOL):
            help = "Numba takes tuples of numbers of one type; write the trips one after the other"
            unsupported(self.place(node.iter), f"a for loop over {describe(items)}", help=help)
        return zero, Constant(types.int64, len(items.items)), one, types.int64

    def _item(self, items: Value, position: Scalar) -> Value:
        """The item of an array or tuple that a trip is for; that of a tuple is free of charge."""
        if isinstance(items, Array):
            return elements.load(self.b, arrays.subscript(self.b, items, position))
        assert isinstance(items, Tuple)
        return aggregates.picked(self.b, items, position)

    def _range(self, node: ast.For) -> tuple[ScalarValue, ScalarValue, ScalarValue, Any]:
        """Start, stop and step of ``for ... in range(...)`` and the type that Numba gives the variable."""
        call = node.iter
        assert isinstance(call, ast.Call)
        args = [scalar(self.b, value) for value in self.evaluate_arguments(call.args)]
        self.mark(call)
        signature = nt.operator_signature(range, tuple(value.type for value in args)) if args else None
        if signature is None or call.keywords:
            given = ", ".join(describe(value) for value in args)
            wrong(self.place(call), f"range({given})", help="range takes one to three integers")
        ty = signature.return_type.dtype
        values = [self._kept(convert(self.b, value, ty)) for value in args]
        scalars = [scalar(self.b, value) for value in values]
        if len(scalars) == 1:
            scalars.insert(0, Constant(ty, 0))
        if len(scalars) == 2:
            scalars.append(Constant(ty, 1))
        start, stop, step = scalars
        if isinstance(step, Constant) and step.value == 0:
            wrong(self.place(call), "range() with step 0")
        return start, stop, step, ty

    def _loop(
        self,
        node: ast.For | ast.While,
        stored: list[str],
        test: Callable[[Block, Block], None],
        enter: Callable[[], None],
        advance: Callable[[], None],
    ) -> None:
        """Lower a loop: again, until the types that its variables have at the top are stable."""
        entry = self.b.here()
        start, before = len(entry.ops), self.env
        kinds: dict[str, Kind] = {}
        late: Environment = {}
        while True:
            del entry.ops[start:]
            entry.end, self.b.current = None, entry
            self.mark(node)
            self.env = self._top(dict(before), stored, kinds)
            top, loop = dict(self.env), Loop()
            header, inside, outside = self.b.block("loop"), self.b.block("body"), self.b.block("done")
            self.b.jump(header)
            self.b.current = header
            test(inside, outside)
            if inside in self.b.entered:
                self._body(node, inside, enter, loop)
                wider, late = self._bottom(node, stored, top, entry, kinds)
                if wider:
                    kinds |= wider
                    continue
                if self.b.current is not None:
                    advance()
                    self.b.jump(header)
            break
        if outside in self.b.entered:
            self.b.current, self.env = outside, top | late
            self.statements(node.orelse)
            if self.b.current is not None:
                loop.breaks.append((self.b.current, self.env))
        for _, environment in loop.breaks:
            environment |= {name: late[name] for name in late if isinstance(environment[name], Undefined)}
        self.env = self.variables.join(loop.breaks)

    def _top(self, env: Environment, stored: list[str], kinds: dict[str, Kind]) -> Environment:
        """The variables at the top of a loop that assigns *stored*, with the types known so far."""
        for name in stored:
            value = env[name]
            if name in kinds:
                env[name] = self.variables.move(name, value, kinds[name])
            elif isinstance(value, Undefined):
                env[name] = Undefined(name, value, in_loop=True)
            elif isinstance(value, Scalar | Constant | Complex | Tuple):
                env[name] = self.variables.move(name, value, kind_of(value))
        return env

    def _body(self, node: ast.For | ast.While, inside: Block, enter: Callable[[], None], loop: Loop) -> None:
        """Lower the loop's body; the builder is then at the bottom of the loop, if control arrives there."""
        self.b.current = inside
        self.env = dict(self.env)
        self.loops.append(loop)
        enter()
        self.statements(node.body)
        self.loops.pop()
        if self.b.current is not None:
            loop.continues.append((self.b.current, self.env))
        self.mark(node)
        self.env = self.variables.join(loop.continues)

    def _bottom(
        self,
        node: ast.For | ast.While,
        stored: list[str],
        top: Environment,
        entry: Block,
        kinds: dict[str, Kind],
    ) -> tuple[dict[str, Kind], Environment]:
        """Bring the variables back to their types at the top.

        Returns the kinds to start again with, if they do not fit, and the variables that only the loop
        assigns.
        """
        wider: dict[str, Kind] = {}
        late: Environment = {}
        if self.b.current is None:
            return wider, late
        for name in stored:
            above, below = top[name], self.env[name]
            if isinstance(below, Undefined) or above == below:
                continue
            kind = kind_of(below)
            if isinstance(above, Undefined):
                if above.touched:
                    wider[name] = kind
                else:
                    self._start_from_zero(entry, name, above, kind)
                    late[name] = below
                continue
            unified = unify_kinds([kind_of(above), kind])
            if unified is None:
                wrong(
                    self.place(node),
                    f"variable {name!r} is {describe(above)} before the loop and {describe(below)} in it",
                    help="use two variables",
                )
            if unified != kind_of(above) or (isinstance(above, Array) and name not in kinds):
                wider[name] = unified
            else:
                self.variables.move(name, below, unified)
        return wider, late

    def _start_from_zero(self, entry: Block, name: str, value: Undefined, kind: Kind) -> None:
        """Give a variable that the loop assigns first a value before it; dead code if nobody reads it."""
        bottom, self.b.current = self.b.current, entry
        self.variables.move(name, value, kind)
        self.b.current = bottom

    def _do_break(self, node: ast.Break) -> None:
        self.loops[-1].breaks.append((self.b.here(), self.env))
        self.b.current = None

    def _do_continue(self, node: ast.Continue) -> None:
        self.loops[-1].continues.append((self.b.here(), self.env))
        self.b.current = None
