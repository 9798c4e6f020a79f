// Counters that all threads store to, or add to without atomics: by one SM and all, at once and spread over time, one
// word and several, once and in loops; by Nsight Compute.
#include "common.cuh"

enum { STORE, ADD, VOLATILE, STRONG };

// One more to a word, as HOW says; STORE and STRONG do not load it.
template <int HOW> __device__ __forceinline__ void count(unsigned *to, unsigned x) {
  if (HOW == ADD) asm volatile("ld.global.u32 %0, [%1];" : "=r"(x) : "l"(to) : "memory");
  if (HOW == VOLATILE) asm volatile("ld.volatile.global.u32 %0, [%1];" : "=r"(x) : "l"(to) : "memory");
  ++x;
  if (HOW == VOLATILE) asm volatile("st.volatile.global.u32 [%0], %1;" ::"l"(to), "r"(x) : "memory");
  else if (HOW == STRONG) asm volatile("st.relaxed.gpu.global.u32 [%0], %1;" ::"l"(to), "r"(x) : "memory");
  else asm volatile("st.global.u32 [%0], %1;" ::"l"(to), "r"(x) : "memory");
}

__device__ __forceinline__ unsigned warp() { return (blockIdx.x * blockDim.x + threadIdx.x) / 32; }

__device__ __forceinline__ unsigned chain(unsigned x, unsigned steps) {
#pragma unroll 1
  for (unsigned k = 0; k < steps; ++k) x = x * 3 + 1;
  return x;
}

// Each warp, once: its first `lanes` lanes, `lane` words apart, at one of `words` words, `apart` words apart.
template <int HOW>
__global__ void once(unsigned *data, unsigned words, unsigned apart, unsigned lane, unsigned lanes) {
  if (threadIdx.x % 32 >= lanes) return;
  count<HOW>(data + warp() % words * apart + threadIdx.x % 32 * lane, threadIdx.x);
}

// Each warp, once, after 0 to 63 times `gap` steps, in no order.
template <int HOW> __global__ void spread(unsigned *data, unsigned gap) {
  count<HOW>(data, chain(threadIdx.x, warp() * 37 % 64 * gap));
}

// Each warp, over and over, with `gap` steps between.
template <int HOW> __global__ void looped(unsigned *data, unsigned words, unsigned apart, unsigned gap, unsigned trips) {
  unsigned *to = data + warp() % words * apart, x = threadIdx.x;
#pragma unroll 1
  for (unsigned k = 0; k < trips; ++k) {
    count<HOW>(to, x);
    x = chain(x, gap);
  }
}

// Each warp, once, with a word that it has loaded from mask + 1.
template <int HOW> __global__ void after(unsigned *data, const unsigned *from, unsigned mask) {
  unsigned x;
  asm volatile("ld.global.u32 %0, [%1];" : "=r"(x) : "l"(from + (blockIdx.x * blockDim.x + threadIdx.x & mask)) : "memory");
  if (HOW == ADD) {
    unsigned y;
    asm volatile("ld.global.u32 %0, [%1];" : "=r"(y) : "l"(data) : "memory");
    x += y;
  }
  count<STORE>(data, x);
}

struct Shape {
  unsigned blocks, threads;
};

template <int HOW> void all(unsigned *data, const unsigned *from) {
  for (Shape s : {Shape{1, 32}, {1, 256}, {1, 1024}, {4, 1024}, {33, 1024}, {132, 32}, {132, 128}, {132, 256}, {132, 1024},
                  {264, 1024}, {256, 256}, {1024, 256}, {1000, 1000}, {4096, 256}, {4224, 32}, {1056, 64}})
    once<HOW><<<s.blocks, s.threads>>>(data, 1, 1, 0, 32);
  for (Shape s : {Shape{132, 1024}, {1024, 256}}) {
    for (unsigned words : {2, 8, 32}) once<HOW><<<s.blocks, s.threads>>>(data, words, 1, 0, 32);
    once<HOW><<<s.blocks, s.threads>>>(data, 4, 8, 0, 32);
    for (unsigned words : {4, 32}) once<HOW><<<s.blocks, s.threads>>>(data, words, 32, 0, 32);
    once<HOW><<<s.blocks, s.threads>>>(data, 1, 1, 0, 1);
    for (unsigned lanes : {8, 32}) once<HOW><<<s.blocks, s.threads>>>(data, 1, 1, 1, lanes);
    for (unsigned gap : {1, 2, 4, 8, 16, 32}) spread<HOW><<<s.blocks, s.threads>>>(data, gap);
  }
  for (unsigned gap : {0, 32})
    for (Shape s : {Shape{1, 32}, {1, 64}, {1, 128}, {1, 256}, {1, 1024}, {4, 256}, {33, 256}, {132, 64}, {132, 256},
                    {132, 1024}})
      looped<HOW><<<s.blocks, s.threads>>>(data, 1, 1, gap, 64);
  for (unsigned apart : {1, 8, 32}) looped<HOW><<<132, 256>>>(data, 4, apart, 0, 64);
  for (Shape s : {Shape{1024, 256}, {4096, 256}})
    for (unsigned mask : {0u, 1023u, 65535u, ~0u}) after<HOW><<<s.blocks, s.threads>>>(data, from, mask);
}

int main() {
  unsigned *data = allocate<unsigned>(1 << 12), *from = allocate<unsigned>(1 << 20);
  all<STORE>(data, from);
  all<ADD>(data, from);
  for (Shape s : {Shape{1, 1024}, {132, 256}, {132, 1024}, {256, 256}, {1000, 1000}})
    once<VOLATILE><<<s.blocks, s.threads>>>(data, 1, 1, 0, 32);
  for (Shape s : {Shape{1, 1024}, {132, 256}, {132, 1024}, {1024, 256}})
    once<STRONG><<<s.blocks, s.threads>>>(data, 1, 1, 0, 32);
  finish();
  return 0;
}
