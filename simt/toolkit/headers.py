"""The standard headers that CUDA C sources include and NVRTC does not have.

NVRTC declares by itself what device code may call (``printf``, ``assert``, ``malloc``, ``sqrtf`` …); these headers add
the types and constants.  What only the host uses is left out with the host's functions, so most of them are empty.
"""

from __future__ import annotations

from collections.abc import Iterator

_STDINT = "".join(
    f"typedef {sign}{c_type} {prefix}int{bits}_t;\n"
    for bits, c_type in ((8, "char"), (16, "short"), (32, "int"), (64, "long long"))
    for sign, prefix in (("signed ", ""), ("unsigned ", "u"))
)
_POINTERS = "typedef long long intptr_t;\ntypedef unsigned long long uintptr_t;\n"


def _limits() -> Iterator[str]:
    for name, suffix, bits in (("CHAR", "", 8), ("SHRT", "", 16), ("INT", "", 32), ("LLONG", "LL", 64)):
        yield f"#define {name}_MAX {2 ** (bits - 1) - 1}{suffix}\n"
        yield f"#define {name}_MIN (-{name}_MAX - 1)\n"
        unsigned = f"U{name}"
        yield f"#define {unsigned}_MAX {2**bits - 1}{'U' if bits == 32 else ''}{'U' + suffix if suffix else ''}\n"
    yield "#define CHAR_BIT 8\n#define SCHAR_MAX 127\n#define SCHAR_MIN (-128)\n"
    yield "#ifdef _WIN32\n#define LONG_MAX 2147483647L\n#define ULONG_MAX 4294967295UL\n#else\n"
    yield "#define LONG_MAX 9223372036854775807L\n#define ULONG_MAX 18446744073709551615UL\n#endif\n"
    yield "#define LONG_MIN (-LONG_MAX - 1)\n"
    for bits, suffix in ((8, ""), (16, ""), (32, ""), (64, "LL")):
        yield f"#define INT{bits}_MAX {2 ** (bits - 1) - 1}{suffix}\n#define INT{bits}_MIN (-INT{bits}_MAX - 1)\n"
        yield f"#define UINT{bits}_MAX {2**bits - 1}{'U' if bits >= 32 else ''}{suffix}\n"


_FLOAT = """\
#define FLT_MAX 3.402823466e+38F
#define FLT_MIN 1.175494351e-38F
#define FLT_EPSILON 1.192092896e-07F
#define FLT_DIG 6
#define FLT_MANT_DIG 24
#define DBL_MAX 1.7976931348623157e+308
#define DBL_MIN 2.2250738585072014e-308
#define DBL_EPSILON 2.2204460492503131e-16
#define DBL_DIG 15
#define DBL_MANT_DIG 53
"""

_MATH = """\
#define INFINITY __int_as_float(0x7f800000)
#define NAN __int_as_float(0x7fffffff)
#define HUGE_VALF INFINITY
#define HUGE_VAL __longlong_as_double(0x7ff0000000000000LL)
#define M_E 2.7182818284590452354
#define M_LOG2E 1.4426950408889634074
#define M_LOG10E 0.43429448190325182765
#define M_LN2 0.69314718055994530942
#define M_LN10 2.30258509299404568402
#define M_PI 3.14159265358979323846
#define M_PI_2 1.57079632679489661923
#define M_PI_4 0.78539816339744830962
#define M_1_PI 0.31830988618379067154
#define M_2_PI 0.63661977236758134308
#define M_2_SQRTPI 1.12837916709551257390
#define M_SQRT2 1.41421356237309504880
#define M_SQRT1_2 0.70710678118654752440
"""

_TYPES = """\
typedef unsigned short ushort;
typedef unsigned int uint;
typedef unsigned long ulong;
"""

_CONTENTS = {
    "stdint": _STDINT + _POINTERS + "".join(_limits()),
    "limits": "".join(_limits()),
    "float": _FLOAT,
    "math": _MATH,
    "stdlib": _TYPES,
}
"""What is in the headers of C that are not empty, by the name without ``.h``."""

_C = (
    "assert ctype errno fenv float inttypes iso646 limits locale math setjmp signal stdarg stddef stdint stdio stdlib "
    "string time wchar wctype"
)
"""The headers of C: ``assert.h`` is ``cassert`` in C++."""

_EMPTY = (
    "algorithm any array atomic bit bitset charconv chrono complex concepts condition_variable deque exception "
    "execution expected filesystem format forward_list fstream functional future initializer_list iomanip ios iosfwd "
    "iostream istream iterator limits list locale map memory mutex new numbers numeric optional ostream queue random "
    "ratio regex set shared_mutex span sstream stack stdexcept streambuf string string_view system_error thread tuple "
    "type_traits typeindex typeinfo unordered_map unordered_set utility valarray variant vector version "
    "stdbool.h unistd.h getopt.h malloc.h memory.h omp.h pthread.h strings.h sys/mman.h sys/resource.h sys/stat.h "
    "sys/time.h sys/types.h windows.h "
    "cuda.h cuda_runtime.h cuda_runtime_api.h device_launch_parameters.h cuda_profiler_api.h nvtx3/nvToolsExt.h"
)
"""Headers of C++, of operating systems, and those of CUDA that only the host needs."""

PRELUDE = "simt_prelude.h"
"""The header with what nvcc includes before any source."""


def standard_headers() -> dict[str, str]:
    """Name and text of each header, as sources include them."""
    found = {}
    for name in _C.split():
        text = _CONTENTS.get(name, "")
        if name == "inttypes":
            text = '#include "stdint.h"\n'
        found[f"{name}.h"] = f"#pragma once\n{text}"
        found[f"c{name}"] = f'#include "{name}.h"\n'
    found[PRELUDE] = "".join(f'#include "{name}.h"\n' for name in ("limits", "math", "stdlib"))
    found |= dict.fromkeys(_EMPTY.split(), "")
    return found
