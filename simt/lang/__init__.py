"""The source view's front end: a kernel in Numba's CUDA dialect of Python, unchanged, becomes a Program.

Reading order: :mod:`~simt.lang.compiler` (the way through), :mod:`~simt.lang.source`, :mod:`~simt.lang.values`,
:mod:`~simt.lang.statements`, :mod:`~simt.lang.iteration`, :mod:`~simt.lang.calls`, :mod:`~simt.lang.applications` and
:mod:`~simt.lang.expressions` (syntax to operations; each extends the next), :mod:`~simt.lang.environment` (types of
variables), :mod:`~simt.lang.operators`, :mod:`~simt.lang.complexes`, :mod:`~simt.lang.arrays` and
:mod:`~simt.lang.elements`, :mod:`~simt.lang.intrinsics` (tables of functions), :mod:`~simt.lang.implementations` (what
Numba has in Python) and :mod:`~simt.lang.library` (what it has not), :mod:`~simt.lang.convergence`,
:mod:`~simt.lang.registers`, :mod:`~simt.lang.emit`.

Results are those of Numba's CUDA target on a GPU, bit by bit.  ARCHITECTURE.md lists what is left (fused
multiply-add, libdevice, results that LLVM leaves undefined), with the reasons.
"""

from simt.lang.arguments import argument_types, flat_arguments, typed_arguments
from simt.lang.compiler import compile, parameter_names
from simt.lang.device_arrays import read_device_arrays
from simt.lang.source import read_source, remember_executed_code
from simt.lang.unrolling import unrolled

__all__ = [
    "argument_types",
    "compile",
    "flat_arguments",
    "parameter_names",
    "read_device_arrays",
    "read_source",
    "remember_executed_code",
    "typed_arguments",
    "unrolled",
]
