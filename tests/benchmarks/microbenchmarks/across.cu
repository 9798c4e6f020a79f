// Lines that blocks of several SMs complete which do not write side by side in one row of the grid, and arrays that all
// blocks write: what L2 reads from DRAM and writes there, and how long that takes, by Nsight Compute.
#include "common.cuh"

__device__ __forceinline__ void wait(unsigned cycles) {
  long long start = clock64();
  while (clock64() - start < cycles) {
  }
}

// A transpose by a row of blocks: threads that follow each other go down the columns, and round again one word further.
template <bool READS> __global__ void around(const unsigned *from, unsigned *to, unsigned columns, unsigned rows) {
  unsigned i = blockIdx.x * blockDim.x + threadIdx.x;
  to[(size_t)(i % columns) * rows + i / columns] = READS ? from[i] : i;
}

// Each block stores to a line of its column of the grid, or each thread to one, the word of its row: so many times.
template <class T> __global__ void crossed(T *to, unsigned times, unsigned pause) {
  unsigned x = blockIdx.x * blockDim.x + threadIdx.x;
  volatile T *mine = to + (size_t)x * gridDim.y + blockIdx.y;
  for (unsigned k = 0; k < times; ++k) {
    *mine = (T)k;
    if (pause) wait(pause);
  }
}

// Blocks that go through an array, each from where it begins, so many words apart, to the end; with READS they add two.
template <bool READS> __global__ void march(const unsigned *a, const unsigned *b, unsigned *to, unsigned words, unsigned apart) {
  for (unsigned i = blockIdx.x * apart + threadIdx.x; i < words; i += blockDim.x) to[i] = READS ? a[i] + b[i] : i;
}

// The same, but all threads of a block at one word.
__global__ void step(const unsigned *a, const unsigned *b, unsigned *to, unsigned words) {
  for (unsigned i = blockIdx.x; i < words; ++i) to[i] = a[i] + b[i];
}

int main() {
  using u32 = unsigned;
  u32 *a = allocate<u32>(1 << 25), *b = allocate<u32>(1 << 25), *to = allocate<u32>(1 << 25);
  const u32 shapes[][2] = {{1024, 8192}, {4096, 8192}, {16384, 2048}, {65536, 512}, {262144, 128}, {4096, 1024}, {3000, 4096}};
  for (auto [columns, rows] : shapes) {
    u32 n = columns * rows;
    around<true><<<n / 1024, 1024>>>(a, to, columns, rows);
    around<false><<<n / 1024, 1024>>>(a, to, columns, rows);
  }
  for (u32 threads : {128, 256, 512}) around<true><<<(4096 << 13) / threads, threads>>>(a, to, 4096, 8192);
  around<true><<<(1024 << 13) / 256, 256>>>(a, to, 1024, 8192);
  for (u32 x : {16, 100, 1000, 4000}) crossed<double><<<dim3(x, 1000), 1>>>((double *)to, 1, 0);
  for (u32 x : {100, 1000}) crossed<double><<<dim3(x, 1000), 1>>>((double *)to, 20, 500);
  for (u32 x : {4, 32, 128}) {
    crossed<u32><<<dim3(x, 1024), 32>>>(to, 1, 0);
    crossed<u32><<<dim3(x, 1024), 32>>>(to, 10, 1000);
  }
  for (u32 x : {1, 4, 16, 128}) crossed<u32><<<dim3(x, 1024), 256>>>(to, 1, 0);
  for (u32 words : {1 << 18, 1 << 20}) {
    for (u32 apart : {256, 64, 1024}) march<false><<<256, 256>>>(a, b, to, words, apart);
    march<true><<<256, 256>>>(a, b, to, words, 256);
  }
  march<true><<<256, 256>>>(a, b, to, 1 << 23, 256);
  march<true><<<132, 1024>>>(a, b, to, 1 << 20, 1024);
  march<true><<<1056, 256>>>(a, b, to, 1 << 20, 256);
  march<true><<<64, 256>>>(a, b, to, 1 << 20, 256);
  for (u32 threads : {32, 512}) step<<<32, threads>>>(a, b, to, 40000);
  step<<<256, 128>>>(a, b, to, 40000);
  finish();
  return 0;
}
