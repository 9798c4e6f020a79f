"""What a micro-op computes for one lane, as LLVM's code of one function, from the one declaration in :mod:`simt.ops`.

Numba compiles the lane function once for 64-bit slots: ``i64 @lane(i64 a, i64 b, i64 c)``; operands are read and
results kept as :mod:`simt.machine.interpreter` says (LOADS, STORES).  LLVM then makes it small for one ``imm``.
Predicates are 0 or 1, masks all lanes' bits.  The texts are kept on disk, beside the engine's code, for its sources.
"""

from __future__ import annotations

import ast
import inspect
import sys
from collections.abc import Callable
from functools import cache
from typing import Any

import llvmlite.binding as llvm
import numba
import numpy as np
from llvmlite import ir
from numba.core import types
from numba.extending import intrinsic

from simt.disk_cache import DiskCache, digest
from simt.machine.compiled import control, parts
from simt.machine.compiled.accesses import WHOLE
from simt.machine.compiled.control import CALLS, calling
from simt.machine.compiled.parts import PARTS
from simt.machine.interpreter import AFTER, LOADS, NAMES, STORES, Lane, function_tree, made_function, statements
from simt.ops.jit import FOLDER
from simt.ops.parts import PartCompiler, _reached
from simt.ops.row import Effect, Kind, MicroOp
from simt.ops.scalar import any_nan, unless_nan
from simt.ops.table import TABLES

LANE = "lane"
"""The name of the function in a text."""

_BITS, _SINGLE, _DOUBLE = ir.IntType(64), ir.FloatType(), ir.DoubleType()


def _reinterpretation(name: str, result: Any, codegen: Callable[[Any, Any], Any]) -> Any:
    def implementation(typingctx: Any, value: Any) -> Any:
        return result(value), lambda context, builder, signature, args: codegen(builder, args[0])

    implementation.__name__ = name
    return intrinsic(implementation)


_NAMES = {
    **NAMES,
    "as_F64": _reinterpretation("as_F64", types.float64, lambda b, x: b.bitcast(x, _DOUBLE)),
    "as_F32": _reinterpretation("as_F32", types.float32, lambda b, x: b.bitcast(b.trunc(x, ir.IntType(32)), _SINGLE)),
    "of_O64": _reinterpretation("of_O64", types.int64, lambda b, x: b.bitcast(x, _BITS)),
    "of_O32": _reinterpretation("of_O32", types.int64, lambda b, x: b.zext(b.bitcast(x, ir.IntType(32)), _BITS)),
    "int64": np.int64,
    "float64": np.float64,
    "float32": np.float32,
}
_READ = {"R": "int64({})", "F64": "as_F64({})", "F32": "as_F32({})", "O": "{}", "O32": "as_F32({})"}
_KEPT = {"O": "int64({})", "O64": "of_O64(float64({}))", "O32": "of_O32(float32({}))"}
"""How elements of the engine's arrays become 64-bit slots of one lane."""


class _OneLane(ast.NodeTransformer):
    """Of statements on the engine's arrays: what they do in one lane, whose slots are a, b, c and, as a result, o."""

    def visit_Subscript(self, node: ast.Subscript) -> ast.AST:
        array = _array(node)
        if array not in _READ:
            return self.generic_visit(node)
        names = {one.id for one in ast.walk(node.slice) if isinstance(one, ast.Name)}
        slot = "o" if array.startswith("O") else (names & {"a", "b", "c"}).pop()
        return ast.parse(_READ[array].format(slot), mode="eval").body

    def visit_Assign(self, node: ast.Assign) -> ast.AST:
        node.value = self.visit(node.value)
        target = node.targets[0]
        if isinstance(target, ast.Subscript):
            return statements(f"o = {_KEPT[_array(target)].format('VALUE')}", node, VALUE=node.value)[0]
        return node

    def visit_Name(self, node: ast.Name) -> ast.AST:
        if node.id == "l":
            return ast.parse("np.uint64(0)", mode="eval").body
        if node.id.startswith("lanes_"):
            return ast.Name(node.id[-1], node.ctx)
        return node


def _array(node: ast.Subscript) -> str:
    return node.value.id if isinstance(node.value, ast.Name) else ""


def _one_lane(function: Callable[..., Any], **instead: Any) -> Callable[..., Any]:
    """A function of 64-bit slots a, b, c and imm that does what a lane function does; *instead*: of what it calls."""
    lane = Lane(function)
    masks = lane.result == "MASK"
    operands = {
        name: name if masks else LOADS[kind].format(row=name) for name, kind in lane.types.items() if name in _ABC
    }
    keep = "mask = np.uint64(VALUE)" if masks else STORES[lane.result]
    body = [*statements("mask = np.uint64(0)", lane.place), *lane.inside(keep, 0, operands)]
    for loop in statements(AFTER[lane.result], lane.place) if lane.result in AFTER else ():
        assert isinstance(loop, ast.For)
        body += loop.body
    done = [_OneLane().visit(statement) for statement in body]
    given = "mask" if lane.result in ("MASK", "PREDICATE") else "o"
    end = statements(f"return int64({given})", lane.place)
    module = inspect.getmodule(function)
    assert module is not None
    tree = function_tree(LANE, ["a", "b", "c", "d", "imm"], [*done, *end])
    return made_function(tree, {**vars(module), **_NAMES, **instead}, str(module.__file__))


_ABC = ("a", "b", "c")


_TEST, _FAST, _NUMBERS = "test", "fast", "numbers"


def _function(name: str) -> Callable[..., Any]:
    """The Python function of one lane that a name stands for (:func:`lane_name`)."""
    if name in PARTS:
        return PARTS[name]
    if name in CALLS:
        return calling(name)
    operation, _, variant = name.partition("!")
    row = _rows()[operation]
    assert row.lane is not None
    if not variant:
        return _one_lane(row.lane)
    if variant == _NUMBERS:
        return _one_lane(row.lane, **{unless_nan.__name__: any_nan})
    assert row.all_lanes is not None
    return _one_lane(row.all_lanes[variant == _FAST])


@cache
def _rows() -> dict[str, MicroOp]:
    return {row.name: row for table in TABLES for row in table.rows}


def variants(row: MicroOp) -> tuple[str, str] | None:
    """Names of the condition under which a micro-op has a faster lane function, and of that one."""
    return None if row.all_lanes is None else (f"{row.name}!{_TEST}", f"{row.name}!{_FAST}")


def of_numbers(row: MicroOp) -> str | None:
    """The name of a micro-op's lane function without its rules about NaNs, if it has such.

    Where an operand is a NaN the result is one, too, but not always the right one.
    """
    has_rules = row.lane is not None and unless_nan.__name__ in row.lane.__code__.co_names
    return f"{row.name}!{_NUMBERS}" if has_rules else None


_LEFT = ("floordiv.f64", "floormod.f64")
"""Left to the interpreter: the sign of an invalid operation's NaN is the processor's, or LLVM's, where it folds."""


@cache
def is_lane_wise(row: MicroOp) -> bool:
    """Whether a micro-op computes each lane from the operands of that lane alone, and by itself."""
    if (
        row.name in _LEFT
        or row.lane is None
        or Effect.CROSSES_LANES in row.effects
        or row.kind not in (Kind.ROW, Kind.MASK)
    ):
        return False
    return not any(table.by_library and row in table.rows for table in TABLES)


_SIGNATURE = (types.int64,) * 5
_WRAPPER = """
declare i32 @"{name}"(ptr, ptr, i64, i64, i64, i64, i64)
define i64 @lane(i64 %a, i64 %b, i64 %c, i64 %d) {{
  %result = alloca i64
  %unused = alloca ptr
  %status = call i32 @"{name}"(ptr %result, ptr %unused, i64 %a, i64 {b}, i64 %c, i64 %d, i64 {imm})
  %value = load i64, ptr %result
  ret i64 %value
}}
"""
_STORE = DiskCache("compiled functions", FOLDER)


def _by_numba(name: str) -> str:
    """The function of one lane as Numba wrote it: its name, and behind that the module with all that it calls."""
    options = {"nogil": True, "error_model": "numpy", "_nrt": False, "no_cpython_wrapper": True}
    dispatcher = numba.njit(_function(name), pipeline_class=PartCompiler, no_cfunc_wrapper=True, **options)
    dispatcher.compile(_SIGNATURE)
    compiled = dispatcher.overloads[_SIGNATURE]
    module = llvm.parse_assembly(str(compiled.library._final_module))
    for library in _reached(compiled.library):
        module.link_in(library._get_module_for_linking(), preserve=True)
    return f"{compiled.fndesc.llvm_func_name}\n{module}"


@cache
def _kept_by_numba(name: str) -> str:
    """The same, from the cache: a function may be asked for once more, for another imm."""
    return _STORE.get_or_make(f"numba.{digest(_source(), name)}.ll", lambda: _by_numba(name).encode()).decode()


def _specialised(name: str, imm: int, b: int | None) -> str:
    """The module of ``lane``, made small for one imm, and for one *b*.

    A lane function becomes one without calls, where that can be; functions of control stay as they are, and short.
    """
    called, _, text = _kept_by_numba(name).partition("\n")
    module = llvm.parse_assembly(text)
    module.link_in(llvm.parse_assembly(_WRAPPER.format(name=called, imm=imm, b="%b" if b is None else b)))
    is_short = name in CALLS and name != WHOLE
    for function in module.functions:
        if not function.is_declaration and function.name != LANE:
            function.linkage = llvm.Linkage.internal
            if not is_short:
                function.add_function_attribute("alwaysinline")
    machine = llvm.Target.from_default_triple().create_target_machine(opt=2)
    options = llvm.create_pipeline_tuning_options(speed_level=1 if is_short else 3)
    options.loop_vectorization = options.slp_vectorization = False
    options.loop_unrolling = name not in CALLS
    builder = llvm.create_pass_builder(machine, options)
    builder.getModulePassManager().run(module, builder)
    return str(module)


@cache
def lane_module(name: str, imm: int = 0, b: int | None = None) -> str:
    """LLVM's text of a module whose function ``lane`` computes micro-op *name*, or a variant or part of one.

    For one *imm*; with *b*, for this second operand only.
    """
    entry = f"lane.{digest(_source(), name, str(imm), str(b))}.ll"
    return _STORE.get_or_make(entry, lambda: _specialised(name, imm, b).encode()).decode()


@cache
def _source() -> str:
    return "".join(inspect.getsource(module) for module in (sys.modules[__name__], control, parts))
