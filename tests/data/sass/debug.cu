// What debug code (nvcc -G) does otherwise than optimised code: constants and functions through pointers in memory,
// assertions as calls, every value through registers of its own, no inlining.
#include <cassert>
#define KERNEL extern "C" __global__ void
#define THREAD (blockIdx.x * blockDim.x + threadIdx.x)

__constant__ float weights[5] = {0.5f, -1.0f, 2.0f, -1.0f, 0.5f};
__constant__ int powers[8] = {1, 10, 100, 1000, 10000, 100000, 1000000, 10000000};
__constant__ const int* chosen = powers + 2;
__device__ int counter = 7;
__device__ int* where = &counter;

__device__ __noinline__ int choose(const int* p, int k) { return p[k]; }

KERNEL constants(const float* a, float* o, int* q, int n) {
    int i = THREAD;
    float s = 0;
    for (int k = 0; k < 5; k++)
        if (i + k - 2 >= 0 && i + k - 2 < n) s += weights[k] * a[i + k - 2];
    o[i] = s;
    q[i] = choose(i & 1 ? powers + 1 : chosen, i & 3) + *where;
}

typedef int (*Binary)(int, int);
__device__ __noinline__ int plus(int a, int b) { return a + b; }
__device__ __noinline__ int times(int a, int b) { return a * b; }
__device__ __noinline__ int minus(int a, int b) { return a - b; }
__device__ Binary operations[3] = {plus, times, minus};
__constant__ Binary fixed[2] = {minus, times};

KERNEL pointers(const int* a, int* o) {
    o[THREAD] = operations[a[THREAD] % 3](a[THREAD], THREAD) + fixed[THREAD & 1](3, THREAD);
}

struct Shape {
    __device__ virtual int area() const = 0;
    __device__ virtual int sides() const { return 0; }
};
struct Square : Shape {
    int a;
    __device__ Square(int a) : a(a) {}
    __device__ int area() const override { return a * a; }
    __device__ int sides() const override { return 4; }
};
struct Oblong : Shape {
    int a, b;
    __device__ Oblong(int a, int b) : a(a), b(b) {}
    __device__ int area() const override { return a * b; }
};

KERNEL methods(const int* a, int* o) {
    int x = a[THREAD];
    Square s(x);
    Oblong r(x, THREAD);
    Shape* p = x & 1 ? (Shape*)&s : (Shape*)&r;
    o[THREAD] = p->area() * 10 + p->sides();
}

KERNEL checked(const int* a, int* o, int n) {
    int i = THREAD;
    if (i >= n) return;
    assert(a[i] >= 0);
    o[i] = a[i] * 2;
}

KERNEL nowhere(const int* a, int* o, Binary f) { o[THREAD] = f(a[THREAD], 1); }

__device__ __noinline__ int fibonacci(int n) { return n < 2 ? n : fibonacci(n - 1) + fibonacci(n - 2); }

KERNEL mixed(const int* a, int* o) {
    __shared__ int s[64];
    int local[8];
    s[threadIdx.x] = a[THREAD];
    __syncthreads();
    for (int k = 0; k < 8; k++) local[k] = s[(threadIdx.x * 3 + k) & 63] / (k + 1);
    int sum = 0;
    for (int k = 0; k < 8; k++) {
        if (local[(threadIdx.x + k) & 7] % 5 == 0) continue;
        sum += local[(threadIdx.x + k) & 7];
        if (sum > 300) break;
    }
    switch (sum & 3) {
        case 0: sum += fibonacci(threadIdx.x & 7); break;
        case 1: sum ^= 0x55; break;
        case 2: sum = __popc(sum) << 3; break;
    }
    __syncthreads();
    o[THREAD] = atomicAdd(&s[threadIdx.x], sum) + __shfl_xor_sync(~0u, sum, 1);
}
