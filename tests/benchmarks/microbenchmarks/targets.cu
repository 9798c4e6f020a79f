// Functions that are called, by their address or not, tables of jumps, and recursion.
#include "common.cuh"

// Functions that the compiler keeps apart from their callers and from each other.
template <int K> __device__ __noinline__ unsigned work(unsigned x) {
  return x * (2 * K + 3) + K;
}

typedef unsigned Function(unsigned);
__device__ Function *functions[8] = {work<0>, work<1>, work<2>, work<3>, work<4>, work<5>, work<6>, work<7>};

// One function, called by name; CALLS times in a step.
template <int CALLS> __global__ void direct(unsigned *to, int count) {
  unsigned i = blockIdx.x * blockDim.x + threadIdx.x, x = i;
#pragma unroll 1
  for (int k = 0; k < count; ++k) {
#pragma unroll
    for (int j = 0; j < CALLS; ++j) x = work<0>(x);
  }
  to[i] = x;
}

// One of *different* functions by lane, called by its address, which is looked up before the loop.
__global__ void indirect(unsigned *to, unsigned different, int count) {
  unsigned i = blockIdx.x * blockDim.x + threadIdx.x, x = i;
  Function *chosen = functions[threadIdx.x % different];
#pragma unroll 1
  for (int k = 0; k < count; ++k) {
#pragma unroll
    for (int j = 0; j < 4; ++j) x = chosen(x);
  }
  to[i] = x;
}

// A table of jumps: one of its cases by lane and step.
__global__ void switched(unsigned *to, unsigned different, int count) {
  unsigned i = blockIdx.x * blockDim.x + threadIdx.x, x = i, which = threadIdx.x % different;
#pragma unroll 1
  for (int k = 0; k < count; ++k) {
    switch (which) {
      case 0: x = x * 3 + 1; break;
      case 1: x ^= x >> 5; break;
      case 2: x = __popc(x) + k; break;
      case 3: x = x * x; break;
      case 4: x = (x << 3) - k; break;
      case 5: x = __brev(x); break;
      case 6: x = x / 7; break;
      case 7: x = x & 0x5555; break;
      default: x = 1; break;
    }
  }
  to[i] = x;
}

// Virtual functions, as programs call them.
struct Shape {
  __device__ virtual float area(float v) { return v; }
};
struct Square : Shape {
  __device__ float area(float v) override { return v * v; }
};
struct Circle : Shape {
  __device__ float area(float v) override { return 3.14159f * v * v; }
};

__global__ void virtually(float *to, const float *from, unsigned different, int count) {
  unsigned i = blockIdx.x * blockDim.x + threadIdx.x;
  Square square;
  Circle circle;
  Shape *shape = threadIdx.x % different ? (Shape *)&square : (Shape *)&circle;
  float sum = 0;
  for (int k = 0; k < count; ++k) sum += shape->area(from[i] + k);
  to[i] = sum;
}

// A function that calls itself twice, its depth by lane: *different* of them.
__device__ __noinline__ int fibonacci(int n) {
  return n < 2 ? n : fibonacci(n - 1) + fibonacci(n - 2);
}

__global__ void recursive(int *to, int n, unsigned different) {
  to[blockIdx.x * blockDim.x + threadIdx.x] = fibonacci(n + threadIdx.x % different);
}

// Once, as deep as it says.
__device__ __noinline__ int depth(int n, const int *from) {
  if (n == 0) return 1;
  int each = from[n];
  return depth(n - 1, from) * 3 + each;
}

__global__ void deep(int *to, const int *from, int n, int count) {
  int sum = 0;
  for (int k = 0; k < count; ++k) sum += depth(n, from);
  to[blockIdx.x * blockDim.x + threadIdx.x] = sum;
}

int main() {
  CHECK(cudaDeviceSetLimit(cudaLimitStackSize, 4096));
  unsigned *to = allocate<unsigned>(1 << 19), *from = allocate<unsigned>(1 << 19);
  for (int warps : {1, 4, 8, 16, 32}) {
    direct<1><<<SMS, 32 * warps>>>(to, 400);
    direct<8><<<SMS, 32 * warps>>>(to, 50);
  }
  for (unsigned different : {1, 2, 3, 4, 8}) indirect<<<SMS, 32>>>(to, different, 50);
  for (int warps : {4, 8, 32})
    for (unsigned different : {1, 2, 8}) indirect<<<SMS, 32 * warps>>>(to, different, 50);
  for (unsigned different : {1, 2, 4, 8}) switched<<<SMS, 32>>>(to, different, 200);
  for (int warps : {8, 32})
    for (unsigned different : {1, 2, 8}) switched<<<SMS, 32 * warps>>>(to, different, 100);
  for (int warps : {1, 4, 8, 16, 32})
    for (unsigned different : {1, 2}) virtually<<<SMS, 32 * warps>>>((float *)to, (float *)from, different, 50);
  for (unsigned different : {1, 2, 4}) recursive<<<SMS, 32>>>((int *)to, 8, different);
  for (int warps : {4, 8, 32})
    for (unsigned different : {1, 4}) recursive<<<SMS, 32 * warps>>>((int *)to, 7, different);
  for (int warps : {1, 8, 32}) deep<<<SMS, 32 * warps>>>((int *)to, (int *)from, 24, 8);
  finish();
  return 0;
}
