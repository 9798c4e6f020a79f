"""What the front end refuses, and how it says so."""

from __future__ import annotations

import builtins
from typing import Any

import numpy as np
import pytest
from numba import cuda, int32
from numba.np.numpy_support import from_dtype

from simt import launch
from simt.check.errors import KernelError, LaunchError, SimtError, UnsupportedError
from simt.lang import argument_types, compile

HERE = __file__


def refuse(kernel: Any, *args: Any) -> SimtError:
    with pytest.raises(SimtError) as caught:
        compile(kernel, argument_types(args))
    return caught.value


def comprehension(out):
    t = cuda.threadIdx.x
    out[t] = sum([i for i in range(t)])


def test_golden_message() -> None:
    error = refuse(comprehension, np.zeros(4))
    assert isinstance(error, UnsupportedError)
    first = comprehension.__code__.co_firstlineno
    assert str(error) == (
        "the simulator does not support this: a list comprehension\n"
        f"  --> {HERE}:{first + 2}:18 in comprehension\n"
        f"{' ' * len(str(first + 2))} |\n"
        f"{first + 2} |     out[t] = sum([i for i in range(t)])\n"
        f"{' ' * len(str(first + 2))} |                  ^\n"
        "  help: rewrite it with the constructs that docs/dialect.md lists"
    )


def returns_value(out):
    return out[0]


def undefined_name(out):
    out[0] = nowhere


def before_assignment(out):
    out[0] = x
    x = 1


def shifted_float(out):
    out[0] = 1.5 << 2


def float_index(out):
    out[1.5] = 0


def too_many_indices(out):
    out[0, 1] = 0


def run_time_shape(out):
    tile = cuda.shared.array(out.size, int32)
    out[0] = tile[0]


def bad_atomic(out):
    cuda.atomic.and_(out, 0, 1)


def array_or_number(out):
    x = out
    if out[0] > 1:
        x = 3
    out[0] = x


def wrong_unpack(out):
    a, b = 1, 2, 3
    out[0] = a + b


def too_few(out):
    cuda.atomic.add(out, 0)


def no_such_name(out):
    cuda.frobnicate(out)


def helper(a, b):
    return a + b


def bad_call(out):
    out[0] = helper(1)


def builtin_dtype(out):
    out[0] = cuda.shared.array(4, int)[0]


def misspelt_dtype(out):
    out[0] = cuda.shared.array(4, "int33")[0]


def no_dtype(out):
    out[0] = cuda.local.array(4, np.dtype(3))[0]


def text_as_number(out):
    out[0] = "3" + 1


@pytest.mark.parametrize(
    ("kernel", "words"),
    [
        (builtin_dtype, "int is not an element type"),
        (misspelt_dtype, "'int33' is not an element type"),
        (no_dtype, "np.dtype takes the name of a number type"),
        (text_as_number, "a number is needed here, not '3'"),
        (returns_value, "a kernel returns a value"),
        (undefined_name, "name 'nowhere' is not defined"),
        (before_assignment, "variable 'x' is used before it has a value"),
        (shifted_float, "operator << on float64 and int64"),
        (float_index, "float64 is not an index"),
        (too_many_indices, "2 indices for 1-d array out of float64"),
        (run_time_shape, "the shape of a shared or local array has to be a constant"),
        (bad_atomic, "cuda.atomic.and_ on elements of type float64"),
        (array_or_number, "variable 'x' is int64 on one path and 1-d array out of float64 on another"),
        (wrong_unpack, "cannot unpack 3 values into 2 names"),
        (too_few, "cuda.atomic.add takes 3 arguments, not 2"),
        (no_such_name, "cuda has no 'frobnicate'"),
        (bad_call, "call of helper: missing a required argument: 'b'"),
    ],
)
def test_wrong_kernels(kernel: Any, words: str) -> None:
    error = refuse(kernel, np.zeros(4))
    assert isinstance(error, KernelError)
    assert error.title == words
    assert error.location is not None
    assert error.location.file == HERE
    assert error.location.line > kernel.__code__.co_firstlineno
    assert error.location.function == kernel.__name__


def slices(out):
    step = int(out[0])
    out[0] = out[1:3:step].size


def recursion(out):
    out[0] = factorial(5)


def factorial(n):
    if n < 2:
        return 1
    return n * factorial(n - 1)


def numpy_sort(out):
    np.sort(out)


def over_number(out):
    for x in out[0]:
        out[0] = x


def over_mixed_tuple(out):
    for x in (1, 2.5):
        out[0] = x


def tries(out):
    try:
        out[0] = 1
    except ZeroDivisionError:
        out[0] = 2


def matrix_product(out):
    out[0] = out[0] @ out[1]


def membership(out):
    out[0] = 1 in (1, 2)


def array_method(out):
    out[0] = out.tolist()


@pytest.mark.parametrize(
    ("kernel", "words"),
    [
        (slices, "a slice whose step is not a constant"),
        (recursion, "recursion: factorial calls itself"),
        (numpy_sort, "calling numpy.sort"),
        (over_number, "a for loop over float64"),
        (over_mixed_tuple, "a for loop over (int64, float64)"),
        (tries, "try"),
        (matrix_product, "the operator @"),
        (membership, "'in'"),
        (array_method, "the method .tolist of 1-d array out of float64"),
    ],
)
def test_unsupported_constructs(kernel: Any, words: str) -> None:
    error = refuse(kernel, np.zeros(4))
    assert isinstance(error, UnsupportedError)
    assert error.title == words
    assert error.help
    assert error.location is not None
    assert error.location.line > kernel.__code__.co_firstlineno


def copies(out, source):
    out[0] = source[0]


def test_wrong_number_of_arguments() -> None:
    error = refuse(copies, np.zeros(1))
    assert isinstance(error, LaunchError)
    assert error.title == "copies takes 2 arguments, not 1"
    assert error.help == "pass out, source"


def test_read_only_array() -> None:
    frozen = np.zeros(2)
    frozen.flags.writeable = False
    compile(copies, argument_types((np.zeros(2), frozen)))
    error = refuse(copies, frozen, np.zeros(2))
    assert isinstance(error, KernelError)
    assert error.title == "array out is read-only, and the kernel stores into it"


@pytest.mark.parametrize(
    "value",
    [
        np.zeros(2, object),
        np.zeros(2, ">i4"),
        np.zeros(2, "V3"),
        np.ma.zeros(2),
        "text",
        None,
        [1, 2],
        2**70,
    ],
    ids=repr,
)
def test_arguments_that_no_kernel_takes(value: Any) -> None:
    with pytest.raises(LaunchError, match="argument 2") as caught:
        argument_types((1, value))
    assert caught.value.help


@pytest.mark.parametrize("dtype", [[("x", "M8[s]")], [("x", "U4")], "M8[s]"], ids=str)
def test_elements_of_the_machine_view_only(dtype: Any) -> None:
    """Numba has these on a GPU, so the launch is not wrong."""
    array = np.zeros(2, dtype)
    with pytest.raises(UnsupportedError, match="argument 2 is an array of"):
        argument_types((1, array))
    assert argument_types((array,), machine_code=True)[0].dtype == from_dtype(array.dtype)


def test_argument_types() -> None:
    values = (1, 2.0, True, np.uint8(3), np.float32(1), np.zeros((2, 2), np.int16, order="F"))
    names = [str(ty) for ty in argument_types(values)]
    assert names == ["int64", "float64", "bool", "uint8", "float32", "array(int16, 2d, F)"]


def test_no_source() -> None:
    names: dict[str, Any] = {"cuda": cuda}
    exec(builtins.compile("def kernel(out):\n    out[0] = 1\n", "<no file>", "exec"), names)
    error = refuse(names["kernel"], np.zeros(1))
    assert isinstance(error, UnsupportedError)
    assert error.title == "the source of kernel is not available"


def test_lambda_and_other_objects() -> None:
    launch(lambda out: None, 1, 1, np.zeros(1))
    with pytest.raises(KernelError, match="is not a kernel"):
        compile(3, ())
