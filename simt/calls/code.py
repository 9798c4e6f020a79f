"""What a view makes of a kernel and its arguments: a Program, and what a launch of it needs."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Protocol

import numpy as np
import numpy.typing as npt

from simt import lang, machine, runtime
from simt.calls.options import SOURCE
from simt.check import LaunchError
from simt.dispatcher import python_function
from simt.machine.images import DeviceImage, Image
from simt.machine.launch import BankFacts, BankImage, parse_order
from simt.machine.layout import HARDWARE, INTERLEAVED, PROFILER, RANDOM
from simt.program import Program

if TYPE_CHECKING:
    from typing_extensions import TypeIs

    from simt.sass import SassKernel
    from simt.timing import MachineInstruction

Shape = tuple[tuple[int, int, int], tuple[int, int, int]]
"""Grid and block."""


@dataclass(frozen=True)
class Code:
    """What a view makes of a kernel and its arguments."""

    program: Program
    arguments: Sequence[object]
    own_order: str = "then_first"
    instructions: Sequence[MachineInstruction] | None = None
    """SASS with its control bits, for the timing model; None in the source view."""
    bank_image: BankImage | None = None
    context: runtime.Context | None = None
    """Where the module's variables are."""
    notes: Sequence[str] = ()
    kernel: SassKernel | None = None
    """The machine code that it comes from, if it does."""
    whole_buffers: bool = True
    """False: Numba copies each argument to the GPU for itself, also if it is a view of a larger array."""


class MachineKernel(Protocol):
    """A kernel that is machine code already."""

    @property
    def view(self) -> str:
        """Its architecture: ``"sm_90"``."""

    def notes(self) -> list[str]:
        """What a profile of the kernel, launched now, should say of it."""


def _is_machine_code(kernel: object) -> TypeIs[MachineKernel]:
    """Whether a kernel is machine code already: Python functions and dispatchers have no view of their own."""
    return isinstance(getattr(kernel, "view", None), str)


def code_of(kernel: object, view: str, shape: Shape, args: Sequence[object], predicate: int) -> Code:
    """The kernel in the view that was asked for.  Raises what compiling and typing raise."""
    is_machine_code = _is_machine_code(kernel)
    if not is_machine_code:
        _check_no_images(args)
    if view == SOURCE and not is_machine_code:
        args, argtypes = lang.typed_arguments(kernel, args)
        program = lang.compile(kernel, argtypes, predicate=predicate)
        captured = [array.data for array in program.arrays if array.argument is not None and array.data is not None]
        return Code(program, [*(_numpy(value) for value in lang.flat_arguments(args)), *captured])
    if predicate:
        raise LaunchError(
            "predicate applies to the source view only; machine code is what the compiler made of the kernel"
        )
    return _machine_code(kernel, view, shape, args)


def _check_no_images(args: Sequence[object]) -> None:
    """Raises LaunchError for textures and surfaces as arguments of a Python kernel."""
    for position, value in enumerate(args):
        if isinstance(value, Image):
            raise LaunchError(
                f"argument {position + 1} is a {value.word}, which Python kernels do not support",
                help="textures and surfaces are for the kernels of simt.load_cubin; pass the array itself",
            )


def _machine_code(kernel: object, view: str, shape: Shape, args: Sequence[object]) -> Code:
    """The SASS of a kernel, with arguments and constant banks as the hardware has them."""
    from simt import sass

    if isinstance(kernel, sass.SassKernel):
        code = kernel
        if view not in (SOURCE, code.view):
            raise LaunchError(f"the kernel is machine code for {code.view}, not {view}")
    else:
        args, argtypes = lang.typed_arguments(kernel, args, machine_code=True)
        lang.parameter_names(python_function(kernel), argtypes)
        code = sass.compile_numba(kernel, argtypes, view)
        args = sass.flatten([_numpy(value) for value in lang.flat_arguments(args)])
    args, listed = sass.handle_arrays(args)
    sass.check_arguments(code, shape[1], args)

    def bank_image(addresses: Sequence[int | None], facts: BankFacts) -> Mapping[int, machine.Bank]:
        return sass.bank_image(code, *shape, args, addresses, facts)

    return _of_machine(code, [*args, *sass.inner_arrays(args), *listed], bank_image, whole_buffers=code is kernel)


def raw_code(kernel: SassKernel, shape: Shape, parameters: bytes, images: Sequence[DeviceImage] = ()) -> Code:
    """The SASS of a kernel with the bytes of its parameters, pointers being device addresses.

    ``images``: textures and surfaces whose handles the parameters may hold, in the order of their numbers.

    Raises LaunchError if these are not as many bytes as the kernel takes, or the block is not one it was compiled for.
    """
    from simt import sass

    sass.check_block(kernel, shape[1])
    size = kernel.parameter_bytes
    if len(parameters) < size:
        raise LaunchError(f"{kernel.name} takes {size} bytes of parameters, not {len(parameters)}")
    return _of_machine(kernel, images, lambda _, facts: sass.raw_bank_image(kernel, *shape, parameters[:size], facts))


def _of_machine(kernel: SassKernel, arguments: Sequence[object], image: BankImage, whole_buffers: bool = True) -> Code:
    return Code(
        program=kernel.program,
        arguments=arguments,
        own_order=kernel.order,
        instructions=kernel.code.instructions,
        bank_image=image,
        context=kernel.module.memory.context,
        kernel=kernel,
        notes=kernel.notes(),
        whole_buffers=whole_buffers,
    )


def _numpy(value: object) -> np.generic | npt.NDArray[Any]:
    """A Python number as the NumPy scalar of the type that Numba gives it; NumPy's scalars and arrays stay.

    A record becomes an array without axes over its own memory: kernels take it by reference.
    """
    found: np.generic | npt.NDArray[Any]
    if isinstance(value, np.void):
        found = np.asarray(value)
    elif isinstance(value, int) and not isinstance(value, bool):
        found = np.int64(value) if value < 2**63 else np.uint64(value)
    else:
        found = value if isinstance(value, np.ndarray) else np.asarray(value)[()]
    return found


def check_order(order: str | None, program: Program) -> None:
    """Raises LaunchError for an order of splits in which the code could go wrong though it is right."""
    if order is None:
        return
    policy, _ = parse_order(order)
    if HARDWARE <= policy <= PROFILER and program.view == SOURCE:
        raise LaunchError(
            f"the order {order!r} applies to machine code only: it follows a GPU's barrier registers",
            help="choose then_first, else_first, interleaved or random:SEED, or view='sm_90'",
        )
    if policy in (INTERLEAVED, RANDOM) and any(instruction.uniform for instruction in program.instructions):
        raise LaunchError(
            f"code with uniform registers cannot run in the order {order!r}",
            details=["the paths of a diverged warp share those registers; the code relies on one path running on"],
            help="choose profiler, hardware, then_first or else_first",
        )
