"""From the rows of :mod:`simt.ops` to the functions that execute them: loops over 32 lanes, and their dispatch.

For each table one function is made, as a syntax tree: a chain over the numbers of its rows (LLVM makes a switch of
it), and for each row the loop that its kind needs, with the expression of its lane function inside.  The expressions
keep the places where they stand in ``simt/ops``: errors and debuggers of the plain-Python engine show the lane function
itself.  ``python -m simt.machine.interpreter TABLE`` prints what was made.

Shape of every loop: all 32 lanes are computed into the result buffer ``O``, and the engine writes ``O`` to the
destination row under the exec mask.  Lane indices are unsigned, because for signed ones Numba tests for negative
indices and LLVM then does not vectorise the loop.
"""

from __future__ import annotations

import ast
import inspect
import sys
from collections.abc import Callable, Iterable, Mapping
from functools import cache
from typing import Any

import numpy as np

from simt.machine import control, converging, layout, mbarriers, warp
from simt.machine.registers import predicate
from simt.ops import table as ops
from simt.ops.jit import jit, jit_inline, jit_part
from simt.ops.row import NUMBER_BITS, NUMBER_MASK, TABLE_MASK, Kind, MicroOp, Table
from simt.ops.scalar import FULL, lowest

LOADS = {
    "S64": "R[{row} + l]",
    "U64": "np.uint64(R[{row} + l])",
    "S32": "(R[{row} + l] << 32) >> 32",
    "U32": "R[{row} + l] & FULL",
    "F64": "F64[{row} + l]",
    "F32": "F32[TWO * ({row} + l)]",
    "PREDICATE": "(lanes_{row} >> np.int64(l)) & 1 != 0",
}
"""How an operand in row a, b or c is read, by the type that a lane function gives it."""

STORES = {
    "S64": "O[l] = VALUE",
    "U64": "O[l] = np.int64(VALUE)",
    "U32": "O[l] = VALUE & FULL",
    "F64": "O64[l] = VALUE",
    "F32": "O32[TWO * l] = VALUE",
    "F32_BITS": "O[l] = 0; O32[TWO * l] = VALUE",
    "PREDICATE": "mask |= np.uint64(VALUE) << np.uint64(l)",
}
"""How a result is kept."""

BEFORE = {"F32": "for l in range(N):\n    O[l] = 0"}
"""What goes before all rows of a table with such results: the high half of a float32 slot is zero."""
AFTER = {"F32": "for l in range(N):\n    O[l] = NAN if O32[TWO * l] != O32[TWO * l] else O[l]"}
"""What goes behind them; a loop of its own, since O and O32 are the same memory and the first could not vectorise."""

PLACES: Mapping[str, str] = {
    "R": "s.R",
    "O": "s.O",
    "F64": "s.F64",
    "O64": "s.O64",
    "F32": "s.F32",
    "O32": "s.O32",
    "CODE": "s.CODE",
    "COUNTS": "s.COUNTS",
    "P": "s.P",
    "SPLITS": "s.SPLITS",
    "WARPS": "s.WARPS",
    "PARTICIPANTS": "s.PARTICIPANTS",
    "BARRIERS": "s.BARRIERS",
    "TARGETS": "s.TARGETS",
    "TID": "s.TID",
    "LAUNCH": "s.LAUNCH",
    "ERROR": "s.ERROR",
    "w": "w",
    "pc": "pc",
    "code": "code",
    "count": "count",
    "flags": "flags",
    "rows": "rows",
    "uniform_end": "uniform_end",
    "predicates": "predicates",
    "n_barriers": "n_barriers",
    "order": "order",
    "a": "a",
    "b": "b",
    "c": "c",
    "imm": "s.CODE[code + L.C_IMM]",
    "lanes_a": "read_predicate(s.P, predicates, s.CODE[code + L.C_A])",
    "lanes_b": "read_predicate(s.P, predicates, s.CODE[code + L.C_B])",
    "lanes_c": "read_predicate(s.P, predicates, s.CODE[code + L.C_C])",
    "active": "active",
    "executing": "executing",
    "live": "L.FULL & ~(s.WARPS[w * L.N_WARP + L.W_EXITED] | s.WARPS[w * L.N_WARP + L.W_ABSENT])",
}
"""What a row may use, and where the dispatching function gets it.

Arrays of the State; the warp, the micro-op and where it stands in CODE and COUNTS; where the warp's rows and predicates
begin; positions a, b, c of operand rows; predicate operands as lane masks; masks of lanes.
"""

_MODULES = {"control": (control, converging), "mbarrier": (mbarriers,), "across": (warp,)}
"""Where the functions of tables without lane functions are."""

NAMES = {
    "np": np,
    "lowest": lowest,
    "FULL": FULL,
    "N": np.uint64(32),
    "TWO": np.uint64(2),
    "NAN": np.int64(0x7FFFFFFF),
}


class _Put(ast.NodeTransformer):
    """Replaces names by expressions."""

    def __init__(self, values: Mapping[str, ast.expr]) -> None:
        self.values = values

    def visit_Name(self, node: ast.Name) -> ast.AST:
        if node.id not in self.values:
            return node
        value: ast.expr = _copied(self.values[node.id])
        if isinstance(value, ast.Name):
            value.ctx = node.ctx
        return value


@cache
def _functions(module: str) -> dict[str, ast.FunctionDef]:
    """The functions of a file, as they stand there."""
    tree = ast.parse(inspect.getsource(sys.modules[module]))
    return {node.name: node for node in tree.body if isinstance(node, ast.FunctionDef)}


def statements(text: str, place: ast.AST, **values: ast.expr) -> list[ast.stmt]:
    """Statements of *text* that stand at *place*, with names replaced."""
    tree = ast.parse(text)
    for node in ast.walk(tree):
        if isinstance(node, (ast.stmt, ast.expr)):
            ast.copy_location(node, place)
    return [_Put(values).visit(statement) for statement in tree.body]


def _expression(text: str, place: ast.AST) -> ast.expr:
    statement = statements(text, place)[0]
    assert isinstance(statement, ast.Expr)
    return statement.value


class Lane:
    """A lane function, taken apart to be put into loops."""

    def __init__(self, function: Callable[..., Any]) -> None:
        node = _functions(function.__module__)[function.__name__]
        self.name = f"{function.__module__}.{function.__name__}"
        self.types = {name: kind for name, kind in function.__annotations__.items() if name != "return"}
        self.result: str = function.__annotations__["return"]
        docstring = isinstance(node.body[0], ast.Expr)
        *assignments, last = node.body[1:] if docstring else node.body
        if not isinstance(last, ast.Return) or not all(isinstance(one, ast.Assign) for one in assignments):
            raise AssertionError(f"{self.name}: a lane function is assignments and one return")
        assert last.value is not None
        self.assignments, self.value = assignments, last.value
        self.place = last

    def inside(self, keep: str, number: int, operands: Mapping[str, str]) -> list[ast.stmt]:
        """Its statements for one lane; *operands* are expressions, ``VALUE`` in *keep* is what it returns.

        *number* tells its own names from those of other rows: one name has one type in a function.
        """
        body = [*self.assignments, self.value]
        uses = [node for one in body for node in ast.walk(one) if isinstance(node, ast.Name)]
        before: list[ast.stmt] = []
        values: dict[str, ast.expr] = {}
        for name, text in operands.items():
            times = sum(node.id == name for node in uses)
            if times == 1 or text.isidentifier():
                values[name] = _expression(text, self.place)
            elif times > 1:
                before += statements(f"{name}_{number} = {text}", self.place)
                values[name] = _expression(f"{name}_{number}", self.place)
        for node in uses:
            if isinstance(node.ctx, ast.Store):
                values[node.id] = _expression(f"{node.id}_{number}", self.place)
        put = _Put(values)
        for one in self.assignments:
            before.append(put.visit(_copied(one)))
        return [*before, *statements(keep, self.place, VALUE=put.visit(_copied(self.value)))]


def _copied(node: Any) -> Any:
    """A copy of a tree, places included."""
    if isinstance(node, list):
        return [_copied(one) for one in node]
    if not isinstance(node, ast.AST):
        return node
    copy = type(node)(**{name: _copied(value) for name, value in ast.iter_fields(node)})
    return ast.copy_location(copy, node)


def _loop(text: str, place: ast.AST, body: list[ast.stmt]) -> list[ast.stmt]:
    """The statements of *text*, its innermost ``...`` replaced by *body*."""
    found = statements(text, place)
    for node in (node for statement in found for node in ast.walk(statement)):
        if isinstance(node, (ast.For, ast.If)) and _is_gap(node.body):
            node.body = body
    return found


def _is_gap(body: list[ast.stmt]) -> bool:
    return len(body) == 1 and isinstance(body[0], ast.Expr) and isinstance(body[0].value, ast.Constant)


EVERY_LANE = "for l in range(N):\n    ..."


def _in_lanes(function: Callable[..., Any], number: int, keep: str = "") -> list[ast.stmt]:
    """One lane after the other, each from its own operands."""
    lane = Lane(function)
    operands = {name: LOADS[kind].format(row=name) for name, kind in lane.types.items() if kind in LOADS}
    return _loop(EVERY_LANE, lane.place, lane.inside(keep or STORES[lane.result], number, operands))


def _computed(row: MicroOp) -> list[ast.stmt]:
    """The loops of a row that computes each lane from the operands of that lane."""
    assert row.lane is not None
    slow = _in_lanes(row.lane, row.number)
    if row.all_lanes is None:
        return slow
    condition, fast = row.all_lanes
    place = slow[0]
    test = _in_lanes(condition, row.number, "alike &= VALUE")
    choice = ast.copy_location(ast.If(_expression("alike", place), _in_lanes(fast, row.number), slow), place)
    return [*statements("alike = True", place), *test, choice]


def _masks(row: MicroOp) -> list[ast.stmt]:
    """A row that computes with masks: a predicate, or one value for all lanes of a register row."""
    assert row.lane is not None
    lane = Lane(row.lane)
    operands = {name: f"lanes_{name}" for name in lane.types if name in "abc"}
    if lane.result == "MASK":
        return lane.inside("mask = np.uint64(VALUE)", row.number, operands)
    return lane.inside("value = VALUE\nfor l in range(N):\n    O[l] = value", row.number, operands)


def _shuffle(row: MicroOp) -> list[ast.stmt]:
    """The four shuffles as PTX defines them; the mask is that of lanes whose source lane is in range."""
    assert row.lane is not None
    lane = Lane(row.lane)
    before = """
lane = np.int64(l)
clamp = R[c + l] & 31
segment = (R[c + l] >> 8) & 31
bound = (lane & segment) | (clamp & ~segment)
"""
    keep = """
source, valid = VALUE
O[l] = source if valid else lane
mask |= np.uint64(valid) << l
"""
    body = lane.inside(keep, row.number, {"b": "R[b + l] & 31"})
    where = _loop(EVERY_LANE, lane.place, [*statements(before, lane.place), *body])
    # A loop of its own: LLVM does not know that O is not R, and makes vectors of the first one only.
    return [*where, *statements("for l in range(N):\n    O[l] = R[a + np.uint64(O[l])]", lane.place)]


def _reduction(row: MicroOp) -> list[ast.stmt]:
    """One value from those of the exec lanes (there are some), to all lanes."""
    assert row.lane is not None
    lane = Lane(row.lane)
    kind = lane.types["x"]
    begin = f"start = np.uint64(lowest(executing))\nx = {LOADS[kind].format(row='a').replace('+ l', '+ start')}"
    each = "for l in range(start + N // N, N):\n    if (executing >> np.int64(l)) & 1:\n        ..."
    end = f"for l in range(N):\n    {STORES[lane.result].replace('VALUE', 'x')}"
    body = lane.inside("x = VALUE", row.number, {"y": LOADS[kind].format(row="a")})
    place = lane.place
    return [*statements(begin, place), *_loop(each, place, body), *statements(end, place)]


SHAPES: Mapping[str, Callable[[MicroOp], list[ast.stmt]]] = {
    "predicate": _masks,
    "vote": _masks,
    "masks": _masks,
    "shuffle": _shuffle,
    "reduction": _reduction,
}
"""The loops of tables whose rows do not compute each lane from the operands of that lane."""


def _call(function: Any, name: str) -> str:
    """A call with what its parameters are named after."""
    parameters = inspect.signature(getattr(function, "py_func", function)).parameters
    return f"{name}({', '.join(PLACES.get(one, one) for one in parameters)})"


def _chain(rows: Iterable[tuple[str, list[ast.stmt]]]) -> list[ast.stmt]:
    """``if`` the one, ``elif`` the other, ..."""
    chain: list[ast.stmt] = []
    for test, body in reversed(list(rows)):
        chain = [ast.copy_location(ast.If(_expression(test, body[0]), body, chain), body[0])]
    return chain


def tree(table: Table) -> ast.Module:
    """The function that executes the rows of a table.  It returns the mask of lanes that they find, -1 if none does."""
    shape = SHAPES.get(table.name, _computed)
    bodies = [shape(row) for row in table.rows]
    results = {row.lane.__annotations__["return"] for row in table.rows if row.lane}
    if len(results) > 1 and results & BEFORE.keys():
        raise AssertionError(f"table {table.name}: rows with results {sorted(results & BEFORE.keys())} stand apart")
    for letters in zip(*(row.operands[1:] for row in table.rows), strict=True):
        if "p" in letters and "r" in letters:  # operands are read before the rows are told apart
            raise AssertionError(f"table {table.name}: rows with and without predicate operands stand apart")
    chain = _chain((f"number == {row.number}", body) for row, body in zip(table.rows, bodies, strict=True))
    place = chain[0]
    masks = any(node.id == "mask" for one in chain for node in ast.walk(one) if isinstance(node, ast.Name))
    body = [
        *statements("mask = np.uint64(0)" if masks else "pass", place),
        *(one for kind in results if kind in BEFORE for one in statements(BEFORE[kind], place)),
        *chain,
        *(one for kind in results if kind in AFTER for one in statements(AFTER[kind], place)),
        *statements("return np.int64(mask)" if masks else "return np.int64(-1)", place),
    ]
    return function_tree(table.name, ["number", *_used(body)], body)


def _used(body: list[ast.stmt]) -> list[str]:
    """Which of PLACES these statements use."""
    names = {node.id for one in body for node in ast.walk(one) if isinstance(node, ast.Name)}
    return [name for name in PLACES if name in names]


def function_tree(name: str, parameters: list[str], body: list[ast.stmt]) -> ast.Module:
    module = ast.parse(f"def {name}({', '.join(parameters)}):\n    pass")
    definition = module.body[0]
    assert isinstance(definition, ast.FunctionDef)
    definition.body = body
    return ast.fix_missing_locations(module)


def made_function(module: ast.Module, names: Mapping[str, Any], file: str) -> Callable[..., Any]:
    """The function of a tree, as if it stood in *file*."""
    namespace = {**names, "__name__": "simt.machine.interpreter"}
    exec(compile(module, file, "exec"), namespace)
    definition = module.body[0]
    assert isinstance(definition, ast.FunctionDef)
    made: Callable[..., Any] = namespace[definition.name]
    return made


_NOWHERE = ast.Constant(None, lineno=1, col_offset=0, end_lineno=1, end_col_offset=0)


def function_of(table: Table, row: MicroOp) -> Any:
    """The function that executes a micro-op of a table without lane functions."""
    modules = _MODULES[table.name]
    return next(getattr(module, row.function) for module in modules if hasattr(module, row.function))


def _table_call(table: Table, names: dict[str, Any]) -> list[ast.stmt]:
    """Statements that execute a micro-op of a table; *names* receives the functions that they call."""
    if table.rows[0].lane is not None:
        module = sys.modules[table.rows[0].lane.__module__]
        made = made_function(tree(table), {**vars(module), **NAMES}, str(module.__file__))
        names[table.name] = jit_inline(made) if table.inline else jit(made)
        return statements(f"return {_call(names[table.name], table.name)}", _NOWHERE)
    for row in table.rows:
        names[row.function] = function_of(table, row)
    calls = ((row, _call(names[row.function], row.function)) for row in table.rows)
    return _chain((f"number == {row.number}", statements(f"return {call}", _NOWHERE)) for row, call in calls)


def _dispatch(name: str, kind: Kind, parameters: str) -> Any:
    """The function that executes the micro-ops of all tables of a kind, by their code."""
    names: dict[str, Any] = {**NAMES, "L": layout, "read_predicate": predicate}
    tables = [table for table in ops.TABLES if table.kind is kind]
    calls = [(f"table == {table.number}", _table_call(table, names)) for table in tables]
    begin = f"table = (op >> {NUMBER_BITS}) & {TABLE_MASK}\nnumber = op & {NUMBER_MASK}"
    body = [*statements(begin, _NOWHERE), *_chain(calls), *statements("return np.int64(-1)", _NOWHERE)]
    return jit_part(made_function(function_tree(name, parameters.split(), body), names, __file__))


rows = _dispatch("rows", Kind.ROW, "op s w code predicates a b c active executing")
"""Compute a micro-op of kind ROW into ``s.O``; returns the mask for its second destination, -1 if it has none."""

masks = _dispatch("masks", Kind.MASK, "op s w code predicates a b executing")
"""Compute a micro-op of kind MASK: the mask of lanes where the predicate that it writes is true."""

go_on = _dispatch(
    "go_on",
    Kind.CONTROL,
    "op s w pc code count flags rows uniform_end predicates n_barriers active executing order",
)
"""Execute a micro-op of kind CONTROL: where the warp goes on (see :mod:`simt.machine.control`)."""


if __name__ == "__main__":
    for one in ops.TABLES:
        if one.name in sys.argv[1:] and one.kind in (Kind.ROW, Kind.MASK):
            print(ast.unparse(tree(one)))
