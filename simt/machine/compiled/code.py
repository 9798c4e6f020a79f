"""Native code of a Program: made, kept on disk, loaded, and put into the state that the engine works with."""

from __future__ import annotations

import importlib.resources
from collections.abc import Callable
from dataclasses import dataclass
from functools import cache, cached_property, partial
from typing import Any

import llvmlite
import llvmlite.binding as llvm
import numpy as np
import numpy.typing as npt
from numba.core import config

from simt.disk_cache import DiskCache, cache_root, digest
from simt.machine import layout as L
from simt.machine.compiled.accesses import ACCESSES, WHOLE
from simt.machine.compiled.context import FIRST_TIMES, HELPERS, TIMES, Helper
from simt.machine.compiled.control import ACROSS, V_ERROR, V_LANES, V_REQUEST, V_RESULT, V_SHAPES, V_STATE
from simt.machine.compiled.emit import Emitter
from simt.machine.compiled.entry import KERNEL
from simt.machine.compiled.lanes import LANE, lane_module
from simt.machine.compiled.memory import Access
from simt.machine.compiled.plan import Plan, Runs, Stretches
from simt.machine.compiled.stretches import StretchEmitter, name_of
from simt.machine.compiled.text import Text
from simt.machine.compiled.widen import NotWide
from simt.ops.arrays import record_of, record_words
from simt.ops.jit import FOLDER
from simt.program import Program

MOST_KEPT = 1024
"""Programs whose native code is kept on disk."""

MOST_MICRO_OPS = 10_000
"""Micro-ops of a Program that is compiled at most."""

_LANE_LOOPS = ACROSS | {"units", "wavefronts", WHOLE}
"""Functions whose time goes into loops over lanes; in others vectors would wait for columns of splits just written."""

ADDRESSES = {
    L.V_MICRO_OPS: "CODE",
    V_ERROR: "ERROR",
    V_RESULT: "O",
    L.V_UNIFORM: "R",
    L.V_ALL_PREDICATES: "P",
    L.V_PARTICIPANTS: "PARTICIPANTS",
    L.V_WARPS: "WARPS",
    L.V_SPLITS: "SPLITS",
    L.V_BARRIERS: "BARRIERS",
    L.V_LAUNCH: "LAUNCH",
    L.V_STOP: "STOP",
    L.V_COUNTS: "COUNTS",
    L.V_TID: "TID",
    L.V_DIMS: "DIMS",
    L.V_STARTS: "STARTS",
    L.V_ENDS: "ENDS",
    L.V_WRITABLE: "WRITABLE",
    L.V_HINTS: "HINTS",
    L.V_REACHED: "REACHED",
    L.V_MEMORY: "M8",
    V_REQUEST: "X",
    V_LANES: "ADDRESSES",
    V_SHAPES: "SHAPES",
}
"""The columns of the context with the addresses of arrays."""

STORE = DiskCache("native code", cache_root() / "native", MOST_KEPT)


class NotCompiled(Exception):
    """There can be no native code of a Program; the text says why."""


@dataclass(frozen=True)
class Native:
    """Native code of a Program, ready to run: NativeProgram or NativeRuns."""

    plan: Plan
    loaded: _Loaded

    @property
    def entry(self) -> int:
        """Where the function stands that the engine enters by itself; 0: there is none."""
        return 0

    def _mark(self, code: npt.NDArray[np.int64]) -> None:
        """Mark the micro-ops at which the engine enters that function."""

    def equip(self, state: L.State) -> L.State:
        """The state of a worker with native code."""
        state = self.entered(state, 1)
        self.tell(state)
        return state

    def entered(self, state: L.State, blocks: int) -> L.State:
        """The state of a worker that enters native code, with room in NATIVE for so many blocks at a time."""
        code: npt.NDArray[np.int64] = state.CODE.copy().reshape(-1, L.N_CODE)
        self._mark(code)
        native = L.own_lines(blocks * (self._end + record_words(state)))
        shapes = L.own_lines(self.plan.shapes_end)
        return state._replace(CODE=code.reshape(-1), NATIVE=native, ZEROED=self.plan.zeroed, SHAPES=shapes)

    @property
    def _end(self) -> int:
        """Where in NATIVE the counters of the blocks end, and the description of the state begins."""
        return FIRST_TIMES + TIMES * len(self.plan.blocks)

    def tell(self, state: L.State) -> None:
        """Tell native code, in NATIVE, where the arrays of a block are."""
        end, native = self._end, state.NATIVE
        known: dict[int, tuple[int, ...]] = {}
        record = record_of(state, known)
        places = {name: known[id(array)][0] for name, array in zip(state._fields, state, strict=True)}
        native[L.V_CODE] = self.entry
        for column, name in ADDRESSES.items():
            native[column] = places[name]
        native[L.V_REACHED] *= len(state.REACHED) > 0
        for helper in self.plan.helpers:
            native[HELPERS[helper]] = _helper(*helper).address(LANE)
        native[V_STATE] = places["NATIVE"] + 8 * end
        native[end:] = record

    def count(self, state: L.State, blocks: int = 1) -> None:
        """Add what native code counted, in so many blocks at a time, to the counters of the micro-ops."""
        counts = state.COUNTS.reshape(-1, L.N_COUNT)
        times = state.NATIVE.reshape(blocks, -1)[:, FIRST_TIMES : FIRST_TIMES + TIMES * len(self.plan.blocks)]
        total = times.sum(axis=0).reshape(-1, TIMES)
        for column, pcs, which, k in self.plan.tallies:
            np.add.at(counts[:, column], pcs, total[which, k])
        times[:] = 0


@dataclass(frozen=True)
class NativeProgram(Native):
    """All of a Program, as one function."""

    @property
    def entry(self) -> int:
        return self.loaded.address(KERNEL)

    def _mark(self, code: npt.NDArray[np.int64]) -> None:
        for block in self.plan.blocks:
            code[block[0].pc, L.C_OP] |= L.ENTERS << L.FLAGS_SHIFT


@dataclass(frozen=True)
class NativeRuns(Native):
    """Some runs of its micro-ops, a function each, which who looks at a warp in between calls."""

    plan: Stretches

    @cached_property
    def runs(self) -> tuple[npt.NDArray[np.int64], npt.NDArray[np.int64]]:
        """The first micro-op of each run, and where the function stands that executes it."""
        places = [self.loaded.address(name_of(first)) for first in self.plan.runs]
        return np.array(list(self.plan.runs), np.int64), np.array(places, np.int64)


def native_code(program: Program) -> Native:
    """Native code of a Program, made at most once.  Raises NotCompiled."""
    if program.native is None:
        program.native = _loaded(Kept(program))
    found: Native = program.native
    return found


def stretches_code(program: Program, runs: Runs) -> NativeRuns:
    """The same for *runs* of its micro-ops alone, which must not change: see :class:`simt.machine.compiled.plan`."""
    if program.stretches is None:
        program.stretches = _loaded(kept_stretches(program, runs))
    found: NativeRuns = program.stretches
    return found


def kept_stretches(program: Program, runs: Runs) -> Kept:
    """Where the cache has them: to find that out takes a millisecond or more, once."""
    if program.stretches_kept is None:
        program.stretches_kept = Kept(program, runs)
    found: Kept = program.stretches_kept
    return found


def _loaded(kept: Kept) -> Native:
    try:
        return kept.load()
    except NotWide as error:
        raise NotCompiled(f"a function of predicates has {error}") from error
    except RuntimeError as error:  # llvmlite's, of all that LLVM refuses
        raise NotCompiled(f"LLVM refuses its code: {str(error).strip().splitlines()[0]}") from error


class Kept:
    """Native code of a Program, in the cache or not yet.  Raises NotCompiled where there can be none."""

    def __init__(self, program: Program, runs: Runs | None = None) -> None:
        if config.DISABLE_JIT:
            raise NotCompiled("NUMBA_DISABLE_JIT=1")
        if len(program.instructions) > MOST_MICRO_OPS:
            raise NotCompiled(f"it has {len(program.instructions)} micro-ops; the most are {MOST_MICRO_OPS}")
        plan: Plan
        if runs is None:
            plan = self._plan = Plan(program)
            self._emitter: Callable[[], Emitter | StretchEmitter] = partial(Emitter, plan)
            self._native: Callable[[_Loaded], Native] = partial(NativeProgram, plan)
        else:
            plan = self._plan = Stretches(program, runs)
            self._emitter, self._native = partial(StretchEmitter, plan), partial(NativeRuns, plan)
        parts = (plan.encoded.code.tobytes(), repr(plan.constants), repr(plan.uniform_end), repr(runs))
        self.name = digest(*parts, *_made_with())
        """Of its entry in the cache."""

    def is_there(self) -> bool:
        """Whether it need not be made."""
        missing = self._plan.helpers - _helpers.keys()
        return all(STORE.has(name) for name in (self.name, *(_helper_entry(*helper) for helper in missing)))

    def load(self) -> Native:
        """Load it; make it if need be."""
        code = STORE.get_or_make(self.name, lambda: _object(self._emitter().emit()))
        for helper in self._plan.helpers:
            _helper(*helper)
        return self._native(_Loaded(code))


class _Loaded:
    """Functions in memory, from their object code, as long as this is alive."""

    def __init__(self, code: bytes) -> None:
        self._engine = llvm.create_mcjit_compiler(llvm.parse_assembly(""), machine())
        self._engine.add_object_file(llvm.ObjectFileRef.from_data(code))
        self._engine.finalize_object()
        self._places: dict[str, int] = {}

    def address(self, name: str) -> int:
        """Where a function stands."""
        if name not in self._places:
            self._places[name] = self._engine.get_function_address(name)
        return self._places[name]


_helpers: dict[Helper, _Loaded] = {}
"""Functions that native code of any Program calls, once they are loaded."""


def _helper(name: str, imm: int) -> _Loaded:
    if (name, imm) not in _helpers:
        code = STORE.get_or_make(_helper_entry(name, imm), lambda: _helper_object(name, imm))
        _helpers[name, imm] = _Loaded(code)
    return _helpers[name, imm]


def _helper_entry(name: str, imm: int) -> str:
    return digest(name, str(imm), *_made_with())


def _helper_object(name: str, imm: int) -> bytes:
    """Its object code: made once for all Programs, so unlike a Program's it is worth all of LLVM's passes."""
    if (name, imm) in ACCESSES:  # they are vectors already
        return _object(Access((name, imm)).emit())
    module, target = llvm.parse_assembly(lane_module(name, imm)), machine()
    options = llvm.create_pipeline_tuning_options(speed_level=2)
    options.loop_vectorization = name in _LANE_LOOPS
    options.slp_vectorization = False
    builder = llvm.create_pass_builder(target, options)
    builder.getModulePassManager().run(module, builder)
    code: bytes = target.emit_object(module)
    return code


@cache
def _made_with() -> tuple[str, ...]:
    """What native code depends on besides its Program: these sources and the engine's, LLVM, the processor."""
    folder = importlib.resources.files("simt.machine.compiled")
    sources = sorted(file.read_text("utf-8") for file in folder.iterdir() if file.name.endswith(".py"))
    return (*sources, FOLDER.name, llvmlite.__version__, *processor())


def processor() -> tuple[str, str]:
    """This processor: LLVM's name of it, and the features that it has."""
    return llvm.get_host_cpu_name(), llvm.get_host_cpu_features().flatten()


def machine() -> Any:
    """LLVM's code generator for this processor."""
    cpu, features = processor()
    target = llvm.Target.from_default_triple()
    return target.create_target_machine(cpu=cpu, features=features, opt=2, codemodel="jitdefault", jit=True)


def module_of(text: Text) -> Any:
    """LLVM's module of a Text, as it is written."""
    module = llvm.parse_assembly("\n".join(text.lines))
    for name, source in text.linked.items():
        other = llvm.parse_assembly(source)
        other.get_function(LANE).name = name
        module.link_in(other)
        module.get_function(name).linkage = llvm.Linkage.internal
    module.verify()
    return module


def _object(text: Text) -> bytes:
    target = machine()
    code: bytes = target.emit_object(optimised(module_of(text), target))
    return code


def optimised(module: Any, target: Any) -> Any:
    """The module with few, cheap passes: the code is as fast as with all of LLVM's, which take ten times as long."""
    module.triple = target.triple
    module.data_layout = str(target.target_data)
    builder = llvm.create_pass_builder(target, llvm.create_pipeline_tuning_options(speed_level=2))
    passes = llvm.create_new_module_pass_manager()
    passes.add_sroa_pass()
    passes.add_instruction_combine_pass()
    passes.add_simplify_cfg_pass()
    passes.run(module, builder)
    return module
