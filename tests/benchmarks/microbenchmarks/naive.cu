// What most programs launch first: products and sums of matrices, sums of vectors, stencils, softmaxes of rows; few blocks
// and many, and loops that only load what such a product loads; by Nsight Compute, from cold caches.
#include "common.cuh"

// A thread for each element of the product; `lda` and `ldb` apart: rows of `a` and of `b`.
template <class T> __global__ void product(const T *a, const T *b, T *c, unsigned k, unsigned lda, unsigned ldb) {
  unsigned row = blockIdx.y * blockDim.y + threadIdx.y, column = blockIdx.x * blockDim.x + threadIdx.x;
  T sum = 0;
  for (unsigned i = 0; i < k; ++i) sum += a[row * lda + i] * b[i * ldb + column];
  c[row * gridDim.x * blockDim.x + column] = sum;
}

enum { ROW, COLUMN, BOTH };

// The loads of such a product alone.
template <int WHAT>
__global__ void factors(const float *a, const float *b, float *c, unsigned k, unsigned lda, unsigned ldb) {
  unsigned row = blockIdx.y * blockDim.y + threadIdx.y, column = blockIdx.x * blockDim.x + threadIdx.x;
  float sum = 0;
  for (unsigned i = 0; i < k; ++i) {
    if (WHAT != COLUMN) sum += a[row * lda + i];
    if (WHAT != ROW) sum += b[i * ldb + column];
  }
  c[row * gridDim.x * blockDim.x + column] = sum;
}

// Each thread loads N words of a column, `ld` words apart, and the next N when it has these; blocks are `apart` words apart.
template <int N> __global__ void ahead(const float *a, float *c, unsigned trips, unsigned ld, unsigned apart) {
  const float *at = a + blockIdx.x * apart + threadIdx.x % 32;
  float sum = 0;
#pragma unroll 1
  for (unsigned k = 0; k < trips; ++k) {
#pragma unroll
    for (unsigned i = 0; i < N; ++i) sum += at[i * ld];
    at += N * ld + (sum == 77);
  }
  if (sum == 77) c[0] = sum;
}

// Sums of vectors; SAME: one of them is also where the sum goes.
template <class T, bool SAME> __global__ void added(const T *a, const T *b, T *c, unsigned n) {
  unsigned i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) c[i] = T(2) * a[i] + (SAME ? c[i] : b[i]);
}

__global__ void scaled(float *a, unsigned n) {
  unsigned i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) a[i] *= 2;
}

// Sums of matrices of n rows and columns; TURNED: lanes in a column.
template <class T, bool TURNED> __global__ void summed(const T *a, const T *b, T *c, unsigned n) {
  unsigned x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y * blockDim.y + threadIdx.y;
  unsigned row = TURNED ? x : y, column = TURNED ? y : x;
  if (row < n && column < n) c[row * n + column] = a[row * n + column] + b[row * n + column];
}

// The same with a thread for each row, or for each column.
template <bool ROWS> __global__ void line(const float *a, const float *b, float *c, unsigned n) {
  unsigned own = blockIdx.x * blockDim.x + threadIdx.x;
  if (own >= n) return;
  for (unsigned k = 0; k < n; ++k) {
    unsigned i = ROWS ? own * n + k : k * n + own;
    c[i] = a[i] + b[i];
  }
}

// Each thread of a block goes along the block's row and looks for the largest, or adds exponentials.
enum { LARGEST, EXPONENTIALS };
template <int WHAT> __global__ void along(const float *x, float *y, unsigned n) {
  const float *row = x + blockIdx.y * n;
  float found = 0;
  for (unsigned k = 0; k < n; ++k) found = WHAT == LARGEST ? fmaxf(found, row[k]) : found + expf(row[k]);
  y[(blockIdx.y * gridDim.x + blockIdx.x) * blockDim.x + threadIdx.x] = found;
}

// Softmax of rows: each thread for itself, an element or (ROWS) a row.
template <bool ROWS> __global__ void softmax(const float *x, float *y, unsigned rows, unsigned n) {
  unsigned column = blockIdx.x * blockDim.x + threadIdx.x, row = ROWS ? column : blockIdx.y;
  if (row >= rows || (!ROWS && column >= n)) return;
  float most = -1e30f, sum = 0;
  for (unsigned k = 0; k < n; ++k) most = fmaxf(most, x[row * n + k]);
  for (unsigned k = 0; k < n; ++k) sum += expf(x[row * n + k] - most);
  if (!ROWS) y[row * n + column] = expf(x[row * n + column] - most) / sum;
  else
    for (unsigned k = 0; k < n; ++k) y[row * n + k] = expf(x[row * n + k] - most) / sum;
}

// A block for each row, a tree in shared memory; normalised to mean 0 and deviation 1.
__global__ void normalised(const float *x, float *y, unsigned n) {
  __shared__ float part[256];
  const float *row = x + blockIdx.x * n;
  float sum = 0, squares = 0;
  for (unsigned k = threadIdx.x; k < n; k += blockDim.x) sum += row[k];
  part[threadIdx.x] = sum;
  __syncthreads();
  for (unsigned half = blockDim.x / 2; half; half /= 2) {
    if (threadIdx.x < half) part[threadIdx.x] += part[threadIdx.x + half];
    __syncthreads();
  }
  float mean = part[0] / n;
  __syncthreads();
  for (unsigned k = threadIdx.x; k < n; k += blockDim.x) squares += (row[k] - mean) * (row[k] - mean);
  part[threadIdx.x] = squares;
  __syncthreads();
  for (unsigned half = blockDim.x / 2; half; half /= 2) {
    if (threadIdx.x < half) part[threadIdx.x] += part[threadIdx.x + half];
    __syncthreads();
  }
  float scale = rsqrtf(part[0] / n + 1e-5f);
  for (unsigned k = threadIdx.x; k < n; k += blockDim.x) y[blockIdx.x * n + k] = (row[k] - mean) * scale;
}

// A warp for each row.
__global__ void warps(const float *x, float *y, unsigned n) {
  unsigned row = (blockIdx.x * blockDim.x + threadIdx.x) / 32, lane = threadIdx.x % 32;
  float most = -1e30f, sum = 0;
  for (unsigned k = lane; k < n; k += 32) most = fmaxf(most, x[row * n + k]);
  for (int d = 16; d; d /= 2) most = fmaxf(most, __shfl_xor_sync(~0u, most, d));
  for (unsigned k = lane; k < n; k += 32) sum += expf(x[row * n + k] - most);
  for (int d = 16; d; d /= 2) sum += __shfl_xor_sync(~0u, sum, d);
  for (unsigned k = lane; k < n; k += 32) y[row * n + k] = expf(x[row * n + k] - most) / sum;
}

// Sums of 2 * 3 + 1 neighbours, in shared memory.
__global__ void neighbours(const unsigned *in, unsigned *out, unsigned n) {
  __shared__ unsigned part[256 + 6];
  unsigned i = blockIdx.x * blockDim.x + threadIdx.x, at = threadIdx.x + 3, sum = 0;
  part[at] = in[i];
  if (threadIdx.x < 3) {
    part[at - 3] = i >= 3 ? in[i - 3] : 0;
    part[at + blockDim.x] = i + blockDim.x < n ? in[i + blockDim.x] : 0;
  }
  __syncthreads();
  for (int d = -3; d <= 3; ++d) sum += part[at + d];
  out[i] = sum;
}

// Weights times the 27 neighbours, without shared memory.
__global__ void around(const float *in, const float *weights, float *out, int n) {
  int x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y * blockDim.y + threadIdx.y;
  int z = blockIdx.z * blockDim.z + threadIdx.z;
  if (x >= n || y >= n || z >= n) return;
  float sum = 0;
  for (int i = -1; i <= 1; ++i)
    for (int j = -1; j <= 1; ++j)
      for (int k = -1; k <= 1; ++k)
        if (z + i >= 0 && z + i < n && y + j >= 0 && y + j < n && x + k >= 0 && x + k < n)
          sum += weights[(i + 1) * 9 + (j + 1) * 3 + k + 1] * in[((z + i) * n + y + j) * n + x + k];
  out[(z * n + y) * n + x] = sum;
}

template <class T> void multiply(T *a, T *b, T *c, unsigned n, dim3 block) {
  product<T><<<dim3(n / block.x, n / block.y), block>>>(a, b, c, n, n, n);
  finish();
}

int main() {
  float *a = allocate<float>(1 << 26), *b = allocate<float>(1 << 26), *c = allocate<float>(1 << 26);
  double *da = (double *)a, *db = (double *)b, *dc = (double *)c;
  unsigned *ua = (unsigned *)a, *ub = (unsigned *)b, *uc = (unsigned *)c;
  // Products: few blocks and many, in blocks of several shapes.
  for (unsigned n : {64u, 112u, 128u, 256u, 512u}) multiply(a, b, c, n, dim3(16, 16));
  for (unsigned n : {64u, 128u, 256u, 512u}) multiply(a, b, c, n, dim3(32, 32));
  for (unsigned n : {64u, 128u}) multiply(a, b, c, n, dim3(8, 8));
  multiply(a, b, c, 128, dim3(32, 8));
  multiply(da, db, dc, 128, dim3(16, 16));
  multiply(ua, ub, uc, 128, dim3(16, 16));
  // One of the factors is the same row all the time; or both.
  for (unsigned lda : {0u, 128u})
    for (unsigned ldb : {0u, 128u})
      if (!lda || !ldb) product<float><<<dim3(8, 8), dim3(16, 16)>>>(a, b, c, 128, lda, ldb), finish();
  for (unsigned lda : {0u, 2048u})
    for (unsigned ldb : {0u, 4096u}) {
      product<float><<<dim3(128, 2), dim3(32, 32)>>>(a, b, c, 2048, lda, ldb), finish();
      product<float><<<dim3(256, 4), dim3(16, 16)>>>(a, b, c, 1024, lda, ldb), finish();
    }
  product<float><<<dim3(128, 8), dim3(32, 32)>>>(a, b, c, 2048, 2048, 4096), finish();
  product<float><<<dim3(256, 16), dim3(16, 16)>>>(a, b, c, 1024, 1024, 4096), finish();
  product<float><<<dim3(128, 2), dim3(32, 32)>>>(a, b, c, 2048, 2048, 4128), finish();
  product<float><<<dim3(128, 2), dim3(32, 32)>>>(a, b, c, 2048, 2080, 4096), finish();
  product<float><<<dim3(16, 16), dim3(256, 1)>>>(a, b, c, 2048, 2048, 4096), finish();
  // Their loads alone, of 8 to 64 warps an SM.
  for (unsigned height : {4u, 8u, 16u, 32u}) {
    factors<ROW><<<dim3(132, 1), dim3(32, height)>>>(a, b, c, 1024, 2048, 0), finish();
    factors<COLUMN><<<dim3(132, 1), dim3(32, height)>>>(a, b, c, 1024, 0, 4224), finish();
    factors<BOTH><<<dim3(132, 1), dim3(32, height)>>>(a, b, c, 1024, 2048, 4224), finish();
    factors<BOTH><<<dim3(132, 1), dim3(32, height)>>>(a, b, c, 1024, 0, 0), finish();
  }
  factors<ROW><<<dim3(132, 2), dim3(32, 32)>>>(a, b, c, 1024, 2048, 0), finish();
  factors<COLUMN><<<dim3(132, 2), dim3(32, 32)>>>(a, b, c, 1024, 0, 4224), finish();
  factors<BOTH><<<dim3(132, 2), dim3(32, 32)>>>(a, b, c, 1024, 2048, 4224), finish();
  factors<BOTH><<<dim3(132, 2), dim3(32, 32)>>>(a, b, c, 1024, 0, 0), finish();
  // Rows of a factor, one or four at a time, by one warp a block and by eight.
  for (unsigned blocks : {1u, 16u})
    for (unsigned apart : {0u, 32u})
      for (unsigned ld : {64u, 512u, 2048u}) {
        if (apart && (blocks == 1 || ld == 64)) continue;
        ahead<1><<<blocks, 32>>>(a, c, 64, ld, apart), finish();
        ahead<4><<<blocks, 32>>>(a, c, 32, ld, apart), finish();
        ahead<4><<<blocks, 256>>>(a, c, 32, ld, apart), finish();
      }
  // Sums of vectors that L2 holds or not.
  for (unsigned n : {1u << 20, 1u << 22, 1u << 23, 1u << 24, 1u << 25, 1u << 26}) {
    added<float, false><<<n / 256, 256>>>(a, b, c, n), finish();
    added<float, true><<<n / 256, 256>>>(a, b, c, n), finish();
    if (n < 1 << 24) continue;
    scaled<<<n / 256, 256>>>(c, n), finish();
    if (n > 1 << 25) continue;
    added<float, false><<<n / 1024, 1024>>>(a, b, c, n), finish();
    added<double, false><<<n / 256, 256>>>(da, db, dc, n), finish();
    added<double, false><<<n / 128, 128>>>(da, db, dc, n), finish();
  }
  // Sums of matrices.
  for (unsigned n : {100u, 700u, 1024u})
    for (unsigned side : {16u, 32u}) {
      dim3 grid((n + side - 1) / side, (n + side - 1) / side), block(side, side);
      summed<float, false><<<grid, block>>>(a, b, c, n), finish();
      summed<float, true><<<grid, block>>>(a, b, c, n), finish();
    }
  for (unsigned n : {256u, 1024u}) {
    line<true><<<n / 128, 128>>>(a, b, c, n), finish();
    line<false><<<n / 128, 128>>>(a, b, c, n), finish();
  }
  // Rows, by few blocks.
  for (unsigned rows : {1u, 32u}) {
    along<LARGEST><<<dim3(4, rows), 256>>>(a, c, 1024), finish();
    along<EXPONENTIALS><<<dim3(4, rows), 256>>>(a, c, 1024), finish();
    softmax<false><<<dim3(4, rows), 256>>>(a, c, rows, 1024), finish();
    softmax<true><<<rows, 128>>>(a, c, rows * 128, 128), finish();
    normalised<<<rows, 256>>>(a, c, 1024), finish();
    warps<<<rows, 256>>>(a, c, 1024), finish();
  }
  normalised<<<1024, 256>>>(a, c, 1024), finish();
  warps<<<1024, 256>>>(a, c, 1024), finish();
  // Neighbours.
  for (unsigned blocks : {1u, 32u, 128u, 1024u}) neighbours<<<blocks, 256>>>(ua, uc, blocks * 256), finish();
  for (unsigned side : {2u, 4u, 8u}) around<<<dim3(side, side, side), dim3(8, 8, 8)>>>(a, b, c, int(side * 8)), finish();
  return 0;
}
