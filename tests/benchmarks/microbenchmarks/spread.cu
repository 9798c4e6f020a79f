// How much the latency of DRAM differs from load to load: one load at a time and warp, each timed.  Prints one JSON object.
#include "common.cuh"
#include <cmath>

constexpr int TRIPS = 32;

// Each warp loads TRIPS lines that are *apart* words apart, the lines of all warps side by side; cycles[warp * TRIPS + trip].
extern "C" __global__ void spread(const unsigned *data, unsigned *cycles, unsigned apart) {
  unsigned warp = (blockIdx.x * blockDim.x + threadIdx.x) / 32, sum = 0;
#pragma unroll 1
  for (int i = 0; i < TRIPS; ++i) {
    const unsigned *place = data + size_t(warp * TRIPS + i) * apart + (sum & 1) + threadIdx.x % 32;
    unsigned value;
    long long start, end;
    asm volatile("mov.u64 %0, %%clock64;" : "=l"(start)::"memory");
    asm volatile("ld.global.ca.u32 %0, [%1];" : "=r"(value) : "l"(place) : "memory");
    asm volatile("{ .reg .pred p; setp.eq.u32 p, %1, 77; @p trap; mov.u64 %0, %%clock64; }" : "=l"(end) : "r"(value) : "memory");
    sum += value;
    if (threadIdx.x % 32 == 0) cycles[warp * TRIPS + i] = unsigned(end - start);
  }
}

int main() {
  const size_t bytes = 1 << 28;
  unsigned *data = allocate<unsigned>(bytes / 4), *others = allocate<unsigned>(bytes / 4);
  unsigned *cycles = allocate<unsigned>(SMS * 32 * TRIPS);
  for (unsigned apart : {32u, 64u, 1024u})
    for (int warps : {1, 4, 8}) {
      CHECK(cudaMemset(others, 0, bytes));  // L2 forgets the lines
      spread<<<SMS, warps * 32>>>(data, cycles, apart);
      const int n = SMS * warps;
      auto each = download(cycles, n * TRIPS);
      double mean = 0, variance = 0;
      for (unsigned v : each) mean += double(v) / each.size();
      for (int w = 0; w < n; ++w) {
        double own = 0;
        for (int i = 0; i < TRIPS; ++i) own += double(each[w * TRIPS + i]) / TRIPS;
        variance += (own - mean) * (own - mean) / n;
      }
      std::sort(each.begin(), each.end());
      report(mean, "dram.apart%u.warps%d.mean", apart * 4, warps);
      for (int percent : {5, 25, 50, 75, 95})
        report(each[each.size() * percent / 100], "dram.apart%u.warps%d.p%d", apart * 4, warps, percent);
      report(std::sqrt(variance), "dram.apart%u.warps%d.deviation_of_warps", apart * 4, warps);
    }
  end_report();
  return 0;
}
