"""Kernels of CUDA C: :func:`load_cuda`, by way of a cubin that NVRTC makes."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path

from simt.check import KernelError
from simt.runtime import Context
from simt.sass.kernel import Kernels, SassKernel, UnknownKernelError, read_cubin
from simt.toolkit.kernels import Compiled, compile_kernels

DEFAULT_ARCHITECTURE = "sm_90"


class CudaKernels(Kernels):
    """The kernels of a source by name.

    A template kernel is asked for with its arguments, ``kernels["reduce<512>"]``, and compiled then, unless the source
    instantiates it: so compiled, it has variables of its own.
    """

    def __init__(self, path: str, compiled: Compiled, instance: Callable[[str], SassKernel], home: Context | None):
        super().__init__(path, [*read_cubin(compiled.cubin, path, home).values()])
        self.templates = compiled.templates
        self._instance = instance
        self._instances: dict[str, SassKernel] = {}

    def __getitem__(self, name: str) -> SassKernel:
        if name in self._instances:
            return self._instances[name]
        try:
            return super().__getitem__(name)
        except UnknownKernelError as error:
            template = name.split("<")[0]
            if template != name and template in self.templates:
                return self._instances.setdefault(name, self._instance(name))
            if template in self.templates:
                raise UnknownKernelError(
                    f"{template} is a template, and {self.path} has no instance of it",
                    help=f'give its arguments, as in "{template}<512>"',
                ) from None
            details = [*error.details, *(f"it has the template {each}<...>" for each in self.templates)]
            raise UnknownKernelError(error.title, details=details) from None


def load_cuda(
    source: str | Path,
    architecture: str = DEFAULT_ARCHITECTURE,
    options: Sequence[str] = (),
    home: Context | None = None,
) -> CudaKernels:
    """The kernels of a ``.cu`` file, or of a text of CUDA C, compiled by NVRTC and cached; no GPU or nvcc is needed.

    >>> kernels = simt.load_cuda("reduce.cu")
    >>> simt.launch(kernels["interleaved"], 8, 512, data, sums, np.uint32(4096))
    >>> kernels["complete_unroll<512>"]

    The host's functions in the source are left out.  ``source``: a path, or a text with more than one line or a ``{``.
    ``architecture``: ``"sm_90"``, for instance; machine code depends on it.  ``options``: those of NVRTC, such as
    ``-DN=4`` and ``-Ifolder``.  ``home``: the context that holds the variables (default: one of their own).

    Raises KernelError with the compiler's message and its line, LaunchError for a missing file,
    UnsupportedError without NVRTC and for architectures that it does not compile for.
    """
    given = source if isinstance(source, Path) or _is_text(source) else Path(source)
    name = str(given) if isinstance(given, Path) else "the source"

    def instance(wanted: str) -> SassKernel:
        compiled = compile_kernels(given, architecture, options, [wanted])
        return read_cubin(compiled.cubin, name, home)[compiled.names[wanted]]

    compiled = compile_kernels(given, architecture, options)
    kernels = CudaKernels(name, compiled, instance, home)
    if not kernels and not kernels.templates:
        raise KernelError(f"{name} has no kernels", help="a kernel is a __global__ function")
    return kernels


def _is_text(source: str) -> bool:
    """Whether it is CUDA C itself and no path."""
    return "\n" in source or "{" in source
