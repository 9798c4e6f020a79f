// Loads from cold caches under a given load, and rows that are not aligned to lines, timed by Nsight Compute.
#include "common.cuh"

// Latency of DRAM by its load: each warp reads LOADS lines, then computes for about 5 * gap to 15 * gap cycles.
template <int LOADS> __global__ void paced(const unsigned *data, unsigned *out, int gap, int trips) {
  unsigned warp = (blockIdx.x * blockDim.x + threadIdx.x) / 32;
  const unsigned *mine = data + size_t(warp) * trips * LOADS * 32 + threadIdx.x % 32;
  unsigned seed = warp * 2654435761u + 12345u, sum = 0;
#pragma unroll 1
  for (int i = 0; i < trips; ++i) {
    seed = seed * 1664525u + 1013904223u;
    int rounds = (gap >> 1) + int(__umulhi(seed, gap));
#pragma unroll 1
    for (int k = 0; k < rounds; ++k) asm volatile("mad.lo.u32 %0, %0, 3, 1;" : "+r"(sum));
    unsigned v[LOADS];
#pragma unroll
    for (int k = 0; k < LOADS; ++k) asm volatile("ld.global.ca.u32 %0, [%1];" : "=r"(v[k]) : "l"(mine + (i * LOADS + k) * 32));
#pragma unroll
    for (int k = 0; k < LOADS; ++k) sum += v[k];
  }
  if (sum == 0x12345) out[0] = sum;
}

// Sixteen loads of one row that DRAM still owes, *offset* words behind the start of a line.
__global__ void rows(const unsigned *data, unsigned *out, int offset, int trips) {
  unsigned warp = (blockIdx.x * blockDim.x + threadIdx.x) / 32;
  const unsigned *mine = data + size_t(warp) * trips * 64 + threadIdx.x % 32 + offset;
  unsigned sum = 0;
#pragma unroll 1
  for (int i = 0; i < trips; ++i) {
    unsigned v[16];
#pragma unroll
    for (int k = 0; k < 16; ++k) asm volatile("ld.global.ca.u32 %0, [%1];" : "=r"(v[k]) : "l"(mine + i * 64));
#pragma unroll
    for (int k = 0; k < 16; ++k) sum += v[k];
  }
  if (sum == 0x12345) out[0] = sum;
}

int main() {
  unsigned *data = allocate<unsigned>(1 << 27), *out = allocate<unsigned>(1024);
  for (int gap : {800, 400, 200, 120, 60, 30, 4}) paced<1><<<264, 1024>>>(data, out, gap, 24);
  for (int gap : {400, 200, 100, 40, 4}) paced<2><<<264, 1024>>>(data, out, gap, 24);
  for (int gap : {800, 200, 4}) paced<1><<<132, 64>>>(data, out, gap, 24);
  for (int threads : {128, 1024})
    for (int offset : {0, 1, 4, 8}) rows<<<264, threads>>>(data, out, offset, 16);
  finish();
  return 0;
}
