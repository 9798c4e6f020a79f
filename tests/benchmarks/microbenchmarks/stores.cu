// Stores that write part of each sector or line, and contended atomics: what they cost in L2, by Nsight Compute.
#include "common.cuh"

// Each warp stores 32 words, `stride` words apart; the warps lie behind each other (column = 0) or beside each other, so
// that `stride` warps of different blocks fill a line together (column = 1: the naive transpose).
extern "C" __global__ void strided(unsigned *data, unsigned stride, unsigned column) {
  unsigned warp = (blockIdx.x * blockDim.x + threadIdx.x) / 32, lane = threadIdx.x % 32;
  unsigned at = column ? warp / stride * stride * 32 + warp % stride + lane * stride : (warp * 32 + lane) * stride;
  data[at] = threadIdx.x;
}

// The same, eight times to words that follow each other: sectors are filled one store after the other.
extern "C" __global__ void filled(unsigned *data, unsigned stride) {
  unsigned *mine = data + (blockIdx.x * blockDim.x + threadIdx.x) * stride;
#pragma unroll
  for (int k = 0; k < 8; ++k) asm volatile("st.global.u32 [%0], %1;" ::"l"(mine + k), "r"(k) : "memory");
}

// Loads with the same strides, for comparison.
extern "C" __global__ void stridedLoad(const unsigned *data, unsigned *out, unsigned stride) {
  unsigned at = (blockIdx.x * blockDim.x + threadIdx.x) * stride;
  unsigned v = data[at];
  if (v == 0x12345) out[0] = v;
}

// Reductions to global memory: each thread adds to word (thread / same) * stride.
extern "C" __global__ void added(unsigned *data, unsigned same, unsigned stride, unsigned mask) {
  unsigned thread = blockIdx.x * blockDim.x + threadIdx.x;
  atomicAdd(&data[(thread / same * stride) & mask], 1u);
}

// A histogram in shared memory of words that a hash gives, with so many bins, and its conflicts.
extern "C" __global__ void binned(unsigned *out, unsigned mask, int trips) {
  __shared__ unsigned bins[4096];
  for (int i = threadIdx.x; i < 4096; i += blockDim.x) bins[i] = 0;
  __syncthreads();
  unsigned seed = (blockIdx.x * blockDim.x + threadIdx.x) * 2654435761u;
#pragma unroll 1
  for (int i = 0; i < trips; ++i) {
    seed = seed * 1664525u + 1013904223u;
    atomicAdd(&bins[seed >> 16 & mask], 1u);
  }
  __syncthreads();
  out[blockIdx.x * blockDim.x + threadIdx.x] = bins[threadIdx.x];
}

int main() {
  unsigned *data = allocate<unsigned>(1 << 28);
  const int N = 1 << 21, BLOCK = 256;
  for (unsigned stride : {1, 2, 4, 8, 32}) strided<<<N / BLOCK, BLOCK>>>(data, stride, 0);
  for (unsigned stride : {8, 32, 2048}) strided<<<N / BLOCK, BLOCK>>>(data, stride, 1);
  for (unsigned stride : {8, 32}) filled<<<N / 8 / BLOCK, BLOCK>>>(data, stride);
  for (unsigned stride : {1, 2, 4, 8, 32}) stridedLoad<<<N / BLOCK, BLOCK>>>(data, data + (1 << 27), stride);
  for (unsigned same : {1, 2, 8, 32}) added<<<N / 8 / BLOCK, BLOCK>>>(data, same, 1, ~0u);
  for (unsigned stride : {8, 32}) added<<<N / 8 / BLOCK, BLOCK>>>(data, 1, stride, ~0u);
  for (unsigned mask : {255, 4095}) added<<<N / 8 / BLOCK, BLOCK>>>(data, 1, 1, mask);
  for (unsigned mask : {31, 255, 4095}) binned<<<132, 256>>>(data, mask, 128);
  for (unsigned mask : {31, 255, 4095}) binned<<<528, 256>>>(data, mask, 128);
  finish();
  return 0;
}
