// The sum of two matrices in blocks of any shape: which shape reads memory well, and which fills the GPU?
//
//   simt nvprof --metrics achieved_occupancy,gld_efficiency sum_matrix.cu 32 32
//   nvcc -O3 -arch=sm_90 -o sum_matrix sum_matrix.cu && ./sum_matrix BLOCK_X BLOCK_Y [SIZE]
//
// Try 32 32, 32 16, 16 32 and 16 16, then 4 64: lanes of a warp read neighbours along x, so that below 8 threads in x
// (one sector of 32 bytes) loads waste part of what they move.
#include "common.h"
#include <vector>

__global__ void sum_matrix(const float *a, const float *b, float *c, unsigned columns, unsigned rows) {
  const unsigned x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y * blockDim.y + threadIdx.y;
  if (x < columns && y < rows) c[y * columns + x] = a[y * columns + x] + b[y * columns + x];
}

int main(int argc, char **argv) {
  const dim3 block(number(argc, argv, 1, 32), number(argc, argv, 2, 32));
  const unsigned size = number(argc, argv, 3, 1024), n = size * size;
  if (size > 1 << 14) {
    std::fprintf(stderr, "a matrix may have 2^14 rows\n");
    return 2;
  }
  const dim3 grid(divide_up(size, block.x), divide_up(size, block.y));
  std::vector<float> a(n), b(n), c(n);
  for (unsigned i = 0; i < n; ++i) {
    a[i] = static_cast<float>(i % 1000) / 8;
    b[i] = static_cast<float>(i % 77);
  }
  float *on_device[3];
  for (float *&each : on_device) CHECK(cudaMalloc(&each, n * sizeof(float)));
  CHECK(cudaMemcpy(on_device[0], a.data(), n * sizeof(float), cudaMemcpyHostToDevice));
  CHECK(cudaMemcpy(on_device[1], b.data(), n * sizeof(float), cudaMemcpyHostToDevice));
  sum_matrix<<<grid, block>>>(on_device[0], on_device[1], on_device[2], size, size);
  finish();
  CHECK(cudaMemcpy(c.data(), on_device[2], n * sizeof(float), cudaMemcpyDeviceToHost));
  unsigned wrong = 0;
  for (unsigned i = 0; i < n; ++i) wrong += c[i] != a[i] + b[i];
  for (float *each : on_device) CHECK(cudaFree(each));
  std::printf("sum_matrix <<<(%u, %u), (%u, %u)>>>  %u wrong\n", grid.x, grid.y, block.x, block.y, wrong);
  return wrong ? 1 : 0;
}
