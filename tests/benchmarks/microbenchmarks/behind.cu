// Loads of local memory soon after stores to the same lines; by Nsight Compute.
#include "common.cuh"

// The first `lanes` lanes go through their own arrays of 32 words, all at different words, `step` words on each time,
// with `gap` operations from a store to the next load, in local memory or LOCAL false in global memory.
template <bool LOCAL> __global__ void own(unsigned *out, unsigned lanes, unsigned step, unsigned gap, unsigned trips) {
  unsigned array[32];
  for (unsigned k = 0; k < 32; ++k) array[k] = out[k];
  if (threadIdx.x % 32 >= lanes) return;
  unsigned *mine = out + 64 + threadIdx.x;
  unsigned at = threadIdx.x & 31, x = 0;
#pragma unroll 1
  for (unsigned k = 0; k < trips; ++k) {
    if (LOCAL) x = array[at]; else asm volatile("ld.global.u32 %0, [%1];" : "=r"(x) : "l"(mine + at * 32) : "memory");
    if (LOCAL) array[at] = x + 1; else asm volatile("st.global.u32 [%0], %1;" :: "l"(mine + at * 32), "r"(x + 1) : "memory");
    unsigned y = x >> 24;
#pragma unroll 1
    for (unsigned g = 0; g < gap; ++g) y = y * 3;
    at = (at + step + y) & 31;
  }
  for (unsigned k = 0; k < 32; ++k) x += array[(k + x) & 31];
  out[threadIdx.x + 32] = x;
}

int main() {
  unsigned *out = allocate<unsigned>(1 << 16);
  for (unsigned step : {0, 1, 8})
    for (unsigned gap : {0, 1, 2, 4, 8, 16}) own<true><<<1, 32>>>(out, 32, step, gap, 1024);
  for (unsigned step : {0, 1, 8})
    for (unsigned lanes : {4, 8, 12, 16, 20, 24, 28}) own<true><<<1, 32>>>(out, lanes, step, 0, 1024);
  for (unsigned step : {0, 1, 8})
    for (unsigned gap : {0, 2}) own<false><<<1, 32>>>(out, 32, step, gap, 1024);
  for (unsigned threads : {64, 96, 128}) own<true><<<1, threads>>>(out, 32, 1, 0, 1024);
  finish();
  return 0;
}
