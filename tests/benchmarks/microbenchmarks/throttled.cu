// Loads that hit L1 and wait for each other: who is charged (lg_throttle or long_scoreboard).  For Nsight Compute.
#include "common.cuh"

// Each trip loads AT_ONCE times, of *lines* lines, and waits for all.
template <int AT_ONCE> __global__ void fetched(unsigned *data, unsigned group, unsigned within, unsigned across, int trips) {
  unsigned *in = data + threadIdx.x % 32 % group * within + threadIdx.x % 32 / group * across, sum = 0;
#pragma unroll 1
  for (int i = 0; i < trips; ++i) {
    unsigned v[AT_ONCE];
#pragma unroll
    for (int k = 0; k < AT_ONCE; ++k) asm volatile("ld.global.u32 %0, [%1];" : "=r"(v[k]) : "l"(in + 32 * k) : "memory");
#pragma unroll
    for (int k = 0; k < AT_ONCE; ++k) sum += v[k];
  }
  if (sum == 0x12345) data[0] = sum;
}

// The same of shared memory.
template <int AT_ONCE> __global__ void taken(unsigned *data, unsigned group, unsigned within, unsigned across, int trips) {
  __shared__ unsigned array[2048];
  unsigned at = threadIdx.x % 32 % group * within + threadIdx.x % 32 / group * across, sum = 0;
  for (unsigned i = threadIdx.x; i < 2048; i += blockDim.x) array[i] = 0;
  __syncthreads();
  unsigned in = (unsigned)__cvta_generic_to_shared(array + at);
#pragma unroll 1
  for (int i = 0; i < trips; ++i) {
    unsigned v[AT_ONCE];
#pragma unroll
    for (int k = 0; k < AT_ONCE; ++k) asm volatile("ld.shared.u32 %0, [%1];" : "=r"(v[k]) : "r"(in + 128 * k) : "memory");
#pragma unroll
    for (int k = 0; k < AT_ONCE; ++k) sum += v[k];
  }
  if (sum == 0x12345) data[0] = sum;
}

template <int AT_ONCE> void each(unsigned *data) {
  for (unsigned threads : {128u, 256u, 512u, 1024u}) {
    fetched<AT_ONCE><<<SMS, threads>>>(data, 32, 1, 0, 64);
    fetched<AT_ONCE><<<SMS, threads>>>(data, 16, 1, 1024, 64);
    fetched<AT_ONCE><<<SMS, threads>>>(data, 16, 0, 1024, 64);
    fetched<AT_ONCE><<<SMS, threads>>>(data, 1, 0, 32, 32);
  }
  fetched<AT_ONCE><<<2 * SMS, 1024>>>(data, 32, 1, 0, 64);
  fetched<AT_ONCE><<<2 * SMS, 1024>>>(data, 16, 1, 1024, 64);
  fetched<AT_ONCE><<<2 * SMS, 1024>>>(data, 16, 0, 1024, 64);
  for (unsigned threads : {256u, 1024u}) {
    taken<AT_ONCE><<<SMS, threads>>>(data, 32, 1, 0, 64);
    taken<AT_ONCE><<<SMS, threads>>>(data, 1, 0, 32, 32);
  }
  finish();
}

int main() {
  unsigned *data = allocate<unsigned>(1 << 20);
  each<1>(data);
  each<2>(data);
  each<4>(data);
  each<8>(data);
  return 0;
}
