// Words and rows of words a stride apart: copies, loads alone and stores alone, arrays of structs, and small blocks that go
// through matrices and volumes in rows of few words; by Nsight Compute.
#include "common.cuh"

enum { COPY, LOAD, STORE, SCALE };

// Each thread: word `step` * its number, of two arrays or of one.
template <int HOW> __global__ void spaced(const float *from, float *to, unsigned step) {
  size_t i = (size_t)(blockIdx.x * blockDim.x + threadIdx.x) * step;
  if (HOW == COPY) to[i] = from[i];
  if (HOW == LOAD && from[i] == 12345.0f) to[i] = 1;
  if (HOW == STORE) to[i] = 2.0f;
  if (HOW == SCALE) to[i] *= 2.0f;
}

template <int WORDS> struct Words {
  float word[WORDS];
};

// Each thread: a struct of so many words; of one of which all are loaded the last ones are stored, or all, or none.
template <int HOW, int WORDS, int STORED> __global__ void structs(const Words<WORDS> *from, Words<WORDS> *to) {
  unsigned i = blockIdx.x * blockDim.x + threadIdx.x;
  float sum = 0;
  if (HOW == SCALE) {
#pragma unroll
    for (int k = 0; k < STORED; ++k) to[i].word[k] += to[i].word[WORDS - 1 - k] * 0.5f;
    return;
  }
  if (HOW != STORE)
#pragma unroll
    for (int k = 0; k < WORDS; ++k) sum += from[i].word[k];
  if (HOW == LOAD && sum != 12345.0f) return;
#pragma unroll
  for (int k = 0; k < STORED; ++k) to[i].word[k] = sum;
}

// Blocks of a volume of n x n x n words, of which x is the slowest index, or the fastest.
template <int HOW, bool SLOW> __global__ void volume(const float *from, float *to, unsigned n) {
  unsigned x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y * blockDim.y + threadIdx.y,
           z = blockIdx.z * blockDim.z + threadIdx.z;
  if (x >= n || y >= n || z >= n) return;
  size_t i = SLOW ? (x * n + y) * n + z : (z * n + y) * n + x;
  if (HOW == COPY) to[i] = from[i];
  if (HOW == LOAD && from[i] == 12345.0f) to[i] = 1;
  if (HOW == STORE) to[i] = 2.0f;
  if (HOW == SCALE) to[i] += from[i];
}

enum { WORD, COLUMN, ROW, CROSS, INNER, TRANSPOSE };

// Blocks of a matrix of n x n words: copies, sums of neighbours above and below, beside, of both, of both but for edges.
template <int HOW> __global__ void matrix(const float *from, float *to, unsigned n) {
  unsigned x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y * blockDim.y + threadIdx.y, i = y * n + x;
  if (x >= n || y >= n) return;
  if (HOW == WORD) to[i] = from[i];
  if (HOW == TRANSPOSE) to[x * n + y] = from[i];
  if (HOW == INNER && (x == 0 || y == 0 || x == n - 1 || y == n - 1)) return;
  unsigned up = y ? i - n : i, down = y < n - 1 ? i + n : i, left = x ? i - 1 : i, right = x < n - 1 ? i + 1 : i;
  if (HOW == INNER) up = i - n, down = i + n, left = i - 1, right = i + 1;
  if (HOW == COLUMN) to[i] = from[i] + from[up] + from[down];
  if (HOW == ROW) to[i] = from[i] + from[left] + from[right];
  if (HOW == CROSS || HOW == INNER) to[i] = from[i] + from[left] + from[right] + from[up] + from[down];
}

template <int HOW> void spaces(const float *from, float *to) {
  for (unsigned step : {2, 4, 8, 16, 32})
    for (unsigned blocks : {528, 1056, 2112, 4224}) spaced<HOW><<<blocks, 256>>>(from, to, step), finish();
}

template <int WORDS> void all_structs(const float *from, float *to) {
  auto a = (const Words<WORDS> *)from;
  auto b = (Words<WORDS> *)to;
  for (unsigned blocks : {528, 1056, 2112}) {
    structs<COPY, WORDS, WORDS><<<blocks, 256>>>(a, b), finish();
    structs<LOAD, WORDS, 1><<<blocks, 256>>>(a, b), finish();
    structs<STORE, WORDS, WORDS><<<blocks, 256>>>(a, b), finish();
    structs<STORE, WORDS, WORDS / 2><<<blocks, 256>>>(a, b), finish();
    structs<SCALE, WORDS, WORDS / 2><<<blocks, 256>>>(a, b), finish();
  }
}

template <int HOW> void volumes(const float *from, float *to) {
  const dim3 cube(8, 8, 8), low(8, 8, 4), flat(16, 16, 1), rods(4, 8, 8);
  for (unsigned n : {64, 128})
    for (dim3 block : {cube, low, flat, rods}) {
      dim3 grid((n + block.x - 1) / block.x, (n + block.y - 1) / block.y, (n + block.z - 1) / block.z);
      volume<HOW, true><<<grid, block>>>(from, to, n), finish();
      if (block.z == 8 && block.x == 8) volume<HOW, false><<<grid, block>>>(from, to, n), finish();
    }
}

template <int HOW> void matrices(const float *from, float *to) {
  for (unsigned n : {1024, 2048})
    for (dim3 block : {dim3(16, 16), dim3(8, 8), dim3(32, 8), dim3(32, 32)})
      matrix<HOW><<<dim3(n / block.x, n / block.y), block>>>(from, to, n), finish();
}

// A transpose, or a store of a number, of n x n words to rows so many words apart.
template <bool READS> __global__ void pitched(const float *from, float *to, unsigned n, unsigned pitch) {
  unsigned x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y * blockDim.y + threadIdx.y;
  to[x * pitch + y] = READS ? from[y * n + x] : 2.0f;
}

int main() {
  float *from = allocate<float>(36 << 20), *to = allocate<float>(36 << 20);
  spaces<COPY>(from, to);
  spaces<LOAD>(from, to);
  spaces<STORE>(from, to);
  spaces<SCALE>(from, to);
  all_structs<3>(from, to);
  all_structs<5>(from, to);
  all_structs<7>(from, to);
  all_structs<9>(from, to);
  volumes<COPY>(from, to);
  volumes<LOAD>(from, to);
  volumes<STORE>(from, to);
  volumes<SCALE>(from, to);
  matrices<WORD>(from, to);
  matrices<COLUMN>(from, to);
  matrices<ROW>(from, to);
  matrices<CROSS>(from, to);
  matrices<INNER>(from, to);
  matrices<TRANSPOSE>(from, to);
  for (unsigned pitch : {2048, 2080, 2304, 4096, 4128, 8192, 10272})
    for (unsigned side : {16, 32}) {
      const dim3 block(side, side), grid(2048 / side, 2048 / side);
      pitched<false><<<grid, block>>>(from, to, 2048, pitch), finish();
      pitched<true><<<grid, block>>>(from, to, 2048, pitch), finish();
    }
  return 0;
}
