// Loads that L1 has, over and over, by the addresses that compilers make and beside the arithmetic of products: what a
// scheduler and an SM take for each; by Nsight Compute.
#include "common.cuh"

// How a thread comes to the next words of its two rows: OFFSETS from one address, ADDED 64-bit steps to the second, or to
// BOTH.
enum { OFFSETS, ADDED, BOTH };

constexpr int N = 16;  // words of each row a trip

// Each trip loads N words of two rows; with *first* and *second* the lanes of a row are that many words apart, else at one
// word.  STEPS says how, SUMS how many additions or multiplications there are for two words.
template <int STEPS, int SUMS>
__global__ void pairs(const float *a, const float *b, float *c, int first, int second, int step, int trips) {
  const float *p = a + threadIdx.x % 32 * first, *q = b + threadIdx.x % 32 * second;
  float sum = 0, sums[4] = {};
#pragma unroll 1
  for (int i = 0; i < trips; ++i) {
    float x[N], y[N];
#pragma unroll
    for (int k = 0; k < N; ++k) {
      if (STEPS == BOTH) x[k] = *p, p += step;
      else x[k] = p[32 * k];
      if (STEPS == OFFSETS) y[k] = q[32 * k];
      else y[k] = *q, q += step;
    }
#pragma unroll
    for (int k = 0; k < N; ++k) {
      sum = fmaf(x[k], y[k], sum);
#pragma unroll
      for (int s = 1; s < SUMS; ++s) sums[s % 4] = fmaf(x[k], sums[s % 4], y[k]);
    }
    if (STEPS != BOTH) p += step;
    if (STEPS == OFFSETS) q += step;
  }
  for (float s : sums) sum += s;
  if (sum == 77) c[0] = sum;
}

// The product of matrices as most write it, with numbers that have a sign; rows of `a` and of `b` lie *lda* and *ldb* apart.
template <class T> __global__ void product(const T *a, const T *b, T *c, int k, int lda, int ldb) {
  int row = blockIdx.y * blockDim.y + threadIdx.y, column = blockIdx.x * blockDim.x + threadIdx.x;
  T sum = 0;
  for (int i = 0; i < k; ++i) sum += a[row * lda + i] * b[i * ldb + column];
  c[row * gridDim.x * blockDim.x + column] = sum;
}

template <int STEPS, int SUMS> void shapes(const float *a, const float *b, float *c) {
  for (unsigned threads : {128u, 512u, 1024u})
    for (int first : {0, 1}) pairs<STEPS, SUMS><<<SMS, threads>>>(a, b, c, first, 1, 0, 64), finish();
  pairs<STEPS, SUMS><<<2 * SMS, 1024>>>(a, b, c, 0, 1, 0, 64), finish();
  pairs<STEPS, SUMS><<<2 * SMS, 1024>>>(a, b, c, 0, 0, 0, 64), finish();
  pairs<STEPS, SUMS><<<2 * SMS, 1024>>>(a, b, c, 1, 1, 0, 64), finish();
}

int main() {
  float *a = allocate<float>(1 << 24), *b = allocate<float>(1 << 24), *c = allocate<float>(1 << 24);
  shapes<OFFSETS, 1>(a, b, c);
  shapes<OFFSETS, 4>(a, b, c);
  shapes<ADDED, 1>(a, b, c);
  shapes<BOTH, 1>(a, b, c);
  shapes<BOTH, 3>(a, b, c);
  for (int lda : {0, 2048})
    for (int ldb : {0, 4096})
      for (unsigned side : {16u, 32u})
        product<float><<<dim3(4096 / side, 64 / side), dim3(side, side)>>>(a, b, c, 1024, lda, ldb), finish();
  for (unsigned side : {16u, 32u}) {
    for (int n : {256, 512, 1024}) product<float><<<dim3(n / side, n / side), dim3(side, side)>>>(a, b, c, n, n, n), finish();
    product<int><<<dim3(512 / side, 512 / side), dim3(side, side)>>>((int *)a, (int *)b, (int *)c, 512, 512, 512), finish();
  }
  product<float><<<dim3(32, 64), dim3(32, 16)>>>(a, b, c, 1024, 1024, 1024), finish();
  product<float><<<dim3(8, 128), dim3(128, 8)>>>(a, b, c, 1024, 1024, 1024), finish();
  product<float><<<dim3(4, 1024), dim3(256, 1)>>>(a, b, c, 1024, 1024, 1024), finish();
  return 0;
}
