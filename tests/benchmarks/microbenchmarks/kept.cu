// What L2 keeps of what is read and written, what it writes to DRAM and when, and streams of words by blocks of many
// shapes; by Nsight Compute.
#include "common.cuh"

__device__ __forceinline__ unsigned load(const unsigned *from) {
  unsigned x;
  asm volatile("ld.global.u32 %0, [%1];" : "=r"(x) : "l"(from) : "memory");
  return x;
}

__device__ __forceinline__ unsigned long long load(const unsigned long long *from) {
  unsigned long long x;
  asm volatile("ld.global.u64 %0, [%1];" : "=l"(x) : "l"(from) : "memory");
  return x;
}

// Each thread reads four words, and keeps their sum if it is one that does not occur.
__global__ void reads(const uint4 *from, unsigned *to) {
  uint4 x = from[blockIdx.x * blockDim.x + threadIdx.x];
  if ((x.x + x.y + x.z + x.w) == 77) *to = x.x;
}

__global__ void writes(uint4 *to) { to[blockIdx.x * blockDim.x + threadIdx.x] = make_uint4(1, 2, 3, 4); }

// Each block reads all of so many pieces of 16 KiB, `passes` times, from the piece on that its number says.
__global__ void sweeps(const uint4 *from, unsigned pieces, unsigned passes, unsigned *to) {
  unsigned sum = 0;
  for (unsigned k = 0; k < passes * pieces; ++k) sum += from[(blockIdx.x + k) % pieces * blockDim.x + threadIdx.x].x;
  if (sum == 77) *to = sum;
}

// Each thread stores `each` times four words; then each block waits for so many cycles of its SM.
__global__ void waits(uint4 *to, unsigned each, long long cycles) {
  long long start = clock64();
  for (unsigned k = 0; k < each; ++k) to[(k * gridDim.x + blockIdx.x) * blockDim.x + threadIdx.x] = make_uint4(1, 2, 3, 4);
  while (clock64() - start < cycles) {
  }
}

// Each thread stores to its word, in a line of its own, over and over for so many cycles.
__global__ void rewrites(unsigned *to, long long cycles) {
  long long start = clock64();
  volatile unsigned *mine = to + (blockIdx.x * blockDim.x + threadIdx.x) * 32;
  for (unsigned k = 0; clock64() - start < cycles; ++k) *mine = k;
}

// Each thread stores an element of a picture; with TURNED, blocks side by side in a row are not launched one after the other.
template <class T, bool TURNED> __global__ void picture(T *to, unsigned pitch) {
  unsigned across = TURNED ? blockIdx.y : blockIdx.x, down = TURNED ? blockIdx.x : blockIdx.y;
  to[(down * blockDim.y + threadIdx.y) * pitch + across * blockDim.x + threadIdx.x] = (T)across;
}

// Each thread reads an element of READS arrays that follow each other, and stores their sum, or keeps it if it is one that
// does not occur.
template <class T, int READS, int WRITES> __global__ void stream(const T *from, T *to, size_t n) {
  size_t i = (size_t)blockIdx.x * blockDim.x + threadIdx.x;
  T x[READS], sum = 0;
#pragma unroll
  for (int k = 0; k < READS; ++k) x[k] = load(from + k * n + i);
#pragma unroll
  for (int k = 0; k < READS; ++k) sum += x[k];
  if (WRITES) to[i] = sum;
  else if (sum == 77) *to = sum;
}

template <class T, int READS, int WRITES> void streams(const unsigned *from, unsigned *to, unsigned threads, unsigned shared) {
  CHECK(cudaFuncSetAttribute(stream<T, READS, WRITES>, cudaFuncAttributeMaxDynamicSharedMemorySize, 1 << 16));
  const size_t n = (1 << 26) / sizeof(T);  // 64 MiB each
  stream<T, READS, WRITES><<<n / threads, threads, shared>>>((const T *)from, (T *)to, n);
}

template <class T, bool TURNED> void pictures(unsigned *to, dim3 block, unsigned width, unsigned height) {
  dim3 grid(width / block.x, height / block.y);
  if (TURNED) grid = dim3(grid.y, grid.x);
  picture<T, TURNED><<<grid, block>>>((T *)to, width);
}

int main() {
  using u32 = unsigned;
  using u64 = unsigned long long;
  u32 *from = allocate<u32>(3 << 24), *to = allocate<u32>(1 << 25);
  for (unsigned mib : {8, 16, 20, 24, 28, 32, 36, 40, 48, 56, 64, 96, 128}) {
    reads<<<mib * 256, 256>>>((const uint4 *)from, to);
    writes<<<mib * 256, 256>>>((uint4 *)to);
  }
  for (unsigned mib : {8, 16, 24, 32, 40})
    for (unsigned passes : {1, 2}) sweeps<<<132, 1024>>>((const uint4 *)from, mib * 64, passes, to);
  for (unsigned mib : {4, 16, 32})
    for (long long cycles : {100000ll, 1000000ll, 10000000ll, 100000000ll}) waits<<<1024, 256>>>((uint4 *)to, mib / 4, cycles);
  for (long long cycles : {10000000ll, 100000000ll}) {
    rewrites<<<1, 32>>>(to, cycles);
    rewrites<<<32, 32>>>(to, cycles);
    rewrites<<<132, 256>>>(to, cycles);
  }
  using u8 = unsigned char;
  for (unsigned width : {512, 1920, 2048, 8192}) {
    pictures<u8, false>(to, dim3(16, 16), width, 1024);
    pictures<u8, true>(to, dim3(16, 16), width, 1024);
    pictures<u8, false>(to, dim3(32, 8), width, 1024);
    pictures<u8, false>(to, dim3(8, 32), width, 1024);
  }
  for (unsigned width : {512, 2048}) {
    pictures<u32, false>(to, dim3(4, 64), width, 1024);
    pictures<u32, true>(to, dim3(4, 64), width, 1024);
    pictures<u32, false>(to, dim3(16, 16), width, 1024);
    pictures<u32, true>(to, dim3(16, 16), width, 1024);
  }
  for (unsigned threads : {128, 256, 512, 1024}) {
    streams<u32, 1, 0>(from, to, threads, 0);
    streams<u32, 2, 0>(from, to, threads, 0);
    streams<u32, 3, 0>(from, to, threads, 0);
    streams<u32, 1, 1>(from, to, threads, 0);
    streams<u32, 2, 1>(from, to, threads, 0);
    streams<u32, 3, 1>(from, to, threads, 0);
    streams<u64, 1, 0>(from, to, threads, 0);
    streams<u64, 2, 0>(from, to, threads, 0);
    streams<u64, 1, 1>(from, to, threads, 0);
    streams<u64, 2, 1>(from, to, threads, 0);
  }
  for (unsigned shared : {26 << 10, 54 << 10}) {  // eight blocks on an SM fit with the first, four with the second
    streams<u32, 1, 0>(from, to, 128, shared);
    streams<u32, 2, 0>(from, to, 128, shared);
    streams<u32, 1, 1>(from, to, 128, shared);
    streams<u32, 2, 1>(from, to, 128, shared);
    streams<u32, 3, 1>(from, to, 128, shared);
  }
  finish();
  return 0;
}
