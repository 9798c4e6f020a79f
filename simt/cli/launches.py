"""From a KERNEL argument of the command line to a launch."""

from __future__ import annotations

import ast
import importlib.util
import inspect
import sys
import traceback
from collections.abc import Callable, Mapping, Sequence
from importlib.machinery import SourceFileLoader
from pathlib import Path
from types import CodeType, ModuleType
from typing import Any

from simt.check import LaunchError, Location, check_file, suggestion
from simt.cli import machine_files
from simt.cli.asked import Asked, KernelLaunch, Shape

TRACE_BLOCK = 64
TRACE_SIZE = 1024
"""Threads per block and elements of a reduction, if not given: small enough to read."""


def find(kernel: str, asked: Asked) -> KernelLaunch:
    """The launch of a kernel of the registry or of a file.  Raises :class:`~simt.check.LaunchError`."""
    file = machine_files.split(kernel)
    if file is not None:
        return machine_files.launch_of(*file, asked)
    in_file = is_file(kernel)
    if not in_file:
        _check_name(kernel)
    for option, given in (("--arg", asked.args), ("--shared", asked.shared), ("--nvrtc", asked.nvrtc)):
        if given:
            raise LaunchError(f"{option} is for kernels of CUDA C and machine code", help="write FILE.cu:KERNEL")
    if in_file:
        return from_file(kernel, asked)
    if asked.grid is not None or asked.constants:
        what = "chooses its grid itself" if asked.grid is not None else "has no constants to set"
        raise LaunchError(f"{kernel} {what}", help="write FILE.py:FUNCTION or FILE.cu:KERNEL")
    if isinstance(asked.block, tuple):
        raise LaunchError(f"the blocks of {kernel} have one dimension", help=f"write --block {asked.block[0]}")
    return from_registry(kernel, asked.size, asked.block, asked.seed)


def _check_name(kernel: str) -> None:
    """Raise LaunchError unless *kernel* is a name of the registry."""
    import simt.kernels

    if Path(kernel).suffix in (".py", *machine_files.CUDA_SUFFIXES):
        raise LaunchError(f"which function of {kernel}?", help=f"write {kernel}:FUNCTION")
    if ":" in kernel or Path(kernel).exists():
        raise LaunchError(
            f"{kernel} is neither a name of `simt kernels` nor a function in a file",
            help="write FILE.py:FUNCTION, FILE.cu:KERNEL or FILE.cubin:KERNEL",
        )
    simt.kernels.get(kernel)


def from_registry(name: str, size: int | None, block: int | None, seed: int) -> KernelLaunch:
    """A kernel of :mod:`simt.kernels` with generated data."""
    import simt.kernels
    from simt.machine import dimensions

    entry = simt.kernels.get(name)
    if block is not None:
        dimensions(block, "block")  # before arrays of as many elements are made
    if entry.group == "reduction":
        size = TRACE_SIZE if size is None else size
        block = TRACE_BLOCK if block is None else block
    plan = entry.plan(size, block, seed=seed)
    return KernelLaunch(plan.kernel, plan.grid, plan.block, plan.args)


def from_file(kernel: str, asked: Asked) -> KernelLaunch:
    """``FILE.py:FUNCTION`` with the launch that the file describes; see ``simt trace --help``."""
    path, _, name = kernel.rpartition(":")
    module = _load(Path(path), asked.constants)
    function = _function(module, name, path)
    describe = getattr(module, f"launch_{name}", None) or getattr(module, "launch", None)
    if not callable(describe):
        raise LaunchError(
            f"{path} does not say how to launch {name}",
            help=f"define launch_{name}() that returns dict(grid=..., block=..., args=(...))",
        )
    return _described(function, describe, {"size": asked.size, "block": asked.block, "grid": asked.grid}, Path(path))


class _Replacing(SourceFileLoader):
    """Loads a file as if other values stood where it sets certain variables."""

    def __init__(self, path: Path, constants: Mapping[str, str]) -> None:
        super().__init__(path.stem, str(path))
        self.constants = constants

    def get_code(self, fullname: str) -> CodeType:
        """Compiled anew: what Python has cached has the file's own values."""
        module = ast.parse(self.get_data(self.path), self.path)
        set_here = []
        for statement in module.body:
            if not isinstance(statement, ast.Assign | ast.AnnAssign):
                continue
            targets = statement.targets if isinstance(statement, ast.Assign) else [statement.target]
            names = [target.id for target in targets if isinstance(target, ast.Name)]
            set_here += names
            if len(targets) == 1 and names and names[0] in self.constants:
                value = ast.literal_eval(self.constants[names[0]])
                statement.value = ast.copy_location(ast.Constant(value), statement)
        for name in self.constants.keys() - set_here:
            help = suggestion(name, set_here, f"write {name} = {self.constants[name]} outside of its functions")
            raise LaunchError(f"{self.path} sets no variable {name!r}", help=help)
        code: CodeType = compile(module, self.path, "exec", dont_inherit=True)
        return code


def _load(path: Path, constants: Sequence[tuple[str, str]] = ()) -> ModuleType:
    check_file(path)
    for name, value in constants:
        try:
            ast.literal_eval(value)
        except (ValueError, SyntaxError):
            raise LaunchError(f"{name}={value}: {value!r} is not a number that Python can read") from None
    loader = _Replacing(path, dict(constants)) if constants else None
    spec = importlib.util.spec_from_file_location(path.stem, path, loader=loader)
    assert spec is not None  # a .py file always has a spec and a loader
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    sys.modules[path.stem] = module
    sys.path.insert(0, str(path.parent.resolve()))  # as Python does for a script
    from simt.dispatcher import without_gpu

    try:
        with without_gpu():
            spec.loader.exec_module(module)
    except LaunchError:
        raise
    except (Exception, SystemExit) as error:
        raise _user_error(f"{path} cannot be imported", error, path) from error
    return module


def _function(module: ModuleType, name: str, path: str) -> Callable[..., Any]:
    function: Callable[..., Any] | None = getattr(module, name, None)
    if not callable(function):
        here = [key for key, value in vars(module).items() if callable(value) and not key.startswith("_")]
        help = suggestion(name, here, f"it has {', '.join(here) or 'none'}")
        raise LaunchError(f"{path} has no function {name!r}", help=help)
    return function


def is_file(kernel: str) -> bool:
    """Whether a KERNEL argument names a function in a file."""
    path, colon, _ = kernel.rpartition(":")
    return bool(colon) and Path(path).suffix == ".py"


def _described(
    kernel: Callable[..., Any], describe: Callable[..., Any], options: Mapping[str, Shape | None], path: Path
) -> KernelLaunch:
    called = f"{describe.__name__}() in {path}"
    given = {name: value for name, value in options.items() if value is not None}
    for option in given:
        if option not in inspect.signature(describe).parameters:
            help = f"let it take {option}, as in def {describe.__name__}({option}=256)"
            raise LaunchError(f"{called} has no parameter {option!r}", help=help)
    try:
        found = describe(**given)
    except (Exception, SystemExit) as error:
        raise _user_error(f"{called} fails", error, path) from error
    needed = {"grid", "block", "args"}
    keys = set(found) if isinstance(found, Mapping) else set()
    if not needed <= keys <= needed | {"shared_bytes"}:
        returned = ", ".join(sorted(map(str, keys))) if keys else type(found).__name__
        raise LaunchError(f"{called} must return a dict with grid, block, args (and shared_bytes), not {returned}")
    if not isinstance(found["args"], tuple | list):
        raise LaunchError(
            f"{called} must return args as a tuple, not {type(found['args']).__name__}", help="write args=(x,)"
        )
    more = {key: value for key, value in found.items() if key not in needed}
    return KernelLaunch(kernel, found["grid"], found["block"], tuple(found["args"]), more)


def _user_error(what: str, error: BaseException, path: Path) -> LaunchError:
    """An exception of the user's file, located at the last line of the file that it came through."""
    location = None
    if isinstance(error, SyntaxError):
        location = Location(str(path), error.lineno or 0)
    else:
        frames = [f for f in traceback.extract_tb(error.__traceback__) if Path(f.filename).name == path.name]
        if frames:
            location = Location(str(path), frames[-1].lineno or 0, function=frames[-1].name)
    script = "put what a script does behind if __name__ == '__main__':"
    return LaunchError(
        f"{what}: {type(error).__name__}: {error}",
        location=location,
        help=script if isinstance(error, SystemExit) else "",
    )
