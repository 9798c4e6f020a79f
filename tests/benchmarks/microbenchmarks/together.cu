// Lines of DRAM that are asked for together: which of them come together.  Prints one JSON object: cycles until all
// lines of a warp are there (mean), and until those of all warps of a block are (last).
#include "common.cuh"

constexpr int TRIPS = 16;
constexpr unsigned REGION = 1 << 15;  // words

// Leaves nothing in L2 but lines that need not be written back.
__global__ void forget(const uint4 *others, unsigned *out, size_t n) {
  unsigned sum = 0;
  for (size_t i = blockIdx.x * size_t(blockDim.x) + threadIdx.x; i < n; i += size_t(gridDim.x) * blockDim.x) sum += others[i].x;
  if (sum == 0x12345) out[0] = sum;
}

// TRIPS times, each block in another region: warps whose first lines are *warps_apart* words apart load LOADS lines each
// that are *apart* words apart.
template <int LOADS>
__global__ void together(const unsigned *data, unsigned *cycles, unsigned apart, unsigned warps_apart) {
  unsigned warp = threadIdx.x / 32, warps = blockDim.x / 32, sum = 0;
#pragma unroll 1
  for (int i = 0; i < TRIPS; ++i) {
    const unsigned *place = data + size_t(i * gridDim.x + blockIdx.x) * REGION + warp * warps_apart + (sum & 1) + threadIdx.x % 32;
    unsigned v[LOADS];
    long long start, end;
    asm volatile("mov.u64 %0, %%clock64;" : "=l"(start)::"memory");
#pragma unroll
    for (int k = 0; k < LOADS; ++k) asm volatile("ld.global.ca.u32 %0, [%1];" : "=r"(v[k]) : "l"(place + k * apart) : "memory");
    unsigned all = 0;
#pragma unroll
    for (int k = 0; k < LOADS; ++k) all += v[k];
    asm volatile("{ .reg .pred p; setp.eq.u32 p, %0, 77; @p trap; }" ::"r"(all) : "memory");
    asm volatile("mov.u64 %0, %%clock64;" : "=l"(end)::"memory");
    sum += all;
    if (threadIdx.x % 32 == 0) cycles[(blockIdx.x * warps + warp) * TRIPS + i] = unsigned(end - start);
    __syncthreads();
  }
}

unsigned *data, *others, *cycles;

template <int LOADS> void measure(int warps, unsigned apart, unsigned warps_apart) {
  forget<<<8 * SMS, 256>>>((const uint4 *)others, cycles, size_t(1) << 24);
  together<LOADS><<<SMS, warps * 32>>>(data, cycles, apart, warps_apart);
  const auto each = download(cycles, SMS * warps * TRIPS);
  double mean = 0, last = 0;
  for (unsigned v : each) mean += double(v) / each.size();
  for (int b = 0; b < SMS; ++b)
    for (int i = 0; i < TRIPS; ++i) {
      unsigned most = 0;
      for (int w = 0; w < warps; ++w) most = std::max(most, each[(b * warps + w) * TRIPS + i]);
      last += double(most) / SMS / TRIPS;
    }
  auto time = [&](double value, const char *what) {
    report(value, "loads%d.apart%u.warps%d.apart%u.%s", LOADS, apart * 4, warps, warps_apart * 4, what);
  };
  time(mean, "mean");
  if (warps > 1) time(last, "last");
}

int main() {
  data = allocate<unsigned>(1 << 28);
  others = allocate<unsigned>(1 << 26);
  cycles = allocate<unsigned>(SMS * 32 * TRIPS);
  measure<1>(1, 0, 0);
  for (unsigned apart : {32, 64, 128, 256, 512, 2048}) measure<2>(1, apart, 0);
  for (unsigned warps_apart : {32, 64, 128, 512, 1024, 2048}) measure<1>(16, 0, warps_apart);
  for (unsigned apart : {512, 1024, 2048}) {
    measure<2>(16, apart, 32);
    measure<4>(16, apart, 32);
    measure<8>(16, apart, 32);
  }
  end_report();
  return 0;
}
