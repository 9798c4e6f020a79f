// The first device runtime (CDP1): a block waits for its children in the middle.
#include <cstdio>
__global__ void nested_reduce(int *in, int *out, unsigned n) {
  unsigned t = threadIdx.x;
  int *mine = in + blockIdx.x * blockDim.x;
  if (n == 2 && t == 0) { out[blockIdx.x] = mine[0] + mine[1]; return; }
  int half = n >> 1;
  if (half > 1 && t < half) mine[t] += mine[t + half];
  __syncthreads();
  if (t == 0) { nested_reduce<<<1, half>>>(mine, &out[blockIdx.x], half); cudaDeviceSynchronize(); }
  __syncthreads();
}
__global__ void child(int *cell, int parent) { printf("child of %d\n", parent); *cell += 10; }
__global__ void parent(int *cells, int *seen) {
  printf("parent %d begins\n", blockIdx.x);
  cells[blockIdx.x] = blockIdx.x;
  child<<<1, 1>>>(&cells[blockIdx.x], blockIdx.x);
  cudaDeviceSynchronize();
  seen[blockIdx.x] = cells[blockIdx.x];
  printf("parent %d ends\n", blockIdx.x);
}
__global__ void levels(int *codes, int level) {
  if (level < 40) levels<<<1, 1>>>(codes, level + 1);
  codes[2 * level] = cudaGetLastError();
  codes[2 * level + 1] = cudaDeviceSynchronize();
}
