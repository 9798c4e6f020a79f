// A second set of kernels that no constant is fitted to, written after the model: its figures are a blind test.
#include "common.cuh"

// Inclusive scan of each block's 512 values, doubling the distance each round.
extern "C" __global__ void scan(const int *in, int *out) {
  __shared__ int part[2][512];
  int t = threadIdx.x, i = blockIdx.x * 512 + t, from = 0;
  part[0][t] = in[i];
  __syncthreads();
  for (int step = 1; step < 512; step *= 2) {
    part[1 - from][t] = part[from][t] + (t >= step ? part[from][t - step] : 0);
    from = 1 - from;
    __syncthreads();
  }
  out[i] = part[from][t];
}

// Bitonic sort of each block's 256 values.
extern "C" __global__ void bitonic(const int *in, int *out) {
  __shared__ int v[256];
  int t = threadIdx.x;
  v[t] = in[blockIdx.x * 256 + t];
  __syncthreads();
  for (int size = 2; size <= 256; size *= 2)
    for (int step = size / 2; step > 0; step /= 2) {
      int other = t ^ step;
      if (other > t) {
        int a = v[t], b = v[other];
        if ((a > b) == ((t & size) == 0)) {
          v[t] = b;
          v[other] = a;
        }
      }
      __syncthreads();
    }
  out[blockIdx.x * 256 + t] = v[t];
}

// Escape times in the complex plane: loops of very different lengths.
extern "C" __global__ void mandelbrot(int *out, int width, int most) {
  int x = blockIdx.x * 16 + threadIdx.x, y = blockIdx.y * 16 + threadIdx.y;
  float cx = -2.0f + 3.0f * x / width, cy = -1.5f + 3.0f * y / width, a = 0.0f, b = 0.0f;
  int n = 0;
  while (n < most && a * a + b * b < 4.0f) {
    float next = a * a - b * b + cx;
    b = 2.0f * a * b + cy;
    a = next;
    ++n;
  }
  out[y * width + x] = n;
}

// Rows of a sparse matrix, one thread a row: lengths differ, columns are scattered.
extern "C" __global__ void sparse(const int *column, const float *value, const float *x, float *y) {
  int row = blockIdx.x * blockDim.x + threadIdx.x, length = 4 + row % 13;
  float sum = 0.0f;
  for (int k = 0; k < length; ++k) sum += value[row * 16 + k] * x[column[row * 16 + k]];
  y[row] = sum;
}

// Forces between bodies, tiles in shared memory, a reciprocal square root each.
extern "C" __global__ void bodies(const float4 *at, float4 *force, int n) {
  __shared__ float4 tile[128];
  int i = blockIdx.x * 128 + threadIdx.x;
  float4 me = at[i], sum = make_float4(0, 0, 0, 0);
  for (int first = 0; first < n; first += 128) {
    tile[threadIdx.x] = at[first + threadIdx.x];
    __syncthreads();
    for (int k = 0; k < 128; ++k) {
      float dx = tile[k].x - me.x, dy = tile[k].y - me.y, dz = tile[k].z - me.z;
      float r = rsqrtf(dx * dx + dy * dy + dz * dz + 1e-3f), w = tile[k].w * r * r * r;
      sum.x += dx * w;
      sum.y += dy * w;
      sum.z += dz * w;
    }
    __syncthreads();
  }
  force[i] = sum;
}

// A dot product with a grid-stride loop, shuffles and one atomic a warp.
extern "C" __global__ void dot(const float *a, const float *b, float *out, int n) {
  float sum = 0.0f;
  for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x) sum += a[i] * b[i];
  for (int k = 16; k > 0; k >>= 1) sum += __shfl_xor_sync(~0u, sum, k);
  if (threadIdx.x % 32 == 0) atomicAdd(out, sum);
}

// Sums of the columns of a matrix, one thread a column.
extern "C" __global__ void columns(const float *in, float *out, int width, int height) {
  int x = blockIdx.x * blockDim.x + threadIdx.x;
  float sum = 0.0f;
  for (int y = 0; y < height; ++y) sum += in[y * width + x];
  out[x] = sum;
}

// Horner's rule in double precision.
extern "C" __global__ void horner(const double *in, double *out, int degree) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  double x = in[i], sum = 1.0;
  for (int k = 0; k < degree; ++k) sum = sum * x + 0.5;
  out[i] = sum;
}

// Scatter by a permutation: each word in a sector of its own.
extern "C" __global__ void scatter(const int *at, const float *in, float *out) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  out[at[i]] = in[i];
}

// A 5 x 5 convolution from global memory.
extern "C" __global__ void convolve(const float *in, float *out, int width) {
  int x = blockIdx.x * 32 + threadIdx.x + 2, y = blockIdx.y * 8 + threadIdx.y + 2;
  float sum = 0.0f;
#pragma unroll
  for (int dy = -2; dy <= 2; ++dy)
#pragma unroll
    for (int dx = -2; dx <= 2; ++dx) sum += in[(y + dy) * width + x + dx] * (1.0f / (1 + dx * dx + dy * dy));
  out[y * width + x] = sum;
}

int main() {
  const int N = 1 << 22;
  float *x = allocate<float>(N + 16384), *y = allocate<float>(N + 16384);
  int *in = allocate<int>(N), *out = allocate<int>(N);
  Numbers numbers;
  std::vector<int> values(N), places(N);
  std::vector<float> reals(N);
  for (int i = 0; i < N; ++i) {
    values[i] = numbers.byte();
    reals[i] = values[i] / 256.0f;
    places[i] = unsigned(i) * 2654435761u % N;  // odd, so a permutation
  }
  upload(in, values);
  upload(x, reals);
  scan<<<N / 512, 512>>>(in, out);
  bitonic<<<N / 1024, 256>>>(in, out);
  mandelbrot<<<dim3(32, 32), dim3(16, 16)>>>(out, 512, 256);
  upload(in, places);
  sparse<<<N / 16 / 256, 256>>>(in, x, x, y);
  bodies<<<264, 128>>>((const float4 *)x, (float4 *)y, 1024);
  dot<<<528, 256>>>(x, x, y, N);
  columns<<<16, 128>>>(x, y, 2048, 256);
  horner<<<1024, 256>>>((const double *)x, (double *)y, 64);
  scatter<<<N / 4 / 256, 256>>>(in, x, y);
  convolve<<<dim3(63, 250), dim3(32, 8)>>>(x, y, 2048);
  finish();
  return 0;
}
