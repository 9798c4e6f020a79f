// Branches that diverge, branches that do not, and what the compiler makes of both.
//
//   simt nvprof --metrics branch_efficiency simple_divergence.cu [SIZE [BLOCK]]
//   simt nvprof --events branch,divergent_branch simple_divergence.cu
//   nvcc -O3 -arch=sm_90 -o simple_divergence simple_divergence.cu && ./simple_divergence
//
// With optimisation the compiler predicates or selects, and every branch efficiency is 100 %.  Without (nvcc -G,
// NVCC_APPEND_FLAGS=-G) the branches are there, and those of even and odd threads diverge in every warp.
#include "common.h"
#include <vector>

// Even and odd threads part: each warp runs both ways.
__global__ void even_odd(float *out) {
  const unsigned i = blockIdx.x * blockDim.x + threadIdx.x;
  float a = 0, b = 0;
  if (i % 2 == 0) {
    a = 100;
  } else {
    b = 200;
  }
  out[i] = a + b;
}

// Even and odd warps part: each warp runs one way.
__global__ void whole_warps(float *out) {
  const unsigned i = blockIdx.x * blockDim.x + threadIdx.x;
  float a = 0, b = 0;
  if (i / warpSize % 2 == 0) {
    a = 100;
  } else {
    b = 200;
  }
  out[i] = a + b;
}

// Two ifs for one if/else: two branches that diverge.
__global__ void two_ifs(float *out) {
  const unsigned i = blockIdx.x * blockDim.x + threadIdx.x;
  const bool even = i % 2 == 0;
  float a = 0, b = 0;
  if (even) a = 100;
  if (!even) b = 200;
  out[i] = a + b;
}

// What is often written for i % 2 == 0, and means i & (1 == 0): all threads take the else.
__global__ void precedence(float *out) {
  const unsigned i = blockIdx.x * blockDim.x + threadIdx.x;
  float a = 0, b = 0;
  if (i & (0x01 == 0)) {
    a = 100;
  } else {
    b = 200;
  }
  out[i] = a + b;
}

int main(int argc, char **argv) {
  const unsigned n = number(argc, argv, 1, 1 << 16), block = number(argc, argv, 2, 64);
  const unsigned grid = divide_up(n, block);
  struct {
    const char *name;
    void (*kernel)(float *);
    float (*expected)(unsigned i);
  } const cases[] = {
      {"even_odd", even_odd, [](unsigned i) { return i % 2 ? 200.0f : 100.0f; }},
      {"whole_warps", whole_warps, [](unsigned i) { return i / 32 % 2 ? 200.0f : 100.0f; }},
      {"two_ifs", two_ifs, [](unsigned i) { return i % 2 ? 200.0f : 100.0f; }},
      {"precedence", precedence, [](unsigned) { return 200.0f; }},
  };
  std::vector<float> values(grid * block);
  float *out = nullptr;
  CHECK(cudaMalloc(&out, values.size() * sizeof(float)));
  int wrong = 0;
  for (const auto &each : cases) {
    each.kernel<<<grid, block>>>(out);
    finish();
    CHECK(cudaMemcpy(values.data(), out, values.size() * sizeof(float), cudaMemcpyDeviceToHost));
    bool right = true;
    for (unsigned i = 0; i < values.size(); ++i) right = right && values[i] == each.expected(i);
    std::printf("%-12s <<<%u, %u>>>  %s\n", each.name, grid, block, right ? "right" : "WRONG");
    wrong += !right;
  }
  CHECK(cudaFree(out));
  return wrong ? 1 : 0;
}
