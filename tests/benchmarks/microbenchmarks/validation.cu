// Kernels that no constant is fitted to: Nsight Compute's figures for them say how good the model is.
#include "common.cuh"

extern "C" __global__ void saxpy(const float *x, float *y, float a, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) y[i] = a * x[i] + y[i];
}

extern "C" __global__ void transposeNaive(const float *in, float *out, int n) {
  int x = blockIdx.x * 32 + threadIdx.x, y = blockIdx.y * 8 + threadIdx.y;
  out[x * n + y] = in[y * n + x];
}

extern "C" __global__ void transposeTiled(const float *in, float *out, int n) {
  __shared__ float tile[32][33];
  int x = blockIdx.x * 32 + threadIdx.x, y = blockIdx.y * 32 + threadIdx.y;
  for (int k = 0; k < 32; k += 8) tile[threadIdx.y + k][threadIdx.x] = in[(y + k) * n + x];
  __syncthreads();
  x = blockIdx.y * 32 + threadIdx.x;
  y = blockIdx.x * 32 + threadIdx.y;
  for (int k = 0; k < 32; k += 8) out[(y + k) * n + x] = tile[threadIdx.x][threadIdx.y + k];
}

extern "C" __global__ void sharedTree(const int *in, int *out, int n) {
  __shared__ int part[256];
  int tid = threadIdx.x, i = blockIdx.x * 512 + tid;
  part[tid] = (i < n ? in[i] : 0) + (i + 256 < n ? in[i + 256] : 0);
  __syncthreads();
  for (int stride = 128; stride > 0; stride >>= 1) {
    if (tid < stride) part[tid] += part[tid + stride];
    __syncthreads();
  }
  if (tid == 0) out[blockIdx.x] = part[0];
}

extern "C" __global__ void shuffleSum(const int *in, int *out, int n) {
  __shared__ int part[32];
  int sum = 0;
  for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x) sum += in[i];
  for (int k = 16; k > 0; k >>= 1) sum += __shfl_down_sync(~0u, sum, k);
  if (threadIdx.x % 32 == 0) part[threadIdx.x / 32] = sum;
  __syncthreads();
  if (threadIdx.x < 32) {
    sum = threadIdx.x < blockDim.x / 32 ? part[threadIdx.x] : 0;
    for (int k = 16; k > 0; k >>= 1) sum += __shfl_down_sync(~0u, sum, k);
    if (threadIdx.x == 0) out[blockIdx.x] = sum;
  }
}

extern "C" __global__ void stencil(const float *in, float *out, int n) {
  __shared__ float tile[256 + 8];
  int i = blockIdx.x * 256 + threadIdx.x;
  tile[threadIdx.x + 4] = in[i];
  if (threadIdx.x < 4) {
    tile[threadIdx.x] = i >= 4 ? in[i - 4] : 0.0f;
    tile[threadIdx.x + 260] = i + 256 < n ? in[i + 256] : 0.0f;
  }
  __syncthreads();
  float sum = 0.0f;
  for (int k = -4; k <= 4; ++k) sum += tile[threadIdx.x + 4 + k];
  out[i] = sum / 9.0f;
}

extern "C" __global__ void matmul(const float *a, const float *b, float *c, int n) {
  __shared__ float as[16][16], bs[16][16];
  int tx = threadIdx.x, ty = threadIdx.y, row = blockIdx.y * 16 + ty, col = blockIdx.x * 16 + tx;
  float sum = 0.0f;
  for (int k = 0; k < n; k += 16) {
    as[ty][tx] = a[row * n + k + tx];
    bs[ty][tx] = b[(k + ty) * n + col];
    __syncthreads();
    for (int j = 0; j < 16; ++j) sum += as[ty][j] * bs[j][tx];
    __syncthreads();
  }
  c[row * n + col] = sum;
}

extern "C" __global__ void iterate(float *data, int trips) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  float x = data[i];
  for (int k = 0; k < trips; ++k) x = x * (3.7f - 3.7f * x);
  data[i] = x;
}

extern "C" __global__ void collatz(const int *x, int *steps, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n) return;
  unsigned v = x[i];
  int s = 0;
  while (v != 1) {
    if (v & 1) v = 3 * v + 1;
    else v >>= 1;
    ++s;
  }
  steps[i] = s;
}

extern "C" __global__ void histogram(const int *in, int *out, int n) {
  __shared__ int bins[256];
  bins[threadIdx.x] = 0;
  __syncthreads();
  for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x) atomicAdd(&bins[in[i] & 255], 1);
  __syncthreads();
  atomicAdd(&out[threadIdx.x], bins[threadIdx.x]);
}

extern "C" __global__ void gather(const int *at, const float *in, float *out, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) out[i] = in[at[i]];
}

int main() {
  const int N = 1 << 22;
  float *x = allocate<float>(N), *y = allocate<float>(N);
  int *in = allocate<int>(N), *out = allocate<int>(N);
  Numbers numbers;
  std::vector<int> values(N);
  std::vector<float> reals(N);
  for (int i = 0; i < N; ++i) {
    values[i] = numbers.byte();
    reals[i] = values[i] / 256.0f;
  }
  upload(in, values);
  upload(x, reals);
  saxpy<<<N / 256, 256>>>(x, y, 2.0f, N);
  transposeNaive<<<dim3(64, 256), dim3(32, 8)>>>(x, y, 2048);
  transposeTiled<<<dim3(64, 64), dim3(32, 8)>>>(x, y, 2048);
  sharedTree<<<N / 512, 256>>>(in, out, N);
  shuffleSum<<<528, 512>>>(in, out, N);
  stencil<<<N / 256, 256>>>(x, y, N);
  matmul<<<dim3(32, 32), dim3(16, 16)>>>(x, x, y, 512);
  iterate<<<2048, 256>>>(y, 256);
  histogram<<<528, 256>>>(in, out, N);
  std::vector<int> starts(N), places(N);
  for (int i = 0; i < N; ++i) {
    starts[i] = 1 + i % 65536;
    places[i] = numbers.next() >> 10;
  }
  upload(in, starts);
  collatz<<<1024, 256>>>(in, out, 1024 * 256);
  upload(in, places);
  gather<<<4096, 256>>>(in, x, y, 4096 * 256);
  finish();
  return 0;
}
