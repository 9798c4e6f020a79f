"""How Numba compiles the engine: functions are translated one by one and optimised together, once.

By itself Numba makes of every function a library of its own, optimised and turned into machine code, with two wrappers
for Python, and links copies of it into each library that calls it, where all of that is done again.  Of our functions
Python calls a handful.  So a *part* is translated into LLVM's form only, without wrappers; an *entry* takes in all
parts that it reaches, as functions of its own, which LLVM then optimises once and may inline, reshape or leave out.

Half of the time is Numba's own, in Python.  Five things spare it: what an operator gives for operands of some types is
looked up once (:func:`_remembered`), a function is translated once, whatever constants it is given
(:func:`_of_any_value`), passes for code that the engine does not have are left out, so is the search for where each
variable is last used (:func:`_nothing_to_free`), and Python's cyclic garbage collector rests
(:func:`simt.ops.jit.compilation`).  LLVM makes vectors of the loops over lanes, but does not unroll them: that made no
kernel faster, and took a fifth of its time.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import llvmlite.binding as llvm
from numba import _dynfunc
from numba.core import cgutils, config, types
from numba.core.codegen import JITCodeLibrary
from numba.core.compiler import CompilerBase, DefaultPassBuilder
from numba.core.compiler_machinery import LoweringPass, PassManager, register_pass
from numba.core.postproc import PostProcessor
from numba.core.transforms import canonicalize_cfg
from numba.core.typed_passes import AnnotateTypes, InlineOverloads, IRLegalization, NativeLowering, NopythonRewrites
from numba.core.types.functions import BaseFunction
from numba.core.types.misc import unliteral
from numba.core.untyped_passes import (
    FindLiterallyCalls,
    InlineClosureLikes,
    LiteralPropagationSubPipelinePass,
    LiteralUnroll,
    MakeFunctionToJitFunction,
    RewriteDynamicRaises,
    WithLifting,
)
from numba.extending import intrinsic
from numba.np import arrayobj

from simt.disk_cache import digest


def _passes(library: Any, level: int, vectors: bool = True) -> Any:
    """LLVM's passes of an optimisation level, without unrolling; *vectors*: of loops it makes some."""
    options = llvm.create_pipeline_tuning_options(speed_level=min(level, int(config.OPT)))
    options.loop_vectorization = vectors and bool(config.LOOP_VECTORIZE)
    options.slp_vectorization = False
    options.loop_unrolling = options.loop_interleaving = False
    return llvm.create_pass_builder(library._codegen._tm, options)


APART: set[Any] = set()
"""Functions that LLVM is not to inline."""
RARE: set[Any] = set()
"""Functions that seldom run: not inlined either, and what calls them is put behind all other code."""
SCALAR: set[Any] = set()
"""Functions without loops that are worth a vector: nor has any that an entry takes in with them."""
SHARED: dict[Any, Any] = {}
"""Functions that machine code of other entries calls, and the type of what they return."""


def _symbol(function: Any, kinds: Any) -> str:
    """The name of a shared function in machine code, for arguments of these types: the same in every process."""
    return f"{function.__module__}.{function.__name__}.{digest(repr(kinds))[:16]}"


def by_name(function: Any) -> Any:
    """What calls a shared function, with a tuple of its arguments, from code of another entry.

    The entry that has it must be loaded by then.
    """

    @intrinsic
    def call(typingctx: Any, arguments: Any) -> Any:
        kinds, result = tuple(arguments), SHARED[function]

        def codegen(context: Any, builder: Any, sig: Any, args: Any) -> Any:
            kind = context.call_conv.get_function_type(result, kinds)
            callee = cgutils.get_or_insert_function(builder.module, kind, _symbol(function, kinds))
            given = cgutils.unpack_tuple(builder, args[0])
            return context.call_conv.call_function(builder, callee, result, kinds, given)[1]

        return result(arguments), codegen

    return call


class Part(JITCodeLibrary):
    """A function in LLVM's form, for entries to take in; it never becomes machine code by itself."""

    symbol = ""
    """The name by which others find it, if it is shared."""
    apart = False
    """Whether it stays a function of its own."""
    rare = False
    """Whether that is one that seldom runs."""
    scalar = False
    """Whether none of its loops is worth a vector."""

    def _optimize_functions(self, module: Any) -> None:
        """Make the function small enough to be copied; an entry's passes do the rest."""
        module.data_layout = self._codegen._data_layout
        for function in module.functions:
            if not function.is_declaration:
                passes = _passes(self, 1)
                passes.getFunctionPassManager().run(function, passes)

    def finalize(self) -> None:
        """Nothing more is added; nothing is linked or optimised."""
        self._raise_if_finalized()
        self._finalized = True


class Entry(JITCodeLibrary):
    """A function that Python calls, with all parts that it reaches."""

    def finalize(self) -> None:
        """Take in the parts, then optimise and make machine code of everything."""
        self._own = {function.name for function in self.get_defined_functions()}
        self._linking_libraries = list(_reached(self))
        shared = [one for one in self._linking_libraries if isinstance(one, Part) and one.symbol]
        self._symbols = {function.name: one.symbol for one in shared for function in one.get_defined_functions()}
        self._apart, self._rare = self._names("apart"), self._names("rare")
        super().finalize()

    def _names(self, which: str) -> set[str]:
        """Names of the functions of those parts."""
        parts = [one for one in self._linking_libraries if getattr(one, which, False)]
        return {function.name for one in parts for function in one.get_defined_functions()}

    def _optimize_final_module(self) -> None:
        for function in self._final_module.functions:
            if function.name in self._apart | self._rare:
                function.add_function_attribute("noinline")
            if function.name in self._rare:
                function.add_function_attribute("cold")
            if function.name in self._symbols:
                function.name, function.linkage = self._symbols[function.name], llvm.Linkage.external
            elif not function.is_declaration and function.name not in self._own:
                function.linkage = llvm.Linkage.internal
        passes = _passes(self, 3, vectors=not self._names("scalar"))
        passes.getModulePassManager().run(self._final_module, passes)


def _reached(library: Any) -> Iterator[Any]:
    """The libraries that *library* links, and those that parts among them do, each once."""
    seen: dict[int, Any] = {}
    waiting = list(library._linking_libraries)
    while waiting:
        one = waiting.pop(0)
        if id(one) not in seen:
            seen[id(one)] = one
            waiting += one._linking_libraries if isinstance(one, Part) else ()
    return iter(seen.values())


@register_pass(mutates_CFG=False, analysis_only=False)
class _BeginPart(LoweringPass):
    """Before lowering: into a :class:`Part`, not to be compiled."""

    _name = "simt_begin_part"

    def __init__(self) -> None:
        LoweringPass.__init__(self)

    def run_pass(self, state: Any) -> bool:
        state.library = Part(state.targetctx.codegen(), state.func_id.func_qualname)
        state.library.apart = state.func_id.func in APART
        state.library.rare = state.func_id.func in RARE
        state.library.scalar = state.func_id.func in SCALAR
        if state.func_id.func in SHARED:
            state.library.symbol = _symbol(state.func_id.func, state.args)
        state.flags.no_compile = True
        return False


@register_pass(mutates_CFG=False, analysis_only=False)
class _EndPart(LoweringPass):
    """After it: callers find the part by an object that stands for it, as they do with compiled functions."""

    _name = "simt_end_part"

    def __init__(self) -> None:
        LoweringPass.__init__(self)

    def run_pass(self, state: Any) -> bool:
        lowered = state.cr
        described = lowered.fndesc
        stands_for = _dynfunc.make_function(
            described.lookup_module(), described.qualname, "a part", 0, lowered.env, (state.library,)
        )
        state.targetctx.insert_user_function(stands_for, described, [state.library])
        state.cr = lowered._replace(cfunc=stands_for)
        return False


@register_pass(mutates_CFG=False, analysis_only=False)
class _BeginEntry(LoweringPass):
    """Before lowering: into an :class:`Entry`."""

    _name = "simt_begin_entry"

    def __init__(self) -> None:
        LoweringPass.__init__(self)

    def run_pass(self, state: Any) -> bool:
        state.library = Entry(state.targetctx.codegen(), state.func_id.func_qualname)
        state.library.enable_object_caching()
        return False


_signatures: dict[tuple[Any, Any], Any] = {}
_call_type = types.Dispatcher.get_call_type


def _remembered(function: Any, context: Any, args: Any, keywords: Any) -> Any:
    """The signature of a call of one of Numba's own functions, operators above all, looked up once for some types.

    By itself Numba tries every overload that the function has, dozens for ``+``, at each place where it is called, when
    it infers types and when it translates.
    """
    key = function, args
    found = None if keywords else _signatures.get(key)
    if found is None:
        found = BaseFunction.get_call_type(function, context, args, keywords)
        if not keywords:
            _signatures[key] = found
    return found


def _of_any_value(self: Any, context: Any, args: Any, keywords: Any) -> Any:
    """The signature of a call of one of our functions, which is translated once for all values of its arguments.

    By itself Numba makes another copy, and others of what that calls in turn, for each constant that is passed.
    """
    if self.dispatcher._compiler.pipeline_class is PartCompiler:
        args = tuple(map(unliteral, args))
    return _call_type(self, context, args, keywords)


def _as_it_is(context: Any, builder: Any, kind: Any, index: Any, size: Any) -> Any:
    """An index of an array: the engine counts none from the end, for which Numba would look at the sign of each.

    This is for Numba's own arrays: tables of constants, and with ``NUMBA_BOUNDSCHECK=1`` all.
    """
    return context.cast(builder, index, kind, types.intp)


def _nothing_to_free(self: Any, emit_dels: bool = False, extend_lifetimes: bool = False) -> None:
    """Give each loop one way back, and no more: the engine refers to nothing that is freed where it is last used."""
    self.func_ir.blocks = canonicalize_cfg(self.func_ir.blocks)


@contextmanager
def _as_the_engine_needs() -> Iterator[None]:
    """Other ways of Numba's while the engine is compiled: under Numba's lock, so that nobody else is.

    Its own functions have a memory, indices are not counted from the end, and variables are not freed.
    """
    if "get_call_type" in vars(types.Function):  # a function that the one being compiled calls
        yield
        return
    types.Function.get_call_type = _remembered  # type: ignore[method-assign, assignment]  # its base class has its own
    types.Dispatcher.get_call_type = _of_any_value  # type: ignore[method-assign, assignment]
    wrapping, arrayobj.fix_integer_index = arrayobj.fix_integer_index, _as_it_is
    lifetimes, PostProcessor.run = PostProcessor.run, _nothing_to_free
    try:
        yield
    finally:
        arrayobj.fix_integer_index, PostProcessor.run = wrapping, lifetimes
        del types.Function.get_call_type
        types.Dispatcher.get_call_type = _call_type  # type: ignore[method-assign]


_NEEDLESS = {
    *(FindLiterallyCalls, InlineClosureLikes, InlineOverloads, IRLegalization, LiteralPropagationSubPipelinePass),
    *(LiteralUnroll, MakeFunctionToJitFunction, NopythonRewrites, RewriteDynamicRaises, WithLifting),
}
"""Passes for closures, comprehensions, expressions of whole arrays, ``with``, exceptions and literal arguments; and the
one that says where variables are freed."""


class _Compiler(CompilerBase):
    """Numba's compiler without what the engine has no need of."""

    def _compile_core(self) -> Any:
        with _as_the_engine_needs():
            return super()._compile_core()

    def passes(self) -> PassManager:
        """The passes over a function."""
        found = DefaultPassBuilder.define_nopython_pipeline(self.state)
        found.passes = [each for each in found.passes if each[0] not in _NEEDLESS]
        return found


class PartCompiler(_Compiler):
    """Numba's compiler for parts."""

    def define_pipelines(self) -> list[Any]:
        passes = self.passes()
        passes.add_pass_after(_BeginPart, AnnotateTypes)
        passes.add_pass_after(_EndPart, NativeLowering)
        passes.finalize()
        return [passes]


class EntryCompiler(_Compiler):
    """Numba's compiler for entries."""

    def define_pipelines(self) -> list[Any]:
        passes = self.passes()
        passes.add_pass_after(_BeginEntry, AnnotateTypes)
        passes.finalize()
        return [passes]
