// Which stores of an SM leave as one: warps that store to the same lines, one after the other; by Nsight Compute.
#include "common.cuh"

__device__ __forceinline__ void store(unsigned *to, unsigned x) {
  asm volatile("st.global.u32 [%0], %1;" ::"l"(to), "r"(x) : "memory");
}

// Each warp, so many times: a store to the block's LINES lines, `apart` words apart, of as many words of each.
template <int LINES> __global__ void turns(unsigned *to, unsigned apart, unsigned times) {
  const unsigned each = 32 / LINES, lane = threadIdx.x % 32, warps = blockDim.x / 32;
  unsigned *line = to + (size_t)blockIdx.x * 32 + lane / each * apart;
#pragma unroll 1
  for (unsigned k = 0; k < times; k += 8)
#pragma unroll
    for (unsigned j = 0; j < 8; ++j)
      if (k + j < times) store(line + (((k + j) * warps + threadIdx.x / 32) * each + lane % each) % 32, lane);
}

template <int LINES> void all(unsigned *to) {
  for (unsigned times : {1, 16})
    for (unsigned blocks : {1, 132, 1056})
      for (unsigned warps : {1, 2, 4, 8, 32}) {
        if (blocks == 1056 && warps != 8 && warps != 4) continue;
        turns<LINES><<<blocks, 32 * warps>>>(to, 1056 * 32 + 32 * 41, times), finish();
      }
}

int main() {
  unsigned *to = allocate<unsigned>(1 << 21);
  all<1>(to);
  all<2>(to);
  all<4>(to);
  all<8>(to);
  all<16>(to);
  all<32>(to);
  return 0;
}
