"""The source view's front end: a kernel in Numba's CUDA dialect of Python, unchanged, becomes a Program.

Reading order: :mod:`~simt.lang.compiler` (the way through), :mod:`~simt.lang.source`,
:mod:`~simt.lang.statements` and :mod:`~simt.lang.expressions` (syntax to operations),
:mod:`~simt.lang.environment` (types of variables), :mod:`~simt.lang.operators`,
:mod:`~simt.lang.intrinsics`, :mod:`~simt.lang.convergence`, :mod:`~simt.lang.registers`,
:mod:`~simt.lang.emit`.
"""

from simt.lang.arguments import argument_types
from simt.lang.compiler import compile
from simt.lang.source import python_function, read_source

__all__ = ["argument_types", "compile", "python_function", "read_source"]
