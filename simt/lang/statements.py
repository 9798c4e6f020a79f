"""Statements: assignments, branches, loops, and calls of device functions, lowered to blocks."""

from __future__ import annotations

import ast
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field

from numba.core import types

from simt.lang import arrays, attributes, elements, library, predication
from simt.lang.builder import Builder
from simt.lang.calls import RESULT, Calls
from simt.lang.diagnostics import unsupported, wrong
from simt.lang.environment import ArrayKind, Environment, Kind, kind_of, unify_kinds
from simt.lang.frozen import Names
from simt.lang.ir import REGISTER, Block, Exit, Place, VReg
from simt.lang.iteration import Loops
from simt.lang.scopes import stored_names
from simt.lang.source import FunctionSource
from simt.lang.values import (
    NONE,
    Array,
    Complex,
    Conflict,
    Constant,
    Flat,
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


class Function(Loops):
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

    def _do_functiondef(self, node: ast.FunctionDef) -> None:
        if node.decorator_list:
            unsupported(self.place(node), "a decorator inside a kernel", help="define the function outside of it")
        self.env[node.name] = self.closure(node)

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
                help="the right side must be a tuple",
            )
        if any(isinstance(item, ast.Starred) for item in target.elts):
            unsupported(self.place(target), "* in an assignment", help="name every item")
        if len(target.elts) != len(value.items):
            wrong(self.place(target), f"cannot unpack {len(value.items)} values into {len(target.elts)} names")
        items = [self.kept(item) for item in value.items] if len(value.items) > 1 else value.items
        for element, item in zip(target.elts, items, strict=True):
            self.assign(element, item)

    def _unpacked(self, value: Array, count: int) -> Tuple:
        """The items of an array with as many positions along its first axis as there are targets."""
        positions = (Constant(types.int64, position) for position in range(count))
        return Tuple(tuple(elements.load(self.b, arrays.subscript(self.b, value, at)) for at in positions))

    def _element(self, target: ast.Subscript) -> Array:
        base = self.evaluate(target.value)
        if not isinstance(base, Array | Flat | Record):
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
            target = node.target
            element = self._element(target) if isinstance(target, ast.Subscript) else self._field(target)
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
        items = self.unrolled(node.iter)
        if items is not None:
            self._unroll(node, items)
            return
        way = self.way(node.iter)
        start, stop, step, ty = way.bounds
        self.mark(node)
        counter = VReg(REGISTER)
        position = Scalar(ty, counter)
        self.b.move(counter, start)
        compare = self.range_test(position, start, stop, step)

        def test(inside: Block, outside: Block) -> None:
            self.mark(node)
            self.b.branch(compare(), inside, outside)

        def enter() -> None:
            self.mark(node)
            self.assign(node.target, way.item(position))

        def advance() -> None:
            self.mark(node)
            self.b.emit("add.s64", counter, counter, self.b.operand(step))

        self._loop(node, stored_names([node]), test, enter, advance)

    def _unroll(self, node: ast.For, items: Sequence[Value]) -> None:
        """Lower the body once for each item of ``literal_unroll(...)``; there is no counter to count."""
        breaks: list[tuple[Block, Environment]] = []
        for item in items:
            loop = Loop()
            self.loops.append(loop)
            self.mark(node)
            self.assign(node.target, item)
            self.statements(node.body)
            self.loops.pop()
            if self.b.current is not None:
                loop.continues.append((self.b.current, self.env))
            breaks += loop.breaks
            self.env = self.variables.join(loop.continues)
            if self.b.current is None:
                break
        if self.b.current is not None:
            self.statements(node.orelse)
        if self.b.current is not None:
            breaks.append((self.b.current, self.env))
        self.env = self.variables.join(breaks)

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
            if isinstance(kinds.get(name), Conflict):
                env[name] = kinds[name]
            elif name in kinds:
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
            if isinstance(below, Undefined) or isinstance(above, Conflict) or above == below:
                continue
            kind = kind_of(below)
            if isinstance(above, Undefined):
                if above.touched:
                    wider[name] = kind
                else:
                    if not isinstance(kind, ArrayKind):  # where an array begins is no variable's register
                        self._start_from_zero(entry, name, above, kind)
                    late[name] = below
                continue
            unified = unify_kinds([kind_of(above), kind])
            if unified is None:
                wider[name] = Conflict(name, describe(above), describe(below))
            elif unified != kind_of(above) or (isinstance(above, Array) and name not in kinds):
                wider[name] = unified
            else:
                self.variables.move(name, below, unified)
        return wider, late

    def _start_from_zero(self, entry: Block, name: str, value: Undefined, kind: Kind) -> None:
        """Give a variable that the loop assigns first a value before it; dead code if it is not used."""
        bottom, self.b.current = self.b.current, entry
        self.variables.move(name, value, kind)
        self.b.current = bottom

    def _do_break(self, node: ast.Break) -> None:
        self.loops[-1].breaks.append((self.b.here(), self.env))
        self.b.current = None

    def _do_continue(self, node: ast.Continue) -> None:
        self.loops[-1].continues.append((self.b.here(), self.env))
        self.b.current = None
