// What loads that hit L1 and stores of whole lines cost each other in the load/store unit, by the SM's own clock.
// Prints one JSON object: cycles of the SM per warp that does some loads, then some stores.
#include "common.cuh"

// Each warp has lines of its own; with UPDATE it stores to the first that it loaded, what it has made of them.
template <int LOADS, int STORES, bool UPDATE>
__global__ void mixed(long long *cycles, unsigned *sink, unsigned *data, int trips) {
  unsigned *in = data + threadIdx.x, *out = UPDATE ? in : in + (1 << 14), x = 0;
  for (int k = 0; k < 4; ++k) x += in[k * 1024];
  long long took = timed<8>(trips, [&](int, int) {
    unsigned loaded[LOADS + 1];
#pragma unroll
    for (int k = 0; k < LOADS; ++k)
      asm volatile("ld.global.ca.u32 %0, [%1];" : "=r"(loaded[k]) : "l"(in + k * 1024) : "memory");
    if (UPDATE)
      for (int k = 0; k < LOADS; ++k) x += loaded[k];
#pragma unroll
    for (int k = 0; k < STORES; ++k)
      asm volatile("st.global.u32 [%0], %1;" ::"l"(out + k * 1024), "r"(x) : "memory");
    if (!UPDATE)
      for (int k = 0; k < LOADS; ++k) x += loaded[k];
  });
  if (x == 12345678) sink[0] = x;
  if (threadIdx.x == 0) cycles[0] = took;
}

template <int LOADS, int STORES, bool UPDATE> void measure(unsigned *data) {
  for (int warps : {8, 16, 32}) {
    auto launch = [&](int trips) { mixed<LOADS, STORES, UPDATE><<<1, 32 * warps>>>(d_cycles, d_sink, data, trips); };
    report(slope(launch, 16, 80) / (64 * 8 * warps), "%s%d_loads+%d_stores.warps%d", UPDATE ? "update." : "", LOADS,
           STORES, warps);
  }
}

int main() {
  start_clocked();
  unsigned *data = allocate<unsigned>(1 << 15);
  measure<0, 2, false>(data);
  measure<1, 1, false>(data);
  measure<2, 1, false>(data);
  measure<4, 1, false>(data);
  measure<1, 2, false>(data);
  measure<2, 2, false>(data);
  measure<1, 1, true>(data);
  measure<2, 1, true>(data);
  end_report();
  return 0;
}
