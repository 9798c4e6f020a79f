"""Machine code: cubins and SASS listings become Programs."""

from simt.sass.banks import bank_image, check_arguments, check_block, raw_bank_image
from simt.sass.compile import compile_kernel
from simt.sass.from_cuda import CudaKernels, load_cuda
from simt.sass.from_numba import compile_numba, flatten
from simt.sass.kernel import Kernels, SassKernel, UnknownKernelError, architectures, load_cubin
from simt.sass.structures import handle_arrays, inner_arrays

__all__ = [
    "CudaKernels",
    "Kernels",
    "SassKernel",
    "UnknownKernelError",
    "architectures",
    "bank_image",
    "check_arguments",
    "check_block",
    "compile_kernel",
    "compile_numba",
    "flatten",
    "handle_arrays",
    "inner_arrays",
    "load_cubin",
    "load_cuda",
    "raw_bank_image",
]
