// Short launches that wait for constants at first, and blocks that store to the same lines; by Nsight Compute, cold.
#include "common.cuh"

struct Words {
  unsigned *to;
  unsigned w[1000];
};

__constant__ unsigned table[4096];

// Each thread adds up COUNT parameters, STRIDE words apart, and stores the sum in a word of its own.
template <int COUNT, int STRIDE> __global__ void parameters(Words words) {
  unsigned i = blockIdx.x * blockDim.x + threadIdx.x, sum = i;
#pragma unroll
  for (int k = 0; k < COUNT; ++k) sum = sum * 3 + words.w[k * STRIDE];
  words.to[i] = sum;
}

// The same without the number of threads of a block, which is a constant, too.
template <int COUNT, int STRIDE> __global__ void fixed(Words words) {
  unsigned i = blockIdx.x * 256 + threadIdx.x, sum = i;
#pragma unroll
  for (int k = 0; k < COUNT; ++k) sum = sum * 3 + words.w[k * STRIDE];
  words.to[i] = sum;
}

// Words of a table in constant memory, the same for all threads.
template <int COUNT, int STRIDE> __global__ void tabled(unsigned *to) {
  unsigned i = blockIdx.x * blockDim.x + threadIdx.x, sum = i;
#pragma unroll
  for (int k = 0; k < COUNT; ++k) sum = sum * 3 + table[k * STRIDE];
  to[i] = sum;
}

// In a loop.
__global__ void looped(unsigned *to, unsigned count) {
  unsigned i = blockIdx.x * blockDim.x + threadIdx.x, sum = i;
  for (unsigned k = 0; k < count; ++k) sum = sum * 3 + table[k];
  to[i] = sum;
}

// Each lane looks up its own word.
__global__ void looked(unsigned *to, unsigned mask) {
  unsigned i = blockIdx.x * blockDim.x + threadIdx.x;
  to[i] = table[(i * 5) & mask];
}

// The sum of two words each, as short launches often do, with an end that is given.
__global__ void added(const unsigned *a, const unsigned *b, unsigned *to, unsigned n) {
  unsigned i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) to[i] = a[i] + b[i];
}

// All blocks store to the same words: those of the first *count* threads, `apart` words apart, or only every other one.
template <class T, int EACH> __global__ void met(T *to, unsigned count, unsigned apart) {
  unsigned i = threadIdx.x + threadIdx.y * blockDim.x;
  if (i < count && (EACH == 1 || i % EACH == 0)) to[i * apart] = T(i);
}

// Even and odd words one after the other.
__global__ void divided(double *to, unsigned count) {
  unsigned i = threadIdx.x + threadIdx.y * blockDim.x;
  if (i >= count) return;
  if (i % 2 == 0) to[i] = 0;
  else to[i] = 1;
}

int main() {
  unsigned *to = allocate<unsigned>(1 << 22), *a = allocate<unsigned>(1 << 22), *b = allocate<unsigned>(1 << 22);
  double *doubles = (double *)allocate<double>(1 << 16);
  Words words{};
  words.to = to;
  for (unsigned blocks : {1, 132, 264, 1000}) {
    parameters<1, 1><<<blocks, 256>>>(words);
    parameters<4, 64><<<blocks, 256>>>(words);
    parameters<15, 64><<<blocks, 256>>>(words);
    parameters<60, 16><<<blocks, 256>>>(words);
    parameters<60, 1><<<blocks, 256>>>(words);
    fixed<1, 1><<<blocks, 256>>>(words);
    tabled<1, 1><<<blocks, 256>>>(to);
    tabled<16, 64><<<blocks, 256>>>(to);
    tabled<64, 16><<<blocks, 256>>>(to);
    added<<<blocks, 256>>>(a, b, to, blocks * 256);
  }
  for (unsigned count : {16, 256, 4096}) looped<<<264, 256>>>(to, count);
  for (unsigned mask : {0, 7, 31, 1023}) looked<<<264, 256>>>(to, mask);
  parameters<15, 64><<<132, 32>>>(words);
  parameters<15, 64><<<132, 1024>>>(words);
  parameters<15, 64><<<264, 1024>>>(words);
  added<<<132, 1024>>>(a, b, to, 132 * 1024);
  for (unsigned count : {32, 64, 128, 256}) met<unsigned, 1><<<256, 256>>>(to, count, 1);
  for (unsigned count : {16, 32, 64, 128, 256}) met<double, 1><<<256, 256>>>(doubles, count, 1);
  met<double, 1><<<256, 1024>>>(doubles, 1024, 1);
  met<double, 1><<<1024, 256>>>(doubles, 256, 1);
  met<double, 2><<<256, 256>>>(doubles, 256, 1);
  met<double, 4><<<256, 256>>>(doubles, 256, 1);
  for (unsigned apart : {2, 4, 8, 32, 64, 256}) met<unsigned, 1><<<256, 256>>>(to, 256, apart);
  met<unsigned, 1><<<2048, 32>>>(to, 32, 1);
  divided<<<256, 256>>>(doubles, 1 << 16);
  divided<<<1024, 256>>>(doubles, 1 << 16);
  finish();
  return 0;
}
