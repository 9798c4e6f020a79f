// Constants at places that a register says (LDC c[0x3][R0]), of which the lanes of a warp want several at a time.
#include "common.cuh"

__constant__ unsigned table[4096];

// The word so many bytes from the table's start.
__device__ __forceinline__ unsigned word(unsigned at) {
  return *(const unsigned *)((const char *)table + at);
}

// Where a lane looks: at one of *different* words, *apart* bytes from each other; those of a few lanes beside each other
// are the same if BESIDE, else those of every so many-th.
template <bool BESIDE = false> __device__ __forceinline__ unsigned place(unsigned different, unsigned apart) {
  unsigned lane = threadIdx.x % 32;
  return (BESIDE ? lane * different / 32 : lane % different) * apart;
}

// Each place depends on the word before; all words are 0.
template <bool BESIDE> __global__ void chained(unsigned *to, unsigned different, unsigned apart, int count) {
  unsigned at = place<BESIDE>(different, apart);
#pragma unroll 1
  for (int k = 0; k < count; ++k) {
#pragma unroll
    for (int j = 0; j < 4; ++j) at += word(at);
  }
  to[blockIdx.x * blockDim.x + threadIdx.x] = at;
}

// Eight words that do not depend on each other, each with so many of another kind: loads from shared memory (1), loads
// that L1 has (2), special functions (3), shuffles (4).
template <int LDC, int KIND, int OTHERS>
__global__ void free_ones(unsigned *to, const unsigned *from, unsigned different, unsigned apart, int count) {
  __shared__ unsigned shared[1024];
  for (unsigned i = threadIdx.x; i < 1024; i += blockDim.x) shared[i] = 0;
  __syncthreads();
  unsigned at = place(different, apart), sum = 0, own = threadIdx.x % 32;
  float x = float(threadIdx.x);
#pragma unroll 1
  for (int k = 0; k < count; ++k) {
    asm volatile("" : "+r"(at), "+r"(own));
    unsigned words[8] = {}, others[8] = {};
#pragma unroll
    for (int j = 0; j < 8; ++j) {
      if (j < LDC) words[j] = word(at + 4 * j);
      if (j < OTHERS) {
        if (KIND == 1) others[j] = ((volatile unsigned *)shared)[own + 32 * j];
        if (KIND == 2) others[j] = __ldg(from + own + 32 * j);
        if (KIND == 3) x = __cosf(x);
        if (KIND == 4) others[j] = __shfl_xor_sync(~0u, own, j + 1);
      }
    }
#pragma unroll
    for (int j = 0; j < 8; ++j) sum += words[j] ^ others[j];
  }
  to[blockIdx.x * blockDim.x + threadIdx.x] = sum + unsigned(x);
}

// A checksum as programs compute it: the next byte says where in the table a lane looks.
__global__ void checksum(unsigned *to, const unsigned char *from, int count) {
  unsigned sum = ~0u, i = blockIdx.x * blockDim.x + threadIdx.x, step = gridDim.x * blockDim.x;
  for (int k = 0; k < count; ++k) sum = table[(sum ^ from[k * step + i]) & 255] ^ (i * 2654435761u >> (k & 15)) ^ (sum >> 8);
  to[i] = sum;
}

int main() {
  unsigned *to = allocate<unsigned>(1 << 18), *from = allocate<unsigned>(1 << 20);
  auto chains = [&](int warps, unsigned different, unsigned apart, int count) {
    chained<false><<<SMS, 32 * warps>>>(to, different, apart, count);
  };
  for (unsigned different : {1, 2, 3, 4, 8, 16, 32}) chains(1, different, 4, 96);
  for (unsigned apart : {8, 16, 32, 64, 256}) chains(1, 32, apart, 48);
  for (unsigned apart : {64, 256}) chains(1, 4, apart, 96);
  chained<true><<<SMS, 32>>>(to, 8, 4, 96);
  chained<true><<<SMS, 32>>>(to, 2, 4, 96);
  for (int warps : {4, 8, 32})
    for (unsigned different : {1, 2, 8, 32}) chains(warps, different, 4, 48);
  chains(8, 32, 64, 24);
  for (int warps : {1, 4, 8, 32})
    for (unsigned different : {1, 2, 8, 32}) free_ones<8, 0, 0><<<SMS, 32 * warps>>>(to, from, different, 4, 48);
  for (int warps : {8, 32}) {
    free_ones<0, 1, 8><<<SMS, 32 * warps>>>(to, from, 1, 4, 96);
    free_ones<0, 2, 8><<<SMS, 32 * warps>>>(to, from, 1, 4, 96);
    for (unsigned different : {1, 8, 32}) {
      free_ones<2, 1, 8><<<SMS, 32 * warps>>>(to, from, different, 4, 48);
      free_ones<2, 2, 8><<<SMS, 32 * warps>>>(to, from, different, 4, 48);
      free_ones<2, 3, 2><<<SMS, 32 * warps>>>(to, from, different, 4, 48);
    }
  }
  for (int warps : {1, 8, 32}) checksum<<<SMS, 32 * warps>>>(to, (const unsigned char *)from, 24);
  finish();
  return 0;
}
