// Loads of few and many lines that DRAM sends, by SMs that have lines of their own or share them, and how long single
// loads take, while L2 has nothing to write and while it has; by their clocks.  Prints one JSON object.
#include "common.cuh"

__global__ void sweep(const unsigned *data, size_t words, unsigned *out) {
  unsigned sum = 0;
  for (size_t i = blockIdx.x * blockDim.x + threadIdx.x; i < words; i += gridDim.x * blockDim.x) sum += data[i];
  if (sum == 77) *out = sum;
}

// The cycle when *value* is there.
__device__ __forceinline__ unsigned when_there(unsigned value) {
  unsigned c;
  asm volatile("{ .reg .pred p; setp.eq.u32 p, %1, 77; @p trap; mov.u32 %0, %%clock; }" : "=r"(c) : "r"(value) : "memory");
  return c;
}

__device__ __forceinline__ unsigned load(const unsigned *at) {
  unsigned value;
  asm volatile("ld.global.ca.u32 %0, [%1];" : "=r"(value) : "l"(at) : "memory");
  return value;
}

// Each load of a warp is of LINES rows, `pitch` words apart, and the next one of the next 64 bytes of each; `share` blocks
// load the same.  With `meet` the warps of a block meet after each load.  Cycles of the loads, and of all, for each warp.
template <int LINES>
__global__ void fan(const unsigned *data, unsigned *cycles, unsigned pitch, unsigned trips, unsigned share, int meet) {
  unsigned warp = threadIdx.x / 32, lane = threadIdx.x % 32, warps = blockDim.x / 32, sum = 0, total = 0;
  const unsigned *at = data + (size_t)((blockIdx.x / share * warps + warp) * LINES + lane / (32 / LINES)) * pitch + lane % (32 / LINES);
  __syncthreads();
  unsigned first = now();
#pragma unroll 1
  for (unsigned i = 0; i < trips; ++i) {
    unsigned start = now(), value = load(at + i * 16 + (sum & 1));
    total += when_there(value) - start;
    sum += value;
    if (meet) __syncthreads();
  }
  unsigned all = now() - first;
  if (lane == 0) {
    cycles[2 * (blockIdx.x * warps + warp)] = total;
    cycles[2 * (blockIdx.x * warps + warp) + 1] = all;
  }
}

// Each warp loads lines one after the other, `apart` words apart, those of all warps side by side, and notes how long each took.
__global__ void tail(const unsigned *data, unsigned short *cycles, unsigned trips, unsigned apart) {
  extern __shared__ unsigned short own[];
  unsigned warps = gridDim.x * blockDim.x / 32, warp = (blockIdx.x * blockDim.x + threadIdx.x) / 32, sum = 0;
#pragma unroll 1
  for (unsigned i = 0; i < trips; ++i) {
    const unsigned *at = data + (size_t)(i * warps + warp) * apart + (sum & 1) + threadIdx.x % 32;
    unsigned start = now(), value = load(at), c = when_there(value) - start;
    sum += value;
    if (threadIdx.x % 32 == 0) own[threadIdx.x / 32 * trips + i] = c > 65535 ? 65535 : c;
  }
  __syncthreads();
  unsigned all = blockDim.x / 32 * trips;
  for (unsigned k = threadIdx.x; k < all; k += blockDim.x) cycles[(size_t)blockIdx.x * all + k] = own[k];
}

unsigned *data, *others, *out;
const size_t OTHERS = 160u << 20;

// L2 forgets what it has: with nothing to write, or with all of its lines still to be written.
void forget(bool written) {
  if (written) CHECK(cudaMemset(others, 0, OTHERS));
  else sweep<<<2 * SMS, 1024>>>(others, OTHERS / 4, out);
  finish();
}

template <int LINES> void fans() {
  const unsigned trips = 32;
  struct Shape {
    unsigned blocks, share;
  };
  for (unsigned pitch : {544u, 1056u})
    for (Shape s : {Shape{1, 1}, {128, 1}, {128, 16}, {128, 128}})
      for (unsigned warps : {1u, 8u})
        for (int meet = 0; meet <= int(warps > 1); ++meet) {
          forget(false);
          fan<LINES><<<s.blocks, warps * 32>>>(data, out, pitch, trips, s.share, meet);
          auto found = download(out, 2 * s.blocks * warps);
          double sums[2] = {0, 0};
          for (size_t k = 0; k < found.size(); ++k) sums[k % 2] += double(found[k]) / (s.blocks * warps * trips);
          for (int all : {0, 1})
            report(sums[all], "fan.lines%d.pitch%u.blocks%u.share%u.warps%u.meet%d.%s", LINES, pitch, s.blocks, s.share, warps, meet, all ? "step" : "load");
        }
}

void tails() {
  struct Shape {
    unsigned blocks, warps, trips;
  };
  for (bool written : {false, true})
    for (unsigned apart : {32u, 1024u})
      for (Shape s : {Shape{1, 8, 64}, {32, 8, 64}, {132, 1, 64}, {132, 4, 64}, {132, 8, 64}, {132, 16, 64}, {132, 32, 32}, {264, 32, 32}}) {
        size_t n = (size_t)s.blocks * s.warps * s.trips;
        std::vector<double> kept[11];  // of several runs, as now and then all loads wait for more than a thousand cycles
        for (int run = 0; run < 5; ++run) {
          forget(written);
          tail<<<s.blocks, s.warps * 32, s.warps * s.trips * 2>>>(data, (unsigned short *)out, s.trips, apart);
          auto found = download((unsigned short *)out, n);
          double mean = 0;
          for (auto v : found) mean += double(v) / n;
          std::sort(found.begin(), found.end());
          kept[0].push_back(mean);
          int k = 1;
          for (double p : {1., 5., 25., 50., 75., 90., 95., 99., 99.9}) kept[k++].push_back(found[std::min(n - 1, size_t(n * p / 100))]);
          kept[k].push_back(found[n - 1]);
        }
        const char *names[] = {"mean", "p1", "p5", "p25", "p50", "p75", "p90", "p95", "p99", "p99.9", "max"};
        for (int k = 0; k < 11; ++k) {
          std::sort(kept[k].begin(), kept[k].end());
          report(kept[k][2], "tail.%s.apart%u.blocks%u.warps%u.%s", written ? "written" : "clean", apart * 4, s.blocks, s.warps, names[k]);
        }
      }
}

int main() {
  data = allocate<unsigned>(320u << 20), others = allocate<unsigned>(OTHERS / 4), out = allocate<unsigned>(1 << 20);
  fans<1>(), fans<2>(), fans<4>(), fans<8>(), fans<16>(), fans<32>();
  tails();
  end_report();
  return 0;
}
