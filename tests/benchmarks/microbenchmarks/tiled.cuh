// A product of matrices by tiles, of which L2 holds the factors or not.
#pragma once

// c = a b by tiles of T x T in shared memory; c is gridDim.y * T times n, a and b have k in common.
template <class V, int T> __global__ void tiled(const V *a, const V *b, V *c, unsigned n, unsigned k) {
  __shared__ V as[T][T], bs[T][T];
  unsigned row = blockIdx.y * T + threadIdx.y, column = blockIdx.x * T + threadIdx.x;
  V sum = 0;
  for (unsigned i = 0; i < k; i += T) {
    as[threadIdx.y][threadIdx.x] = a[(size_t)row * k + i + threadIdx.x];
    bs[threadIdx.y][threadIdx.x] = b[(size_t)(i + threadIdx.y) * n + column];
    __syncthreads();
    for (unsigned j = 0; j < T; ++j) sum += as[threadIdx.y][j] * bs[j][threadIdx.x];
    __syncthreads();
  }
  c[(size_t)row * n + column] = sum;
}
