// Integer sums in fourteen ways, from neighbouring pairs to warp shuffles; each is checked against the host's sum.
//
//   simt nvprof --metrics inst_per_warp,gld_efficiency reduce.cu [SIZE [BLOCK]]
//   nvcc -O3 -arch=sm_90 -o reduce reduce.cu && ./reduce 2^24 512
//
// Every block adds up its part of the data, in place, and writes one sum; the host adds those.  The kernels are right
// for every size and every block size.  Where a block has fewer elements than threads, or their number is no power of
// two, a round folds the upper half of what is live onto the lower half, rounding the half up.
#include "common.h"
#include <vector>

// Neighbouring pairs, stride 1, 2, 4, ...: the working threads are spread thin, and every warp diverges.
__global__ void neighbored(int *data, int *sums, unsigned n) {
  const unsigned tid = threadIdx.x, base = blockIdx.x * blockDim.x;
  const unsigned count = min(blockDim.x, n - base);
  int *part = data + base;
  for (unsigned stride = 1; stride < blockDim.x; stride *= 2) {
    if (tid % (2 * stride) == 0 && tid + stride < count) part[tid] += part[tid + stride];
    __syncthreads();
  }
  if (tid == 0) sums[blockIdx.x] = part[0];
}

// The same pairs, but the first threads do the work: whole warps fall idle instead of single lanes.
__global__ void neighbored_less(int *data, int *sums, unsigned n) {
  const unsigned tid = threadIdx.x, base = blockIdx.x * blockDim.x;
  const unsigned count = min(blockDim.x, n - base);
  int *part = data + base;
  for (unsigned stride = 1; stride < blockDim.x; stride *= 2) {
    const unsigned index = 2 * stride * tid;
    if (index + stride < count) part[index] += part[index + stride];
    __syncthreads();
  }
  if (tid == 0) sums[blockIdx.x] = part[0];
}

// Rounds of half the live elements, a quarter, ...: working lanes read neighbours, so that sectors are full.
__device__ unsigned halve(int *part, unsigned tid, unsigned live, unsigned until) {
  while (live > until) {
    const unsigned half = (live + 1) / 2;
    if (tid + half < live) part[tid] += part[tid + half];
    __syncthreads();
    live = half;
  }
  return live;
}

__global__ void interleaved(int *data, int *sums, unsigned n) {
  const unsigned tid = threadIdx.x, base = blockIdx.x * blockDim.x;
  int *part = data + base;
  halve(part, tid, min(blockDim.x, n - base), 1);
  if (tid == 0) sums[blockIdx.x] = part[0];
}

// Each thread adds one element of each of the block's chunks.  All are loaded before any is added: many loads are in
// flight together, and that is what unrolling gains.
template <unsigned CHUNKS>
__device__ void fold_chunks(int *data, unsigned i, unsigned width, unsigned n) {
  if (i + (CHUNKS - 1) * width < n) {
    int loaded[CHUNKS];
#pragma unroll
    for (unsigned k = 0; k < CHUNKS; ++k) loaded[k] = data[i + k * width];
    int sum = 0;
#pragma unroll
    for (unsigned k = 0; k < CHUNKS; ++k) sum += loaded[k];
    data[i] = sum;
  } else {  // the last block: what there is of the other chunks
    for (unsigned other = i + width; other < n; other += width) data[i] += data[other];
  }
}

template <unsigned CHUNKS>
__device__ void unrolling(int *data, int *sums, unsigned n) {
  const unsigned tid = threadIdx.x, base = blockIdx.x * blockDim.x * CHUNKS;
  int *part = data + base;
  fold_chunks<CHUNKS>(data, base + tid, blockDim.x, n);
  __syncthreads();
  halve(part, tid, min(blockDim.x, n - base), 1);
  if (tid == 0) sums[blockIdx.x] = part[0];
}

__global__ void unrolling2(int *data, int *sums, unsigned n) { unrolling<2>(data, sums, n); }
__global__ void unrolling4(int *data, int *sums, unsigned n) { unrolling<4>(data, sums, n); }
__global__ void unrolling8(int *data, int *sums, unsigned n) { unrolling<8>(data, sums, n); }

// The last 64 elements by the first warp, without block barriers.  Lanes of a warp need not run in step, so that all
// read, wait, write and wait.  Every lane takes every step: only the values of ever fewer of them matter.
__device__ void last_warp(int *part, unsigned tid, unsigned live) {
  if (tid >= 32) return;
  if (live == 64) {
#pragma unroll
    for (unsigned step = 32; step > 0; step /= 2) {
      const int sum = part[tid] + part[tid + step];
      __syncwarp();
      part[tid] = sum;
      __syncwarp();
    }
    return;
  }
  while (live > 1) {
    const unsigned half = (live + 1) / 2;
    if (tid + half < live) part[tid] += part[tid + half];
    __syncwarp();
    live = half;
  }
}

template <unsigned CHUNKS>
__device__ void unroll_warps(int *data, int *sums, unsigned n) {
  const unsigned tid = threadIdx.x, base = blockIdx.x * blockDim.x * CHUNKS;
  int *part = data + base;
  fold_chunks<CHUNKS>(data, base + tid, blockDim.x, n);
  __syncthreads();
  last_warp(part, tid, halve(part, tid, min(blockDim.x, n - base), 64));
  if (tid == 0) sums[blockIdx.x] = part[0];
}

__global__ void unroll_warps4(int *data, int *sums, unsigned n) { unroll_warps<4>(data, sums, n); }
__global__ void unroll_warps8(int *data, int *sums, unsigned n) { unroll_warps<8>(data, sums, n); }

// The rounds written out, each with a test of the block size.  In the round of stride s elements s to 2 s - 1 are added.
template <unsigned STRIDE>
__device__ void fold_round(int *part, unsigned tid, unsigned width, unsigned count) {
  if (width > STRIDE && tid < STRIDE && tid + STRIDE < count) part[tid] += part[tid + STRIDE];
  __syncthreads();
}

template <unsigned CHUNKS>
__device__ void fold_written_out(int *data, int *sums, unsigned n, unsigned width) {
  const unsigned tid = threadIdx.x, base = blockIdx.x * width * CHUNKS;
  int *part = data + base;
  fold_chunks<CHUNKS>(data, base + tid, width, n);
  __syncthreads();
  const unsigned count = min(width, n - base);
  fold_round<512>(part, tid, width, count);
  fold_round<256>(part, tid, width, count);
  fold_round<128>(part, tid, width, count);
  fold_round<64>(part, tid, width, count);
  last_warp(part, tid, min(64u, count));
  if (tid == 0) sums[blockIdx.x] = part[0];
}

__global__ void complete_unroll_warps4(int *data, int *sums, unsigned n) {
  fold_written_out<4>(data, sums, n, blockDim.x);
}
__global__ void complete_unroll_warps8(int *data, int *sums, unsigned n) {
  fold_written_out<8>(data, sums, n, blockDim.x);
}

// The block size as a constant: the compiler drops the tests that it decides.
template <unsigned BLOCK>
__global__ void complete_unroll(int *data, int *sums, unsigned n) {
  fold_written_out<8>(data, sums, n, BLOCK);
}

// Today's ways leave the data alone: in shared memory, through shuffles of registers, with one atomic per block.
__global__ void shared(int *data, int *sums, unsigned n) {
  extern __shared__ int tile[];
  const unsigned tid = threadIdx.x, base = blockIdx.x * blockDim.x;
  if (base + tid < n) tile[tid] = data[base + tid];
  __syncthreads();
  halve(tile, tid, min(blockDim.x, n - base), 1);
  if (tid == 0) sums[blockIdx.x] = tile[0];
}

// Lane 0 gets the sum over the first `lanes` lanes, which must all be here.
__device__ int warp_sum(int value, unsigned lane, unsigned lanes) {
  const unsigned mask = 0xffffffffu >> (32 - lanes);
  for (unsigned step = 16; step > 0; step /= 2) {
    const int other = __shfl_down_sync(mask, value, step);
    if (lane + step < lanes) value += other;
  }
  return value;
}

// Thread 0 gets the sum of the elements that this block's threads take on their way through the grid.
__device__ int block_sum(const int *data, unsigned n) {
  __shared__ int of_warp[32];
  const unsigned tid = threadIdx.x, warp = tid / 32, warps = (blockDim.x + 31) / 32;
  int value = 0;
  for (unsigned i = blockIdx.x * blockDim.x + tid; i < n; i += gridDim.x * blockDim.x) value += data[i];
  value = warp_sum(value, tid % 32, min(32u, blockDim.x - warp * 32));
  if (tid % 32 == 0) of_warp[warp] = value;
  __syncthreads();
  return tid < warps ? warp_sum(of_warp[tid], tid, warps) : 0;
}

__global__ void shuffle(int *data, int *sums, unsigned n) {
  const int sum = block_sum(data, n);
  if (threadIdx.x == 0) sums[blockIdx.x] = sum;
}

__global__ void atomic(int *data, int *sums, unsigned n) {
  const int sum = block_sum(data, n);
  if (threadIdx.x == 0) atomicAdd(sums, sum);
}

// The host's sum, by interleaved pairs; it destroys its data.  Unsigned, since sums may wrap around.
int recursive(std::vector<unsigned> &data, size_t size) {
  if (size == 1) return static_cast<int>(data[0]);
  if (size % 2 == 1) data[0] += data[--size];
  const size_t half = size / 2;
  for (size_t i = 0; i < half; ++i) data[i] += data[i + half];
  return recursive(data, half);
}

using Kernel = void (*)(int *, int *, unsigned);

struct Way {
  const char *name;
  Kernel kernel;       // null: not for this block size
  unsigned per_block;  // chunks of a block's size that a block adds up
  bool one_sum;        // all blocks add to one sum
};

Kernel complete_unroll_for(unsigned block) {
  switch (block) {
    case 1024: return complete_unroll<1024>;
    case 512: return complete_unroll<512>;
    case 256: return complete_unroll<256>;
    case 128: return complete_unroll<128>;
    case 64: return complete_unroll<64>;
    default: return nullptr;
  }
}

int main(int argc, char **argv) {
  const unsigned n = number(argc, argv, 1, 1 << 20), block = number(argc, argv, 2, 512);
  const Way ways[] = {
      {"neighbored", neighbored, 1, false},
      {"neighbored_less", neighbored_less, 1, false},
      {"interleaved", interleaved, 1, false},
      {"unrolling2", unrolling2, 2, false},
      {"unrolling4", unrolling4, 4, false},
      {"unrolling8", unrolling8, 8, false},
      {"unroll_warps4", unroll_warps4, 4, false},
      {"unroll_warps8", unroll_warps8, 8, false},
      {"complete_unroll_warps4", complete_unroll_warps4, 4, false},
      {"complete_unroll_warps8", complete_unroll_warps8, 8, false},
      {"complete_unroll", complete_unroll_for(block), 8, false},
      {"shared", shared, 1, false},
      {"shuffle", shuffle, 8, false},
      {"atomic", atomic, 8, true},
  };
  cudaDeviceProp device;
  CHECK(cudaGetDeviceProperties(&device, 0));
  std::printf("%s: the sum of %u integers in blocks of %u threads\n", device.name, n, block);

  std::vector<int> values(n), sums(divide_up(n, block));
  fill(values.data(), n);
  std::vector<unsigned> scratch(values.begin(), values.end());
  const int expected = recursive(scratch, n);
  int *data = nullptr, *out = nullptr;
  CHECK(cudaMalloc(&data, n * sizeof(int)));
  CHECK(cudaMalloc(&out, sums.size() * sizeof(int)));

  int wrong = 0;
  for (const Way &way : ways) {
    if (way.kernel == nullptr) {
      std::printf("%-24s its block size is a template argument; there is none for %u\n", way.name, block);
      continue;
    }
    const unsigned grid = divide_up(n, block * way.per_block), count = way.one_sum ? 1 : grid;
    CHECK(cudaMemcpy(data, values.data(), n * sizeof(int), cudaMemcpyHostToDevice));
    CHECK(cudaMemset(out, 0, count * sizeof(int)));
    way.kernel<<<grid, block, block * sizeof(int)>>>(data, out, n);
    finish();
    CHECK(cudaMemcpy(sums.data(), out, count * sizeof(int), cudaMemcpyDeviceToHost));
    unsigned sum = 0;
    for (unsigned i = 0; i < count; ++i) sum += static_cast<unsigned>(sums[i]);
    const bool right = static_cast<int>(sum) == expected;
    std::printf("%-24s grid %8u  sum %12d  %s\n", way.name, grid, static_cast<int>(sum), right ? "right" : "WRONG");
    wrong += !right;
  }
  CHECK(cudaFree(data));
  CHECK(cudaFree(out));
  std::printf(wrong ? "%d kernels are wrong: the host's sum is %d\n" : "%d wrong; the host's sum is %d\n", wrong, expected);
  return wrong ? 1 : 0;
}
