// Loads that L1 has, each beside something else, and then a use of all.
#pragma once

// Of each of the others *mask* counts.
template <int LOADS, int OTHERS, class Other>
__device__ __forceinline__ unsigned beside(const unsigned *table, unsigned trips, unsigned apart, unsigned mask,
                                           Other other) {
  unsigned sum = 0;
#pragma unroll 1
  for (unsigned k = 0; k < trips; ++k) {
    const unsigned *from = table + (sum & 1) + threadIdx.x % 32 * apart;
    unsigned at = (sum & 1) + k % 64, v[LOADS > 0 ? LOADS : 1], c[OTHERS > 0 ? OTHERS : 1];
#pragma unroll
    for (int u = 0; u < (LOADS > OTHERS ? LOADS : OTHERS); ++u) {
      if (u < LOADS) asm volatile("ld.global.u32 %0, [%1];" : "=r"(v[u]) : "l"(from + u * 32));
      if (u < OTHERS) c[u] = other(k, u, at);
    }
#pragma unroll
    for (int u = 0; u < LOADS; ++u) sum += v[u];
#pragma unroll
    for (int u = 0; u < OTHERS; ++u) sum += c[u] & mask;
  }
  return sum;
}
