// What every block of a grid does to the same words: whole additions, each in all blocks; and sums in global memory past L1,
// each block in words of its own; by Nsight Compute.
#include "common.cuh"

enum { LOADS, STORES, ADDS, UPDATES };

// Each block does all of an array, a block's width at a time, from `apart` words behind where the block before begins.
template <int WHAT> __global__ void whole(const float *a, const float *b, float *c, int n, int apart) {
  float sum = 0;
  for (int j = blockIdx.x * apart + threadIdx.x; j < n; j += blockDim.x) {
    if (WHAT == LOADS) sum += a[j];
    if (WHAT == STORES) c[j] = j;
    if (WHAT == ADDS) c[j] = a[j] + b[j];
    if (WHAT == UPDATES) c[j] = 2 * c[j];
  }
  if (sum == 77) c[0] = sum;
}

// Each block sums its own words where they are, half of them at a time; PAST: past L1.
template <bool PAST> __global__ void halved(float *data, float *sums) {
  float *own = data + blockIdx.x * blockDim.x;
  volatile float *past = own;
  unsigned t = threadIdx.x;
  for (unsigned half = blockDim.x / 2; half >= 32; half /= 2) {
    if (t < half) {
      if (PAST) past[t] += past[t + half];
      else own[t] += own[t + half];
    }
    __syncthreads();
  }
  if (t < 32)
#pragma unroll
    for (unsigned half = 16; half; half /= 2) past[t] += past[t + half];
  if (t == 0) sums[blockIdx.x] = past[0];
}

// The same of words that stay: a lone warp a block loads, adds and stores its word or line past L1, each time behind a barrier.
template <bool BARRIERS> __global__ void kept(float *data, int trips) {
  volatile float *own = data + blockIdx.x * blockDim.x + threadIdx.x;
#pragma unroll 1
  for (int k = 0; k < trips; ++k) {
    *own += own[k & 1];
    if (BARRIERS) __syncthreads();
  }
}

// All threads add to one word without an atomic.
__global__ void counted(unsigned *data) { *data += 1; }

struct Shape {
  unsigned blocks, threads;
};

template <int WHAT> void each(const float *a, const float *b, float *c) {
  for (int apart : {0, 256})
    for (int blocks : {2, 16, 132, 256, 528}) whole<WHAT><<<blocks, 256>>>(a, b, c, 1 << 18, apart), finish();
  whole<WHAT><<<256, 64>>>(a, b, c, 1 << 16, 0), finish();
  whole<WHAT><<<256, 1024>>>(a, b, c, 1 << 18, 0), finish();
}

int main() {
  float *a = allocate<float>(1 << 24), *b = allocate<float>(1 << 24), *c = allocate<float>(1 << 24);
  each<LOADS>(a, b, c);
  each<STORES>(a, b, c);
  each<ADDS>(a, b, c);
  whole<ADDS><<<256, 256>>>(a, b, c, 1 << 20, 256), finish();
  for (int blocks : {16, 132, 256}) whole<UPDATES><<<blocks, 256>>>(a, b, c, 1 << 18, 0), finish();
  for (unsigned threads : {64u, 256u, 1024u})
    for (unsigned n : {1u << 18, 1u << 22, 1u << 24}) halved<true><<<n / threads, threads>>>(a, c), finish();
  halved<false><<<(1 << 22) / 256, 256>>>(a, c), finish();
  halved<false><<<(1 << 24) / 256, 256>>>(a, c), finish();
  for (unsigned threads : {32u, 256u, 1024u}) {
    kept<false><<<132, threads>>>(a, 64), finish();
    kept<true><<<132, threads>>>(a, 64), finish();
    kept<false><<<2048 * 132 / threads > 32 * 132 ? 32 * 132 : 2048 * 132 / threads, threads>>>(a, 64), finish();
  }
  for (Shape s : {Shape{1000, 256}, {1000, 512}, {1000, 992}, {1000, 1000}, {1000, 1024}, {264, 1000}, {528, 1000}, {528, 1024}, {4000, 256}, {2000, 512}})
    counted<<<s.blocks, s.threads>>>((unsigned *)c), finish();
  return 0;
}
