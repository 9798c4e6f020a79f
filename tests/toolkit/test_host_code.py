"""What is left of a CUDA C source when the host's part is taken out."""

from __future__ import annotations

import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from simt.toolkit.host_code import device_code

KERNEL = "__global__ void k(int *a) { a[0] = 1; }"

HOST = {
    "main": "int main(int argc, char **argv) { k<<<1, 32>>>(nullptr); return 0; }",
    "static": "static double seconds() { return 1e-6; }",
    "with a lambda": "void f() { auto g = [&](int x) { return x; }; g(1); }",
    "template": "template <class T, int N = 3> T g(T x) { return x + N; }",
    "braces in texts": "void f() { puts(\"}{\"); char c = '}'; /* } */ }",
    "raw text": 'void f() { puts(R"x(}" ) } )x"); }',
    "vector": "std::vector<int> values;",
    "alias of std": "using Values = std::vector<int>;",
    "returns a struct": "struct S f(int x) { return {x}; }",
    "operator": "bool operator==(const S &a, const S &b) { return true; }",
    "directive inside": "void f() {\n#ifdef A\n  g();\n#else\n  h();\n#endif\n}",
    "digits with a quote": "int f() { return 1'000'000; }",
}

DEVICE = {
    "kernel": KERNEL,
    "bounds": "__global__ void __launch_bounds__(256) k(int *a) { a[0] = 1; }",
    "device": "__device__ __forceinline__ int f(int x) { return x; }",
    "both": "__host__ __device__ int f(int x) { return x; }",
    "template": "template <int N> __global__ void t(int *a) { a[0] = N; }",
    "constexpr": "constexpr int f(int x) { return x + 1; }",
    "constant": "const int N = 3;",
    "list": "__constant__ float table[3] = {1, 2, 3};",
    "struct": "struct Point { float x, y; };",
    "enum": "enum Color { red, green };",
    "macro": "#define CALL(x) do { x; } while (0)",
    "typedef": "typedef unsigned int word;",
    "extern": 'extern "C" __global__ void e(int *a) { a[0] = 1; }',
    "aligned": "struct __align__(16) Four { int a[4]; };",
    "using std": "using namespace std;",
}


@pytest.mark.parametrize("name", HOST)
def test_what_only_the_host_runs_is_left_out(name: str) -> None:
    source = f"{KERNEL}\n{HOST[name]}\n{DEVICE['device']}\n"
    found = device_code(source).text
    blank = re.sub(r"[^\n]", " ", HOST[name])
    assert found == f"{KERNEL}\n{blank}\n{DEVICE['device']}\n"


@pytest.mark.parametrize("name", DEVICE)
def test_what_the_device_needs_stays(name: str) -> None:
    source = f"{HOST['main']}\n{DEVICE[name]}\n{HOST['static']}\n"
    assert DEVICE[name] in device_code(source).text
    assert "main" not in device_code(source).text


def test_macros_stand_for_annotations() -> None:
    source = "#define BOTH __host__ __device__\n#define INLINE BOTH inline\nINLINE int f() { return 1; }\n"
    assert device_code(source).text == source


def test_members_are_told_apart() -> None:
    source = (
        "namespace n {\nstruct S {\n public:\n  S(int x) : a{x}, b(x) { host(); }\n"
        "  __device__ int get() const { return a; }\n  int a, b;\n};\n}\n" + KERNEL
    )
    found = device_code(source).text
    assert "host" not in found
    assert "__device__ int get() const { return a; }" in found
    assert "int a, b;" in found


def test_names_of_template_kernels() -> None:
    source = (
        "template <int N> __global__ void one(int *a) {}\ntemplate <class T> __device__ T two(T x) { return x; }\n"
        "template <int N> __launch_bounds__(64) __global__ void three(int *a) {}\n"
        "template <int N>\n__global__ __launch_bounds__(64) void four(int *a) {}\n"
    )
    assert device_code(source).templates == ("one", "three", "four")


@given(st.lists(st.sampled_from([*HOST.values(), *DEVICE.values()])))
def test_every_line_keeps_its_number_and_what_stays_its_column(parts: list[str]) -> None:
    source = "\n".join(parts)
    found = device_code(source).text
    assert len(found) == len(source)
    assert all(a in (b, " ") for a, b in zip(found, source, strict=True))
    assert found.count("\n") == source.count("\n")


@given(st.text("{}()<>;:=\"'#/*\\\n aR"))
def test_any_text_is_read_to_its_end(source: str) -> None:
    assert len(device_code(source).text) == len(source)
