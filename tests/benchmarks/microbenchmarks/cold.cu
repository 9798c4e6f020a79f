// Launches that Nsight Compute times from cold caches: what the model's launch and memory constants are fitted to.
#include "common.cuh"

__global__ void empty() {}

__global__ void oneStore(int *out) { out[blockIdx.x * blockDim.x + threadIdx.x] = 1; }

// Each thread adds LOADS words, a block apart, and keeps the sum if it is one that does not occur.
template <int LOADS> __global__ void stream(const int *in, int *out) {
  const int *mine = in + blockIdx.x * blockDim.x * LOADS + threadIdx.x;
  int v[LOADS], sum = 0;
#pragma unroll
  for (int k = 0; k < LOADS; ++k) v[k] = mine[k * blockDim.x];
#pragma unroll
  for (int k = 0; k < LOADS; ++k) sum += v[k];
  if (sum == 0x12345) out[0] = sum;
}

__global__ void copy(const int *in, int *out) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  out[i] = in[i];
}

int main() {
  int *in = allocate<int>(1 << 26), *out = allocate<int>(1 << 26);
  for (int block : {32, 512})
    for (int grid : {1, 132, 1056, 8192, 32768}) empty<<<grid, block>>>();
  for (int grid : {132, 1056, 8192}) oneStore<<<grid, 512>>>(out);
  for (int n : {1 << 20, 1 << 22, 1 << 24, 1 << 26}) {
    stream<1><<<n / 512, 512>>>(in, out);
    stream<2><<<n / 1024, 512>>>(in, out);
    stream<4><<<n / 2048, 512>>>(in, out);
    stream<8><<<n / 4096, 512>>>(in, out);
    copy<<<n / 512, 512>>>(in, out);
  }
  finish();
  return 0;
}
