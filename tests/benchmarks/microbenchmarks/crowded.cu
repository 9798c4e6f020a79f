// Words that warps of all SMs load, add to and store to at once, and what loads and stores of an SM share on their way
// to L2; by Nsight Compute.
#include "common.cuh"

enum { LOAD, RED, RED_LOAD, RED_LOAD_RED, RED_CACHED_RED, LOAD_STORE, ATOM, ATOM_STORE, RED_STORE };

__device__ __forceinline__ unsigned warp() { return (blockIdx.x * blockDim.x + threadIdx.x) / 32; }

__device__ __forceinline__ unsigned load(const unsigned *from, bool cached) {
  unsigned x;
  if (cached) asm volatile("ld.global.u32 %0, [%1];" : "=r"(x) : "l"(from) : "memory");
  else asm volatile("ld.volatile.global.u32 %0, [%1];" : "=r"(x) : "l"(from) : "memory");
  return x;
}

__device__ __forceinline__ void add(unsigned *to, unsigned x) {
  if (threadIdx.x % 32 == 0) asm volatile("red.global.add.u32 [%0], %1;" ::"l"(to), "r"(x) : "memory");
}

// Each warp, `trips` times, at one of `words` words that are `apart` words apart: what HOW says, its last part `other`
// words on.  One lane adds, all load and store.
template <int HOW> __global__ void crowd(unsigned *data, unsigned words, unsigned apart, unsigned other, unsigned trips) {
  unsigned *to = data + warp() % words * apart, x = 1;
#pragma unroll 1
  for (unsigned k = 0; k < trips; ++k) {
    if (HOW == RED || HOW == RED_LOAD || HOW == RED_LOAD_RED || HOW == RED_CACHED_RED || HOW == RED_STORE) add(to, 1);
    if (HOW == LOAD || HOW == RED_LOAD || HOW == RED_LOAD_RED || HOW == LOAD_STORE) x += load(to, false);
    if (HOW == RED_CACHED_RED) x += load(to, true);
    if (HOW == RED_LOAD_RED || HOW == RED_CACHED_RED) add(to + other, x);
    if (HOW == ATOM || HOW == ATOM_STORE)
      if (threadIdx.x % 32 == 0) x += atomicAdd(to, 1u);
    if (HOW == LOAD_STORE || HOW == ATOM_STORE || HOW == RED_STORE)
      asm volatile("st.volatile.global.u32 [%0], %1;" ::"l"(to + other), "r"(x) : "memory");
  }
  if (x == 0x12345678) data[4095] = x;
}

// All threads add to one word without an atomic.
__global__ void race(unsigned *data) { *data += 1; }

// Each thread adds to the word of which the number is the product of its numbers, 0 for the first of each block.
__global__ void product(const float *x, float *y, unsigned n) {
  unsigned t = blockIdx.x * blockDim.x * threadIdx.x;
  if (t < n) y[t] = 2 * x[t] + y[t];
}

// Each block stores a word; the last, as an atomic says, or all with ALL, sums the words of all.
template <int ALL> __global__ void last(unsigned *sums, unsigned *counter, unsigned *result) {
  __shared__ bool is_last;
  if (threadIdx.x == 0) {
    sums[blockIdx.x] = blockIdx.x;
    __threadfence();
    is_last = atomicAdd(counter, 1u) % gridDim.x == gridDim.x - 1;
  }
  __syncthreads();
  if (!is_last && !ALL) return;
  unsigned sum = 0;
#pragma unroll 4
  for (unsigned k = 0; k < gridDim.x; ++k) sum += sums[k];
  if (threadIdx.x == 0) *result = sum;
}

// Each warp, `trips` times: LOADS loads past L1 and STORES stores, lanes `lane` words apart, of T, among 4 places.
template <class T, int LOADS, int STORES> __global__ void link(T *data, unsigned lane, unsigned trips) {
  T *mine = data + (size_t)warp() * 4 * (LOADS + STORES) * 32 * lane + threadIdx.x % 32 * lane, x = 0;
#pragma unroll 1
  for (unsigned k = 0; k < trips; ++k) {
    T *at = mine + k % 4 * (LOADS + STORES) * 32 * lane;
#pragma unroll
    for (int l = 0; l < LOADS; ++l) x += __ldcg(at + l * 32 * lane);
#pragma unroll
    for (int s = 0; s < STORES; ++s) at[(LOADS + s) * 32 * lane] = x;
  }
  if (x == (T)12345678) *data = x;
}

// Each thread adds LOADS rows of its own to another, word after word.
template <class T, int LOADS> __global__ void rows(const T *from, T *to, unsigned n, unsigned all) {
  unsigned t = blockIdx.x * blockDim.x + threadIdx.x;
  for (unsigned k = t * n; k < (t + 1) * n; ++k) {
    T x = 0;
#pragma unroll
    for (int l = 0; l < LOADS; ++l) x += from[l * all + k];
    to[k] = x;
  }
}

// Each thread loads a word, `stride` words behind that of the thread before, the first at `first`, round a table.
__global__ void lone(const float *from, float *to, unsigned stride, unsigned first, unsigned mask) {
  unsigned t = blockIdx.x * blockDim.x + threadIdx.x;
  to[t] = 2 * from[(t * stride & mask) + first];
}

// The sum of two matrices of n by n, x along a column.
__global__ void swapped(const float *a, const float *b, float *c, unsigned n) {
  unsigned x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y * blockDim.y + threadIdx.y;
  if (x < n && y < n) c[x * n + y] = a[x * n + y] + b[x * n + y];
}

struct Shape {
  unsigned blocks, threads;
};

template <int HOW> void crowds(unsigned *data, unsigned other) {
  for (Shape s : {Shape{1, 32}, {1, 1024}, {132, 32}, {132, 1024}, {1000, 1000}}) crowd<HOW><<<s.blocks, s.threads>>>(data, 1, 1, other, 1);
  for (Shape s : {Shape{1, 256}, {132, 32}, {132, 256}}) crowd<HOW><<<s.blocks, s.threads>>>(data, 1, 1, other, 16);
}

template <class T, int LOADS, int STORES> void linked(T *data) {
  for (unsigned lane : {1, 8, 32}) link<T, LOADS, STORES><<<1, 1024>>>(data, lane, 32);
}

int main() {
  unsigned *words = allocate<unsigned>(1 << 14);
  crowds<LOAD>(words, 0);
  crowds<RED>(words, 0);
  crowds<RED_LOAD>(words, 0);
  crowds<RED_LOAD_RED>(words, 128);
  crowds<RED_CACHED_RED>(words, 128);
  crowds<LOAD_STORE>(words, 0);
  crowds<ATOM>(words, 0);
  crowds<ATOM_STORE>(words, 0);
  crowds<RED_STORE>(words, 0);
  for (unsigned apart : {1, 8, 32, 64, 256}) crowd<LOAD><<<132, 256>>>(words, 4, apart, 0, 16);
  for (unsigned apart : {1, 8, 32, 64, 256}) crowd<LOAD_STORE><<<132, 256>>>(words, 4, apart, 0, 16);
  for (unsigned apart : {1, 8, 32, 64, 256}) crowd<RED_CACHED_RED><<<132, 256>>>(words, 4, apart, 512, 16);
  for (unsigned other : {1, 8, 64}) crowd<RED_CACHED_RED><<<1000, 1000>>>(words, 1, 1, other, 1);
  for (Shape s : {Shape{132, 256}, {256, 256}, {1024, 256}, {132, 1024}, {264, 1024}, {1000, 1000}, {4096, 256}})
    race<<<s.blocks, s.threads>>>(words);
  float *a = allocate<float>(1 << 23), *b = allocate<float>(1 << 22);
  for (unsigned blocks : {1024, 4092}) product<<<blocks, 256>>>(a, b, 1 << 22);
  for (Shape s : {Shape{132, 64}, {1400, 64}, {1024, 256}}) {
    last<0><<<s.blocks, s.threads>>>(words, words + 8192, words + 8320);
    last<1><<<s.blocks, s.threads>>>(words, words + 8192, words + 8320);
  }
  linked<unsigned, 1, 0>((unsigned *)a);
  linked<unsigned, 0, 1>((unsigned *)a);
  linked<unsigned, 1, 1>((unsigned *)a);
  linked<unsigned, 2, 1>((unsigned *)a);
  linked<unsigned, 1, 2>((unsigned *)a);
  linked<double, 1, 0>((double *)a);
  linked<double, 0, 1>((double *)a);
  linked<double, 2, 1>((double *)a);
  for (Shape s : {Shape{1, 1024}, {10, 1024}, {10, 256}}) {
    rows<double, 2><<<s.blocks, s.threads>>>((double *)a, (double *)a + (1 << 21), 50, 1 << 20);
    rows<float, 2><<<s.blocks, s.threads>>>(a, a + (1 << 21), 50, 1 << 20);
    rows<float, 1><<<s.blocks, s.threads>>>(a, a + (1 << 21), 50, 1 << 20);
  }
  for (unsigned stride : {8, 16, 32, 33, 40, 64, 128}) lone<<<4096, 256>>>(a, b, stride, 0, (1 << 22) - 1);
  for (unsigned first : {8, 16}) lone<<<4096, 256>>>(a, b, 32, first, (1 << 22) - 1);
  for (unsigned stride : {8, 32, 33}) lone<<<4096, 256>>>(a, b, stride, 0, (1 << 18) - 1);
  for (unsigned n : {512, 700, 704, 1000}) {
    for (unsigned side : {16, 32}) {
      dim3 block(side, side), grid((n + side - 1) / side, (n + side - 1) / side);
      swapped<<<grid, block>>>(a, a + (1 << 21), a + (1 << 22), n);
    }
  }
  finish();
  return 0;
}
