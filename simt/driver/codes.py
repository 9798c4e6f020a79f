"""CUDA's error codes for the errors of simt."""

from __future__ import annotations

from enum import IntEnum

from simt.check import AssertError, KernelError, LaunchError, ListingError, SimtError, UnsupportedError
from simt.check.errors import BudgetError, DeadlockError, MisalignedError, OutOfBoundsError
from simt.devices import DeviceError
from simt.toolkit.ptxas import PtxError


class Code(IntEnum):
    """Codes that the server gives; ``native/errors.txt`` has their texts."""

    SUCCESS = 0
    INVALID_VALUE = 1
    OUT_OF_MEMORY = 2
    INVALID_IMAGE = 200
    NO_BINARY_FOR_GPU = 209
    INVALID_PTX = 218
    INVALID_HANDLE = 400
    NOT_FOUND = 500
    ILLEGAL_ADDRESS = 700
    LAUNCH_OUT_OF_RESOURCES = 701
    LAUNCH_TIMEOUT = 702
    ASSERT = 710
    MISALIGNED_ADDRESS = 716
    LAUNCH_FAILED = 719
    COOPERATIVE_LAUNCH_TOO_LARGE = 720
    NOT_SUPPORTED = 801
    UNKNOWN = 999


_CODES: tuple[tuple[type[SimtError], Code], ...] = (
    (OutOfBoundsError, Code.ILLEGAL_ADDRESS),
    (MisalignedError, Code.MISALIGNED_ADDRESS),
    (AssertError, Code.ASSERT),
    (BudgetError, Code.LAUNCH_TIMEOUT),
    (DeadlockError, Code.LAUNCH_TIMEOUT),
    (ListingError, Code.INVALID_IMAGE),
    (PtxError, Code.INVALID_PTX),
    (LaunchError, Code.INVALID_VALUE),
    (DeviceError, Code.NO_BINARY_FOR_GPU),
    (UnsupportedError, Code.NOT_SUPPORTED),
    (KernelError, Code.LAUNCH_FAILED),
)


class CudaError(Exception):
    """An answer to a program that is an error of its own making: a code and no finding."""

    def __init__(self, code: Code) -> None:
        super().__init__(code.name)
        self.code = code


def code_of(error: BaseException) -> Code:
    """CUDA's code for an error."""
    if isinstance(error, CudaError):
        return error.code
    if isinstance(error, MemoryError):
        return Code.OUT_OF_MEMORY
    return next((code for kind, code in _CODES if isinstance(error, kind)), Code.UNKNOWN)
