// Sums by recursion on the device: kernels that launch kernels, counted as "Calls (device)".
//
//   simt nvprof nested_reduce.cu [BLOCKS [BLOCK]]
//   nvcc -O3 -arch=sm_90 -rdc=true -o nested_reduce nested_reduce.cu -lcudadevrt && ./nested_reduce 2048 512
//
// With 2048 blocks of 512 threads, `nested` and `nested_nosync` launch 8 levels x 2048 = 16,384 child grids of one block;
// `nested2` launches 8, one for each level.  A block of each level folds the upper half of its part onto the lower half.
#include "common.h"
#include <vector>

// Until compute capability 9.0 a kernel could wait for its children, if compiled for the first dynamic parallelism.
#if defined(CUDA_FORCE_CDP1_IF_SUPPORTED) && defined(__CUDA_ARCH__) && __CUDA_ARCH__ < 900
#define JOIN() cudaDeviceSynchronize()
#else
#define JOIN()
#endif

// Thread 0 of every block launches a block of half the size for the rest; the whole block waits before and after.
__global__ void nested(int *data, int *sums, unsigned size) {
  const unsigned tid = threadIdx.x, half = size / 2;
  int *part = data + blockIdx.x * blockDim.x, *sum = sums + blockIdx.x;
  if (size == 2) {
    if (tid == 0) *sum = part[0] + part[1];
    return;
  }
  if (tid < half) part[tid] += part[tid + half];
  __syncthreads();
  if (tid == 0) {
    nested<<<1, half>>>(part, sum, half);
    JOIN();
  }
  __syncthreads();
}

// The same without waiting for the child, whose sum the parent does not need.  The barrier before the launch stays: a
// child must see what all threads of its parent have stored, and a launch shows it only what thread 0 knows of.
__global__ void nested_nosync(int *data, int *sums, unsigned size) {
  const unsigned tid = threadIdx.x, half = size / 2;
  int *part = data + blockIdx.x * blockDim.x, *sum = sums + blockIdx.x;
  if (size == 2) {
    if (tid == 0) *sum = part[0] + part[1];
    return;
  }
  if (tid < half) part[tid] += part[tid + half];
  __syncthreads();
  if (tid == 0) nested_nosync<<<1, half>>>(part, sum, half);
}

// One launch for each level: a grid of all blocks, which starts when the whole parent grid has ended (a tail launch).
__global__ void nested2(int *data, int *sums, unsigned half, unsigned width) {
  const unsigned tid = threadIdx.x;
  int *part = data + blockIdx.x * width;
  if (half == 1) {
    if (tid == 0) sums[blockIdx.x] = part[0] + part[1];
    return;
  }
  part[tid] += part[tid + half];
  if (tid == 0 && blockIdx.x == 0)
    nested2<<<gridDim.x, half / 2, 0, cudaStreamTailLaunch>>>(data, sums, half / 2, width);
}

int main(int argc, char **argv) {
  const unsigned blocks = number(argc, argv, 1, 64), block = number(argc, argv, 2, 512);
  if (block < 2 || block > 1024 || (block & (block - 1)) != 0) {
    std::fprintf(stderr, "a block must have 2, 4, 8, ... or 1024 threads\n");
    return 2;
  }
  if (blocks > 1 << 16) {
    std::fprintf(stderr, "more than 2^16 blocks would have more children than a GPU can hold\n");
    return 2;
  }
  const unsigned n = blocks * block;
  std::vector<int> values(n), sums(blocks);
  fill(values.data(), n);
  unsigned expected = 0;
  for (int value : values) expected += static_cast<unsigned>(value);
  int *data = nullptr, *out = nullptr;
  CHECK(cudaMalloc(&data, n * sizeof(int)));
  CHECK(cudaMalloc(&out, blocks * sizeof(int)));
  // Every block of a level may have a child that waits for room on the device.
  CHECK(cudaDeviceSetLimit(cudaLimitDevRuntimePendingLaunchCount, blocks * 10));

  int wrong = 0;
  auto run = [&](const char *name, auto launch) {
    CHECK(cudaMemcpy(data, values.data(), n * sizeof(int), cudaMemcpyHostToDevice));
    CHECK(cudaMemset(out, 0, blocks * sizeof(int)));
    launch();
    finish();
    CHECK(cudaMemcpy(sums.data(), out, blocks * sizeof(int), cudaMemcpyDeviceToHost));
    unsigned sum = 0;
    for (int value : sums) sum += static_cast<unsigned>(value);
    std::printf("%-14s sum %12d  %s\n", name, static_cast<int>(sum), sum == expected ? "right" : "WRONG");
    wrong += sum != expected;
  };
  run("nested", [&] { nested<<<blocks, block>>>(data, out, block); });
  run("nested_nosync", [&] { nested_nosync<<<blocks, block>>>(data, out, block); });
  run("nested2", [&] { nested2<<<blocks, block / 2>>>(data, out, block / 2, block); });
  CHECK(cudaFree(data));
  CHECK(cudaFree(out));
  return wrong ? 1 : 0;
}
