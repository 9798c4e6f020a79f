"""What a ``for`` loop goes over: ranges, arrays, tuples, and enumerate() and zip() of them."""

from __future__ import annotations

import ast
from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numba.core import types

from simt.lang import aggregates, arrays, elements, operators
from simt.lang import numba_types as nt
from simt.lang.calls import Calls
from simt.lang.convert import ScalarValue, convert, scalar
from simt.lang.diagnostics import unsupported, wrong
from simt.lang.environment import kind_of
from simt.lang.ir import PLOP_MOVE, PREDICATE, ZERO, PredRef, VReg
from simt.lang.numeric import select
from simt.lang.values import Array, Complex, Constant, Flat, Object, Scalar, Tuple, Value, complex_of, describe

Bounds = tuple[ScalarValue, ScalarValue, ScalarValue, Any]
"""Start, stop and step of a counter, and its type."""

ZERO_I8, ONE_I8 = arrays.ZERO, arrays.ONE


@dataclass(frozen=True, slots=True)
class Way:
    """What a loop counts through, and what its variable is worth where the counter stands."""

    bounds: Bounds
    item: Callable[[Scalar], Value]

    @property
    def is_counted(self) -> bool:
        """Whether the counter goes up from 0 in steps of 1."""
        start, _, step, _ = self.bounds
        return start == ZERO_I8 and step == ONE_I8


class Loops(Calls):
    """A function instance that can lower the head of a ``for`` loop."""

    def unrolled(self, node: ast.expr) -> tuple[Value, ...] | None:
        """The items of the tuple that ``literal_unroll(...)`` goes over; None if *node* is something else."""
        function = self.evaluate(node.func) if isinstance(node, ast.Call) else None
        if not isinstance(function, Object) or getattr(function.value, "__name__", "") != "literal_unroll":
            return None
        assert isinstance(node, ast.Call)
        args = self.evaluate_arguments(node.args)
        if len(args) != 1 or not isinstance(args[0], Tuple):
            wrong(self.place(node), "literal_unroll() takes a tuple")
        return args[0].items

    def way(self, node: ast.expr) -> Way:
        """How a loop over *node* goes."""
        function = self.evaluate(node.func) if isinstance(node, ast.Call) else None
        if isinstance(node, ast.Call) and isinstance(function, Object):
            if function.value is range:
                bounds = self._range(node)
                return Way(bounds, lambda position: position)
            if function.value in (np.nditer, np.ndenumerate, np.ndindex):
                return self._over_elements(node, function.value)
            if function.value in (enumerate, zip):
                for keyword in node.keywords:
                    unsupported(self.place(keyword), f"keyword arguments of {describe(function)}")
                return self._enumerated(node) if function.value is enumerate else self._zipped(node)
        items = self.kept(self.evaluate(node))
        return Way((ZERO_I8, self._length_of(node, items), ONE_I8, types.int64), lambda at: self._item(items, at))

    def _counted(self, node: ast.expr) -> Way:
        """The way over *node* with a counter that goes up from 0 in steps of 1."""
        way = self.way(node)
        if way.is_counted:
            return way
        start, stop, step, ty = way.bounds
        if not isinstance(step, Constant):
            unsupported(self.place(node), "a range whose step is no constant, in enumerate() or zip()")
        span = operators.binary(self.b, "-", stop, start)
        beyond = Constant(types.int64, step.value - (1 if step.value > 0 else -1))
        with_rest = operators.binary(self.b, "+", span, beyond)
        count = operators.binary(self.b, "//", with_rest, Constant(types.int64, step.value))
        trips = select(self.b, operators.compare(self.b, ">", count, ZERO_I8), count, ZERO_I8)

        def item(position: Scalar) -> Value:
            offset = operators.binary(self.b, "*", position, Constant(types.int64, step.value))
            return convert(self.b, operators.binary(self.b, "+", start, offset), ty)

        return Way((ZERO_I8, self.b.snapshot(trips), ONE_I8, types.int64), item)

    def _over_elements(self, node: ast.Call, function: Any) -> Way:
        """``np.nditer(a)``: arrays without axes; ``np.ndenumerate(a)``; ``np.ndindex(shape)``."""
        args = self.evaluate_arguments(node.args)
        self.mark(node)
        if function is np.ndindex:
            sizes = args[0].items if len(args) == 1 and isinstance(args[0], Tuple) else args
            lengths = [self.b.snapshot(convert(self.b, scalar(self.b, size), types.int64)) for size in sizes]
            count: ScalarValue = ONE_I8
            for length in lengths:
                count = arrays.multiply(self.b, count, length)
            bounds = (ZERO_I8, count, ONE_I8, types.int64)
            return Way(bounds, lambda at: Tuple(tuple(arrays.unravelled(self.b, lengths, at))))
        if len(args) != 1 or not isinstance(args[0], Array) or node.keywords:
            unsupported(self.place(node), f"{describe(Object(function))} of anything but one array")
        array = args[0]

        def item(position: Scalar) -> Value:
            element = arrays.element_at(self.b, array, position)
            if function is np.nditer:
                return element
            index = arrays.unravelled(self.b, [axis.size for axis in array.axes], position)
            return Tuple((Tuple(tuple(index)), elements.load(self.b, element)))

        return Way((ZERO_I8, arrays.size(self.b, array), ONE_I8, types.int64), item)

    def _enumerated(self, node: ast.Call) -> Way:
        if len(node.args) not in (1, 2):
            wrong(self.place(node), "enumerate() takes what to go over, and perhaps a start")
        first = convert(self.b, scalar(self.b, self.evaluate(node.args[1])), types.int64) if node.args[1:] else ZERO_I8
        inner = self._counted(node.args[0])

        def item(position: Scalar) -> Value:
            number = position if first == ZERO_I8 else operators.binary(self.b, "+", position, first)
            return Tuple((self.b.snapshot(number), inner.item(position)))

        return replace(inner, item=item)

    def _zipped(self, node: ast.Call) -> Way:
        inner = [self._counted(arg) for arg in node.args]
        if not inner:
            wrong(self.place(node), "zip() without arguments")
        shortest = inner[0].bounds[1]
        for way in inner[1:]:
            operands = (self.b.operand(length) for length in (shortest, way.bounds[1]))
            shortest = self.b.value("min.s64", types.int64, *operands, retires=False)
        bounds = (ZERO_I8, shortest, ONE_I8, types.int64)
        return Way(bounds, lambda position: Tuple(tuple(way.item(position) for way in inner)))

    def _length_of(self, node: ast.expr, items: Value) -> ScalarValue:
        """The number of trips over an array or tuple."""
        if isinstance(items, Flat):
            return arrays.size(self.b, items.array)
        if isinstance(items, Array) and items.ndim:
            return arrays.axis_size(items, 0)
        if not isinstance(items, Tuple):
            unsupported(self.place(node), f"a for loop over {describe(items)}", help="use for i in range(len(...))")
        kinds = {kind_of(item) for item in items.items}
        if len(kinds) != 1 or not aggregates.is_number(*kinds):
            help = "Numba takes tuples of numbers of one type; write the trips one after the other"
            unsupported(self.place(node), f"a for loop over {describe(items)}", help=help)
        return Constant(types.int64, len(items.items))

    def _item(self, items: Value, position: Scalar) -> Value:
        """The item of an array or tuple that a trip is for; that of a tuple is free of charge."""
        if isinstance(items, Flat):
            return elements.load(self.b, arrays.element_at(self.b, items.array, position))
        if isinstance(items, Array):
            return elements.load(self.b, arrays.subscript(self.b, items, position))
        assert isinstance(items, Tuple)
        return aggregates.picked(self.b, items, position)

    def kept(self, value: Value) -> Value:
        """*value*, copied if it stands in a variable that another target of the statement may change."""
        if isinstance(value, Tuple):
            return replace(value, items=tuple(self.kept(item) for item in value.items))
        if isinstance(value, Complex):
            return complex_of(value.type, map(self.kept, (value.real, value.imag)))
        if isinstance(value, Scalar):
            register = value.operand.reg if isinstance(value.operand, PredRef) else value.operand
            if isinstance(register, VReg) and register.name:
                return self.b.snapshot(value)
        return value

    def _boolean(self, value: ScalarValue) -> Scalar:
        """A condition as a run-time predicate, even if constant."""
        if isinstance(value, Scalar):
            return value
        register = VReg(PREDICATE)
        self.b.emit("plop", register, self.b.operand(value), imm=PLOP_MOVE)
        return Scalar(types.boolean, PredRef(register))

    def range_test(
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

    def _range(self, call: ast.Call) -> Bounds:
        """Start, stop and step of ``range(...)`` and the type that Numba gives its items."""
        args = [scalar(self.b, value) for value in self.evaluate_arguments(call.args)]
        self.mark(call)
        signature = nt.operator_signature(range, tuple(value.type for value in args)) if args else None
        if signature is None or call.keywords:
            given = ", ".join(describe(value) for value in args)
            wrong(self.place(call), f"range({given})", help="range takes one to three integers")
        ty = signature.return_type.dtype
        values = [self.kept(convert(self.b, value, ty)) for value in args]
        scalars = [scalar(self.b, value) for value in values]
        if len(scalars) == 1:
            scalars.insert(0, Constant(ty, 0))
        if len(scalars) == 2:
            scalars.append(Constant(ty, 1))
        start, stop, step = scalars
        if isinstance(step, Constant) and step.value == 0:
            wrong(self.place(call), "range() with step 0")
        return start, stop, step, ty
