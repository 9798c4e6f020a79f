// What shares the way to the load/store unit: loads that L1 has beside instructions for other pipes.
#include "beside.cuh"
#include "common.cuh"

__constant__ unsigned numbers[256];

// KIND: 0 constants at places that a register says, 2 MUFU, 3 POPC, 4 S2R, 6 shuffles, 7 loads of
// shared memory, 8 F2I, 9 64-bit constants
template <int KIND> __device__ __forceinline__ unsigned other(unsigned x, int u, unsigned at, const unsigned *shared) {
  unsigned y;
  float f;
  if (KIND == 0) return numbers[at + u * 4];
  if (KIND == 2) { asm volatile("rsqrt.approx.ftz.f32 %0, %1;" : "=f"(f) : "f"(__uint_as_float(x + u))); return __float_as_uint(f); }
  if (KIND == 3) { asm volatile("popc.b32 %0, %1;" : "=r"(y) : "r"(x + u)); return y; }
  if (KIND == 4) { asm volatile("mov.u32 %0, %%smid;" : "=r"(y)); return y; }
  if (KIND == 6) { asm volatile("shfl.sync.bfly.b32 %0, %1, 1, 31, -1;" : "=r"(y) : "r"(x + u)); return y; }
  if (KIND == 7) return ((const volatile unsigned *)shared)[(threadIdx.x + u * 32) & 511];
  if (KIND == 8) { asm volatile("cvt.rni.u32.f32 %0, %1;" : "=r"(y) : "f"(__uint_as_float(x + u))); return y; }
  const uint2 v = *(const uint2 *)&numbers[(at + u * 4) & ~1u];
  return v.x + v.y;
}

template <int LOADS, int OTHERS, int KIND> __global__ void fed(const unsigned *table, unsigned trips, unsigned apart, unsigned *out) {
  __shared__ unsigned shared[512];
  shared[threadIdx.x & 511] = 0;
  __syncthreads();
  out[blockIdx.x * blockDim.x + threadIdx.x] = beside<LOADS, OTHERS>(
      table, trips, apart, 2, [](unsigned k, int u, unsigned at) { return other<KIND>(k ^ threadIdx.x, u, at, shared); });
}

// Wide loads by few lanes of a warp, all of one element or each of its own.
template <bool EACH> __global__ void few(const uint4 *table, unsigned trips, unsigned lanes, unsigned *out) {
  unsigned sum = 0, lane = threadIdx.x % 32;
  if (lane < lanes) {
#pragma unroll 1
    for (unsigned k = 0; k < trips; ++k) {
      const uint4 *from = table + (sum & 1) + (EACH ? lane : 0);
#pragma unroll
      for (int u = 0; u < 8; ++u) {
        unsigned a, b, c, d;
        asm volatile("ld.global.v4.u32 {%0, %1, %2, %3}, [%4];" : "=r"(a), "=r"(b), "=r"(c), "=r"(d) : "l"(from + u * 32));
        sum += a + b + c + d;
      }
    }
  }
  out[blockIdx.x * blockDim.x + threadIdx.x] = sum;
}

// Each thread has an element of its own and goes through all n; each block's first element is `apart` behind that of the one before.
__global__ void ranks(const unsigned *p, unsigned *out, unsigned n, unsigned apart) {
  unsigned i = blockIdx.x * apart + threadIdx.x;
  unsigned own = p[i < n ? i : n - 1], less = 0;
  for (unsigned j = 0; j < n; ++j) less += p[j] < own;
  out[blockIdx.x * blockDim.x + threadIdx.x] = less;
}

template <int KIND> void all(const unsigned *p, unsigned *out) {
  for (unsigned apart : {1u, 2u}) fed<16, 8, KIND><<<SMS, 1024>>>(p, 128, apart, out);
  fed<0, 8, KIND><<<SMS, 1024>>>(p, 128, 1, out);
}

int main() {
  unsigned *p = allocate<unsigned>(1 << 22), *out = allocate<unsigned>(1 << 20);
  for (unsigned apart : {1u, 2u}) fed<16, 0, 0><<<SMS, 1024>>>(p, 128, apart, out);
  all<0>(p, out); all<2>(p, out); all<3>(p, out); all<4>(p, out);
  all<6>(p, out); all<7>(p, out); all<8>(p, out); all<9>(p, out);
  for (unsigned lanes : {1u, 8u, 16u, 32u}) {
    few<false><<<SMS, 1024>>>((uint4 *)p, 128, lanes, out);
    few<true><<<SMS, 1024>>>((uint4 *)p, 128, lanes, out);
  }
  for (unsigned n : {8192u, 32768u})
    for (unsigned apart : {0u, 64u, 256u}) ranks<<<132, 256>>>(p, out, n, apart);
  ranks<<<396, 256>>>(p, out, 32768, 256);
  ranks<<<32, 256>>>(p, out, 8192, 256);
  ranks<<<32, 256>>>(p, out, 8192, 0);
  finish();
  return 0;
}
