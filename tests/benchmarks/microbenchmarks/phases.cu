// How long the parts of a reduction take warp 0 of a block, by its own clock.  Prints one JSON object: mean cycles of
// loads and their sum, the first round of the tree, another round, a step of the tail, and of a block.
// Run it under ncu, which empties the caches before each launch.
#include "common.cuh"

constexpr int STAMPS = 16;

// Each block of 512 sums CHUNKS * 512 words in place: its own chunks, then a tree, whose last six steps one warp does
// alone (TAIL) or that the whole block does.
template <int CHUNKS, bool TAIL> __global__ void phases(int *data, int *sums, unsigned *stamps) {
  __shared__ unsigned at[16 * STAMPS];
  unsigned tid = threadIdx.x, lane = tid % 32, idx = blockIdx.x * 512 * CHUNKS + tid;
  int *mine = data + blockIdx.x * 512 * CHUNKS;
  unsigned *own = at + tid / 32 * STAMPS;
  if (lane < STAMPS) own[lane] = 0;
  __syncwarp();
  int k = 0;
  auto stamp = [&] {
    if (lane == 0) own[k] = now();
    ++k;
  };
  stamp();
  int sum = 0;
#pragma unroll
  for (int c = 0; c < CHUNKS; ++c) sum += data[idx + c * 512];
  *(volatile int *)(data + idx) = sum;
  stamp();
  __syncthreads();
#pragma unroll
  for (int stride = 256; stride > (TAIL ? 32 : 0); stride >>= 1) {
    if (tid < stride) mine[tid] += mine[tid + stride];
    stamp();
    __syncthreads();
  }
  if (TAIL && tid < 32) {
    volatile int *step = mine;
#pragma unroll
    for (int stride = 32; stride > 0; stride >>= 1) {
      step[tid] += step[tid + stride];
      stamp();
    }
  }
  if (tid == 0) sums[blockIdx.x] = mine[0];
  stamp();
  __syncwarp();
  if (lane < STAMPS) stamps[(blockIdx.x * 16 + tid / 32) * STAMPS + lane] = own[lane];
}

template <int CHUNKS, bool TAIL> void measure(int power) {
  const size_t n = size_t(1) << power;
  const int blocks = n / 512 / CHUNKS;
  int *data = allocate<int>(n), *sums = allocate<int>(n);
  unsigned *stamps = allocate<unsigned>(size_t(blocks) * 16 * STAMPS);
  const std::vector<int> values(n, 1);
  std::vector<double> mean(STAMPS);
  constexpr int ROUNDS = 3;
  for (int round = 0; round < ROUNDS; ++round) {
    upload(data, values);
    phases<CHUNKS, TAIL><<<blocks, 512>>>(data, sums, stamps);
    const auto got = download(stamps, size_t(blocks) * 16 * STAMPS);
    for (int b = 0; b < blocks; ++b) {
      const unsigned *block = &got[size_t(b) * 16 * STAMPS];
      unsigned start = block[0];
      for (int w = 1; w < 16; ++w)
        if (int(block[w * STAMPS] - start) < 0) start = block[w * STAMPS];
      for (int k = 0; k < STAMPS; ++k) mean[k] += double(block[k] - start) / blocks / ROUNDS;
    }
  }
  // 0: the start, 1: the sum is stored, 2: the end of the first round, and of each other one or step; the last: the end.
  const int rounds = TAIL ? 2 : 8, steps = TAIL ? 6 : 0;
  const double *last = &mean[2 + rounds];
  auto part = [&](double cycles, const char *what) {
    report(cycles, "%s.chunks%d.n%d.%s", TAIL ? "tail" : "tree", CHUNKS, power, what);
  };
  part(mean[1] - mean[0], "load");
  part(mean[2] - mean[1], "first_round");
  part((*last - mean[2]) / rounds, "round");
  if constexpr (TAIL) part((last[steps] - last[0]) / steps, "step");
  part(last[steps + 1] - mean[0], "block");
  CHECK(cudaFree(data));
  CHECK(cudaFree(sums));
  CHECK(cudaFree(stamps));
}

int main() {
  for (int power : {18, 20, 22, 24}) {
    measure<1, false>(power);
    measure<2, false>(power);
    measure<4, false>(power);
    measure<8, false>(power);
    measure<8, true>(power);
  }
  end_report();
  return 0;
}
