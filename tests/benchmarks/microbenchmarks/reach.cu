// What L2 holds and finds again: local arrays, passes over buffers, rows far apart, naive matrix products of several
// sizes; and grids that do not fill the last wave; by Nsight Compute.
#include "common.cuh"

enum { READ, WRITE, BOTH };

// Each thread: its own array, over and over.
template <int WORDS, int MODE> __global__ void local(float *out, unsigned words, unsigned rounds, float x) {
  float a[WORDS], sum = 0;
  for (unsigned k = 0; k < words; ++k) a[k] = x + k;
#pragma unroll 1
  for (unsigned r = 0; r < rounds; ++r)
#pragma unroll 4
    for (unsigned k = 0; k < words; ++k) {
      if (MODE == READ) sum += a[k];
      if (MODE == WRITE) a[k] = x + r;
      if (MODE == BOTH) a[k] = a[k] * x + 1;
    }
  for (unsigned k = 0; k < words; ++k) sum += a[k];
  out[blockIdx.x * blockDim.x + threadIdx.x] = sum;
}

// All blocks together: all of a buffer, over and over; in each round a block takes the part `step` further on.
template <int MODE> __global__ void pass(float4 *data, float *out, unsigned part, unsigned rounds, unsigned step) {
  float sum = 0;
  unsigned at = blockIdx.x;
#pragma unroll 1
  for (unsigned r = 0; r < rounds; ++r) {
    float4 *from = data + size_t(at) * part;
#pragma unroll 4
    for (unsigned k = threadIdx.x; k < part; k += blockDim.x) {
      if (MODE == WRITE) {
        from[k] = make_float4(r, r, r, r);
      } else {
        float4 v = from[k];
        sum += v.x + v.y + v.z + v.w;
        if (MODE == BOTH) from[k] = make_float4(v.x + 1, v.y, v.z, v.w);
      }
    }
    at = (at + step) % gridDim.x;
  }
  out[blockIdx.x * blockDim.x + threadIdx.x] = sum;
}

// Each thread goes along a row of its own, word by word.
template <class T, int MODE> __global__ void rows(T *data, T *out, size_t pitch, unsigned words) {
  size_t row = blockIdx.x * blockDim.x + threadIdx.x;
  T *to = data + row * pitch, sum = 0;
#pragma unroll 1
  for (unsigned k = 0; k < words; ++k) {
    if (MODE == READ) sum += to[k];
    if (MODE == WRITE) to[k] = k;
    if (MODE == BOTH) to[k] = to[k] * 3;
  }
  if (MODE == READ) out[row] = sum;
}

__global__ void product(const float *a, const float *b, float *c, unsigned m, unsigned n, unsigned k) {
  unsigned row = blockIdx.y * blockDim.y + threadIdx.y, column = blockIdx.x * blockDim.x + threadIdx.x;
  if (row >= m || column >= n) return;
  float sum = 0;
  for (unsigned i = 0; i < k; ++i) sum += a[row * k + i] * b[i * n + column];
  c[row * n + column] = sum;
}

// Neighbouring threads add up neighbouring rows.
__global__ void across(const float *a, const float *b, float *c, unsigned n) {
  unsigned row = blockIdx.x * blockDim.x + threadIdx.x, column = blockIdx.y * blockDim.y + threadIdx.y;
  if (row < n && column < n) c[row * n + column] = a[row * n + column] + b[row * n + column];
}

__global__ void sums(const float *a, const float *b, float *c, unsigned n) {
  unsigned i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) c[i] = a[i] + b[i];
}

// Words block * thread * 256.
__global__ void multiples(const float *x, float *y, unsigned n) {
  unsigned i = blockIdx.x * blockDim.x * threadIdx.x;
  if (i < n) y[i] = 2 * x[i] + y[i];
}

// One lane of each warp adds to a word.
__global__ void meet(unsigned *word, unsigned times) {
  if (threadIdx.x % 32) return;
#pragma unroll 1
  for (unsigned k = 0; k < times; ++k) atomicAdd(word, 1);
}

template <int WORDS, int MODE> void arrays(float *out) {
  auto kernel = local<WORDS, MODE>;
  CHECK(cudaFuncSetAttribute(kernel, cudaFuncAttributeMaxDynamicSharedMemorySize, 32 << 10));
  struct Shape {
    unsigned blocks, threads, shared;
  };
  for (Shape s : {Shape{1, 64, 0}, {132, 64, 0}, {132, 256, 0}, {528, 64, 0}, {528, 64, 32 << 10}, {528, 256, 0}, {264, 1024, 0}}) {
    if (WORDS > 512 && s.blocks * s.threads > 40000) continue;
    kernel<<<s.blocks, s.threads, s.shared>>>(out, WORDS, MODE == READ ? 8 : 4, 1);
  }
}

template <int MODE> void passes(float4 *data, float *out) {
  for (unsigned mb : {8, 16, 24, 32, 40, 48, 64})
    for (unsigned step : {0, 67})
      if (step || mb == 40 || mb == 64) pass<MODE><<<132, 1024>>>(data, out, mb * 65536 / 132, 4, step);
}

template <int MODE, class T> void far(T *data, T *out) {
  for (unsigned bytes : {1024, 4096, 4224, 16384, 65536, 65664, 66560})
    rows<T, MODE><<<32, 256>>>(data, out, bytes / sizeof(T), 64);
}

// Rows long enough to be written back to DRAM meanwhile.
void lines(double *data, double *out) {
  for (unsigned bytes : {65536, 66560, 16384})
    for (unsigned words : {512, 2048}) rows<double, BOTH><<<32, 256>>>(data, out, bytes / 8, words);
  rows<double, READ><<<32, 256>>>(data, out, 8192, 2048);
  rows<double, WRITE><<<32, 256>>>(data, out, 8192, 2048);
  rows<double, BOTH><<<8, 256>>>(data, out, 8192, 2048);
  rows<double, BOTH><<<64, 128>>>(data, out, 8192, 2048);
  finish();
}

int main(int count, char **) {
  const size_t bytes = 33792ull * 16640;
  char *data = allocate<char>(bytes);
  float *out = allocate<float>(1 << 20);
  if (count > 1) {
    lines((double *)data, (double *)out);
    return 0;
  }
  arrays<32, BOTH>(out);
  arrays<128, READ>(out);
  arrays<128, WRITE>(out);
  arrays<128, BOTH>(out);
  arrays<512, BOTH>(out);
  arrays<2048, BOTH>(out);
  passes<READ>((float4 *)data, out);
  passes<WRITE>((float4 *)data, out);
  passes<BOTH>((float4 *)data, out);
  far<READ>((double *)data, (double *)out);
  far<WRITE>((double *)data, (double *)out);
  far<BOTH>((double *)data, (double *)out);
  for (unsigned bytes : {1024, 4224, 16384}) rows<float, BOTH><<<132, 256>>>((float *)data, out, bytes / 4, 64);
  for (unsigned bytes : {1024, 4224, 16384}) rows<double, BOTH><<<132, 256>>>((double *)data, (double *)out, bytes / 8, 32);
  CHECK(cudaFree(data));
  float *a = allocate<float>(8 << 20), *b = allocate<float>(8 << 20), *c = allocate<float>(8 << 20);
  struct Size {
    unsigned m, n, k, x, y;
  };
  for (Size s : {Size{128, 4096, 2048, 32, 32}, {128, 4096, 512, 32, 32}, {128, 4096, 64, 32, 32}, {512, 512, 512, 32, 32},
                 {512, 512, 512, 16, 16}, {1024, 1024, 1024, 16, 16}, {256, 256, 256, 16, 16}, {128, 128, 128, 16, 16},
                 {100, 100, 100, 16, 16}, {64, 64, 64, 16, 16}, {200, 200, 200, 16, 16}, {1024, 1024, 256, 256, 1}})
    product<<<dim3((s.n + s.x - 1) / s.x, (s.m + s.y - 1) / s.y), dim3(s.x, s.y)>>>(a, b, c, s.m, s.n, s.k);
  for (unsigned n : {128, 700, 704, 1024}) across<<<dim3((n + 31) / 32, (n + 31) / 32), dim3(32, 32)>>>(a, b, c, n);
  for (unsigned n : {25000, 100000, 500000, 1000000, 4000000})
    for (unsigned t : {256, 1024}) sums<<<(n + t - 1) / t, t>>>(a, b, c, n);
  for (unsigned blocks : {132, 1024, 4092}) multiples<<<blocks, 256>>>(a, b, 4 << 20);
  for (unsigned blocks : {66, 132, 140, 200, 264, 300, 400, 528}) meet<<<blocks, 1024>>>((unsigned *)out, 32);
  finish();
  return 0;
}
